//! Text for people and for files: numbers, rates, times and sizes, plurals, and words of others that are escaped.

use std::fmt::Display;

/// `1 thread`, `2 threads`.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, what: &str) -> String {
    counted_as(count, what, &format!("{what}s"))
}

/// `1 cell is`, `2 cells are`.
pub fn counted_as<N: Display + PartialEq + From<u8>>(count: N, one: &str, more: &str) -> String {
    format!("{count} {}", if count == N::from(1) { one } else { more })
}

/// `4 readers, 1 writer`; where nobody only reads, `5 clients`: those of a mix read, too.
pub fn threads(readers: u32, writers: u32) -> String {
    match (readers, writers) {
        (0, clients) => counted(clients, "client"),
        (readers, 0) => counted(readers, "reader"),
        (readers, writers) => format!("{}, {}", counted(readers, "reader"), counted(writers, "writer")),
    }
}

/// `once`, `5 times`.
pub fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// The words about those that are left out where at most so many of all are named; none where all are.
pub fn of_the_rest(all: usize, named: usize, words: impl FnOnce(usize) -> String) -> String {
    all.checked_sub(named).filter(|rest| *rest > 0).map(words).unwrap_or_default()
}

/// `* 1.2 M`: words behind their mark; the words alone if the mark is empty.
pub fn marked(mark: &str, words: &str) -> String {
    format!("{mark} {words}").trim_start().to_owned()
}

/// `Reads` of `reads`.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// `1234567` as `1,234,567`.
pub fn grouped(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < -0.5 { format!("-{text}") } else { text }
}

/// A rate: small ones keep a decimal, so that 0.4 a second is not 0.
pub fn rate(per_s: f64) -> String {
    if per_s > 0.0 && per_s < 10.0 { format!("{per_s:.1}") } else { grouped(per_s) }
}

/// A rate in few digits: `950`, `12.3 k`, `1.23 M`.
pub fn short_rate(per_s: f64) -> String {
    match per_s {
        r if r >= 1e6 => format!("{:.2} M", r / 1e6),
        r if r >= 1e3 => format!("{:.1} k", r / 1e3),
        r => format!("{r:.0}"),
    }
}

/// A number that may be a small part of one: `0.0123`, `1.57`, `1,234`.
pub fn part_of_one(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        n if n < 0.1 => format!("{number:.4}"),
        n if n < 100.0 => format!("{number:.2}"),
        _ => grouped(number),
    }
}

/// Seconds as the reports print them: `10:23.66`, and `1:05:20.18` from an hour on.
pub fn clock(seconds: f64) -> String {
    let cents = (seconds * 100.0).round() as u64;
    let (minutes, cents) = (cents / 6000, cents % 6000);
    let rest = format!("{:02}.{:02}", cents / 100, cents % 100);
    match minutes / 60 {
        0 => format!("{minutes}:{rest}"),
        hours => format!("{hours}:{:02}:{rest}", minutes % 60),
    }
}

/// Half an interval over its value: `± 1.3 %`.
pub fn plus_minus(relative: f64) -> String {
    let percent = 100.0 * relative;
    if percent >= 999.5 {
        return "±>999%".to_owned();
    }
    if percent < 9.95 { format!("±{percent:.1}%") } else { format!("±{}%", grouped(percent)) }
}

