//! `mix` and YCSB's workloads: each client does operations of several kinds, drawn by their weights.

mod mixing;
mod operations;
mod presence;
mod removing;
mod several;
mod updating;

use super::workload_key::{WorkloadError, WorkloadKey};
use kvdyno_dataset::DELETION_BLOCK;
use kvdyno_engine::abi;
use kvdyno_experiment::{DataKey, RunKey};
use kvdyno_model::{DistributionKind, MixOperation, OperationMix, RangeLengths, WorkloadName, either};
use kvdyno_results::{FigureValue, NamedFigure, OpKind, Operations, WorkloadFigures};

use super::counts::TrialCounts;
use super::definition::{Removal, VersionsAdded, WorkloadDefinition, WorkloadProfile, can, concerns};
use super::load::LoadDefinition;
use super::mixed_role::MixedRole;
use super::parameters::{Data, Reads, WorkloadParameters};
use super::present::MOST_INSERTED;
use super::role::{DrawingRole, RoleClock, RoleDefinition, start_with_few};
use super::transactions::{check_values, isolation_of, lacks_isolation};
use crate::arrival::{BeginsOperations, ClosedLoop, pacer};
use crate::clock::{Clock, Turnaround};
use crate::key_choice::KeyChoice;
use crate::loops::cursor::scan_capability;
use crate::loops::{Driver, Work};
use crate::shared::{COUNTERS, ClientCounter};
use mixing::{ABSENT, Mixing, PRESENT, UNCHECKED};
use operations::kinds;

use updating::{CONFLICTS, SAMPLED, UPDATED};

use MixOperation::{
    AtomicUpdate, Contains, Delete, Expire, Get, Insert, InsertIfAbsent, Miss, Put, Range, ReadModifyWrite, Take,
    TransactionalUpdate,
};

pub(super) static MIX: MixDefinition = MixDefinition::new(
    WorkloadName::Mix,
    "operations of several kinds, as `mix` has them: get 95, put 5",
    &MixRole(None),
    DistributionKind::Uniform,
);

/// YCSB's workloads as its folder `workloads` defines them, with a record for each of its ten fields together.
pub(super) static YCSB: [MixDefinition; 6] = [
    ycsb(
        WorkloadName::YcsbA,
        "YCSB A: get 50, put 50; a session store",
        &MixRole(Some(OperationMix::of([(Get, 50.0), (Put, 50.0)]))),
    ),
    ycsb(
        WorkloadName::YcsbB,
        "YCSB B: get 95, put 5; tags of photos",
        &MixRole(Some(OperationMix::of([(Get, 95.0), (Put, 5.0)]))),
    ),
    ycsb(WorkloadName::YcsbC, "YCSB C: get 100; a cache of profiles", &MixRole(Some(OperationMix::of([(Get, 100.0)])))),
    MixDefinition::new(
        WorkloadName::YcsbD,
        "YCSB D: get 95 of the latest, insert 5; status updates",
        &MixRole(Some(OperationMix::of([(Get, 95.0), (Insert, 5.0)]))),
        DistributionKind::Latest,
    ),
    // A seek gives the first of 1 to 100 records.
    ycsb(
        WorkloadName::YcsbE,
        "YCSB E: range 95 of 1 to 100 records, insert 5; threads of messages",
        &MixRole(Some(OperationMix::of([(Range, 95.0), (Insert, 5.0)]))),
    )
    .reading(99, RangeLengths::Uniform),
    ycsb(
        WorkloadName::YcsbF,
        "YCSB F: get 50, read-modify-write 50; a database of users",
        &MixRole(Some(OperationMix::of([(Get, 50.0), (ReadModifyWrite, 50.0)]))),
    ),
];

const fn ycsb(name: WorkloadName, summary: &'static str, role: &'static MixRole) -> MixDefinition {
    MixDefinition::new(name, summary, role, DistributionKind::Zipf)
}

/// A mix: of its own, or that of the key `mix`.
pub(super) struct MixDefinition {
    role: &'static MixRole,
    profile: WorkloadProfile,
}

impl LoadDefinition for MixDefinition {}

impl WorkloadDefinition for MixDefinition {
    fn profile(&self) -> &WorkloadProfile {
        &self.profile
    }

