//! `kvdyno workloads`.

use kvdyno_report::Format;
use kvdyno_worker::workloads::WorkloadName;

use crate::cli::ListArguments;
use crate::error::Error;
use crate::output::{print_columns, print_json};

/// Prints the workloads.
pub fn run(arguments: &ListArguments) -> Result<(), Error> {
    let phase = |workload: WorkloadName| if workload.loads() { "load" } else { "run" };
    if arguments.format == Format::Json {
        let entry = |workload: WorkloadName| {
            serde_json::json!({
                "name": workload.to_string(), "phase": phase(workload), "summary": workload.summary(),
            })
        };
        return print_json(&WorkloadName::all().map(entry).collect::<Vec<_>>());
    }
    let line = |workload: WorkloadName| format!("{workload:<21} {:<5} {}\n", phase(workload), workload.summary());
    print_columns(&WorkloadName::all().map(line).collect::<String>())
}
