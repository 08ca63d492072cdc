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

static const kvdyno_option options[WT_OPTION_COUNT] = {
    [WT_OPTION_TYPE] = {"type",
                        CHOICE("file", "file|lsm",
                               "How the table is stored: file is a Btree, lsm a log-structured merge tree of Btrees.")},
    [WT_OPTION_LEAF_PAGE_MAX] = {"leaf_page_max", SIZE("32KiB", 4096, 512 * MIB,
                                                       "The largest leaf page on the storage, a multiple of 4 KiB.")},
    [WT_OPTION_INTERNAL_PAGE_MAX] = {"internal_page_max",
                                     SIZE("4KiB", 4096, 512 * MIB,
                                          "The largest internal page on the storage, a multiple of 4 KiB.")},
    [WT_OPTION_PREFIX_COMPRESSION] = {"prefix_compression",
                                      BOOL("false",
                                           "Store in leaf pages only what of a key differs from the one before.")},
    [WT_OPTION_CHECKPOINT_SECONDS] =
        {"checkpoint_seconds",
         INTEGER("60", 0, 100000,
                 "Seconds between checkpoints, at every durability level; 0 makes one only at close. The default is "
                 "MongoDB's, for WiredTiger itself has none.")},
    [WT_OPTION_LOG_FILE_MAX] = {"log_file_max", SCALED_SIZE("100MiB", 100 << 10, 2047LL * MIB, "Size of a log file.")},
    [WT_OPTION_LOG_PREALLOC] =
        {"log_prealloc",
         BOOL("true", "Keep files for the log ready, which take up space on the storage before they hold anything.")},
    [WT_OPTION_EVICTION_THREADS_MAX] = {"eviction_threads_max",
                                        INTEGER("8", 1, 20, "The most threads that evict pages from the cache.")},
    [WT_OPTION_LSM_MERGE_THREADS] =
        {"lsm_merge_threads",
         INTEGER("4", 3, 20, "Threads that write out and merge chunks of an LSM tree (worker_thread_max).")},
    [WT_OPTION_LSM_BLOOM] = {"lsm_bloom",
                             BOOL("true", "Make Bloom filters for the chunks of an LSM tree as they are merged.")},
    [WT_OPTION_MMAP] = {"mmap", BOOL("true", "Read data files through a memory map where WiredTiger can.")},
    [WT_OPTION_DIRECT_IO] = {"direct_io",
                             BOOL("false", "Read and write data files around the operating system's cache.")},
    [WT_OPTION_STATISTICS] =
        {"statistics",
         CHOICE(
             "fast", "fast|none",
             "What WiredTiger counts of itself; with none there are no statistics, and nothing tells when an LSM tree "
             "has come to rest.")},
    [WT_OPTION_OPEN_CONFIG] = {"open_config", WORDS("Any other settings of wiredtiger_open in WiredTiger's own words, "
                                                    "such as eviction_dirty_target=10.")},
    [WT_OPTION_CREATE_CONFIG] =
        {"create_config",
         WORDS("Any other settings of WT_SESSION::create in WiredTiger's own words, such as os_cache_max=64MB.")},
};

static const kvdyno_preset presets[] = {
    {"btree", "type=file", "one Btree"},
#if WT_LSM_WORKS
    {"lsm", "type=lsm", "a log-structured merge tree of Btrees"},
#endif
};

kvdyno_status adapter_probe(const char *chosen, kvdyno_text *version, kvdyno_text *error)
{
    wt_library library;
    library_release is;
    kvdyno_status status = wt_library_open(chosen, &library, error);
    if (status != KVDYNO_OK)
        return status;
    library.wiredtiger_version(&is.major, &is.minor, &is.patch);
    say_release(is, version);
    return KVDYNO_OK;
}

/* Its figures have the flushes of a Btree, and nothing that tells flushes of an LSM tree from merges. A range of an LSM
 * tree it would delete key by key, and from the first key of all. */
void adapter_effective_capabilities(const kvdyno_config *config, kvdyno_capabilities *declared)
{
    if (option_is(config, WT_OPTION_TYPE, "lsm") || option_is(config, WT_OPTION_STATISTICS, "none"))
        declared->capabilities &= ~KVDYNO_CAN_COUNT;
    if (option_is(config, WT_OPTION_TYPE, "lsm"))
        declared->capabilities &= ~KVDYNO_CAN_DELETE_RANGE;
}

/* WiredTiger takes an empty key for one that was not set: hence the least size. */
ADAPTER_TABLE(.name = "wiredtiger",
              .summary = "WiredTiger " WT_RELEASE ": " WT_TREES " with a write-ahead log and snapshot isolation",
              .origin = WT_ORIGIN,
              .capabilities = CAN_STORE_IN_ORDER | KVDYNO_CAN_TRANSACT | KVDYNO_CAN_SNAPSHOT |
                              KVDYNO_CAN_READ_MODIFY_WRITE | KVDYNO_CAN_WRITE_CONCURRENTLY | KVDYNO_CAN_COUNT |
                              KVDYNO_CAN_DELETE_RANGE | KVDYNO_READS_REPEAT | KVDYNO_CAN_CONTAIN |
                              KVDYNO_CAN_INSERT_IF_ABSENT,
              .compressions = WT_COMPRESSIONS, .min_key_size = 1, .read_modify_write = adapter_read_modify_write,
              .compact = adapter_compact, .wait_idle = adapter_wait_idle,
              .effective_capabilities = adapter_effective_capabilities, .counters = adapter_counters,
              .delete_range = adapter_delete_range, .contains = adapter_contains,
              .insert_if_absent = adapter_insert_if_absent, OPTIONS(options), PRESETS(presets));
