//! Progress on the terminal: the cells as a table that is redrawn, and below it the running trial, its current rate,
//! and the time left of the trial and of the plan. If standard error is no terminal, or one that cannot redraw lines,
//! each ended trial prints a line.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use kvdyno_experiment::LabSection;
use kvdyno_model::text::short_rate;
use kvdyno_report::Screen;
use kvdyno_results::{Phase, TrialKey, TrialOutcome, TrialResult};
use kvdyno_run::{Live, Progress};
use rustix::termios::tcgetwinsize;

use super::cells::{LiveCells, cut};
use super::words::{doing, position, times, what};
use crate::output::{can_draw, tell, without_commands};

/// Draws what the lab tells.
pub struct Terminal {
    drawing: Option<Drawing>,
    /// Trials that have ended, now and before.
    ended: usize,
    count: usize,
}

/// The lines that are drawn anew.
struct Drawing {
    all: MultiProgress,
    table: ProgressBar,
    bar: ProgressBar,
    cells: LiveCells,
    /// Names of the trials under way, by number: several if they are measured together.
    names: Vec<(u32, String)>,
}

const STEPS: u64 = 1000;
/// Lines of the terminal that the table leaves to others: the two beneath it, and messages above.
const OTHER_LINES: usize = 6;
/// Columns of the bar, with the space behind it.
const BAR: usize = 13;
/// Columns and lines, if the terminal does not report its size.
const USUAL_SIZE: (usize, usize) = (80, 24);

impl Terminal {
    /// On standard error, for a run of an experiment with this section, which has these results so far.
    pub fn new(lab: &LabSection, results: &[TrialResult]) -> Self {
        let drawing = can_draw().then(|| Drawing::new(LiveCells::new(lab, results)));
        Terminal { drawing, ended: results.len(), count: 0 }
    }

    fn say(&self, line: &str) {
        match &self.drawing {
            // A terminal that cannot be written to gets nothing.
            Some(drawing) => drop(drawing.all.println(Screen { width: Some(size().0), colour: false }.fitted(line))),
            None => tell(line),
        }
    }

    /// Takes away what is drawn.
    pub fn finish(&self) {
        if let Some(Drawing { table, bar, .. }) = &self.drawing {
            bar.finish_and_clear();
            table.finish_and_clear();
        }
    }
}

impl Drawing {
    fn new(cells: LiveCells) -> Drawing {
        let style = |template: &str| {
            ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("━╸─")
        };
        let all = MultiProgress::new();
        let table = all.add(ProgressBar::new(1).with_style(style("{msg}")));
        let bar = all.add(ProgressBar::new(STEPS).with_style(style("{prefix:.bold}\n{bar:12.cyan/dim} {msg}")));
        Drawing { all, table, bar, cells, names: Vec::new() }
    }

    /// Says which trial the line beneath is about.
    fn name(&self, name: &str) {
        self.bar.set_prefix(without_commands(&cut(name, size().0 - 1)));
    }

    fn draw(&self) {
        let (width, height) = size();
        // A line as wide as the terminal would begin the next.
        let lines = self.cells.lines(width - 1, height.saturating_sub(OTHER_LINES));
        self.table.set_message(without_commands(&lines.join("\n")));
    }
}

/// Columns and lines of the terminal.
fn size() -> (usize, usize) {
    let size = tcgetwinsize(std::io::stderr()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
    size.map_or(USUAL_SIZE, |size| (size.ws_col.into(), size.ws_row.into()))
}

/// As many of these words as fit; the first is cut if it is too long.
fn fitting(words: &[String], width: usize) -> String {
    let (first, others) =
        words.split_first().map_or((String::new(), &[][..]), |(first, others)| (cut(first, width), others));
    others.iter().fold(first, |line, more| {
        let longer = format!("{line}  ·  {more}");
        if longer.chars().count() <= width { longer } else { line }
    })
}

impl Progress for Terminal {
    fn begin(&mut self, trial: &TrialKey, index: usize, count: usize) {
        self.count = count;
        if let Some(drawing) = &mut self.drawing {
            drawing.cells.begin(trial);
            drawing.draw();
            drawing.bar.set_position(0);
            let name = format!("{} {}  {}", position(index + 1, count), trial.engine, what(trial));
            drawing.name(&name);
            drawing.names.push((trial.number, name));
            drawing.bar.set_message("");
        }
    }

    fn live(&mut self, live: &Live) {
        let Some(drawing) = &mut self.drawing else { return };
        drawing.cells.live(live);
        drawing.draw();
        if let Some((_, name)) = drawing.names.iter().find(|(number, _)| *number == live.trial.number) {
            drawing.name(name);
        }
        if let Some(fraction) = live.fraction {
            drawing.bar.set_position((fraction * STEPS as f64) as u64);
        }
        drawing.bar.set_message(fitting(&[times(live), doing(live)], size().0 - BAR - 1));
    }

    fn end(&mut self, result: &TrialResult) {
        self.ended += 1;
        if let Some(drawing) = &mut self.drawing {
            drawing.cells.end(result);
            drawing.names.retain(|(number, _)| *number != result.trial.number);
            drawing.draw();
        }
        let name = format!("{} {:<16} {}", position(self.ended, self.count), result.trial.engine, what(&result.trial));
        let result = match &result.outcome {
            TrialOutcome::Failed(failure) => format!("FAILED: {}", failure.reason),
            // The table has it.
            TrialOutcome::Finished if self.drawing.is_some() => return,
            TrialOutcome::Finished if result.trial.phase == Phase::Load => {
                format!("{:.2} s, {}/s written", result.os.wall_s, short_rate(result.writes_per_s()))
            }
            TrialOutcome::Finished => [("read", result.reads_per_s()), ("written", result.writes_per_s())]
                .iter()
                .filter(|(_, records)| *records > 0.0)
                .map(|(verb, records)| format!("{}/s {verb}", short_rate(*records)))
                .collect::<Vec<_>>()
                .join(", "),
        };
        self.say(&format!("{name:<58} {result}"));
    }

    fn note(&mut self, text: &str) {
        self.say(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_left_out_rather_than_broken() {
        let words = ["trial 0:30 left, all 10:00 left".to_owned(), "read 1.50 M/s, p99 12.3 µs".to_owned()];
        assert_eq!(fitting(&words, 80), "trial 0:30 left, all 10:00 left  ·  read 1.50 M/s, p99 12.3 µs");
        assert_eq!(fitting(&words, 40), words[0]);
    }
}
