//! The limits that the cursors of a mix's ranges are told.

kvdyno_model::words! {
    /// The limits that the cursor of a range is told when it is opened.
    #[derive(Default)]
    pub enum RangeCursors: "a way to open cursors", "CURSORS" {
        /// None: the range ends when its records have come.
        Plain = "plain" as default,
        /// The keys between which the range lies: it ends when the engine says so.
        Bounded = "bounded",
        /// That values are not asked for.
        Keys = "keys",
        /// Both.
        BoundedKeys = "bounded-keys",
        /// A prefix: the range is all keys that have that of a record that is drawn (`data.keys_per_prefix`).
        Prefix = "prefix",
        /// The same, and that values are not asked for.
        PrefixKeys = "prefix-keys",
    }
}

impl RangeCursors {
    /// Whether the engine is told where a range ends.
    pub(crate) fn are_bounded(self) -> bool {
        matches!(self, RangeCursors::Bounded | RangeCursors::BoundedKeys)
    }

    /// Whether it need not bring values.
    pub(crate) fn bring_keys_only(self) -> bool {
        matches!(self, RangeCursors::Keys | RangeCursors::BoundedKeys | RangeCursors::PrefixKeys)
    }

    /// Whether a range is the keys with one prefix.
    pub(crate) fn are_by_prefix(self) -> bool {
        matches!(self, RangeCursors::Prefix | RangeCursors::PrefixKeys)
    }
}
