//! A loaded adapter, its declarations read and checked.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{mem, ptr};

use kvdyno_abi as abi;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde::{Deserialize, Serialize};

use crate::loaded;
use crate::options::{self, OptionInfo, OptionKind};
use crate::text::{TextBuffer, optional};

/// A named set of option values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PresetInfo {
    /// `lsm` in `wiredtiger:lsm`.
    pub name: String,
    /// `name=value,name=value`.
    pub options: String,
    /// Its purpose.
    pub help: String,
}

/// An adapter that was loaded and speaks our ABI.
///
/// It is never unloaded: an engine's library may have threads and thread-local destructors of its own.
#[derive(Debug)]
pub struct Adapter {
    /// The file.
    pub path: PathBuf,
    /// The engine's name.
    pub name: String,
    /// A description, one line.
    pub summary: String,
    /// The source of the engine's library, for people.
    pub origin: String,
    /// Its own options.
    pub options: Vec<OptionInfo>,
    /// Its presets.
    pub presets: Vec<PresetInfo>,
    table: abi::Engine,
    /// The files that this process had loaded when it had loaded the adapter and nothing of it had been called.
    loaded_before: Vec<PathBuf>,
}

/// Why a file is not an adapter that can be used.
#[derive(Debug, thiserror::Error)]
pub enum AdapterError {
    /// The file is not there.
    #[error("there is no adapter {0}")]
    Missing(PathBuf),
    /// The dynamic linker refuses it.
    #[error("cannot load {path}: {cause}")]
    Load {
        /// The file.
        path: PathBuf,
        /// The dynamic linker's words.
        cause: String,
    },
    /// It exports no entry function.
    #[error(
        "{0} is a library but not an adapter: it does not export {entry}; see include/kvdyno.h",
        entry = abi::ENTRY
    )]
    NoEntry(PathBuf),
    /// It speaks another ABI version.
    #[error("{path} speaks ABI version {version}, this kvdyno speaks {known}; {advice}", known = abi::ABI_VERSION,
        advice = if *version > abi::ABI_VERSION { "use a newer kvdyno" } else { "build it against a newer kvdyno.h" })]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// Its declarations contradict each other.
    #[error("{path} declares what does not fit: {reason}")]
    Declaration {
        /// The file.
        path: PathBuf,
        /// The contradiction.
        reason: String,
    },
}

/// The outcome of an adapter's search for its engine's library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Probe {
    /// It is there, at this version.
    Available {
        /// The version that the engine reports.
        version: String,
    },
    /// It is not, for this reason.
    Missing {
        /// For people, with the package that has it.
        reason: String,
    },
}

impl Adapter {
    /// Loads the adapter in `path` and checks it: size and version first, then every declaration.
    ///
    /// # Errors
    /// If it is no adapter, speaks another ABI, or declares what does not fit together.
    pub fn load(path: &Path) -> Result<Adapter, AdapterError> {
        Adapter::load_in_steps(path, &mut |_| ())
    }

