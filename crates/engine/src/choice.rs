//! An engine as a user chose it: adapter, library, options.

use std::ffi::{CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{mem, ptr};

use kvdyno_abi as abi;
use kvdyno_model::OptionText;

use crate::adapter::Adapter;
use crate::error::{EngineError, checked};
use crate::lab::{AbiCode, Compression, Durability, EngineSettings, Hints};
use crate::options::{self, OptionError, Value};
use crate::text::{Entry, TextBuffer, collect};

/// An adapter, the library that it is to load, and a value for each of its options.
#[derive(Debug)]
pub struct Choice {
    adapter: &'static Adapter,
    library: Option<PathBuf>,
    values: Vec<Value>,
}

/// Why an engine cannot be had as chosen.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// No such preset.
    #[error("{engine} has no preset `{preset}`{}", match known.as_slice() {
        [] => " (it has none)".to_owned(),
        known => format!("; it has {}", known.join(", ")),
    })]
    Preset {
        /// The engine.
        engine: String,
        /// The text that was written.
        preset: String,
        /// The presets that there are.
        known: Vec<String>,
    },
    /// An option does not fit.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A setting cannot be honoured.
    #[error("{engine} cannot be measured so: {reason}")]
    Refused {
        /// The engine.
        engine: String,
        /// Which setting, and why.
        reason: String,
    },
}

/// The lab's settings in the words of one engine: topic, name, value, in the engine's words.
pub type Resolved = Vec<(String, String, String)>;

impl Choice {
    /// `preset` and then `given` over the adapter's defaults.
    ///
    /// # Errors
    /// If there is no such preset or option, or a value does not fit.
    pub fn new(
        mut adapter: Adapter,
        preset: Option<&str>,
        given: &[OptionText],
        library: Option<PathBuf>,
    ) -> Result<Choice, ChoiceError> {
        let mut texts = match preset {
            None => Vec::new(),
            Some(name) => match adapter.presets.iter().find(|preset| preset.name == name) {
                Some(preset) => options::split_list(&preset.options)?,
                None => {
                    return Err(ChoiceError::Preset {
                        engine: adapter.name.clone(),
                        preset: name.to_owned(),
                        known: adapter.presets.iter().map(|preset| preset.name.clone()).collect(),
                    });
                }
            },
        };
        texts.extend_from_slice(given);
        let values = options::resolve(&adapter.name, &adapter.options, &texts)?;
        adapter.effective_capabilities(&Given::new(&values, library.as_deref()).as_abi());
        // An adapter is never unloaded, so its description may live as long as its code.
        Ok(Choice { adapter: Box::leak(Box::new(adapter)), library, values })
    }

    /// The adapter.
    pub fn adapter(&self) -> &'static Adapter {
        self.adapter
    }

    /// The library that the user chose.
    pub fn library(&self) -> Option<&Path> {
        self.library.as_deref()
    }

    /// The settings of `lab` in the engine's words; nothing is opened.
    ///
    /// # Errors
    /// [`ChoiceError::Refused`] if the engine cannot honour a setting, with the reason.
    pub fn settings(&self, lab: &EngineSettings, hints: &Hints) -> Result<Resolved, ChoiceError> {
        let refused = |reason: String| ChoiceError::Refused { engine: self.adapter.name.clone(), reason };
        match self.undeclared_level(lab) {
            Some((setting, reason)) => Err(refused(reason + &self.own_words(setting, lab, hints))),
            None => {
                let fits = self.sessions_fit(hints).and_then(|()| self.sizes_fit(hints));
                fits.and_then(|()| self.ask(lab, hints)).map_err(refused)
            }
        }
    }

    /// The adapter's error, or why it refuses.
    fn ask(&self, lab: &EngineSettings, hints: &Hints) -> Result<Resolved, String> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut error = TextBuffer::new();
        let call = self.adapter.table().settings.ok_or("it has no `settings`")?;
        let config = ConfigBuffer::new(self, lab, hints, None, false);
        // SAFETY: `config` outlives the call, `collect` gets the vector it expects, the text has the capacity it says.
        let status = unsafe {
            let mut text = error.as_abi();
            call(&config.as_abi(), collect, ptr::from_mut(&mut entries).cast::<c_void>(), &mut text)
        };
        match status {
            abi::OK => Ok(entries),
            _ => Err(error.read("the adapter gives no reason")),
        }
    }

    /// Releases what the engine keeps outside the folder `path` of a database, so that the folder can be removed. The
    /// database must not be open. For an engine that keeps nothing there, nothing happens.
    ///
    /// # Errors
    /// The engine's error.
    pub fn destroy(&self, path: &Path) -> Result<(), EngineError> {
        let Some(call) = self.adapter.table().destroy else { return Ok(()) };
        let (path, given) = (zero_ended_path(path), Given::new(&self.values, self.library()));
        let config = abi::Config { path: path.as_ptr(), ..given.as_abi() };
        // SAFETY: the config and its texts outlive the call; the text has the capacity that it says.
        checked("destroy", |error| unsafe { call(&config, error) })
    }

    /// The adapter's own reason for a setting that it does not declare, if it gives more than that.
    fn own_words(&self, setting: &str, lab: &EngineSettings, hints: &Hints) -> String {
        let words = self.ask(lab, hints).err();
        let words = words.as_deref().and_then(|words| words.strip_prefix(setting)?.strip_prefix(": "));
        words.map(|words| format!(": {words}")).unwrap_or_default()
    }

    /// The setting with an undeclared level, and the declared ones.
    fn undeclared_level(&self, lab: &EngineSettings) -> Option<(&'static str, String)> {
        let table = self.adapter.table();
        let named = |bits: u32, all: &[(u32, String)]| {
            all.iter()
                .filter(|(code, _)| bits >> code & 1 == 1)
                .map(|(_, word)| word.clone())
                .collect::<Vec<_>>()
                .join(", ")
        };
        if table.durabilities >> lab.durability.code() & 1 == 0 {
            let all: Vec<_> = Durability::ALL.iter().map(|level| (level.code(), level.to_string())).collect();
            let has = named(table.durabilities, &all);
            return Some(("durability", format!("durability `{}`; it offers only {has}", lab.durability)));
        }
        if table.compressions >> lab.compression.code() & 1 == 0 {
            let all: Vec<_> = Compression::ALL.iter().map(|kind| (kind.code(), kind.to_string())).collect();
            let has = named(table.compressions, &all);
            return Some(("compression", format!("compression `{}`; it offers only {has}", lab.compression)));
        }
        None
    }

    /// Checks that the levels that sessions will request are declared.
    fn sessions_fit(&self, hints: &Hints) -> Result<(), String> {
        let requested = |bits: u32| Durability::ALL.iter().filter(move |level| bits >> level.code() & 1 == 1);
        let Some(first) = requested(hints.session_durabilities).next() else { return Ok(()) };
        if !self.adapter.can(abi::CAN_SET_DURABILITY) {
            return Err(format!("durability `{first}` of sessions; it has one level for all that is written"));
        }
        match requested(hints.session_durabilities & !self.adapter.table().durabilities).next() {
            Some(level) => Err(format!("durability `{level}` of sessions; it does not have it")),
            None => Ok(()),
        }
    }

    /// Checks that keys and values are within the declared limits.
    fn sizes_fit(&self, hints: &Hints) -> Result<(), String> {
        let table = self.adapter.table();
        let (least, most) = (table.min_key_size, table.max_key_size);
        if hints.key_size < least || (most > 0 && hints.key_size > most) {
            let bounds = if most > 0 { format!("{least} to {most}") } else { format!("at least {least}") };
            return Err(format!("keys of {} bytes; its keys have {bounds} bytes", hints.key_size));
        }
        if table.max_value_size > 0 && hints.largest_value > table.max_value_size {
            let most = table.max_value_size;
            return Err(format!("values of {} bytes; its values have at most {most} bytes", hints.largest_value));
        }
        Ok(())
    }
}

