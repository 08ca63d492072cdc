//! Repeats that were measured on several machines.
//!
//! Repeats of one machine have its memory, its kernel and its other guests in common, so they say how far its next
//! repeat may come out, and not how far another machine's. A machine is therefore one value: the mean of its repeats.
//! The interval over these values is that of a machine drawn from those like them, with the machine as a random effect
//! (Searle, Casella and McCulloch, *Variance Components*, 1992, chapter 3; exact where machines have as many repeats).

use std::collections::BTreeMap;

use crate::estimate::median;

/// The machine of each repeat, by a number of its own; empty where all repeats are of one machine.
pub type RepeatMachines = BTreeMap<u32, usize>;

/// The fewest machines that say something about others. Fewer values have an interval, but their spread is known to a
/// factor of two at best.
pub const FEWEST_MACHINES: usize = 5;

/// Beyond so many deviations of the median, made comparable with standard deviations, a machine stands out (Iglewicz
/// and Hoaglin, *How to Detect and Handle Outliers*, 1993).
const OUTLYING: f64 = 3.5;
/// The median absolute deviation of normal values, in standard deviations.
const NORMAL_MEDIAN_DEVIATION: f64 = 0.6745;

/// The values of a comparison or of a rate: one for each machine, the mean of its repeats', or all where they are of
/// one machine.
pub(crate) fn values_of(repeats: impl Iterator<Item = (u32, f64)>, machines: &RepeatMachines) -> Vec<f64> {
    if machines.is_empty() {
        return repeats.map(|(_, value)| value).collect();
    }
    by_machine(repeats, machines).into_values().collect()
}

/// The mean of each machine's values.
fn by_machine(repeats: impl Iterator<Item = (u32, f64)>, machines: &RepeatMachines) -> BTreeMap<usize, f64> {
    let mut groups: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for (machine, value) in repeats.filter_map(|(repeat, value)| Some((*machines.get(&repeat)?, value))) {
        let (sum, count) = groups.entry(machine).or_default();
        (*sum, *count) = (*sum + value, *count + 1.0);
    }
    groups.into_iter().map(|(machine, (sum, count))| (machine, sum / count)).collect()
}

/// The machines whose figures lie far from those of the others, each with its figure over the median of all: from
/// [`FEWEST_MACHINES`] on. `figures` are positive, each with its repeat.
pub(crate) fn standing_out(figures: impl Iterator<Item = (u32, f64)>, machines: &RepeatMachines) -> Vec<(usize, f64)> {
    let of_machines = by_machine(figures.map(|(repeat, figure)| (repeat, figure.ln())), machines);
    let middle = median(of_machines.values().copied().collect()).unwrap_or(0.0);
    let deviation = median(of_machines.values().map(|log| (log - middle).abs()).collect()).unwrap_or(0.0);
    if of_machines.len() < FEWEST_MACHINES || deviation <= 0.0 {
        return Vec::new();
    }
    let is_far = |log: &f64| NORMAL_MEDIAN_DEVIATION * (log - middle).abs() / deviation > OUTLYING;
    let far = of_machines.into_iter().filter(|(_, log)| is_far(log));
    far.map(|(machine, log)| (machine, (log - middle).exp())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two repeats on each machine.
    fn fleet(machines: usize) -> RepeatMachines {
        (0..2 * machines as u32).map(|repeat| (repeat + 1, repeat as usize / 2)).collect()
    }

    fn repeats(values: &[f64]) -> impl Iterator<Item = (u32, f64)> {
        (1..).zip(values.to_vec())
    }

    #[test]
    fn a_machine_is_one_value() {
        assert_eq!(values_of(repeats(&[1.0, 3.0, 10.0, 20.0]), &fleet(2)), [2.0, 15.0]);
        assert_eq!(values_of(repeats(&[1.0, 3.0]), &RepeatMachines::new()), [1.0, 3.0]);
    }

    /// By hand: the median of the logarithms is ln 101, the median deviation ln (101 / 100), and 3.5 / 0.6745 = 5.19 of
    /// these are 5.3 %.
    #[test]
    fn a_machine_stands_out_by_its_distance_from_the_median() {
        let out = |last: f64| {
            let figures = [100.0, 100.0, 101.0, 101.0, 102.0, 102.0, 101.0, 101.0, last, last];
            standing_out(repeats(&[&[99.0, 99.0], &figures[..]].concat()), &fleet(6))
        };
        assert_eq!(out(103.0), []);
        let far = out(60.0);
        assert!(far.len() == 1 && far[0].0 == 5, "{far:?}");
        assert!((far[0].1 - 60.0 / (100.0f64 * 101.0).sqrt()).abs() < 1e-9, "{far:?}");
        assert_eq!(standing_out(repeats(&[1.0, 1.0, 2.0, 2.0, 90.0, 90.0]), &fleet(3)), [], "too few to say");
    }
}
