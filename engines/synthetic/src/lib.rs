//! The synthetic engine: its service times, stalls and drift are known, and where the time goes is chosen, so that what
//! is measured can be held against the truth.
//!
//! It keeps nothing: writes are forgotten, reads answered by the host's `recall`. Each call lasts as long as the
//! options say ([`service`]), and an account of its own ([`account`]) is offered as statistics: what a caller must have
//! seen.
//!
//! A session times itself from its first instructions to its last. What lies outside of that, the call, the return and
//! one reading of the clock, is measured when the session opens, by calling itself, and told as `border_ns`; it is part
//! of every time that is told. What the last call took is written down at the beginning of the next one, within the
//! time of that, so that writing it down is in nobody's way.
//!
//! A thread of its own and a process that it forks are busy for so much of the time ([`background`]): work that is in
//! no operation.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

use abi::adapter::{
    self, ALL_COMPRESSIONS, ALL_DURABILITIES, Counters, Description, Error, Housekeeping, Listing, NoSession,
};
use kvdyno_abi as abi;

mod account;
mod amplifier;
mod background;
mod calls;
mod deed;
mod service;
mod time;

use account::ServedAccount;
use amplifier::{Amplifier, Factors};
use background::{Background, BackgroundShares};
use service::ServicePlan;
use time::{OwnClock, Rate};

/// An open database.
struct Synthetic {
    folder: PathBuf,
    plan: ServicePlan,
    clock: OwnClock,
    rate: Rate,
    /// The lock that sessions share where the cause is one.
    lock: Mutex<()>,
    sessions: AtomicU64,
    /// The border of a call that a session found last, as the bits of a number.
    border: AtomicU64,
    /// The account of the sessions that have closed.
    account: Mutex<ServedAccount>,
    /// Absent if it reads and writes no more than it is asked to.
    amplifier: Option<Amplifier>,
    background: Background,
}

impl adapter::Engine for Synthetic {
    const DESCRIPTION: Description = Description {
        capabilities: abi::CAN_DELETE
            | abi::CAN_BATCH
            | abi::CAN_WRITE_CONCURRENTLY
            | abi::IS_VOLATILE
            | abi::CAN_COUNT,
        durabilities: ALL_DURABILITIES,
        compressions: ALL_COMPRESSIONS,
        options: service::OPTIONS,
        housekeeping: Housekeeping { flush: true, compact: true, wait_idle: true, statistics: true },
        ..Description::new(c"synthetic", c"keeps nothing; its calls take set times, to check what is measured")
    };

    const BUILT_IN: Option<&'static str> = Some(env!("CARGO_PKG_VERSION"));

    type Session<'db> = NoSession;

    fn settings(config: &adapter::Config<'_>, list: &mut Listing<'_>) -> Result<(), Error> {
        let plan = ServicePlan::of(config)?;
        Factors::of(config)?;
        BackgroundShares::of(config)?;
        for topic in ["durability", "cache", "write_buffer", "compression", "checksums"] {
            list.say(topic, topic, "keeps nothing");
        }
        list.say("options", "get_ns", plan.get_ns);
        list.say("options", "put_ns", plan.put_ns);
        for name in ["stall_every", "stall_every_ms", "stall_ns"] {
            list.say("options", name, config.integer(name));
        }
        for name in ["drift", "slow_down", "read_amplification", "write_amplification", "space_amplification"] {
            list.say("options", name, config.real(name));
        }
        for name in ["background_share", "child_share"] {
            list.say("options", name, config.real(name));
        }
        list.say("options", "distribution", config.text("distribution"));
        list.say("options", "cause", config.text("cause"));
        Ok(())
    }

    fn open(path: &Path, config: &adapter::Config<'_>) -> Result<Self, Error> {
        let clock = OwnClock::choose();
        Ok(Synthetic {
            folder: path.to_owned(),
            plan: ServicePlan::of(config)?,
            clock,
            rate: Rate::begin(clock),
            lock: Mutex::new(()),
            sessions: AtomicU64::new(0),
            border: AtomicU64::new(0),
            account: Mutex::new(ServedAccount::new()),
            amplifier: Amplifier::open(path, Factors::of(config)?).map_err(Error::new)?,
            background: Background::new(BackgroundShares::of(config)?),
        })
    }

    fn close(self) -> Result<(), Error> {
        self.background.end();
        self.amplifier.as_ref().map_or(Ok(()), Amplifier::close).map_err(Error::new)
    }

    fn session(&self, _host: adapter::Host) -> Result<NoSession, Error> {
        Err(Error::unsupported("replaced in the table"))
    }

    fn flush(&self) -> Result<(), Error> {
        Ok(())
    }

    fn compact(&self) -> Result<(), Error> {
        Ok(())
    }

    fn wait_idle(&self) -> Result<(), Error> {
        Ok(())
    }

    fn counters(&self) -> Result<Counters, Error> {
        let written = self.amplifier.as_ref().map_or(0, Amplifier::written);
        Ok(Counters { flushed_bytes: Some(written), ..Counters::default() })
    }

    fn statistics(&self, list: &mut Listing<'_>) -> Result<(), Error> {
        let account = self.account.lock().unwrap_or_else(PoisonError::into_inner);
        account.list(self.rate.ticks_per_ns(), list);
        self.background.list(list);
        Ok(())
    }
}

// The functions of [`calls`] know their first and their last instruction.
abi::export_engine!(
    table = abi::Engine {
        session_open: Some(calls::session_open),
        session_close: Some(calls::session_close),
        session_error: Some(calls::session_error),
        get: Some(calls::get),
        put: Some(calls::put),
        remove: Some(calls::remove),
        write: Some(calls::write),
        ..adapter::table::<Synthetic>()
    }
);
