//! Archives: their checksums, and what is in them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};

/// SHA-256 of a file, in lower-case hexadecimal digits.
pub fn sha256(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 16];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            count => hash.update(&block[..count]),
        }
    }
}

/// Unpacks a `.tar.gz` (or `.tgz`, `.crate`), and answers the folder that everything in it is in, or `into`.
pub fn unpack(archive: &Path, into: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(into)?;
    // `unpack` refuses paths that lead out of `into`.
    tar::Archive::new(GzDecoder::new(File::open(archive)?)).unpack(into)?;
    let mut entries: Vec<PathBuf> = fs::read_dir(into)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    match (entries.len(), entries.pop()) {
        (1, Some(only)) if only.is_dir() => Ok(only),
        _ => Ok(into.to_owned()),
    }
}

/// Takes one file out of a `.jar` or `.zip`.
pub fn extract(archive: &Path, name: &str, to: &Path) -> io::Result<()> {
    let mut archive = zip::ZipArchive::new(File::open(archive)?).map_err(io::Error::other)?;
    let mut entry = archive.by_name(name).map_err(io::Error::other)?;
    io::copy(&mut entry, &mut File::create_new(to)?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        fs::write(&path, "abc").unwrap();
        // FIPS 180-2, appendix B.1.
        assert_eq!(sha256(&path).unwrap(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_half_archive_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("a.tgz");
        let mut builder =
            tar::Builder::new(flate2::write::GzEncoder::new(File::create(&whole).unwrap(), Default::default()));
        let mut header = tar::Header::new_gnu();
        let body: Vec<u8> = (0..20_000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        header.set_size(body.len() as u64);
        builder.append_data(&mut header, "top/file", body.as_slice()).unwrap();
        builder.into_inner().unwrap().finish().unwrap();
        assert_eq!(unpack(&whole, &folder.path().join("out")).unwrap(), folder.path().join("out/top"));
        let bytes = fs::read(&whole).unwrap();
        let half = folder.path().join("half.tgz");
        File::create(&half).unwrap().write_all(&bytes[..bytes.len() / 2]).unwrap();
        assert!(unpack(&half, &folder.path().join("out2")).is_err());
    }
}
