//! The kinds of faults.

use std::ffi::CStr;

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $name:literal $fault:ident)*) => {
        /// The kind of failure.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault {
            /// Nothing does.
            None,
            $($(#[doc = $doc])+ $fault),*
        }

        impl Fault {
            /// All names, as an option's choices are spelled.
            pub const CHOICES: &CStr = {
                let names = concat!("none", $("|", $name,)* "\0");
                match CStr::from_bytes_with_nul(names.as_bytes()) {
                    Ok(text) => text,
                    Err(_) => panic!("a name with a zero byte"),
                }
            };

            /// The fault of that name.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    "none" => Some(Self::None),
                    $($name => Some(Self::$fault),)*
                    _ => None,
                }
            }
        }
    };
}

faults! {
    /// A read writes to an address near NULL.
    "segv-get" SegvGet
    /// A write writes to an address near NULL.
    "segv-put" SegvPut
    /// The opening writes to an address near NULL.
    "segv-open" SegvOpen
    /// The closing writes to an address near NULL, before anything is saved.
    "segv-close" SegvClose
    /// A read aborts the process.
    "abort-get" AbortGet
    /// A read leaves the process with exit code 0, as if all were well.
    "exit-get" ExitGet
    /// The opening leaves the process with exit code 3.
    "exit-open" ExitOpen
    /// A read never returns.
    "hang-get" HangGet
    /// A write never returns.
    "hang-put" HangPut
    /// The opening never returns.
    "hang-open" HangOpen
    /// The closing never returns.
    "hang-close" HangClose
    /// A read answers ERROR.
    "error-get" ErrorGet
    /// A write answers ERROR and stores nothing.
    "error-put" ErrorPut
    /// The opening answers ERROR.
    "error-open" ErrorOpen
    /// A write meets a full device (`/dev/full`), answers NO_SPACE and stores nothing.
    "enospc-put" EnospcPut
    /// A write fills the filesystem of the database with garbage, which stays; then as `enospc-put`.
    "fill-disk" FillDisk
    /// A read gives the value of another key.
    "other-key" OtherKey
    /// A read gives the value before the newest.
    "old-value" OldValue
    /// A read gives the first half of the newest value and the second half of the one before or of another key's.
    "torn-value" TornValue
    /// A read gives the value with one bit changed, each time another one.
    "flipped-bit" FlippedBit
    /// A read gives the value without its last byte.
    "short-value" ShortValue
    /// A read gives the value with a byte more.
    "long-value" LongValue
    /// A read of a key that is there answers MISS.
    "missing" Missing
    /// A put, a delete or a step of a batch is acknowledged and not done.
    "dropped-write" DroppedWrite
    /// The same, but `every` successive ones, and none after them.
    "dropped-while" DroppedWhile
    /// The same, if another session has read since the put before it.
    "dropped-beside-reads" DroppedBesideReads
    /// A put is acknowledged, and done after `delay` more, before another session begins, or at the close.
    "late-write" LateWrite
    /// The same, but once there are puts of `delay` keys, and of each key the last one only.
    "late-last-write" LateLastWrite
    /// The same, but after the next put of its key: the older value stays.
    "swapped-writes" SwappedWrites
    /// A delete is acknowledged and not done.
    "undone-delete" UndoneDelete
    /// A record that was deleted is there again after the next delete.
    "ghost" Ghost
    /// The deletion of a range takes the key after it, too.
    "long-range" LongRange
    /// The deletion of a range is two steps, which others can see between.
    "half-range" HalfRange
    /// The deletion of a range in which nothing lies answers ERROR.
    "empty-range" EmptyRange
    /// An insert-if-absent replaces what is there.
    "blind-insert" BlindInsert
    /// An insert-if-absent is answered as if the key were there, which it is not.
    "refused-insert" RefusedInsert
    /// A cursor passes over a record.
    "scan-skip" ScanSkip
    /// A cursor gives two records in the wrong order.
    "scan-order" ScanOrder
    /// A cursor gives a record twice.
    "scan-twice" ScanTwice
    /// A cursor ends before the last record.
    "scan-short" ScanShort
    /// A seek forward passes over the first record.
    "seek-skip" SeekSkip
    /// A seek forward gives a record that was deleted, if one stood before the first.
    "seek-ghost" SeekGhost
    /// A cursor goes beyond its bounds.
    "unbounded" Unbounded
    /// A cursor's seek finds what lies beyond its bounds.
    "unbounded-seek" UnboundedSeek
    /// A transaction does not see what it wrote itself.
    "blind-transaction" BlindTransaction
    /// A snapshot shows what was written after its begin.
    "late-snapshot" LateSnapshot
    /// A commit applies only the first write of a transaction.
    "half-transaction" HalfTransaction
    /// A transaction reads what another has written and not committed.
    "dirty-read" DirtyRead
    /// A transaction commits over what another has committed since it read.
    "lost-update" LostUpdate
    /// A read-modify-write builds on the value before the newest, as if another had come between: one of both is lost.
    "lost-atomic-update" LostAtomicUpdate
    /// A transaction that reads a record again sees what another has committed since.
    "unrepeated-read" UnrepeatedRead
    /// Options in the engine's own words are not read, so that none of them is refused.
    "unread-words" UnreadWords
    /// A session keeps the durability of its database, whatever level it was told.
    "weak-write" WeakWrite
    /// A write at durability `commit` is acknowledged without a sync.
    "unsynced-commit" UnsyncedCommit
    /// The same, but a file that has nothing to do with it is synced.
    "synced-elsewhere" SyncedElsewhere
    /// The same, but the folder of the database is synced.
    "synced-folder" SyncedFolder
    /// The same, but the log is written to the device, whose cache is not flushed.
    "written-out" WrittenOut
    /// Of the writes at durability `commit` that it hits, each hundredth is synced.
    "synced-seldom" SyncedSeldom
    /// A write at durability `commit` is synced after it was acknowledged: by a thread, 10 ms later.
    "synced-behind" SyncedBehind
    /// The same, once a second.
    "synced-each-second" SyncedEachSecond
    /// At durability `periodic` the log is never synced.
    "unsynced-log" UnsyncedLog
    /// A read takes 50 ms longer.
    "slow-get" SlowGet
    /// A write takes 50 ms longer.
    "slow-put" SlowPut
    /// Before the first record and after the last one stands another, which nobody wrote.
    "phantom" Phantom
    /// A session is the only one that sees its writes.
    "private" Private
    /// Nothing is kept, and reads are left to the host's `recall`; without one they answer MISS.
    "recalled" Recalled
    /// The closing saves every other record only, and says OK.
    "lost-at-close" LostAtClose
    /// The closing saves nothing, and says OK.
    "forgotten-at-close" ForgottenAtClose
    /// The closing saves of each record the version before the newest, and none where there is none.
    "older-at-close" OlderAtClose
    /// The closing saves each record with the value of another.
    "swapped-at-close" SwappedAtClose
    /// The closing saves each record with half of its value and half of another.
    "torn-at-close" TornAtClose
    /// The closing saves each record without the last byte of its value.
    "short-at-close" ShortAtClose
    /// The closing saves of each value only the part that other values do not have, and the opening makes up the rest.
    "folded-values" FoldedValues
    /// Of each value only its record and its version are kept. Reads make it up as if the seed of values were 1.
    "made-up-values" MadeUpValues
    /// The closing saves the records that were deleted, too.
    "undeleted-at-close" UndeletedAtClose
    /// Opening, closing and every N-th operation print a lot to stdout and stderr.
    "noisy" Noisy
    /// A write that the storage refuses is acknowledged all the same.
    "error-as-ok" ErrorAsOk
    /// A deletion of a record or a range, or an insert on condition, is acknowledged though the storage refuses it.
    /// Other writes are not.
    "error-as-done" ErrorAsDone
    /// Whether a key is there is answered with no if a file cannot be opened.
    "error-as-absent" ErrorAsAbsent
    /// In a snapshot a write is acknowledged, and done.
    "written-snapshot" WrittenSnapshot
    /// A read opens a file first, and answers MISS if it cannot.
    "error-as-miss" ErrorAsMiss
    /// An error leaves no text.
    "error-without-text" ErrorWithoutText
    /// The closing saves nothing if the storage refuses it, and says OK.
    "close-as-ok" CloseAsOk
    /// The counters say that nothing was counted.
    "counters-back" CountersBack
    /// A session leaves 290 bytes behind.
    "leaky-session" LeakySession
    /// The opening takes 50 ms longer.
    "slow-open" SlowOpen
    /// The closing takes 300 ms longer.
    "slow-close" SlowClose
}
