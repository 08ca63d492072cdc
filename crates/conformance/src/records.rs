//! The records that checks write, and whether what comes back is right.

use std::ops::Range;
use std::time::{Duration, Instant};

use kvdyno_dataset::{ValueFault, Values};
use kvdyno_engine::{Answer, EngineError, Session, abi};

use crate::finding::{During, Finding, ensure, wrong};
use crate::progress::answered;

/// Keys in the order of their ids, and values that contain their id and version.
#[derive(Clone, Debug)]
pub struct Records {
    key_size: usize,
    values: Values,
}

impl Records {
    /// Values of `value_size` bytes, or as many as the engine's values can have.
    pub fn fitting(table: &abi::Engine, value_size: u64) -> Records {
        let most = |declared: u64| if declared == 0 { u64::MAX } else { declared };
        let key_size = 16.min(most(table.max_key_size)).max(table.min_key_size) as usize;
        Records { key_size, values: Values::new(value_size.min(most(table.max_value_size)), 0.5, 1) }
    }

    /// The key of an id.
    pub fn key(&self, id: u64) -> Vec<u8> {
        format!("{id:0width$}", width = self.key_size).into_bytes()
    }

    /// The value of an id at a version.
    pub fn value(&self, id: u64, version: u64) -> Vec<u8> {
        let mut value = vec![0; self.values.size()];
        self.values.write(id, version, &mut value);
        value
    }

    /// Stores a record.
    ///
    /// # Errors
    /// The engine's error.
    pub fn put(&self, session: &mut Session<'_>, id: u64, version: u64) -> Result<(), Finding> {
        let put = session.put(&self.key(id), &self.value(id, version));
        answered();
        put.during("put")
    }

    /// Stores the records of some ids, all at the same version.
    ///
    /// # Errors
    /// The engine's error.
    pub fn put_all(
        &self,
        session: &mut Session<'_>,
        ids: impl IntoIterator<Item = u64>,
        version: u64,
    ) -> Result<(), Finding> {
        ids.into_iter().try_for_each(|id| self.put(session, id, version))
    }

    /// Stores the records of some ids in one batch, all at the same version.
    ///
    /// # Errors
    /// The engine's error.
    pub fn write_all(
        &self,
        session: &mut Session<'_>,
        ids: impl IntoIterator<Item = u64>,
        version: u64,
    ) -> Result<(), EngineError> {
        let steps: Vec<_> = ids.into_iter().map(|id| (self.key(id), self.value(id, version))).collect();
        let steps: Vec<_> = steps.iter().map(|(key, value)| (&key[..], Some(&value[..]))).collect();
        let written = session.write(&steps);
        answered();
        written
    }

    /// Checks that none of a group of records is older than one that was read before it, which somebody else gives one
    /// more version at a time, all by one `step`. The order in which a faulty engine goes through a group is unknown,
    /// so they are read in both orders.
    ///
    /// # Errors
    /// If one is: then the step was seen half done.
    pub fn expect_whole(&self, session: &mut Session<'_>, count: u64, rounds: u64, step: &str) -> Result<(), Finding> {
        for round in 0..rounds {
            let mut newest = 0;
            for index in 0..count {
                let id = if round % 2 == 0 { index } else { count - 1 - index };
                let version = self.version(session, id)?;
                ensure!(
                    version >= newest,
                    "after a record of {step} {newest} another one of the same {step} had version {version}"
                );
                newest = version;
            }
        }
        Ok(())
    }

    /// Replaces records four times, or as often as two seconds allow: an engine may be slow beside a reader that holds
    /// on to something.
    ///
    /// # Errors
    /// The engine's error.
    pub fn replace_for_a_while(&self, session: &mut Session<'_>, ids: Range<u64>) -> Result<(), Finding> {
        let until = Instant::now() + Duration::from_secs(2);
        let puts = (2..6).flat_map(|version| ids.clone().map(move |id| (id, version)));
        puts.take_while(|_| Instant::now() < until).try_for_each(|(id, version)| self.put(session, id, version))
    }

