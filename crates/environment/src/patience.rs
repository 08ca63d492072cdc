//! Trying again what may succeed in a moment.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(10);

/// Repeats an attempt until it succeeds, for at most `patience`.
///
/// # Errors
/// The last attempt's error. It is returned at once where waiting does not help: a permission or the thing itself is
/// missing, or the filesystem is read-only.
pub(crate) fn patiently<T>(patience: Duration, mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let since = Instant::now();
    loop {
        match attempt() {
            Err(error) if may_pass(&error) && since.elapsed() < patience => thread::sleep(PAUSE),
            outcome => return outcome,
        }
    }
}

fn may_pass(error: &io::Error) -> bool {
    use io::ErrorKind::{NotFound, PermissionDenied, ReadOnlyFilesystem};
    !matches!(error.kind(), NotFound | PermissionDenied | ReadOnlyFilesystem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_tried_again_and_a_missing_right_is_told_at_once() {
        let long = Duration::from_secs(600);
        let mut attempts = 0;
        let mut third = || {
            attempts += 1;
            if attempts == 3 { Ok("done") } else { Err(io::ErrorKind::ResourceBusy.into()) }
        };
        assert_eq!(patiently(long, &mut third).unwrap(), "done");
        for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::NotFound] {
            let refused = patiently(long, || Err::<(), _>(kind.into()));
            assert_eq!(refused.unwrap_err().kind(), kind);
        }
        let busy = patiently(Duration::ZERO, || Err::<(), _>(io::ErrorKind::ResourceBusy.into()));
        assert_eq!(busy.unwrap_err().kind(), io::ErrorKind::ResourceBusy);
    }
}
