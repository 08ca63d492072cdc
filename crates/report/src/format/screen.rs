//! The screen that a report is printed on, and lines that fit it.

use kvdyno_model::text::plain;

/// The screen that a report for people is printed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// Columns of a terminal; absent where it is none. Then tables have at most 120, and remarks are not broken.
    pub width: Option<usize>,
    /// Whether it shows colours.
    pub colour: bool,
}

/// Columns of a table where nobody says how many fit.
const USUAL: usize = 120;

/// A terminal that says that it has fewer is taken to have these: no table fits less.
const NARROWEST: usize = 40;

impl Screen {
    /// Text for people, its lines broken where they would not fit a terminal.
    pub fn fitted(self, text: &str) -> String {
        let is_long = |line: &str| self.width.is_some() && line.chars().count() > self.columns();
        let line = |line: &str| if is_long(line) { self.broken(line, "  ") } else { plain(line) };
        text.split('\n').map(line).collect::<Vec<_>>().join("\n")
    }

    /// The same for lines of columns: a line that would not fit goes on beneath the beginning of its last column, which
    /// two spaces and more tell from what stands before it.
    pub fn hanging(self, text: &str) -> String {
        let line = |line: &str| {
            let columns = self.columns();
            if self.width.is_none() || line.chars().count() <= columns {
                return plain(line);
            }
            let column = line.trim_end().rfind("  ").map_or(0, |at| at + 2);
            let indent = line[..column].chars().count();
            // A line without columns, or with hardly any space beside them, goes on beneath the first.
            let (column, indent) = if column == 0 || indent * 2 > columns { (0, 2) } else { (column, indent) };
            let wrapped = wrapped(&words(&line[column..]), " ", columns - indent);
            format!("{}{}", plain(&line[..column]), wrapped.replace('\n', &format!("\n{}", " ".repeat(indent))))
        };
        text.split('\n').map(line).collect::<Vec<_>>().join("\n")
    }

    /// Columns that a table may have.
    pub(crate) fn columns(self) -> usize {
        self.width.map_or(USUAL, |width| width.max(NARROWEST))
    }

    /// A line, broken where it would not fit a terminal; all but its first part indented.
    pub(crate) fn broken(self, line: &str, indent: &str) -> String {
        match self.width {
            None => plain(line),
            Some(_) => {
                let lines = wrapped(&words(line), " ", self.columns().saturating_sub(indent.chars().count()));
                lines.replace('\n', &format!("\n{indent}"))
            }
        }
    }
}

/// Units that stand after a number and a space.
const UNITS: [&str; 12] = ["%", "ns", "µs", "ms", "s", "KiB", "MiB", "GiB", "TiB", "k", "M", "G"];

/// The words of a line. A number and its unit are one.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        let is_unit = UNITS.contains(&word.trim_end_matches([',', ';', ':', '.', ')']));
        match words.last_mut().filter(|last| is_unit && last.ends_with(|c: char| c.is_ascii_digit())) {
            Some(number) => *number += &format!(" {word}"),
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// Joins words, beginning a new line where one grows longer than `width`. One that is longer by itself is broken at its
/// spaces; what has none stays whole.
pub(crate) fn wrapped(words: &[String], between: &str, width: usize) -> String {
    let mut text = String::new();
    let mut used = 0;
    for word in words {
        let length = word.chars().count();
        if used > 0 && used + between.chars().count() + length > width {
            text.push('\n');
            used = 0;
        } else if used > 0 {
            text.push_str(between);
            used += between.chars().count();
        }
        let shown = match length > width && word.contains(' ') {
            true => wrapped(&word.split(' ').map(str::to_owned).collect::<Vec<_>>(), " ", width),
            false => plain(word),
        };
        used += shown.rsplit('\n').next().map_or(0, |last| last.chars().count());
        text.push_str(&shown);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces_and_nowhere_else() {
        let screen = Screen { width: Some(40), colour: false };
        let line = "- lmdb: 1,234,567 of 9,876,543 reads were answered after 1,000 ms";
        assert_eq!(screen.broken(line, "  "), "- lmdb: 1,234,567 of 9,876,543 reads\n  were answered after 1,000 ms");
        assert_eq!(Screen::default().broken(line, "  "), line);
        assert_eq!(screen.fitted(&format!("after:  b\n{line}\n")).lines().count(), 3);
        assert_eq!(Screen::default().fitted(line), line);
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        let screen = Screen { width: Some(40), colour: false };
        let line = "lmdb@new reads much slower, that is by 27 % (-29 % to -25 %), 5 repeats";
        assert_eq!(screen.broken(line, ""), "lmdb@new reads much slower, that is by\n27 % (-29 % to -25 %), 5 repeats");
        assert_eq!(words("a 12.3 µs, b % s"), ["a", "12.3 µs,", "b", "%", "s"]);
    }

    #[test]
    fn the_last_column_goes_on_beneath_itself() {
        let screen = Screen { width: Some(40), colour: false };
        let line = "fillseq     load  write every record once, in the order of keys";
        let expected =
            "fillseq     load  write every record\n                  once, in the order of\n                  keys";
        assert_eq!(screen.hanging(line), expected);
        assert_eq!(screen.hanging("short     line"), "short     line");
        assert_eq!(Screen::default().hanging(line), line);
        let sentence = "A sentence without columns that is longer than the screen";
        assert_eq!(screen.hanging(sentence), "A sentence without columns that is\n  longer than the screen");
        let crowded = "a name that takes more than half of  the line that it stands in";
        assert!(screen.hanging(crowded).lines().all(|line| line.chars().count() <= 40));
    }

    #[test]
    fn what_is_too_long_by_itself_is_broken_at_its_spaces() {
        let words = ["one two three four".to_owned(), "five".to_owned(), "unbreakable-path".to_owned()];
        assert_eq!(wrapped(&words, " · ", 10), "one two\nthree four\nfive\nunbreakable-path");
    }
}
