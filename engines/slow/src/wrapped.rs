//! The adapter that is slowed down: which one that is, and its table with our functions in it.

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{mem, ptr, slice};

use kvdyno_abi as abi;

use crate::delay;

/// The most nanoseconds of an option.
const LONGEST_NS: i64 = 10_000_000;

/// The other adapter's table, and the one that the host gets.
pub struct Wrapped {
    /// The other adapter's own.
    pub inner: abi::Engine,
    /// With our functions and options.
    pub table: abi::Engine,
}

/// The adapter that is slowed down, loaded at the first call.
pub fn wrapped() -> Option<&'static Wrapped> {
    static WRAPPED: OnceLock<Option<Wrapped>> = OnceLock::new();
    WRAPPED.get_or_init(|| wrap(&own_path()?)).as_ref()
}

fn wrap(own: &Path) -> Option<Wrapped> {
    let name = own.file_name()?.to_str()?.strip_prefix("libkvdyno_slow-")?.strip_suffix(".so")?.to_owned();
    let folder = own.parent()?;
    let file = format!("libkvdyno_{name}.so");
    let path = [folder.join(&file), folder.join("../engines").join(&file)].into_iter().find(|path| path.is_file())?;
    let inner = load(&path)?;
    Some(Wrapped { table: slowed(&inner, &name)?, inner })
}

/// The file that this code was loaded from.
fn own_path() -> Option<PathBuf> {
    // SAFETY: plain data, for which zeros are a value; dladdr fills it for an address of this library.
    unsafe {
        let mut info: libc::Dl_info = mem::zeroed();
        let here = crate::kvdyno_engine_v2 as *const c_void;
        (libc::dladdr(here, &mut info) != 0 && !info.dli_fname.is_null())
            .then(|| PathBuf::from(OsStr::from_bytes(CStr::from_ptr(info.dli_fname).to_bytes())))
    }
}

/// The table of the adapter in `path`, which is never unloaded.
fn load(path: &Path) -> Option<abi::Engine> {
    let file = CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: as the lab loads adapters: the entry has the type that the header gives it, and answers a static struct.
    unsafe {
        let library = libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        let entry =
            if library.is_null() { ptr::null_mut() } else { libc::dlsym(library, c"kvdyno_engine_v2".as_ptr()) };
        if entry.is_null() {
            return None;
        }
        let entry: abi::EntryFn = mem::transmute::<*mut c_void, abi::EntryFn>(entry);
        let declared = entry();
        if declared.is_null() || (*declared).abi_version != abi::ABI_VERSION {
            return None;
        }
        let mut table = mem::MaybeUninit::<abi::Engine>::zeroed();
        let known = ((*declared).size as usize).min(size_of::<abi::Engine>());
        ptr::copy_nonoverlapping(declared.cast::<u8>(), table.as_mut_ptr().cast::<u8>(), known);
        Some(table.assume_init())
    }
}

/// The table with our functions where it has any, our name, and our options behind its own.
fn slowed(inner: &abi::Engine, name: &str) -> Option<abi::Engine> {
    let options = options(inner)?.leak();
    let only = |there: bool| there.then_some(());
    Some(abi::Engine {
        size: size_of::<abi::Engine>() as u32,
        name: crate::leaked(format!("slow-{name}")),
        summary: crate::leaked(format!("{name}, slowed down on purpose")),
        options: options.as_ptr(),
        option_count: options.len(),
        option_size: size_of::<abi::OptionDecl>(),
        open: Some(crate::open),
        settings: Some(crate::settings),
        get: Some(crate::get),
        put: Some(crate::put),
        write: only(inner.write.is_some()).map(|()| crate::write as abi::WriteFn),
        cursor_next: only(inner.cursor_next.is_some()).map(|()| crate::cursor_next as abi::CursorStepFn),
        cursor_previous: only(inner.cursor_previous.is_some()).map(|()| crate::cursor_previous as abi::CursorStepFn),
        destroy: only(inner.destroy.is_some()).map(|()| crate::destroy as abi::DestroyFn),
        effective_capabilities: only(inner.effective_capabilities.is_some())
            .map(|()| crate::effective_capabilities as abi::EffectiveCapabilitiesFn),
        ..*inner
    })
}

/// The other adapter's options and ours; nothing if its declarations are of another size.
fn options(inner: &abi::Engine) -> Option<Vec<abi::OptionDecl>> {
    let of_others = match inner.option_count {
        0 => &[],
        _ if inner.option_size != size_of::<abi::OptionDecl>() => return None,
        // SAFETY: the table says that so many are there, of the size that was compared.
        count => unsafe { slice::from_raw_parts(inner.options, count) },
    };
    let own = |(name, help): &(&'static CStr, &'static CStr)| abi::OptionDecl {
        name: name.as_ptr(),
        kind: abi::OPTION_INTEGER,
        flags: 0,
        default_value: c"0".as_ptr(),
        choices: ptr::null::<c_char>(),
        minimum: 0,
        maximum: LONGEST_NS,
        help: help.as_ptr(),
    };
    Some(of_others.iter().copied().chain(delay::OPTIONS.iter().map(own)).collect())
}
