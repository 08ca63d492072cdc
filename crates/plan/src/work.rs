//! The work that an experiment asks for, as a worker is told it: each key that the file leaves out has the default of
//! its workload.

use std::time::Duration;

use kvdyno_experiment::{DURATION, Experiment, RoleSection, RunSection, ValueSize};
use kvdyno_model::{Distribution, MixOperation, TimeSpan};
use kvdyno_worker::workloads::{Data, MixedRole, Reads, TrialEnd, Workload, WorkloadParameters, WorkloadSpec};

/// The fraction of the records that `overwritesome` updates.
const RECORDS_FRACTION: f64 = 0.1;

/// The records.
pub(crate) fn data(experiment: &Experiment) -> Data {
    let section = &experiment.data;
    let (key_format, spelling) = (section.key_format, section.spelling);
    let (key_size, value_size) = Workload::from(experiment.load.workload).default_sizes(key_format, spelling);
    Data {
        records: section.records.get(),
        key_size: section.key_size.map_or(key_size, |size| size.get()),
        key_format,
        prefix_size: section.prefix_size.map(|size| size.get()),
        keys_per_prefix: section.keys_per_prefix.map(|keys| keys.get()),
        value_size: section.value_size.as_ref().and_then(ValueSize::mean).unwrap_or(value_size),
        value_sizes: section.value_size.as_ref().and_then(ValueSize::drawn),
        compressibility: section.compressibility.0,
        // Each run has another.
        value_seed: 0,
        spelling,
    }
}

/// Records in each write of the load.
pub(crate) fn load_batch(experiment: &Experiment) -> u64 {
    let load = &experiment.load;
    load.batch.map_or(Workload::from(load.workload).default_batch(), |batch| batch.get())
}

/// Operations of all threads that a run is about, as a part of the number of records; absent if it ends otherwise.
pub(crate) fn ends_after_fraction(run: &RunSection) -> Option<f64> {
    let otherwise = run.operations.is_some() || run.duration.is_some();
    let usual = (Workload::from(run.workload).profile().ends_by_part && !otherwise).then_some(RECORDS_FRACTION);
    run.records_fraction.map(|fraction| fraction.0).or(usual)
}

/// The workload of the load.
pub(crate) fn load_spec(experiment: &Experiment, seed: u64) -> WorkloadSpec {
    let load = &experiment.load;
    let parameters = WorkloadParameters {
        writers: load.writers.get_u32(),
        batch: load_batch(experiment),
        verify: experiment.settings.verify,
        seed,
        ..WorkloadParameters::on(data(experiment), TrialEnd::Operations(u64::MAX))
    };
    WorkloadSpec { name: load.workload.into(), parameters }
}

/// The workload of a run with a number of threads.
pub(crate) fn run_spec(experiment: &Experiment, section: usize, threads: u32, seed: u64) -> WorkloadSpec {
    let (run, data) = (&experiment.run[section], data(experiment));
    let name = Workload::from(run.workload);
    let end = end(run, data.records, threads);
    let roles = roles(run, threads, end);
    let (readers, writers) = match roles.is_empty() {
        true => name.threads(threads),
        false => (0, roles.iter().map(|role| role.clients).sum()),
    };
    let record_bytes = data.key_size + data.value_size;
    WorkloadSpec {
        name,
        parameters: WorkloadParameters {
            data,
            readers,
            writers,
            batch: run.batch.get(),
            reads_per_transaction: run.reads_per_transaction.get(),
            reads: reads(run),
            mix: run.mix,
            roles,
            distribution: distribution(run),
            // The clients of a mix are writers.
            write_rate: match run.rate {
                Some(rate) => Some(rate.0),
                None => run.write_rate.map(|rate| rate.records_per_s(record_bytes)),
            },
            read_rate: run.read_rate.map(|rate| rate.0),
            arrival: run.arrival.unwrap_or_default(),
            isolation: run.isolation,
            // Each role has its own.
            durability: run.durability.filter(|_| run.role.is_empty()),
            warmup: run.warmup.0,
            end,
            verify: experiment.settings.verify,
            seed,
            run: run.clone(),
        },
    }
}

fn distribution(run: &RunSection) -> Distribution {
    run.distribution.unwrap_or_else(|| Distribution::of(Workload::from(run.workload).profile().distribution))
}

