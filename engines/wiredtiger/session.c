/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A session: reads, writes, batches and transactions.
 */
#include <sched.h>

#include "wt.h"

/* Losing this many conflicts in a row for one operation means that something else is wrong. */
#define MOST_TRIES 100000u

/* ---- answers ---- */

/* Whether a call is to be tried again: WiredTiger rolled it back, and it belongs to no open transaction. Whoever won
 * may still be writing the log, so others go first. */
static bool try_again(kvdyno_session *session, int code, unsigned *tries)
{
    if (code != WT_ROLLBACK || session->in_transaction || ++*tries >= MOST_TRIES)
        return false;
    sched_yield();
    return true;
}

static int end_transaction(kvdyno_session *session, bool commit)
{
    int parked = wt_park_cursors(session);
    session->in_transaction = false;
    int code = commit ? session->session->commit_transaction(session->session, NULL)
                      : session->session->rollback_transaction(session->session, NULL);
    return code ? code : parked;
}

kvdyno_status wt_answer(kvdyno_session *session, const char *what, int code)
{
    if (code == 0)
        return KVDYNO_OK;
    if (code == WT_NOTFOUND)
        return KVDYNO_MISS;
    kvdyno_database *database = session->database;
    kvdyno_text text = {session->error, sizeof session->error};
    kvdyno_status status = wt_explain(&database->library, &database->listener, what, code, &text);
    if (status != KVDYNO_CONFLICT || !session->in_transaction)
        return status;
    int undone = end_transaction(session, false);
    if (undone == 0)
        return status;
    return wt_explain(&database->library, &database->listener, "undoing a transaction", undone, &text);
}

void wt_session_error(kvdyno_session *session, kvdyno_text *error)
{
    say(error, "%s", session->error);
}

/* ---- life ---- */

static int open_handles(kvdyno_session *session)
{
    WT_CONNECTION *connection = session->database->connection;
    int code = connection->open_session(connection, NULL, WT_SESSION_CONFIG, &session->session);
    if (code != 0) {
        session->session = NULL;
        return code;
    }
    return session->session->open_cursor(session->session, WT_TABLE, NULL, NULL, &session->point);
}

kvdyno_status wt_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **session,
                              kvdyno_text *error)
{
    (void)host;
    kvdyno_session *made = calloc(1, sizeof *made);
    int code = made ? 0 : ENOMEM;
    if (made) {
        made->database = database;
        code = open_handles(made);
    }
    if (code == 0) {
        *session = made;
        return KVDYNO_OK;
    }
    kvdyno_status status = wt_explain(&database->library, &database->listener, "opening a session", code, error);
    if (made && made->session)
        made->session->close(made->session, NULL);
    free(made);
    return status;
}

/* Closing WiredTiger's session closes its cursors and undoes its transaction. */
void wt_session_close(kvdyno_session *session)
{
    while (session->cursors)
        wt_cursor_close(session->cursors);
    session->session->close(session->session, NULL);
    free(session->copy);
    free(session);
}

/* ---- single operations ---- */

static WT_ITEM item_of(const void *data, size_t size)
{
    return (WT_ITEM){.data = data, .size = size};
}

/* WiredTiger takes an empty key for none at all, and 11.3 panics at that. */
static int set_key(WT_CURSOR *point, const void *key, size_t key_size)
{
    WT_ITEM item = item_of(key, key_size);
    if (key_size == 0)
        return EINVAL;
    point->set_key(point, &item);
    return 0;
}

static int find(WT_CURSOR *point, const void *key, size_t key_size, kvdyno_bytes *value)
{
    WT_ITEM item;
    int code = set_key(point, key, key_size);
    if (code == 0)
        code = point->search(point);
    if (code == 0)
        code = point->get_value(point, &item);
    if (code == 0)
        *value = (kvdyno_bytes){item.data, item.size};
    return code;
}

static int store(WT_CURSOR *point, const void *key, size_t key_size, const void *value, size_t value_size)
{
    WT_ITEM item = item_of(value, value_size);
    int code = set_key(point, key, key_size);
    if (code != 0)
        return code;
    point->set_value(point, &item);
    return point->insert(point);
}

static int discard(WT_CURSOR *point, const void *key, size_t key_size)
{
    int code = set_key(point, key, key_size);
    return code ? code : point->remove(point);
}

/* Lets go of what the last get read. Newer releases would first look into the page that they still hold, in the state
 * that they saw it in; outside of a transaction a get is to see the newest. */
static int look_anew(kvdyno_session *session)
{
    return WT_SEARCHES_HELD_PAGE && !session->in_transaction ? session->point->reset(session->point) : 0;
}

/* A get that met a conflict, or has an empty key. */
static kvdyno_status get_with_care(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    unsigned tries = 0;
    int code;
    do {
        code = look_anew(session);
        if (code == 0)
            code = find(session->point, key, key_size, value);
    } while (try_again(session, code, &tries));
    return wt_answer(session, "get", code);
}

/* As few entries as it takes in the usual case. */
kvdyno_status wt_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
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
    if (__builtin_expect(code == WT_ROLLBACK && !session->in_transaction, 0))
        return get_with_care(session, key, key_size, value);
    if (__builtin_expect(code != 0, 0))
        return wt_answer(session, "get", code);
    value->data = item->data;
    value->size = item->size;
    return KVDYNO_OK;
}

