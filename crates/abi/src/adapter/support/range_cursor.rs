//! Cursors for engines that scan by ranges.

use crate::adapter::{Cursor, CursorLimits, Direction, Error, Record};
use std::fmt;
use std::ops::Bound::{self, Excluded, Included, Unbounded};

/// An engine's ranges of records, which can be gone through from either end.
pub trait Ranges {
    /// A record as the engine lends it.
    type Item;

    /// A range under way.
    type Iter: DoubleEndedIterator<Item = Result<Self::Item, Error>>;

    /// Called at each seek: the ranges from here on show a state that is no older.
    fn renew(&mut self) -> Result<(), Error>;

    /// The records between two keys.
    fn range(&mut self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Result<Self::Iter, Error>;

    /// The records whose keys begin with `prefix`. `CAN_SCAN_PREFIX`.
    fn prefixed(&mut self, _prefix: &[u8]) -> Result<Self::Iter, Error> {
        Err(Error::unsupported("a cursor with a prefix"))
    }

    /// An item's key and value.
    fn record(item: &Self::Item) -> Record<'_>;
}

/// A [`Cursor`] on [`Ranges`]. Each seek begins a range, and so does each change of direction: an iterator that has
/// come from one end cannot return.
pub struct RangeCursor<R: Ranges> {
    /// Declared, like `under_way`, before `ranges` and so dropped before it: a record may borrow from a snapshot, a
    /// range from a transaction.
    at: Option<R::Item>,
    under_way: Option<(Direction, R::Iter)>,
    ranges: R,
    /// Lower bound of the keys, inclusive.
    from: Option<Vec<u8>>,
    /// Upper bound of the keys, exclusive.
    to: Option<Vec<u8>>,
    /// Prefix of the keys.
    prefix: Option<Vec<u8>>,
}

impl<R: Ranges> RangeCursor<R> {
    /// A cursor that stands nowhere yet.
    pub fn new(ranges: R) -> Self {
        Self { at: None, under_way: None, ranges, from: None, to: None, prefix: None }
    }

    /// A cursor that keeps within the bounds of `limits`. `ranges` decides whether values are read.
    pub fn bounded(ranges: R, limits: CursorLimits<'_>) -> Self {
        let kept = |key: Option<&[u8]>| key.map(<[u8]>::to_vec);
        Self { from: kept(limits.from), to: kept(limits.to), prefix: kept(limits.prefix), ..Self::new(ranges) }
    }

    /// The range between two keys and within the bounds; `None` if there is nothing between them.
    fn within<'k>(
        ranges: &mut R,
        bounds: [Option<&'k [u8]>; 2],
        mut from: Bound<&'k [u8]>,
        mut to: Bound<&'k [u8]>,
    ) -> Result<Option<R::Iter>, Error> {
        if let Some(least) = bounds[0] {
            from = match from {
                Included(key) | Excluded(key) if key >= least => from,
                _ => Included(least),
            };
        }
        if let Some(end) = bounds[1] {
            to = match to {
                Included(key) | Excluded(key) if key < end => to,
                _ => Excluded(end),
            };
        }
        let is_empty = match (from, to) {
            (Included(from), Included(to)) => from > to,
            (Included(from) | Excluded(from), Included(to) | Excluded(to)) => from >= to,
            _ => false,
        };
        if is_empty { Ok(None) } else { ranges.range(from, to).map(Some) }
    }

    /// The next record in a direction. At the end it stays where it was.
    fn step(&mut self, direction: Direction) -> Result<Option<Record<'_>>, Error> {
        let Some(at) = &self.at else {
            return Err(Error::new("the cursor stands nowhere: seek first"));
        };
        if self.under_way.as_ref().is_none_or(|(way, _)| *way != direction) {
            let (key, _) = R::record(at);
            let (from, to) = match direction {
                Direction::Forward => (Excluded(key), Unbounded),
                Direction::Backward => (Unbounded, Excluded(key)),
            };
            let iter = Self::within(&mut self.ranges, [self.from.as_deref(), self.to.as_deref()], from, to)?;
            self.under_way = iter.map(|iter| (direction, iter));
        }
        self.advance()
    }

    fn advance(&mut self) -> Result<Option<Record<'_>>, Error> {
        let next = match &mut self.under_way {
            Some((Direction::Forward, iter)) => iter.next(),
            Some((Direction::Backward, iter)) => iter.next_back(),
            None => None,
        };
        match next {
            Some(item) => Ok(Some(R::record(self.at.insert(item?)))),
            None => Ok(None),
        }
    }
}

impl<R: Ranges> Cursor for RangeCursor<R> {
    fn seek(&mut self, key: Option<&[u8]>, direction: Direction) -> Result<Option<Record<'_>>, Error> {
        (self.at, self.under_way) = (None, None);
        self.ranges.renew()?;
        if let Some(prefix) = &self.prefix {
            self.under_way = Some((Direction::Forward, self.ranges.prefixed(prefix)?));
            return self.advance();
        }
        let bound = key.map_or(Unbounded, Included);
        let (from, to) = match direction {
            Direction::Forward => (bound, Unbounded),
            Direction::Backward => (Unbounded, bound),
        };
        let iter = Self::within(&mut self.ranges, [self.from.as_deref(), self.to.as_deref()], from, to)?;
        self.under_way = iter.map(|iter| (direction, iter));
        self.advance()
    }

    fn next(&mut self) -> Result<Option<Record<'_>>, Error> {
        self.step(Direction::Forward)
    }

    fn previous(&mut self) -> Result<Option<Record<'_>>, Error> {
        self.step(Direction::Backward)
    }
}

