/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * cursor.c: a cursor has a read transaction of its own, brought to the last commit at each seek, so that it neither
 * pins old pages longer than its scan nor sees a state older than its seek. While the session has begun a transaction
 * it looks into that one.
 */
#include "family.h"

static kvdyno_status cursor_start(kvdyno_cursor *cursor)
{
    kvdyno_session *session = cursor->session;
    settle(session);
    int code = tree_begin(session->api, session->database->env, false, &cursor->txn);
    if (!code) {
        code = tree_cursor_new(session->api, cursor->txn, session->dbi, &cursor->own);
        session->api->CALL(txn_reset)(cursor->txn);
    }
    return session_answer(session, "a cursor", code);
}

static void cursor_stop(kvdyno_cursor *cursor)
{
    const library_api *api = cursor->session->api;
    if (cursor->begun)
        cursor_leave(cursor);
    if (cursor->own)
        api->CALL(cursor_close)(cursor->own);
    if (cursor->txn)
        tree_abort(api, cursor->txn);
}

static inline kvdyno_status look(kvdyno_cursor *cursor, int code, const tree_val *key, const tree_val *data,
                                 kvdyno_bytes *found, kvdyno_bytes *value)
{
    if (__builtin_expect(code != 0, 0))
        return session_answer(cursor->session, "a scan", code);
    *found = tree_bytes(key);
    *value = tree_bytes(data);
    return KVDYNO_OK;
}

kvdyno_status adapter_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                  kvdyno_bytes *found, kvdyno_bytes *value)
{
    const library_api *api = cursor->session->api;
    bool forward = direction == KVDYNO_FORWARD;
    tree_val sought = tree_value((kvdyno_bytes){key, key_size}), data;
    cursor->at = NULL;
    int code = cursor_enter(cursor);
    if (code)
        return session_answer(cursor->session, "a read transaction", code);
    if (!key)
        code = tree_cursor_get(api, cursor->at, &sought, &data, forward ? TREE_FIRST : TREE_LAST);
    else if (forward)
        code = tree_cursor_get(api, cursor->at, &sought, &data, TREE_SET_RANGE);
    else
        code = tree_cursor_seek_backward(api, cursor->at, key, key_size, &sought, &data);
    return look(cursor, code, &sought, &data, found, value);
}

static inline kvdyno_status cursor_step(kvdyno_cursor *cursor, uint32_t direction, kvdyno_bytes *found,
                                        kvdyno_bytes *value)
{
    tree_val key, data;
    if (!cursor->at)
        return cursor_not_positioned(cursor->session);
    int code = tree_cursor_get(cursor->session->api, cursor->at, &key, &data,
                               direction == KVDYNO_FORWARD ? TREE_NEXT : TREE_PREV);
    return look(cursor, code, &key, &data, found, value);
}

#include "cursors.h"
