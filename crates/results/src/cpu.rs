//! CPU time of everything in a trial's control group, and what it decides about duets.

use std::fmt;

use kvdyno_model::Design;
use serde::{Deserialize, Serialize};

use crate::TrialResult;

/// CPU time, and the operations that were done in it: both over the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuAccount {
    /// Operations of the readers and writers.
    pub operations: u64,
    /// CPU seconds of everything in the trial's control group: readers and writers, the engine's own threads, and the
    /// processes that it started.
    pub cpu_s: f64,
    /// CPU seconds of the readers and writers themselves; the rest is background work.
    pub client_cpu_s: f64,
}

impl CpuAccount {
    /// CPU seconds of background work: the engine's own threads and processes.
    pub fn background_cpu_s(&self) -> f64 {
        (self.cpu_s - self.client_cpu_s).max(0.0)
    }

    /// The share of background work in the CPU time, of 1; absent without any CPU time.
    pub fn background_share(&self) -> Option<f64> {
        (self.cpu_s > 0.0).then(|| self.background_cpu_s() / self.cpu_s)
    }

    /// Operations for each CPU second; absent if there were none.
    pub fn operations_per_cpu_s(&self) -> Option<f64> {
        (self.operations > 0 && self.cpu_s > 0.0).then(|| self.operations as f64 / self.cpu_s)
    }

    /// The account of both.
    #[must_use]
    pub fn plus(self, more: CpuAccount) -> CpuAccount {
        CpuAccount {
            operations: self.operations.saturating_add(more.operations),
            cpu_s: self.cpu_s + more.cpu_s,
            client_cpu_s: self.client_cpu_s + more.client_cpu_s,
        }
    }

    /// The account of what came after `before`.
    #[must_use]
    pub fn since(self, before: CpuAccount) -> CpuAccount {
        CpuAccount {
            operations: self.operations.saturating_sub(before.operations),
            cpu_s: (self.cpu_s - before.cpu_s).max(0.0),
            client_cpu_s: (self.client_cpu_s - before.client_cpu_s).max(0.0),
        }
    }
}

/// The CPU time of a trial by itself. Its duets have an account of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuFacts {
    /// The measured part; in slices their first parts, which no rate counts, are included. Absent where no control
    /// group counts, and without slices if the measured part was shorter than 1 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<CpuAccount>,
    /// Whether `alone` was read while the group worked: the kernel's account then lags by up to some 10 ms for each
    /// thread that works at the beginning or at the end. In slices it is read from a frozen group, and exact.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coarse: bool,
    /// CPU seconds of everything that was ever in the group, from the worker's start to its end: opening, filling of a
    /// cache, warm-up, duets, audit and closing included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_s: Option<f64>,
}

/// The share of their time that clients of a duet may sleep, of 1: a duet is compared by CPU time, which has no sleep.
pub const MOST_SLEEP: f64 = 0.01;

/// The share of background work in CPU time that a duet may have, of 1. Two setups at once on one processor give each
/// other half of it, and their background work a processor of its own: in a duet it counts about double.
pub const MOST_BACKGROUND: f64 = 0.05;

/// By how much the shares of two setups may differ, of 1.
pub const MOST_BACKGROUND_DIFFERENCE: f64 = 0.02;

/// A reason why CPU time does not compare two setups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AgainstCpuTime {
    /// No control group counted it.
    NotCounted,
    /// The clients slept this share of the time, of 1.
    Slept(f64),
    /// So much of it is background work, of 1.
    Background(f64),
    /// Background work has another share in that of the other setup.
    BackgroundDiffers {
        /// The share in its own, of 1.
        own: f64,
        /// The share in the other's, of 1.
        other: f64,
    },
}

impl AgainstCpuTime {
    /// The first reason that holds of a setup whose clients slept a share of the time and whose CPU time has a share of
    /// background work, beside another with its own. A share that is unknown is no reason.
    pub fn of(slept: Option<f64>, background: Option<f64>, beside: Option<f64>) -> Option<AgainstCpuTime> {
        let slept = slept.filter(|slept| *slept > MOST_SLEEP).map(AgainstCpuTime::Slept);
        let much = background.filter(|share| *share > MOST_BACKGROUND).map(AgainstCpuTime::Background);
        let pair = background.zip(beside).filter(|(own, other)| (own - other).abs() > MOST_BACKGROUND_DIFFERENCE);
        let differs = pair.map(|(own, other)| AgainstCpuTime::BackgroundDiffers { own, other });
        slept.or(much).or(differs)
    }
}

