/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * shim.c: the table that the host reads, and its functions, each of which crosses into Go. A handle is a number that Go
 * gave out, carried as a pointer that nobody follows. What the crossing costs is measured here, where it begins.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "_cgo_export.h"
#include "shim.h"

void kvdyno_go_emit(kvdyno_emit emit, void *context, const char *topic, const char *name, const char *value)
{
    emit(context, topic, name, value);
}

kvdyno_status kvdyno_go_read_modify_write(kvdyno_update_fn update, void *context, const void *old, size_t old_size,
                                          kvdyno_bytes *value)
{
    return update(context, (kvdyno_bytes){old, old_size}, value);
}

/* ---- the database ---- */

static kvdyno_status probe(const char *library, kvdyno_text *version, kvdyno_text *error)
{
    return kvdynoProbe((char *)library, version, error);
}

static kvdyno_status settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    return kvdynoSettings((kvdyno_config *)config, emit, context, error);
}

static void effective_capabilities(const kvdyno_config *config, kvdyno_capabilities *declared)
{
    kvdynoEffectiveCapabilities((kvdyno_config *)config, declared);
}

static kvdyno_status open_database(const kvdyno_config *config, kvdyno_database **database, kvdyno_text *error)
{
    uintptr_t handle = 0;
    kvdyno_status status = kvdynoOpen((kvdyno_config *)config, &handle, error);
    *database = (kvdyno_database *)handle;
    return status;
}

static kvdyno_status close_database(kvdyno_database *database, kvdyno_text *error)
{
    return kvdynoClose((uintptr_t)database, error);
}

static kvdyno_status flush(kvdyno_database *database, kvdyno_text *error)
{
    return kvdynoFlush((uintptr_t)database, error);
}

static kvdyno_status compact(kvdyno_database *database, kvdyno_text *error)
{
    return kvdynoCompact((uintptr_t)database, error);
}

static kvdyno_status wait_idle(kvdyno_database *database, kvdyno_text *error)
{
    return kvdynoWaitIdle((uintptr_t)database, error);
}

/* ---- what a call pays ---- */

static double ns_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* A call that does nothing, there and back: the median of series that are too short to be disturbed often. */
static double crossing_ns(void)
{
    enum { SERIES = 25, CALLS = 1000 };
    double each[SERIES];
    for (int i = 0; i < SERIES; i++) {
        double start = ns_now();
        for (int call = 0; call < CALLS; call++)
            kvdynoNothing();
        each[i] = (ns_now() - start) / CALLS;
    }
    qsort(each, SERIES, sizeof each[0], ascending);
    return each[SERIES / 2];
}

static kvdyno_status statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    char ns[32];
    snprintf(ns, sizeof ns, "%.1f", crossing_ns());
    emit(context, "crossing", "ns_per_call", ns);
    emit(context, "crossing", "border", "from C to Go");
    return kvdynoStatistics((uintptr_t)database, emit, context);
}

static kvdyno_status counters(kvdyno_database *database, kvdyno_counters *counters)
{
    uint64_t flushed = KVDYNO_ABSENT, compacted = KVDYNO_ABSENT;
    kvdyno_status status = kvdynoCounters((uintptr_t)database, &flushed, &compacted);
    if (counters->size >= offsetof(kvdyno_counters, flushed_bytes) + sizeof flushed)
        counters->flushed_bytes = flushed;
    if (counters->size >= offsetof(kvdyno_counters, compacted_bytes) + sizeof compacted)
        counters->compacted_bytes = compacted;
    return status;
}

/* ---- the session ---- */

static kvdyno_status session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **session,
                                  kvdyno_text *error)
{
    (void)host;
    uintptr_t handle = 0;
    kvdyno_status status = kvdynoSessionOpen((uintptr_t)database, &handle, error);
    *session = (kvdyno_session *)handle;
    return status;
}

static void session_close(kvdyno_session *session)
{
    kvdynoSessionClose((uintptr_t)session);
}

static void session_error(kvdyno_session *session, kvdyno_text *error)
{
    kvdynoSessionError((uintptr_t)session, error);
}

static kvdyno_status get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    return kvdynoGet((uintptr_t)session, (void *)key, key_size, value);
}

static kvdyno_status put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                         size_t value_size)
{
    return kvdynoPut((uintptr_t)session, (void *)key, key_size, (void *)value, value_size);
}

