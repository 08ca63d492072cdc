//! sled behind the engine ABI: a lock-free tree over a log-structured page cache.
//!
//! sled has no transaction that could be begun in one call and committed in another, and no snapshot: its transactions
//! are closures, which it may run more than once. So there are batches and read-modify-write, and no more.

mod database;
mod error;
mod session;
mod settings;

use database::Sled;
use kvdyno_abi::adapter::{
    self, ALL_DURABILITIES, Config, Description, Engine, Error, Host, Housekeeping, Listing, bits,
};
use kvdyno_abi::{
    CAN_BATCH, CAN_DELETE, CAN_READ_MODIFY_WRITE, CAN_SCAN, CAN_SCAN_REVERSE, CAN_WRITE_CONCURRENTLY, COMPRESSION_NONE,
    COMPRESSION_ZSTD, export_engine,
};
use session::SledSession;
use std::path::Path;

export_engine!(Sled);

impl Engine for Sled {
    const DESCRIPTION: Description = Description {
        origin: c"crate sled, built in",
        capabilities: CAN_SCAN | CAN_SCAN_REVERSE | CAN_DELETE | CAN_BATCH | CAN_READ_MODIFY_WRITE | CAN_WRITE_CONCURRENTLY,
        durabilities: ALL_DURABILITIES,
        compressions: bits(&[COMPRESSION_NONE, COMPRESSION_ZSTD]),
        options: settings::OPTIONS,
        housekeeping: Housekeeping { flush: true, statistics: true, ..Housekeeping::NONE },
        ..Description::new(c"sled", c"lock-free tree over a log-structured page cache, in Rust")
    };

    type Session<'db> = SledSession<'db>;

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

    fn session(&self, _host: Host) -> Result<SledSession<'_>, Error> {
        Ok(SledSession::new(self))
    }

    fn flush(&self) -> Result<(), Error> {
        self.bring_to_storage()
    }

    fn statistics(&self, list: &mut Listing<'_>) -> Result<(), Error> {
        self.list_statistics(list)
    }
}
