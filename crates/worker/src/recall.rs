//! Answers for an engine that keeps nothing: `kvdyno_host.recall`.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::{mem, ptr, slice};

use kvdyno_dataset::{Keys, Ledger, Values};
use kvdyno_engine::{Host, abi};

/// The values that a session recalls.
///
/// The null engine exists to measure the driver, so recalling must cost as little as it can: the id of the key that the
/// driver is asking for need not be read from the key again, and where all values of a load fit into a small cache they
/// are made beforehand.
pub struct RecallContext<'a> {
    keys: &'a Keys,
    values: &'a Values,
    /// The acknowledged versions; absent if nothing was updated, to save the lookup.
    ledger: Option<Ledger<'a>>,
    value: UnsafeCell<Vec<u8>>,
    /// The values of all ids as they were loaded, one after the other; empty where they are too many.
    loaded: Vec<u8>,
    key_buffer: Cell<*const u8>,
    key_id: Cell<u64>,
}

impl<'a> RecallContext<'a> {
    /// For a session's thread.
    pub fn new(keys: &'a Keys, values: &'a Values, records: u64, ledger: Option<Ledger<'a>>) -> Self {
        RecallContext {
            keys,
            values,
            value: values.blank(1).into(),
            loaded: if ledger.is_none() { all_loaded(values, records) } else { Vec::new() },
            ledger,
            key_buffer: Cell::new(ptr::null()),
            key_id: Cell::new(0),
        }
    }

    /// The value of `id` as it was loaded, if it was made beforehand.
    #[inline(always)]
    fn loaded(&self, id: u64) -> Option<&[u8]> {
        let size = self.values.size();
        self.loaded.get(id as usize * size..)?.get(..size).filter(|value| !value.is_empty())
    }

    /// The host that the engine gets to see.
    pub fn host(&self) -> Host {
        Host {
            size: mem::size_of::<Host>() as u32,
            reserved: 0,
            context: ptr::from_ref(self).cast_mut().cast(),
            recall: Some(recall),
        }
    }

    /// Sets the buffer in which the driver spells the keys that it requests.
    pub fn will_ask_with(&self, key: &[u8]) {
        self.key_buffer.set(key.as_ptr());
    }

    /// Sets the id that the buffer spells now.
    #[inline(always)]
    pub fn will_ask_for(&self, id: u64) {
        self.key_id.set(id);
    }

    /// Makes the value of `id`.
    ///
    /// # Safety
    /// Nobody uses what the last call answered any more.
    #[inline(never)]
    unsafe fn make(&self, id: u64) -> &[u8] {
        let version = self.ledger.map_or(0, |ledger| ledger.min_version(id));
        // SAFETY: as the caller promises.
        let buffer = unsafe { &mut *self.value.get() };
        let size = self.values.write(id, version, buffer);
        &buffer[..size]
    }

    #[inline(always)]
    fn id_of(&self, key: *const u8, size: usize) -> u64 {
        match ptr::eq(key, self.key_buffer.get()) {
            true => self.key_id.get(),
            // SAFETY: as `recall` was promised.
            false => self.keys.read_own(unsafe { slice::from_raw_parts(key, size) }),
        }
    }
}

/// Bytes of values that are made beforehand at the most: they stay within a core's own cache.
const LOADED_SIZE: u64 = 256 << 10;

fn all_loaded(values: &Values, records: u64) -> Vec<u8> {
    match records.checked_mul(values.size() as u64) {
        Some(size @ 1..=LOADED_SIZE) => {
            let mut loaded = vec![0; size as usize];
            loaded.chunks_mut(values.size()).zip(0..).for_each(|(value, id)| {
                values.write(id, 0, value);
            });
            loaded
        }
        _ => Vec::new(),
    }
}

/// The value that the lab last stored under a key.
///
/// # Safety
/// `context` is a [`RecallContext`] of the calling thread; the key is one of the lab's; `value` can be written.
unsafe extern "C" fn recall(
    context: *mut c_void,
    key: *const c_void,
    key_size: usize,
    value: *mut abi::Bytes,
) -> abi::Status {
    // SAFETY: as the caller promises; the buffer is this thread's, and the last loan of it ended with this call.
    unsafe {
        let context = &*context.cast::<RecallContext<'_>>();
        let id = context.id_of(key.cast(), key_size);
        let recalled = context.loaded(id).unwrap_or_else(|| context.make(id));
        *value = abi::Bytes { data: recalled.as_ptr().cast(), size: recalled.len() };
    }
    abi::OK
}
