//! A session's calls, each timed from its first instructions to its last.

use std::ffi::c_void;
use std::io;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use kvdyno_abi::{self as abi, adapter};

use crate::Synthetic;
use crate::account::ServedAccount;
use crate::amplifier::{Amplifier, Debts};
use crate::deed::Deed;
use crate::service::ServiceTimes;

/// A session.
struct Serving {
    database: *const Synthetic,
    host: *const abi::Host,
    ticks_per_ns: f64,
    times: ServiceTimes,
    deed: Deed,
    debts: Debts,
    account: ServedAccount,
    /// The call before, not written down yet: whether it was a get, and its ticks.
    before: Option<(bool, u64)>,
    error: String,
}

impl Serving {
    /// Serves an operation that takes `mean_ns` on average, and whose answer `answer` gives.
    #[inline(always)]
    fn serve(
        &mut self,
        is_get: bool,
        mean_ns: f64,
        record_bytes: impl FnOnce() -> usize,
        answer: impl FnOnce(&abi::Host) -> abi::Status,
    ) -> abi::Status {
        // SAFETY: both outlive the session, as the header has it.
        let (database, host) = unsafe { (&*self.database, &*self.host) };
        let from = database.clock.now();
        if self.account.span.is_none()
            && let Err(error) = database.background.begin()
        {
            return self.failed(&error);
        }
        self.write_down(from);
        let status = answer(host);
        if let Some(amplifier) = &database.amplifier
            && let Err(error) = self.amplify(amplifier, is_get, record_bytes())
        {
            return self.failed(&error);
        }
        let ticks = self.times.next(from, mean_ns);
        match self.deed.serve(database.clock, self.ticks_per_ns, &database.lock, from, ticks) {
            Ok(until) => {
                self.before = Some((is_get, until - from));
                if let Some(span) = &mut self.account.span {
                    span.1 = until;
                }
                status
            }
            Err(error) => self.failed(&error),
        }
    }

    #[cold]
    #[inline(never)]
    fn amplify(&mut self, amplifier: &Amplifier, is_get: bool, record_bytes: usize) -> io::Result<()> {
        match is_get {
            true => self.debts.reads(amplifier, record_bytes),
            false => self.debts.writes(amplifier, record_bytes),
        }
    }

    /// The call before goes into the account.
    #[inline(always)]
    fn write_down(&mut self, now: u64) {
        match self.before.take() {
            Some((true, ticks)) => self.account.gets.count(ticks),
            Some((false, ticks)) => self.account.puts.count(ticks),
            None => self.account.span = self.account.span.or(Some((now, now))),
        }
    }

    #[cold]
    fn failed(&mut self, error: &io::Error) -> abi::Status {
        self.error = error.to_string();
        abi::ERROR
    }
}

/// Calls that find out what lies around a call, in rounds, of which the median counts.
const ROUNDS: usize = 31;
const CALLS: u64 = 256;

/// Sessions of a database that measure the border themselves, which takes each of them a millisecond or more. Later
/// sessions take the value that was measured last: so many are never measured at once, and a caller that opens tens of
/// thousands need not wait.
const FINDING: u64 = 256;

/// Ticks of a call that the session does not see: what back-to-back calls take, without what they say of themselves.
fn border(session: &mut Serving) -> f64 {
    let handle: *mut Serving = session;
    // SAFETY: the database outlives the session.
    let clock = unsafe { (*session.database).clock };
    let mut rounds: Vec<f64> = (0..ROUNDS).map(|_| around(handle, clock)).collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2].max(0.0)
}

fn around(handle: *mut Serving, clock: crate::time::OwnClock) -> f64 {
    let call: unsafe extern "C" fn(*mut abi::Session, *const c_void, usize) -> abi::Status =
        std::hint::black_box(calibrate);
    let begin = clock.now();
    for _ in 0..CALLS {
        // SAFETY: the session is alive, and nobody else has it.
        unsafe { call(handle.cast(), std::ptr::null(), 0) };
    }
    let whole = (clock.now() - begin) as f64;
    // SAFETY: as above, and no call is under way.
    let session = unsafe { &mut *handle };
    session.write_down(0);
    let seen = session.account.gets.mean();
    session.account.gets.clear();
    whole / CALLS as f64 - seen
}

/// A call that serves 100 ns and answers nothing.
unsafe extern "C" fn calibrate(session: *mut abi::Session, _key: *const c_void, _size: usize) -> abi::Status {
    // SAFETY: `around` hands it an open session.
    let session = unsafe { &mut *session.cast::<Serving>() };
    // SAFETY: the database outlives the session.
    let clock = unsafe { (*session.database).clock };
    let from = clock.now();
    session.write_down(from);
    let until = from + (100.0 * session.ticks_per_ns) as u64;
    let mut now = clock.now();
    while now < until {
        now = clock.now();
    }
    session.before = Some((true, now - from));
    abi::OK
}