static kvdyno_status remove_key(kvdyno_session *session, const void *key, size_t key_size)
{
    return kvdynoRemove((uintptr_t)session, (void *)key, key_size);
}

static kvdyno_status delete_range(kvdyno_session *session, const void *from, size_t from_size, const void *to,
                                  size_t to_size)
{
    return kvdynoDeleteRange((uintptr_t)session, (void *)from, from_size, (void *)to, to_size);
}

static kvdyno_status contains(kvdyno_session *session, const void *key, size_t key_size)
{
    return kvdynoContains((uintptr_t)session, (void *)key, key_size);
}

static kvdyno_status write_steps(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    return kvdynoWrite((uintptr_t)session, (kvdyno_batch_entry *)entries, count);
}

static kvdyno_status multi_get(kvdyno_session *session, const kvdyno_bytes *keys, size_t count, kvdyno_bytes *values,
                               kvdyno_status *statuses)
{
    return kvdynoMultiGet((uintptr_t)session, (kvdyno_bytes *)keys, count, values, statuses);
}

static kvdyno_status read_modify_write(kvdyno_session *session, const void *key, size_t key_size,
                                       kvdyno_update_fn update, void *context)
{
    return kvdynoReadModifyWrite((uintptr_t)session, (void *)key, key_size, update, context);
}

static kvdyno_status begin(kvdyno_session *session, uint32_t kind)
{
    return kvdynoBegin((uintptr_t)session, kind);
}

static kvdyno_status commit(kvdyno_session *session)
{
    return kvdynoEnd((uintptr_t)session, 1);
}

static kvdyno_status abort_transaction(kvdyno_session *session)
{
    return kvdynoEnd((uintptr_t)session, 0);
}

/* ---- the cursor ---- */

static kvdyno_status cursor_open(kvdyno_session *session, kvdyno_cursor **cursor)
{
    uintptr_t handle = 0;
    kvdyno_status status = kvdynoCursorOpen((uintptr_t)session, &handle);
    *cursor = (kvdyno_cursor *)handle;
    return status;
}

static kvdyno_status cursor_open_with(kvdyno_session *session, const kvdyno_cursor_options *options,
                                      kvdyno_cursor **cursor)
{
    uintptr_t handle = 0;
    kvdyno_status status = kvdynoCursorOpenWith((uintptr_t)session, (kvdyno_cursor_options *)options, &handle);
    *cursor = (kvdyno_cursor *)handle;
    return status;
}

static void cursor_close(kvdyno_cursor *cursor)
{
    kvdynoCursorClose((uintptr_t)cursor);
}

static kvdyno_status cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                 kvdyno_bytes *found, kvdyno_bytes *value)
{
    return kvdynoCursorSeek((uintptr_t)cursor, (void *)key, key_size, direction, found, value);
}

static kvdyno_status cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    return kvdynoCursorStep((uintptr_t)cursor, KVDYNO_FORWARD, found, value);
}

static kvdyno_status cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    return kvdynoCursorStep((uintptr_t)cursor, KVDYNO_BACKWARD, found, value);
}

/* ---- the table ---- */

/* Go fills in what the adapter describes, before the host sees it, and takes out what it does not declare. */
static kvdyno_engine engine = {
    .size = sizeof(kvdyno_engine),
    .abi_version = KVDYNO_ABI_VERSION,
    .option_size = sizeof(kvdyno_option),
    .preset_size = sizeof(kvdyno_preset),
    .probe = probe,
    .settings = settings,
    .open = open_database,
    .close = close_database,
    .session_open = session_open,
    .session_close = session_close,
    .session_error = session_error,
    .get = get,
    .put = put,
    .remove = remove_key,
    .write = write_steps,
    .multi_get = multi_get,
    .read_modify_write = read_modify_write,
    .begin = begin,
    .commit = commit,
    .abort = abort_transaction,
    .cursor_open = cursor_open,
    .cursor_close = cursor_close,
    .cursor_seek = cursor_seek,
    .cursor_next = cursor_next,
    .cursor_previous = cursor_previous,
    .flush = flush,
    .compact = compact,
    .wait_idle = wait_idle,
    .statistics = statistics,
    .effective_capabilities = effective_capabilities,
    .counters = counters,
    .delete_range = delete_range,
    .contains = contains,
    .cursor_open_with = cursor_open_with,
};

const kvdyno_engine *kvdyno_engine_v2(void)
{
    kvdynoDescribe(&engine);
    return &engine;
}
