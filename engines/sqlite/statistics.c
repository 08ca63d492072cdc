/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * statistics.c: SQLite's own figures. Those of a connection are for its own thread only, so a session hands
 * in its own when it is closed.
 */
#include <sys/stat.h>

#include "sqlite_adapter.h"

static const struct {
    int status;
    const char *name;
} cache_figures[CACHE_FIGURES] = {
    {SQLITE_DBSTATUS_CACHE_HIT, "SQLITE_DBSTATUS_CACHE_HIT"},
    {SQLITE_DBSTATUS_CACHE_MISS, "SQLITE_DBSTATUS_CACHE_MISS"},
    {SQLITE_DBSTATUS_CACHE_WRITE, "SQLITE_DBSTATUS_CACHE_WRITE"},
    {SQLITE_DBSTATUS_CACHE_SPILL, "SQLITE_DBSTATUS_CACHE_SPILL"},
};

/* SQLite counts these in 32 bits: a busy session can wrap them. */
void sqlite_count_cache(kvdyno_database *database, sqlite3 *db)
{
    for (int i = 0; i < CACHE_FIGURES; i++) {
        int now = 0, highest = 0;
        if (database->api.db_status(db, cache_figures[i].status, &now, &highest, 0) == SQLITE_OK)
            __atomic_fetch_add(&database->cache_figures[i], (uint32_t)now, __ATOMIC_RELAXED);
    }
}

static void say_cache(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    for (int i = 0; i < CACHE_FIGURES; i++)
        emitf(emit, context, "cache of closed sessions", cache_figures[i].name, "%" PRIu64,
              __atomic_load_n(&database->cache_figures[i], __ATOMIC_RELAXED));
}

static void say_memory(const sqlite_api *api, kvdyno_emit emit, void *context)
{
    static const struct {
        int status;
        const char *name;
    } figures[] = {
        {SQLITE_STATUS_MEMORY_USED, "SQLITE_STATUS_MEMORY_USED"},
        {SQLITE_STATUS_MALLOC_COUNT, "SQLITE_STATUS_MALLOC_COUNT"},
        {SQLITE_STATUS_PAGECACHE_OVERFLOW, "SQLITE_STATUS_PAGECACHE_OVERFLOW"},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        int64_t now = 0, highest = 0;
        if (api->status64(figures[i].status, &now, &highest, 0) == SQLITE_OK)
            emitf(emit, context, "memory", figures[i].name, "%" PRId64 ", at most %" PRId64, now, highest);
    }
}

static int say_pragma(kvdyno_database *database, const char *name, kvdyno_emit emit, void *context)
{
    char sql[64], value[64];
    snprintf(sql, sizeof sql, "PRAGMA %s", name);
    int code = sqlite_ask(&database->api, database->keeper, sql, value, sizeof value);
    if (code == SQLITE_OK)
        emit(context, "database", name, value);
    return code;
}

/* A page of the log has 24 bytes of its own before it, the log 32. */
static void say_log(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    char path[PATH_MAX];
    struct stat file;
    snprintf(path, sizeof path, "%s-wal", database->file);
    int64_t size = stat(path, &file) == 0 ? (int64_t)file.st_size : 0;
    emitf(emit, context, "write-ahead log", "bytes", "%" PRId64, size);
    emitf(emit, context, "write-ahead log", "pages", "%" PRId64,
          size > 32 ? (size - 32) / (database->plan.page_size + 24) : 0);
    emitf(emit, context, "write-ahead log", "checkpoints in the background", "%" PRIu64,
          __atomic_load_n(&database->checkpoints, __ATOMIC_RELAXED));
}

kvdyno_status adapter_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    say_cache(database, emit, context);
    if (database->plan.count_memory)
        say_memory(&database->api, emit, context);
    if (database->plan.wal)
        say_log(database, emit, context);
    pthread_mutex_lock(&database->keeper_lock);
    int code = say_pragma(database, "page_count", emit, context);
    if (code == SQLITE_OK)
        code = say_pragma(database, "freelist_count", emit, context);
    if (code == SQLITE_OK)
        code = sqlite_say_pragmas(&database->api, database->keeper, database->plan.pragmas, emit, context);
    pthread_mutex_unlock(&database->keeper_lock);
    return code == SQLITE_OK ? KVDYNO_OK : KVDYNO_ERROR;
}
