/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * session.c: reading, writing and snapshots. A value is pinned where it lies, in the block cache or a write buffer,
 * until the session's next call.
 */
#include "rocksdb_adapter.h"

kvdyno_status rdb_fail(kvdyno_session *session, const char *what, char *problem)
{
    kvdyno_text error = {session->error, sizeof session->error};
    return rdb_explain(session->api, what, problem, &error);
}

kvdyno_status rdb_refuse(kvdyno_session *session, kvdyno_status status, const char *why)
{
    snprintf(session->error, sizeof session->error, "%s", why);
    return status;
}

static rocksdb_readoptions_t *read_options(kvdyno_database *database)
{
    rocksdb_readoptions_t *options = database->api.rocksdb_readoptions_create();
    database->api.rocksdb_readoptions_set_verify_checksums(options, database->verify_checksums);
    database->api.rocksdb_readoptions_set_fill_cache(options, database->fill_cache);
    return options;
}

kvdyno_status rdb_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
                               kvdyno_text *error)
{
    (void)host;
    const rocksdb_api *api = &database->api;
    kvdyno_session *session = calloc(1, sizeof *session);
    if (!session) {
        say(error, "out of memory");
        return KVDYNO_ERROR;
    }
    session->api = api;
    session->db = database->db;
    session->database = database;
    session->batch = api->rocksdb_writebatch_create();
    session->read = read_options(database);
    session->scan = read_options(database);
    if (api->rocksdb_readoptions_set_total_order_seek) /* else there is no prefix, and all iterators are so */
        api->rocksdb_readoptions_set_total_order_seek(session->scan, 1);
    *opened = session;
    return KVDYNO_OK;
}

static void release_rare(kvdyno_session *session)
{
    session->api->rocksdb_free(session->copied);
    session->copied = NULL;
    for (size_t i = 0; i < session->many.count; i++)
        session->api->rocksdb_free(session->many.values[i]);
    session->many.count = 0;
}

/* What the last read handed out is borrowed no longer. */
static inline void settle(kvdyno_session *session)
{
    if (session->pinned) {
        session->api->rocksdb_pinnableslice_destroy(session->pinned);
        session->pinned = NULL;
    } else if (session->copied || session->many.count) {
        release_rare(session);
    }
}

static void read_from(kvdyno_session *session, const rocksdb_snapshot_t *snapshot)
{
    session->api->rocksdb_readoptions_set_snapshot(session->read, snapshot);
    session->api->rocksdb_readoptions_set_snapshot(session->scan, snapshot);
}

static void release_snapshot(kvdyno_session *session)
{
    read_from(session, NULL);
    session->api->rocksdb_release_snapshot(session->db, session->snapshot);
    session->snapshot = NULL;
}

void rdb_session_close(kvdyno_session *session)
{
    settle(session);
    if (session->snapshot)
        release_snapshot(session);
    session->api->rocksdb_readoptions_destroy(session->read);
    session->api->rocksdb_readoptions_destroy(session->scan);
    session->api->rocksdb_writebatch_destroy(session->batch);
    free(session->many.keys);
    free(session->many.key_sizes);
    free(session->many.value_sizes);
    free(session->many.values);
    free(session->many.problems);
    free(session);
}

void rdb_session_error(kvdyno_session *session, kvdyno_text *error)
{
    say(error, "%s", session->error);
}

/* ---- reading ---- */

/* For a library that cannot pin. */
static kvdyno_status get_copied(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    char *problem = NULL;
    size_t size;
    session->copied = session->api->rocksdb_get(session->db, session->read, key, key_size, &size, &problem);
    if (problem)
        return rdb_fail(session, "rocksdb_get", problem);
    if (!session->copied)
        return KVDYNO_MISS;
    *value = (kvdyno_bytes){session->copied, size};
    return KVDYNO_OK;
}

kvdyno_status rdb_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    const rocksdb_api *api = session->api;
    settle(session);
    if (__builtin_expect(!api->rocksdb_get_pinned, 0))
        return get_copied(session, key, key_size, value);
    char *problem = NULL;
    session->pinned = api->rocksdb_get_pinned(session->db, session->read, key, key_size, &problem);
    if (__builtin_expect(!session->pinned, 0))
        return problem ? rdb_fail(session, "rocksdb_get_pinned", problem) : KVDYNO_MISS;
    value->data = api->rocksdb_pinnableslice_value(session->pinned, &value->size);
    return KVDYNO_OK;
}

static bool grow(void *array, size_t count, size_t size)
{
    void *larger = realloc(*(void **)array, count * size);
    if (larger)
        *(void **)array = larger;
    return larger;
}

