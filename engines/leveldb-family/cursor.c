/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * cursor.c: a LevelDB iterator sees the state at its making and no later one, so each seek makes a new one.
 */
#include "family.h"

struct kvdyno_cursor {
    kvdyno_session *session;
    leveldb_iterator_t *iterator; /* NULL before the first seek */
};

kvdyno_status family_cursor_open(kvdyno_session *session, kvdyno_cursor **opened)
{
    kvdyno_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return family_refuse(session, KVDYNO_ERROR, "out of memory");
    cursor->session = session;
    *opened = cursor;
    return KVDYNO_OK;
}

void family_cursor_close(kvdyno_cursor *cursor)
{
    if (cursor->iterator)
        cursor->session->api->leveldb_iter_destroy(cursor->iterator);
    free(cursor);
}

/* The record that the iterator stands on. It stands on none at the end, and where reading failed. */
static kvdyno_status answer(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    const leveldb_api *api = cursor->session->api;
    if (!api->leveldb_iter_valid(cursor->iterator)) {
        char *problem = NULL;
        api->leveldb_iter_get_error(cursor->iterator, &problem);
        return problem ? family_fail(cursor->session, "iterator", problem) : KVDYNO_MISS;
    }
    found->data = api->leveldb_iter_key(cursor->iterator, &found->size);
    value->data = api->leveldb_iter_value(cursor->iterator, &value->size);
    return KVDYNO_OK;
}

/* The last record at or before a key: one step back from the first at or after it, unless that is the key itself. */
static void seek_backward(const leveldb_api *api, leveldb_iterator_t *iterator, const void *key, size_t key_size)
{
    api->leveldb_iter_seek(iterator, key, key_size);
    if (!api->leveldb_iter_valid(iterator)) {
        char *problem = NULL;
        api->leveldb_iter_get_error(iterator, &problem);
        if (!problem)
            api->leveldb_iter_seek_to_last(iterator);
        api->leveldb_free(problem); /* the iterator keeps its error, for the answer */
        return;
    }
    size_t size;
    const char *at = api->leveldb_iter_key(iterator, &size);
    if (size != key_size || memcmp(at, key, size) != 0)
        api->leveldb_iter_prev(iterator);
}

kvdyno_status family_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                  kvdyno_bytes *found, kvdyno_bytes *value)
{
    const leveldb_api *api = cursor->session->api;
    leveldb_iterator_t *old = cursor->iterator; /* `key` may lie in what it handed out */
    leveldb_iterator_t *iterator = api->leveldb_create_iterator(cursor->session->db, cursor->session->read);
    if (!key && direction == KVDYNO_FORWARD)
        api->leveldb_iter_seek_to_first(iterator);
    else if (!key)
        api->leveldb_iter_seek_to_last(iterator);
    else if (direction == KVDYNO_FORWARD)
        api->leveldb_iter_seek(iterator, key, key_size);
    else
        seek_backward(api, iterator, key, key_size);
    if (old)
        api->leveldb_iter_destroy(old);
    cursor->iterator = iterator;
    return answer(cursor, found, value);
}

/* An iterator that has run off the end may not be moved: the cursor stays there until the next seek. */
static kvdyno_status step(kvdyno_cursor *cursor, void (*move)(leveldb_iterator_t *), kvdyno_bytes *found,
                          kvdyno_bytes *value)
{
    if (!cursor->iterator)
        return family_refuse(cursor->session, KVDYNO_ERROR, "the cursor has no place: seek first");
    if (cursor->session->api->leveldb_iter_valid(cursor->iterator))
        move(cursor->iterator);
    return answer(cursor, found, value);
}

kvdyno_status family_cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    return step(cursor, cursor->session->api->leveldb_iter_next, found, value);
}

kvdyno_status family_cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    return step(cursor, cursor->session->api->leveldb_iter_prev, found, value);
}
