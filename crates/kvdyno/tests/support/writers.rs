//! Runs in which most operations that write have their turn.

/// The workloads.
pub const RUNS: [&str; 9] = [
    "workload = \"overwrite\"",
    "workload = \"overwritesome\"",
    "workload = \"overwriteandwait\"",
    "workload = \"mix\"\nmix = \"get 50, put 50\"",
    "workload = \"mix\"\nmix = \"insert 50, get 50\"\ndistribution = \"latest\"",
    "workload = \"mix\"\nmix = \"read-modify-write 100\"",
    "workload = \"mix\"\n[[run.role]]\nmix = \"put 100\"\n[[run.role]]\nmix = \"get 100\"",
    "workload = \"transfer\"",
    "workload = \"mix\"\nmix = \"insert 50, take 50\"",
];

/// Runs of these workloads, the first with one client, the second with two and so on, so that each is a work of its
/// own. Each client does `operations`.
pub fn with_clients(runs: &[&str], operations: u64) -> String {
    (1..).zip(runs).map(|(clients, run)| run_with(run, clients, operations)).collect()
}

/// A run of a workload.
pub fn run_with(run: &str, clients: u64, operations: u64) -> String {
    // The tables of roles come last in it.
    let (head, roles) = run.split_once("\n[[").unwrap_or((run, ""));
    let roles = if roles.is_empty() { String::new() } else { format!("[[{roles}\n") };
    format!("[[run]]\n{head}\nreaders = [{clients}]\noperations = {operations}\nwarmup = \"0s\"\n{roles}")
}