/* The arrays that rocksdb_multi_get wants. */
static bool reserve(struct many *many, size_t count)
{
    if (count <= many->capacity)
        return true;
    if (!grow(&many->keys, count, sizeof *many->keys) || !grow(&many->key_sizes, count, sizeof *many->key_sizes) ||
        !grow(&many->value_sizes, count, sizeof *many->value_sizes) ||
        !grow(&many->values, count, sizeof *many->values) || !grow(&many->problems, count, sizeof *many->problems))
        return false;
    many->capacity = count;
    return true;
}

static kvdyno_status one_of_many(kvdyno_session *session, size_t i, kvdyno_bytes *value)
{
    const struct many *many = &session->many;
    if (many->problems[i])
        return rdb_fail(session, "rocksdb_multi_get", many->problems[i]);
    if (!many->values[i])
        return KVDYNO_MISS;
    *value = (kvdyno_bytes){many->values[i], many->value_sizes[i]};
    return KVDYNO_OK;
}

kvdyno_status rdb_multi_get(kvdyno_session *session, const kvdyno_bytes *keys, size_t count, kvdyno_bytes *values,
                            kvdyno_status *statuses)
{
    struct many *many = &session->many;
    settle(session);
    if (count == 0)
        return KVDYNO_OK;
    if (!reserve(many, count))
        return rdb_refuse(session, KVDYNO_ERROR, "out of memory");
    for (size_t i = 0; i < count; i++) {
        many->keys[i] = keys[i].data;
        many->key_sizes[i] = keys[i].size;
    }
    session->api->rocksdb_multi_get(session->db, session->read, count, many->keys, many->key_sizes, many->values,
                                    many->value_sizes, many->problems);
    many->count = count;
    kvdyno_status worst = KVDYNO_OK;
    for (size_t i = 0; i < count; i++) {
        statuses[i] = one_of_many(session, i, &values[i]);
        if (statuses[i] < 0)
            worst = statuses[i];
    }
    return worst;
}

/* ---- writing ---- */

static kvdyno_status answer(kvdyno_session *session, const char *what, char *problem)
{
    return problem ? rdb_fail(session, what, problem) : KVDYNO_OK;
}

static kvdyno_status may_write(kvdyno_session *session)
{
    settle(session);
    if (session->snapshot)
        return rdb_refuse(session, KVDYNO_UNSUPPORTED, "a read-only transaction is open on this session");
    return KVDYNO_OK;
}

kvdyno_status rdb_put(kvdyno_session *session, const void *key, size_t key_size, const void *value, size_t value_size)
{
    kvdyno_status status = may_write(session);
    if (status != KVDYNO_OK)
        return status;
    char *problem = NULL;
    session->api->rocksdb_put(session->db, session->database->write, key, key_size, value, value_size, &problem);
    return answer(session, "rocksdb_put", problem);
}

kvdyno_status rdb_remove(kvdyno_session *session, const void *key, size_t key_size)
{
    kvdyno_status status = may_write(session);
    if (status != KVDYNO_OK)
        return status;
    char *problem = NULL;
    session->api->rocksdb_delete(session->db, session->database->write, key, key_size, &problem);
    return answer(session, "rocksdb_delete", problem);
}

static void gather(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    const rocksdb_api *api = session->api;
    api->rocksdb_writebatch_clear(session->batch);
    for (const kvdyno_batch_entry *step = entries; step < entries + count; step++) {
        if (step->kind == KVDYNO_PUT)
            api->rocksdb_writebatch_put(session->batch, step->key.data, step->key.size, step->value.data,
                                        step->value.size);
        else
            api->rocksdb_writebatch_delete(session->batch, step->key.data, step->key.size);
    }
}

kvdyno_status rdb_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    kvdyno_status status = may_write(session);
    if (status != KVDYNO_OK || count == 0)
        return status;
    gather(session, entries, count);
    char *problem = NULL;
    session->api->rocksdb_write(session->db, session->database->write, session->batch, &problem);
    return answer(session, "rocksdb_write", problem);
}

/* ---- transactions: snapshots, for reading only ---- */

kvdyno_status rdb_begin(kvdyno_session *session, uint32_t kind)
{
    settle(session);
    if (kind != KVDYNO_READ_ONLY)
        return rdb_refuse(session, KVDYNO_UNSUPPORTED, "this adapter opens RocksDB without transactions for writing");
    if (session->snapshot)
        return rdb_refuse(session, KVDYNO_ERROR, "a transaction is open already: they do not nest");
    session->snapshot = session->api->rocksdb_create_snapshot(session->db);
    read_from(session, session->snapshot);
    return KVDYNO_OK;
}

kvdyno_status rdb_end(kvdyno_session *session)
{
    settle(session);
    if (!session->snapshot)
        return rdb_refuse(session, KVDYNO_ERROR, "no transaction is open");
    release_snapshot(session);
    return KVDYNO_OK;
}
