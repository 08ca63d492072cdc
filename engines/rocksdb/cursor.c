/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * cursor.c: a RocksDB iterator sees the state at its making and no later one, so each seek makes a new one.
 */
#include "rocksdb_adapter.h"

struct kvdyno_cursor {
    kvdyno_session *session;
    rocksdb_iterator_t *iterator; /* NULL before the first seek */
};

kvdyno_status rdb_cursor_open(kvdyno_session *session, kvdyno_cursor **opened)
{
    if (session->database->plain)
        return rdb_refuse(session, KVDYNO_UNSUPPORTED,
                          "table=plain: iterators of plain tables can neither find a key in the order of all keys nor go "
                          "backward; choose table=block");
    kvdyno_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return rdb_refuse(session, KVDYNO_ERROR, "out of memory");
    cursor->session = session;
    *opened = cursor;
    return KVDYNO_OK;
}

void rdb_cursor_close(kvdyno_cursor *cursor)
{
    if (cursor->iterator)
        cursor->session->api->rocksdb_iter_destroy(cursor->iterator);
    free(cursor);
}

/* The record that the iterator stands on. It stands on none at the end, and where reading failed. */
static kvdyno_status answer(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    const rocksdb_api *api = cursor->session->api;
    if (!api->rocksdb_iter_valid(cursor->iterator)) {
        char *problem = NULL;
        api->rocksdb_iter_get_error(cursor->iterator, &problem);
        return problem ? rdb_fail(cursor->session, "iterator", problem) : KVDYNO_MISS;
    }
    found->data = api->rocksdb_iter_key(cursor->iterator, &found->size);
    value->data = api->rocksdb_iter_value(cursor->iterator, &value->size);
    return KVDYNO_OK;
}

kvdyno_status rdb_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                              kvdyno_bytes *found, kvdyno_bytes *value)
{
    const rocksdb_api *api = cursor->session->api;
    rocksdb_iterator_t *old = cursor->iterator; /* `key` may lie in what it handed out */
    rocksdb_iterator_t *iterator = api->rocksdb_create_iterator(cursor->session->db, cursor->session->scan);
    if (!key && direction == KVDYNO_FORWARD)
        api->rocksdb_iter_seek_to_first(iterator);
    else if (!key)
        api->rocksdb_iter_seek_to_last(iterator);
    else if (direction == KVDYNO_FORWARD)
        api->rocksdb_iter_seek(iterator, key, key_size);
    else
        api->rocksdb_iter_seek_for_prev(iterator, key, key_size);
    if (old)
        api->rocksdb_iter_destroy(old);
    cursor->iterator = iterator;
    return answer(cursor, found, value);
}

/* An iterator that has run off the end may not be moved: the cursor stays there until the next seek. */
static kvdyno_status step(kvdyno_cursor *cursor, void (*move)(rocksdb_iterator_t *), kvdyno_bytes *found,
                          kvdyno_bytes *value)
{
    if (!cursor->iterator)
        return rdb_refuse(cursor->session, KVDYNO_ERROR, "the cursor has no place: seek first");
    if (cursor->session->api->rocksdb_iter_valid(cursor->iterator))
        move(cursor->iterator);
    return answer(cursor, found, value);
}

kvdyno_status rdb_cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    return step(cursor, cursor->session->api->rocksdb_iter_next, found, value);
}

kvdyno_status rdb_cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    return step(cursor, cursor->session->api->rocksdb_iter_prev, found, value);
}
