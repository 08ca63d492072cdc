//! Exceptions of C++ that leave an adapter, which none may.
//!
//! Rust cannot catch them, and would end the process without saying which exception it was. Calls into an adapter
//! therefore run within [`guarded`], where such an exception ends: the C++ runtime writes the exception and its text to
//! standard error, after a line that names the call.

/// Does `work`, in which no exception of C++ passes this frame. Costs nothing where none is thrown.
#[cfg(target_arch = "x86_64")]
pub fn guarded<T>(work: impl FnOnce() -> T) -> T {
    x86_64::guarded(work)
}

/// Does `work`. For this processor nobody wrote a frame that exceptions cannot pass.
#[cfg(not(target_arch = "x86_64"))]
pub fn guarded<T>(work: impl FnOnce() -> T) -> T {
    work()
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::global_asm;
    use std::backtrace::Backtrace;
    use std::ffi::{c_int, c_void};
    use std::io::{Write, stderr};
    use std::ptr;

    // A frame with a personality of its own: the function that an unwinder asks what is to be done there.
    global_asm!(
        ".pushsection .text.kvdyno_guard, \"ax\", @progbits",
        ".globl kvdyno_guard",
        ".hidden kvdyno_guard",
        ".type kvdyno_guard, @function",
        "kvdyno_guard:",
        ".cfi_startproc",
        ".cfi_personality 0x1b, {personality}", // by its distance, in four bytes
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov rax, rdi",
        "mov rdi, rsi",
        "call rax",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        ".size kvdyno_guard, . - kvdyno_guard",
        ".popsection",
        personality = sym personality,
    );

    unsafe extern "C-unwind" {
        fn kvdyno_guard(call: unsafe extern "C-unwind" fn(*mut c_void), context: *mut c_void);
    }

    /// The vendor and language of an exception, without the last byte, by which a runtime tells its own kinds apart.
    const CPP_CLASSES: [[u8; 7]; 2] = [*b"GNUCC++", *b"CLNGC++"];
    /// Answers to an unwinder that looks for a handler (`_Unwind_Reason_Code`): there is an error, or look further.
    const FATAL_PHASE1_ERROR: c_int = 3;
    const CONTINUE_UNWIND: c_int = 8;

    /// The search for a handler ends here for exceptions of C++: their runtime then calls `std::terminate`, which says
    /// what was thrown. A panic goes on.
    extern "C" fn personality(
        _version: c_int,
        _actions: c_int,
        class: u64,
        _exception: *mut c_void,
        _context: *mut c_void,
    ) -> c_int {
        let bytes = class.to_be_bytes();
        if !CPP_CLASSES.iter().any(|class| bytes.starts_with(class)) {
            return CONTINUE_UNWIND;
        }
        // An error is ignored: the process ends.
        let _ = writeln!(
            stderr(),
            "kvdyno: an exception of C++ left the adapter, which must catch it and answer KVDYNO_ERROR. It came \
             from:\n{}",
            Backtrace::force_capture()
        );
        FATAL_PHASE1_ERROR
    }

    struct GuardedTask<F, T> {
        work: Option<F>,
        done: Option<T>,
    }

    unsafe extern "C-unwind" fn call<F: FnOnce() -> T, T>(context: *mut c_void) {
        // SAFETY: `guarded` hands over its task and waits.
        let task = unsafe { &mut *context.cast::<GuardedTask<F, T>>() };
        task.done = task.work.take().map(|work| work());
    }

    /// Takes the types of a closure that cannot be named.
    pub fn guarded<F: FnOnce() -> T, T>(work: F) -> T {
        let mut task = GuardedTask { work: Some(work), done: None };
        // SAFETY: the frame calls `call` once with the task, which outlives it; a panic unwinds through both.
        unsafe { kvdyno_guard(call::<F, T>, ptr::from_mut(&mut task).cast()) };
        match task.done {
            Some(done) => done,
            None => unreachable!("the frame returns only once the work is done"),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_panic_passes_the_guard_and_what_is_done_within_it_is_given_back() {
            assert_eq!(guarded(|| 7), 7);
            let caught = std::panic::catch_unwind(|| guarded(|| std::panic::resume_unwind(Box::new(5))));
            assert_eq!(caught.unwrap_err().downcast_ref::<i32>(), Some(&5));
        }
    }
}
