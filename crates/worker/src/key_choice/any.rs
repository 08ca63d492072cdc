//! Any distribution behind one type, for loops that need not be compiled for each.

use super::KeyChoice;

/// A [`KeyChoice`] whose type is not known.
trait UntypedChoice {
    fn drawn(&mut self) -> u64;
    fn followed(&mut self, end: u64);
    fn boxed(&self) -> Box<dyn UntypedChoice>;
}

impl<K: KeyChoice> UntypedChoice for K {
    fn drawn(&mut self) -> u64 {
        self.next()
    }

    fn followed(&mut self, end: u64) {
        self.follow(end);
    }

    fn boxed(&self) -> Box<dyn UntypedChoice> {
        Box::new(self.clone())
    }
}

/// A distribution that is called through a pointer: some instructions more for each id. `FOLLOWS` is that of the
/// distribution.
pub(crate) struct AnyChoice<const FOLLOWS: bool>(Box<dyn UntypedChoice>);

impl<const FOLLOWS: bool> AnyChoice<FOLLOWS> {
    /// Draws as `choice` does.
    pub(crate) fn new(choice: impl KeyChoice) -> Self {
        AnyChoice(Box::new(choice))
    }
}

impl<const FOLLOWS: bool> Clone for AnyChoice<FOLLOWS> {
    fn clone(&self) -> Self {
        AnyChoice(self.0.boxed())
    }
}

impl<const FOLLOWS: bool> KeyChoice for AnyChoice<FOLLOWS> {
    const FOLLOWS: bool = FOLLOWS;

    fn next(&mut self) -> u64 {
        self.0.drawn()
    }

    fn follow(&mut self, end: u64) {
        self.0.followed(end);
    }
}

#[cfg(test)]
mod tests {
    use kvdyno_dataset::Stream;
    use kvdyno_model::{Distribution, DistributionKind};

    use super::super::{Draw, UsesKeyChoice};
    use super::*;

    struct SameIds;

    impl UsesKeyChoice for SameIds {
        type Output = bool;

        fn with<K: KeyChoice>(self, mut choice: K) -> bool {
            let mut any = AnyChoice::<false>::new(choice.clone());
            let mut copy = any.clone();
            (0..1000).all(|nth| {
                if nth % 100 == 50 {
                    choice.follow(1000 + nth);
                    any.follow(1000 + nth);
                    copy.follow(1000 + nth);
                }
                let id = choice.next();
                id == any.next() && id == copy.next()
            })
        }
    }

    #[test]
    fn any_distribution_draws_the_ids_that_it_draws_by_itself() {
        for &kind in DistributionKind::ALL {
            assert!(Distribution::of(kind).draw(1000, Stream::new(1), SameIds), "{kind}");
        }
    }
}
