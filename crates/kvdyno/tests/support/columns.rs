//! The workloads of the tables in the documents: every one, and every preset as a mix.

use std::fmt::Write;

use kvdyno_results::TrialResult;

/// Records of each database.
pub const RECORDS: u64 = 1600;

/// A column: its heading, the run, and the marks of what it does, by which it is known which faults it can meet.
pub struct Column {
    pub heading: &'static str,
    pub run: &'static str,
    /// Keys of `[data]` that are its own.
    pub data: &'static str,
    pub does: &'static [Does],
    pub group: Group,
}

/// The columns of one experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Workloads with names of their own.
    Named,
    /// Those in which one client does nothing but write, and the others nothing but read.
    BesideAWriter,
    /// Mixes, which are variants of one experiment.
    Mixes,
}

impl Group {
    pub const ALL: [Group; 3] = [Group::Named, Group::BesideAWriter, Group::Mixes];
}

impl Column {
    /// Whether the workload does everything in at least one of these lists.
    pub fn can_meet(&self, needs: &[&[Does]]) -> bool {
        needs.iter().any(|all| all.iter().all(|does| self.does.contains(does)))
    }

    /// Whether a trial is its: by the workload, or by the variant.
    pub fn is_of(&self, result: &TrialResult) -> bool {
        let trial = &result.trial;
        self.heading
            == match (trial.variant.as_str(), trial.workload.as_str()) {
                ("", "mix") => "roles",
                ("", workload) => workload,
                (variant, _) => variant,
            }
    }
}

/// A part of a workload, as far as a fault can strike at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Looks for one record that is there.
    Looks,
    /// Reads values.
    Reads,
    /// Reads what it updates.
    Rereads,
    /// Writes, deletes or inserts.
    Writes,
    Deletes,
    /// Steps from record to record.
    Steps,
    /// Seeks a record, and goes on from there.
    Seeks,
    /// Comes to the first record of all, or to the last.
    Ends,
    /// Looks at the first record of all.
    Front,
    InsertsIfAbsent,
    DeletesRanges,
    HasBounds,
    Transacts,
    /// Writes two records in each transaction.
    WritesTwo,
    /// Looks at a record twice in a transaction.
    ReadsAgain,
    /// Reads and writes a record by one call.
    UpdatesAtOnce,
}

use Does::{
    Deletes, DeletesRanges, Ends, Front, HasBounds, InsertsIfAbsent, Looks, Reads, ReadsAgain, Rereads, Seeks, Steps,
    Transacts, UpdatesAtOnce, Writes, WritesTwo,
};

const fn column(heading: &'static str, run: &'static str, does: &'static [Does]) -> Column {
    Column { heading, run, data: "", does, group: Group::Named }
}

const fn beside_a_writer(heading: &'static str, run: &'static str, does: &'static [Does]) -> Column {
    Column { group: Group::BesideAWriter, ..column(heading, run, does) }
}

const fn mix(heading: &'static str, run: &'static str, does: &'static [Does]) -> Column {
    Column { group: Group::Mixes, ..column(heading, run, does) }
}

