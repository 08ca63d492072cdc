/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * cursor.c: a cursor has a read transaction of its own, renewed at each seek, so that it neither pins old pages longer
 * than its scan nor sees a state older than its seek. While the session has begun a transaction it looks into that one.
 */
#include "lmdb_adapter.h"

kvdyno_status lmdb_cursor_open(kvdyno_session *session, kvdyno_cursor **opened)
{
    settle(session);
    kvdyno_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return lmdb_fail(session, "cursor", ENOMEM);
    cursor->session = session;
    int code = session->api->mdb_txn_begin(session->database->env, NULL, MDB_RDONLY, &cursor->txn);
    if (!code) {
        code = session->api->mdb_cursor_open(cursor->txn, session->dbi, &cursor->own);
        session->api->mdb_txn_reset(cursor->txn);
    }
    if (code) {
        if (cursor->txn)
            session->api->mdb_txn_abort(cursor->txn);
        free(cursor);
        return lmdb_fail(session, "mdb_cursor_open", code);
    }
    cursor->next = session->cursors;
    session->cursors = cursor;
    *opened = cursor;
    return KVDYNO_OK;
}

void lmdb_cursor_close(kvdyno_cursor *cursor)
{
    const lmdb_api *api = cursor->session->api;
    kvdyno_cursor **link = &cursor->session->cursors;
    while (*link != cursor)
        link = &(*link)->next;
    *link = cursor->next;
    if (cursor->begun)
        api->mdb_cursor_close(cursor->begun);
    api->mdb_cursor_close(cursor->own);
    api->mdb_txn_abort(cursor->txn);
    free(cursor);
}

/* Chooses the transaction that a seek looks into: the begun one, or the cursor's own at the last commit. */
static int cursor_refresh(kvdyno_cursor *cursor)
{
    kvdyno_session *session = cursor->session;
    cursor->at = NULL;
    session->api->mdb_txn_reset(cursor->txn);
    int code = 0;
    if (session->begun) {
        if (!cursor->begun)
            code = session->api->mdb_cursor_open(session->current, session->dbi, &cursor->begun);
    } else {
        settle(session);
        code = session->api->mdb_txn_renew(cursor->txn);
        if (!code)
            code = session->api->mdb_cursor_renew(cursor->txn, cursor->own);
    }
    if (!code)
        cursor->at = session->begun ? cursor->begun : cursor->own;
    return code;
}

static kvdyno_status cursor_answer(kvdyno_cursor *cursor, int code, const MDB_val *key, const MDB_val *data,
                                   kvdyno_bytes *found, kvdyno_bytes *value)
{
    if (code)
        return code == MDB_NOTFOUND ? KVDYNO_MISS : lmdb_fail(cursor->session, "mdb_cursor_get", code);
    *found = (kvdyno_bytes){key->mv_data, key->mv_size};
    *value = (kvdyno_bytes){data->mv_data, data->mv_size};
    return KVDYNO_OK;
}

/* The last record at or before a key: one step back from the first at or after it, unless that is the key itself. */
static int seek_backward(kvdyno_cursor *cursor, const void *key, size_t key_size, MDB_val *at, MDB_val *data)
{
    const lmdb_api *api = cursor->session->api;
    int code = api->mdb_cursor_get(cursor->at, at, data, MDB_SET_RANGE);
    if (code == MDB_NOTFOUND)
        return api->mdb_cursor_get(cursor->at, at, data, MDB_LAST);
    if (code || (at->mv_size == key_size && memcmp(at->mv_data, key, key_size) == 0))
        return code;
    return api->mdb_cursor_get(cursor->at, at, data, MDB_PREV);
}

kvdyno_status lmdb_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                               kvdyno_bytes *found, kvdyno_bytes *value)
{
    int code = cursor_refresh(cursor);
    if (code)
        return lmdb_fail(cursor->session, "mdb_cursor_renew", code);
    MDB_val at = {key_size, (void *)key}, data;
    if (!key)
        code = cursor->session->api->mdb_cursor_get(cursor->at, &at, &data,
                                                    direction == KVDYNO_FORWARD ? MDB_FIRST : MDB_LAST);
    else if (direction == KVDYNO_FORWARD)
        code = cursor->session->api->mdb_cursor_get(cursor->at, &at, &data, MDB_SET_RANGE);
    else
        code = seek_backward(cursor, key, key_size, &at, &data);
    return cursor_answer(cursor, code, &at, &data, found, value);
}

static kvdyno_status cursor_step(kvdyno_cursor *cursor, MDB_cursor_op step, kvdyno_bytes *found, kvdyno_bytes *value)
{
    if (!cursor->at)
        return lmdb_refuse(cursor->session, KVDYNO_ERROR, "the cursor has no place: seek first");
    MDB_val at, data;
    int code = cursor->session->api->mdb_cursor_get(cursor->at, &at, &data, step);
    return cursor_answer(cursor, code, &at, &data, found, value);
}

kvdyno_status lmdb_cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    return cursor_step(cursor, MDB_NEXT, found, value);
}

kvdyno_status lmdb_cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    return cursor_step(cursor, MDB_PREV, found, value);
}

/* LMDB frees the cursors of a writing transaction with it, and not those of a reading one: neither may outlive it. */
void lmdb_end_cursors(kvdyno_session *session)
{
    for (kvdyno_cursor *cursor = session->cursors; cursor; cursor = cursor->next) {
        if (!cursor->begun)
            continue;
        session->api->mdb_cursor_close(cursor->begun);
        if (cursor->at == cursor->begun)
            cursor->at = NULL;
        cursor->begun = NULL;
    }
}
