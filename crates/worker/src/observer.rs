//! The parent's view of a trial under way: everything that was counted so far.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hdrhistogram::Histogram;
use kvdyno_results::{AnswerCounts, Latency, OpKind, Operations, Pacing, RoleOperations, SeriesPoint};

use crate::client_times::{ClientTimes, ClientWork};
use crate::histogram::{BUCKETS, in_nanoseconds};
use crate::shared::{COUNTERS, ClientOps, ClientStats, Control, OpStats, PacingStats, SharedMemory};
use crate::slices::{SliceStats, WorkTotals};
use crate::spec::KnownContents;
use crate::thread_accounts::PartTimes;
use crate::workloads::{VersionsAdded, WorkloadParameters, WorkloadSpec, present_after};

/// Reads the memory of a trial while a worker writes it.
#[derive(Debug)]
pub struct Observer<'a> {
    shared: &'a SharedMemory,
    clients: &'a [ClientStats],
}

/// The counts of one kind of operation.
#[derive(Clone, Debug)]
pub struct KindTotals {
    /// Which.
    pub kind: OpKind,
    /// Records read or written.
    pub records: u64,
    /// Latencies by bucket.
    counts: Vec<u64>,
}

impl KindTotals {
    /// Operations.
    pub fn operations(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// Everything that was counted up to a moment, in the warm-up or in the measured part.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// A kind each.
    pub kinds: Vec<KindTotals>,
}

impl Snapshot {
    /// Operations of all kinds.
    pub fn operations(&self) -> u64 {
        self.kinds.iter().map(KindTotals::operations).fold(0, u64::saturating_add)
    }

    /// The rows of an interval that ends `end_s` into the measured part: what came between `earlier` and this one.
    pub fn rows_since(&self, earlier: &Snapshot, end_s: f64, seconds: f64, ticks_per_ns: f64) -> Vec<SeriesPoint> {
        self.kinds
            .iter()
            .map(|now| {
                let before = earlier.kinds.iter().find(|kind| kind.kind == now.kind);
                let counts: Vec<u64> = match before {
                    Some(before) => now.counts.iter().zip(&before.counts).map(|(a, b)| a.saturating_sub(*b)).collect(),
                    None => now.counts.clone(),
                };
                let records = now.records.saturating_sub(before.map_or(0, |before| before.records));
                let latency = Latency::from(&in_nanoseconds(&counts, ticks_per_ns));
                SeriesPoint {
                    end_s,
                    seconds,
                    kind: now.kind,
                    operations: counts.iter().sum(),
                    records,
                    records_per_s: if seconds > 0.0 { records as f64 / seconds } else { 0.0 },
                    percentiles: latency.percentiles,
                    max_ns: latency.max_ns,
                }
            })
            .collect()
    }
}

/// Everything that clients at a searched rate did so far.
#[derive(Clone, Debug)]
pub struct ProbeReading {
    /// Latencies of all their operations by bucket.
    counts: Vec<u64>,
    /// How far each was behind its schedule at the ends of all parts together, ticks.
    behind: Vec<u64>,
}

/// The operations of a part of a trial at a searched rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbeWork {
    /// Operations of all clients.
    pub operations: u64,
    /// Their latency.
    pub latency: Latency,
    /// Delay at the end of the client that was furthest behind its schedule, seconds.
    pub behind_s: f64,
}

impl<'a> Observer<'a> {
    /// An observer of a trial's memory.
    pub fn new(shared: &'a SharedMemory) -> Self {
        Observer { shared, clients: shared.client_stats() }
    }

    /// Asks the worker's loops to end after the operation under way.
    pub fn request_stop(&self) {
        self.shared.control().request_stop(self.shared.client_stats());
    }

