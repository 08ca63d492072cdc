/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A session: reads, writes, batches and transactions.
 */
#include <sched.h>

#include "wt.h"

/* ---- life ---- */

static kvdyno_status session_start(kvdyno_session *session, kvdyno_text *error)
{
    kvdyno_database *database = session->database;
    WT_CONNECTION *connection = database->connection;
    int code = connection->open_session(connection, NULL, WT_SESSION_CONFIG, &session->session);
    if (code != 0)
        session->session = NULL;
    else
        code = session->session->open_cursor(session->session, WT_TABLE, NULL, NULL, &session->point);
    return code ? wt_explain(&database->library, &database->listener, "opening a session", code, error) : KVDYNO_OK;
}

/* Closing WiredTiger's session closes its cursors. */
static void session_stop(kvdyno_session *session)
{
    if (session->session)
        session->session->close(session->session, NULL);
    free(session->copy);
}

#include "life.h"

/* ---- writing ---- */

/* Losing this many conflicts in a row for one operation means that something else is wrong. */
#define MOST_TRIES 100000u
#define NESTED false
typedef void *engine_txn; /* a session of WiredTiger's has one transaction at a time */

static kvdyno_status explain(kvdyno_session *session, const char *what, int code, kvdyno_text *error)
{
    return wt_explain(&session->database->library, &session->database->listener, what, code, error);
}

/* Whoever won may still be writing the log, so others go first. */
static inline bool lost(kvdyno_session *session, int code)
{
    if (__builtin_expect(code != WT_ROLLBACK, 1))
        return false;
    if (!session->begun)
        sched_yield();
    return true;
}

static inline void settle(kvdyno_session *session)
{
    (void)session; /* whatever uses `point` lets go of the value by itself */
}

/* Under snapshot isolation a transaction that only reads is begun like any other. */
static inline const char *cannot_begin(kvdyno_session *session, uint32_t kind)
{
    (void)session, (void)kind;
    return NULL;
}

static int own_begin(kvdyno_session *session, void **txn)
{
    *txn = NULL;
    int code = session->point->reset(session->point);
    return code ? code : session->session->begin_transaction(session->session, NULL);
}

/* A commit that fails undoes it. */
static int own_end(kvdyno_session *session, void *txn, bool keep)
{
    (void)txn;
    return keep ? session->session->commit_transaction(session->session, NULL)
                : session->session->rollback_transaction(session->session, NULL);
}

static int open_transaction(kvdyno_session *session, uint32_t kind)
{
    void *txn;
    (void)kind;
    int code = wt_park_cursors(session);
    return code ? code : own_begin(session, &txn);
}

static int close_transaction(kvdyno_session *session, bool keep)
{
    int parked = wt_park_cursors(session);
    int code = own_end(session, NULL, keep);
    return code ? code : parked;
}

static inline void *begun_txn(kvdyno_session *session)
{
    (void)session;
    return NULL;
}

/* Without a transaction WiredTiger makes one. */
static inline int single_begin(kvdyno_session *session, void **txn)
{
    (void)session;
    *txn = NULL;
    return 0;
}

static inline int single_end(kvdyno_session *session, void *txn, int code)
{
    (void)session, (void)txn;
    return code;
}

/* WiredTiger takes an empty key for none at all, and 11.3 panics at that. */
static inline int set_key(WT_CURSOR *point, kvdyno_bytes key)
{
    WT_ITEM item = {.data = key.data, .size = key.size};
    if (key.size == 0)
        return EINVAL;
    point->set_key(point, &item);
    return 0;
}

static int present(kvdyno_session *session, void *txn, kvdyno_bytes key, kvdyno_bytes *value)
{
    WT_CURSOR *point = session->point;
    WT_ITEM item;
    (void)txn;
    int code = set_key(point, key);
    if (code == 0)
        code = point->search(point);
    if (code == 0)
        code = point->get_value(point, &item);
    if (code == 0)
        *value = (kvdyno_bytes){item.data, item.size};
    return code;
}

static inline int store(kvdyno_session *session, void *txn, kvdyno_bytes key, kvdyno_bytes value)
{
    WT_CURSOR *point = session->point;
    WT_ITEM item = {.data = value.data, .size = value.size};
    (void)txn;
    int code = set_key(point, key);
    if (code != 0)
        return code;
    point->set_value(point, &item);
    return point->insert(point);
}

/* By a cursor of its own: whether one overwrites is said when it is opened. An insert that was refused stands on the
 * record, and would keep its page. */
