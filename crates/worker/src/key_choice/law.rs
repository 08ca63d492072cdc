//! The law of each distribution in its plain form, and how well draws keep it.

use kvdyno_dataset::misfit;
use kvdyno_model::{Distribution, DistributionKind, PowerLaw};

use super::{power, zipf, zipf_ycsb};

/// Distance of draws from the law; `counts` has the number of draws of each id: see [`kvdyno_dataset::misfit`].
pub fn misfit_of_ids(distribution: Distribution, counts: &[u64]) -> f64 {
    misfit(counts, &likelihoods(distribution, counts.len() as u64, counts.iter().sum()))
}

/// The likelihood of each of `ids`, up to a constant factor, as exact as this number of draws can tell; over all draws
/// if ids come in turn.
fn likelihoods(distribution: Distribution, ids: u64, draws: u64) -> Vec<f64> {
    let [first, second, ..] = distribution.numbers();
    let each = |likelihood: &dyn Fn(f64) -> f64| (0..ids).map(|id| likelihood(id as f64)).collect::<Vec<f64>>();
    let zipf = |rank: f64| (rank + 1.0).powf(-first);
    let last = (ids - 1) as f64;
    match distribution.kind() {
        DistributionKind::Uniform | DistributionKind::Sequential | DistributionKind::Window => each(&|_| 1.0),
        DistributionKind::ZipfOrdered => each(&zipf),
        DistributionKind::Zipf => {
            let mut scattered = vec![0.0; ids as usize];
            zipf::order(ids).zip(each(&zipf)).for_each(|(id, likelihood)| scattered[id as usize] = likelihood);
            scattered
        }
        DistributionKind::ZipfYcsb => zipf_ycsb::likelihoods(ids, draws),
        DistributionKind::Latest => each(&|id| zipf(last - id)),
        DistributionKind::Hotspot => {
            let hot = (ids as f64 * first).ceil().max(1.0);
            each(&|id| if id < hot { second / hot } else { (1.0 - second) / (ids as f64 - hot) })
        }
        DistributionKind::Power => power::likelihoods(ids, PowerLaw::new(distribution.numbers())),
        DistributionKind::Exponential => each(&|id| (-id / (ids as f64 * first)).exp()),
        DistributionKind::Normal => {
            let middle = (ids / 2) as f64;
            each(&|id| (-0.5 * ((id + 0.5 - middle) / (ids as f64 * first)).powi(2)).exp())
        }
    }
}

/// Whether `counts` of `drawn` ids fit a law with these `parts`, at a level that a sound sampler misses once in a
/// million seeds.
#[cfg(test)]
pub(crate) fn fits(counts: &[u64], parts: &[f64]) -> bool {
    misfit(counts, parts) < 4.75
}

#[cfg(test)]
mod tests {
    use kvdyno_model::KeyValue;

    use super::*;
    use crate::key_choice::sample_ids;

    #[test]
    fn every_distribution_keeps_its_law() {
        for kind in DistributionKind::ALL {
            for ids in [5, 64, 1000] {
                let (distribution, mut counts) = (Distribution::of(*kind), vec![0; ids]);
                sample_ids(distribution, ids as u64, 3, 1_000_000, |id| counts[id as usize] += 1);
                let misfit = misfit_of_ids(distribution, &counts);
                assert!(misfit < 4.75, "{kind}, {ids} ids: {misfit}");
            }
        }
    }

    #[test]
    fn key_ranges_keep_the_law_of_mixgraph() {
        let distribution = Distribution::from_text("power 0.002312 0.3467 30").unwrap();
        for ids in [5, 64, 1000] {
            let mut counts = vec![0; ids];
            sample_ids(distribution, ids as u64, 3, 1_000_000, |id| counts[id as usize] += 1);
            let misfit = misfit_of_ids(distribution, &counts);
            assert!(misfit < 4.75, "{ids} ids: {misfit}");
        }
    }

    #[test]
    fn another_law_does_not_fit() {
        let mut counts = vec![0; 1000];
        sample_ids(Distribution::from_text("zipf 0.99").unwrap(), 1000, 3, 1_000_000, |id| counts[id as usize] += 1);
        for other in ["zipf 0.98", "zipf-ordered 0.99", "latest", "uniform", "normal 0.1"] {
            let misfit = misfit_of_ids(Distribution::from_text(other).unwrap(), &counts);
            assert!(misfit > 4.75, "{other}: {misfit}");
        }
    }
}
