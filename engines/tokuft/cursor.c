/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * cursor.c: a cursor looks into a transaction of its own that sees the state of the last seek and locks nothing; while
 * the session has begun a transaction, into that one.
 *
 * TokuFT shows records to a callback, which copies them, and goes on as long as the callback asks for more, up to the
 * end of a basement node. So records are read ahead: one at a seek, then twice as many each time. In a transaction for
 * writing each record that is read is locked; there one is read at a time. Whoever has read AHEAD_MOST in a row is
 * taken to scan to the end, and TokuFT is told so: then it reads the next node in the background.
 */
#include "tokuft.h"

#define AHEAD_MOST 256u
#define AHEAD_BYTES_MOST ((size_t)256 << 10)

struct kvdyno_cursor {
    CURSOR_MEMBERS;
    DB_TXN *txn;         /* its own, or NULL */
    DBC *dbc;            /* in that one, or in the session's; NULL: none is open */
    bool in_transaction; /* in the session's */
    bool positioned;     /* a record was shown last */
    bool bounded;        /* TokuFT knows that the scan goes to the end */
    uint32_t direction;  /* of the records read ahead */
    kvdyno_bytes shown;  /* the key that was shown last */
    growing key;         /* a key to seek */
    size_t key_size;
    read_ahead ahead;
    unsigned ahead_count; /* records that the next reading ahead takes */
    unsigned wanted;      /* of those, still to come */
};

/* ---- life ---- */

static int release(kvdyno_cursor *cursor)
{
    int code = cursor->dbc ? cursor->dbc->c_close(cursor->dbc) : 0;
    int ended = cursor->txn ? cursor->txn->commit(cursor->txn, 0) : 0;
    cursor->dbc = NULL;
    cursor->txn = NULL;
    cursor->in_transaction = cursor->bounded = false;
    return code ? code : ended;
}

static kvdyno_status cursor_start(kvdyno_cursor *cursor)
{
    (void)cursor;
    return KVDYNO_OK;
}

static void cursor_stop(kvdyno_cursor *cursor)
{
    release(cursor);
    free(cursor->ahead.memory.data);
    free(cursor->key.data);
}

static int look_in(kvdyno_cursor *cursor)
{
    kvdyno_session *session = cursor->session;
    int code = session->txn ? 0 : tokuft_begin_snapshot(session, &cursor->txn);
    if (code != 0) {
        cursor->txn = NULL;
        return code;
    }
    cursor->in_transaction = session->txn != NULL;
    code = session->db->cursor(session->db, session->txn ? session->txn : cursor->txn, &cursor->dbc, 0);
    if (code != 0)
        cursor->dbc = NULL;
    return code;
}

/* ---- reading ---- */

static int keep_record(const DBT *key, const DBT *value, void *context)
{
    kvdyno_cursor *cursor = context;
    const key_value one = {{key->data, key->size}, {value->data, value->size}};
    if (!read_ahead_add(&cursor->ahead, &one))
        return ENOMEM;
    bool more = --cursor->wanted > 0 && cursor->ahead.filled < AHEAD_BYTES_MOST;
    return more ? TOKUDB_CURSOR_CONTINUE : 0;
}

/* Begins to read ahead anew, as many records as are due; nothing is borrowed any more. */
static void begin_ahead(kvdyno_cursor *cursor)
{
    read_ahead_drop(&cursor->ahead);
    cursor->wanted = cursor->in_transaction && cursor->session->begun == WRITING ? 1 : cursor->ahead_count;
    if (cursor->ahead_count < AHEAD_MOST)
        cursor->ahead_count *= 2;
}

static int fetch_next(kvdyno_cursor *cursor)
{
    DBC *dbc = cursor->dbc;
    begin_ahead(cursor);
    return cursor->direction == KVDYNO_FORWARD ? dbc->c_getf_next(dbc, 0, keep_record, cursor)
                                               : dbc->c_getf_prev(dbc, 0, keep_record, cursor);
}

/* From the kept key on, or from the end. */
static int fetch_first(kvdyno_cursor *cursor, bool from_end)
{
    DBC *dbc = cursor->dbc;
    bool forward = cursor->direction == KVDYNO_FORWARD;
    DBT key = {.data = cursor->key.data, .size = (uint32_t)cursor->key_size};
    cursor->ahead_count = 1;
    begin_ahead(cursor);
    if (from_end)
        return forward ? dbc->c_getf_first(dbc, 0, keep_record, cursor) : dbc->c_getf_last(dbc, 0, keep_record, cursor);
    return forward ? dbc->c_getf_set_range(dbc, 0, &key, keep_record, cursor)
                   : dbc->c_getf_set_range_reverse(dbc, 0, &key, keep_record, cursor);
}

