/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * reading.c: LevelDB's C API hands out values in memory that it allocates: a session keeps them until its next call.
 */
#include "family.h"
#include "settle.h"

void engine_session_start(kvdyno_session *session)
{
    (void)session;
}

void engine_session_stop(kvdyno_session *session)
{
    free(session->values);
}

void engine_read_from(kvdyno_session *session, const lsm_snapshot *snapshot)
{
    session->api->readoptions_set_snapshot(session->read, snapshot);
}

const char *engine_lacks_cursors(const kvdyno_session *session)
{
    (void)session;
    return NULL;
}

/* One step back from the first record at or after the key, unless that is the key's own. */
void engine_seek_backward(const library_api *api, lsm_iterator *iterator, const void *key, size_t key_size)
{
    api->iter_seek(iterator, key, key_size);
    if (!api->iter_valid(iterator)) {
        char *problem = NULL;
        api->iter_get_error(iterator, &problem);
        if (!problem)
            api->iter_seek_to_last(iterator);
        api->free(problem); /* the iterator keeps its error, for the answer */
        return;
    }
    size_t size;
    const char *at = api->iter_key(iterator, &size);
    if (size != key_size || memcmp(at, key, size) != 0)
        api->iter_prev(iterator);
}

/* One read, whose value the caller keeps. */
static inline kvdyno_status read_one(kvdyno_session *session, const void *key, size_t key_size, char **kept,
                                     kvdyno_bytes *value)
{
    char *problem = NULL;
    size_t size;
    *kept = session->api->get(session->db, session->read, key, key_size, &size, &problem);
    if (problem)
        return session_answer(session, "get", problem);
    if (!*kept)
        return KVDYNO_MISS;
    *value = (kvdyno_bytes){*kept, size};
    return KVDYNO_OK;
}

kvdyno_status adapter_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    settle(session);
    return read_one(session, key, key_size, &session->value, value);
}

static bool reserve_values(kvdyno_session *session, size_t count)
{
    if (count <= session->value_capacity)
        return true;
    char **larger = realloc(session->values, count * sizeof *larger);
    if (!larger)
        return false;
    session->values = larger;
    session->value_capacity = count;
    return true;
}

/* All of them from one state: the begun transaction's, or that of now. */
kvdyno_status adapter_multi_get(kvdyno_session *session, const kvdyno_bytes *keys, size_t count, kvdyno_bytes *values,
                                kvdyno_status *statuses)
{
    settle(session);
    if (!reserve_values(session, count))
        return session_refuse(session, KVDYNO_ERROR, "out of memory");
    if (!session->begun)
        family_take_snapshot(session);
    kvdyno_status worst = KVDYNO_OK;
    for (size_t i = 0; i < count; i++) {
        statuses[i] = read_one(session, keys[i].data, keys[i].size, &session->values[i], &values[i]);
        if (statuses[i] < 0)
            worst = statuses[i];
    }
    session->value_count = count;
    if (!session->begun)
        family_release_snapshot(session);
    return worst;
}