/// The roles of a run's clients, where the first has so many `threads`.
fn roles(run: &RunSection, threads: u32, end: TrialEnd) -> Vec<MixedRole> {
    let is_earlier = |until: &Duration| !matches!(end, TrialEnd::After(duration) if *until >= duration);
    let role = |(index, role): (usize, &RoleSection)| {
        let (of_run, mix) = (reads(run), role.mix?);
        // Settings of the run for all roles do not apply to roles without such operations.
        let (writes, gets) = (mix.has(MixOperation::Put) || mix.has(MixOperation::Insert), mix.has(MixOperation::Get));
        Some(MixedRole {
            name: role.name(index),
            clients: if index == 0 { threads } else { role.clients.map_or(1, |clients| clients.get_u32()) },
            // Each has one: that was checked before.
            mix,
            distribution: role.distribution.unwrap_or_else(|| distribution(run)),
            batch: role.batch.map_or(if writes { run.batch.get() } else { 1 }, |count| count.get()),
            reads: Reads {
                per_batch: role.keys_per_multiget.map_or(if gets { of_run.per_batch } else { 1 }, |count| count.get()),
                seek_nexts: role.seek_nexts.map_or(of_run.seek_nexts, |count| count.get()),
                lengths: role.range_lengths.unwrap_or(of_run.lengths),
                ..of_run
            },
            rate: role.rate.map(|rate| rate.0),
            arrival: role.arrival.or(run.arrival).unwrap_or_default(),
            durability: role.durability.or(run.durability),
            from: role.from.map(TimeSpan::get).filter(|from| !from.is_zero()),
            until: role.until.map(TimeSpan::get).filter(is_earlier),
        })
    };
    run.role.iter().enumerate().filter_map(role).collect()
}

fn reads(run: &RunSection) -> Reads {
    let usual = Workload::from(run.workload).profile().reads;
    Reads {
        seek_nexts: run.seek_nexts.map_or(usual.seek_nexts, |count| count.get()),
        lengths: run.range_lengths.unwrap_or(usual.lengths),
        cursors: run.range_cursors,
        per_batch: run.keys_per_multiget.map_or(usual.per_batch, |count| count.get()),
        seek_within: run.seek_within.map(|count| count.get()),
    }
}

fn end(run: &RunSection, records: u64, threads: u32) -> TrialEnd {
    match (run.operations, ends_after_fraction(run)) {
        (Some(operations), _) => TrialEnd::Operations(operations.get()),
        (None, Some(fraction)) => {
            TrialEnd::Operations((fraction * records as f64 / f64::from(threads.max(1))).ceil() as u64)
        }
        (None, None) => TrialEnd::After(run.duration.map_or(DURATION, |time| time.get())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvdyno_experiment::{DataKey, LoadKey, RunKey, sections};
    use kvdyno_model::{KeyPath, Otherwise, TimeSpan};

    /// If a default depends on the workload, its description matches the actual value.
    #[test]
    fn what_comes_of_absent_keys_is_as_told() {
        let experiment = Experiment::on(&[]);
        let (data, reads) = (data(&experiment), reads(&experiment.run[0]));
        let keys: [(KeyPath, String); 6] = [
            (DataKey::KeySize.into(), data.key_size.to_string()),
            (DataKey::ValueSize.into(), data.value_size.to_string()),
            (LoadKey::Batch.into(), load_batch(&experiment).to_string()),
            (RunKey::Duration.into(), TimeSpan::<0>(DURATION).to_string()),
            (RunKey::SeekNexts.into(), reads.seek_nexts.to_string()),
            (RunKey::KeysPerMultiget.into(), reads.per_batch.to_string()),
        ];
        for (path, value) in keys {
            let definition = sections().iter().flat_map(|section| &section.keys).find(|key| key.path == path).unwrap();
            let Otherwise::Absent(meaning) = definition.otherwise else { panic!("{path} is not absent") };
            let rest = meaning.strip_prefix(value.as_str());
            let is_told = rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
            assert!(is_told, "{path} is {value}, told: {meaning}");
        }
    }

    /// A role has a part of the window only if it begins later or ends earlier.
    #[test]
    fn ends_of_the_window_are_no_parts_of_it() {
        let text = "engines = [\"a\"]\n[[run]]\nworkload = \"mix\"\nduration = \"4s\"\n\
                    [[run.role]]\nmix = \"get 100\"\nfrom = \"0s\"\nuntil = \"4s\"\n\
                    [[run.role]]\nmix = \"get 100\"\nfrom = \"1s\"\nuntil = \"3s\"\n";
        let roles = run_spec(&Experiment::parse(text).unwrap(), 0, 1, 1).parameters.roles;
        let [one, three] = [1, 3].map(|seconds| Some(Duration::from_secs(seconds)));
        assert_eq!([0, 1].map(|role| (roles[role].from, roles[role].until)), [(None, None), (one, three)]);
    }

    /// Records of an experiment that says nothing are those that the driver's own cost is measured on.
    #[test]
    fn records_are_by_default_as_those_of_the_drivers_cost() {
        let experiment = Experiment::on(&[]);
        assert_eq!(data(&experiment), Data::of_records(experiment.data.records.get()));
    }
}