    /// The version of the record, which must be there and right to the last bit.
    ///
    /// # Errors
    /// The engine's error, or the mistake in the value.
    pub fn version(&self, session: &mut Session<'_>, id: u64) -> Result<u64, Finding> {
        match get(session, &self.key(id)).during("get")? {
            Answer::Miss => Err(wrong(format!("record {id} is missing"))),
            Answer::Hit(value) => self.version_of(id, value),
        }
    }

    /// The version that a value has, which must be right to the last bit.
    ///
    /// # Errors
    /// The mistake in it.
    pub fn version_of(&self, id: u64, value: &[u8]) -> Result<u64, Finding> {
        if !self.values.is_right(id, 0, value) {
            let (ValueFault::Wrong(how) | ValueFault::Torn(how) | ValueFault::Stale(how)) =
                self.values.fault(id, 0, value);
            return Err(wrong(how));
        }
        let version = value.get(8..16).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
        version.ok_or_else(|| Finding::NotApplicable("its values are too small to carry a version".to_owned()))
    }

    /// Checks that the record is there, at exactly this version.
    ///
    /// # Errors
    /// If it is not.
    pub fn expect(&self, session: &mut Session<'_>, id: u64, version: u64) -> Result<(), Finding> {
        match get(session, &self.key(id)).during("get")? {
            Answer::Hit(value) => self.expect_value(id, version, value),
            Answer::Miss => Err(wrong(format!("record {id} is missing"))),
        }
    }

    /// Checks that a value is that of the record at exactly this version.
    ///
    /// # Errors
    /// If it is not.
    pub fn expect_value(&self, id: u64, version: u64, value: &[u8]) -> Result<(), Finding> {
        match value == self.value(id, version) {
            true => Ok(()),
            false => match self.version_of(id, value) {
                Ok(actual) => Err(wrong(format!("record {id} has version {actual} instead of {version}"))),
                Err(finding) => Err(finding),
            },
        }
    }

    /// Checks that the records are there, all at this version.
    ///
    /// # Errors
    /// If one is not.
    pub fn expect_all(
        &self,
        session: &mut Session<'_>,
        ids: impl IntoIterator<Item = u64>,
        version: u64,
    ) -> Result<(), Finding> {
        ids.into_iter().try_for_each(|id| self.expect(session, id, version))
    }

    /// Checks that the record is not there.
    ///
    /// # Errors
    /// If it is.
    pub fn expect_missing(&self, session: &mut Session<'_>, id: u64) -> Result<(), Finding> {
        expect_missing(session, &self.key(id))
    }
}

/// A get that is counted.
fn get<'s>(session: &'s mut Session<'_>, key: &[u8]) -> Result<Answer<&'s [u8]>, EngineError> {
    let answer = session.get(key);
    answered();
    answer
}

/// Checks that `key` has exactly this value, or is not there if there is none.
pub(crate) fn expect_as(session: &mut Session<'_>, key: &[u8], value: Option<&Vec<u8>>) -> Result<(), Finding> {
    match value {
        Some(value) => expect(session, key, value),
        None => expect_missing(session, key),
    }
}

/// Checks that `key` has exactly this value.
pub(crate) fn expect(session: &mut Session<'_>, key: &[u8], value: &[u8]) -> Result<(), Finding> {
    match get(session, key).during("get")? {
        Answer::Hit(actual) if actual == value => Ok(()),
        Answer::Hit(actual) => {
            Err(wrong(format!("the value of {} is {}, not {}", show(key), show(actual), show(value))))
        }
        Answer::Miss => Err(wrong(format!("the key {} is missing", show(key)))),
    }
}

/// Checks that `key` is not there.
pub(crate) fn expect_missing(session: &mut Session<'_>, key: &[u8]) -> Result<(), Finding> {
    match get(session, key).during("get of a key that is not there")? {
        Answer::Miss => Ok(()),
        Answer::Hit(actual) => Err(wrong(format!("the key {} is there, with {}", show(key), show(actual)))),
    }
}

/// Bytes for people: the first ones, and their number.
pub(crate) fn show(bytes: &[u8]) -> String {
    match bytes.len() {
        0 => "nothing".to_owned(),
        size @ ..=24 => format!("\"{}\" ({size} bytes)", bytes.escape_ascii()),
        size => format!("\"{}…\" ({size} bytes)", bytes[..24].escape_ascii()),
    }
}
