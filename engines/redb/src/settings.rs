//! The lab's settings in redb's words.

use crate::error::failed;
use kvdyno_abi::adapter::{Config, Durability, DurabilityLevel, Error, Listing};
use redb::{Builder, ConcurrencyMode, Database, WriteTransaction};

/// How a write transaction is committed.
#[derive(Clone, Copy, Debug)]
pub struct Commits {
    durable: bool,
    two_phase: bool,
    quick_repair: bool,
}

impl Commits {
    pub fn new(config: &Config<'_>) -> Self {
        Self {
            durable: config.durability() != Durability::None,
            two_phase: config.bool("two_phase_commit"),
            quick_repair: config.bool("quick_repair"),
        }
    }

    /// The same at a level that a session has.
    pub fn at(self, level: DurabilityLevel) -> Commits {
        Commits { durable: level != DurabilityLevel::None, ..self }
    }

    /// Begins a write transaction that is committed so.
    pub fn begin(&self, database: &Database) -> Result<WriteTransaction, Error> {
        let mut transaction = self.begin_durable(database)?;
        if !self.durable {
            transaction.set_durability(redb::Durability::None).map_err(failed)?;
        }
        Ok(transaction)
    }

    /// The same, but its commit reaches the file, and with it all that were made before.
    pub fn begin_durable(&self, database: &Database) -> Result<WriteTransaction, Error> {
        let mut transaction = database.begin_write().map_err(failed)?;
        transaction.set_two_phase_commit(self.two_phase);
        transaction.set_quick_repair(self.quick_repair);
        Ok(transaction)
    }
}

/// Whether commits write to the operating system and are synced later.
pub fn puts_syncs_off(durability: Durability) -> bool {
    matches!(durability, Durability::Process | Durability::Periodic(_))
}

/// Whether some commits stay in redb's memory until a flush or the close.
pub fn puts_commits_off(config: &Config<'_>) -> bool {
    let mut levels = config.session_durabilities().chain([config.durability().level()]);
    levels.any(|level| level == DurabilityLevel::None)
}

/// Refuses a level of a session that its database has no commits for: where syncs are put off, they are for all.
pub fn check_session(of_database: Durability, level: DurabilityLevel) -> Result<(), Error> {
    match level {
        DurabilityLevel::Periodic if of_database.level() != level => {
            Err(Error::unsupported("durability: a session at periodic needs a database at periodic, which is synced"))
        }
        DurabilityLevel::Commit if puts_syncs_off(of_database) => Err(Error::unsupported(
            "durability: a session at commit needs a database at commit or none; at the others no commit is synced",
        )),
        _ => Ok(()),
    }
}

/// Refuses settings that redb cannot have.
pub fn check(config: &Config<'_>) -> Result<(), Error> {
    config.session_durabilities().try_for_each(|level| check_session(config.durability(), level))?;
    if config.processes() > 1 && puts_commits_off(config) {
        return Err(Error::unsupported(
            "durability none: several processes share the database, and redb refuses them commits that are only in one \
             process's memory",
        ));
    }
    Ok(())
}

pub fn builder(config: &Config<'_>) -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(config.cache_bytes().try_into().unwrap_or(usize::MAX));
    builder.set_concurrency_mode(concurrency(config));
    builder
}

fn concurrency(config: &Config<'_>) -> ConcurrencyMode {
    if config.processes() > 1 { ConcurrencyMode::MultiWriter } else { ConcurrencyMode::ExclusiveWriter }
}

pub fn list(config: &Config<'_>, list: &mut Listing<'_>) -> Result<(), Error> {
    check(config)?;
    let (commit, storage) = match config.durability() {
        Durability::None => ("Durability::None: in redb's memory until a flush or the close", "synced at the close"),
        Durability::Process | Durability::Periodic(_) => (
            "Durability::Immediate: written to the OS with each commit",
            "a FileBackend whose sync_data does nothing, which redb by itself has not; synced at the close; until a \
             sync a loss of power may damage the database",
        ),
        Durability::Commit => ("Durability::Immediate: fdatasync with each commit", "FileBackend"),
    };
    list.say("durability", "set_durability", commit);
    list.say("durability", "backend", storage);
    for level in config.session_durabilities() {
        let commit = match (level, config.durability()) {
            (DurabilityLevel::None, _) => {
                "Durability::None: in redb's memory until a flush, the close or a durable commit"
            }
            (_, Durability::None | Durability::Commit) => "Durability::Immediate: fdatasync with each commit",
            _ => "Durability::Immediate: written to the OS with each commit",
        };
        list.say("durability", "set_durability of sessions", commit);
    }
    if let Durability::Periodic(interval) = config.durability() {
        list.say("durability", "background", format_args!("fdatasync every {} ms", interval.as_millis()));
    }
    list.say(
        "cache",
        "set_cache_size",
        format_args!("{}: pages read and pages written together", config.cache_bytes()),
    );
    list.say("write_buffer", "write_buffer", "none of its own: changed pages take up to half of the cache");
    list.say("compression", "compression", "none");
    list.say(
        "checksums",
        "check_integrity",
        "pages have checksums; redb checks them as it repairs a database, not on reads",
    );
    list_options(config, list);
    Ok(())
}

fn list_options(config: &Config<'_>, list: &mut Listing<'_>) {
    let commits = Commits::new(config);
    let mode = concurrency(config);
    let twice = commits.two_phase || commits.quick_repair || mode != ConcurrencyMode::ExclusiveWriter;
    let saved = commits.quick_repair || mode == ConcurrencyMode::MultiWriter;
    let when = if commits.durable { "" } else { " (of no effect on a commit that is not durable)" };
    list.say("options", "set_two_phase_commit", format_args!("{twice}{when}"));
    list.say("options", "set_quick_repair", format_args!("{saved}{when}"));
    list.say("options", "set_concurrency_mode", format_args!("{mode:?}"));
    list.say("options", "tree_statistics", config.bool("tree_statistics"));
}
