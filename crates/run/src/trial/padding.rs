//! The size of a worker's environment, another at each start.
//!
//! It moves the stack, and with it a rate by some per cent: Mytkowicz and others, *Producing Wrong Data Without Doing
//! Anything Obviously Wrong!*, ASPLOS 2009.

use std::process::Command;

use kvdyno_dataset::subseed;
use kvdyno_results::TrialKey;

/// A variable of no meaning.
const PADDING: &str = "KVDYNO_PADDING";

/// The most bytes that it has: a page.
const MOST: u64 = 4096;

/// Gives a worker an environment whose size follows from its trial and the trial's `seed`, which all engines of a step
/// share.
pub(super) fn pad(command: &mut Command, trial: &TrialKey, seed: u64) {
    command.env(PADDING, "x".repeat(padding(trial, seed)));
}

fn padding(trial: &TrialKey, seed: u64) -> usize {
    let name: Vec<u64> = trial.engine.bytes().map(u64::from).collect();
    (subseed(seed, &name) % (MOST + 1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvdyno_results::Phase;

    fn trial(engine: &str) -> TrialKey {
        TrialKey {
            number: 1,
            engine: engine.into(),
            variant: String::new(),
            phase: Phase::Run,
            workload: "readrandom".into(),
            readers: 1,
            writers: 0,
            clients: Default::default(),
            repeat: 1,
        }
    }

    #[test]
    fn sizes_are_spread_over_a_page_and_follow_from_the_seed() {
        let sizes: Vec<usize> = (0..1000).map(|seed| padding(&trial("lmdb"), seed)).collect();
        assert!(sizes.iter().all(|size| *size <= 4096));
        let mean = sizes.iter().sum::<usize>() / sizes.len();
        assert!((1900..2200).contains(&mean), "{mean}");
        assert_eq!(padding(&trial("lmdb"), 7), sizes[7]);
        let same = (0..1000).filter(|seed| padding(&trial("bdb"), *seed) == sizes[*seed as usize]).count();
        assert!(same < 5, "{same} of one step have one size");
    }

    #[test]
    fn a_worker_has_it() {
        let mut command = Command::new("true");
        pad(&mut command, &trial("lmdb"), 1);
        let of = command.get_envs().find(|(name, _)| *name == PADDING).and_then(|(_, value)| value);
        assert_eq!(of.map(|value| value.len()), Some(padding(&trial("lmdb"), 1)));
    }
}
