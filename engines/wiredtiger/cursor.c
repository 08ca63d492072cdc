/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Cursors.
 *
 * In a session of WiredTiger's all cursors that stand somewhere share one snapshot, so a cursor of kvdyno has a session
 * of its own: the gets and puts beside it neither see old states nor move it. Only inside a transaction, whose changes
 * it has to see, it uses one in the transaction's session. A cursor that changes sides goes on from its last key.
 *
 * A cursor that stands somewhere pins its page and its snapshot, as a get does.
 */
#include "wt.h"

struct kvdyno_cursor {
    CURSOR_MEMBERS;
    WT_SESSION *own;    /* a session for `outside`, or NULL until it is needed */
    WT_CURSOR *outside; /* used outside of transactions */
    WT_CURSOR *inside;  /* used inside of them, in the session's session */
    WT_CURSOR *at;      /* the one that stands on a record, or NULL */
    bool parked;        /* stands nowhere, and goes on from `key` */
    growing key;
    size_t key_size;
};

/* ---- life ---- */

static kvdyno_status cursor_start(kvdyno_cursor *cursor)
{
    (void)cursor; /* what it needs is opened at its first seek */
    return KVDYNO_OK;
}

static void cursor_stop(kvdyno_cursor *cursor)
{
    if (cursor->inside)
        cursor->inside->close(cursor->inside);
    if (cursor->own)
        cursor->own->close(cursor->own, NULL); /* and `outside` with it */
    free(cursor->key.data);
}

static int open_outside(kvdyno_cursor *cursor)
{
    WT_CONNECTION *connection = cursor->session->database->connection;
    int code = 0;
    if (!cursor->own)
        code = connection->open_session(connection, NULL, WT_SESSION_CONFIG, &cursor->own);
    return code ? code : cursor->own->open_cursor(cursor->own, WT_TABLE, NULL, NULL, &cursor->outside);
}

/* The cursor of WiredTiger's that is to be used now. */
static int choose(kvdyno_cursor *cursor, WT_CURSOR **chosen)
{
    kvdyno_session *session = cursor->session;
    int code = 0;
    if (session->begun) {
        if (!cursor->inside)
            code = session->session->open_cursor(session->session, WT_TABLE, NULL, NULL, &cursor->inside);
        *chosen = cursor->inside;
    } else {
        if (!cursor->outside)
            code = open_outside(cursor);
        *chosen = cursor->outside;
    }
    return code;
}

/* ---- parking ---- */

static int remember(kvdyno_cursor *cursor, const void *key, size_t key_size)
{
    if (!growing_keep(&cursor->key, key, key_size))
        return ENOMEM;
    cursor->key_size = key_size;
    return 0;
}

static int park(kvdyno_cursor *cursor)
{
    WT_CURSOR *at = cursor->at;
    WT_ITEM key;
    if (!at)
        return 0;
    int code = at->get_key(at, &key);
    if (code == 0)
        code = remember(cursor, key.data, key.size);
    cursor->parked = code == 0;
    cursor->at = NULL;
    int reset = at->reset(at);
    return code ? code : reset;
}

int wt_park_cursors(kvdyno_session *session)
{
    int first = 0;
    for (kvdyno_cursor *cursor = session->cursors; cursor; cursor = cursor->next) {
        int code = park(cursor);
        first = first ? first : code;
    }
    return first;
}

/* ---- moving ---- */

/* Goes to the nearest key from the given one on; `beyond` leaves out the given one itself. */
static int find(WT_CURSOR *at, const void *key, size_t key_size, uint32_t direction, bool beyond)
{
    WT_ITEM item = {.data = key, .size = key_size};
    int side;
    at->set_key(at, &item);
    int code = at->search_near(at, &side);
    if (code != 0)
        return code;
    if (direction == KVDYNO_FORWARD)
        return side < 0 || (beyond && side == 0) ? at->next(at) : 0;
    return side > 0 || (beyond && side == 0) ? at->prev(at) : 0;
}

/* From where `at` stands, or from the end if it stands nowhere. */
static int go(WT_CURSOR *at, uint32_t direction)
{
    return direction == KVDYNO_FORWARD ? at->next(at) : at->prev(at);
}

/* WiredTiger has no empty key, and would take it for none at all: every key comes after it. */
static int find_after_nothing(WT_CURSOR *at, uint32_t direction)
{
    return direction == KVDYNO_FORWARD ? go(at, direction) : WT_NOTFOUND;
}

/* Hands out the record that `at` stands on, if the move went well; otherwise the cursor stands nowhere. */
static kvdyno_status finish(kvdyno_cursor *cursor, const char *what, WT_CURSOR *at, int code, kvdyno_bytes *found,
                            kvdyno_bytes *value)
{
    WT_ITEM key, item;
    if (code == 0)
        code = at->get_key(at, &key);
    if (code == 0)
        code = at->get_value(at, &item);
    if (code == 0) {
        *found = (kvdyno_bytes){key.data, key.size};
        *value = (kvdyno_bytes){item.data, item.size};
    }
    cursor->at = code == 0 ? at : NULL;
    cursor->parked = false;
    if (code != 0 && at) {
        int reset = at->reset(at);
        code = code == WT_NOTFOUND && reset ? reset : code;
    }
    return session_answer(cursor->session, what, code);
}

/* The page is let go first: what was written since is to be seen. The key is copied, for it may be what this cursor
 * found last. */
kvdyno_status adapter_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                  kvdyno_bytes *found, kvdyno_bytes *value)
{
    WT_CURSOR *at = NULL;
    int code = key ? remember(cursor, key, key_size) : 0;
    if (code == 0 && cursor->at)
        code = cursor->at->reset(cursor->at);
    cursor->at = NULL;
    if (code == 0)
        code = choose(cursor, &at);
    if (code == 0 && !key)
        code = go(at, direction);
    else if (code == 0)
        code = key_size ? find(at, cursor->key.data, key_size, direction, false) : find_after_nothing(at, direction);
    return finish(cursor, "cursor_seek", at, code, found, value);
}

static kvdyno_status cursor_step(kvdyno_cursor *cursor, uint32_t direction, kvdyno_bytes *found, kvdyno_bytes *value)
{
    WT_CURSOR *at = cursor->at;
    int code = WT_NOTFOUND;
    if (at)
        code = go(at, direction);
    else if (cursor->parked && (code = choose(cursor, &at)) == 0)
        code = find(at, cursor->key.data, cursor->key_size, direction, true);
    return finish(cursor, "a scan", at, code, found, value);
}

#include "cursors.h"
