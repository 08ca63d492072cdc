//! The settings of a database, as an adapter reads them.

use super::describe::{Description, Opt};
use super::error::Error;
use crate::types as abi;
use std::ffi::{CStr, OsStr, c_char};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// When a write is acknowledged: one scale for all engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// At once: no log, or nothing need reach the operating system before close.
    None,
    /// When it survives a crash of the process: written, not synced.
    Process,
    /// As `Process`, and synced in the background once in each such period.
    Periodic(Duration),
    /// When it survives a loss of power: synced first.
    Commit,
}

/// A level of the same scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum DurabilityLevel {
    None,
    Process,
    Periodic,
    Commit,
}

impl DurabilityLevel {
    const ALL: [(u32, DurabilityLevel); 4] = [
        (abi::DURABILITY_NONE, DurabilityLevel::None),
        (abi::DURABILITY_PROCESS, DurabilityLevel::Process),
        (abi::DURABILITY_PERIODIC, DurabilityLevel::Periodic),
        (abi::DURABILITY_COMMIT, DurabilityLevel::Commit),
    ];

    pub(super) fn of(code: u32) -> Result<DurabilityLevel, Error> {
        let known = Self::ALL.into_iter().find(|(known, _)| *known == code).map(|(_, level)| level);
        known.ok_or_else(|| Error::unsupported(format_args!("durability level {code} is not known here")))
    }
}

impl Durability {
    /// Its level.
    pub fn level(self) -> DurabilityLevel {
        match self {
            Durability::None => DurabilityLevel::None,
            Durability::Process => DurabilityLevel::Process,
            Durability::Periodic(_) => DurabilityLevel::Periodic,
            Durability::Commit => DurabilityLevel::Commit,
        }
    }
}

/// Compression of stored blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Compression {
    None,
    Snappy,
    Lz4,
    Zstd,
    Zlib,
}

/// The settings that a database is opened with. Its options are there under the names that the [`Description`]
/// declares, parsed, of the declared type and within the declared bounds.
#[derive(Clone, Copy)]
pub struct Config<'a> {
    raw: &'a abi::Config,
    durability: Durability,
    compression: Compression,
    declared: &'static [Opt],
    values: &'a [abi::OptionValue],
}

impl<'a> Config<'a> {
    /// Checks what the host sent against what the engine declared.
    ///
    /// # Safety
    ///
    /// `raw` is NULL or what the ABI says of a `kvdyno_config`, for as long as `'a`.
    pub(super) unsafe fn read(raw: *const abi::Config, engine: &'static Description) -> Result<Self, Error> {
        // SAFETY: the caller's promise; the size comes first and says how much there is.
        if raw.is_null() || unsafe { (*raw).size as usize } < size_of::<abi::Config>() {
            return Err(Error::new("the host sent a kvdyno_config that is shorter than version 1's"));
        }
        // SAFETY: it is there, in full, for 'a.
        let raw = unsafe { &*raw };
        let declared = engine.options;
        if raw.option_count != declared.len() || (raw.options.is_null() && !declared.is_empty()) {
            let text = format_args!("the host sent {} option values for {}", raw.option_count, declared.len());
            return Err(Error::new(text));
        }
        let values = match declared {
            [] => &[],
            // SAFETY: not NULL, and the host says that it holds this many.
            _ => unsafe { std::slice::from_raw_parts(raw.options, raw.option_count) },
        };
        let config = Self {
            raw,
            durability: durability(raw, engine)?,
            compression: compression(raw, engine)?,
            declared,
            values,
        };
        config.check_texts()?;
        Ok(config)
    }

    fn check_texts(&self) -> Result<(), Error> {
        for (option, value) in self.declared.iter().zip(self.values) {
            if matches!(option.0.kind, abi::OPTION_TEXT | abi::OPTION_CHOICE) {
                // SAFETY: the declared type says which member is set.
                let text = unsafe { value.text };
                // SAFETY: a text's value is NULL or a C string that lives as long as the config.
                if text.is_null() || unsafe { CStr::from_ptr(text) }.to_str().is_err() {
                    return Err(Error::new(format_args!("option {:?} is no UTF-8 text", option.name())));
                }
            }
        }
        Ok(())
    }

    /// Make a new database, rather than open the one that is there.
    pub fn create(&self) -> bool {
        self.raw.create != 0
    }

