/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Berkeley DB 5.3, Btree, as a transactional data store: write-ahead log, page locks, recovery.
 *
 * What to know when reading its figures:
 *
 * - Readers and writers lock pages. A read outside a transaction locks the page for as long as the call; a batch keeps
 *   its pages locked until it is committed. Option `snapshot` lets reads see older versions of pages instead.
 * - Who loses a deadlock is told to try again. The adapter does so for single operations and for batches, as Berkeley
 *   DB's manual asks; in a transaction of the caller's it answers KVDYNO_CONFLICT, and the transaction is over.
 * - The log has to be cut by checkpoints, which write every dirty page and sync. They are made by a thread of the
 *   adapter, at every durability level, whenever `checkpoint_kib` of log were written, and at close.
 * - `get` copies the value: a handle that threads share hands out no pointers into its cache.
 * - A batch holds a lock on each page it touches until it commits. The lock table is large enough for every session to
 *   write batches of some thousand records; one that does not fit fails with Berkeley DB's "out of available lock
 *   entries".
 * - Log files are sparse: their size is `set_lg_max` from the start, their blocks are used as the log grows.
 * - Several processes share cache and tables in mapped files of the folder, which the operating system writes out now
 *   and then, and which count as part of the database while it is open.
 * - A process that dies between two calls leaves locks, which another gives back within half a second; one that dies
 *   inside a call leaves a state that only recovery mends: the others are told so (DB_RUNRECOVERY).
 * - With `snapshot`, Berkeley DB leaks a little memory at each close (frozen pages, some transactions).
 */
#include "bdb.h"

static const kvdyno_option options[BDB_OPTION_COUNT] = {
    [BDB_PAGE_SIZE] =
        {"page_size",
         SIZE("0", 0, 65536,
              "Size of a Btree page, a power of two from 512; 0 leaves it to Berkeley DB, which takes the filesystem's "
              "block size.")},
    [BDB_SNAPSHOT] =
        {"snapshot",
         BOOL("false", "Keep versions of pages (DB_MULTIVERSION), so that reads and cursors lock nothing and read-only "
                       "transactions can be had.")},
    [BDB_PRIVATE] = {"private",
                     CHOICE("auto", "auto|true|false",
                            "Keep cache and lock tables in the process's own memory (DB_PRIVATE); false puts them into "
                            "mapped files that "
                            "several processes share (DB_REGISTER); auto: true for one process, false for several.")},
    [BDB_LOG_FILE_SIZE] =
        {"log_file_size",
         SIZE("0", 0, 1 << 30,
              "Size of a log file, at least four times the log buffer; 0 takes that, but no less than Berkeley DB's "
              "default of 10 MiB.")},
    [BDB_LOG_AUTO_REMOVE] = {"log_auto_remove",
                             BOOL("true", "Remove log files that recovery no longer needs; false keeps all of them.")},
    [BDB_LOG_ZERO] =
        {"log_zero",
         BOOL("false",
              "Write a new log file full of zeros before it is used (DB_LOG_ZERO), so that syncing a commit need not "
              "allocate storage.")},
    [BDB_CHECKPOINT_KIB] =
        {"checkpoint_kib",
         INTEGER(
             "262144", 0, 1 << 30,
             "Make a checkpoint in the background when this many KiB of log were written since the last; 0 makes them "
             "only at close.")},
    [BDB_LOCK_PARTITIONS] =
        {"lock_partitions",
         INTEGER(
             "0", 0, 100000,
             "Number of parts of the lock table that are latched on their own; 0 leaves it to Berkeley DB (10 for each "
             "CPU).")},
    [BDB_DIRECT_IO] =
        {"direct_io",
         BOOL(
             "false",
             "Read and write the table around the operating system's cache (DB_DIRECT_DB), where the library was built "
             "for it; Debian's is not.")},
    [BDB_LOG_BUFFER] =
        {"log_buffer",
         SIZE("0", 0, 64 << 20,
              "Size of the log buffer (DB_ENV->set_lg_bsize), from 4 KiB; 0 takes the lab's write_buffer.")},
    [BDB_LOG_DSYNC] =
        {"log_dsync",
         BOOL("false",
              "Open the log so that each write of it is on the storage when it returns (DB_LOG_DSYNC, O_DSYNC).")},
    [BDB_COMPARATOR] =
        {"comparator",
         CHOICE("bytes", "bytes|length|words",
                "The order of keys (DB->set_bt_compare): bytes, Berkeley DB's own; length, shorter ones first; words, "
                "those with fewer spaces first, which for spelled digits is fewer digits.")},
    [BDB_PARTITIONS] =
        {"partitions",
         INTEGER(
             "1", 1, 1024,
             "Number of tables among which records are divided by a hash of their key (DB->set_partition); from 2 on "
             "there are no scans, for each table has an order of its own.")},
    [BDB_DB_CONFIG] = {"db_config", WORDS("Any other settings of the environment in Berkeley DB's own words, lines of "
                                          "DB_CONFIG with ; between them, such as mutex_set_tas_spins 100.")},
};

static const kvdyno_preset presets[] = {
    {"snapshot", "snapshot=true", "reads see versions of pages and wait for no writer"},
};

kvdyno_status adapter_probe(const char *chosen, kvdyno_text *version, kvdyno_text *error)
{
    bdb_library library;
    library_release is;
    kvdyno_status status = bdb_library_open(chosen, &library, error);
    if (status != KVDYNO_OK)
        return status;
    library.db_version(&is.major, &is.minor, &is.patch);
    say_release(is, version);
    bdb_library_close(&library);
    return KVDYNO_OK;
}

/* Processes cannot share what is private, and a cursor goes through one partition after the other. */
void adapter_effective_capabilities(const kvdyno_config *config, kvdyno_capabilities *declared)
{
    if (option_is(config, BDB_PRIVATE, "true"))
        declared->capabilities &= ~KVDYNO_CAN_SHARE_PROCESSES;
    if (bdb_is_partitioned(config))
        declared->capabilities &= ~(KVDYNO_CAN_SCAN | KVDYNO_CAN_SCAN_REVERSE | KVDYNO_CAN_SCAN_KEYS);
}

/* Not declared: read-only transactions, which with `snapshot` see the state of their first read, not of their begin. */
ADAPTER_TABLE(.name = "bdb", .summary = "Berkeley DB 5.3: Btree with a write-ahead log, page locks and transactions",
              .origin = "Debian package libdb5.3",
              .capabilities = CAN_STORE_IN_ORDER | KVDYNO_CAN_TRANSACT | KVDYNO_CAN_READ_MODIFY_WRITE |
                              KVDYNO_CAN_WRITE_CONCURRENTLY | KVDYNO_CAN_SHARE_PROCESSES | KVDYNO_CAN_COMPARE |
                              KVDYNO_CAN_PARTITION | KVDYNO_CAN_COUNT | KVDYNO_READS_REPEAT | KVDYNO_IS_SERIALIZABLE |
                              KVDYNO_CAN_CONTAIN | KVDYNO_CAN_INSERT_IF_ABSENT | KVDYNO_CAN_SCAN_KEYS |
                              KVDYNO_CAN_SET_DURABILITY,
              .compressions = COMPRESSION(NONE), .read_modify_write = adapter_read_modify_write,
              .compact = adapter_compact, .effective_capabilities = adapter_effective_capabilities,
              .counters = adapter_counters, .contains = adapter_contains, .cursor_open_with = adapter_cursor_open_with,
              .insert_if_absent = adapter_insert_if_absent, .set_durability = adapter_set_durability, OPTIONS(options),
              PRESETS(presets));
