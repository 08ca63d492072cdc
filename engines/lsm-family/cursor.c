/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * cursor.c: an iterator sees the state at its making and no later one, so each seek makes a new one.
 */
#include "family.h"

struct kvdyno_cursor {
    CURSOR_MEMBERS;
    lsm_iterator *iterator;  /* NULL before the first seek */
    lsm_readoptions *within; /* of a cursor that has bounds, or NULL */
    growing bounds;          /* their keys, which `within` points to; or the prefix of all keys */
    size_t prefix_size;      /* of a cursor that has one */
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
    if (cursor->within)
        cursor->session->api->readoptions_destroy(cursor->within);
    free(cursor->bounds.data);
}

#ifdef LIMITS_CURSORS
static kvdyno_status cursor_limit(kvdyno_cursor *cursor, const kvdyno_cursor_options *options)
{
    cursor->prefix_size = cursor_prefix(options).size;
    return engine_bound_reads(cursor->session, options, &cursor->bounds, &cursor->within);
}
#endif

/* What an iterator is made with: that of a cursor with bounds is its own, and told of the session's snapshot. */
static inline lsm_readoptions *scan_options(const kvdyno_cursor *cursor)
{
    const kvdyno_session *session = cursor->session;
    if (!cursor->within)
        return SCAN_OPTIONS(session);
    session->api->readoptions_set_snapshot(cursor->within, session->snapshot);
    return cursor->within;
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
    lsm_iterator *iterator = api->create_iterator(session->db, scan_options(cursor));
    if (cursor->prefix_size)
        api->iter_seek(iterator, cursor->bounds.data, cursor->prefix_size);
    else if (!key && direction == KVDYNO_FORWARD)
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