    /// The engine's own library to load, where the user named one.
    pub fn library(&self) -> Option<&'a Path> {
        // SAFETY: the host gives NULL or a C string that lives as long as the config.
        unsafe { path(self.raw.library) }
    }

    /// The folder of the database; only `open` gets one.
    pub(super) fn path(&self) -> Option<&'a Path> {
        // SAFETY: the host gives NULL or a C string that lives as long as the config.
        unsafe { path(self.raw.path) }
    }

    /// When a write is acknowledged: a level that the engine declared.
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// The levels that sessions will ask for.
    pub fn session_durabilities(&self) -> impl Iterator<Item = DurabilityLevel> {
        let bits = self.raw.session_durabilities;
        DurabilityLevel::ALL.into_iter().filter(move |(code, _)| bits >> code & 1 == 1).map(|(_, level)| level)
    }

    /// Compression of stored blocks: one that the engine declared.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// The most sessions that will be open at once.
    pub fn sessions(&self) -> u32 {
        self.raw.sessions
    }

    /// The bytes of data that the engine may cache in its own memory.
    pub fn cache_bytes(&self) -> u64 {
        self.raw.cache_bytes
    }

    /// The bytes of new writes that the engine may gather before it writes them out.
    pub fn write_buffer_bytes(&self) -> u64 {
        self.raw.write_buffer_bytes
    }

    /// A hint: how many records there will be.
    pub fn records(&self) -> u64 {
        self.raw.records
    }

    /// A hint: bytes of a key.
    pub fn key_size(&self) -> u64 {
        self.raw.key_size
    }

    /// A hint: bytes of a value.
    pub fn value_size(&self) -> u64 {
        self.raw.value_size
    }

    /// A hint: leading bytes of a key that a group of keys has in common; 0: there are no such groups.
    pub fn prefix_size(&self) -> u64 {
        self.raw.prefix_size
    }

    /// Number of processes that will have the database open at once.
    pub fn processes(&self) -> u32 {
        self.raw.processes
    }

    /// The value of an [`Opt::bool`].
    ///
    /// # Panics
    ///
    /// If no option of that name and type is declared, which is the adapter's mistake. The other four panic alike.
    pub fn bool(&self, name: &str) -> bool {
        // SAFETY: the declared type says which member is set.
        unsafe { self.value(name, &[abi::OPTION_BOOL]).integer != 0 }
    }

    /// The value of an [`Opt::integer`].
    pub fn integer(&self, name: &str) -> i64 {
        // SAFETY: the declared type says which member is set.
        unsafe { self.value(name, &[abi::OPTION_INTEGER]).integer }
    }

    /// The value of an [`Opt::size`], in bytes.
    pub fn size(&self, name: &str) -> u64 {
        // SAFETY: the declared type says which member is set.
        unsafe { self.value(name, &[abi::OPTION_SIZE]).integer }.unsigned_abs()
    }

    /// The value of an [`Opt::real`].
    pub fn real(&self, name: &str) -> f64 {
        // SAFETY: the declared type says which member is set.
        unsafe { self.value(name, &[abi::OPTION_REAL]).real }
    }

    /// The value of an [`Opt::text`] or an [`Opt::choice`].
    pub fn text(&self, name: &str) -> &'a str {
        let value = self.value(name, &[abi::OPTION_TEXT, abi::OPTION_CHOICE]);
        // SAFETY: the declared type says which member is set, and `read` found a text there.
        unsafe { CStr::from_ptr(value.text) }.to_str().unwrap_or_default()
    }

    fn value(&self, name: &str, kinds: &[u32]) -> &'a abi::OptionValue {
        let index = self
            .declared
            .iter()
            .position(|option| option.name().to_bytes() == name.as_bytes() && kinds.contains(&option.0.kind));
        match index {
            Some(index) => &self.values[index],
            None => panic!("the adapter asks for option {name}, which it does not declare with this type"),
        }
    }
}

impl fmt::Debug for Config<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("create", &self.create())
            .field("library", &self.library())
            .field("durability", &self.durability)
            .field("compression", &self.compression)
            .field("cache_bytes", &self.cache_bytes())
            .field("write_buffer_bytes", &self.write_buffer_bytes())
            .finish_non_exhaustive()
    }
}

fn durability(raw: &abi::Config, engine: &Description) -> Result<Durability, Error> {
    let level = match raw.durability {
        abi::DURABILITY_NONE => Durability::None,
        abi::DURABILITY_PROCESS => Durability::Process,
        abi::DURABILITY_PERIODIC => Durability::Periodic(Duration::from_millis(raw.sync_period_ms.into())),
        abi::DURABILITY_COMMIT => Durability::Commit,
        other => return Err(Error::unsupported(format_args!("durability level {other} is not known here"))),
    };
    if engine.durabilities & (1 << raw.durability) == 0 {
        return Err(Error::unsupported(format_args!("durability {level:?} cannot be met")));
    }
    Ok(level)
}

fn compression(raw: &abi::Config, engine: &Description) -> Result<Compression, Error> {
    let kind = match raw.compression {
        abi::COMPRESSION_NONE => Compression::None,
        abi::COMPRESSION_SNAPPY => Compression::Snappy,
        abi::COMPRESSION_LZ4 => Compression::Lz4,
        abi::COMPRESSION_ZSTD => Compression::Zstd,
        abi::COMPRESSION_ZLIB => Compression::Zlib,
        other => return Err(Error::unsupported(format_args!("compression {other} is not known here"))),
    };
    if engine.compressions & (1 << raw.compression) == 0 {
        return Err(Error::unsupported(format_args!("compression {kind:?} cannot be had")));
    }
    Ok(kind)
}

/// # Safety
///
/// `text` is NULL or a C string that lives as long as `'a`.
pub(super) unsafe fn path<'a>(text: *const c_char) -> Option<&'a Path> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    Some(Path::new(OsStr::from_bytes(text.to_bytes())))
}