    fn takes(&self, key: WorkloadKey) -> bool {
        use WorkloadKey::Run;
        let has_ranges = self.role.0.is_none_or(|mix| mix.has(Range));
        match key {
            // YCSB's own have one record in each call, and no transactions.
            WorkloadKey::Roles | Run(RunKey::Mix | RunKey::Batch | RunKey::KeysPerMultiget | RunKey::Isolation) => {
                self.role.0.is_none()
            }
            Run(RunKey::SeekNexts | RunKey::RangeLengths | RunKey::RangeCursors) => has_ranges,
            other => concerns(other, &self.profile),
        }
    }

    fn check(&self, spec: &WorkloadParameters) -> Result<(), WorkloadError> {
        let expected = "operations with their weights, such as \"get 95, put 5\"";
        WorkloadError::unless(self.role.mixes(spec).next().is_some(), RunKey::Mix, "absent", expected)?;
        self.check_removal(spec)?;
        self.check_several(spec)?;
        self.check_updates(spec)?;
        self.check_isolation(spec)?;
        let cursors = spec.reads.cursors;
        let has_groups = !cursors.are_by_prefix() || spec.data.keys_per_prefix.is_some();
        let expected = "a way that needs no prefix, or data.keys_per_prefix must say how many keys have one in common";
        WorkloadError::unless(has_groups, RunKey::RangeCursors, cursors, expected)?;
        let (records, clients) = (spec.data.records, u64::from(spec.writers));
        let expected = format!("{clients} or more: each client updates records of its own");
        WorkloadError::unless(records >= clients, DataKey::Records, records, expected)
    }

    fn lacks(&self, spec: &WorkloadParameters, capabilities: u64) -> Option<String> {
        let (scan, scans) = scan_capability(false);
        let needs: [Need; 10] = [
            (Range, scan, scans, "the ranges"),
            (Take, scan, scans, "the takes"),
            (Take, abi::CAN_DELETE, "delete", "the takes"),
            (Delete, abi::CAN_DELETE, "delete", "the deletes"),
            (Expire, scan, scans, "the expiries"),
            (Expire, abi::CAN_DELETE_RANGE, "delete ranges", "the expiries"),
            (Contains, abi::CAN_CONTAIN, "look for a key without its value", "the `contains`"),
            (InsertIfAbsent, abi::CAN_INSERT_IF_ABSENT, "insert if absent", "the `insert-if-absent`"),
            (AtomicUpdate, abi::CAN_READ_MODIFY_WRITE, "read, change and write as one step", "the `atomic-update`"),
            (TransactionalUpdate, abi::CAN_TRANSACT, "do transactions", "the `transactional-update`"),
        ];
        let changes = [(self.removes(spec).is_some(), "delete"), (self.counts_versions(spec), "update")];
        if let Some((_, words)) = changes.iter().find(|(does, _)| *does && can(capabilities, abi::IS_VOLATILE)) {
            return Some(format!("keeps nothing that `{}` could {words}; leave one of them out", self.profile.name));
        }
        let gets: &[Need] = match gets_several(spec) {
            true => &[(Get, abi::CAN_MULTI_GET, "get several records in one call", "`keys_per_multiget`")],
            false => &[],
        };
        let cursors = self.cursors_need(spec);
        let lacking = needs
            .iter()
            .chain(gets)
            .chain(&cursors)
            .find(|(operation, needed, ..)| self.mixes(spec, *operation) && !can(capabilities, *needed));
        let told = lacking.map(|(_, _, words, what)| {
            // A name in backquotes is one thing.
            let need = if what.ends_with('`') { "needs" } else { "need" };
            format!("cannot {words}, which {what} of `{}` {need}; leave one of them out", self.profile.name)
        });
        let has_transactions = self.mixes(spec, TransactionalUpdate);
        told.or_else(|| lacks_isolation(spec, capabilities).filter(|_| has_transactions))
    }

    fn removes(&self, spec: &WorkloadParameters) -> Option<Removal> {
        let oldest = self.takes_oldest(spec).then_some(Removal::Oldest);
        oldest.or(self.mixes(spec, Delete).then_some(Removal::Any))
    }

    fn expects(&self, spec: &WorkloadParameters, removed: Removal) -> bool {
        let not_with = match removed {
            Removal::Any => &TAKES_OLDEST[..],
            Removal::Oldest => &WRITES_ANY,
        };
        !not_with.iter().any(|&operation| self.mixes(spec, operation))
    }

    fn counts_versions(&self, spec: &WorkloadParameters) -> bool {
        COUNTS_VERSIONS.into_iter().any(|operation| self.mixes(spec, operation))
    }

