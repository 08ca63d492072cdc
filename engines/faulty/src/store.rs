//! The store that is correct: a map in memory, a log of what was acknowledged, a file of what was saved.
//!
//! Both files hold frames: length, checksum, and the entries of one put, delete or batch. The saved file is a log
//! that was written at once: of each key the previous version, then the newest, so that reading it gives both back.
//!
//! Where processes share a database, each has its own map, and the log is what they share: a process writes under a
//! lock on it and reads what others have added before it answers. Then nothing but the log is written, so that it only
//! grows.

use kvdyno_abi::adapter::{BatchEntry, Durability, DurabilityLevel, Error};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::syncing::{Synced, sync_every};

/// Bytes that a reader can keep while others write.
pub type Blob = Arc<[u8]>;

/// A key with its new value; none where it is deleted.
pub type WrittenKey = (Blob, Option<Blob>);

/// Writes, as a batch.
pub fn entries(writes: &[WrittenKey]) -> Vec<BatchEntry<'_>> {
    let mut entries = Vec::with_capacity(writes.len());
    for (key, value) in writes {
        entries.push(match value {
            Some(value) => BatchEntry::Put { key, value },
            None => BatchEntry::Delete { key },
        });
    }
    entries
}

/// A key's value, and the one before it.
#[derive(Clone, Debug)]
pub struct Version {
    pub now: Blob,
    pub before: Option<Blob>,
}

/// The records in order, and where they are kept.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    records: BTreeMap<Blob, Version>,
    log: Option<Log>,
    /// Other processes may write to the log.
    shared: bool,
    /// Locked by each process that has the database open, where several may.
    users: Option<File>,
    /// Writes of other processes since the opening.
    pub written_by_others: u64,
    /// The last value of each record that was deleted, where that is to be known.
    deleted: Option<BTreeMap<Blob, Blob>>,
    /// That of the next writes.
    pub level: DurabilityLevel,
    /// The thing that is synced before one of them is acknowledged at durability `commit`.
    pub syncs: Synced,
}

impl Store {
    /// Makes a database in an empty folder, or reads the one that is there.
    /// `logs`: some writes are logged, whatever the level of the others is.
    pub fn open(folder: &Path, create: bool, durability: Durability, logs: bool, shared: bool) -> Result<Self, Error> {
        let (folder, records, level) = (folder.into(), BTreeMap::new(), durability.level());
        let (log, users, deleted, syncs) = (None, None, None, Synced::Log);
        let mut store = Self { folder, records, log, shared, users, written_by_others: 0, deleted, level, syncs };
        let (saved, log) = (store.saved(), store.log());
        match (create, saved.exists()) {
            (true, true) => return Err(Error::new(format_args!("{} is there already", saved.display()))),
            (true, false) => store.save_records(|_, _, _, version| Some(Blob::clone(&version.now)))?,
            (false, true) => {
                let whole = fs::metadata(&saved)?.len();
                if store.replay(&saved)? != whole {
                    return Err(Error::new(format_args!("{} is damaged", saved.display())));
                }
            }
            (false, false) => return Err(Error::new(format_args!("{} is not there", saved.display()))),
        }
        if shared {
            let users = File::open(&saved)?;
            users.lock_shared()?;
            store.users = Some(users);
        }
        if logs {
            store.log = Some(Log::open(&log, durability)?);
            store.alone(Store::catch_up)?;
        } else if log.exists() {
            store.replay(&log)?;
        }
        store.written_by_others = 0;
        Ok(store)
    }