/// The user's part of a [`abi::Config`], with everything that it points to.
struct Given {
    library: Option<CString>,
    values: Vec<abi::OptionValue>,
    /// The memory of the text values.
    _texts: Vec<CString>,
}

impl Given {
    fn new(values: &[Value], library: Option<&Path>) -> Given {
        let mut texts = Vec::new();
        let values = values
            .iter()
            .map(|value| match value {
                Value::Integer(integer) => abi::OptionValue { integer: *integer },
                Value::Real(real) => abi::OptionValue { real: *real },
                Value::Text(text) => {
                    let text = zero_ended(text.as_bytes());
                    let pointer = text.as_ptr();
                    texts.push(text);
                    abi::OptionValue { text: pointer }
                }
            })
            .collect();
        Given { library: library.map(zero_ended_path), values, _texts: texts }
    }

    /// Everything else is zero.
    fn as_abi(&self) -> abi::Config {
        // SAFETY: a config holds integers and pointers, for which zero is a value.
        let mut config: abi::Config = unsafe { mem::zeroed() };
        config.size = mem::size_of::<abi::Config>() as u32;
        config.library = pointer(&self.library);
        config.options = self.values.as_ptr();
        config.option_count = self.values.len();
        config
    }
}

/// A zero byte cannot be in a path that exists, nor in an argument or a TOML string that became an option.
fn zero_ended(bytes: &[u8]) -> CString {
    CString::new(bytes).unwrap_or_default()
}

fn zero_ended_path(path: &Path) -> CString {
    zero_ended(path.as_os_str().as_bytes())
}

fn pointer(text: &Option<CString>) -> *const c_char {
    text.as_ref().map_or(ptr::null(), |text| text.as_ptr())
}

/// A [`abi::Config`] and everything that it points to.
pub(crate) struct ConfigBuffer {
    path: Option<CString>,
    given: Given,
    lab: EngineSettings,
    hints: Hints,
    create: bool,
}

impl ConfigBuffer {
    pub(crate) fn new(choice: &Choice, lab: &EngineSettings, hints: &Hints, path: Option<&Path>, create: bool) -> Self {
        ConfigBuffer {
            path: path.map(zero_ended_path),
            given: Given::new(&choice.values, choice.library()),
            lab: lab.clone(),
            hints: *hints,
            create,
        }
    }

    pub(crate) fn as_abi(&self) -> abi::Config {
        abi::Config {
            create: self.create.into(),
            path: pointer(&self.path),
            durability: self.lab.durability.code(),
            sync_period_ms: self.lab.sync_period_ms,
            compression: self.lab.compression.code(),
            sessions: self.hints.sessions,
            cache_bytes: self.lab.cache_bytes,
            write_buffer_bytes: self.lab.write_buffer_bytes,
            records: self.hints.records,
            key_size: self.hints.key_size,
            value_size: self.hints.value_size,
            prefix_size: self.hints.prefix_size,
            processes: self.hints.processes,
            session_durabilities: self.hints.session_durabilities,
            ..self.given.as_abi()
        }
    }
}
