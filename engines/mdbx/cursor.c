/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * cursor.c: a cursor has a read transaction of its own, refreshed at each seek, so that it neither pins old pages
 * longer than its scan nor sees a state older than its seek. While the session has begun a transaction it looks into
 * that one.
 */
#include "mdbx_adapter.h"

struct kvdyno_cursor {
    kvdyno_session *session;
    kvdyno_cursor *next;
    MDBX_txn *txn;      /* its own */
    MDBX_cursor *at;    /* in `txn`, or in the session's begun transaction */
    bool placed, begun; /* since the last seek, which was in the begun transaction or not */
};

static void discard(kvdyno_cursor *cursor)
{
    const mx_api *api = cursor->session->api;
    if (cursor->at)
        api->mdbx_cursor_close(cursor->at);
    if (cursor->txn)
        api->mdbx_txn_abort_ex(cursor->txn, NULL);
    free(cursor);
}

kvdyno_status mx_cursor_open(kvdyno_session *session, kvdyno_cursor **opened)
{
    const mx_api *api = session->api;
    settle(session);
    kvdyno_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return mx_fail(session, "cursor", ENOMEM);
    cursor->session = session;
    int code = api->mdbx_txn_begin_ex(session->database->env, NULL, MDBX_TXN_RDONLY, &cursor->txn, NULL);
    if (!code)
        code = api->mdbx_txn_reset(cursor->txn);
    if (!code && !(cursor->at = api->mdbx_cursor_create(NULL)))
        code = ENOMEM;
    if (code) {
        discard(cursor);
        return mx_fail(session, "cursor", code);
    }
    cursor->next = session->cursors;
    session->cursors = cursor;
    *opened = cursor;
    return KVDYNO_OK;
}

void mx_cursor_close(kvdyno_cursor *cursor)
{
    kvdyno_cursor **link = &cursor->session->cursors;
    while (*link != cursor)
        link = &(*link)->next;
    *link = cursor->next;
    discard(cursor);
}

/* Puts the cursor into the transaction that a seek looks into: the begun one, or its own at the last commit. */
static int enter(kvdyno_cursor *cursor)
{
    kvdyno_session *session = cursor->session;
    const mx_api *api = session->api;
    cursor->placed = false;
    cursor->begun = session->begun;
    if (session->begun) {
        int code = api->mdbx_cursor_bind(session->current, cursor->at, session->dbi);
        api->mdbx_txn_reset(cursor->txn);
        return code;
    }
    settle(session);
    int code = refresh(api, cursor->txn);
    return code ? code : api->mdbx_cursor_bind(cursor->txn, cursor->at, session->dbi);
}

static kvdyno_status look(kvdyno_cursor *cursor, MDBX_val *key, MDBX_cursor_op step, kvdyno_bytes *found,
                          kvdyno_bytes *value)
{
    MDBX_val data;
    int code = cursor->session->api->mdbx_cursor_get(cursor->at, key, &data, step);
    if (code && code != MDBX_RESULT_TRUE)
        return code == MDBX_NOTFOUND ? KVDYNO_MISS : mx_fail(cursor->session, "mdbx_cursor_get", code);
    *found = (kvdyno_bytes){key->iov_base, key->iov_len};
    *value = (kvdyno_bytes){data.iov_base, data.iov_len};
    return KVDYNO_OK;
}

kvdyno_status mx_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                        kvdyno_bytes *found, kvdyno_bytes *value)
{
    static const MDBX_cursor_op first[] = {[KVDYNO_FORWARD] = MDBX_FIRST, [KVDYNO_BACKWARD] = MDBX_LAST};
    static const MDBX_cursor_op near[] = {[KVDYNO_FORWARD] = MDBX_SET_RANGE,
                                          [KVDYNO_BACKWARD] = MDBX_TO_KEY_LESSER_OR_EQUAL};
    int code = enter(cursor);
    if (code)
        return mx_fail(cursor->session, "mdbx_cursor_bind", code);
    cursor->placed = true;
    MDBX_val sought = {(void *)key, key_size};
    return look(cursor, &sought, (key ? near : first)[direction], found, value);
}

static kvdyno_status move(kvdyno_cursor *cursor, MDBX_cursor_op step, kvdyno_bytes *found, kvdyno_bytes *value)
{
    if (!cursor->placed)
        return mx_refuse(cursor->session, KVDYNO_ERROR, "the cursor has no place: seek first");
    MDBX_val at = {NULL, 0};
    return look(cursor, &at, step, found, value);
}

kvdyno_status mx_cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    return move(cursor, MDBX_NEXT, found, value);
}

kvdyno_status mx_cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    return move(cursor, MDBX_PREV, found, value);
}

/* libmdbx sets the cursors of a transaction that ends free. */
void mx_end_cursors(kvdyno_session *session)
{
    for (kvdyno_cursor *cursor = session->cursors; cursor; cursor = cursor->next)
        if (cursor->begun)
            cursor->placed = cursor->begun = false;
}
