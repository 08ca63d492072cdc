/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * WiredTiger, 3.2 or 11.3: a Btree or an LSM tree, with transactions under snapshot isolation.
 *
 * What to know when reading its figures:
 *
 * - `get` hands out a pointer into the cache. The page, and the state that was read, stay pinned until the session's
 *   next call; a session that is left idle after a get keeps WiredTiger from evicting what was written since.
 * - Two writers of one record conflict: the second is told to try again. The adapter does so for single operations and
 *   for batches; in a transaction of the caller's it answers KVDYNO_CONFLICT, and the transaction is over.
 * - Checkpoints write and sync the data files every `checkpoint_seconds` and at close, at every durability level.
 * - The log is preallocated: files of `log_file_max` take up space that hold nothing yet, 300 MB on an idle database.
 *   Option `log_prealloc` turns that off.
 * - LSM trees are offered with 3.2 only: in 11.3 a session that only reads never sees what others write.
 * - An LSM tree keeps at least one chunk in the cache that cannot be evicted. Below some 16 MiB of cache, records of a
 *   megabyte can fill it so that WiredTiger waits for ever.
 * - After a panic, such as a full disk in one of its threads, WiredTiger asks that the process end: every call answers
 *   the cause, and close leaves the connection as it is.
 * - The first open of a process takes 0.7 s longer: WiredTiger measures the CPU's clock.
 */
#include "wt.h"

#define MIB (1 << 20)

static const kvdyno_option options[WT_OPTION_COUNT] = {
    [WT_OPTION_TYPE] = {"type", KVDYNO_OPTION_CHOICE, 0, "file", "file|lsm", 0, 0,
                        "How the table is stored: file is a Btree, lsm a log-structured merge tree of Btrees."},
    [WT_OPTION_LEAF_PAGE_MAX] = {"leaf_page_max", KVDYNO_OPTION_SIZE, 0, "32KiB", NULL, 4096, 512 * MIB,
                                 "The largest leaf page on the storage, a multiple of 4 KiB."},
    [WT_OPTION_INTERNAL_PAGE_MAX] = {"internal_page_max", KVDYNO_OPTION_SIZE, 0, "4KiB", NULL, 4096, 512 * MIB,
                                     "The largest internal page on the storage, a multiple of 4 KiB."},
    [WT_OPTION_PREFIX_COMPRESSION] = {"prefix_compression", KVDYNO_OPTION_BOOL, 0, "false", NULL, 0, 0,
                                      "Store in leaf pages only what of a key differs from the one before."},
    [WT_OPTION_CHECKPOINT_SECONDS] = {"checkpoint_seconds", KVDYNO_OPTION_INTEGER, 0, "60", NULL, 0, 100000,
                                      "Seconds between checkpoints, at every durability level; 0 makes one only at "
                                      "close. The default is MongoDB's, for WiredTiger itself has none."},
    [WT_OPTION_LOG_FILE_MAX] = {"log_file_max", KVDYNO_OPTION_SIZE, 0, "100MiB", NULL, 100 << 10, 2047LL * MIB,
                                "Size of a log file."},
    [WT_OPTION_LOG_PREALLOC] = {"log_prealloc", KVDYNO_OPTION_BOOL, 0, "true", NULL, 0, 0,
                                "Keep files for the log ready, which take up space on the storage before they hold "
                                "anything."},
    [WT_OPTION_EVICTION_THREADS_MAX] = {"eviction_threads_max", KVDYNO_OPTION_INTEGER, 0, "8", NULL, 1, 20,
                                        "The most threads that evict pages from the cache."},
    [WT_OPTION_LSM_MERGE_THREADS] = {"lsm_merge_threads", KVDYNO_OPTION_INTEGER, 0, "4", NULL, 3, 20,
                                     "Threads that write out and merge chunks of an LSM tree (worker_thread_max)."},
    [WT_OPTION_LSM_BLOOM] = {"lsm_bloom", KVDYNO_OPTION_BOOL, 0, "true", NULL, 0, 0,
                             "Make Bloom filters for the chunks of an LSM tree as they are merged."},
    [WT_OPTION_MMAP] = {"mmap", KVDYNO_OPTION_BOOL, 0, "true", NULL, 0, 0,
                        "Read data files through a memory map where WiredTiger can."},
    [WT_OPTION_DIRECT_IO] = {"direct_io", KVDYNO_OPTION_BOOL, 0, "false", NULL, 0, 0,
                             "Read and write data files around the operating system's cache."},
    [WT_OPTION_STATISTICS] = {"statistics", KVDYNO_OPTION_CHOICE, 0, "fast", "fast|none", 0, 0,
                              "What WiredTiger counts of itself; with none there are no statistics, and nothing tells "
                              "when an LSM tree has come to rest."},
};

