//! Calls on a session.

use std::ffi::c_void;

use super::super::calls::{Batch, Change, Host, MultiGetAnswers, MultiGetKeys, bytes, slice, write_text};
use super::super::error::Error;
use super::super::{DurabilityLevel, Engine, Session, Transaction};
use super::handles::{Last, Opened, SessionOf, caught, on_session, opened, told};
use crate::types as abi;

pub(super) unsafe extern "C" fn session_open<E: Engine>(
    database: *mut abi::Database,
    host: *const abi::Host,
    session: *mut *mut abi::Session,
    error: *mut abi::Text,
) -> abi::Status {
    // SAFETY: the contract: the handle is open until after the session's close, and so is the host.
    let (engine, host) = unsafe { (opened::<E>(database), Host::new(host)) };
    let result = caught(|| engine.session(host));
    // SAFETY: the contract: the host has memory for a handle, and texts have the capacity that they say.
    unsafe {
        told(
            result.map(|inner| *session = Box::into_raw(Box::new(Opened { inner, last: Last::default() })).cast()),
            error,
        )
    }
}

pub(super) unsafe extern "C" fn session_close<E: Engine>(session: *mut abi::Session) {
    // SAFETY: the contract: a handle from `session_open`, for the last time.
    let session = unsafe { Box::from_raw(session.cast::<SessionOf<E>>()) };
    // An error cannot be reported: the call returns nothing.
    let _ = caught(|| {
        drop(session);
        Ok(())
    });
}

pub(super) unsafe extern "C" fn session_error<E: Engine>(session: *mut abi::Session, error: *mut abi::Text) {
    // SAFETY: the contract: an open session; texts have the capacity that they say.
    unsafe { write_text(error, &(*session.cast::<SessionOf<E>>()).last.borrow()) }
}

pub(super) unsafe extern "C" fn get<E: Engine>(
    session: *mut abi::Session,
    key: *const c_void,
    key_size: usize,
    value: *mut abi::Bytes,
) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, a key, memory for the value.
    unsafe {
        on_session::<E>(session, |inner| {
            Ok(match inner.get(slice(key, key_size))? {
                Some(found) => {
                    *value = bytes(found);
                    abi::OK
                }
                None => abi::MISS,
            })
        })
    }
}

pub(super) unsafe extern "C" fn put<E: Engine>(
    session: *mut abi::Session,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, a key, a value.
    unsafe {
        on_session::<E>(session, |inner| {
            inner.put(slice(key, key_size), slice(value, value_size))?;
            Ok(abi::OK)
        })
    }
}

pub(super) unsafe extern "C" fn remove<E: Engine>(
    session: *mut abi::Session,
    key: *const c_void,
    key_size: usize,
) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, a key.
    unsafe {
        on_session::<E>(session, |inner| {
            let there = inner.remove(slice(key, key_size))?;
            Ok(if there { abi::OK } else { abi::MISS })
        })
    }
}

pub(super) unsafe extern "C" fn delete_range<E: Engine>(
    session: *mut abi::Session,
    from: *const c_void,
    from_size: usize,
    to: *const c_void,
    to_size: usize,
) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, and two keys.
    unsafe {
        on_session::<E>(session, |inner| {
            let (from, to) = (slice(from, from_size), slice(to, to_size));
            if from < to {
                inner.delete_range(from, to)?;
            }
            Ok(abi::OK)
        })
    }
}

pub(super) unsafe extern "C" fn contains<E: Engine>(
    session: *mut abi::Session,
    key: *const c_void,
    key_size: usize,
) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, a key.
    unsafe {
        on_session::<E>(session, |inner| {
            let there = inner.contains(slice(key, key_size))?;
            Ok(if there { abi::OK } else { abi::MISS })
        })
    }
}

pub(super) unsafe extern "C" fn insert_if_absent<E: Engine>(
    session: *mut abi::Session,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, a key, a value.
    unsafe {
        on_session::<E>(session, |inner| {
            let inserted = inner.insert_if_absent(slice(key, key_size), slice(value, value_size))?;
            Ok(if inserted { abi::OK } else { abi::EXISTS })
        })
    }
}

pub(super) unsafe extern "C" fn write<E: Engine>(
    session: *mut abi::Session,
    entries: *const abi::BatchEntry,
    count: usize,
) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, and `count` entries.
    unsafe { on_session::<E>(session, |inner| inner.write(Batch::new(entries, count)?).map(|()| abi::OK)) }
}

pub(super) unsafe extern "C" fn set_durability<E: Engine>(session: *mut abi::Session, level: u32) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on.
    unsafe { on_session::<E>(session, |inner| inner.set_durability(DurabilityLevel::of(level)?).map(|()| abi::OK)) }
}

pub(super) unsafe extern "C" fn multi_get<E: Engine>(
    session: *mut abi::Session,
    keys: *const abi::Bytes,
    count: usize,
    values: *mut abi::Bytes,
    statuses: *mut abi::Status,
) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on, `count` keys and memory for as many answers.
    unsafe {
        on_session::<E>(session, |inner| {
            let mut answers = MultiGetAnswers::new(values, statuses, count);
            inner.multi_get(MultiGetKeys::new(keys, count), &mut answers)?;
            answers.finish()?;
            Ok(abi::OK)
        })
    }
}

pub(super) unsafe extern "C" fn read_modify_write<E: Engine>(
    session: *mut abi::Session,
    key: *const c_void,
    key_size: usize,
    update: abi::UpdateFn,
    context: *mut c_void,
) -> abi::Status {
    // SAFETY: the contract: update and context are good through the call.
    let mut change = unsafe { Change::new(update, context) };
    // SAFETY: the contract: an open session that no other call runs on, a key.
    let status = unsafe {
        on_session::<E>(session, |inner| inner.read_modify_write(slice(key, key_size), &mut change).map(|()| abi::OK))
    };
    change.given_up.unwrap_or(status)
}

pub(super) unsafe extern "C" fn begin<E: Engine>(session: *mut abi::Session, kind: u32) -> abi::Status {
    let can = E::DESCRIPTION.capabilities;
    let kind = match kind {
        abi::READ_WRITE if can & abi::CAN_TRANSACT != 0 => Ok(Transaction::ReadWrite),
        abi::READ_ONLY if can & abi::CAN_SNAPSHOT != 0 => Ok(Transaction::ReadOnly),
        other => Err(Error::unsupported(format_args!("a transaction of kind {other}"))),
    };
    // SAFETY: the contract: an open session that no other call runs on.
    unsafe { on_session::<E>(session, |inner| inner.begin(kind?).map(|()| abi::OK)) }
}

pub(super) unsafe extern "C" fn commit<E: Engine>(session: *mut abi::Session) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on.
    unsafe { on_session::<E>(session, |inner| inner.commit().map(|()| abi::OK)) }
}

pub(super) unsafe extern "C" fn abort<E: Engine>(session: *mut abi::Session) -> abi::Status {
    // SAFETY: the contract: an open session that no other call runs on.
    unsafe { on_session::<E>(session, |inner| inner.abort().map(|()| abi::OK)) }
}
