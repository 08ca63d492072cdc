//! Texts across the border.

use std::ffi::{CStr, c_char, c_void};

use kvdyno_abi::Text;

/// Room for a text that an adapter writes.
pub(crate) struct TextBuffer {
    bytes: Vec<u8>,
}

impl TextBuffer {
    pub(crate) fn new() -> Self {
        TextBuffer { bytes: vec![0; 2048] }
    }

    pub(crate) fn as_abi(&mut self) -> Text {
        Text { data: self.bytes.as_mut_ptr().cast(), capacity: self.bytes.len() }
    }

    /// The text, or `otherwise` if it is empty.
    pub(crate) fn read(&self, otherwise: &str) -> String {
        let end = self.bytes.iter().position(|&byte| byte == 0).unwrap_or(self.bytes.len());
        match &self.bytes[..end] {
            [] => otherwise.to_owned(),
            bytes => String::from_utf8_lossy(bytes).trim_end().to_owned(),
        }
    }
}

/// A text of an adapter's, or `None` for NULL.
///
/// # Safety
/// `text` is NULL or points to bytes that end with a zero.
pub(crate) unsafe fn optional(text: *const c_char) -> Option<String> {
    // SAFETY: as the caller promises.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// An entry that an adapter emitted: topic, name, value.
pub(crate) type Entry = (String, String, String);

/// The [`kvdyno_abi::Emit`] that collects into a `Vec<Entry>`.
pub(crate) unsafe extern "C" fn collect(
    context: *mut c_void,
    topic: *const c_char,
    name: *const c_char,
    value: *const c_char,
) {
    // SAFETY: `context` is the `Vec` that the host handed over with this function, and nobody else uses it meanwhile;
    // the texts are zero-terminated, as the header demands.
    unsafe {
        let entries = &mut *context.cast::<Vec<Entry>>();
        let text = |pointer| optional(pointer).unwrap_or_default();
        entries.push((text(topic), text(name), text(value)));
    }
}
