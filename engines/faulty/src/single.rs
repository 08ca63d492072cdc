//! An engine without threads: with option `single` it has one session at a time, and is called from the thread that
//! opened the database alone. Whoever does otherwise is told so.

use kvdyno_abi::adapter::{self, Durability, DurabilityLevel, Error};
use kvdyno_abi::{
    CAN_READ_MODIFY_WRITE, CAN_SNAPSHOT, CAN_TRANSACT, CAN_WRITE_CONCURRENTLY, Capabilities, Config, IS_SERIALIZABLE,
    IS_SINGLE, READS_REPEAT,
};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, ThreadId};

/// Where an open database may be called from; `None`: from anywhere.
#[derive(Debug)]
pub struct Home(Option<(ThreadId, AtomicBool)>);

/// The one session that there may be.
#[derive(Debug)]
pub struct Guest<'db>(&'db Home);

impl Home {
    /// This thread alone, if it is to be so.
    pub fn new(single: bool) -> Self {
        Self(single.then(|| (thread::current().id(), AtomicBool::new(false))))
    }

    /// Whether the caller is on the right thread.
    pub fn check(&self) -> Result<(), Error> {
        match &self.0 {
            Some((home, _)) if *home != thread::current().id() => Err(Error::new("single: called from another thread")),
            _ => Ok(()),
        }
    }

    /// A session begins.
    pub fn enter(&self) -> Result<Guest<'_>, Error> {
        self.check()?;
        match &self.0 {
            Some((_, busy)) if busy.swap(true, Relaxed) => Err(Error::new("single: there is a session already")),
            _ => Ok(Guest(self)),
        }
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        if let Some((_, busy)) = &self.0.0 {
            busy.store(false, Relaxed);
        }
    }
}

/// Whether other processes have the database open too.
pub fn shares(config: &adapter::Config<'_>) -> Result<bool, Error> {
    match (config.processes() > 1, config.durability()) {
        (true, Durability::None) => {
            Err(Error::unsupported("durability: what processes share is the log, and none has no log"))
        }
        (shared, _) => Ok(shared),
    }
}

/// Whether sessions can have the levels that they will ask for.
pub fn sessions_can(config: &adapter::Config<'_>) -> Result<(), Error> {
    let asks = |sought| config.session_durabilities().any(|level| level == sought);
    if asks(DurabilityLevel::Periodic) && config.durability().level() != DurabilityLevel::Periodic {
        return Err(Error::unsupported("durability: a session at periodic needs a database at periodic, which syncs"));
    }
    match asks(DurabilityLevel::None) && config.processes() > 1 {
        true => {
            Err(Error::unsupported("durability: what processes share is the log, and sessions at none have no log"))
        }
        false => Ok(()),
    }
}

/// `kvdyno_engine.effective_capabilities`. `transactions`, `concurrent` and `single` are the last three options.
pub unsafe extern "C" fn effective_capabilities(config: *const Config, declared: *mut Capabilities) {
    // SAFETY: the header says that both are there, and a value for each option.
    unsafe {
        let config = &*config;
        let given = |back: usize| (*config.options.add(config.option_count - back)).integer != 0;
        if !given(1) {
            (*declared).capabilities &= !IS_SINGLE;
        }
        if !given(3) {
            (*declared).capabilities &= !(CAN_TRANSACT | CAN_SNAPSHOT | READS_REPEAT | IS_SERIALIZABLE);
        }
        if !given(2) {
            (*declared).capabilities &= !(CAN_READ_MODIFY_WRITE | CAN_WRITE_CONCURRENTLY);
        }
    }
}
