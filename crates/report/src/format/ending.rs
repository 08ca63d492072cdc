//! The end of a report on a terminal: its answer, which the last screen shows whole.

use kvdyno_model::text::{counted, plain};
use kvdyno_results::folder::ResultsFolder;

use super::Screen;
use super::table::{BOLD, painted};
use crate::document::{Document, command_word};
use crate::verdicts::{GroupAnswer, StudyAnswer};

/// Lines of the answer at the most: with the path of the page below, a terminal of 24 shows them all.
const MOST_LINES: usize = 14;

/// The verdicts in short, those that are decided first; what speaks against figures, as counts; and the commands
/// for more of it.
pub(crate) fn render(document: &Document<'_>, screen: Screen, results: &ResultsFolder) -> String {
    let answer = &document.answer;
    let legend = if answer.legend.is_empty() { String::new() } else { format!(" ({})", answer.legend) };
    let title = screen.broken(&format!("Answer{legend}"), "  ");
    let end: Vec<String> = answer.cannot_tell().into_iter().chain(counts(document)).collect();
    let end: Vec<String> = end.into_iter().map(|line| screen.broken(&line, "  ")).chain(commands(results)).collect();
    let space = MOST_LINES.saturating_sub(rows(std::slice::from_ref(&title), screen) + rows(&end, screen));
    let verdicts = verdicts(answer, screen, space);
    let lines = [painted(&title, BOLD, screen)].into_iter().chain(verdicts).chain(end);
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// The verdicts in at most `space` rows: in sentences, or else the order of each group, or of as many as there is space
/// for.
fn verdicts(answer: &StudyAnswer, screen: Screen, space: usize) -> Vec<String> {
    let broken = |line: String| screen.broken(&line, "  ");
    let is_single = answer.groups.len() == 1;
    let sentences = |group: &GroupAnswer| -> Vec<String> {
        let title = format!("{}:", group.title);
        let title = Some(title).filter(|_| !is_single && !group.sentences.is_empty());
        title.into_iter().chain(group.sentences.iter().map(|one| format!("- {one}"))).map(broken).collect()
    };
    let sentences: Vec<String> = answer.groups.iter().flat_map(sentences).collect();
    let orders: Vec<String> =
        answer.groups.iter().map(|group| broken(format!("{}: {}", group.title, group.line))).collect();
    if !sentences.is_empty() && rows(&sentences, screen) <= space {
        return sentences;
    }
    if rows(&orders, screen) <= space {
        return orders;
    }
    let mut used = 1;
    let fits = |order: &&String| {
        used += rows(std::slice::from_ref(*order), screen);
        used <= space
    };
    let mut shown: Vec<String> = orders.iter().take_while(fits).cloned().collect();
    shown.push(format!("and {} more, above", orders.len() - shown.len()));
    shown
}

/// `2 failed trials, 20 doubts, 30 notes: above, and on the page`.
fn counts(document: &Document<'_>) -> Option<String> {
    let all = [("failed trial", document.failed), ("doubt", document.doubts.len()), ("note", document.notes.len())];
    let told: Vec<String> =
        all.into_iter().filter(|(_, count)| *count > 0).map(|(name, count)| counted(count, name)).collect();
    (!told.is_empty()).then(|| format!("{}: above, and on the page", told.join(", ")))
}

/// The commands that print more of it, and repeat it.
fn commands(results: &ResultsFolder) -> [String; 2] {
    let more = format!("more tables: kvdyno report {} --tables all", command_word(results.root()));
    let repeat = format!("again: kvdyno run {}", command_word(&results.experiment_file()));
    [more, repeat].map(|line| plain(&line))
}

/// The rows that lines take on a screen.
fn rows(lines: &[String], screen: Screen) -> usize {
    let of_line = |line: &str| line.chars().count().div_ceil(screen.columns()).max(1);
    lines.iter().flat_map(|line| line.split('\n')).map(of_line).sum()
}
