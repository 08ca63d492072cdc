//! How numbers are spelled.

kvdyno_model::words! {
    /// How the 3n+1 workload writes its numbers as keys and values.
    #[derive(Default)]
    pub enum Spelling: "a spelling", "SPELLING" {
        /// As the data's `key_format` has them, all of one size.
        Plain = "plain" as default,
        /// Each decimal digit by its name, in a language of its own, with a space between.
        Enhanced = "enhanced",
    }
}
