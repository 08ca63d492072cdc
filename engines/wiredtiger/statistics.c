/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * WiredTiger's own figures, under the descriptions that it gives them.
 */
#include "wt.h"

static const int shown[] = {
/* Those that have another name in another release. */
#if WIREDTIGER_VERSION_MAJOR < 10
    WT_STAT_CONN_CACHE_EVICTION_APP,
    WT_STAT_CONN_CACHE_EVICTION_SLOW,
    WT_STAT_CONN_CACHE_WRITE_LOOKASIDE,
    WT_STAT_CONN_TXN_CHECKPOINT,
    WT_STAT_CONN_TXN_CHECKPOINT_TIME_TOTAL,
    WT_STAT_CONN_TXN_CHECKPOINT_TIME_MAX,
#else
    WT_STAT_CONN_EVICTION_APP_ATTEMPT,
    WT_STAT_CONN_EVICTION_SLOW,
    WT_STAT_CONN_CACHE_WRITE_HS,
    WT_STAT_CONN_CACHE_HS_INSERT,
    WT_STAT_CONN_CHECKPOINTS_TOTAL_SUCCEED,
    WT_STAT_CONN_CHECKPOINT_TIME_TOTAL,
    WT_STAT_CONN_CHECKPOINT_TIME_MAX,
#endif
    WT_STAT_CONN_CACHE_BYTES_MAX,
    WT_STAT_CONN_CACHE_BYTES_INUSE,
    WT_STAT_CONN_CACHE_BYTES_DIRTY,
    WT_STAT_CONN_CACHE_BYTES_READ,
    WT_STAT_CONN_CACHE_BYTES_WRITE,
    WT_STAT_CONN_CACHE_PAGES_REQUESTED,
    WT_STAT_CONN_CACHE_READ,
    WT_STAT_CONN_CACHE_WRITE,
    WT_STAT_CONN_CACHE_EVICTION_CLEAN,
    WT_STAT_CONN_CACHE_EVICTION_DIRTY,
    WT_STAT_CONN_BLOCK_READ,
    WT_STAT_CONN_BLOCK_WRITE,
    WT_STAT_CONN_BLOCK_BYTE_READ,
    WT_STAT_CONN_BLOCK_BYTE_WRITE,
    WT_STAT_CONN_BLOCK_BYTE_WRITE_CHECKPOINT,
    WT_STAT_CONN_BLOCK_BYTE_MAP_READ,
    WT_STAT_CONN_FSYNC_IO,
    WT_STAT_CONN_READ_IO,
    WT_STAT_CONN_WRITE_IO,
    WT_STAT_CONN_LOG_BYTES_PAYLOAD,
    WT_STAT_CONN_LOG_BYTES_WRITTEN,
    WT_STAT_CONN_LOG_WRITES,
    WT_STAT_CONN_LOG_FLUSH,
    WT_STAT_CONN_LOG_SYNC,
    WT_STAT_CONN_LOG_SYNC_DURATION,
    WT_STAT_CONN_TXN_BEGIN,
    WT_STAT_CONN_TXN_COMMIT,
    WT_STAT_CONN_TXN_ROLLBACK,
    WT_STAT_CONN_CURSOR_SEARCH,
    WT_STAT_CONN_CURSOR_SEARCH_NEAR,
    WT_STAT_CONN_CURSOR_NEXT,
    WT_STAT_CONN_CURSOR_PREV,
    WT_STAT_CONN_CURSOR_INSERT,
    WT_STAT_CONN_CURSOR_UPDATE,
    WT_STAT_CONN_CURSOR_REMOVE,
    WT_STAT_CONN_CURSOR_RESTART,
    WT_STAT_CONN_LSM_ROWS_MERGED,
    WT_STAT_CONN_LSM_WORK_UNITS_CREATED,
    WT_STAT_CONN_LSM_WORK_UNITS_DONE,
    WT_STAT_CONN_LSM_CHECKPOINT_THROTTLE,
    WT_STAT_CONN_LSM_MERGE_THROTTLE,
};

static int open_figures(kvdyno_database *database, WT_CURSOR **figures)
{
    WT_SESSION *session = database->chore_session;
    return session->open_cursor(session, "statistics:", NULL, "statistics=(fast)", figures);
}

static int read_figure(WT_CURSOR *figures, int key, const char **description, uint64_t *value)
{
    const char *printed;
    figures->set_key(figures, key);
    int code = figures->search(figures);
    return code ? code : figures->get_value(figures, description, &printed, value);
}

int wt_read_figures(kvdyno_database *database, const int *keys, uint64_t *values, size_t count)
{
    WT_CURSOR *figures;
    const char *description;
    int code = open_figures(database, &figures);
    if (code != 0)
        return code;
    for (size_t i = 0; i < count && code == 0; i++)
        code = read_figure(figures, keys[i], &description, &values[i]);
    int closed = figures->close(figures);
    return code ? code : closed;
}

static void say_figure(kvdyno_emit emit, void *context, const char *description, uint64_t value)
{
    char topic[64] = "connection";
    const char *name = split_legend(description, topic);
    emitf(emit, context, topic, name, "%" PRIu64, value);
}

static int say_all(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    WT_CURSOR *figures;
    int code = open_figures(database, &figures);
    if (code != 0)
        return code;
    for (size_t i = 0; i < sizeof shown / sizeof *shown && code == 0; i++) {
        const char *description;
        uint64_t value;
        code = read_figure(figures, shown[i], &description, &value);
        if (code == 0)
            say_figure(emit, context, description, value);
    }
    int closed = figures->close(figures);
    return code ? code : closed;
}

/* The settings with which WiredTiger keeps the table. */
static int say_metadata(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    WT_SESSION *session = database->chore_session;
    const char *name = database->plan.lsm ? "lsm:data" : "file:data.wt", *settings;
    WT_CURSOR *metadata;
    int code = session->open_cursor(session, "metadata:", NULL, NULL, &metadata);
    if (code != 0)
        return code;
    metadata->set_key(metadata, name);
    code = metadata->search(metadata);
    if (code == 0)
        code = metadata->get_value(metadata, &settings);
    if (code == 0)
        emit(context, "metadata", name, settings);
    int closed = metadata->close(metadata);
    return code ? code : closed;
}

kvdyno_status adapter_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    if (!database->plan.statistics && !database->plan.own)
        return KVDYNO_UNSUPPORTED;
    pthread_mutex_lock(&database->chores);
    int code = database->plan.statistics ? say_all(database, emit, context) : 0;
    if (code == 0 && database->plan.own)
        code = say_metadata(database, emit, context);
    pthread_mutex_unlock(&database->chores);
    return code ? KVDYNO_ERROR : KVDYNO_OK;
}

/* Blocks that the block manager wrote, at checkpoints and evictions, to the table's files; the log is written past it.
 * Of an LSM tree they are merges too, which nothing tells from flushes. */
kvdyno_status adapter_counters(kvdyno_database *database, kvdyno_counters *counters)
{
    static const int written = WT_STAT_CONN_BLOCK_BYTE_WRITE;
    uint64_t bytes;
    if (!database->plan.statistics || database->plan.lsm || !COUNTS(counters, flushed_bytes))
        return KVDYNO_UNSUPPORTED;
    pthread_mutex_lock(&database->chores);
    int code = wt_read_figures(database, &written, &bytes, 1);
    pthread_mutex_unlock(&database->chores);
    if (code == 0)
        counters->flushed_bytes = bytes;
    return code ? KVDYNO_ERROR : KVDYNO_OK;
}
