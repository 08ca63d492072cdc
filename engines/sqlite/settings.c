/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * settings.c: from kvdyno's settings to SQLite's, and saying what they came to.
 */
#include "sqlite_adapter.h"

/* Each connection's cache keeps this many pages for itself, whatever it is told. */
#define LEAST_PAGES 10

static const char *text(const kvdyno_config *config, int option)
{
    return config->options[option].text;
}

/* The one of `words` (ended by NULL) that `word` is: a text that outlives the config. -1: none. */
static int index_of(const char *const *words, const char *word)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

/* ---- what the settings come to ---- */

/* The level of PRAGMA synchronous that does what a durability asks, and no more. In WAL mode each commit is a record of
 * the log, so NORMAL leaves commits unsynced and keeps log and database in order across a loss of power. A rollback
 * journal has no such level: NORMAL syncs each commit as FULL does. And where a commit is the removal of the journal,
 * only EXTRA syncs that too. */
static const char *synchronous(uint32_t durability, const sqlite_plan *plan)
{
    if (durability == KVDYNO_DURABILITY_COMMIT)
        return strcmp(plan->journal_mode, "delete") == 0 ? "EXTRA" : "FULL";
    return durability == KVDYNO_DURABILITY_PERIODIC && plan->wal ? "NORMAL" : "OFF";
}

/* SQLite has no cache for all connections but its shared-cache mode, in which they lock each other out of tables and
 * which its authors advise against. So every session's connection gets an equal part. */
static void plan_cache(const kvdyno_config *config, sqlite_plan *plan)
{
    plan->connections = (config->sessions ? config->sessions : 1) * config_processes(config);
    plan->cache_kib = (int64_t)(config->cache_bytes / 1024 / plan->connections);
    if (plan->cache_kib > INT_MAX)
        plan->cache_kib = INT_MAX;
}

static bool plan_modes(const kvdyno_config *config, sqlite_plan *plan)
{
    static const char *const journals[] = {"wal", "delete", "truncate", "persist", "memory", NULL};
    static const char *const checkpoints[] = {"passive", "full", "restart", "truncate", NULL}; /* as SQLite counts */
    static const char *const deletes[] = {"off", "fast", "on", NULL};
    int journal = index_of(journals, text(config, JOURNAL_MODE));
    int checkpoint = index_of(checkpoints, text(config, CHECKPOINT_MODE));
    int secure = index_of(deletes, text(config, SECURE_DELETE));
    if (journal < 0 || checkpoint < 0)
        return false;
    plan->journal_mode = journals[journal];
    plan->wal = journal == 0;
    plan->checkpoint_mode = checkpoint;
    plan->checkpoint_mode_name = checkpoints[checkpoint];
    plan->secure_delete = secure < 0 ? NULL : deletes[secure];
    return true;
}

/* The most that the library maps, if it says so. */
static int64_t mmap_limit(const sqlite_api *api)
{
    static const char name[] = "MAX_MMAP_SIZE=";
    const char *option;
    for (int i = 0; (option = api->compileoption_get(i)); i++)
        if (strncmp(option, name, sizeof name - 1) == 0)
            return strtoll(option + sizeof name - 1, NULL, 0);
    return INT64_MAX;
}

static bool acceptable(const kvdyno_config *config, const sqlite_api *api, const sqlite_plan *plan, kvdyno_text *error)
{
    if (refuses_durability(config, error) || refuses_compression(config, "SQLite", error))
        return false;
    if (strcmp(plan->journal_mode, "memory") == 0 && config->durability != KVDYNO_DURABILITY_NONE)
        say(error, "durability: with journal_mode=memory the death of the process within a commit damages the "
                   "database; only `none` is left");
    else if (plan->page_size & (plan->page_size - 1))
        say(error, "page_size: %" PRId64 " is no power of two", plan->page_size);
    else if (plan->cache_kib * 1024 < LEAST_PAGES * plan->page_size)
        say(error,
            "cache: every connection has one of its own, and %" PRIu64 " bytes divided over %" PRIu32
            " of them are less than the %d pages of %" PRId64 " bytes that each keeps at least",
            config->cache_bytes, plan->connections, LEAST_PAGES, plan->page_size);
    else if (plan->mmap_size > mmap_limit(api))
        say(error, "mmap_size: the library was built to map %" PRId64 " bytes at most", mmap_limit(api));
    else
        return true;
    return false;
}

