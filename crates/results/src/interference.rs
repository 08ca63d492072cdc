//! Interference of others with a trial, each kind with its figure.

use std::fmt;

use serde::{Deserialize, Serialize};

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
    /// A clause of an older result, which has no figure.
    #[serde(untagged)]
    Words(String),
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

    #[test]
    fn a_clause_of_an_older_result_is_read() {
        let clause = "others had the clients' processors for 40.0 % of the time";
        let older = json!({ "others_share": 0.4, "interference": [clause] });
        let read = from_value::<ObservedEnvironment>(older).unwrap().interference;
        assert_eq!(read, [Interference::Words(clause.to_owned())]);
        assert_eq!((read[0].to_string(), to_value(&read).unwrap()), (clause.to_owned(), json!([clause])));
    }
}
