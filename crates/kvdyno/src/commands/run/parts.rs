//! `kvdyno run --part auto/PARTS`: the parts of a plan that nobody else has begun, one after the other.

use std::fs;
use std::path::{Path, PathBuf};

use kvdyno_environment::claim::claim;
use kvdyno_environment::ownership::RunName;
use kvdyno_experiment::Experiment;
use kvdyno_model::{DealtPart, Part};
use kvdyno_results::RunStatus;
use kvdyno_results::folder::{ReadError, ResultsFolder};
use serde_json::Value;

use super::{measure, resolved, resume};
use crate::cli::RunArguments;
use crate::error::Error;
use crate::output::{print, tell};

/// Runs them, each in a folder of its own below `--out`. A part that was begun by a process of this machine that has
/// died is gone on with.
pub fn run_free(
    experiment: &Experiment,
    file: Option<(PathBuf, String)>,
    of: u32,
    arguments: &RunArguments,
) -> Result<(), Error> {
    let Some(out) = &arguments.output.out else {
        let words = format!("--part auto/{of} requires --out: the folder of all parts, which all machines share");
        return Err(Error::Input(words));
    };
    let (own, file) = resolved(experiment, file)?;
    fs::create_dir_all(out).map_err(Error::io(format!("cannot make {}", out.display())))?;
    let run = RunName::new().map_err(Error::io("cannot draw a name for the run"))?;
    let deal = arguments.deal.unwrap_or_default();
    let (mut failed, mut ended) = (0, 0);
    for part in Part::all(of) {
        let name = format!("part-{}", part.number());
        let folder = out.join(&name);
        let shown = folder.display();
        refuse_other(&folder, DealtPart { part, deal }, &own)?;
        if is_complete(&folder)? {
            continue;
        }
        let claimed = claim(out, &name, &run).map_err(Error::io(format!("cannot claim {shown}")))?;
        if let Some((claimant, path)) = claimed {
            tell(format_args!(
                "part {part} is claimed by process {} of {}; if that has ended, remove {} and run this again",
                claimant.maker.pid,
                claimant.host,
                path.display()
            ));
            continue;
        }
        let ended_run = match ResultsFolder::at(&folder).experiment_file().is_file() {
            true => resume(&folder, None, &arguments.erase, &arguments.watch)?,
            false => {
                let (file, dealt) = (file.clone(), Some(DealtPart { part, deal }));
                measure(experiment.clone(), file, dealt, (Some(&folder), false), &arguments.watch)?
            }
        };
        let Some(summary) = ended_run.map(|ended| ended.summary) else { continue };
        (failed, ended) = (failed + summary.failed, ended + summary.ended);
        print(&format!("part {part}: {shown}\n"))?;
    }
    tell(format_args!("to merge the parts: kvdyno merge {0}/part-*/ --out {0}/all", out.display()));
    if failed > 0 { Err(Error::Trials { failed, ended }) } else { Ok(()) }
}

/// Refuses a folder that is of another experiment, or of another number of parts.
fn refuse_other(folder: &Path, DealtPart { part, deal }: DealtPart, own: &Value) -> Result<(), Error> {
    let shown = folder.display();
    let Some(plan) = ResultsFolder::at(folder).plan()? else { return Ok(()) };
    if plan.part.as_ref().map(|facts| (facts.part, facts.deal)) != Some((part, deal)) {
        let dealt = if deal.is_blocks() { String::new() } else { format!(" with --deal {deal}") };
        return Err(Error::Input(format!("{shown} is not part {part}{dealt}; choose another --out")));
    }
    let changes = plan.changes_of_experiment(own);
    // Where databases are is each machine's own affair.
    match changes.iter().find(|change| !change.starts_with("lab.dir was ")) {
        Some(change) => Err(Error::Input(format!("{shown} is of another experiment: {change}; choose another --out"))),
        None => Ok(()),
    }
}

/// Whether nothing is left to do in a part's folder.
fn is_complete(folder: &Path) -> Result<bool, Error> {
    match RunStatus::read(&ResultsFolder::at(folder)) {
        Err(ReadError::NotResults(_)) => Ok(false),
        status => Ok(status?.is_complete()),
    }
}