kvdyno_status wt_put(kvdyno_session *session, const void *key, size_t key_size, const void *value, size_t value_size)
{
    unsigned tries = 0;
    int code;
    do
        code = store(session->point, key, key_size, value, value_size);
    while (try_again(session, code, &tries));
    return wt_answer(session, "put", code);
}

kvdyno_status wt_remove(kvdyno_session *session, const void *key, size_t key_size)
{
    unsigned tries = 0;
    int code;
    do
        code = discard(session->point, key, key_size);
    while (try_again(session, code, &tries));
    return wt_answer(session, "remove", code);
}

/* ---- several entries as one ---- */

/* Some work inside a transaction. It answers a code of WiredTiger. */
typedef int (*wt_work)(kvdyno_session *session, void *context);

static int try_as_one(kvdyno_session *session, wt_work work, void *context)
{
    WT_SESSION *inner = session->session;
    int code = session->point->reset(session->point);
    if (code == 0)
        code = inner->begin_transaction(inner, NULL);
    if (code != 0)
        return code;
    code = work(session, context);
    if (code == 0)
        return inner->commit_transaction(inner, NULL); /* which undoes it if it fails */
    int undone = inner->rollback_transaction(inner, NULL);
    return undone ? undone : code;
}

/* In the caller's transaction the work is part of that; otherwise it is one of its own. */
static int do_as_one(kvdyno_session *session, wt_work work, void *context)
{
    unsigned tries = 0;
    int code;
    if (session->in_transaction)
        return work(session, context);
    do
        code = try_as_one(session, work, context);
    while (try_again(session, code, &tries));
    return code;
}

typedef struct wt_batch {
    const kvdyno_batch_entry *entries;
    size_t count;
} wt_batch;

static int apply_step(WT_CURSOR *point, const kvdyno_batch_entry *step)
{
    if (step->kind == KVDYNO_PUT)
        return store(point, step->key.data, step->key.size, step->value.data, step->value.size);
    int code = discard(point, step->key.data, step->key.size);
    return code == WT_NOTFOUND ? 0 : code;
}

static int apply_batch(kvdyno_session *session, void *context)
{
    const wt_batch *batch = context;
    int code = 0;
    for (size_t i = 0; i < batch->count && code == 0; i++)
        code = apply_step(session->point, &batch->entries[i]);
    return code;
}

kvdyno_status wt_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    wt_batch batch = {entries, count};
    return wt_answer(session, "write", do_as_one(session, apply_batch, &batch));
}

typedef struct wt_change {
    const void *key;
    size_t key_size;
    kvdyno_update_fn update;
    void *context;
    kvdyno_status status; /* what the update answered */
} wt_change;

/* The code is that of no error of WiredTiger's: it only makes the transaction be undone. */
#define GIVEN_UP (-1)

/* A new value that lies within the old one lies in a page that storing it may let go. */
static int keep_apart(kvdyno_session *session, kvdyno_bytes old, kvdyno_bytes *new)
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

static int apply_change(kvdyno_session *session, void *context)
{
    wt_change *change = context;
    kvdyno_bytes old = {NULL, 0}, new = {NULL, 0};
    int code = find(session->point, change->key, change->key_size, &old);
    if (code != 0 && code != WT_NOTFOUND)
        return code;
    change->status = change->update(change->context, old, &new);
    if (change->status != KVDYNO_OK)
        return GIVEN_UP;
    code = keep_apart(session, old, &new);
    return code ? code : store(session->point, change->key, change->key_size, new.data, new.size);
}

kvdyno_status wt_read_modify_write(kvdyno_session *session, const void *key, size_t key_size, kvdyno_update_fn update,
                        void *context)
{
    wt_change change = {key, key_size, update, context, KVDYNO_OK};
    int code = do_as_one(session, apply_change, &change);
    if (code != GIVEN_UP)
        return wt_answer(session, "read_modify_write", code);
    snprintf(session->error, sizeof session->error, "read_modify_write: the caller's update gave the change up");
    return change.status;
}

/* ---- transactions ---- */

static kvdyno_status refuse(kvdyno_session *session, const char *reason)
{
    snprintf(session->error, sizeof session->error, "%s", reason);
    return KVDYNO_ERROR;
}

/* Under snapshot isolation a transaction that only reads is begun like any other. */
kvdyno_status wt_begin(kvdyno_session *session, uint32_t kind)
{
    (void)kind;
    if (session->in_transaction)
        return refuse(session, "begin: a transaction is open");
    int code = session->point->reset(session->point);
    if (code == 0)
        code = wt_park_cursors(session);
    if (code == 0)
        code = session->session->begin_transaction(session->session, NULL);
    session->in_transaction = code == 0;
    return wt_answer(session, "begin", code);
}

kvdyno_status wt_commit(kvdyno_session *session)
{
    if (!session->in_transaction)
        return refuse(session, "commit: no transaction is open");
    return wt_answer(session, "commit", end_transaction(session, true));
}

/* Aborting what a conflict has already ended is what a careful caller does: nothing is left to undo. */
kvdyno_status wt_abort(kvdyno_session *session)
{
    return session->in_transaction ? wt_answer(session, "abort", end_transaction(session, false)) : KVDYNO_OK;
}
