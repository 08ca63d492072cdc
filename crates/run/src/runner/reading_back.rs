//! Databases after trials: read back by fresh processes.

use std::fs;
use std::path::PathBuf;

use kvdyno_model::Audit;
use kvdyno_plan::PlannedTrial;
use kvdyno_plan::design::databases_at_once;
use kvdyno_results::Phase;

use super::{RunError, Runner, failed};
use crate::audit::{self, Audited, ProcessAudit};
use crate::databases::Slot;
use crate::progress::Progress;

impl<'a> Runner<'a> {
    /// Reads back in fresh processes what was written into the databases of trials of a step, where that is still to be
    /// done. Trials with lost writes fail by that. False if the user interrupted.
    pub(super) fn audit(&mut self, trials: &[&PlannedTrial], progress: &mut dyn Progress) -> Result<bool, RunError> {
        let audits = trials.iter().filter_map(|planned| self.audit_of(planned).transpose());
        let audits: Vec<ProcessAudit<'a>> = audits.collect::<Result<_, _>>()?;
        for group in audits.chunks(self.audits_at_once(&audits)) {
            let mut is_interrupted = false;
            for (audit, audited) in group.iter().zip(self.executor.audit(group)) {
                match audited.or_else(failed(cannot_read_back(&audit.slot)))? {
                    Some(audited) => self.note_audited(audit, &audited, progress)?,
                    None => is_interrupted = true,
                }
            }
            if is_interrupted {
                return Ok(false);
            }
        }
        if !audits.is_empty() {
            let folder = self.auditing();
            fs::remove_dir_all(&folder).or_else(failed(format!("cannot remove {}", folder.display())))?;
        }
        Ok(true)
    }

    /// The folder for the files of the processes that read back.
    fn auditing(&self) -> PathBuf {
        self.folder.root().join("auditing")
    }

    /// The part of a trial's database that is still to be read back; `None` if nothing is.
    fn audit_of(&self, planned: &PlannedTrial) -> Result<Option<ProcessAudit<'a>>, RunError> {
        let (lab, setup, slot) = (&self.checked.experiment.lab, self.setup(planned), self.slot(planned));
        if lab.audit == Audit::Off || setup.volatile {
            return Ok(None);
        }
        let parts = slot.to_be_audited().or_else(failed(cannot_read_back(&slot)))?;
        let Some(load) = self.load_of(planned).filter(|_| !parts.is_empty()) else { return Ok(None) };
        let trial = planned.key.number;
        Ok(Some(ProcessAudit {
            setup,
            lab,
            settings: self.experiment(planned).engine_settings(),
            trial,
            load,
            ledger: slot.ledger(0).or_else(failed(cannot_read_back(&slot)))?,
            slot,
            parts,
            value_seed: self.value_seed,
            folder: self.auditing().join(trial.to_string()),
            register: self.register.clone(),
            stop: self.stop,
        }))
    }

    /// How many of these databases are read back at once.
    fn audits_at_once(&self, audits: &[ProcessAudit<'a>]) -> usize {
        let loads: Vec<&PlannedTrial> = audits.iter().map(|audit| audit.load).collect();
        let Some(first) = loads.first() else { return 1 };
        databases_at_once(self.experiment(first), &loads, &self.design_machine(first))
    }

    /// Saves what was found in a database.
    fn note_audited(
        &mut self,
        audit: &ProcessAudit<'a>,
        Audited { finding, survivors }: &Audited,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        for (index, part) in audit.parts.iter().enumerate() {
            let Some(result) = self.results.get_mut(&part.trial) else { continue };
            let failed = audit::note(result, finding.as_ref().map(|finding| finding.get(index)));
            // It is unknown which part left the survivors: the last trial's result reports them.
            result.notes.extend(survivors.clone().filter(|_| index + 1 == audit.parts.len()));
            let result = result.clone();
            self.save(&result)?;
            let Some(reason) = failed else { continue };
            progress.note(&format!("{}: trial {} has failed: {reason}", audit.setup.label, part.trial));
            if result.trial.phase == Phase::Load {
                self.unusable.insert(audit.load.origin, format!("the load failed: {reason}"));
            }
        }
        audit.slot.end_audit().or_else(failed(cannot_read_back(&audit.slot)))
    }
}

fn cannot_read_back(slot: &Slot) -> String {
    format!("cannot read back what is in {}", slot.database().display())
}