#define ALREADY_THERE WT_DUPLICATE_KEY
static int store_if_absent(kvdyno_session *session, void *txn, kvdyno_bytes key, kvdyno_bytes value)
{
    WT_SESSION *own = session->session;
    WT_ITEM item = {.data = value.data, .size = value.size};
    int code = 0;
    (void)txn;
    if (!session->inserting)
        code = own->open_cursor(own, WT_TABLE, NULL, "overwrite=false", &session->inserting);
    if (code == 0)
        code = set_key(session->inserting, key);
    if (code != 0)
        return code;
    session->inserting->set_value(session->inserting, &item);
    code = session->inserting->insert(session->inserting);
    int reset = session->inserting->reset(session->inserting);
    return code ? code : reset;
}

static inline int discard(kvdyno_session *session, void *txn, kvdyno_bytes key)
{
    (void)txn;
    int code = set_key(session->point, key);
    return code ? code : session->point->remove(session->point);
}

/* Deletes from `from` to the last key before `to`: WiredTiger deletes the last one too. */
static int truncate_range(kvdyno_session *session, kvdyno_bytes from, kvdyno_bytes to)
{
    WT_CURSOR *first = session->point, *last = session->last;
    WT_ITEM key = {.data = to.data, .size = to.size};
    int side;
    last->set_key(last, &key);
    int code = last->search_near(last, &side);
    if (code == 0 && side >= 0)
        code = last->prev(last);
    if (code == 0)
        code = last->get_key(last, &key);
    if (code != 0 || comes_before(key.data, key.size, from.data, from.size))
        return code == WT_NOTFOUND ? 0 : code;
    code = set_key(first, from);
    return code ? code : session->session->truncate(session->session, NULL, first, last, NULL);
}

/* The end is looked for in the state in which the range is deleted. */
static int discard_range(kvdyno_session *session, void *txn, kvdyno_bytes from, kvdyno_bytes to)
{
    int code = 0;
    if (!session->last)
        code = session->session->open_cursor(session->session, WT_TABLE, NULL, NULL, &session->last);
    if (code == 0 && !session->begun)
        code = own_begin(session, &txn);
    if (code != 0)
        return code;
    code = truncate_range(session, from, to);
    int parked = session->last->reset(session->last), reset = session->point->reset(session->point);
    if (code == 0)
        code = parked ? parked : reset;
    int ended = session->begun ? 0 : own_end(session, txn, code == 0);
    return ended ? ended : code;
}

/* A new value that lies within the old one lies in a page that storing it may let go. */
static int release_old(kvdyno_session *session, kvdyno_bytes old, kvdyno_bytes *new)
{
    uintptr_t first = (uintptr_t)old.data, at = (uintptr_t)new->data;
    if (!old.data || new->size == 0 || at < first || at >= first + old.size)
        return 0;
    void *copy = realloc(session->copy, new->size);
    if (!copy)
        return ENOMEM;
    session->copy = copy;
    new->data = memcpy(copy, new->data, new->size);
    return 0;
}

#define DISCARDS_RANGES true
#include "transactions.h"

/* ---- reading ---- */

/* Lets go of what the last get read. Newer releases would first look into the page that they still hold, in the state
 * that they saw it in; outside of a transaction a get is to see the newest. */
static int look_anew(kvdyno_session *session)
{
    return WT_SEARCHES_HELD_PAGE && !session->begun ? session->point->reset(session->point) : 0;
}

/* A get that met a conflict, or has an empty key. */
static kvdyno_status get_with_care(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    unsigned tries = 0;
    int code;
    do {
        code = look_anew(session);
        if (code == 0)
            code = present(session, NULL, (kvdyno_bytes){key, key_size}, value);
    } while (try_again(session, code, &tries));
    return session_answer(session, "get", code);
}

/* As few instructions as it takes in the usual case. */
kvdyno_status adapter_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    WT_CURSOR *point = session->point;
    WT_ITEM *item = &session->item;
    if (__builtin_expect(key_size == 0, 0))
        return get_with_care(session, key, key_size, value);
    int code = look_anew(session);
    item->data = key;
    item->size = key_size;
    if (code == 0) {
        point->set_key(point, item);
        code = point->search(point);
    }
    if (code == 0)
        code = point->get_value(point, item);
    if (__builtin_expect(code != 0, 0))
        return code == WT_ROLLBACK && !session->begun ? get_with_care(session, key, key_size, value)
                                                      : session_answer(session, "get", code);
    value->data = item->data;
    value->size = item->size;
    return KVDYNO_OK;
}

/* A search alone: the value is not brought. */
kvdyno_status adapter_contains(kvdyno_session *session, const void *key, size_t key_size)
{
    WT_CURSOR *point = session->point;
    unsigned tries = 0;
    int code;
    do {
        code = look_anew(session);
        if (code == 0)
            code = set_key(point, (kvdyno_bytes){key, key_size});
        if (code == 0)
            code = point->search(point);
    } while (try_again(session, code, &tries));
    return session_answer(session, "contains", code);
}