    /// The control block.
    pub fn control(&self) -> &'a Control {
        self.shared.control()
    }

    /// The statistics of each client.
    pub(crate) fn client_stats(&self) -> &'a [ClientStats] {
        self.clients
    }

    /// The counts of the warm-up.
    pub fn warmup(&self) -> Snapshot {
        self.snapshot(|stats| &stats.warmup)
    }

    /// The account of the clients at a searched rate, in the warm-up and in the measured part.
    pub fn probe_reading(&self, parameters: &WorkloadParameters) -> ProbeReading {
        let mut reading = ProbeReading { counts: vec![0; BUCKETS], behind: Vec::new() };
        for stats in self.clients.iter().take(parameters.primary_clients() as usize) {
            let mut behind = 0;
            for ops in stats.used(&stats.warmup).chain(stats.used(&stats.measured)) {
                ops.latency.add_to(&mut reading.counts);
                behind += ops.pacing.behind.load(Ordering::Relaxed);
            }
            reading.behind.push(behind);
        }
        reading
    }

    /// The work between two accounts.
    pub fn probe_work(&self, before: &ProbeReading, after: &ProbeReading) -> ProbeWork {
        let ticks_per_ns = self.control().ticks_per_ns();
        let since = |after: &[u64], before: &[u64]| -> Vec<u64> {
            after.iter().zip(before).map(|(after, before)| after.saturating_sub(*before)).collect()
        };
        let counts = since(&after.counts, &before.counts);
        let behind = since(&after.behind, &before.behind).into_iter().max().unwrap_or(0);
        ProbeWork {
            operations: counts.iter().sum(),
            latency: Latency::from(&in_nanoseconds(&counts, ticks_per_ns)),
            behind_s: behind as f64 / ticks_per_ns / 1e9,
        }
    }

    /// The counts of the measured part.
    pub fn measured(&self) -> Snapshot {
        self.snapshot(|stats| &stats.measured)
    }

    fn snapshot(&self, part: fn(&ClientStats) -> &ClientOps) -> Snapshot {
        let of_kind = |kind| {
            let op_stats = self.ops_of(kind, part);
            let mut totals = KindTotals { kind, records: 0, counts: vec![0; BUCKETS] };
            for (_, ops, _) in &op_stats {
                ops.latency.add_to(&mut totals.counts);
                totals.records = totals.records.saturating_add(ops.records.load(Ordering::Relaxed));
            }
            if kind.is_one_record() {
                totals.records = totals.operations();
            }
            (!op_stats.is_empty()).then_some(totals)
        };
        Snapshot { kinds: OpKind::ALL.iter().copied().filter_map(of_kind).collect() }
    }

    /// The statistics of a kind, one for each client that does it, of a part of the trial; with the client's number.
    fn ops_of(&self, kind: OpKind, part: fn(&ClientStats) -> &ClientOps) -> Vec<(u64, &'a OpStats, &'a ClientStats)> {
        let of_client = |(number, stats): (u64, &'a ClientStats)| {
            let slots = part(stats).iter().zip(stats.op_kinds());
            slots.filter_map(move |(ops, slot)| (slot == Some(kind)).then_some((number, ops, stats)))
        };
        (0..).zip(self.clients).flat_map(of_client).collect()
    }

    /// The latencies of each kind in the measured part, nanoseconds.
    pub fn histograms(&self) -> Vec<(OpKind, Histogram<u64>)> {
        let rate = self.control().ticks_per_ns();
        self.measured().kinds.iter().map(|totals| (totals.kind, in_nanoseconds(&totals.counts, rate))).collect()
    }

    /// The measured part, kind by kind. The rate of a kind is the sum of its threads' rates; where roles work in parts
    /// of the window, it is that of all operations over the whole window.
    pub fn operations(&self, parameters: &WorkloadParameters) -> Vec<Operations> {
        let window_ns = parameters.has_partial_roles().then(|| self.worked_ns(Duration::ZERO));
        self.operations_over(window_ns, |number| parameters.part_of_client(number).0.unwrap_or_default())
    }

    /// The same of the clients of each role by themselves, each rate over the part of the window in which its role
    /// works.
    pub fn of_roles(&self, parameters: &WorkloadParameters) -> Vec<RoleOperations> {
        let is_partial = parameters.has_partial_roles();
        let roles = parameters.clients_of_roles().map(|(role, clients)| {
            let clients = self.clients.get(clients.start as usize..clients.end as usize).unwrap_or_default();
            let (observer, from) = (Observer { shared: self.shared, clients }, role.from.unwrap_or_default());
            RoleOperations {
                name: role.name.clone(),
                operations: observer.operations_over(None, |_| from),
                seconds: is_partial.then(|| observer.worked_ns(from) / 1e9),
            }
        });
        roles.collect()
    }

    /// The measured part, kind by kind, of clients that begin at a time since its beginning. Rates are over `window_ns`
    /// or, without it, sums of the threads' rates.
    fn operations_over(&self, window_ns: Option<f64>, begins: impl Fn(u64) -> Duration) -> Vec<Operations> {
        let ticks_per_ns = self.control().ticks_per_ns();
        let measured = self.measured();
        measured
            .kinds
            .iter()
            .map(|totals| {
                let op_stats = self.ops_of(totals.kind, |stats| &stats.measured);
                let works: Vec<ClientPart<'_>> = op_stats
                    .iter()
                    .map(|(number, ops, stats)| {
                        let from = self.moment(begins(*number));
                        ClientPart { ops, worked_ns: worked_ns(ops, stats, from, ticks_per_ns) }
                    })
                    .collect();
                let operations = totals.operations();
                let operations_per_s = match window_ns {
                    Some(window_ns) => per_s(operations, window_ns),
                    None => works.iter().map(|work| per_s(work.ops.latency.count(), work.worked_ns)).sum(),
                };
                let records_per_operation = totals.records as f64 / operations.max(1) as f64;
                Operations {
                    kind: totals.kind,
                    threads: works.len() as u32,
                    operations,
                    records: totals.records,
                    operations_per_s,
                    records_per_s: operations_per_s * records_per_operation,
                    latency: Latency::from(&in_nanoseconds(&totals.counts, ticks_per_ns)),
                    pacing: pacing(&works, ticks_per_ns),
                }
            })
            .collect()
    }

    /// A time since the beginning of the measured part as a moment, ticks.
    fn moment(&self, since: Duration) -> u64 {
        let control = self.control();
        let ticks = (since.as_nanos() as f64 * control.ticks_per_ns()) as u64;
        control.measured_from.load(Ordering::Relaxed).saturating_add(ticks)
    }

    /// From a time since the beginning of the measured part to the end of the last operation, nanoseconds.
    fn worked_ns(&self, from: Duration) -> f64 {
        let until = self.clients.iter().map(ClientStats::measured_until).max().unwrap_or(0);
        until.saturating_sub(self.moment(from)) as f64 / self.control().ticks_per_ns()
    }

    /// The answers, in the worker's whole life.
    pub fn answers(&self) -> AnswerCounts {
        let sum = |counter: fn(&ClientStats) -> &AtomicU64| {
            let counts = self.clients.iter().map(|stats| counter(stats).load(Ordering::Relaxed));
            counts.fold(0, u64::saturating_add)
        };
        let mut answers = AnswerCounts {
            right: 0,
            missing: sum(|stats| &stats.missing),
            errors: sum(|stats| &stats.errors),
            wrong: sum(|stats| &stats.wrong),
            torn: sum(|stats| &stats.torn),
            stale: sum(|stats| &stats.stale),
            read_back: sum(|stats| &stats.read_back),
            first_failure: self.control().failure(),
        };
        let all = self.warmup().operations().saturating_add(self.measured().operations());
        answers.right = all.saturating_sub(answers.failures());
        answers
    }

    /// Bytes of keys and values written in the worker's whole life.
    pub fn user_bytes(&self) -> u64 {
        let bytes = self.clients.iter().map(|stats| stats.user_bytes.load(Ordering::Relaxed));
        bytes.fold(0, u64::saturating_add)
    }

    /// Records that were read in the worker's whole life.
    pub fn records_read(&self) -> u64 {
        let parts = [self.warmup(), self.measured()];
        let kinds = parts.iter().flat_map(|part| &part.kinds).filter(|totals| totals.kind.reads_records());
        kinds.map(|totals| totals.records).fold(0, u64::saturating_add)
    }

    /// The counters of the workload's own, of each client.
    pub fn counters(&self) -> Vec<[u64; COUNTERS]> {
        self.clients.iter().map(ClientStats::counters).collect()
    }

    /// Slices with a counted part, of the client that had most; 0 if the trial works in none.
    pub fn slices(&self) -> u64 {
        let slices = self.clients.iter().map(|stats| stats.slices.count.load(Ordering::Relaxed));
        slices.max().unwrap_or(0)
    }

    /// The counted time of the client that has most of it, seconds; 0 if the trial works in no slices.
    pub fn counted_s(&self) -> f64 {
        let counted = self.clients.iter().map(|stats| stats.slices.counted_ns.load(Ordering::Relaxed));
        counted.max().unwrap_or(0) as f64 / 1e9
    }

    /// The times of all clients together in the first parts of their slices.
    pub fn lead_times(&self) -> ClientTimes {
        self.times(|stats| &stats.slices.lead)
    }

    /// The times of all clients together in the counted parts of their slices.
    pub fn counted_times(&self) -> ClientTimes {
        self.times(|stats| &stats.slices.counted)
    }

    /// The times of all clients together in the measured part; in slices their first parts are included.
    pub fn measured_times(&self) -> ClientTimes {
        self.times(|stats| &stats.slices.alone.times)
    }

    /// The slices of the measured part, with their first parts, of all clients together. Without slices it has CPU time
    /// alone.
    pub fn work_alone(&self) -> ClientWork {
        self.work(|slices| &slices.alone)
    }

    /// The duets, with their first parts, of all clients together.
    pub fn work_in_duets(&self) -> ClientWork {
        self.work(|slices| &slices.duets)
    }

    fn work(&self, part: fn(&SliceStats) -> &WorkTotals) -> ClientWork {
        let sum = |word: fn(&WorkTotals) -> &AtomicU64| {
            let words = self.clients.iter().map(|stats| word(part(&stats.slices)).load(Ordering::Relaxed));
            words.fold(0, u64::saturating_add)
        };
        ClientWork { operations: sum(|work| &work.operations), cpu_s: sum(|work| &work.times.cpu_ns) as f64 / 1e9 }
    }

    fn times(&self, part: fn(&ClientStats) -> &PartTimes) -> ClientTimes {
        let sum = |word: fn(&PartTimes) -> &AtomicU64| {
            let words = self.clients.iter().map(|stats| word(part(stats)));
            words.map(|word| word.load(Ordering::Relaxed)).fold(0, u64::saturating_add)
        };
        ClientTimes {
            wall_ns: sum(|times| &times.wall_ns),
            cpu_ns: sum(|times| &times.cpu_ns),
            delayed_ns: sum(|times| &times.delayed_ns),
            asleep_ns: sum(|times| &times.asleep_ns),
            turns: sum(|times| &times.turns),
        }
    }

    /// The contents of the database now, where a trial of `workload` found those of `before`.
    pub fn contents(&self, workload: &WorkloadSpec, before: KnownContents) -> KnownContents {
        // After a failure the commits are unknown.
        let of_all = workload.name.versions_added(&workload.parameters, &self.counters());
        let of_all = of_all.filter(|_| self.answers().failures() == 0);
        let and_added =
            |before: Option<u64>, added: fn(VersionsAdded) -> u64| Some(before?.saturating_add(added(of_all?)));
        let versions = self.clients.iter().map(|stats| stats.version.load(Ordering::Relaxed));
        KnownContents {
            last_version: versions.fold(before.last_version, u64::max),
            present: present_after(self.shared, workload, before.present),
            version_sum: and_added(before.version_sum, |added| added.all),
            sampled_version_sum: and_added(before.sampled_version_sum, |added| added.sampled),
        }
    }
}

