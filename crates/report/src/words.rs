//! Trials and threads in words, and words of others made harmless.

use kvdyno_results::{Phase, TrialKey};

/// A trial for people: `rocksdb readwhilewriting, 4 readers, repeat 2`.
pub(crate) fn title(trial: &TrialKey) -> String {
    let threads = match trial.phase {
        Phase::Load => String::new(),
        Phase::Run => format!(", {}", threads(trial.readers, trial.writers)),
    };
    let processes = if trial.processes() > 1 { " as processes" } else { "" };
    format!("{} {}{threads}{processes}, repeat {}", trial.engine, trial.workload, trial.repeat)
}

/// `4 readers, 1 writer`; where nobody only reads, `5 clients`: those of a mix read, too.
pub(crate) fn threads(readers: u32, writers: u32) -> String {
    match (readers, writers) {
        (0, clients) => counted(clients, "client"),
        (readers, 0) => counted(readers, "reader"),
        (readers, writers) => format!("{}, {}", counted(readers, "reader"), counted(writers, "writer")),
    }
}

/// `1 thread`, `2 threads`.
pub(crate) fn counted(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// An engine's words, or another user's, as they can be printed: what would move the cursor, colour or turn around what
/// follows stands there as a picture of itself, `␛[2J`; what would end the line is a space.
pub fn plain(text: &str) -> String {
    text.chars().map(shown).collect()
}

fn shown(c: char) -> char {
    match c {
        '\t'..='\r' => ' ',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('␦'),
        '\u{7f}' => '␡',
        // Commands of one byte more, and those that turn the direction of writing.
        c if c.is_control() => '␦',
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '␦',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_pictures_of_themselves() {
        assert_eq!(plain("a\u{1b}[2J\u{9b}2J\u{7f}\0\u{202e}b\r\n\tc é"), "a␛[2J␦2J␡␀␦b   c é");
    }
}
