//! The output of engine and worker: its beginning is written as it comes, and of the rest only the end is kept.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use kvdyno_results::files;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;

/// Bytes of the head, and of the tail.
const KEPT: usize = 1 << 20;

/// The logs of a trial's processes while they are written.
#[derive(Debug, Default)]
pub(crate) struct WorkerLogs {
    logs: Vec<WorkerLog>,
}

/// The same, on a thread that reads what is printed.
#[derive(Debug)]
pub(crate) struct LogThread {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<String>>,
}

#[derive(Debug)]
struct WorkerLog {
    path: PathBuf,
    file: File,
    printed: PipeReader,
    head: usize,
    tail: VecDeque<u8>,
    cut: u64,
    ended: bool,
    complaint: Option<io::Error>,
}

impl WorkerLogs {
    /// A new log in this file; a process that prints into what comes back is read.
    pub(crate) fn add(&mut self, path: &Path) -> io::Result<PipeWriter> {
        let (printed, writer) = io::pipe()?;
        fcntl_setfl(&printed, OFlags::NONBLOCK)?;
        let file = files::create_anew(path)
            .map_err(|cause| io::Error::new(cause.kind(), format!("cannot make {}: {cause}", path.display())))?;
        let (tail, path) = (VecDeque::new(), path.to_owned());
        self.logs.push(WorkerLog { path, file, printed, head: 0, tail, cut: 0, ended: false, complaint: None });
        Ok(writer)
    }

    /// Reads what is printed from now on.
    pub(crate) fn start(mut self) -> io::Result<LogThread> {
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let read = move || {
            while !self.read_all(&is_over) {}
            self.logs.into_iter().filter_map(WorkerLog::finish).collect()
        };
        Ok(LogThread { over, thread: thread::Builder::new().name("logs".into()).spawn(read)? })
    }

    /// Reads what is there, or waits a moment for more. Returns whether all have ended.
    fn read_all(&mut self, over: &AtomicBool) -> bool {
        // Before the reading: what was printed until now is there.
        let last = over.load(Ordering::SeqCst);
        self.logs.iter_mut().filter(|log| !log.ended).for_each(WorkerLog::read);
        let mut events: Vec<_> = self.logs.iter().filter(|log| !log.ended).map(event).collect();
        if last || events.is_empty() {
            return true;
        }
        let moment = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        // However it ends, the next look tells.
        let _ = poll(&mut events, Some(&moment));
        false
    }
}

fn event(log: &WorkerLog) -> PollFd<'_> {
    PollFd::new(&log.printed, PollFlags::IN)
}

impl LogThread {
    /// To be called when the processes have ended. Gives back why something could not be kept.
    pub(crate) fn finish(self) -> Vec<String> {
        self.over.store(true, Ordering::SeqCst);
        self.thread.join().unwrap_or_else(|_| vec!["the thread that keeps what the worker prints has ended".to_owned()])
    }
}

impl WorkerLog {
    /// Reads what is there, up to a few megabytes: other logs want to be read too.
    fn read(&mut self) {
        let mut bytes = [0; 64 << 10];
        for _ in 0..64 {
            match self.printed.read(&mut bytes) {
                Ok(0) => {
                    self.ended = true;
                    return;
                }
                Ok(size) => self.take(&bytes[..size]),
                Err(error) if Errno::from_io_error(&error) == Some(Errno::INTR) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => {
                    self.complaint.get_or_insert(error);
                    self.ended = true;
                    return;
                }
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(KEPT - self.head));
        self.head += head.len();
        if self.complaint.is_none() && !head.is_empty() {
            self.complaint = self.file.write_all(head).err();
        }
        self.tail.extend(rest);
        let more = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..more);
        self.cut += more as u64;
    }

    fn finish(mut self) -> Option<String> {
        let (first, second) = self.tail.as_slices();
        let cut = match self.cut {
            0 => String::new(),
            cut => format!("\n… {cut} bytes that came here are not kept …\n"),
        };
        let written = match self.complaint.take() {
            Some(complaint) => Err(complaint),
            None => [cut.as_bytes(), first, second].into_iter().try_for_each(|part| self.file.write_all(part)),
        };
        let path = self.path.display();
        written.err().map(|cause| format!("what the worker printed could not be kept in {path}: {cause}"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn of_much_that_is_printed_head_and_tail_are_kept_and_what_was_cut_is_told() {
        let folder = std::env::temp_dir().join(format!("kvdyno-logs-{}", std::process::id()));
        let mut logs = WorkerLogs::default();
        let mut writer = logs.add(&folder).unwrap();
        let thread = logs.start().unwrap();
        writer.write_all(b"first").unwrap();
        writer.write_all(&vec![b'x'; 5 * KEPT]).unwrap();
        writer.write_all(b"last").unwrap();
        drop(writer);
        assert_eq!(thread.finish(), Vec::<String>::new());
        let text = std::fs::read_to_string(&folder).unwrap();
        std::fs::remove_file(&folder).unwrap();
        assert!(text.starts_with("firstx") && text.ends_with("xlast"));
        let cut = format!("\n… {} bytes that came here are not kept …\n", 3 * KEPT + 9);
        assert!(text.contains(&cut), "{}", text.len());
        assert_eq!(text.len(), 2 * KEPT + cut.len());
    }
}
