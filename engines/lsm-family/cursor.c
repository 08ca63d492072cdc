/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * cursor.c: an iterator sees the state at its making and no later one, so each seek makes a new one.
 */
#include "family.h"

struct kvdyno_cursor {
    CURSOR_MEMBERS;
    lsm_iterator *iterator; /* NULL before the first seek */
};

static kvdyno_status cursor_start(kvdyno_cursor *cursor)
{
    const char *reason = engine_lacks_cursors(cursor->session);
    return reason ? session_refuse(cursor->session, KVDYNO_UNSUPPORTED, "%s", reason) : KVDYNO_OK;
}

static void cursor_stop(kvdyno_cursor *cursor)
{
    if (cursor->iterator)
        cursor->session->api->iter_destroy(cursor->iterator);
}

/* The record that the iterator stands on. It stands on none at the end, and where reading failed. */
static inline kvdyno_status answer(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    const library_api *api = cursor->session->api;
    if (!api->iter_valid(cursor->iterator)) {
        char *problem = NULL;
        api->iter_get_error(cursor->iterator, &problem);
        return problem ? session_answer(cursor->session, "iterator", problem) : KVDYNO_MISS;
    }
    found->data = api->iter_key(cursor->iterator, &found->size);
    value->data = api->iter_value(cursor->iterator, &value->size);
    return KVDYNO_OK;
}

kvdyno_status adapter_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                  kvdyno_bytes *found, kvdyno_bytes *value)
{
    const kvdyno_session *session = cursor->session;
    const library_api *api = session->api;
    lsm_iterator *old = cursor->iterator; /* `key` may lie in what it handed out */
    lsm_iterator *iterator = api->create_iterator(session->db, SCAN_OPTIONS(session));
    if (!key && direction == KVDYNO_FORWARD)
        api->iter_seek_to_first(iterator);
    else if (!key)
        api->iter_seek_to_last(iterator);
    else if (direction == KVDYNO_FORWARD)
        api->iter_seek(iterator, key, key_size);
    else
        engine_seek_backward(api, iterator, key, key_size);
    if (old)
        api->iter_destroy(old);
    cursor->iterator = iterator;
    return answer(cursor, found, value);
}

/* An iterator that has run off the end may not be moved: the cursor stays there until the next seek. */
static inline kvdyno_status cursor_step(kvdyno_cursor *cursor, uint32_t direction, kvdyno_bytes *found,
                                        kvdyno_bytes *value)
{
    const library_api *api = cursor->session->api;
    if (!cursor->iterator)
        return cursor_not_positioned(cursor->session);
    if (api->iter_valid(cursor->iterator))
        (direction == KVDYNO_FORWARD ? api->iter_next : api->iter_prev)(cursor->iterator);
    return answer(cursor, found, value);
}

#include "cursors.h"
