//! A sorted table in memory, written to a file when it is closed: the smallest engine that keeps its data.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use kvdyno_abi::prelude::*;

type Bytes = Arc<[u8]>;

/// An open database.
struct Table {
    records: RwLock<BTreeMap<Bytes, Bytes>>,
    file: PathBuf,
}

impl Engine for Table {
    const DESCRIPTION: Description = Description {
        capabilities: CAN_DELETE | CAN_SCAN | CAN_SCAN_REVERSE,
        durabilities: bits(&[DURABILITY_NONE]),
        ..Description::new(c"table", c"a sorted table in memory, written at close")
    };
    /// For an engine that is built in: `probe` answers it, and a library of the user's is refused.
    const BUILT_IN: Option<&'static str> = Some("0.1.0");
    type Session<'db> = TableSession<'db>;

    /// Each setting in the engine's words, or `Err(Error::unsupported(…))`.
    fn settings(_config: &Config, list: &mut Listing) -> Result<(), Error> {
        list.say("durability", "file", "written at close");
        list.say("cache", "table", "the setting bounds nothing: all records are in memory");
        list.say("write_buffer", "table", "the setting bounds nothing: all records are in memory");
        list.say("compression", "file", "none");
        Ok(())
    }

    fn open(folder: &Path, config: &Config) -> Result<Self, Error> {
        let table = Self { records: RwLock::default(), file: folder.join("table.data") };
        if config.create() {
            table.save()?
        } else {
            table.load()?
        }
        Ok(table)
    }

    fn close(self) -> Result<(), Error> {
        self.save()
    }

    fn session(&self, _host: Host) -> Result<TableSession<'_>, Error> {
        Ok(TableSession { table: self, lent: None })
    }
}

impl Table {
    /// Writes a new file, and puts it in the old one's place only when it is whole and on the storage.
    fn save(&self) -> Result<(), Error> {
        let new = self.file.with_extension("new");
        let mut file = BufWriter::new(File::create(&new)?);
        for bytes in self.records.read().map_err(Error::new)?.iter().flat_map(|(key, value)| [key, value]) {
            file.write_all(&(bytes.len() as u64).to_le_bytes())?;
            file.write_all(bytes)?;
        }
        file.into_inner().map_err(|error| Error::from(error.into_error()))?.sync_all()?;
        Ok(fs::rename(new, &self.file)?)
    }

    fn load(&self) -> Result<(), Error> {
        let (text, mut records) = (fs::read(&self.file)?, self.records.write().map_err(Error::new)?);
        let mut rest = &text[..];
        let mut field = || -> Option<Bytes> {
            let (size, more) = rest.split_first_chunk()?;
            let (bytes, more) = more.split_at_checked(u64::from_le_bytes(*size) as usize)?;
            rest = more;
            Some(bytes.into())
        };
        while let (Some(key), Some(value)) = (field(), field()) {
            records.insert(key, value);
        }
        if rest.is_empty() { Ok(()) } else { Err(Error::new(format_args!("{} is damaged", self.file.display()))) }
    }
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
        self.table.records.write().map_err(Error::new)?.insert(key.into(), value.into());
        Ok(())
    }

    fn remove(&mut self, key: &[u8]) -> Result<bool, Error> {
        Ok(self.table.records.write().map_err(Error::new)?.remove(key).is_some())
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
