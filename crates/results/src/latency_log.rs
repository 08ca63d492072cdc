//! `latency.hlog`: HdrHistogram's interval log, version 2, a tagged line for each kind of operation of the measured
//! part. Values are nanoseconds.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag};
use hdrhistogram::serialization::{Deserializer, V2Serializer};

use crate::{OpKind, files};

/// The latencies of a trial by kind of operation, nanoseconds.
pub type LatencyLog = BTreeMap<OpKind, Histogram<u64>>;

/// The log's name in the folder of a trial.
pub const FILE: &str = "latency.hlog";

/// Writes the log into the folder of a trial, for reports and for tools that read HdrHistogram logs.
///
/// # Errors
/// If the file cannot be written.
pub fn write(folder: &Path, histograms: impl Iterator<Item = (OpKind, Histogram<u64>)>) -> io::Result<()> {
    files::write_whole(&folder.join(FILE), &encode(histograms)?)
}

fn encode(histograms: impl Iterator<Item = (OpKind, Histogram<u64>)>) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let mut serializer = V2Serializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("latency, nanoseconds; one line for each kind of operation of the measured part")
        .with_max_value_divisor(1.0)
        .begin_log_with(&mut content, &mut serializer)?;
    for (kind, histogram) in histograms {
        log.write_histogram(&histogram, Duration::ZERO, Duration::ZERO, Tag::new(kind.name()))
            .map_err(|error| io::Error::other(format!("{error:?}")))?;
    }
    Ok(content)
}

/// Reads a log. Lines of one tag are merged; one without the tag of a kind is passed over.
///
/// # Errors
/// Says in words what is not as it should be.
pub fn decode(content: &[u8]) -> Result<LatencyLog, String> {
    let mut log = LatencyLog::new();
    for entry in IntervalLogIterator::new(content) {
        let LogEntry::Interval(line) = entry.map_err(|error| format!("{error:?}"))? else { continue };
        let named = |kind: &OpKind| line.tag().is_some_and(|tag| tag.as_str() == kind.name());
        let Some(kind) = OpKind::ALL.into_iter().find(named) else { continue };
        let bytes = BASE64_STANDARD.decode(line.encoded_histogram()).map_err(|error| error.to_string())?;
        refuse_length(&bytes)?;
        let histogram = Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| error.to_string())?;
        if histogram.sigfig() > DIGITS {
            return Err(format!("it has {} significant digits; results have {DIGITS}", histogram.sigfig()));
        }
        refuse_overflow(&histogram)?;
        match log.get_mut(&kind) {
            Some(merged) => merge(merged, &histogram)?,
            None => drop(log.insert(kind, histogram)),
        }
    }
    Ok(log)
}

/// Begins an uncompressed histogram of the format's second version.
const COOKIE: [u8; 4] = 0x1c84_9313u32.to_be_bytes();

/// Refuses a histogram that says that it is longer than it is: the reader would make room for what it says.
fn refuse_length(bytes: &[u8]) -> Result<(), String> {
    match bytes {
        [a, b, c, d, length @ ..] if [*a, *b, *c, *d] == COOKIE && length.len() >= 4 => {
            let said = u32::from_be_bytes([length[0], length[1], length[2], length[3]]);
            let is_so = usize::try_from(said).is_ok_and(|said| said <= bytes.len());
            if is_so { Ok(()) } else { Err(format!("it says that it has {said} bytes, and has fewer")) }
        }
        _ => Err("it does not begin as a histogram of version 2 without compression".to_owned()),
    }
}

/// Significant digits of the latencies in results, at the most.
const DIGITS: u8 = 3;

/// Refuses counts that together are more than can be counted: the histogram adds them up whenever it is asked.
fn refuse_overflow(histogram: &Histogram<u64>) -> Result<(), String> {
    let (mut value, mut sum, last) = (0, 0u64, histogram.max());
    loop {
        sum = sum
            .checked_add(histogram.count_at(value))
            .ok_or_else(|| "its counts together are more than can be counted".to_owned())?;
        let next = histogram.next_non_equivalent(value);
        if next <= value || next > last {
            return Ok(());
        }
        value = next;
    }
}