fn open(database: &Synthetic, host: *const abi::Host) -> io::Result<Serving> {
    let number = database.sessions.fetch_add(1, Ordering::Relaxed);
    let ticks_per_ns = database.rate.ticks_per_ns();
    let mut session = Serving {
        database,
        host,
        ticks_per_ns,
        times: ServiceTimes::new(database.plan, ticks_per_ns, number, database.clock.now()),
        deed: Deed::prepare(database.plan.cause, &database.folder, number)?,
        debts: Debts::new(),
        account: ServedAccount::new(),
        before: None,
        error: String::new(),
    };
    session.account.border = match number < FINDING {
        true => {
            let found = border(&mut session);
            database.border.store(found.to_bits(), Ordering::Relaxed);
            found
        }
        false => f64::from_bits(database.border.load(Ordering::Relaxed)),
    };
    session.account.span = None;
    session.times = ServiceTimes::new(database.plan, ticks_per_ns, number, database.clock.now());
    Ok(session)
}

pub unsafe extern "C" fn session_open(
    database: *mut abi::Database,
    host: *const abi::Host,
    session: *mut *mut abi::Session,
    error: *mut abi::Text,
) -> abi::Status {
    // SAFETY: the handle is the trait's, a box of the engine; the host gives NULL or a struct whose size comes first,
    // memory for a handle, and memory for a text.
    unsafe {
        if host.is_null() || ((*host).size as usize) < size_of::<abi::Host>() || (*host).recall.is_none() {
            adapter::write_text(error, "the synthetic engine needs a host that recalls values");
            return abi::ERROR;
        }
        match open(&*database.cast::<Synthetic>(), host) {
            Ok(serving) => {
                *session = Box::into_raw(Box::new(serving)).cast();
                abi::OK
            }
            Err(why) => {
                adapter::write_text(error, &why.to_string());
                abi::ERROR
            }
        }
    }
}

pub unsafe extern "C" fn session_close(session: *mut abi::Session) {
    // SAFETY: a handle of `session_open`, for the last time; the database outlives it.
    unsafe {
        let mut serving = Box::from_raw(session.cast::<Serving>());
        if serving.before.is_some() {
            serving.write_down(0);
        }
        let database = &*serving.database;
        database.background.end();
        if let Some(amplifier) = &database.amplifier {
            serving.debts.leave_to(amplifier);
        }
        database.account.lock().unwrap_or_else(PoisonError::into_inner).add(&serving.account);
    }
}

pub unsafe extern "C" fn session_error(session: *mut abi::Session, error: *mut abi::Text) {
    // SAFETY: an open session, and memory for a text.
    unsafe {
        let text = (*session.cast::<Serving>()).error.as_str();
        adapter::write_text(error, if text.is_empty() { "the host's recall failed" } else { text });
    }
}

pub unsafe extern "C" fn get(
    session: *mut abi::Session,
    key: *const c_void,
    key_size: usize,
    value: *mut abi::Bytes,
) -> abi::Status {
    // SAFETY: an open session, this thread's own; `session_open` has seen `recall`, and the arguments are passed on.
    unsafe {
        let session = &mut *session.cast::<Serving>();
        let mean_ns = (*session.database).plan.get_ns;
        let record_bytes = || key_size + (*value).size;
        session.serve(true, mean_ns, record_bytes, |host| {
            host.recall.unwrap_unchecked()(host.context, key, key_size, value)
        })
    }
}

/// Serves `count` writes at once, of so many bytes of keys and values.
unsafe fn written(session: *mut abi::Session, count: usize, bytes: impl FnOnce() -> usize) -> abi::Status {
    // SAFETY: an open session, this thread's own.
    unsafe {
        let session = &mut *session.cast::<Serving>();
        let mean_ns = (*session.database).plan.put_ns * count as f64;
        session.serve(false, mean_ns, bytes, |_| abi::OK)
    }
}

pub unsafe extern "C" fn put(
    session: *mut abi::Session,
    _key: *const c_void,
    key_size: usize,
    _value: *const c_void,
    value_size: usize,
) -> abi::Status {
    // SAFETY: as of `written`.
    unsafe { written(session, 1, || key_size + value_size) }
}

pub unsafe extern "C" fn remove(session: *mut abi::Session, _key: *const c_void, key_size: usize) -> abi::Status {
    // SAFETY: as of `written`.
    unsafe { written(session, 1, || key_size) }
}

pub unsafe extern "C" fn write(session: *mut abi::Session, steps: *const abi::BatchEntry, count: usize) -> abi::Status {
    // SAFETY: as of `written`; the caller lends `count` entries.
    unsafe {
        let of_step = |step: &abi::BatchEntry| step.key.size + step.value.size;
        written(session, count, || std::slice::from_raw_parts(steps, count).iter().map(of_step).sum())
    }
}
