//! The workloads of the tables in the documents: every one, and every preset as a mix.

use std::fmt::Write;

/// Records of each database.
pub const RECORDS: u64 = 1600;

/// A column: its heading, the run, and the marks of what it does, by which it is known which faults it can meet.
pub struct Column {
    pub heading: &'static str,
    pub run: &'static str,
    /// Keys of `[data]` that are its own.
    pub data: &'static str,
    pub does: &'static [Does],
    /// A mix, which is a variant of the same experiment as the others.
    pub is_variant: bool,
}

impl Column {
    /// Whether the workload does everything in at least one of these lists.
    pub fn can_meet(&self, needs: &[&[Does]]) -> bool {
        needs.iter().any(|all| all.iter().all(|does| self.does.contains(does)))
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
    Column { heading, run, data: "", does, is_variant: false }
}

pub static WORKLOADS: [Column; 38] = [
    column("readrandom", "workload = \"readrandom\"", &[Looks, Reads]),
    column("multireadrandom", "workload = \"multireadrandom\"", &[Looks, Reads]),
    column("readseq", "workload = \"readseq\"\noperations = 120000", &[Reads, Steps, Seeks, Ends]),
    column("readreverse", "workload = \"readreverse\"", &[Reads, Steps, Ends]),
    column("fwdrange", "workload = \"fwdrange\"", &[Reads, Steps, Seeks, Ends]),
    column("revrange", "workload = \"revrange\"", &[Reads, Steps, Ends]),
    column(
        "readwhilewriting",
        "workload = \"readwhilewriting\"\noperations = 100000",
        &[Looks, Reads, Rereads, Writes],
    ),
    column(
        "fwdrangewhilewriting",
        "workload = \"fwdrangewhilewriting\"",
        &[Reads, Rereads, Writes, Steps, Seeks, Ends],
    ),
    column("revrangewhilewriting", "workload = \"revrangewhilewriting\"", &[Reads, Rereads, Writes, Steps, Ends]),
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

const fn mix(heading: &'static str, run: &'static str, does: &'static [Does]) -> Column {
    Column { is_variant: true, ..column(heading, run, does) }
}

/// The runs of all workloads, in two experiments that begin with `head`: workloads with names of their own, and mixes.
/// Each client does `operations` operations, unless the run has a number of its own because it writes or seeks seldom.
/// Each client alone writes more than the load did, however clients take turns.
pub fn experiments(head: &str, operations: u64) -> [String; 2] {
    let (of_mixes, named): (Vec<&Column>, Vec<&Column>) = WORKLOADS.iter().partition(|column| column.is_variant);
    let of_each = |run: &str| match run.contains("records_fraction") || run.contains("operations") {
        true => String::new(),
        false => format!("operations = {operations}\n"),
    };
    let clients = |run: &str| if run.contains("readers") { "" } else { "readers = [2]\n" };
    let mut runs = format!("{head}[data]\nrecords = {RECORDS}\n");
    for Column { run, .. } in named {
        let (of_each, clients) = (of_each(run), clients(run));
        // The tables of roles come last in a run.
        let (own, roles) =
            run.split_once("[[").map_or((*run, String::new()), |(own, roles)| (own, format!("[[{roles}")));
        write!(runs, "[[run]]\n{clients}{of_each}warmup = \"0s\"\n{own}\n{roles}\n").unwrap();
    }
    let mut variants = format!(
        "{head}[data]\nrecords = {RECORDS}\n[[run]]\nworkload = \"mix\"\nmix = \"get 100\"\n\
         readers = [2]\noperations = {operations}\nwarmup = \"0s\"\n"
    );
    for Column { heading, run, data, .. } in of_mixes {
        let keys: String = run.lines().map(|line| format!("run.{line}\n")).collect();
        write!(variants, "[[variant]]\nname = \"{heading}\"\n{data}{keys}").unwrap();
    }
    [runs, variants]
}