    /// A copy of the records, in memory alone, with more writes.
    pub fn with(&self, writes: &[BatchEntry<'_>]) -> Self {
        let (folder, records, level) = (PathBuf::new(), self.records.clone(), DurabilityLevel::None);
        let (log, users, deleted, syncs) = (None, None, None, Synced::Log);
        let mut view = Self { folder, records, log, shared: false, users, written_by_others: 0, deleted, level, syncs };
        writes.iter().for_each(|write| view.change(*write));
        view
    }

    /// From now on what is deleted is not forgotten.
    pub fn remember_deleted(&mut self) {
        self.deleted = Some(BTreeMap::new());
    }

    /// Logs the entries, and then applies them: all or none.
    pub fn apply(&mut self, entries: &[BatchEntry<'_>]) -> Result<(), Error> {
        self.alone(|store| {
            if store.shared {
                store.catch_up()?;
            }
            if let Some(log) = store.log.as_mut().filter(|_| store.level > DurabilityLevel::None) {
                log.append(&frame(entries), store.level, store.syncs, &store.folder)?;
            }
            for step in entries {
                store.change(*step);
            }
            Ok(())
        })
    }

    /// Does something while no other process writes.
    fn alone<T>(&mut self, work: impl FnOnce(&mut Store) -> Result<T, Error>) -> Result<T, Error> {
        let file = match &self.log {
            Some(log) if self.shared => Some(log.file.try_clone()?),
            _ => None,
        };
        file.as_ref().map_or(Ok(()), File::lock)?;
        let done = work(self);
        file.as_ref().map_or(Ok(()), File::unlock)?;
        done
    }

    /// Whether others have logged something that is not in our records.
    pub fn is_behind(&self) -> Result<bool, Error> {
        match &self.log {
            Some(log) if self.shared => Ok(log.file.metadata()?.len() > log.size),
            _ => Ok(false),
        }
    }

    /// Applies what others have logged. A frame at the end that is cut short is being written, and not acknowledged
    /// yet.
    pub fn look(&mut self) -> Result<(), Error> {
        let Some(log) = &self.log else { return Ok(()) };
        let mut bytes = vec![0; log.file.metadata()?.len().saturating_sub(log.size) as usize];
        log.file.read_exact_at(&mut bytes, log.size)?;
        let whole = self.apply_frames(&bytes);
        if let Some(log) = &mut self.log {
            log.size += whole;
        }
        Ok(())
    }

    /// The same while nobody writes: a frame at the end that is cut short is what a process left that was killed. It
    /// was never acknowledged, and must not stand before the next one.
    fn catch_up(&mut self) -> Result<(), Error> {
        self.look()?;
        match &mut self.log {
            Some(log) if log.file.metadata()?.len() > log.size => Ok(log.file.set_len(log.size)?),
            _ => Ok(()),
        }
    }

    fn change(&mut self, step: BatchEntry<'_>) {
        match step {
            BatchEntry::Put { key, value } => match self.records.get_mut(key) {
                Some(version) => version.before = Some(std::mem::replace(&mut version.now, value.into())),
                None => {
                    self.records.insert(key.into(), Version { now: value.into(), before: None });
                }
            },
            BatchEntry::Delete { key } => {
                let gone = self.records.remove_entry(key);
                if let (Some(deleted), Some((key, version))) = (&mut self.deleted, gone) {
                    deleted.insert(key, version.now);
                }
            }
        }
    }

    pub fn get(&self, key: &[u8]) -> Option<&Version> {
        self.records.get(key)
    }

    /// The keys from `from` on that come before `to`, which comes after it.
    pub fn keys(&self, from: &[u8], to: &[u8]) -> Vec<Blob> {
        let between = self.records.range::<[u8], _>((Included(from), Excluded(to)));
        between.map(|(key, _)| Blob::clone(key)).collect()
    }

    /// The first record at or after `key`, or after it.
    pub fn forward(&self, key: &[u8], or_at: bool) -> Option<(&Blob, &Version)> {
        let from = if or_at { Included(key) } else { Excluded(key) };
        self.records.range::<[u8], _>((from, Unbounded)).next()
    }

    /// The last record at or before `key`, or before it.
    pub fn backward(&self, key: &[u8], or_at: bool) -> Option<(&Blob, &Version)> {
        let to = if or_at { Included(key) } else { Excluded(key) };
        self.records.range::<[u8], _>((Unbounded, to)).next_back()
    }

    pub fn versions(&mut self) -> impl Iterator<Item = &mut Version> {
        self.records.values_mut()
    }

    pub fn first(&self) -> Option<(&Blob, &Version)> {
        self.records.first_key_value()
    }

    pub fn last(&self) -> Option<(&Blob, &Version)> {
        self.records.last_key_value()
    }

    /// The record of another key, where there is one.
    pub fn neighbour(&self, key: &[u8]) -> Option<&Version> {
        let (other, version) = self.forward(key, false).or_else(|| self.first())?;
        (**other != *key).then_some(version)
    }

    /// Saves of each record, by its index in the order, the value that `kept` gives, if any; with them the log is no
    /// longer needed. Where processes share it, the log is all that there is.
    pub fn save(&mut self, kept: impl Fn(&Store, usize, &[u8], &Version) -> Option<Blob>) -> Result<(), Error> {
        match &self.log {
            Some(log) if self.shared => Ok(log.file.sync_all()?),
            _ => self.save_records(kept),
        }
    }

    /// The same at the end, with what was deleted if it is to be there again. Of processes that share the database the
    /// last one logs what differs.
    pub fn close(
        &mut self,
        kept: impl Fn(&Store, usize, &[u8], &Version) -> Option<Blob>,
        undeletes: bool,
    ) -> Result<(), Error> {
        if let Some(users) = self.users.take() {
            users.unlock()?;
            if users.try_lock().is_ok() {
                self.look()?;
                self.apply(&entries(&self.differing(&kept, undeletes)))?;
            }
            return self.save(kept);
        }
        self.undelete(undeletes);
        self.save(kept)
    }

    fn undelete(&mut self, undeletes: bool) {
        for (key, now) in self.deleted.take().into_iter().flatten().filter(|_| undeletes) {
            self.records.entry(key).or_insert(Version { now, before: None });
        }
    }

    /// The writes that would make of the records what is to be saved of them.
    fn differing(
        &self,
        kept: impl Fn(&Store, usize, &[u8], &Version) -> Option<Blob>,
        undeletes: bool,
    ) -> Vec<WrittenKey> {
        let of_records = self.records.iter().enumerate().filter_map(|(index, (key, version))| {
            let saved = kept(self, index, key, version);
            (saved.as_ref() != Some(&version.now)).then(|| (Blob::clone(key), saved))
        });
        let deleted = self.deleted.iter().flatten().filter(|(key, _)| undeletes && !self.records.contains_key(*key));
        of_records.chain(deleted.map(|(key, now)| (Blob::clone(key), Some(Blob::clone(now))))).collect()
    }

    fn save_records(&mut self, kept: impl Fn(&Store, usize, &[u8], &Version) -> Option<Blob>) -> Result<(), Error> {
        let new = self.folder.join("faulty.new");
        let mut file = BufWriter::new(File::create(&new)?);
        for (index, (key, version)) in self.records.iter().enumerate() {
            let Some(now) = kept(self, index, key, version) else { continue };
            let put = |value| BatchEntry::Put { key, value };
            match &version.before {
                Some(before) => file.write_all(&frame(&[put(before), put(&now)]))?,
                None => file.write_all(&frame(&[put(&now)]))?,
            }
        }
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&new, self.saved())?;
        File::open(&self.folder)?.sync_all()?;
        let left_over = self.log();
        match &mut self.log {
            Some(log) => log.cut(0)?,
            None if left_over.exists() => fs::remove_file(left_over)?,
            None => {}
        }
        Ok(())
    }

    fn saved(&self) -> PathBuf {
        self.folder.join("faulty.data")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("faulty.log")
    }

    /// Applies a file's frames; the length of those that are whole.
    fn replay(&mut self, path: &Path) -> Result<u64, Error> {
        Ok(self.apply_frames(&fs::read(path)?))
    }

    /// Applies frames; the length of those that are whole.
    fn apply_frames(&mut self, bytes: &[u8]) -> u64 {
        let mut rest = bytes;
        while let Some((entries, after)) = next_frame(rest) {
            for step in entries {
                self.change(step);
                self.written_by_others += 1;
            }
            rest = after;
        }
        (bytes.len() - rest.len()) as u64
    }
}

/// The log, and how a write to it is acknowledged.
#[derive(Debug)]
struct Log {
    file: File,
    /// Up to here its frames are whole.
    size: u64,
    /// A thread syncs until the sender is dropped.
    behind: Option<(mpsc::Sender<()>, JoinHandle<io::Result<()>>)>,
}

impl Log {
    fn open(path: &Path, durability: Durability) -> Result<Self, Error> {
        let file = File::options().create(true).read(true).append(true).open(path)?;
        let behind = match durability {
            Durability::Periodic(pause) => {
                let (stop, stopped) = mpsc::channel();
                let file = file.try_clone()?;
                let thread = thread::Builder::new().name("faulty-sync".into());
                let pause = pause.max(Duration::from_millis(1));
                Some((stop, thread.spawn(move || sync_every(&file, pause, &stopped))?))
            }
            _ => None,
        };
        file.sync_all()?;
        File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(Self { file, size: 0, behind })
    }

