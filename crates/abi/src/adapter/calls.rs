//! The data of a call: texts out, batches, keys and answers, the host's own functions.

use super::error::Error;
use crate::types as abi;
use std::ffi::{CString, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::ptr;

/// Lists settings or statistics, one line after the other.
pub struct Listing<'a> {
    emit: abi::Emit,
    context: *mut c_void,
    call: PhantomData<&'a mut ()>,
}

impl Listing<'_> {
    /// # Safety
    ///
    /// `emit` may be called with `context` for as long as the listing lives.
    pub(super) unsafe fn new(emit: abi::Emit, context: *mut c_void) -> Self {
        Self { emit, context, call: PhantomData }
    }

    /// One line: in `topic`, `name` is `value`.
    pub fn say(&mut self, topic: &str, name: &str, value: impl fmt::Display) {
        let [topic, name, value] = [c_string(topic), c_string(name), c_string(&value.to_string())];
        // SAFETY: `new` was promised this; the three are C strings that live through the call.
        unsafe { (self.emit)(self.context, topic.as_ptr(), name.as_ptr(), value.as_ptr()) }
    }
}

impl fmt::Debug for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing").finish_non_exhaustive()
    }
}

/// The text without the zero bytes that C could not carry.
fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// Writes what fits of `text`, cut between characters, and the zero: for an adapter that replaces members of the table.
///
/// # Safety
///
/// `target` is NULL or points to a `kvdyno_text` with the capacity that it says.
pub unsafe fn write_text(target: *mut abi::Text, text: &str) {
    // SAFETY: the caller's promise.
    let Some(target) = (unsafe { target.as_ref() }) else { return };
    if target.data.is_null() || target.capacity == 0 {
        return;
    }
    let mut size = text.len().min(target.capacity - 1);
    while !text.is_char_boundary(size) {
        size -= 1;
    }
    // SAFETY: size + 1 bytes are within the capacity, and the text is not the host's.
    unsafe {
        ptr::copy_nonoverlapping(text.as_ptr(), target.data.cast(), size);
        target.data.add(size).write(0);
    }
}

/// Bytes of the host's as a slice.
///
/// # Safety
///
/// `data` holds `size` bytes, unchanged for as long as `'a`; it may be anything where `size` is 0.
#[inline(always)]
pub(super) unsafe fn slice<'a>(data: *const c_void, size: usize) -> &'a [u8] {
    let data = if size == 0 { ptr::dangling() } else { data.cast() };
    // SAFETY: the caller's promise; a slice of nothing may stand anywhere but at NULL.
    unsafe { std::slice::from_raw_parts(data, size) }
}

#[inline(always)]
pub(super) fn bytes(slice: &[u8]) -> abi::Bytes {
    abi::Bytes { data: slice.as_ptr().cast(), size: slice.len() }
}

/// The host's functions for a session.
#[derive(Debug)]
pub struct Host {
    context: *mut c_void,
    recall: Option<abi::Recall>,
}

impl Host {
    /// # Safety
    ///
    /// `host` is NULL or what the ABI says of a `kvdyno_host`, for as long as the result lives.
    pub(super) unsafe fn new(host: *const abi::Host) -> Self {
        // SAFETY: the caller's promise; the size comes first and says how much there is.
        if host.is_null() || unsafe { (*host).size as usize } < size_of::<abi::Host>() {
            return Self { context: ptr::null_mut(), recall: None };
        }
        // SAFETY: it is there, in full.
        let host = unsafe { &*host };
        Self { context: host.context, recall: host.recall }
    }

    /// The value that the lab last stored under `key`, for an engine that stores nothing (`IS_VOLATILE`).
    #[inline]
    pub fn recall(&mut self, key: &[u8]) -> Result<Option<&[u8]>, Error> {
        let Some(recall) = self.recall else {
            return Err(Error::new("the host recalls nothing"));
        };
        let mut value = bytes(&[]);
        // SAFETY: the host's function and context live as long as the session that this belongs to.
        match unsafe { recall(self.context, key.as_ptr().cast(), key.len(), &mut value) } {
            // SAFETY: the bytes are good until the session's next call: the borrow of `self` ends before that.
            abi::OK => Ok(Some(unsafe { slice(value.data, value.size) })),
            abi::MISS => Ok(None),
            status => Err(Error::new(format_args!("the host's recall answered {status}"))),
        }
    }
}

/// One entry of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchEntry<'a> {
    /// Inserts or replaces.
    Put {
        /// The key.
        key: &'a [u8],
        /// Its new value.
        value: &'a [u8],
    },
    /// Deletes.
    Delete {
        /// The key.
        key: &'a [u8],
    },
}

/// The entries of a batch: an iterator of [`BatchEntry`] that can be cloned to go through them again.
#[derive(Clone, Debug)]
pub struct Batch<'a>(std::slice::Iter<'a, abi::BatchEntry>);

impl<'a> Batch<'a> {
    /// # Safety
    ///
    /// `entries` points to `count` entries whose keys and values live for `'a`.
    pub(super) unsafe fn new(entries: *const abi::BatchEntry, count: usize) -> Result<Self, Error> {
        let entries: &[abi::BatchEntry] = match count {
            0 => &[],
            // SAFETY: the caller's promise.
            _ => unsafe { std::slice::from_raw_parts(entries, count) },
        };
        match entries.iter().find(|entry| entry.kind != abi::PUT && entry.kind != abi::DELETE) {
            Some(entry) => Err(Error::unsupported(format_args!("a batch entry of kind {}", entry.kind))),
            None => Ok(Self(entries.iter())),
        }
    }
}

