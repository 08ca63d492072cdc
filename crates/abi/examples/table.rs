//! A sorted table in memory, with a log of its writes: the smallest engine that keeps its data.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::path::Path;
use std::sync::{Arc, RwLock};

use kvdyno_abi::prelude::*;

type Bytes = Arc<[u8]>;

/// An open database.
struct Table {
    records: RwLock<BTreeMap<Bytes, Bytes>>,
    log: File,
}

impl Engine for Table {
    const DESCRIPTION: Description = Description {
        capabilities: CAN_DELETE | CAN_SCAN | CAN_SCAN_REVERSE,
        durabilities: bits(&[DURABILITY_PROCESS]),
        ..Description::new(c"table", c"a sorted table in memory, with a log")
    };
    /// For an engine that is built in: `probe` answers it, and a library of the user's is refused.
    const BUILT_IN: Option<&'static str> = Some("0.1.0");
    type Session<'db> = TableSession<'db>;

    /// Each setting in the engine's words, or `Err(Error::unsupported(…))`.
    fn settings(_config: &Config, list: &mut Listing) -> Result<(), Error> {
        list.say("durability", "log", "each write goes to the OS at once, and is synced at close");
        list.say("cache", "table", "the setting bounds nothing: all records are in memory");
        list.say("write_buffer", "log", "the setting bounds nothing: no write waits");
        list.say("compression", "log", "none");
        list.say("files", "log", "table.data");
        Ok(())
    }

    fn open(folder: &Path, config: &Config) -> Result<Self, Error> {
        let log =
            File::options().read(true).append(true).create_new(config.create()).open(folder.join("table.data"))?;
        let table = Self { records: RwLock::default(), log };
        table.replay()?;
        Ok(table)
    }

    fn close(self) -> Result<(), Error> {
        Ok(self.log.sync_all()?)
    }

    fn session(&self, _host: Host) -> Result<TableSession<'_>, Error> {
        Ok(TableSession { table: self, lent: None })
    }
}

impl Table {
    /// Logs a put or a removal, does it, and says whether the key was there.
    fn write(&self, key: &[u8], value: Option<&[u8]>) -> Result<bool, Error> {
        let mut records = self.records.write().map_err(Error::new)?;
        let sizes = [key.len() as u64, value.map_or(REMOVED, |value| value.len() as u64)].map(u64::to_le_bytes);
        let end = self.log.metadata()?.len();
        if let Err(error) = (&self.log).write_all(&[&sizes.concat(), key, value.unwrap_or_default()].concat()) {
            self.log.set_len(end)?;
            return Err(error.into());
        }
        Ok(match value {
            Some(value) => records.insert(key.into(), value.into()),
            None => records.remove(key),
        }
        .is_some())
    }

    /// Does what is logged, and cuts off an incomplete write.
    fn replay(&self) -> Result<(), Error> {
        let (mut text, mut records) = (Vec::new(), self.records.write().map_err(Error::new)?);
        (&self.log).read_to_end(&mut text)?;
        let mut rest = &text[..];
        while let Some((key, value)) = entry(&mut rest) {
            match value {
                Some(value) => records.insert(key.into(), value.into()),
                None => records.remove(key),
            };
        }
        Ok(self.log.set_len((text.len() - rest.len()) as u64)?)
    }
}

/// The logged size of a removed value.
const REMOVED: u64 = u64::MAX;

/// Key and value of the next write; nothing if it is incomplete.
fn entry<'l>(rest: &mut &'l [u8]) -> Option<(&'l [u8], Option<&'l [u8]>)> {
    let mut log = *rest;
    let mut size = || Some(u64::from_le_bytes(log.split_off(..8)?.try_into().ok()?));
    let (key, value) = (size()?, size()?);
    let key = log.split_off(..key as usize)?;
    let value = if value == REMOVED { None } else { Some(log.split_off(..value as usize)?) };
    *rest = log;
    Some((key, value))
}

/// A thread's access, with the value that the last `get` lent out. It may borrow from its database.
struct TableSession<'db> {
    table: &'db Table,
    lent: Option<Bytes>,
}

impl<'db> Session for TableSession<'db> {
    type Cursor = TableCursor<'db>;

    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, Error> {
        self.lent = self.table.records.read().map_err(Error::new)?.get(key).cloned();
        Ok(self.lent.as_deref())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.table.write(key, Some(value)).map(|_| ())
    }

    fn remove(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.table.write(key, None)
    }

    fn cursor(&mut self) -> Result<TableCursor<'db>, Error> {
        Ok(TableCursor { table: self.table, at: None })
    }
}

/// It may borrow from the database, not from its session, which may be called while the cursor is open.
struct TableCursor<'db> {
    table: &'db Table,
    at: Option<(Bytes, Bytes)>,
}

impl TableCursor<'_> {
    /// To the first record of a range, or the last. Without one it stays where it was.
    fn go(&mut self, range: impl std::ops::RangeBounds<[u8]>, way: Direction) -> Result<Option<Record<'_>>, Error> {
        let records = self.table.records.read().map_err(Error::new)?;
        let mut range = records.range::<[u8], _>(range);
        let found = if way == Direction::Forward { range.next() } else { range.next_back() };
        let Some((key, value)) = found else { return Ok(None) };
        let (key, value) = self.at.insert((key.clone(), value.clone()));
        Ok(Some((key, value)))
    }
}

impl Cursor for TableCursor<'_> {
    fn seek(&mut self, key: Option<&[u8]>, way: Direction) -> Result<Option<Record<'_>>, Error> {
        let bound = key.map_or(Unbounded, Included);
        self.go(if way == Direction::Forward { (bound, Unbounded) } else { (Unbounded, bound) }, way)
    }

    fn next(&mut self) -> Result<Option<Record<'_>>, Error> {
        let Some((key, _)) = self.at.clone() else { return Ok(None) };
        self.go((Excluded(&*key), Unbounded), Direction::Forward)
    }

    fn previous(&mut self) -> Result<Option<Record<'_>>, Error> {
        let Some((key, _)) = self.at.clone() else { return Ok(None) };
        self.go((Unbounded, Excluded(&*key)), Direction::Backward)
    }
}

export_engine!(Table);