/* After a miss or an error the cursor stands nowhere, and holds nothing. */
static kvdyno_status answer(kvdyno_cursor *cursor, const char *what, int code, kvdyno_bytes *found, kvdyno_bytes *value)
{
    key_value one;
    cursor->positioned = code == 0 && read_ahead_take(&cursor->ahead, &one);
    if (cursor->positioned) {
        cursor->shown = *found = one.key;
        *value = one.value;
        return KVDYNO_OK;
    }
    int released = release(cursor);
    code = code ? code : DB_NOTFOUND;
    return session_answer(cursor->session, what, code == DB_NOTFOUND && released ? released : code);
}

/* ---- moving ---- */

static int keep_key(kvdyno_cursor *cursor, const void *key, size_t size)
{
    if (size > UINT32_MAX)
        return EINVAL;
    if (!growing_keep(&cursor->key, key, size))
        return ENOMEM;
    cursor->key_size = size;
    return 0;
}

/* The sought key is kept first: it may be what this cursor handed out. */
kvdyno_status adapter_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                  kvdyno_bytes *found, kvdyno_bytes *value)
{
    int code = key ? keep_key(cursor, key, key_size) : 0;
    if (code == 0)
        code = release(cursor);
    if (code == 0)
        code = look_in(cursor);
    cursor->direction = direction;
    if (code == 0)
        code = fetch_first(cursor, !key);
    return answer(cursor, "cursor_seek", code, found, value);
}

/* The record after the one that was shown last, for a cursor that stands elsewhere: TokuFT's has read ahead, or goes to
 * the other end, or is closed because its transaction has ended. */
static int go_on_from_shown(kvdyno_cursor *cursor)
{
    int code = keep_key(cursor, cursor->shown.data, cursor->shown.size);
    if (code == 0 && cursor->bounded)
        code = release(cursor);
    if (code == 0 && !cursor->dbc)
        code = look_in(cursor);
    if (code == 0)
        code = fetch_first(cursor, false);
    if (code != 0)
        return code;
    size_t before = cursor->ahead.at;
    key_value one;
    bool same = read_ahead_take(&cursor->ahead, &one) && one.key.size == cursor->key_size &&
                memcmp(one.key.data, cursor->key.data, one.key.size) == 0;
    cursor->ahead.at = before;
    return same ? fetch_next(cursor) : 0;
}

/* Tells TokuFT that a long scan upward will go on to the end. */
static int tell_bounds(kvdyno_cursor *cursor)
{
    if (cursor->bounded || cursor->in_transaction || cursor->direction != KVDYNO_FORWARD ||
        cursor->ahead_count < AHEAD_MOST)
        return 0;
    DB *db = cursor->session->db;
    DBT from = {.data = (void *)cursor->shown.data, .size = (uint32_t)cursor->shown.size};
    cursor->bounded = true;
    return cursor->dbc->c_set_bounds(cursor->dbc, &from, db->dbt_pos_infty(), false, 0);
}

static kvdyno_status cursor_step(kvdyno_cursor *cursor, uint32_t direction, kvdyno_bytes *found, kvdyno_bytes *value)
{
    if (!cursor->positioned)
        return KVDYNO_MISS;
    bool left = cursor->ahead.at < cursor->ahead.filled, same = cursor->direction == direction;
    if (same && left)
        return answer(cursor, "a scan", 0, found, value);
    int code = 0;
    cursor->direction = direction;
    if (cursor->dbc && !left && !(cursor->bounded && !same)) {
        cursor->ahead_count = same ? cursor->ahead_count : 1;
        code = tell_bounds(cursor);
        if (code == 0)
            code = fetch_next(cursor);
    } else {
        code = go_on_from_shown(cursor);
    }
    return answer(cursor, "a scan", code, found, value);
}

/* The records read ahead are of the transaction that ends, and so are dropped, but for the one that was shown last. */
void tokuft_leave_transaction(kvdyno_session *session)
{
    for (kvdyno_cursor *cursor = session->cursors; cursor; cursor = cursor->next) {
        if (!cursor->in_transaction)
            continue;
        release(cursor);
        cursor->ahead.filled = cursor->ahead.at;
    }
}

#include "cursors.h"