impl<'a> Iterator for Batch<'a> {
    type Item = BatchEntry<'a>;

    #[inline]
    fn next(&mut self) -> Option<BatchEntry<'a>> {
        let entry = self.0.next()?;
        // SAFETY: `new` was promised that keys and values are there.
        let key = unsafe { slice(entry.key.data, entry.key.size) };
        Some(match entry.kind {
            abi::DELETE => BatchEntry::Delete { key },
            // SAFETY: as above.
            _ => BatchEntry::Put { key, value: unsafe { slice(entry.value.data, entry.value.size) } },
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Batch<'_> {}

/// The keys of a `multi_get`, in order: an iterator that can be cloned.
#[derive(Clone, Debug)]
pub struct MultiGetKeys<'a>(std::slice::Iter<'a, abi::Bytes>);

impl<'a> MultiGetKeys<'a> {
    /// # Safety
    ///
    /// `keys` holds `count` keys that are there for as long as `'a`.
    pub(super) unsafe fn new(keys: *const abi::Bytes, count: usize) -> Self {
        // SAFETY: the caller's promise.
        let keys: &[abi::Bytes] = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(keys, count) } };
        Self(keys.iter())
    }
}

impl<'a> Iterator for MultiGetKeys<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        // SAFETY: `new` was promised that the keys are there.
        self.0.next().map(|key| unsafe { slice(key.data, key.size) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for MultiGetKeys<'_> {}

/// The answers of a `multi_get`: one for each key, by its index. A key without an answer is an error.
#[derive(Debug)]
pub struct MultiGetAnswers<'a, 's> {
    values: &'a mut [abi::Bytes],
    statuses: &'a mut [abi::Status],
    error: Option<Error>,
    borrowed: PhantomData<&'s [u8]>,
}

impl<'s> MultiGetAnswers<'_, 's> {
    /// # Safety
    ///
    /// Both have `count` members that nothing else touches.
    pub(super) unsafe fn new(values: *mut abi::Bytes, statuses: *mut abi::Status, count: usize) -> Self {
        if count == 0 {
            return Self { values: &mut [], statuses: &mut [], error: None, borrowed: PhantomData };
        }
        // SAFETY: the caller's promise; `Bytes` and `Status` have no invalid values, and nothing is read before `set`.
        unsafe {
            ptr::write_bytes(values, 0, count);
            ptr::write_bytes(statuses, 0xff, count);
        }
        const { assert!(abi::ERROR == -1) };
        // SAFETY: the caller's promise, and both were just written.
        let (values, statuses) =
            unsafe { (std::slice::from_raw_parts_mut(values, count), std::slice::from_raw_parts_mut(statuses, count)) };
        Self { values, statuses, error: None, borrowed: PhantomData }
    }

    /// The answer to key number `index`: its value, `None` for a miss, or why there is none.
    #[inline]
    pub fn set(&mut self, index: usize, answer: Result<Option<&'s [u8]>, Error>) {
        self.statuses[index] = match answer {
            Ok(Some(value)) => {
                self.values[index] = bytes(value);
                abi::OK
            }
            Ok(None) => abi::MISS,
            Err(error) => {
                let status = error.status().code();
                self.error = Some(error);
                status
            }
        }
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        if let Some(error) = self.error {
            return Err(error);
        }
        match self.statuses.iter().position(|&status| status != abi::OK && status != abi::MISS) {
            Some(index) => Err(Error::new(format_args!("the adapter gave no answer to key {index}"))),
            None => Ok(()),
        }
    }
}

/// The caller's function that makes the new value in a `read_modify_write`.
#[derive(Debug)]
pub struct Change<'a> {
    update: abi::UpdateFn,
    context: *mut c_void,
    pub(super) given_up: Option<abi::Status>,
    call: PhantomData<&'a mut ()>,
}

impl Change<'_> {
    /// # Safety
    ///
    /// `update` may be called with `context` for as long as the result lives.
    pub(super) unsafe fn new(update: abi::UpdateFn, context: *mut c_void) -> Self {
        Self { update, context, given_up: None, call: PhantomData }
    }

    /// The new value, from the present one. An engine that starts its entry again asks again. An error says that the
    /// change was given up: the adapter undoes the entry and returns that error.
    pub fn apply(&mut self, old: Option<&[u8]>) -> Result<&[u8], Error> {
        let nothing = abi::Bytes { data: ptr::null(), size: 0 };
        let mut value = nothing;
        // SAFETY: `new` was promised this.
        match unsafe { (self.update)(self.context, old.map_or(nothing, bytes), &mut value) } {
            abi::OK => {
                self.given_up = None;
                // SAFETY: the value is good until the update is called again, for which the borrow must end.
                Ok(unsafe { slice(value.data, value.size) })
            }
            status => {
                self.given_up = Some(status);
                Err(Error::new(format_args!("the change was given up with {status}")))
            }
        }
    }
}