    /// The same; `tell` gets the next step.
    ///
    /// # Errors
    /// As [`Adapter::load`].
    pub fn load_in_steps(path: &Path, tell: &mut dyn FnMut(&str)) -> Result<Adapter, AdapterError> {
        if !path.is_file() {
            return Err(AdapterError::Missing(path.to_owned()));
        }
        // A name without a slash would be searched for in the system's folders instead.
        let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        tell("loading its file");
        // SAFETY: loading runs the library's initialisers; that is the user's wish who named it.
        let library = unsafe { Library::open(Some(&full), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|error| AdapterError::Load { path: path.to_owned(), cause: deepest(&error) })?;
        // SAFETY: the header says that a function of this name has this type.
        let entry = unsafe { library.get::<abi::EntryFn>(abi::ENTRY.as_bytes()) }
            .map(|symbol| *symbol)
            .map_err(|_| AdapterError::NoEntry(path.to_owned()))?;
        mem::forget(library);
        let loaded_before = loaded::files();
        tell(&format!("calling {}", abi::ENTRY));
        // SAFETY: the entry function takes nothing and answers a static struct.
        let declared = unsafe { entry() };
        // SAFETY: by the header, the returned pointer is to a static kvdyno_engine.
        unsafe { Adapter::from_declared(&full, declared, loaded_before, tell) }
    }

    /// # Safety
    /// `declared` is NULL or points to a static struct that begins with `size` and `abi_version` and is `size` bytes
    /// long.
    unsafe fn from_declared(
        path: &Path,
        declared: *const abi::Engine,
        loaded_before: Vec<PathBuf>,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Adapter, AdapterError> {
        tell("reading its kvdyno_engine");
        let wrong = |reason: String| AdapterError::Declaration { path: path.to_owned(), reason };
        if declared.is_null() {
            return Err(wrong(format!("{} answers NULL", abi::ENTRY)));
        }
        // SAFETY: size and version exist in every version.
        let (size, version) =
            unsafe { (ptr::addr_of!((*declared).size).read(), ptr::addr_of!((*declared).abi_version).read()) };
        if version != abi::ABI_VERSION {
            return Err(AdapterError::Version { path: path.to_owned(), version });
        }
        let least = mem::offset_of!(abi::Engine, flush);
        if (size as usize) < least {
            return Err(wrong(format!(
                "its kvdyno_engine has {size} bytes, version {} has at least {least}",
                abi::ABI_VERSION
            )));
        }
        // SAFETY: `size` bytes are there; what we know beyond them stays zero, which is NULL and absent.
        let table: abi::Engine = unsafe {
            let mut table = mem::MaybeUninit::<abi::Engine>::zeroed();
            let known = (size as usize).min(mem::size_of::<abi::Engine>());
            ptr::copy_nonoverlapping(declared.cast::<u8>(), table.as_mut_ptr().cast::<u8>(), known);
            table.assume_init()
        };
        // SAFETY: the pointers of a declared table are static texts and arrays of the sizes that it gives.
        let adapter = unsafe {
            Adapter {
                path: path.to_owned(),
                name: optional(table.name).ok_or_else(|| wrong("it has no name".into()))?,
                summary: optional(table.summary).unwrap_or_default(),
                origin: optional(table.origin).unwrap_or_default(),
                options: read_options(&table, tell).map_err(&wrong)?,
                presets: read_presets(&table, tell).map_err(&wrong)?,
                table,
                loaded_before,
            }
        };
        adapter.check().map_err(wrong)?;
        Ok(adapter)
    }

    /// The function table. Required functions are there, and so is what a capability declares.
    pub fn table(&self) -> &abi::Engine {
        &self.table
    }

    /// The file that has the engine's code, without links: the library that the adapter has loaded, or the adapter's
    /// own file if it has loaded none. It is known while a database is open.
    pub fn engine_file(&self) -> PathBuf {
        let now = loaded::files();
        let file = loaded::first_new(&self.loaded_before, &now).unwrap_or(&self.path);
        file.canonicalize().unwrap_or_else(|_| file.to_owned())
    }

    /// Takes back what does not hold with `config`.
    pub(crate) fn effective_capabilities(&mut self, config: &abi::Config) {
        let Some(effective_capabilities) = self.table.effective_capabilities else { return };
        let table = &mut self.table;
        let mut left = abi::Capabilities {
            size: mem::size_of::<abi::Capabilities>() as u32,
            durabilities: table.durabilities,
            capabilities: table.capabilities,
            compressions: table.compressions,
            reserved: 0,
        };
        // SAFETY: both live through the call.
        unsafe { effective_capabilities(config, &mut left) };
        table.capabilities &= left.capabilities;
        table.durabilities &= left.durabilities;
        table.compressions &= left.compressions;
    }

    /// Whether every one of `capabilities` is declared.
    pub fn can(&self, capabilities: u64) -> bool {
        self.table.capabilities & capabilities == capabilities
    }

    /// The declared capabilities, in words.
    pub fn capabilities(&self) -> Vec<&'static str> {
        abi::CAPABILITIES.iter().filter(|(bit, _)| self.can(*bit)).map(|(_, word)| *word).collect()
    }

    /// Looks for the engine's own library: `library`, or the system's.
    pub fn probe(&self, library: Option<&Path>) -> Probe {
        let library = library.and_then(|path| CString::new(path.as_os_str().as_bytes()).ok());
        let (mut version, mut error) = (TextBuffer::new(), TextBuffer::new());
        let Some(probe) = self.table.probe else { return Probe::Missing { reason: "it has no probe".into() } };
        // SAFETY: both texts have the capacity that they say, and `library` is zero-terminated or NULL.
        let status = unsafe {
            let library = library.as_ref().map_or(ptr::null(), |text| text.as_ptr());
            probe(library, &mut version.as_abi(), &mut error.as_abi())
        };
        match status {
            abi::OK => Probe::Available { version: version.read("unknown") },
            _ => Probe::Missing { reason: error.read("its library was not found, and the adapter gives no reason") },
        }
    }

    fn check(&self) -> Result<(), String> {
        let name_fits = |name: &str| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b))
        };
        if !name_fits(&self.name) {
            return Err(format!("the name `{}` is not of lower-case letters, digits, _ and -", self.name));
        }
        self.check_functions()?;
        for option in &self.options {
            if !name_fits(&option.name) {
                return Err(format!("the option name `{}` is not of lower-case letters, digits, _ and -", option.name));
            }
        }
        options::resolve(&self.name, &self.options, &[]).map_err(|error| format!("a default: {error}"))?;
        for preset in &self.presets {
            let given =
                options::split_list(&preset.options).map_err(|error| format!("preset {}: {error}", preset.name))?;
            options::resolve(&self.name, &self.options, &given)
                .map_err(|error| format!("preset {}: {error}", preset.name))?;
        }
        Ok(())
    }

    fn check_functions(&self) -> Result<(), String> {
        let table = &self.table;
        let required = [
            ("probe", table.probe.is_some()),
            ("settings", table.settings.is_some()),
            ("open", table.open.is_some()),
            ("close", table.close.is_some()),
            ("session_open", table.session_open.is_some()),
            ("session_close", table.session_close.is_some()),
            ("session_error", table.session_error.is_some()),
            ("get", table.get.is_some()),
            ("put", table.put.is_some()),
            ("write", table.write.is_some()),
        ];
        if let Some((name, _)) = required.iter().find(|(_, there)| !there) {
            return Err(format!("the required function `{name}` is NULL"));
        }
        let cursor = table.cursor_open.is_some()
            && table.cursor_close.is_some()
            && table.cursor_seek.is_some()
            && table.cursor_next.is_some();
        let transaction = table.begin.is_some() && table.commit.is_some() && table.abort.is_some();
        let promised = [
            (abi::CAN_SCAN, "scan", cursor),
            (abi::CAN_SCAN_REVERSE, "reverse scan", cursor && table.cursor_previous.is_some()),
            (abi::CAN_DELETE, "delete", table.remove.is_some()),
            (abi::CAN_MULTI_GET, "multi-get", table.multi_get.is_some()),
            (abi::CAN_TRANSACT, "transactions", transaction),
            (abi::CAN_SNAPSHOT, "snapshots", transaction),
            (abi::CAN_READ_MODIFY_WRITE, "read-modify-write", table.read_modify_write.is_some()),
            (abi::CAN_COUNT, "counters", table.counters.is_some()),
            (abi::CAN_SET_DURABILITY, "durability of each session", table.set_durability.is_some()),
            (abi::CAN_DELETE_RANGE, "range delete", table.delete_range.is_some()),
            (abi::CAN_BOUND, "bounded scan", table.cursor_open_with.is_some()),
            (abi::CAN_SCAN_PREFIX, "prefix scan", table.cursor_open_with.is_some()),
            (abi::CAN_SCAN_KEYS, "scan of keys alone", table.cursor_open_with.is_some()),
            (abi::CAN_CONTAIN, "contains", table.contains.is_some()),
            (abi::CAN_INSERT_IF_ABSENT, "insert-if-absent", table.insert_if_absent.is_some()),
        ];
        match promised.iter().find(|(bit, _, there)| self.can(*bit) && !there) {
            Some((_, word, _)) => Err(format!("it declares `{word}` but has no functions for it")),
            None => Ok(()),
        }
    }
}

