//! `kvdyno workloads`.

use kvdyno_report::Format;
use kvdyno_worker::workloads::Workload;

use crate::cli::ListArguments;
use crate::error::Error;
use crate::output::{print_columns, print_json};

/// Prints the workloads.
pub fn run(arguments: &ListArguments) -> Result<(), Error> {
    let phase = |workload: Workload| if workload.profile().loads { "load" } else { "run" };
    if arguments.format == Format::Json {
        let entry = |workload: Workload| {
            serde_json::json!({
                "name": workload.to_string(), "phase": phase(workload), "summary": workload.profile().summary,
            })
        };
        return print_json(&Workload::all().map(entry).collect::<Vec<_>>());
    }
    let line = |workload: Workload| format!("{workload:<21} {:<5} {}\n", phase(workload), workload.profile().summary);
    print_columns(&Workload::all().map(line).collect::<String>())
}
