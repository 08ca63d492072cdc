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
    [JOURNAL_MODE] = {.name = "journal_mode", .type = KVDYNO_OPTION_CHOICE, .default_value = "wal",
                      .choices = "wal|delete|truncate|persist|memory",
                      .help = "PRAGMA journal_mode: a write-ahead log; or a rollback journal that a commit removes, "
                              "cuts to nothing or marks as over; or one in memory, for durability none only."},
    [PAGE_SIZE] = {.name = "page_size", .type = KVDYNO_OPTION_SIZE, .default_value = "4096", .minimum = 512,
                   .maximum = 65536, .help = "PRAGMA page_size: bytes of a page, a power of two."},
    [MMAP_SIZE] = {.name = "mmap_size", .type = KVDYNO_OPTION_SIZE, .default_value = "0",
                   .maximum = INT64_C(1) << 46,
                   .help = "PRAGMA mmap_size: bytes of the database that are read through a memory map; what the "
                           "library allows is often 2 GiB at most."},
    [WAL_AUTOCHECKPOINT] = {.name = "wal_autocheckpoint", .type = KVDYNO_OPTION_INTEGER, .default_value = "1000",
                            .maximum = INT32_MAX,
                            .help = "PRAGMA wal_autocheckpoint: pages in the log at which a commit copies them to the "
                                    "database; 0: never."},
    [CHECKPOINT_MS] = {.name = "checkpoint_ms", .type = KVDYNO_OPTION_INTEGER, .default_value = "0",
                       .maximum = 3600000,
                       .help = "Every so many milliseconds a thread makes a checkpoint, in WAL mode; 0: none does."},
    [CHECKPOINT_MODE] = {.name = "checkpoint_mode", .type = KVDYNO_OPTION_CHOICE, .default_value = "passive",
                         .choices = "passive|full|restart|truncate",
                         .help = "How the thread of checkpoint_ms does it; all but passive keep writers waiting for "
                                 "readers, for half of that time and 100 ms at most."},
    [WITHOUT_ROWID] = {.name = "without_rowid", .type = KVDYNO_OPTION_BOOL, .default_value = "true",
                       .help = "One tree of records by key; false: a tree by row number and an index of keys, which "
                               "may suit large values."},
    [COPY_VALUES] = {.name = "copy_values", .type = KVDYNO_OPTION_BOOL, .default_value = "false",
                     .help = "A get copies its value and ends its read at once, so that a session at rest holds no old "
                             "state of the log; always so with a rollback journal."},
    [WRITER_LOCK] = {.name = "writer_lock", .type = KVDYNO_OPTION_BOOL, .default_value = "true",
                     .help = "Writers of one process wait at a lock of the adapter's; false: they sleep and ask again, "
                             "as SQLite does by itself."},
    [BUSY_SLEEP_US] = {.name = "busy_sleep_us", .type = KVDYNO_OPTION_INTEGER, .default_value = "0",
                       .maximum = 1000000,
                       .help = "Microseconds between two tries for a lock; 0: SQLite's own handler, 1 ms and then "
                               "longer, up to 100 ms."},
    [SECURE_DELETE] = {.name = "secure_delete", .type = KVDYNO_OPTION_CHOICE, .default_value = "built",
                       .choices = "built|off|fast|on",
                       .help = "PRAGMA secure_delete: overwrite what is deleted with zeros; built: as the library was "
                               "built, which for Debian's is on."},
    [COUNT_MEMORY] = {.name = "count_memory", .type = KVDYNO_OPTION_BOOL, .default_value = "true",
                      .help = "SQLITE_CONFIG_MEMSTATUS: count allocations, under a lock that all threads share; false "
                              "lets readers scale better."},
};

static const kvdyno_preset presets[] = {
    {"wal", "journal_mode=wal", "a write-ahead log: readers and a writer side by side"},
    {"rollback", "journal_mode=delete", "a rollback journal, SQLite's default: a commit waits for the readers to end"},
};

static kvdyno_status probe(const char *chosen, kvdyno_text *version, kvdyno_text *error)
{
    sqlite_api api;
    if (!sqlite_load(chosen, &api, error))
        return KVDYNO_NO_LIBRARY;
    say(version, "%s", api.libversion());
    return KVDYNO_OK;
}

static void effective_capabilities(const kvdyno_config *config, kvdyno_capabilities *declared)
{
    if (strcmp(config->options[JOURNAL_MODE].text, "wal") != 0)
        declared->capabilities &= ~KVDYNO_CAN_SNAPSHOT;
    if (strcmp(config->options[JOURNAL_MODE].text, "memory") == 0)
        declared->durabilities = 1u << KVDYNO_DURABILITY_NONE;
    if (config->options[MMAP_SIZE].integer == 0)
        declared->capabilities &= ~KVDYNO_IS_MAPPED;
}

static const kvdyno_engine engine = {
    .size = sizeof(kvdyno_engine),
    .abi_version = KVDYNO_ABI_VERSION,
    .name = "sqlite",
    .summary = "SQLite 3: one table by key, a write-ahead log or a rollback journal, one writer",
    .origin = "Debian package libsqlite3-0",
    .capabilities = KVDYNO_CAN_SCAN | KVDYNO_CAN_SCAN_REVERSE | KVDYNO_CAN_DELETE | KVDYNO_CAN_BATCH |
                    KVDYNO_CAN_TRANSACT | KVDYNO_CAN_SNAPSHOT | KVDYNO_CAN_READ_MODIFY_WRITE | KVDYNO_CAN_SHARE_PROCESSES |
                    KVDYNO_IS_MAPPED,
    .durabilities = 1u << KVDYNO_DURABILITY_NONE | 1u << KVDYNO_DURABILITY_PROCESS |
                    1u << KVDYNO_DURABILITY_PERIODIC | 1u << KVDYNO_DURABILITY_COMMIT,
    .compressions = 1u << KVDYNO_COMPRESSION_NONE,
    .max_key_size = 1000000000,
    .max_value_size = 1000000000,
    .options = options,
    .option_count = OPTION_COUNT,
    .option_size = sizeof(kvdyno_option),
    .presets = presets,
    .preset_count = sizeof presets / sizeof *presets,
    .preset_size = sizeof(kvdyno_preset),
    .probe = probe,
    .settings = sqlite_settings,
    .open = sqlite_open,
    .close = sqlite_close,
    .session_open = sqlite_session_open,
    .session_close = sqlite_session_close,
    .session_error = sqlite_session_error,
    .get = sqlite_get,
    .put = sqlite_put,
    .remove = sqlite_remove,
    .write = sqlite_write,
    .read_modify_write = sqlite_read_modify_write,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .abort = sqlite_abort,
    .cursor_open = sqlite_cursor_open,
    .cursor_close = sqlite_cursor_close,
    .cursor_seek = sqlite_cursor_seek,
    .cursor_next = sqlite_cursor_next,
    .cursor_previous = sqlite_cursor_previous,
    .flush = sqlite_flush,
    .compact = sqlite_compact,
    .statistics = sqlite_statistics,
    .effective_capabilities = effective_capabilities,
};

const kvdyno_engine *kvdyno_engine_v2(void)
{
    return &engine;
}