/// Adds the counts of one histogram to another, whatever their bounds are.
///
/// # Errors
/// If a value of the one cannot be held by the other.
pub fn merge(into: &mut Histogram<u64>, other: &Histogram<u64>) -> Result<(), String> {
    if into.len().checked_add(other.len()).is_none() {
        return Err("the counts of all together are more than can be counted".to_owned());
    }
    into.auto(true);
    into.add(other).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: &[u64]) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).unwrap();
        values.iter().for_each(|value| histogram.record(*value).unwrap());
        histogram
    }

    #[test]
    fn what_is_written_is_read() {
        let content =
            encode([(OpKind::Get, histogram(&[900, 1000])), (OpKind::Put, histogram(&[5_000_000]))].into_iter())
                .unwrap();
        let log = decode(&content).unwrap();
        assert_eq!(log.keys().collect::<Vec<_>>(), [&OpKind::Get, &OpKind::Put]);
        assert_eq!(log[&OpKind::Get], histogram(&[900, 1000]));
        assert_eq!(log[&OpKind::Put], histogram(&[5_000_000]));
    }

    #[test]
    fn what_is_not_a_log_is_refused() {
        let mut content = encode([(OpKind::Get, histogram(&[900]))].into_iter()).unwrap();
        content.truncate(content.len() - 9);
        assert!(decode(&content).is_err());
        assert!(decode(b"Tag=get,0,0,1,!!!\n").is_err());
        assert_eq!(decode(b"").unwrap(), LatencyLog::new());
    }

    #[test]
    fn a_histogram_that_says_that_it_is_longer_is_refused() {
        let content = encode([(OpKind::Get, histogram(&[900]))].into_iter()).unwrap();
        let text = String::from_utf8(content).unwrap();
        let (before, encoded) = text.trim_end().rsplit_once(',').unwrap();
        let mut bytes = BASE64_STANDARD.decode(encoded).unwrap();
        bytes[4] = 0x40;
        let error = decode(format!("{before},{}\n", BASE64_STANDARD.encode(&bytes)).as_bytes()).unwrap_err();
        assert!(error.starts_with("it says that it has 1073741"), "{error}");
    }

    /// Each would take fifty megabytes.
    #[test]
    fn histograms_of_more_digits_than_results_have_are_refused() {
        let fine = Histogram::<u64>::new(5).unwrap();
        let error = decode(&encode([(OpKind::Get, fine)].into_iter()).unwrap()).unwrap_err();
        assert_eq!(error, "it has 5 significant digits; results have 3");
    }

    #[test]
    fn counts_that_cannot_be_added_up_are_refused() {
        // The log has room for 63 bits of each.
        let many = |values: &[u64]| {
            let mut histogram = Histogram::<u64>::new(3).unwrap();
            values.iter().for_each(|value| histogram.record_n(*value, i64::MAX as u64).unwrap());
            (OpKind::Get, histogram)
        };
        assert!(decode(&encode([many(&[900]), many(&[5000])].into_iter()).unwrap()).is_ok());
        for too_many in [vec![many(&[900, 5000, 90_000])], vec![many(&[900]), many(&[900]), many(&[900])]] {
            let error = decode(&encode(too_many.into_iter()).unwrap()).unwrap_err();
            assert!(error.contains("more than can be counted"), "{error}");
        }
    }

    #[test]
    fn histograms_of_other_bounds_are_merged() {
        let mut merged = Histogram::new_with_bounds(1, 1000, 3).unwrap();
        merged.record(10).unwrap();
        merge(&mut merged, &histogram(&[1 << 40])).unwrap();
        assert_eq!((merged.len(), merged.min()), (2, 10));
        assert!(merged.max() >= 1 << 40);
    }
}