kvdyno_status sqlite_make_plan(const kvdyno_config *config, const sqlite_api *api, sqlite_plan *plan,
                               kvdyno_text *error)
{
    *plan = (sqlite_plan){0};
    if (!plan_modes(config, plan)) {
        say(error, "the options are not those that this adapter declares");
        return KVDYNO_UNSUPPORTED;
    }
    plan->page_size = option_integer(config, PAGE_SIZE);
    plan->mmap_size = option_integer(config, MMAP_SIZE);
    plan->wal_autocheckpoint = (int)option_integer(config, WAL_AUTOCHECKPOINT);
    plan->checkpoint_ms = plan->wal ? (uint32_t)option_integer(config, CHECKPOINT_MS) : 0;
    plan->without_rowid = option_integer(config, WITHOUT_ROWID);
    plan->copies = !plan->wal || option_integer(config, COPY_VALUES);
    plan->writer_lock = option_integer(config, WRITER_LOCK);
    plan->busy_sleep_us = (int)option_integer(config, BUSY_SLEEP_US);
    plan->count_memory = option_integer(config, COUNT_MEMORY);
    plan->synchronous = synchronous(config->durability, plan);
    plan->sync_ms = config->durability == KVDYNO_DURABILITY_PERIODIC ? config->sync_period_ms : 0;
    plan_cache(config, plan);
    if (snprintf(plan->pragmas, sizeof plan->pragmas, "%s", text(config, PRAGMAS)) >= (int)sizeof plan->pragmas) {
        say(error, "pragmas: longer than %zu bytes", sizeof plan->pragmas - 1);
        return KVDYNO_UNSUPPORTED;
    }
    if (!sqlite_takes_pragmas(api, plan->pragmas, error))
        return KVDYNO_UNSUPPORTED;
    return acceptable(config, api, plan, error) ? KVDYNO_OK : KVDYNO_UNSUPPORTED;
}

/* ---- saying it ---- */

static const char *wal_meaning(uint32_t durability)
{
    switch (durability) {
    case KVDYNO_DURABILITY_COMMIT:
        return "FULL: a commit writes to the write-ahead log and syncs it";
    case KVDYNO_DURABILITY_PERIODIC:
        return "NORMAL: a commit writes to the write-ahead log and does not sync it; a checkpoint syncs the log, then "
               "the database";
    case KVDYNO_DURABILITY_NONE:
        return "OFF: a commit writes to the write-ahead log; nothing is synced before close";
    default:
        return "OFF: a commit writes to the write-ahead log; nothing is synced before close, and a loss of power may "
               "damage the database";
    }
}

static const char *journal_meaning(uint32_t durability, const sqlite_plan *plan)
{
    if (strcmp(plan->journal_mode, "memory") == 0)
        return "OFF, and the rollback journal is kept in memory: the death of the process within a commit damages the "
               "database";
    switch (durability) {
    case KVDYNO_DURABILITY_COMMIT:
        return strcmp(plan->synchronous, "EXTRA") == 0
                   ? "EXTRA: a commit syncs the journal, the database, and the folder after the journal's removal; "
                     "with FULL, SQLite's default, a loss of power may bring the journal back and undo the commit"
                   : "FULL: a commit syncs the journal, the database, and the journal's end";
    case KVDYNO_DURABILITY_PERIODIC:
        return "OFF, and the database is synced in the background: there is no log to sync by itself, and a loss of "
               "power between may damage the database";
    case KVDYNO_DURABILITY_NONE:
        return "OFF: a commit writes journal and database; nothing is synced before close";
    default:
        return "OFF: a commit writes journal and database; nothing is synced before close, and a loss of power may "
               "damage the database";
    }
}

static void say_checkpoints(const sqlite_plan *plan, kvdyno_emit emit, void *context)
{
    if (plan->wal_autocheckpoint)
        emitf(emit, context, "durability", "wal_autocheckpoint",
              "%d: whose commit brings the log to so many pages copies them to the database", plan->wal_autocheckpoint);
    else
        emit(context, "durability", "wal_autocheckpoint", "0: off");
    if (plan->checkpoint_ms)
        emitf(emit, context, "durability", "sqlite3_wal_checkpoint_v2", "%s, every %" PRIu32 " ms, by a thread",
              plan->checkpoint_mode_name, plan->checkpoint_ms);
}

