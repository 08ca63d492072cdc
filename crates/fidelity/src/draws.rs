//! The row `draws`: whether records, sizes of values and lengths of ranges are drawn by the law that each has.

use std::io;

use kvdyno_dataset::{ValueSizes, Values, misfit};
use kvdyno_model::{Distribution, DistributionKind, RangeLengths};
use kvdyno_worker::workloads::{likelihoods_of_lengths, sample_lengths};
use kvdyno_worker::{misfit_of_ids, sample_ids};

use crate::table::FidelityLine;
use crate::tries::Tries;

/// Draws of each try.
const DRAWS: u64 = 1_000_000_000;
/// Ids that are drawn from: so few that each is drawn often, so many that tables are cut into pieces.
const IDS: usize = 10_000;
/// Limit in standard deviations above the expected chi-squared. A sound sampler exceeds it once in a million tries.
const MOST_OFF: f64 = 4.75;
/// The power law within key ranges, with the hotness of mixgraph's.
const MIXGRAPH: &str = "power 0.002312 0.3467 30";
/// Sizes of values.
const SIZES: [&str; 6] = [
    "uniform 24 1024",
    "normal 400 100",
    "normal 100 76",
    "pareto 0.2615 25.45",
    "pareto 0 100 2048",
    "histogram 24 1, 1000 0.5, 100 3.5",
];
/// Lengths of ranges, of 1 to 10,000 records.
const LENGTHS: [&str; 3] = ["uniform", "zipf", "pareto"];

/// Draws, each try with a seed of its own, and counts.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let usual = DistributionKind::ALL.iter().map(|kind| Distribution::of(*kind));
    let distributions = usual.chain(MIXGRAPH.parse());
    let of_records = distributions.map(|distribution| records(distribution, tries));
    let of_sizes = SIZES.iter().map(|text| sizes(text, text.parse().map_err(io::Error::other)?, tries));
    let of_lengths = LENGTHS.iter().map(|text| lengths(text.parse().map_err(io::Error::other)?, tries));
    of_records.chain(of_sizes).chain(of_lengths).collect()
}

fn records(distribution: Distribution, tries: &Tries) -> io::Result<FidelityLine> {
    line(format!("`{distribution}`"), tries, |seed| {
        let mut counts = vec![0u64; IDS];
        sample_ids(distribution, IDS as u64, seed, DRAWS, |id| counts[id as usize] += 1);
        misfit_of_ids(distribution, &counts)
    })
}

/// The sizes of values with ascending ids.
fn sizes(name: &str, law: ValueSizes, tries: &Tries) -> io::Result<FidelityLine> {
    let (parts, largest) = (law.likelihoods(), law.largest() as usize);
    line(format!("sizes `{name}`"), tries, |seed| {
        let values = Values::varied(law.clone(), 0.5, seed);
        let mut counts = vec![0u64; largest + 1];
        (0..DRAWS).for_each(|id| counts[values.size_of(id, 0)] += 1);
        misfit(&counts, &parts)
    })
}

fn lengths(law: RangeLengths, tries: &Tries) -> io::Result<FidelityLine> {
    let parts = likelihoods_of_lengths(law, IDS as u64);
    line(format!("lengths `{law}`"), tries, |seed| {
        let mut counts = vec![0u64; IDS];
        sample_lengths(law, IDS as u64, seed, DRAWS, |length| counts[length as usize - 1] += 1);
        misfit(&counts, &parts)
    })
}

/// The worst of the tries; `misfit_of` draws by the random numbers of a seed.
fn line(target: String, tries: &Tries, misfit_of: impl Fn(u64) -> f64) -> io::Result<FidelityLine> {
    let name = target.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let misfits = (1..=u64::from(tries.count)).map(|seed| tries.figure(&format!("{name}-{seed}"), || misfit_of(seed)));
    let misfits: Vec<f64> = misfits.collect::<io::Result<Vec<_>>>()?.into_iter().flatten().collect();
    let worst = misfits.iter().copied().reduce(f64::max);
    Ok(FidelityLine {
        target,
        tries: misfits.len(),
        figure: worst.map_or("none".to_owned(), |worst| format!("{worst:+.2} standard deviations at worst")),
        bound: format!("{MOST_OFF}"),
        is_met: worst.is_some_and(|worst| worst < MOST_OFF),
    })
}
