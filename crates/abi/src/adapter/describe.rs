//! The description of an engine, before anything is opened.

use crate::types as abi;
use std::ffi::CStr;
use std::ptr;

/// The description of an engine. Written as a constant, from [`Description::new`] with what differs.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Lower case: `lmdb`.
    pub name: &'static CStr,
    /// A description, one line.
    pub summary: &'static CStr,
    /// The source of the engine's library, for people.
    pub origin: &'static CStr,
    /// `CAN_…` and `IS_…` of this crate's root, joined by `|`.
    pub capabilities: u64,
    /// The levels that can be met: `bits(&[DURABILITY_NONE, …])`.
    pub durabilities: u32,
    /// The compressions that can be had: `bits(&[COMPRESSION_NONE, …])`.
    pub compressions: u32,
    /// The shortest key.
    pub min_key_size: u64,
    /// The longest key; 0: no limit of its own.
    pub max_key_size: u64,
    /// The longest value; 0: no limit of its own.
    pub max_value_size: u64,
    /// The engine's own options.
    pub options: &'static [Opt],
    /// Named sets of option values.
    pub presets: &'static [Preset],
    /// Which of the optional calls on a database are there.
    pub housekeeping: Housekeeping,
}

impl Description {
    /// An engine that is built in, declares no capability and no durability yet, and compresses nothing.
    pub const fn new(name: &'static CStr, summary: &'static CStr) -> Self {
        Self {
            name,
            summary,
            origin: c"built in",
            capabilities: 0,
            durabilities: 0,
            compressions: bits(&[abi::COMPRESSION_NONE]),
            min_key_size: 0,
            max_key_size: 0,
            max_value_size: 0,
            options: &[],
            presets: &[],
            housekeeping: Housekeeping::NONE,
        }
    }

    pub(super) const fn can(&self, any_of: u64) -> bool {
        self.capabilities & any_of != 0
    }

    /// Fails the build of an adapter that contradicts itself.
    pub(super) const fn check(&self) {
        assert!(!self.name.is_empty(), "the engine has no name");
        assert!(self.durabilities != 0, "an engine must meet one level of durability at least");
        assert!(self.compressions != 0, "an engine must offer one compression, if only NONE");
        assert!(self.can(abi::CAN_SCAN) || !self.can(abi::CAN_SCAN_REVERSE), "CAN_SCAN_REVERSE goes with CAN_SCAN");
    }
}

/// Every level of durability.
pub const ALL_DURABILITIES: u32 =
    bits(&[abi::DURABILITY_NONE, abi::DURABILITY_PROCESS, abi::DURABILITY_PERIODIC, abi::DURABILITY_COMMIT]);
/// Every compression.
pub const ALL_COMPRESSIONS: u32 = bits(&[
    abi::COMPRESSION_NONE,
    abi::COMPRESSION_SNAPPY,
    abi::COMPRESSION_LZ4,
    abi::COMPRESSION_ZSTD,
    abi::COMPRESSION_ZLIB,
]);

/// A set of small numbers: bit N is set for each N given.
pub const fn bits(numbers: &[u32]) -> u32 {
    let mut set = 0;
    let mut i = 0;
    while i < numbers.len() {
        set |= 1 << numbers[i];
        i += 1;
    }
    set
}

/// The optional calls on a database: what is `true` must be implemented in [`super::Engine`].
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Housekeeping {
    pub flush: bool,
    pub compact: bool,
    pub wait_idle: bool,
    pub statistics: bool,
}

impl Housekeeping {
    /// No housekeeping call.
    pub const NONE: Self = Self { flush: false, compact: false, wait_idle: false, statistics: false };
}

/// The declaration of one option of the engine's own. Defaults and bounds are spelled as a user would spell them.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Opt(pub(super) abi::OptionDecl);

impl Opt {
    /// `true` or `false`; read by [`super::Config::bool`].
    pub const fn bool(name: &'static CStr, default: bool, help: &'static CStr) -> Self {
        Self::declare(abi::OPTION_BOOL, name, if default { c"true" } else { c"false" }, help)
    }

    /// A whole number between the bounds, inclusive; read by [`super::Config::integer`].
    pub const fn integer(
        name: &'static CStr,
        default: &'static CStr,
        minimum: i64,
        maximum: i64,
        help: &'static CStr,
    ) -> Self {
        Self::declare(abi::OPTION_INTEGER, name, default, help).between(minimum, maximum)
    }

    /// Bytes between the bounds, inclusive, spelled `64MiB` and the like; read by [`super::Config::size`].
    pub const fn size(
        name: &'static CStr,
        default: &'static CStr,
        minimum: i64,
        maximum: i64,
        help: &'static CStr,
    ) -> Self {
        assert!(minimum >= 0, "a size is not negative");
        Self::declare(abi::OPTION_SIZE, name, default, help).between(minimum, maximum)
    }

    /// The same, of a size that shapes the database's files or levels, such as that of a table file: a smaller database
    /// that stands for a larger one has a smaller one.
    #[must_use]
    pub const fn scales(mut self) -> Self {
        assert!(self.0.kind == abi::OPTION_SIZE, "only a size goes with that of the database");
        self.0.flags = abi::OPTION_SCALES;
        self
    }

    /// A real number; read by [`super::Config::real`].
    pub const fn real(name: &'static CStr, default: &'static CStr, help: &'static CStr) -> Self {
        Self::declare(abi::OPTION_REAL, name, default, help)
    }

    /// Any text; read by [`super::Config::text`].
    pub const fn text(name: &'static CStr, default: &'static CStr, help: &'static CStr) -> Self {
        Self::declare(abi::OPTION_TEXT, name, default, help)
    }

    /// One of `choices`, which are separated by `|`; read by [`super::Config::text`].
    pub const fn choice(
        name: &'static CStr,
        default: &'static CStr,
        choices: &'static CStr,
        help: &'static CStr,
    ) -> Self {
        let mut option = Self::declare(abi::OPTION_CHOICE, name, default, help);
        option.0.choices = choices.as_ptr();
        option
    }

    const fn between(mut self, minimum: i64, maximum: i64) -> Self {
        assert!(minimum <= maximum, "an option's minimum is above its maximum");
        self.0.minimum = minimum;
        self.0.maximum = maximum;
        self
    }

    const fn declare(kind: u32, name: &'static CStr, default: &'static CStr, help: &'static CStr) -> Self {
        Self(abi::OptionDecl {
            name: name.as_ptr(),
            kind,
            flags: 0,
            default_value: default.as_ptr(),
            choices: ptr::null(),
            minimum: 0,
            maximum: 0,
            help: help.as_ptr(),
        })
    }

    /// The option's name.
    pub fn name(&self) -> &'static CStr {
        // SAFETY: `declare`, the only way to make one, took a static text.
        unsafe { CStr::from_ptr(self.0.name) }
    }
}

/// A named set of option values: `rocksdb:pfx` is preset `pfx` of engine `rocksdb`.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
#[allow(dead_code, reason = "read by the host, through the table's pointer")]
pub struct Preset(abi::Preset);

impl Preset {
    /// `options` is spelled `name=value,name=value`.
    pub const fn new(name: &'static CStr, options: &'static CStr, help: &'static CStr) -> Self {
        Self(abi::Preset { name: name.as_ptr(), options: options.as_ptr(), help: help.as_ptr() })
    }
}