    fn versions_added(&self, spec: &WorkloadParameters, counters: &[[u64; COUNTERS]]) -> Option<VersionsAdded> {
        let sum = |counter: ClientCounter| counters.iter().map(|of| counter.of(of)).fold(0, u64::saturating_add);
        self.counts_versions(spec).then(|| VersionsAdded { all: sum(UPDATED), sampled: sum(SAMPLED) })
    }

    fn ids(&self, data: &Data) -> u64 {
        data.records.saturating_add(MOST_INSERTED)
    }

    fn inserts(&self, spec: &WorkloadParameters) -> bool {
        self.mixes(spec, Insert)
    }

    fn figures(&self, counts: &TrialCounts<'_>) -> Option<WorkloadFigures> {
        let mixes = |operation| self.mixes(counts.parameters, operation);
        let rate = of_all_kinds(counts.operations);
        let text = FigureValue::Text(self.role.words(counts.parameters));
        let mut figures = vec![
            NamedFigure::new("mix", text, "The operations with their weights, in percent."),
            NamedFigure::new("ops_per_s", FigureValue::Rate(rate), "Operations a second, of all kinds and clients.")
                .titled("ops/s"),
        ];
        let partial = counts.parameters.roles.iter().filter(|role| role.is_partial());
        figures.extend(partial.map(|role| {
            let meaning = format!("Part of the measured window in which the clients of {} work.", role.name);
            NamedFigure::new(&format!("{}_time", role.name), FigureValue::Text(role.part_in_words()), &meaning)
        }));
        figures.extend(counts.of_roles.iter().map(|role| {
            let meaning = format!("Operations a second of the clients of {}, of all kinds.", role.name);
            let rate = FigureValue::Rate(of_all_kinds(&role.operations));
            NamedFigure::new(&format!("{}_ops_per_s", role.name), rate, &meaning)
                .titled(&format!("{} ops/s", role.name))
        }));
        if [Delete, Take, Expire].into_iter().any(mixes) {
            let absent = FigureValue::Count(counts.sum(ABSENT));
            let meaning = "Operations that rightly found no record, warm-up included: it had been deleted, or none was \
                           left to take.";
            figures.push(NamedFigure::new("absent", absent, meaning).titled("absent"));
        }
        if mixes(InsertIfAbsent) {
            let present = FigureValue::Count(counts.sum(PRESENT));
            let meaning = "Inserts-if-absent that rightly wrote nothing, warm-up included: the record was there.";
            figures.push(NamedFigure::new("present", present, meaning).titled("present"));
        }
        if COUNTS_VERSIONS.into_iter().any(mixes) {
            let conflicts = FigureValue::Count(counts.sum(CONFLICTS));
            let meaning = "Tries of an update that ended with a conflict, warm-up included.";
            figures.push(NamedFigure::new("conflicts", conflicts, meaning).titled("conflicts"));
        }
        if mixes(TransactionalUpdate) {
            let isolation = FigureValue::Text(isolation_of(counts.capabilities).to_string());
            let meaning = "What the engine promises of transactions beside each other.";
            figures.push(NamedFigure::new("isolation", isolation, meaning).titled("isolation"));
        }
        if [Range, Delete, Take, Expire].into_iter().any(mixes) {
            let unchecked = FigureValue::Count(counts.sum(UNCHECKED));
            let meaning = "Records that were asked for or passed over while another client inserted or deleted them, \
                           warm-up included: nobody can say whether they had to come.";
            figures.push(NamedFigure::new("unchecked", unchecked, meaning));
        }
        Some(WorkloadFigures { heading: "mixes".to_owned(), note: self.note(counts.parameters), figures })
    }
}

/// Operations a second, of all kinds.
fn of_all_kinds(operations: &[Operations]) -> f64 {
    operations.iter().map(|operations| operations.operations_per_s).sum()
}

/// An operation, the capability that it needs, that in words, and what needs it.
type Need = (MixOperation, u64, &'static str, &'static str);

/// Whether some client gets several records in each call.
fn gets_several(spec: &WorkloadParameters) -> bool {
    let of_roles = spec.roles.iter().map(|role| role.reads.per_batch);
    of_roles.chain([spec.reads.per_batch]).any(|gets| gets > 1)
}

/// Operations that write any record, be it one that another client is about to take.
const WRITES_ANY: [MixOperation; 4] = [Put, ReadModifyWrite, Delete, InsertIfAbsent];

/// Operations that delete the oldest records.
const TAKES_OLDEST: [MixOperation; 2] = [Take, Expire];

/// Operations that raise the version of any record by one, whichever client wrote it before.
const COUNTS_VERSIONS: [MixOperation; 2] = [AtomicUpdate, TransactionalUpdate];

