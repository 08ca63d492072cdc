//! Standard output and standard error. The reader may go away before the end, as `head` does: that ends no run and is
//! no failure. Escape sequences in others' texts never reach a terminal.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write, stderr, stdout};

use anstream::{AutoStream, ColorChoice};
use kvdyno_model::text::plain;
use kvdyno_report::Screen;

use crate::error::Error;

/// Prints the command's result on standard output, unless its reader has gone.
///
/// # Errors
/// If it cannot be printed though it is read, such as to a full storage.
pub fn print(text: &str) -> Result<(), Error> {
    print_painted(&without_commands(text))
}

/// The same for lines of columns, broken where they would not fit the terminal.
pub fn print_columns(text: &str) -> Result<(), Error> {
    print(&screen().hanging(text))
}

/// Prints a value as indented JSON.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(value).map_err(kvdyno_report::ReportError::from)?;
    print(&(text + "\n"))
}

/// The same for text that has the terminal's own codes, and in which nothing else is a command.
pub fn print_painted(text: &str) -> Result<(), Error> {
    let mut out = stdout().lock();
    unless_left(out.write_all(text.as_bytes()).and_then(|()| out.flush())).map_err(Error::io("cannot print"))
}

/// Reports progress on standard error. Errors in writing are ignored, and the work goes on.
pub fn tell(line: impl Display) {
    tell_painted(without_commands(&line.to_string()));
}

/// The same for text that has the terminal's own codes.
pub fn tell_painted(line: impl Display) {
    let _ = writeln!(stderr(), "{line}");
}

/// Lines in which nothing is a terminal's command.
pub fn without_commands(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(plain).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The screen of a report on standard output. `NO_COLOR`, `CLICOLOR_FORCE` and `TERM` decide about colours, and
/// `COLUMNS` about the width where there is no terminal to ask.
pub fn screen() -> Screen {
    let out = stdout();
    let colour = AutoStream::choice(&out) != ColorChoice::Never;
    let of_terminal = || rustix::termios::tcgetwinsize(&out).ok().map(|size| usize::from(size.ws_col));
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    let width = if out.is_terminal() { of_terminal().or_else(told) } else { told() };
    Screen { width: width.filter(|columns| *columns > 0), colour }
}

/// Whether standard error is a terminal on which a line can be drawn anew.
pub fn can_draw() -> bool {
    stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn unless_left(printed: io::Result<()>) -> io::Result<()> {
    match printed {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}
