//! Setups that were compared on several machines, each on all of them.

use std::collections::BTreeMap;

use super::crossing::mean;
use super::verdict::{PairedRatio, PairedRatios, Unsure};
use crate::machines::FEWEST_MACHINES;

impl PairedRatios {
    /// Whether the repeats are of several machines.
    pub(super) fn are_of_machines(&self) -> bool {
        self.ratios.iter().any(|ratio| ratio.machine.is_some())
    }

    /// One value for each machine, where the repeats are of several; nothing is said of too few.
    pub(super) fn by_machines(self) -> PairedRatios {
        if !self.are_of_machines() {
            return self;
        }
        let mut machines: BTreeMap<usize, Vec<PairedRatio>> = BTreeMap::new();
        for ratio in &self.ratios {
            machines.entry(ratio.machine.unwrap_or_default()).or_default().push(*ratio);
        }
        let few = Unsure::FewMachines { machines: machines.len() };
        let unsure = (machines.len() < FEWEST_MACHINES).then_some(few).or(self.unsure);
        PairedRatios { ratios: machines.values().map(|ratios| mean(ratios)).collect(), unsure, ..self }
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::super::{Terms, Verdict, compare};
    use super::*;
    use crate::random::normal;

    const REPEATS: usize = 4;

    /// The ratios of a fleet, on each of whose machines the truth is another.
    fn fleet(machines: usize, (truth, between, within): (f64, f64, f64), rng: &mut Xoshiro256PlusPlus) -> PairedRatios {
        let mut ratios = PairedRatios::default();
        for machine in 0..machines {
            let own = truth + between * normal(rng);
            let logs: Vec<f64> = (0..REPEATS).map(|_| own + within * normal(rng)).collect();
            let of_machine = PairedRatios::of(&logs).ratios.into_iter();
            ratios.ratios.extend(of_machine.map(|ratio| PairedRatio { machine: Some(machine), ..ratio }));
        }
        ratios
    }

    /// The part of the fleets whose interval holds the truth.
    fn coverage(machines: usize, spreads: (f64, f64), is_pooled: bool) -> f64 {
        const FLEETS: usize = 4000;
        let truth = 0.05;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(machines as u64);
        let holds = |_: &usize| {
            let mut ratios = fleet(machines, (truth, spreads.0, spreads.1), &mut rng);
            if is_pooled {
                ratios.ratios.iter_mut().for_each(|ratio| ratio.machine = None);
            }
            let (low, high) = compare(&ratios, &Terms::default()).interval().unwrap();
            low.ln() <= truth && truth <= high.ln()
        };
        (0..FLEETS).filter(holds).count() as f64 / FLEETS as f64
    }

    #[test]
    fn intervals_hold_the_mean_of_a_fleet() {
        for machines in [5, 6, 10, 20] {
            for spreads in [(0.0, 0.01), (0.01, 0.01), (0.05, 0.01)] {
                let held = coverage(machines, spreads, false);
                assert!((0.93..=0.97).contains(&held), "{machines} machines, spreads {spreads:?}: {held}");
            }
        }
        // The same repeats, as if they were of one machine.
        let held = coverage(6, (0.05, 0.01), true);
        assert!(held < 0.8, "{held}");
    }

    #[test]
    fn too_few_machines_are_not_pooled() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let [four, five] =
            [4, 5].map(|machines| compare(&fleet(machines, (0.5, 0.001, 0.001), &mut rng), &Terms::default()));
        assert_eq!((four.verdict, four.unsure), (Verdict::CannotTell, Some(Unsure::FewMachines { machines: 4 })));
        assert_eq!((five.verdict, five.values, five.repeats), (Verdict::Faster, 5, 20));
        assert!(five.by_machine && !five.is_open());
    }
}