/// Operations that write versions of their client's own, or records that a sum of versions would not know of.
const WRITES_OTHERWISE: [MixOperation; 7] = [Put, Insert, ReadModifyWrite, Delete, Take, Expire, InsertIfAbsent];

impl MixDefinition {
    const fn new(
        name: WorkloadName,
        summary: &'static str,
        role: &'static MixRole,
        distribution: DistributionKind,
    ) -> MixDefinition {
        let reads = Reads { per_batch: 1, ..Reads::USUAL };
        let usual = WorkloadProfile::new(name, summary);
        let profile = WorkloadProfile { writer: Some(role), has_think_time: true, distribution, reads, ..usual };
        MixDefinition { role, profile }
    }

    /// The same with ranges of these lengths.
    const fn reading(mut self, seek_nexts: u64, lengths: RangeLengths) -> MixDefinition {
        self.profile.reads.seek_nexts = seek_nexts;
        self.profile.reads.lengths = lengths;
        self
    }

    /// Refuses updates of shared records beside writes that would make the sum of their versions unknown.
    fn check_updates(&self, spec: &WorkloadParameters) -> Result<(), WorkloadError> {
        let first_of = |some: &[MixOperation]| some.iter().copied().find(|&operation| self.mixes(spec, operation));
        let Some(update) = first_of(&COUNTS_VERSIONS) else { return Ok(()) };
        check_values(&spec.data)?;
        let Some(other) = first_of(&WRITES_OTHERWISE) else { return Ok(()) };
        let expected = format!("{update} without {other}: audits add up the versions that updates alone have raised");
        WorkloadError::unless(false, RunKey::Mix, self.role.words(spec), expected)
    }

    /// Refuses an isolation where there are no transactions that could have it.
    fn check_isolation(&self, spec: &WorkloadParameters) -> Result<(), WorkloadError> {
        let Some(isolation) = spec.isolation else { return Ok(()) };
        let expected = "left out: the mix has no transactional-update";
        WorkloadError::unless(self.mixes(spec, TransactionalUpdate), RunKey::Isolation, isolation, expected)
    }

    /// Refuses deletions after which the remaining records would be unknown.
    fn check_removal(&self, spec: &WorkloadParameters) -> Result<(), WorkloadError> {
        let taking = TAKES_OLDEST.into_iter().find(|&taking| self.mixes(spec, taking));
        let other = WRITES_ANY.into_iter().find(|&other| self.mixes(spec, other));
        if let (Some(taking), Some(other)) = (taking, other) {
            let expected = format!("{taking} without {other}: a record that was taken would be written again");
            return WorkloadError::unless(false, RunKey::Mix, self.role.words(spec), expected);
        }
        let (records, clients) = (spec.data.records, u64::from(spec.writers));
        let least = clients * DELETION_BLOCK;
        if self.mixes(spec, Delete) {
            let expected = format!("{least} or more: each client deletes from blocks of {DELETION_BLOCK} of its own");
            WorkloadError::unless(records >= least, DataKey::Records, records, expected)?;
        }
        let has_absent = spec.data.keys().ok().is_none_or(|keys| keys.absent_byte().is_some());
        let expected = "longer than the number: a miss asks for keys that differ from all others behind it";
        let size = spec.data.key_size;
        WorkloadError::unless(has_absent || !self.mixes(spec, Miss), DataKey::KeySize, size, expected)
    }

    /// Refuses several records in a call if a client makes no such calls, or if it would be unknown which of them it is
    /// changing.
    fn check_several(&self, spec: &WorkloadParameters) -> Result<(), WorkloadError> {
        let has = |operations: [MixOperation; 2]| {
            self.role.mix(spec).is_none_or(|mix| operations.into_iter().any(|operation| mix.has(operation)))
        };
        let (batch, gets) = (spec.batch, spec.reads.per_batch);
        let expected = "1: the mix has neither put nor insert";
        WorkloadError::unless(batch == 1 || has([Put, Insert]), RunKey::Batch, batch, expected)?;
        let expected = "1: a batch is not one record that is being changed while others are deleted";
        WorkloadError::unless(batch == 1 || !self.mixes(spec, Delete), RunKey::Batch, batch, expected)?;
        let expected = "1: the mix has no get";
        WorkloadError::unless(gets == 1 || has([Get, Get]), RunKey::KeysPerMultiget, gets, expected)
    }