/// Nanoseconds in a unit that leaves three digits: `850 ns`, `1.24 µs`, `17.3 ms`.
pub fn duration(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 999.5 => return format!("{ns:.0} ns"),
        ns if ns < 999.5e3 => (ns / 1e3, "µs"),
        ns if ns < 999.5e6 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A number for an axis: `250 k`, `1.5 M`.
pub fn short(number: f64) -> String {
    let (value, unit) = match number.abs() {
        n if n < 1e3 => (number, ""),
        n if n < 1e6 => (number / 1e3, " k"),
        n if n < 1e9 => (number / 1e6, " M"),
        _ => (number / 1e9, " G"),
    };
    let text = format!("{value:.2}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The share with this number of nines, with as many digits as they need: `99.9 %` for 3.
pub fn percentile(nines: f64) -> String {
    let digits = (nines.ceil() as usize).saturating_sub(2);
    let text = format!("{:.*}", digits, 100.0 * (1.0 - 10f64.powf(-nines)));
    format!("{text} %")
}

/// Bytes in binary units, exact where they are round: `32 MiB`, `1.5 GiB`.
pub fn bytes(count: f64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (count, 0);
    while value >= 1024.0 && unit + 1 < units.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    let text = if value.fract() == 0.0 { format!("{value:.0}") } else { three_digits(value) };
    format!("{text} {}", units[unit])
}

/// Three digits, not counting those before the point if there are more.
pub fn three_digits(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

/// Seconds in whole minutes and hours: `2:03`, `1:02:03`.
pub fn short_clock(seconds: u64) -> String {
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
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

/// Text of files that others wrote, in which nothing is a terminal's command. Its places stay the same, so that each
/// character keeps its length.
pub fn plain_of_same_length(text: &str) -> String {
    let one = |c: char| match c {
        '\n' | '\t' => c,
        '\r' => ' ',
        c if c.is_control() && c.len_utf8() == 1 => '?',
        c if c.is_control() => '·',
        c => c,
    };
    text.chars().map(one).collect()
}

/// Text with a backslash before each of these characters.
pub fn escaped(text: &str, marks: &[char]) -> String {
    text.chars().flat_map(|c| marks.contains(&c).then_some('\\').into_iter().chain([c])).collect()
}

/// Markdown in which nothing is markup, ends a table's cell, or is a terminal's command.
pub fn markdown(text: &str) -> String {
    escaped(&plain(text), &['|', '*', '_', '`', '<', '>', '[', ']', '\\'])
}

/// XML in which nothing is markup, a terminal's command, or a character that XML has not.
pub fn xml(text: &str) -> String {
    let text = plain(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// JSON in which no control character of a string, which the format allows, is a terminal's command.
pub fn json(text: &str) -> String {
    let is_command = |c: char| c.is_control() && c != '\n';
    text.chars().map(|c| if is_command(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() }).collect()
}

/// The value of a label of OpenMetrics.
pub fn metrics_label(value: &str) -> String {
    escaped(value, &['\\', '"']).replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_from_more() {
        assert_eq!((counted(1_u32, "trial"), counted(0_usize, "trial")), ("1 trial".into(), "0 trials".into()));
        assert_eq!(counted_as(2_u64, "cell is", "cells are"), "2 cells are");
        assert_eq!((times(1), times(5)), ("once".into(), "5 times".into()));
        let rest = |all| of_the_rest(all, 5, |more| format!("; and {more} more"));
        assert_eq!([rest(4), rest(5), rest(7)], ["", "", "; and 2 more"]);
    }

    #[test]
    fn thousands() {
        let given = [0.0, 7.0, 999.0, 1000.0, 1_234_567.4, -1234.0];
        assert_eq!(given.map(grouped), ["0", "7", "999", "1,000", "1,234,567", "-1,234"]);
        assert_eq!([0.0, 0.42, 12.4].map(rate), ["0", "0.4", "12"]);
        assert_eq!([950.0, 12_345.0, 1.5e6].map(short_rate), ["950", "12.3 k", "1.50 M"]);
    }

    #[test]
    fn times_as_the_reports_print_them() {
        assert_eq!([0.0, 65.73, 623.66, 3919.999].map(clock), ["0:00.00", "1:05.73", "10:23.66", "1:05:20.00"]);
    }

    #[test]
    fn units() {
        let given = [0.0, 850.0, 999.9, 1240.0, 17_300_000.0, 2.5e9, 412_000.0];
        assert_eq!(given.map(duration), ["0 ns", "850 ns", "1.00 µs", "1.24 µs", "17.3 ms", "2.50 s", "412 µs"]);
        assert_eq!([0.0, 250.0, 250_000.0, 1.5e6, 1e9].map(short), ["0", "250", "250 k", "1.5 M", "1 G"]);
        assert_eq!([24.0, 33_554_432.0, 1.5e9].map(bytes), ["24 bytes", "32 MiB", "1.40 GiB"]);
        assert_eq!([0.0125, 0.2, 9.99, 12.4].map(plus_minus), ["±1.2%", "±20%", "±999%", "±>999%"]);
    }

    #[test]
    fn whole_seconds() {
        assert_eq!([30, 123, 3723].map(short_clock), ["0:30", "2:03", "1:02:03"]);
    }

    #[test]
    fn commands_are_pictures_of_themselves() {
        assert_eq!(plain("a\u{1b}[2J\u{9b}2J\u{7f}\0\u{202e}b\r\n\tc é"), "a␛[2J␦2J␡␀␦b   c é");
    }

    #[test]
    fn nothing_is_markup_where_it_is_escaped() {
        assert_eq!(markdown("a|b_c\u{1b}"), "a\\|b\\_c␛");
        assert_eq!(xml("<a & \"b\">\u{ffff}"), "&lt;a &amp; &quot;b&quot;&gt;\u{fffd}");
        assert_eq!(json("\u{9b}\n"), "\\u009b\n");
        assert_eq!(metrics_label("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }

    #[test]
    fn words_of_others_move_no_cursor_and_keep_their_places() {
        let (text, plain) = ("a\u{1b}[2J\r\u{9b}é\n", "a?[2J ·é\n");
        assert_eq!(plain_of_same_length(text), plain);
        assert_eq!(text.len(), plain.len());
    }
}