/// The innermost cause: libloading's outer text only says which call failed.
fn deepest(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Elements of a declared array whose element size may be larger or smaller than ours.
///
/// # Safety
/// `array` points to `count` elements of `stride` bytes; all-zero bytes are a valid `T`.
unsafe fn elements<T: Copy>(array: *const T, count: usize, stride: usize) -> impl Iterator<Item = T> {
    (0..count).map(move |index| {
        let mut element = mem::MaybeUninit::<T>::zeroed();
        // SAFETY: as the caller promises; only bytes that both sides know are copied.
        unsafe {
            let source = array.cast::<u8>().add(index * stride);
            ptr::copy_nonoverlapping(source, element.as_mut_ptr().cast(), stride.min(mem::size_of::<T>()));
            element.assume_init()
        }
    })
}

/// An element of an array, for people: a count that is one too high shows only as nonsense behind the last one.
fn element(what: &str, index: usize, count: usize) -> String {
    format!("{what} {} of {count}; is {what}_count right?", index + 1)
}

unsafe fn read_options(table: &abi::Engine, tell: &mut dyn FnMut(&str)) -> Result<Vec<OptionInfo>, String> {
    if table.option_count == 0 {
        return Ok(Vec::new());
    }
    if table.options.is_null() || table.option_size < mem::offset_of!(abi::OptionDecl, help) {
        return Err("its options have no array, or too small a size".into());
    }
    // SAFETY: the table gives the array, its length and the size of an element.
    let declared = unsafe { elements(table.options, table.option_count, table.option_size) };
    // SAFETY: the texts of a declaration are static and zero-terminated, or NULL.
    let read = |(index, option): (usize, abi::OptionDecl)| unsafe {
        let which = element("option", index, table.option_count);
        tell(&format!("reading {which}"));
        read_option(&option).map_err(|reason| format!("{reason} ({which})"))
    };
    declared.enumerate().map(read).collect()
}

unsafe fn read_option(option: &abi::OptionDecl) -> Result<OptionInfo, String> {
    // SAFETY: the texts of a declaration are static and zero-terminated, or NULL.
    let text = |pointer| unsafe { optional(pointer) };
    let name = text(option.name).ok_or("an option has no name")?;
    let (minimum, maximum) = (option.minimum, option.maximum);
    let kind = match option.kind {
        abi::OPTION_BOOL => OptionKind::Bool,
        abi::OPTION_INTEGER => OptionKind::Integer { minimum, maximum },
        abi::OPTION_SIZE => OptionKind::Size { minimum, maximum },
        abi::OPTION_REAL => OptionKind::Real,
        abi::OPTION_TEXT => OptionKind::Text,
        abi::OPTION_CHOICE => {
            let choices = text(option.choices).ok_or_else(|| format!("option {name} has no choices"))?;
            OptionKind::Choice(choices.split('|').map(str::to_owned).collect())
        }
        other => return Err(format!("option {name} is of type {other}, which is not known")),
    };
    Ok(OptionInfo {
        kind,
        default_value: text(option.default_value).unwrap_or_default(),
        help: text(option.help).unwrap_or_default(),
        scales: option.flags & abi::OPTION_SCALES != 0,
        name,
    })
}

unsafe fn read_presets(table: &abi::Engine, tell: &mut dyn FnMut(&str)) -> Result<Vec<PresetInfo>, String> {
    if table.preset_count == 0 {
        return Ok(Vec::new());
    }
    if table.presets.is_null() || table.preset_size < mem::offset_of!(abi::Preset, help) {
        return Err("its presets have no array, or too small a size".into());
    }
    // SAFETY: the table gives the array, its length and the size of an element; the texts are static.
    let declared = unsafe { elements(table.presets, table.preset_count, table.preset_size) };
    declared
        .enumerate()
        .map(|(index, preset)| {
            let which = element("preset", index, table.preset_count);
            tell(&format!("reading {which}"));
            // SAFETY: as above.
            let text = |pointer| unsafe { optional(pointer) };
            Ok(PresetInfo {
                name: text(preset.name).ok_or_else(|| format!("a preset has no name ({which})"))?,
                options: text(preset.options).unwrap_or_default(),
                help: text(preset.help).unwrap_or_default(),
            })
        })
        .collect()
}
