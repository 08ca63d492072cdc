//! Reads HdrHistogram logs by the format's description alone: a second opinion on what we write.
//! <https://github.com/HdrHistogram/HdrHistogram_c/blob/main/src/hdr_histogram_log.c>

use std::collections::BTreeMap;
use std::io::Read;

/// How many values each tag's histogram of an interval log has.
pub fn interval_log(text: &str) -> BTreeMap<String, u64> {
    let intervals = text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("\"StartTimestamp\""));
    intervals.map(interval).collect()
}

/// `Tag=NAME,start,length,greatest,histogram`
fn interval(line: &str) -> (String, u64) {
    let fields: Vec<&str> = line.split(',').collect();
    let [tag, start, length, greatest, histogram] = fields[..] else { panic!("{line}") };
    assert!([start, length, greatest].iter().all(|number| number.parse::<f64>().is_ok()), "{line}");
    (tag.strip_prefix("Tag=").unwrap().to_owned(), count(&unpacked(&base64(histogram))))
}

/// Cookies of a histogram, as the readers in Java, Python and JavaScript expect them. The first is followed by a length
/// and a zlib stream; the second begins the decompressed data.
const COMPRESSED: u32 = 0x1c84_9304 | 0x10;
const PLAIN: u32 = 0x1c84_9303 | 0x10;

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(word(0), COMPRESSED, "HdrHistogram's own readers do not take it");
    assert_eq!(word(4) as usize, bytes.len() - 8);
    let mut histogram = Vec::new();
    flate2::read::ZlibDecoder::new(&bytes[8..]).read_to_end(&mut histogram).unwrap();
    histogram
}

/// Version 2: a header of 40 bytes, then counts as ZigZag LEB128; a negative one is a run of zeros.
fn count(bytes: &[u8]) -> u64 {
    let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(word(0), PLAIN);
    let mut payload = bytes[40..].iter();
    assert_eq!(word(4) as usize, payload.len());
    let mut total = 0;
    while !payload.as_slice().is_empty() {
        let mut number = 0u64;
        for index in 0..9 {
            let byte = u64::from(*payload.next().unwrap());
            // The ninth byte has no mark that more follow.
            number |= (if index < 8 { byte & 0x7f } else { byte }) << (7 * index);
            if byte & 0x80 == 0 {
                break;
            }
        }
        let signed = (number >> 1) as i64 ^ -((number & 1) as i64);
        total += u64::try_from(signed).unwrap_or(0);
    }
    total
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |byte: &u8| DIGITS.iter().position(|digit| digit == byte).unwrap() as u32;
    let group = |group: &[u8]| {
        let bits = group.iter().map(digit).fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - group.len()));
        bits.to_be_bytes()[1..group.len()].to_vec()
    };
    text.trim_end_matches('=').as_bytes().chunks(4).flat_map(group).collect()
}
