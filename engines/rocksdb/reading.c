/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * reading.c: a value is pinned where it lies, in the block cache or a write buffer, until the session's next call.
 */
#include "family.h"
#include "settle.h"

lsm_readoptions *engine_scan_options(const kvdyno_database *database)
{
    lsm_readoptions *scan = family_read_options(database);
    if (database->api.readoptions_set_total_order_seek) /* else there is no prefix, and all iterators are so */
        database->api.readoptions_set_total_order_seek(scan, 1);
    return scan;
}

void engine_session_start(kvdyno_session *session)
{
    session->scan = engine_scan_options(session->database);
}

void engine_session_stop(kvdyno_session *session)
{
    session->api->readoptions_destroy(session->scan);
    free(session->many.keys);
    free(session->many.key_sizes);
    free(session->many.value_sizes);
    free(session->many.values);
    free(session->many.problems);
}

void engine_read_from(kvdyno_session *session, const lsm_snapshot *snapshot)
{
    session->api->readoptions_set_snapshot(session->read, snapshot);
    session->api->readoptions_set_snapshot(session->scan, snapshot);
}

const char *engine_lacks_cursors(const kvdyno_session *session)
{
    static const char reason[] = "table=plain: iterators of plain tables can neither find a key in the order of all "
                                 "keys nor go backward; choose table=block";
    return session->database->plain ? reason : NULL;
}

void engine_seek_backward(const library_api *api, lsm_iterator *iterator, const void *key, size_t key_size)
{
    api->iter_seek_for_prev(iterator, key, key_size);
}

void rdb_release_copies(kvdyno_session *session)
{
    session->api->free(session->copied);
    session->copied = NULL;
    for (size_t i = 0; i < session->many.count; i++)
        session->api->free(session->many.values[i]);
    session->many.count = 0;
}

/* ---- reading ---- */

/* For a library that cannot pin. */
static kvdyno_status get_copied(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    char *problem = NULL;
    size_t size;
    session->copied = session->api->get(session->db, session->read, key, key_size, &size, &problem);
    if (problem)
        return session_answer(session, "get", problem);
    if (!session->copied)
        return KVDYNO_MISS;
    *value = (kvdyno_bytes){session->copied, size};
    return KVDYNO_OK;
}

kvdyno_status adapter_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    const library_api *api = session->api;
    settle(session);
    if (__builtin_expect(!api->get_pinned, 0))
        return get_copied(session, key, key_size, value);
    char *problem = NULL;
    session->pinned = api->get_pinned(session->db, session->read, key, key_size, &problem);
    if (__builtin_expect(!session->pinned, 0))
        return problem ? session_answer(session, "get_pinned", problem) : KVDYNO_MISS;
    value->data = api->pinnableslice_value(session->pinned, &value->size);
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
static bool reserve(many_values *many, size_t count)
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
    const many_values *many = &session->many;
    if (many->problems[i])
        return session_answer(session, "multi_get", many->problems[i]);
    if (!many->values[i])
        return KVDYNO_MISS;
    *value = (kvdyno_bytes){many->values[i], many->value_sizes[i]};
    return KVDYNO_OK;
}

kvdyno_status adapter_multi_get(kvdyno_session *session, const kvdyno_bytes *keys, size_t count, kvdyno_bytes *values,
                                kvdyno_status *statuses)
{
    many_values *many = &session->many;
    settle(session);
    if (count == 0)
        return KVDYNO_OK;
    if (!reserve(many, count))
        return session_refuse(session, KVDYNO_ERROR, "out of memory");
    for (size_t i = 0; i < count; i++) {
        many->keys[i] = keys[i].data;
        many->key_sizes[i] = keys[i].size;
    }
    session->api->multi_get(session->db, session->read, count, many->keys, many->key_sizes, many->values,
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