/// The operations of one kind of a client, and the time by which they are counted.
struct ClientPart<'a> {
    ops: &'a OpStats,
    worked_ns: f64,
}

/// The pacing of the clients of one kind of operation; `None` in a closed loop.
fn pacing(clients: &[ClientPart<'_>], ticks_per_ns: f64) -> Option<Pacing> {
    let words = |word: fn(&PacingStats) -> &AtomicU64| {
        clients.iter().map(move |client| word(&client.ops.pacing).load(Ordering::Relaxed))
    };
    if words(|stats| &stats.operations).all(|operations| operations == 0) {
        return None;
    }
    let seconds = |ticks: u64| ticks as f64 / ticks_per_ns / 1e9;
    let sum = |word| seconds(words(word).fold(0, u64::saturating_add));
    let most = |word| seconds(words(word).max().unwrap_or(0));
    let behind_s = most(|stats| &stats.behind);
    let window_ns = clients.iter().map(|client| client.worked_ns).fold(0.0, f64::max);
    Some(Pacing {
        sleeping_s: sum(|stats| &stats.sleeping),
        spinning_s: sum(|stats| &stats.spinning),
        overslept_s: sum(|stats| &stats.overslept),
        queued_s: Some(sum(|stats| &stats.queued)),
        behind_s,
        most_behind_s: most(|stats| &stats.most_behind),
        kept: behind_s <= Pacing::allowed_s(window_ns / 1e9),
    })
}

fn per_s(operations: u64, ns: f64) -> f64 {
    if ns > 0.0 { operations as f64 / (ns / 1e9) } else { 0.0 }
}

/// The time by which a thread's operations are counted, nanoseconds: from the common start to the end of its own last
/// operation. A thread that got its processor late was not faster. In slices, the counted time of the thread is used.
fn worked_ns(ops: &OpStats, stats: &ClientStats, from: u64, ticks_per_ns: f64) -> f64 {
    match stats.slices.counted_ns.load(Ordering::Relaxed) {
        0 => ops.until.load(Ordering::Relaxed).saturating_sub(from) as f64 / ticks_per_ns,
        counted_ns => counted_ns as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::MixedRole;
    use crate::workloads::parameters::testing::a_hundred_reads;
    use serde_json::json;

    /// A role of one client that gets, from and until a second of the window.
    fn role(from: Option<u64>, until: Option<u64>) -> MixedRole {
        let role = json!({
            "name": format!("{from:?}"), "clients": 1, "mix": "get 100", "distribution": "uniform",
            "reads": { "seek_nexts": 1, "per_batch": 1, "seek_within": null }, "rate": null, "arrival": "fixed",
        });
        let seconds = |time: Option<u64>| time.map(Duration::from_secs);
        MixedRole { from: seconds(from), until: seconds(until), ..serde_json::from_value(role).unwrap() }
    }

    /// The rates of a trial of 10 s, of which the first client works 4 s, and the second the last 5 s.
    fn rates(roles: Vec<MixedRole>) -> (f64, Vec<(f64, Option<f64>)>) {
        let shared = SharedMemory::create(2).unwrap();
        let (control, from) = (shared.control(), 1000);
        control.set_ticks_per_ns(1.0);
        control.measured_from.store(from, Ordering::Relaxed);
        for (stats, until_s) in shared.client_stats().iter().zip([4, 10]) {
            stats.set_op_kinds(&[OpKind::Get]);
            (0..100).for_each(|_| stats.measured[0].latency.record(20));
            stats.measured[0].until.store(from + until_s * 1_000_000_000, Ordering::Relaxed);
        }
        let parameters = WorkloadParameters { readers: 0, writers: 2, roles, ..a_hundred_reads() };
        let observer = Observer::new(&shared);
        let [all] = &observer.operations(&parameters)[..] else { panic!() };
        assert_eq!((all.operations, all.threads), (200, 2));
        let of_roles = observer.of_roles(&parameters);
        (
            all.operations_per_s,
            of_roles.iter().map(|role| (role.operations[0].operations_per_s, role.seconds)).collect(),
        )
    }

    #[test]
    fn rates_of_roles_are_over_their_parts_and_those_of_all_over_the_window() {
        let parts = rates(vec![role(None, Some(4)), role(Some(5), None)]);
        assert_eq!(parts, (20.0, vec![(25.0, Some(4.0)), (20.0, Some(5.0))]));
        // Without parts they are sums over the threads' own times.
        assert_eq!(rates(vec![role(None, None), role(None, None)]), (35.0, vec![(25.0, None), (10.0, None)]));
    }
}