    fn append(&mut self, frame: &[u8], level: DurabilityLevel, syncs: Synced, folder: &Path) -> Result<(), Error> {
        if self.behind.as_ref().is_some_and(|(_, thread)| thread.is_finished()) {
            return Err(Error::new("the log could not be synced in the background"));
        }
        let written = self.file.write_all(frame).and_then(|()| match level {
            DurabilityLevel::Commit => syncs.sync(&self.file, folder),
            _ => Ok(()),
        });
        match written {
            Ok(()) => {
                self.size += frame.len() as u64;
                Ok(())
            }
            Err(error) => {
                // A frame that is half written must not stand before the next frame.
                self.file.set_len(self.size)?;
                Err(error.into())
            }
        }
    }

    fn cut(&mut self, size: u64) -> Result<(), Error> {
        self.file.set_len(size)?;
        self.file.sync_all()?;
        self.size = size;
        Ok(())
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.behind.take() {
            drop(stop);
            // How it ended was noticed by `append`, or no longer matters.
            let _ = thread.join();
        }
    }
}

// ---- frames: length (8), checksum (8), entries: kind (1), key (4 + n), for a put value (4 + n); little endian

fn frame(entries: &[BatchEntry<'_>]) -> Vec<u8> {
    let mut bytes = vec![0; 16];
    let mut field = |kind: &[u8], data: &[u8]| {
        bytes.extend_from_slice(kind);
        bytes.extend_from_slice(&(data.len() as u32).to_le_bytes());
        bytes.extend_from_slice(data);
    };
    for step in entries {
        match step {
            BatchEntry::Put { key, value } => {
                field(b"P", key);
                field(b"", value);
            }
            BatchEntry::Delete { key } => field(b"D", key),
        }
    }
    let (size, sum) = (bytes.len() as u64 - 16, checksum(&bytes[16..]));
    bytes[..8].copy_from_slice(&size.to_le_bytes());
    bytes[8..16].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// The entries of a whole frame, and what follows it.
fn next_frame(bytes: &[u8]) -> Option<(Vec<BatchEntry<'_>>, &[u8])> {
    let (size, rest) = bytes.split_first_chunk()?;
    let (sum, rest) = rest.split_first_chunk()?;
    let (mut body, after) = rest.split_at_checked(u64::from_le_bytes(*size) as usize)?;
    if checksum(body) != u64::from_le_bytes(*sum) {
        return None;
    }
    let mut entries = Vec::new();
    while let Some((kind, rest)) = body.split_first() {
        let (key, rest) = field(rest)?;
        if *kind == b'P' {
            let (value, rest) = field(rest)?;
            entries.push(BatchEntry::Put { key, value });
            body = rest;
        } else {
            entries.push(BatchEntry::Delete { key });
            body = rest;
        }
    }
    Some((entries, after))
}

fn field(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (size, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(u32::from_le_bytes(*size) as usize)
}

/// FNV-1a: enough to tell a torn frame.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}
