/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * sqlite.c: SQLite behind the engine ABI: one table of keys and values, a connection for each session, prepared
 * statements.
 *
 * What to know when reading its figures:
 *
 * - Every connection has a cache of its own, and whenever another one has committed it begins anew with an empty one.
 *   What keeps reads fast beside a writer is the operating system's cache, or option mmap_size.
 * - In WAL mode readers and the writer do not wait for each other, but the log can begin anew only at a moment when no
 *   reader needs it. A session keeps its read open until its next call, so with busy readers the log may grow far
 *   beyond wal_autocheckpoint; options copy_values and checkpoint_ms are against that.
 * - Each get outside a transaction takes and gives back a lock on the log's index, and compares its header.
 */
#include "sqlite_adapter.h"

static const kvdyno_option options[OPTION_COUNT] = {
    [JOURNAL_MODE] =
        {"journal_mode",
         CHOICE(
             "wal", "wal|delete|truncate|persist|memory",
             "PRAGMA journal_mode: a write-ahead log; or a rollback journal that a commit removes, cuts to nothing or "
             "marks as over; or one in memory, for durability none only.")},
    [PAGE_SIZE] = {"page_size", SIZE("4096", 512, 65536, "PRAGMA page_size: bytes of a page, a power of two.")},
    [MMAP_SIZE] =
        {"mmap_size",
         SIZE("0", 0, INT64_C(1) << 46,
              "PRAGMA mmap_size: bytes of the database that are read through a memory map; what the library allows is "
              "often 2 GiB at most.")},
    [WAL_AUTOCHECKPOINT] =
        {"wal_autocheckpoint",
         INTEGER(
             "1000", 0, INT32_MAX,
             "PRAGMA wal_autocheckpoint: pages in the log at which a commit copies them to the database; 0: never.")},
    [CHECKPOINT_MS] = {"checkpoint_ms",
                       INTEGER("0", 0, 3600000,
                               "Every so many milliseconds a thread makes a checkpoint, in WAL mode; 0: none does.")},
    [CHECKPOINT_MODE] =
        {"checkpoint_mode",
         CHOICE(
             "passive", "passive|full|restart|truncate",
             "How the thread of checkpoint_ms does it; all but passive keep writers waiting for readers, for half of "
             "that time and 100 ms at most.")},
    [WITHOUT_ROWID] =
        {"without_rowid",
         BOOL("true",
              "One tree of records by key; false: a tree by row number and an index of keys, which may suit large "
              "values.")},
    [COPY_VALUES] =
        {"copy_values",
         BOOL("false",
              "A get copies its value and ends its read at once, so that a session at rest holds no old state of the "
              "log; always so with a rollback journal.")},
    [WRITER_LOCK] =
        {"writer_lock",
         BOOL("true",
              "Writers of one process wait at a lock of the adapter's; false: they sleep and ask again, as SQLite does "
              "by itself.")},
    [BUSY_SLEEP_US] = {"busy_sleep_us", INTEGER("0", 0, 1000000,
                                                "Microseconds between two tries for a lock; 0: SQLite's own handler, 1 "
                                                "ms and then longer, up to 100 ms.")},
    [SECURE_DELETE] =
        {"secure_delete",
         CHOICE(
             "built", "built|off|fast|on",
             "PRAGMA secure_delete: overwrite what is deleted with zeros; built: as the library was built, which for "
             "Debian's is on.")},
    [COUNT_MEMORY] =
        {"count_memory",
         BOOL("true",
              "SQLITE_CONFIG_MEMSTATUS: count allocations, under a lock that all threads share; false lets readers "
              "scale better.")},
    [PRAGMAS] = {"pragmas", WORDS("Any other pragmas, of each connection, such as temp_store=memory;cache_spill=off.")},
};

static const kvdyno_preset presets[] = {
    {"wal", "journal_mode=wal", "a write-ahead log: readers and a writer side by side"},
    {"rollback", "journal_mode=delete", "a rollback journal, SQLite's default: a commit waits for the readers to end"},
};

kvdyno_status adapter_probe(const char *chosen, kvdyno_text *version, kvdyno_text *error)
{
    sqlite_api api;
    if (!sqlite_load(chosen, &api, error))
        return KVDYNO_NO_LIBRARY;
    say(version, "%s", api.libversion());
    return KVDYNO_OK;
}

void adapter_effective_capabilities(const kvdyno_config *config, kvdyno_capabilities *declared)
{
    if (!option_is(config, JOURNAL_MODE, "wal"))
        declared->capabilities &= ~KVDYNO_CAN_SNAPSHOT;
    if (option_is(config, JOURNAL_MODE, "memory"))
        declared->durabilities = 1u << KVDYNO_DURABILITY_NONE;
    if (config->options[MMAP_SIZE].integer == 0)
        declared->capabilities &= ~KVDYNO_IS_MAPPED;
}

ADAPTER_TABLE(.name = "sqlite",
              .summary = "SQLite 3: one table by key, a write-ahead log or a rollback journal, one writer",
              .origin = "Debian package libsqlite3-0",
              .capabilities = CAN_STORE_IN_ORDER | KVDYNO_CAN_TRANSACT | KVDYNO_CAN_SNAPSHOT |
                              KVDYNO_CAN_READ_MODIFY_WRITE | KVDYNO_CAN_SHARE_PROCESSES | KVDYNO_IS_MAPPED |
                              KVDYNO_CAN_DELETE_RANGE | KVDYNO_READS_REPEAT | KVDYNO_IS_SERIALIZABLE |
                              KVDYNO_CAN_CONTAIN | KVDYNO_CAN_INSERT_IF_ABSENT | KVDYNO_CAN_BOUND |
                              KVDYNO_CAN_SCAN_KEYS | KVDYNO_CAN_COUNT,
              .compressions = COMPRESSION(NONE), .max_key_size = 1000000000, .max_value_size = 1000000000,
              .read_modify_write = adapter_read_modify_write, .compact = adapter_compact,
              .effective_capabilities = adapter_effective_capabilities, .counters = adapter_counters,
              .delete_range = adapter_delete_range, .contains = adapter_contains,
              .cursor_open_with = adapter_cursor_open_with, .insert_if_absent = adapter_insert_if_absent,
              OPTIONS(options), PRESETS(presets));