    /// How the records that several clients write differ from those that were drawn, and what rates are over; empty if
    /// neither needs words.
    fn note(&self, spec: &WorkloadParameters) -> String {
        let writes = WRITES_ANY.into_iter().filter(|&operation| self.mixes(spec, operation));
        let writes: Vec<&str> = writes.map(MixOperation::word).collect();
        let of_writes = (!writes.is_empty() && spec.writers > 1).then(|| {
            let writes = either(&writes);
            format!("Each client writes records of its own: {writes} takes the one nearest to the drawn record.")
        });
        let of_parts = spec.has_partial_roles().then(|| {
            let parts = spec.roles.iter().filter(|role| role.is_partial());
            let parts: Vec<String> = parts.map(|role| format!("{} {}", role.name, role.part_in_words())).collect();
            format!("Rates of roles are over their parts of the window ({}), others over the window.", parts.join(", "))
        });
        of_writes.into_iter().chain(of_parts).collect::<Vec<_>>().join(" ")
    }

    fn takes_oldest(&self, spec: &WorkloadParameters) -> bool {
        TAKES_OLDEST.into_iter().any(|operation| self.mixes(spec, operation))
    }

    /// The needs of the cursors of its ranges.
    fn cursors_need(&self, spec: &WorkloadParameters) -> Vec<Need> {
        let of = |is: bool, need: u64, words| is.then_some((Range, need, words, "`range_cursors`"));
        let cursors = spec.reads.cursors;
        let bounds = of(cursors.are_bounded(), abi::CAN_BOUND, "keep a scan within bounds");
        let keys = of(cursors.bring_keys_only(), abi::CAN_SCAN_KEYS, "scan keys without their values");
        let prefix = of(cursors.are_by_prefix(), abi::CAN_SCAN_PREFIX, "scan the keys with one prefix");
        bounds.into_iter().chain(keys).chain(prefix).collect()
    }

    fn mixes(&self, spec: &WorkloadParameters, operation: MixOperation) -> bool {
        self.role.mixes(spec).any(|mix| mix.has(operation))
    }
}

/// A client that does the operations of a mix; absent: those of the experiment.
struct MixRole(Option<OperationMix>);

impl MixRole {
    /// The mix of a client with these parameters.
    fn mix(&self, spec: &WorkloadParameters) -> Option<OperationMix> {
        self.0.or(spec.mix)
    }

    /// The mixes of all clients of a trial.
    fn mixes(&self, spec: &WorkloadParameters) -> impl Iterator<Item = OperationMix> {
        self.mix(spec).into_iter().chain(spec.roles.iter().map(|role| role.mix))
    }

    /// The same in words.
    fn words(&self, spec: &WorkloadParameters) -> String {
        let of_role = |role: &MixedRole| format!("{}: {}", role.name, role.mix);
        match self.mix(spec) {
            Some(mix) => mix.to_string(),
            None => spec.roles.iter().map(of_role).collect::<Vec<_>>().join("; "),
        }
    }
}

impl RoleDefinition for MixRole {
    fn operations(&self, spec: &WorkloadParameters) -> Vec<OpKind> {
        self.mix(spec).map(|mix| kinds(&mix, spec)).unwrap_or_default()
    }

    fn writes(&self) -> bool {
        true
    }

    fn keys(&self) -> &'static [RunKey] {
        &[RunKey::Distribution, RunKey::Rate, RunKey::Arrival, RunKey::Batch, RunKey::KeysPerMultiget]
    }
}

impl DrawingRole for MixRole {
    fn start_with_distribution<C: RoleClock>(&self, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        start_with_few(self, driver)
    }

    fn start_drawing<C: Clock + 'static, K: KeyChoice>(&self, choice: K, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        // A mix was given: that was checked before anything was started.
        let mix = self.mix(driver.parameters).unwrap_or_else(|| OperationMix::of([(Get, 100.0)]));
        match pacer(driver) {
            None => mixing(mix, choice, ClosedLoop(Turnaround::new(driver.clock)), driver),
            Some(pacer) => mixing(mix, choice, pacer, driver),
        }
    }
}

fn mixing<C: Clock + 'static, K: KeyChoice, A: BeginsOperations>(
    mix: OperationMix,
    choice: K,
    arrival: A,
    driver: &Driver<'_, C>,
) -> Box<dyn Work<C>> {
    match driver.verifies() {
        true => Box::new(Mixing::<K, A, true>::new(mix, choice, arrival, driver)),
        false => Box::new(Mixing::<K, A, false>::new(mix, choice, arrival, driver)),
    }
}