static void say_durability(const kvdyno_config *config, const sqlite_plan *plan, kvdyno_emit emit, void *context)
{
    emit(context, "durability", "journal_mode", plan->journal_mode);
    emit(context, "durability", "synchronous",
         plan->wal ? wal_meaning(config->durability) : journal_meaning(config->durability, plan));
    if (config->durability == KVDYNO_DURABILITY_NONE && strcmp(plan->journal_mode, "memory") != 0)
        emit(context, "stronger", "process", "with a journal on the storage it has no weaker mode");
    if (plan->sync_ms)
        emitf(emit, context, "durability", "background", "xSync of the %s every %" PRIu32 " ms",
              plan->wal ? "write-ahead log" : "database", plan->sync_ms);
    if (plan->wal)
        say_checkpoints(plan, emit, context);
}

static void say_memory(const sqlite_plan *plan, kvdyno_emit emit, void *context)
{
    emitf(emit, context, "cache", "cache_size",
          "-%" PRId64 ": KiB for each of %" PRIu32 " connections, which share no cache; what one of them commits "
          "empties the caches of the others",
          plan->cache_kib, plan->connections);
    if (plan->mmap_size)
        emitf(emit, context, "cache", "mmap_size",
              "%" PRId64 ": so much of the database is read in the operating "
              "system's cache, and not copied to SQLite's",
              plan->mmap_size);
    else
        emit(context, "cache", "mmap_size", "0: nothing is mapped but the index of the write-ahead log");
    emit(context, "write_buffer", "write_buffer",
         "none: a transaction's changed pages wait in its connection's cache, and are written at the commit or when "
         "that is full");
    emit(context, "compression", "compression", "none");
    emit(context, "checksums", "checksums",
         plan->wal ? "none of pages; those of the write-ahead log are checked when it is recovered, not when it is read"
                   : "none of pages");
    emit(context, "files", "log", "*-wal *-journal");
}

static const char *secure_delete(const sqlite_api *api, const sqlite_plan *plan)
{
    if (plan->secure_delete)
        return plan->secure_delete;
    if (api->compileoption_used("FAST_SECURE_DELETE"))
        return "fast: as the library was built";
    return api->compileoption_used("SECURE_DELETE") ? "on: as the library was built" : "off: as the library was built";
}

static void say_options(const sqlite_api *api, const sqlite_plan *plan, kvdyno_emit emit, void *context)
{
    emitf(emit, context, "options", "page_size", "%" PRId64, plan->page_size);
    emit(context, "options", "table",
         plan->without_rowid ? "WITHOUT ROWID: one tree by key" : "a tree by rowid, and an index by key");
    emit(context, "options", "get",
         plan->copies ? "copies the value, and ends its read"
                      : "hands out the value, and ends its read at the session's next call");
    emit(context, "options", "writers",
         plan->writer_lock ? "of one process wait at a lock of the adapter's" : "wait as SQLite does, by asking again");
    if (plan->busy_sleep_us)
        emitf(emit, context, "options", "sqlite3_busy_handler", "asks again every %d us, for ever",
              plan->busy_sleep_us);
    else
        emit(context, "options", "sqlite3_busy_timeout",
             "SQLite's own handler, which sleeps 1 ms, then longer, up to 100 ms; for 24 days");
    emit(context, "options", "secure_delete", secure_delete(api, plan));
    emit(context, "options", "SQLITE_CONFIG_MEMSTATUS", plan->count_memory ? "1" : "0");
    emit(context, "options", "pragmas", plan->pragmas[0] ? plan->pragmas : "no others");
    emit(context, "options", "SQLITE_OPEN_NOMUTEX", "a connection for each session");
}

kvdyno_status adapter_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    sqlite_api api;
    sqlite_plan plan;
    if (!sqlite_load(config->library, &api, error))
        return KVDYNO_NO_LIBRARY;
    kvdyno_status status = sqlite_make_plan(config, &api, &plan, error);
    if (status != KVDYNO_OK)
        return status;
    say_durability(config, &plan, emit, context);
    say_memory(&plan, emit, context);
    say_options(&api, &plan, emit, context);
    return KVDYNO_OK;
}