pub static WORKLOADS: [Column; 39] = [
    column("readrandom", "workload = \"readrandom\"", &[Looks, Reads]),
    column("multireadrandom", "workload = \"multireadrandom\"", &[Looks, Reads]),
    column("readseq", "workload = \"readseq\"\noperations = 120000", &[Reads, Steps, Seeks, Ends]),
    column("readreverse", "workload = \"readreverse\"", &[Reads, Steps, Ends]),
    column("fwdrange", "workload = \"fwdrange\"", &[Reads, Steps, Seeks, Ends]),
    column("revrange", "workload = \"revrange\"", &[Reads, Steps, Ends]),
    beside_a_writer("readwhilewriting", "workload = \"readwhilewriting\"", &[Looks, Reads, Rereads, Writes]),
    beside_a_writer(
        "fwdrangewhilewriting",
        "workload = \"fwdrangewhilewriting\"",
        &[Reads, Rereads, Writes, Steps, Seeks, Ends],
    ),
    beside_a_writer(
        "revrangewhilewriting",
        "workload = \"revrangewhilewriting\"",
        &[Reads, Rereads, Writes, Steps, Ends],
    ),
    column("overwrite", "workload = \"overwrite\"", &[Writes]),
    column("overwritesome", "workload = \"overwritesome\"\nrecords_fraction = 10", &[Writes]),
    column("overwriteandwait", "workload = \"overwriteandwait\"", &[Writes]),
    column("ycsb-a", "workload = \"ycsb-a\"\ndistribution = \"uniform\"", &[Looks, Reads, Rereads, Writes]),
    column(
        "ycsb-b",
        "workload = \"ycsb-b\"\ndistribution = \"uniform\"\noperations = 60000",
        &[Looks, Reads, Rereads, Writes],
    ),
    column("ycsb-c", "workload = \"ycsb-c\"", &[Looks, Reads]),
    column("ycsb-d", "workload = \"ycsb-d\"\noperations = 60000", &[Looks, Reads, Writes]),
    column(
        "ycsb-e",
        "workload = \"ycsb-e\"\ndistribution = \"latest\"\noperations = 40000",
        &[Reads, Writes, Steps, Seeks, Ends],
    ),
    column("ycsb-f", "workload = \"ycsb-f\"\ndistribution = \"uniform\"", &[Looks, Reads, Rereads, Writes]),
    column(
        "transfer",
        "workload = \"transfer\"\ndistribution = \"zipf 1.3\"\nreaders = [6]",
        &[Looks, Reads, Rereads, Writes, Transacts, WritesTwo, ReadsAgain],
    ),
    column(
        "roles",
        // The first role's operations end the trial, whatever the other has done by then: all that counts is in it.
        "workload = \"mix\"\n[[run.role]]\nmix = \"get 40, put 40, range 15, insert 5\"\n\
         distribution = \"latest\"\n\
         [[run.role]]\nmix = \"range 80, insert 20\"\nrate = 20000\n",
        &[Looks, Reads, Rereads, Writes, Steps, Seeks, Ends],
    ),
    mix("deletes", "mix = \"get 50, put 20, delete 20, miss 10\"", &[Looks, Reads, Rereads, Writes, Deletes]),
    mix(
        "deletes and ranges",
        "mix = \"range 40, put 30, delete 30\"",
        &[Reads, Rereads, Writes, Deletes, Steps, Seeks, Ends],
    ),
    mix(
        "inserts if absent",
        "mix = \"contains 40, insert-if-absent 30, delete 30\"",
        &[Looks, Writes, Deletes, InsertsIfAbsent],
    ),
    mix(
        "bounded ranges",
        "mix = \"range 60, put 40\"\nrange_cursors = \"bounded\"",
        &[Reads, Rereads, Writes, Steps, Seeks, HasBounds],
    ),
    mix("ranges of keys", "mix = \"range 100\"\nrange_cursors = \"keys\"", &[Steps, Seeks, Ends]),
    mix(
        "batches and multi-gets",
        "mix = \"get 50, put 50\"\nbatch = 5\nkeys_per_multiget = 5",
        &[Looks, Reads, Rereads, Writes],
    ),
    mix(
        "six kinds",
        "mix = \"get 30, put 20, insert 15, range 15, read-modify-write 10, miss 10\"\ndistribution = \"latest\"",
        &[Looks, Reads, Rereads, Writes, Steps, Seeks, Ends],
    ),
    Column {
        data: "data.value_size = \"pareto 0.2615 25.45\"\n",
        ..mix(
            "mixgraph",
            "mix = \"get 85, put 14, range 1\"\n\
             distribution = \"power 0.002312 0.3467 30 14.18 -2.917 0.0164 -0.08082\"\n\
             seek_nexts = 999\nrange_lengths = \"pareto\"\noperations = 20000",
            &[Looks, Reads, Rereads, Writes, Steps, Seeks, Ends],
        )
    },
    Column {
        // So few that each is read soon after it was written.
        data: "data.records = 100\ndata.value_size = \"uniform 4KiB 64KiB\"\n",
        ..mix(
            "bigvalues",
            "mix = \"get 50, put 50\"\ndistribution = \"uniform\"\noperations = 4000",
            &[Looks, Reads, Rereads, Writes],
        )
    },
    mix(
        "cache",
        "mix = \"get 90, put 4, delete 1, miss 5\"\ndistribution = \"zipf 0.99\"\noperations = 60000",
        &[Looks, Reads, Rereads, Writes, Deletes],
    ),
    mix(
        "timeseries",
        "mix = \"insert 95, range 5\"\ndistribution = \"latest\"\nseek_nexts = 99\nrange_lengths = \"uniform\"",
        &[Reads, Writes, Steps, Seeks, Ends],
    ),
    Column {
        data: "data.value_size = 8\n",
        ..mix(
            "index",
            "mix = \"range 70, get 10, put 20\"\ndistribution = \"zipf 0.99\"\nseek_nexts = 49\n\
             range_lengths = \"uniform\"",
            &[Looks, Reads, Rereads, Writes, Steps, Seeks, Ends],
        )
    },
    Column {
        data: "data.value_size = 24\n",
        ..mix(
            "counter",
            "mix = \"read-modify-write 100\"\ndistribution = \"hotspot 0.01 0.9\"",
            &[Looks, Reads, Rereads, Writes],
        )
    },
    mix("queue", "mix = \"insert 50, take 50\"\nreaders = [4]", &[Reads, Writes, Deletes, Front]),
    mix(
        "ttl",
        "mix = \"insert 25, take 25, get 50\"\ndistribution = \"latest\"\nreaders = [4]",
        &[Looks, Reads, Writes, Deletes, Front],
    ),
    mix(
        "expire",
        "mix = \"insert 64, expire 2, get 34\"\nreaders = [7]",
        &[Looks, Reads, Writes, Deletes, Front, DeletesRanges],
    ),
    mix("atomic updates", "mix = \"get 50, atomic-update 50\"\nreaders = [8]", &[Looks, Reads, Writes, UpdatesAtOnce]),
    mix(
        "transactional updates",
        "mix = \"get 50, transactional-update 50\"\ndistribution = \"zipf 1.3\"\nreaders = [9]",
        &[Looks, Reads, Writes, Transacts],
    ),
    mix(
        "processes",
        "mix = \"get 40, put 40, range 20\"\nclients = \"processes\"",
        &[Looks, Reads, Rereads, Writes, Steps, Seeks, Ends],
    ),
];

