//! Interference of others with a trial, each kind with its figure.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// Interference with a trial. Shares are of 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Interference {
    /// Others had processors while the trial's clients waited for one.
    ClientsProcessors {
        /// The share of the measured part.
        time_share: f64,
    },
    /// The hypervisor gave CPU time to other machines.
    StolenCpuTime {
        /// The share of the CPU time of all processors.
        cpu_time_share: f64,
    },
    /// Other processes and the kernel's own threads used processors.
    OtherProcesses {
        /// Processors in use, on average.
        cpus: f64,
    },
    /// Tasks of other processes waited for a processor.
    WaitingTasks {
        /// Tasks in wait, on average.
        tasks: f64,
    },
    /// A busy processor was slowed down.
    SlowedCpu {
        /// The lowest frequency of a busy processor, kHz.
        lowest_khz: u64,
        /// The highest frequency of a busy processor, kHz.
        highest_khz: u64,
        /// The frequency that the maker promises under full load, kHz; absent if it is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base_khz: Option<u64>,
    },
    /// The machine's memory ran short.
    ShortMemory {
        /// The least that was available, KiB.
        available_kib: u64,
        /// All of it, KiB.
        memory_kib: u64,
    },
    /// Tasks stalled for want of memory.
    MemoryStalls {
        /// The share of the time.
        time_share: f64,
    },
    /// The machine was suspended, or the lab was stopped together with its workers.
    StoodStill {
        /// The time, seconds.
        seconds: f64,
    },
    /// The trial's processes were stopped, and the lab was not.
    StoppedProcesses {
        /// The time, seconds.
        seconds: f64,
    },
    /// A clause of an older result of which the figures are not known.
    #[serde(untagged)]
    Words(String),
}

/// The kinds whose clause has all of their figures: one.
const OF_ONE_FIGURE: [fn(f64) -> Interference; 7] = [
    |time_share| Interference::ClientsProcessors { time_share },
    |cpu_time_share| Interference::StolenCpuTime { cpu_time_share },
    |cpus| Interference::OtherProcesses { cpus },
    |tasks| Interference::WaitingTasks { tasks },
    |time_share| Interference::MemoryStalls { time_share },
    |seconds| Interference::StoodStill { seconds },
    |seconds| Interference::StoppedProcesses { seconds },
];

impl Interference {
    /// Reads what is listed in a result. Older results have clauses instead of kinds; those of one figure become their
    /// kind, with the digits that were printed.
    pub(crate) fn read_all<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Interference>, D::Error> {
        let typed = |one: Interference| match one {
            Interference::Words(clause) => Interference::of_clause(&clause).unwrap_or(Interference::Words(clause)),
            kind => kind,
        };
        Ok(Vec::deserialize(deserializer)?.into_iter().map(typed).collect())
    }

    /// The kind with exactly this clause; absent if none of [`OF_ONE_FIGURE`] has it.
    fn of_clause(clause: &str) -> Option<Interference> {
        OF_ONE_FIGURE.into_iter().find_map(|kind| {
            let of_nothing = kind(0.0).to_string();
            let (before, after) = of_nothing.split_once("0.0")?;
            let figure = clause.strip_prefix(before)?.strip_suffix(after)?.parse::<f64>().ok()?;
            let one = kind(if after.starts_with(" %") { figure / 100.0 } else { figure });
            (figure.is_finite() && one.to_string() == clause).then_some(one)
        })
    }
}

