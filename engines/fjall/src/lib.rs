//! fjall behind the engine ABI: a log-structured merge tree with background threads and a journal.
//!
//! fjall comes as a plain database and, in another type, as one with transactions. The plain one reads at no fixed
//! moment, so that a reader beside a writer of batches can see one half applied, and its writes are no part of anybody's
//! transaction; in return it is much faster. The adapter opens the type with transactions, which has the plain one
//! within, and uses the plain one as long as nobody can tell the difference: `isolation` says when that ends.

mod cursor;
mod database;
mod error;
mod isolation;
mod session;
mod settings;

use database::Fjall;
use kvdyno_abi::adapter::{
    self, ALL_DURABILITIES, Config, Description, Engine, Error, Host, Housekeeping, Listing, Preset, bits,
};
use kvdyno_abi::{
    CAN_BATCH, CAN_DELETE, CAN_READ_MODIFY_WRITE, CAN_MULTI_GET, CAN_SCAN, CAN_SCAN_REVERSE, CAN_SNAPSHOT, CAN_TRANSACT,
    CAN_WRITE_CONCURRENTLY, COMPRESSION_LZ4, COMPRESSION_NONE, export_engine,
};
use session::FjallSession;
use std::path::Path;

export_engine!(Fjall);

impl Engine for Fjall {
    const DESCRIPTION: Description = Description {
        origin: c"crate fjall, built in",
        capabilities: CAN_SCAN
            | CAN_SCAN_REVERSE
            | CAN_DELETE
            | CAN_BATCH
            | CAN_MULTI_GET
            | CAN_TRANSACT
            | CAN_SNAPSHOT
            | CAN_READ_MODIFY_WRITE
            | CAN_WRITE_CONCURRENTLY,
        durabilities: ALL_DURABILITIES,
        compressions: bits(&[COMPRESSION_NONE, COMPRESSION_LZ4]),
        min_key_size: 1,
        max_key_size: session::LONGEST_KEY as u64,
        max_value_size: session::LARGEST_VALUE as u64,
        options: settings::OPTIONS,
        presets: &[Preset::new(c"blobs", c"kv_separation=true", c"large values are kept in files apart from the tree")],
        housekeeping: Housekeeping {
            flush: true,
            compact: true,
            wait_idle: true,
            statistics: true,
            ..Housekeeping::NONE
        },
        ..Description::new(c"fjall", c"log-structured merge tree with background threads, in Rust")
    };

    type Session<'db> = FjallSession<'db>;

    fn probe(library: Option<&Path>) -> Result<String, Error> {
        adapter::refuse_library(library)?;
        Ok(env!("ENGINE_VERSION").into())
    }

    fn settings(config: &Config<'_>, list: &mut Listing<'_>) -> Result<(), Error> {
        settings::list(config, list)
    }

    fn open(path: &Path, config: &Config<'_>) -> Result<Self, Error> {
        adapter::refuse_library(config.library())?;
        settings::check(config)?;
        Self::open_or_create(path, config)
    }

    fn close(self) -> Result<(), Error> {
        self.end()
    }

    fn session(&self, _host: Host) -> Result<FjallSession<'_>, Error> {
        FjallSession::new(self)
    }

    fn flush(&self) -> Result<(), Error> {
        self.bring_to_storage()
    }

    fn compact(&self) -> Result<(), Error> {
        self.compact_all()
    }

    fn wait_idle(&self) -> Result<(), Error> {
        self.wait_for_workers()
    }

    fn statistics(&self, list: &mut Listing<'_>) -> Result<(), Error> {
        self.list_statistics(list)
    }
}