static const kvdyno_preset presets[] = {
    {"btree", "type=file", "one Btree"},
#if WT_LSM_WORKS
    {"lsm", "type=lsm", "a log-structured merge tree of Btrees"},
#endif
};

static kvdyno_status probe(const char *chosen, kvdyno_text *version, kvdyno_text *error)
{
    wt_library library;
    kvdyno_status status = wt_library_open(chosen, &library, error);
    if (status != KVDYNO_OK)
        return status;
    int major, minor, patch;
    library.version(&major, &minor, &patch);
    say(version, "%d.%d.%d", major, minor, patch);
    return KVDYNO_OK;
}

static const kvdyno_engine engine = {
    .size = sizeof(kvdyno_engine),
    .abi_version = KVDYNO_ABI_VERSION,
    .name = "wiredtiger",
    .summary = "WiredTiger " WT_RELEASE ": " WT_TREES " with a write-ahead log and snapshot isolation",
    .origin = WT_ORIGIN,
    .capabilities = KVDYNO_CAN_SCAN | KVDYNO_CAN_SCAN_REVERSE | KVDYNO_CAN_DELETE | KVDYNO_CAN_BATCH |
                    KVDYNO_CAN_TRANSACT | KVDYNO_CAN_SNAPSHOT | KVDYNO_CAN_READ_MODIFY_WRITE | KVDYNO_CAN_WRITE_CONCURRENTLY,
    .durabilities = 1u << KVDYNO_DURABILITY_NONE | 1u << KVDYNO_DURABILITY_PROCESS |
                    1u << KVDYNO_DURABILITY_PERIODIC | 1u << KVDYNO_DURABILITY_COMMIT,
    .compressions = WT_COMPRESSIONS,
    .min_key_size = 1, /* WiredTiger takes an empty key for one that was not set */
    .options = options,
    .option_count = WT_OPTION_COUNT,
    .option_size = sizeof(kvdyno_option),
    .presets = presets,
    .preset_count = sizeof presets / sizeof *presets,
    .preset_size = sizeof(kvdyno_preset),
    .probe = probe,
    .settings = wt_settings,
    .open = wt_open,
    .close = wt_close,
    .session_open = wt_session_open,
    .session_close = wt_session_close,
    .session_error = wt_session_error,
    .get = wt_get,
    .put = wt_put,
    .remove = wt_remove,
    .write = wt_write,
    .read_modify_write = wt_read_modify_write,
    .begin = wt_begin,
    .commit = wt_commit,
    .abort = wt_abort,
    .cursor_open = wt_cursor_open,
    .cursor_close = wt_cursor_close,
    .cursor_seek = wt_cursor_seek,
    .cursor_next = wt_cursor_next,
    .cursor_previous = wt_cursor_previous,
    .flush = wt_flush,
    .compact = wt_compact,
    .wait_idle = wt_wait_idle,
    .statistics = wt_statistics,
};

const kvdyno_engine *kvdyno_engine_v2(void)
{
    return &engine;
}
