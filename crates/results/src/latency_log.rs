//! `latency.hlog`: HdrHistogram's interval log, compressed version 2, a tagged line for each kind of operation of the
//! measured part. Values are nanoseconds. Logs that are not compressed, of older runs, are read too.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};

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
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("latency, nanoseconds; one line for each kind of operation of the measured part")
        .with_max_value_divisor(1.0)
        .begin_log_with(&mut content, &mut serializer)?;
    for (kind, histogram) in histograms {
        log.write_histogram(&histogram, Duration::ZERO, Duration::ZERO, Tag::new(kind.word()))
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
    let mut left = MOST_UNPACKED;
    for entry in IntervalLogIterator::new(content) {
        let LogEntry::Interval(line) = entry.map_err(|error| format!("{error:?}"))? else { continue };
        let named = |kind: &OpKind| line.tag().is_some_and(|tag| tag.as_str() == kind.word());
        let Some(kind) = OpKind::ALL.iter().copied().find(named) else { continue };
        let bytes = BASE64_STANDARD.decode(line.encoded_histogram()).map_err(|error| error.to_string())?;
        let bytes = unpacked(bytes, &mut left)?;
        refuse_header(&bytes)?;
        let histogram = Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| error.to_string())?;
        refuse_overflow(&histogram)?;
        match log.get_mut(&kind) {
            Some(merged) => merge(merged, &histogram)?,
            None => drop(log.insert(kind, histogram)),
        }
    }
    Ok(log)
}

/// Begins a histogram of the format's second version, and one that is compressed.
const COOKIE: u32 = 0x1c84_9313;
const COMPRESSED_COOKIE: u32 = 0x1c84_9314;

/// Limit of the unpacked size of all compressed histograms of a log, bytes. It holds thirty of the longest, and a trial
/// has one for each kind of operation. The limit is needed because a few packed bytes can unpack to any length.
const MOST_UNPACKED: u64 = 16 << 20;

/// Unpacks a histogram if it is compressed. Subtracts the bytes that it unpacks from `left`.
fn unpacked(bytes: Vec<u8>, left: &mut u64) -> Result<Vec<u8>, String> {
    if word(&bytes, 0) != Some(COMPRESSED_COOKIE) {
        return Ok(bytes);
    }
    let packed = said_length(&bytes, 8)?;
    let mut histogram = Vec::new();
    let decoder = ZlibDecoder::new(&bytes[8..8 + packed]);
    decoder.take(*left + 1).read_to_end(&mut histogram).map_err(|error| format!("it cannot be unpacked: {error}"))?;
    *left = left
        .checked_sub(histogram.len() as u64)
        .ok_or_else(|| format!("its histograms are longer than {MOST_UNPACKED} bytes when they are unpacked"))?;
    Ok(histogram)
}

/// Refuses a histogram whose header states more bytes than follow, or more digits than results have: the reader would
/// allocate memory for what the header states.
fn refuse_header(bytes: &[u8]) -> Result<(), String> {
    if word(bytes, 0) != Some(COOKIE) {
        return Err("it does not begin as a histogram of version 2".to_owned());
    }
    said_length(bytes, HEADER)?;
    match word(bytes, DIGITS_AT) {
        Some(digits) if digits > DIGITS => Err(format!("it has {digits} significant digits; results have {DIGITS}")),
        _ => Ok(()),
    }
}

/// Bytes before a histogram's counts, and where among them the number of significant digits is.
const HEADER: usize = 40;
const DIGITS_AT: usize = 12;

/// The length of what follows a header of `header` bytes, as it says itself.
fn said_length(bytes: &[u8], header: usize) -> Result<usize, String> {
    let said = word(bytes, 4).and_then(|said| usize::try_from(said).ok()).unwrap_or(usize::MAX);
    match said <= bytes.len().saturating_sub(header) {
        true => Ok(said),
        false => Err(format!("it says that it has {said} bytes, and has fewer")),
    }
}

/// Four bytes as the number that they are, the highest first.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

/// Significant digits of the latencies in results, at the most.
const DIGITS: u32 = 3;

/// Refuses a histogram whose counts overflow when they are added up, as the histogram does whenever it is asked.
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

/// Adds the counts of one histogram to another, even if their bounds differ.
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
    use std::io::Write;

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

    /// A line of the log of one value, with what `change` makes of its histogram.
    fn with_histogram(change: impl Fn(Vec<u8>) -> Vec<u8>) -> String {
        let text = String::from_utf8(encode([(OpKind::Get, histogram(&[900]))].into_iter()).unwrap()).unwrap();
        let (before, encoded) = text.trim_end().rsplit_once(',').unwrap();
        format!("{before},{}\n", BASE64_STANDARD.encode(change(BASE64_STANDARD.decode(encoded).unwrap())))
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(bytes).unwrap();
        let packed = packed.finish().unwrap();
        [&COMPRESSED_COOKIE.to_be_bytes()[..], &u32::try_from(packed.len()).unwrap().to_be_bytes(), &packed].concat()
    }

    /// The readers in Java, Python and JavaScript take no other.
    #[test]
    fn what_is_written_is_compressed() {
        with_histogram(|bytes| {
            assert_eq!(word(&bytes, 0), Some(COMPRESSED_COOKIE));
            assert_eq!(said_length(&bytes, 8), Ok(bytes.len() - 8));
            bytes
        });
    }

    #[test]
    fn logs_of_older_runs_are_read() {
        let plain = with_histogram(|bytes| unpacked(bytes, &mut 1000).unwrap());
        assert_eq!(decode(plain.as_bytes()).unwrap()[&OpKind::Get], histogram(&[900]));
    }

    #[test]
    fn a_histogram_that_says_that_it_is_longer_is_refused() {
        let long = |mut bytes: Vec<u8>| {
            bytes[4] = 0x40;
            bytes
        };
        let within = |bytes| packed(&long(unpacked(bytes, &mut 1000).unwrap()));
        for content in [with_histogram(long), with_histogram(within)] {
            let error = decode(content.as_bytes()).unwrap_err();
            assert!(error.starts_with("it says that it has 1073741"), "{error}");
        }
    }

    #[test]
    fn a_line_that_grows_without_end_is_refused() {
        let zeros = vec![0; usize::try_from(MOST_UNPACKED).unwrap() + 1];
        let bomb = with_histogram(|bytes| packed(&[unpacked(bytes, &mut 1000).unwrap(), zeros.clone()].concat()));
        assert!(bomb.len() < 32_000, "{}", bomb.len());
        let error = decode(bomb.as_bytes()).unwrap_err();
        assert_eq!(error, "its histograms are longer than 16777216 bytes when they are unpacked");
    }

    #[test]
    fn many_lines_that_grow_are_refused() {
        let longer = vec![0; 1 << 20];
        let line = with_histogram(|bytes| packed(&[unpacked(bytes, &mut 1000).unwrap(), longer.clone()].concat()));
        assert_eq!(decode(line.as_bytes()).unwrap()[&OpKind::Get], histogram(&[900]));
        let error = decode(line.repeat(16).as_bytes()).unwrap_err();
        assert!(error.contains("when they are unpacked"), "{error}");
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