/// A clause: `1.8 % of CPU time was stolen by the hypervisor`.
impl fmt::Display for Interference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pct = |share: f64| share * 100.0;
        let ghz = |khz: u64| khz as f64 / 1e6;
        match self {
            Interference::ClientsProcessors { time_share } => {
                write!(f, "others had the clients' processors for {:.1} % of the time", pct(*time_share))
            }
            Interference::StolenCpuTime { cpu_time_share } => {
                write!(f, "{:.1} % of CPU time was stolen by the hypervisor", pct(*cpu_time_share))
            }
            Interference::OtherProcesses { cpus } => {
                write!(f, "other processes and the kernel's own threads used {cpus:.1} CPUs")
            }
            Interference::WaitingTasks { tasks } => {
                write!(f, "{tasks:.1} tasks of other processes waited for a CPU on average")
            }
            Interference::SlowedCpu { lowest_khz, highest_khz, base_khz } => {
                let lowest = ghz(*lowest_khz);
                match base_khz {
                    Some(base) => {
                        write!(
                            f,
                            "a busy CPU was slowed down to {lowest:.1} GHz, where its base is {:.1} GHz",
                            ghz(*base)
                        )
                    }
                    None => write!(
                        f,
                        "a busy CPU was slowed down to {lowest:.1} GHz, where the highest was {:.1} GHz",
                        ghz(*highest_khz)
                    ),
                }
            }
            Interference::ShortMemory { available_kib, memory_kib } => write!(
                f,
                "memory ran short: {} MiB ({:.1} %) were available at the least",
                available_kib / 1024,
                pct(*available_kib as f64 / *memory_kib as f64)
            ),
            Interference::MemoryStalls { time_share } => {
                write!(f, "tasks stalled for want of memory in {:.1} % of the time", pct(*time_share))
            }
            Interference::StoodStill { seconds } => write!(f, "everything stood still for {seconds:.1} s"),
            Interference::StoppedProcesses { seconds } => write!(f, "its processes were stopped for {seconds:.1} s"),
            Interference::Words(clause) => f.write_str(clause),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{from_value, json, to_value};

    use super::*;
    use crate::ObservedEnvironment;

    #[test]
    fn each_kind_has_its_clause_and_is_read_as_it_is_written() {
        let slowed = |base_khz| Interference::SlowedCpu { lowest_khz: 1_000_000, highest_khz: 3_100_000, base_khz };
        let all = [
            (
                Interference::ClientsProcessors { time_share: 0.482 },
                "others had the clients' processors for 48.2 % of the time",
            ),
            (Interference::StolenCpuTime { cpu_time_share: 0.018 }, "1.8 % of CPU time was stolen by the hypervisor"),
            (Interference::OtherProcesses { cpus: 0.7 }, "other processes and the kernel's own threads used 0.7 CPUs"),
            (Interference::WaitingTasks { tasks: 2.0 }, "2.0 tasks of other processes waited for a CPU on average"),
            (slowed(None), "a busy CPU was slowed down to 1.0 GHz, where the highest was 3.1 GHz"),
            (slowed(Some(2_100_000)), "a busy CPU was slowed down to 1.0 GHz, where its base is 2.1 GHz"),
            (
                Interference::ShortMemory { available_kib: 20 << 10, memory_kib: 1 << 20 },
                "memory ran short: 20 MiB (2.0 %) were available at the least",
            ),
            (Interference::MemoryStalls { time_share: 0.05 }, "tasks stalled for want of memory in 5.0 % of the time"),
            (Interference::StoodStill { seconds: 4.0 }, "everything stood still for 4.0 s"),
            (Interference::StoppedProcesses { seconds: 0.5 }, "its processes were stopped for 0.5 s"),
        ];
        for (interference, clause) in all {
            assert_eq!(interference.to_string(), clause);
            let written = to_value(&interference).unwrap();
            assert!(written["kind"].is_string(), "{written}");
            assert_eq!(from_value::<Interference>(written).unwrap(), interference);
        }
    }

    #[test]
    fn a_kind_is_a_tagged_object() {
        let written = to_value(Interference::StolenCpuTime { cpu_time_share: 0.018 }).unwrap();
        assert_eq!(written, json!({ "kind": "stolen-cpu-time", "cpu_time_share": 0.018 }));
        assert!(from_value::<Interference>(json!({ "kind": "stolen-cpu-time" })).is_err());
    }

    fn read(interference: &str) -> Interference {
        let older = json!({ "others_share": 0.4, "interference": [interference] });
        from_value::<ObservedEnvironment>(older).unwrap().interference.remove(0)
    }

    #[test]
    fn a_clause_of_an_older_result_is_read_as_its_kind() {
        let others = read("others had the clients' processors for 40.0 % of the time");
        assert_eq!(others, Interference::ClientsProcessors { time_share: 0.4 });
        assert_eq!(read("everything stood still for 0.6 s"), Interference::StoodStill { seconds: 0.6 });
    }

    #[test]
    fn a_clause_without_all_figures_of_a_kind_stays_as_it_is() {
        for clause in [
            "memory ran short: 20 MiB (2.0 %) were available at the least",
            "a busy CPU was slowed down to 1.0 GHz, where its base is 2.1 GHz",
            "40 % of CPU time was stolen by the hypervisor",
            "inf % of CPU time was stolen by the hypervisor",
            "everything stood still for NaN s",
            "everything stood still",
            "",
        ] {
            let kept = read(clause);
            assert_eq!(kept, Interference::Words(clause.to_owned()));
            assert_eq!((kept.to_string(), to_value(&kept).unwrap()), (clause.to_owned(), json!(clause)));
        }
    }

    proptest! {
        #[test]
        fn a_clause_is_its_kind_with_the_digits_that_it_has(index in 0..OF_ONE_FIGURE.len(), figure in 0.0_f64..1e4) {
            let written = OF_ONE_FIGURE[index](figure);
            let read = read(&written.to_string());
            prop_assert_eq!(read.to_string(), written.to_string());
            let [was, is] = [&written, &read].map(|one| to_value(one).unwrap());
            prop_assert_eq!(&was["kind"], &is["kind"]);
        }

        #[test]
        fn other_words_stay(clause in "[a-z0-9 .%]{0,40}") {
            prop_assert_eq!(read(&clause), Interference::Words(clause));
        }
    }
}