/// The runs of a group, in an experiment that begins with `head`. Each client does `operations` operations, unless the
/// run has a number of its own because it writes or seeks seldom. Each client alone writes more than the load did,
/// however clients take turns.
pub fn experiment(group: Group, head: &str, operations: u64) -> String {
    let columns = WORKLOADS.iter().filter(|column| column.group == group);
    let mut text = format!("{head}[data]\nrecords = {RECORDS}\n");
    if group == Group::Mixes {
        write!(
            text,
            "[[run]]\nworkload = \"mix\"\nmix = \"get 100\"\nreaders = [2]\noperations = {operations}\n\
             warmup = \"0s\"\n"
        )
        .unwrap();
        for Column { heading, run, data, .. } in columns {
            let keys: String = run.lines().map(|line| format!("run.{line}\n")).collect();
            write!(text, "[[variant]]\nname = \"{heading}\"\n{data}{keys}").unwrap();
        }
        return text;
    }
    let of_each = |run: &str| match run.contains("records_fraction") || run.contains("operations") {
        true => String::new(),
        false => format!("operations = {operations}\n"),
    };
    let clients = |run: &str| if run.contains("readers") { "" } else { "readers = [2]\n" };
    for Column { run, .. } in columns {
        let (of_each, clients) = (of_each(run), clients(run));
        // The tables of roles come last in a run.
        let (own, roles) =
            run.split_once("[[").map_or((*run, String::new()), |(own, roles)| (own, format!("[[{roles}")));
        write!(text, "[[run]]\n{clients}{of_each}warmup = \"0s\"\n{own}\n{roles}\n").unwrap();
    }
    text
}
