//! Drawing ranks of any law by which a rank is never likelier than the one before it.
//!
//! The ranks are cut into pieces. Under a flat lid over each piece a point is drawn: the piece by the alias method, the
//! rank evenly within it. The point counts if it lies under the law, too, else another is drawn (von
//! Neumann's rejection), so that the law is met exactly, but for ranks that are less likely than 2^-64 altogether. The
//! pieces are so narrow that nearly every point lies below the law's lowest value in its piece, which is known
//! beforehand.

use std::rc::Rc;

use kvdyno_dataset::Stream;

use super::KeyChoice;
use super::alias::{AliasEntry, ENTRIES, alias_table, drawn, of_all};

/// A law: the logarithm of the likelihood of ranks, up to a constant.
pub(crate) trait Law: Clone + 'static {
    /// The logarithm of the weight of a rank, counted from 0. It never rises.
    fn ln(&self, rank: f64) -> f64;

    /// The rank at which it is `ln`: the other way round.
    fn rank(&self, ln: f64) -> f64;
}

/// Pieces: an entry of an alias table each.
const PIECES: usize = ENTRIES;

/// A rank is never drawn if the logarithm of its likelihood is this far below that of the first rank: e^-50 is less
/// than 2^-64.
const NEVER: f64 = 50.0;

/// A piece, and its entry of the alias table: a line of the processor's cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Piece {
    /// Its first rank.
    first: u64,
    /// Number of its ranks.
    count: u64,
    /// Points below this height, of 2^64, of the lid lie under the law everywhere in the piece.
    surely: u64,
    /// The law of its first rank, as a logarithm.
    highest: f64,
    entry: AliasEntry,
}

/// Draws ranks by a law.
#[derive(Clone)]
pub(crate) struct Ranked<L> {
    /// Shared, so that a copy costs nothing.
    pieces: Rc<[Piece; PIECES]>,
    law: L,
    stream: Stream,
}

impl<L: Law> Ranked<L> {
    /// Draws the ranks `0..ranks`.
    pub(super) fn new(ranks: u64, law: L, stream: Stream) -> Self {
        let mut pieces = [Piece::default(); PIECES];
        let firsts = cut(ranks, &law);
        let ends = firsts.iter().skip(1).copied().chain([ranks]);
        let mut lids = [0.0; PIECES];
        for (((piece, lid), &first), end) in pieces.iter_mut().zip(&mut lids).zip(&firsts).zip(ends) {
            let (highest, lowest) = (law.ln(first as f64), law.ln((end - 1) as f64));
            let surely = of_all((lowest - highest).exp());
            *piece = Piece { first, count: end - first, surely, highest, ..Piece::default() };
            *lid = piece.count as f64 * (highest - law.ln(0.0)).exp();
        }
        pieces.iter_mut().zip(alias_table(lids)).for_each(|(piece, entry)| piece.entry = entry);
        Ranked { pieces: Rc::new(pieces), law, stream }
    }

    /// The next 64 bits of its stream, for what is drawn beside a rank.
    #[inline(always)]
    pub(super) fn bits(&mut self) -> u64 {
        self.stream.bits()
    }

    /// Whether a point at `height`, of 2^64, of the lid over a piece lies under the law; `highest`: that of its first
    /// rank.
    #[cold]
    #[inline(never)]
    fn is_under(&self, highest: f64, rank: u64, height: u64) -> bool {
        let law = (self.law.ln(rank as f64) - highest).exp();
        (height as f64) < law * 2f64.powi(64)
    }
}

impl<L: Law> KeyChoice for Ranked<L> {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        loop {
            let bits = self.stream.bits();
            let piece = &self.pieces[drawn(bits, self.pieces[(bits >> 56) as usize].entry)];
            let point = u128::from(self.stream.bits()) * u128::from(piece.count);
            // The high half is even over the piece, the low half over its height.
            let (rank, height) = (piece.first + (point >> 64) as u64, point as u64);
            if height <= piece.surely || self.is_under(piece.highest, rank, height) {
                return rank;
            }
        }
    }
}

/// The first rank of each piece. The largest fall of the law within a piece is as small as [`PIECES`] pieces allow.
fn cut(ranks: u64, law: &impl Law) -> Vec<u64> {
    if let Some(firsts) = cut_by(0.0, ranks, law) {
        return firsts;
    }
    // One piece is enough for the highest of these.
    let (mut least, mut most) = (0.0, 4.0 * NEVER + law.ln(0.0) - law.ln((ranks - 1) as f64));
    for _ in 0..50 {
        let middle = f64::midpoint(least, most);
        match cut_by(middle, ranks, law) {
            Some(_) => most = middle,
            None => least = middle,
        }
    }
    cut_by(most, ranks, law).unwrap_or_else(|| vec![0])
}

/// The first rank of each piece, if the law falls by `fall` within a piece; `None` if there are more than [`PIECES`].
fn cut_by(fall: f64, ranks: u64, law: &impl Law) -> Option<Vec<u64>> {
    let mut firsts = vec![0];
    let mut first = 0;
    loop {
        let end = law.rank(law.ln(first as f64) - fall) as u64;
        first = end.max(first + 1);
        let left = ranks.saturating_sub(first);
        if left == 0 || law.ln(first as f64) + (left as f64).ln() < law.ln(0.0) - NEVER {
            return Some(firsts);
        }
        if firsts.len() == PIECES {
            return None;
        }
        firsts.push(first);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fits;
    use super::*;

    #[derive(Clone)]
    struct Falling(f64);

    impl Law for Falling {
        fn ln(&self, rank: f64) -> f64 {
            -self.0 * (rank + 1.0).ln()
        }

        fn rank(&self, ln: f64) -> f64 {
            (-ln / self.0).exp() - 1.0
        }
    }

    #[test]
    fn ranks_come_as_often_as_the_law_has_them() {
        for (ranks, exponent) in [(1u64, 1.0), (2, 1.0), (100, 0.5), (300, 1.0), (5000, 0.99), (5000, 3.0)] {
            let law = Falling(exponent);
            let parts: Vec<f64> = (0..ranks).map(|rank| law.ln(rank as f64).exp()).collect();
            let mut counts = vec![0; ranks as usize];
            let mut choice = Ranked::new(ranks, law, Stream::new(7));
            (0..1_000_000).for_each(|_| counts[choice.next() as usize] += 1);
            assert!(fits(&counts, &parts), "{ranks} ranks, exponent {exponent}");
        }
    }

    #[test]
    fn a_law_that_is_a_little_off_does_not_fit() {
        let mut counts = vec![0; 1000];
        let mut choice = Ranked::new(1000, Falling(0.99), Stream::new(7));
        (0..1_000_000).for_each(|_| counts[choice.next() as usize] += 1);
        let parts: Vec<f64> = (1..=1000).map(|rank| f64::from(rank).powf(-0.98)).collect();
        assert!(!fits(&counts, &parts));
    }

    #[test]
    fn pieces_are_few_and_narrow_whatever_the_number_of_ranks() {
        for ranks in [257, 1_000_000, 1 << 40] {
            for exponent in [0.01, 0.99, 10.0] {
                let law = Falling(exponent);
                let firsts = cut(ranks, &law);
                assert!((1..=PIECES).contains(&firsts.len()) && firsts.is_sorted(), "{ranks}, {exponent}");
                let falls = firsts.windows(2).map(|pair| law.ln(pair[0] as f64) - law.ln((pair[1] - 1) as f64));
                assert!(falls.fold(0.0, f64::max) < 0.4, "{ranks}, {exponent}");
            }
        }
    }
}
