//! Errors as people see them.

use std::io;
use std::path::{Path, PathBuf};

use kvdyno_experiment::FileError;
use kvdyno_model::text::{counted, counted_as, plain_of_same_length};
use kvdyno_report::ReportError;
use kvdyno_results::folder::ReadError;
use kvdyno_run::RunError;
use miette::{LabeledSpan, MietteDiagnostic, MietteHandlerOpts, NamedSource, Report, ReportHandler, Severity};

use crate::output::{tell_painted, without_commands};

/// The failure of a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input is wrong; nothing was touched.
    #[error("{0}")]
    Input(String),
    /// The experiment is wrong; nothing was touched.
    #[error("{error}")]
    Experiment {
        /// The reason, and where in the file.
        error: FileError,
        /// The file and its text, if it came from one.
        file: Option<(PathBuf, String)>,
    },
    /// A file could not be read or written.
    #[error("{what}: {cause}")]
    Io {
        /// The attempt, in words.
        what: String,
        /// Why not.
        cause: io::Error,
    },
    /// The databases do not fit; nothing was touched.
    #[error(transparent)]
    Space(#[from] kvdyno_plan::SpaceError),
    /// The lab could not work.
    #[error(transparent)]
    Lab(#[from] RunError),
    /// Results could not be read.
    #[error(transparent)]
    ResultsFolder(#[from] ReadError),
    /// A report could not be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The page could not be written into the results folder; the tables were printed.
    #[error("{error}; to have the page elsewhere: kvdyno report {} --out FOLDER", root.display())]
    NoPage {
        /// Which file, and why.
        error: ReportError,
        /// The results.
        root: PathBuf,
    },
    /// A worker could not begin.
    #[error(transparent)]
    Worker(#[from] kvdyno_worker::worker::WorkerError),
    /// Trials failed; their results were printed.
    #[error("{failed} of {ended} trials failed; the reasons are in the report")]
    Trials {
        /// Number of failed trials.
        failed: usize,
        /// Number of ended trials.
        ended: usize,
    },
    /// Adapters failed checks, these; how was printed.
    #[error("{0}")]
    Checks(String),
    /// A check could not be run.
    #[error(transparent)]
    Child(#[from] kvdyno_conformance::ChildError),
    /// Engines could not be installed; which and why was printed.
    #[error("{0} of {1} engines could not be installed")]
    NotInstalled(usize, usize),
    /// Something that a run left behind could not be removed; which and why was printed.
    #[error("{0} of {1} could not be removed")]
    NotCleaned(usize, usize),
    /// The user stopped it.
    #[error("interrupted; go on with: kvdyno {command} --resume {}", folder.display())]
    Interrupted {
        /// The results so far.
        folder: PathBuf,
        /// The command that goes on with them.
        command: &'static str,
    },
    /// A diff ended in *worse*; the cells were printed.
    #[error("{} worse", counted_as(*.0, "cell is", "cells are"))]
    Worse(usize),
    /// A diff cannot tell; the reasons were printed.
    #[error("cannot tell in {}", counted(*.0, "cell"))]
    CannotTell(usize),
}

/// Whether the results are at fault, rather than the system that should read them.
fn is_input(error: &ReadError) -> bool {
    !matches!(error, ReadError::Io { .. })
}

/// Lines of a file that are longer are not shown: the place in them would be lost on a screen.
const LONGEST_LINE: usize = 400;

/// `FILE:LINE:COLUMN: ` of a place in a line that is too long to be shown.
fn position_in_long_line(path: &Path, text: &str, start: usize) -> Option<String> {
    let before = text.get(..start)?;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count());
    let rest = text[start..].lines().next().map_or(0, |line| line.chars().count());
    let position = || format!("{}:{}:{}: ", path.display(), before.matches('\n').count() + 1, column + 1);
    (column + rest > LONGEST_LINE).then(position)
}

impl Error {
    /// An I/O error, with what was tried.
    pub fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let what = what.into();
        move |cause| Error::Io { what, cause }
    }

    /// See `main`.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Input(_) | Error::Experiment { .. } | Error::Space(_) | Error::Lab(RunError::Base(_)) => 2,
            Error::ResultsFolder(error) | Error::Report(ReportError::Read(error)) if is_input(error) => 2,
            Error::Report(ReportError::NoParquet) => 2,
            Error::Worse(_) => 3,
            Error::CannotTell(_) => 4,
            Error::Interrupted { .. } => 130,
            _ => 1,
        }
    }

    /// Prints it on standard error, with the place in the file where there is one.
    pub fn print(self) {
        // Lines are not wrapped: a path or a command that is broken cannot be copied.
        let options = || Box::new(MietteHandlerOpts::new().wrap_lines(false).build()) as Box<dyn ReportHandler>;
        // A second hook is refused, and the first is as good.
        let _ = miette::set_hook(Box::new(move |_| options()));
        let mut diagnostic = MietteDiagnostic::new(without_commands(&self.to_string())).with_severity(Severity::Error);
        let mut source = None;
        if let Error::Experiment { error, file: Some((path, text)) } = self
            && let Some(span) = error.span_in(&text)
        {
            match position_in_long_line(&path, &text, span.start) {
                Some(position) => diagnostic.message.insert_str(0, &position),
                None => {
                    diagnostic = diagnostic.with_label(LabeledSpan::at(span, "here"));
                    source = Some(NamedSource::new(
                        plain_of_same_length(&path.to_string_lossy()),
                        plain_of_same_length(&text),
                    ));
                }
            }
        }
        let report = Report::new(diagnostic);
        let report = match source {
            Some(source) => report.with_source_code(source),
            None => report,
        };
        tell_painted(format_args!("{report:?}"));
    }
}