impl<R: Ranges> fmt::Debug for RangeCursor<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RangeCursor").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::vec;

    /// Two-digit keys, each its own value; counts the calls.
    #[derive(Default)]
    struct TwoDigitKeys {
        keys: BTreeSet<Vec<u8>>,
        renewed: u32,
        ranges: u32,
    }

    impl Ranges for TwoDigitKeys {
        type Item = Vec<u8>;
        type Iter = vec::IntoIter<Result<Vec<u8>, Error>>;

        fn renew(&mut self) -> Result<(), Error> {
            self.renewed += 1;
            Ok(())
        }

        fn range(&mut self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Result<Self::Iter, Error> {
            self.ranges += 1;
            let found: Vec<_> = self.keys.range::<[u8], _>((from, to)).cloned().map(Ok).collect();
            Ok(found.into_iter())
        }

        fn record(item: &Vec<u8>) -> Record<'_> {
            (item, item)
        }
    }

    fn cursor() -> RangeCursor<TwoDigitKeys> {
        let keys = (10..20).map(|number| number.to_string().into_bytes()).collect();
        RangeCursor::new(TwoDigitKeys { keys, ..TwoDigitKeys::default() })
    }

    fn key(found: Result<Option<Record<'_>>, Error>) -> Option<String> {
        found.unwrap().map(|(key, _)| String::from_utf8(key.to_vec()).unwrap())
    }

    #[test]
    fn a_seek_finds_the_key_or_its_neighbour_in_its_direction() {
        use Direction::{Backward, Forward};
        let mut cursor = cursor();
        let cases = [
            (None, Forward, Some("10")),
            (None, Backward, Some("19")),
            (Some("12"), Forward, Some("12")),
            (Some("12"), Backward, Some("12")),
            (Some("125"), Forward, Some("13")),
            (Some("125"), Backward, Some("12")),
            (Some("2"), Forward, None),
            (Some("1"), Backward, None),
        ];
        for (sought, direction, found) in cases {
            assert_eq!(key(cursor.seek(sought.map(str::as_bytes), direction)).as_deref(), found, "{sought:?}");
        }
        assert_eq!(cursor.ranges.renewed, cases.len() as u32);
    }

    #[test]
    fn only_turns_begin_new_ranges() {
        let mut cursor = cursor();
        cursor.seek(Some(b"12"), Direction::Forward).unwrap();
        assert_eq!(key(cursor.next()).as_deref(), Some("13"));
        assert_eq!(key(cursor.next()).as_deref(), Some("14"));
        assert_eq!((cursor.ranges.ranges, cursor.ranges.renewed), (1, 1));
        assert_eq!(key(cursor.previous()).as_deref(), Some("13"));
        assert_eq!(key(cursor.previous()).as_deref(), Some("12"));
        assert_eq!(key(cursor.next()).as_deref(), Some("13"));
        assert_eq!((cursor.ranges.ranges, cursor.ranges.renewed), (3, 1));
    }

    #[test]
    fn at_the_end_it_stays_and_can_turn() {
        let mut cursor = cursor();
        assert_eq!(key(cursor.seek(None, Direction::Backward)).as_deref(), Some("19"));
        assert_eq!(key(cursor.next()), None);
        assert_eq!(key(cursor.next()), None);
        assert_eq!(key(cursor.previous()).as_deref(), Some("18"));
    }

    #[test]
    fn bounds_hold_in_both_directions() {
        use Direction::{Backward, Forward};
        let bounded = |from: Option<&'static str>, to: Option<&'static str>| {
            let bounds = [from, to].map(|bound| bound.map(str::as_bytes));
            let limits = CursorLimits { keys_only: false, from: bounds[0], to: bounds[1], prefix: None };
            RangeCursor::bounded(cursor().ranges, limits)
        };
        let mut cursor = bounded(Some("12"), Some("15"));
        for (sought, direction, found) in [
            (None, Forward, Some("12")),
            (None, Backward, Some("14")),
            (Some("10"), Forward, Some("12")),
            (Some("10"), Backward, None),
            (Some("15"), Forward, None),
            (Some("18"), Backward, Some("14")),
            (Some("13"), Forward, Some("13")),
        ] {
            assert_eq!(key(cursor.seek(sought.map(str::as_bytes), direction)).as_deref(), found, "{sought:?}");
        }
        assert_eq!(key(cursor.next()).as_deref(), Some("14"));
        assert_eq!((key(cursor.next()), key(cursor.next())), (None, None));
        assert_eq!(key(cursor.previous()).as_deref(), Some("13"));
        assert_eq!(key(cursor.previous()).as_deref(), Some("12"));
        assert_eq!((key(cursor.previous()), key(cursor.previous())), (None, None));
        for (from, to) in [(Some("15"), Some("12")), (Some("13"), Some("13")), (Some("2"), None), (None, Some("1"))] {
            let mut empty = bounded(from, to);
            for direction in [Forward, Backward] {
                assert_eq!(key(empty.seek(None, direction)), None, "{from:?} to {to:?}");
                assert_eq!(key(empty.seek(Some(b"13"), direction)), None, "{from:?} to {to:?}");
            }
        }
    }

    #[test]
    fn it_must_seek_before_it_steps() {
        let mut cursor = cursor();
        assert!(cursor.next().is_err());
        cursor.seek(Some(b"2"), Direction::Forward).unwrap();
        assert!(cursor.previous().is_err(), "a seek that found nothing leaves it standing nowhere");
    }
}
