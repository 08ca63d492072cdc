//! Numbers for people.

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: f64) -> String {
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
pub(crate) fn rate(per_s: f64) -> String {
    if per_s > 0.0 && per_s < 10.0 { format!("{per_s:.1}") } else { grouped(per_s) }
}

/// A number that may be a small part of one: `0.0123`, `1.57`, `1,234`.
pub(crate) fn part_of_one(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        n if n < 0.1 => format!("{number:.4}"),
        n if n < 100.0 => format!("{number:.2}"),
        _ => grouped(number),
    }
}

/// Seconds as the reports print them: `10:23.66`, and `1:05:20.18` from an hour on.
pub(crate) fn clock(seconds: f64) -> String {
    let cents = (seconds * 100.0).round() as u64;
    let (minutes, cents) = (cents / 6000, cents % 6000);
    let rest = format!("{:02}.{:02}", cents / 100, cents % 100);
    match minutes / 60 {
        0 => format!("{minutes}:{rest}"),
        hours => format!("{hours}:{:02}:{rest}", minutes % 60),
    }
}

/// Half an interval over its value: `± 1.3 %`.
pub(crate) fn plus_minus(relative: f64) -> String {
    let percent = 100.0 * relative;
    if percent < 9.95 { format!("±{percent:.1}%") } else { format!("±{}%", grouped(percent)) }
}

/// Nanoseconds in a unit that leaves three digits: `850 ns`, `1.24 µs`, `17.3 ms`.
pub(crate) fn duration(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 999.5 => return format!("{ns:.0} ns"),
        ns if ns < 999.5e3 => (ns / 1e3, "µs"),
        ns if ns < 999.5e6 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A number for an axis: `250 k`, `1.5 M`.
pub(crate) fn short(number: f64) -> String {
    let (value, unit) = match number.abs() {
        n if n < 1e3 => (number, ""),
        n if n < 1e6 => (number / 1e3, " k"),
        n if n < 1e9 => (number / 1e6, " M"),
        _ => (number / 1e9, " G"),
    };
    let text = format!("{value:.2}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The share that so many nines are, with as many digits as they need: `99.9 %` for 3.
pub(crate) fn percentile(nines: f64) -> String {
    let digits = (nines.ceil() as usize).saturating_sub(2);
    let text = format!("{:.*}", digits, 100.0 * (1.0 - 10f64.powf(-nines)));
    format!("{text} %")
}

/// Bytes in binary units, exact where they are round: `32 MiB`, `1.5 GiB`.
pub(crate) fn bytes(count: f64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (count, 0);
    while value >= 1024.0 && unit + 1 < units.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    let text = if value.fract() == 0.0 { format!("{value:.0}") } else { three_digits(value) };
    format!("{text} {}", units[unit])
}

/// Three digits, not counting those before the point if there are more.
pub(crate) fn three_digits(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands() {
        let given = [0.0, 7.0, 999.0, 1000.0, 1_234_567.4, -1234.0];
        assert_eq!(given.map(grouped), ["0", "7", "999", "1,000", "1,234,567", "-1,234"]);
        assert_eq!([0.0, 0.42, 12.4].map(rate), ["0", "0.4", "12"]);
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
        assert_eq!([0.0125, 0.2].map(plus_minus), ["±1.2%", "±20%"]);
    }
}