/// A clause: `clients slept 3.2 % of the time`.
impl fmt::Display for AgainstCpuTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pct = |share: f64| 100.0 * share;
        match self {
            AgainstCpuTime::NotCounted => f.write_str("no control group that can be frozen counts it"),
            AgainstCpuTime::Slept(slept) => write!(f, "clients slept {:.1} % of the time", pct(*slept)),
            AgainstCpuTime::Background(share) => {
                write!(f, "background work has {:.1} % of it, and in a duet about double", pct(*share))
            }
            AgainstCpuTime::BackgroundDiffers { own, other } => {
                let (own, other) = (pct(*own), pct(*other));
                write!(
                    f,
                    "background work has {own:.1} % of it and {other:.1} % of the other's, in a duet about double"
                )
            }
        }
    }
}

impl TrialResult {
    /// Why the duets of this trial compare nothing; absent if they do, or if there were none.
    pub fn against_cpu_time(&self) -> Option<AgainstCpuTime> {
        let design = self.design.as_ref().filter(|facts| facts.design == Design::Duet)?;
        if design.duet.is_none() {
            return Some(AgainstCpuTime::NotCounted);
        }
        AgainstCpuTime::of(design.slept, self.background_share(), design.background_beside)
    }

    /// The share of background work in the CPU time of its measured part, of 1; absent where that is not known.
    pub fn background_share(&self) -> Option<f64> {
        self.cpu.alone?.background_share()
    }

    /// Operations for each CPU second of everything in its group while another trial worked on the same processors;
    /// absent if it had no duets, or if these compare nothing.
    pub fn operations_per_cpu_s_in_duets(&self) -> Option<f64> {
        let duets = self.design.as_ref()?.duet.filter(|_| self.against_cpu_time().is_none())?;
        duets.operations_per_cpu_s()
    }

    /// Operations for each CPU second of everything in its group, in the measured part; absent where that is not known.
    pub fn operations_per_cpu_s_alone(&self) -> Option<f64> {
        self.cpu.alone?.operations_per_cpu_s()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_tells_background_work_from_that_of_clients() {
        let account = CpuAccount { operations: 3000, cpu_s: 1.5, client_cpu_s: 1.2 };
        assert!((account.background_cpu_s() - 0.3).abs() < 1e-12);
        assert!((account.background_share().unwrap() - 0.2).abs() < 1e-12);
        assert_eq!(account.operations_per_cpu_s(), Some(2000.0));
        assert_eq!(account.plus(account).since(account), account);
        let nothing = CpuAccount::default();
        assert_eq!((nothing.background_share(), nothing.operations_per_cpu_s()), (None, None));
        // Two clocks that tell the same time may differ by their last digits.
        assert_eq!(CpuAccount { client_cpu_s: 1.6, ..account }.background_cpu_s(), 0.0);
    }

    #[test]
    fn what_is_said_against_cpu_time() {
        let of = AgainstCpuTime::of;
        assert_eq!(of(Some(0.01), Some(0.05), Some(0.035)), None);
        assert_eq!(of(Some(0.02), Some(0.5), Some(0.5)), Some(AgainstCpuTime::Slept(0.02)));
        assert_eq!(of(Some(0.0), Some(0.06), Some(0.06)), Some(AgainstCpuTime::Background(0.06)));
        let differs = of(Some(0.0), Some(0.01), Some(0.035)).unwrap();
        assert_eq!(differs, AgainstCpuTime::BackgroundDiffers { own: 0.01, other: 0.035 });
        assert_eq!(
            differs.to_string(),
            "background work has 1.0 % of it and 3.5 % of the other's, in a duet about double"
        );
        assert_eq!(of(None, None, Some(0.5)), None);
    }
}
