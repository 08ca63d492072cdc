//! The alias method: one of a fixed number of entries is drawn by its weight, with one comparison (Walker, "An
//! efficient method for generating discrete random variables with general distributions", 1977; the table as Vose, "A
//! linear algorithm for generating random numbers with a given distribution", 1991).

/// Entries: a byte draws one.
pub(crate) const ENTRIES: usize = 256;

/// An entry of the table, which all come equally often.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AliasEntry {
    /// The entry stands for itself below this, of 2^64, and else for `alias`.
    pub(crate) own: u64,
    pub(crate) alias: usize,
}

/// A part of one, of 2^64.
pub(crate) fn of_all(part: f64) -> u64 {
    // A float becomes the highest number if it is too high.
    (part * 2f64.powi(64)) as u64
}

/// The table by which each entry is drawn in proportion to its weight.
pub(crate) fn alias_table(weights: [f64; ENTRIES]) -> [AliasEntry; ENTRIES] {
    let mut table = [AliasEntry::default(); ENTRIES];
    let sum: f64 = weights.iter().sum();
    let mut scaled = weights.map(|weight| weight / sum * ENTRIES as f64);
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..ENTRIES).partition(|&index| scaled[index] < 1.0);
    while let (Some(&few), Some(&many)) = (small.last(), large.last()) {
        small.pop();
        table[few] = AliasEntry { own: of_all(scaled[few]), alias: many };
        scaled[many] -= 1.0 - scaled[few];
        if scaled[many] < 1.0 {
            large.pop();
            small.push(many);
        }
    }
    // The remaining weights are one but for rounding.
    for index in small.into_iter().chain(large) {
        table[index] = AliasEntry { own: u64::MAX, alias: index };
    }
    table
}

/// The entry that 64 random bits draw, of a table with these entries: the first eight say which entry is looked at.
#[inline(always)]
pub(crate) fn drawn(bits: u64, entry: AliasEntry) -> usize {
    let index = if bits << 8 < entry.own { (bits >> 56) as usize } else { entry.alias };
    index % ENTRIES
}
