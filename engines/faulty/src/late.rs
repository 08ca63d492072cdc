//! Puts that are acknowledged, and done later.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::fault::Fault;
use crate::store::Blob;

/// A key and its value.
pub type Put = (Blob, Blob);

/// The puts that are still to be done.
#[derive(Debug)]
pub struct LatePuts {
    /// The most of them.
    delay: usize,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// The oldest first.
    in_order: VecDeque<Put>,
    /// One of each key.
    by_key: BTreeMap<Blob, Blob>,
}

impl LatePuts {
    pub fn new(delay: usize) -> Self {
        Self { delay, waiting: Mutex::default() }
    }

    /// Puts one off. Returns those that are done instead.
    pub fn put_off(&self, fault: Fault, (key, value): Put) -> Vec<Put> {
        let Waiting { in_order, by_key } = &mut *self.waiting();
        match fault {
            Fault::SwappedWrites => match by_key.remove(&key) {
                Some(older) => vec![(Blob::clone(&key), value), (key, older)],
                None => {
                    by_key.insert(key, value);
                    Vec::new()
                }
            },
            Fault::LateLastWrite => {
                by_key.insert(key, value);
                if by_key.len() < self.delay { Vec::new() } else { std::mem::take(by_key).into_iter().collect() }
            }
            _ => {
                in_order.push_back((key, value));
                let done = in_order.len().saturating_sub(self.delay);
                in_order.drain(..done).collect()
            }
        }
    }

    /// All that are still to be done; they are done now.
    pub fn all(&self) -> Vec<Put> {
        let Waiting { in_order, by_key } = std::mem::take(&mut *self.waiting());
        in_order.into_iter().chain(by_key).collect()
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
