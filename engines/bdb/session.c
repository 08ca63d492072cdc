/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A session: reads, writes, batches and transactions.
 */
#include "bdb.h"

/* Losing this many deadlocks in a row for one operation means that something else is wrong. */
#define MOST_TRIES 10000u

int bdb_buffer_grow(bdb_buffer *buffer, size_t size)
{
    if (size <= buffer->capacity)
        return 0;
    size_t capacity = size + size / 4 < UINT32_MAX ? size + size / 4 : UINT32_MAX;
    void *data = realloc(buffer->data, capacity);
    if (!data)
        return ENOMEM;
    buffer->data = data;
    buffer->capacity = (u_int32_t)capacity;
    return 0;
}

int bdb_input(DBT *item, const void *data, size_t size)
{
    if (size > UINT32_MAX)
        return EINVAL;
    *item = (DBT){.data = (void *)data, .size = (u_int32_t)size};
    return 0;
}

/* With an order of its own a table may find a key that is equal and not the same, which Berkeley DB would write back into
 * the caller's. */
static int bdb_sought(DBT *item, const void *key, size_t size)
{
    int code = bdb_input(item, key, size);
    item->flags = DB_DBT_READONLY;
    return code;
}

/* ---- answers ---- */

bool bdb_try_again(kvdyno_session *session, int code, unsigned *tries)
{
    return code == DB_LOCK_DEADLOCK && !session->txn && ++*tries < MOST_TRIES;
}

/* Ends the open transaction, with which its cursors go. */
static int end_transaction(kvdyno_session *session, bool commit)
{
    DB_TXN *txn = session->txn;
    bdb_park_cursors(session);
    session->txn = NULL;
    return commit ? txn->commit(txn, 0) : txn->abort(txn);
}

kvdyno_status bdb_answer(kvdyno_session *session, const char *what, int code)
{
    if (code == 0)
        return KVDYNO_OK;
    if (code == DB_NOTFOUND)
        return KVDYNO_MISS;
    kvdyno_text text = {session->error, sizeof session->error};
    kvdyno_status status = bdb_explain(session->database, what, code, &text);
    if (status != KVDYNO_CONFLICT)
        return status;
    int undone = session->txn ? end_transaction(session, false) : 0;
    return undone ? bdb_explain(session->database, "undoing a transaction", undone, &text) : status;
}

void bdb_session_error(kvdyno_session *session, kvdyno_text *error)
{
    say(error, "%s", session->error);
}

/* ---- life ---- */

kvdyno_status bdb_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **session,
                               kvdyno_text *error)
{
    (void)host;
    kvdyno_session *made = calloc(1, sizeof *made);
    if (!made || bdb_buffer_grow(&made->value, database->value_hint) != 0) {
        free(made);
        return bdb_explain(database, "a session", ENOMEM, error);
    }
    made->database = database;
    made->key.flags = DB_DBT_READONLY;
    made->item.flags = DB_DBT_USERMEM;
    *session = made;
    return KVDYNO_OK;
}

void bdb_session_close(kvdyno_session *session)
{
    while (session->cursors)
        bdb_cursor_close(session->cursors);
    if (session->txn)
        end_transaction(session, false);
    free(session->value.data);
    free(session);
}

/* ---- reading ---- */

/* Reads a value into the session's buffer, which grows until it fits. */
static int read_value(kvdyno_session *session, DB_TXN *txn, DBT *key, u_int32_t flags, kvdyno_bytes *value)
{
    DB *db = session->database->db;
    for (;;) {
        DBT item = {.data = session->value.data, .ulen = session->value.capacity, .flags = DB_DBT_USERMEM};
        int code = db->get(db, txn, key, &item, flags);
        if (code == DB_BUFFER_SMALL)
            code = bdb_buffer_grow(&session->value, item.size);
        else {
            *value = (kvdyno_bytes){item.data, item.size};
            return code;
        }
        if (code != 0)
            return code;
    }
}

/* A read that locks nothing is a transaction of its own: the flag can be had in no other way. */
static int read_snapshot(kvdyno_session *session, DBT *key, kvdyno_bytes *value)
{
    DB_ENV *env = session->database->env;
    DB_TXN *txn;
    int code = env->txn_begin(env, NULL, &txn, DB_TXN_SNAPSHOT);
    if (code != 0)
        return code;
    code = read_value(session, txn, key, 0, value);
    int ended = txn->commit(txn, 0);
    return code ? code : ended;
}

/* A get that lost a deadlock, whose value did not fit, or that needs a transaction to see versions. */
static kvdyno_status get_with_care(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    bool versions = session->database->snapshot && !session->txn;
    unsigned tries = 0;
    DBT item;
    int code = bdb_sought(&item, key, key_size);
    if (code == 0)
        do
            code = versions ? read_snapshot(session, &item, value) : read_value(session, session->txn, &item, 0, value);
        while (bdb_try_again(session, code, &tries));
    return bdb_answer(session, "get", code);
}

/* As few entries as it takes in the usual case. */
kvdyno_status bdb_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    const kvdyno_database *database = session->database;
    if (__builtin_expect(database->snapshot || key_size > UINT32_MAX, 0))
        return get_with_care(session, key, key_size, value);
    session->key.data = (void *)key;
    session->key.size = (u_int32_t)key_size;
    session->item.data = session->value.data;
    session->item.ulen = session->value.capacity;
    int code = database->db->get(database->db, session->txn, &session->key, &session->item, 0);
    if (__builtin_expect(code == DB_BUFFER_SMALL || (code == DB_LOCK_DEADLOCK && !session->txn), 0))
        return get_with_care(session, key, key_size, value);
    if (__builtin_expect(code != 0, 0))
        return bdb_answer(session, "get", code);
    value->data = session->item.data;
    value->size = session->item.size;
    return KVDYNO_OK;
}

/* ---- writing ---- */

kvdyno_status bdb_put(kvdyno_session *session, const void *key, size_t key_size, const void *value, size_t value_size)
{
    DB *db = session->database->db;
    unsigned tries = 0;
    DBT key_item, value_item;
    int code = bdb_input(&key_item, key, key_size);
    if (code == 0)
        code = bdb_input(&value_item, value, value_size);
    if (!session->txn)
        bdb_park_cursors(session);
    if (code == 0)
        do
            code = db->put(db, session->txn, &key_item, &value_item, 0);
        while (bdb_try_again(session, code, &tries));
    return bdb_answer(session, "put", code);
}

kvdyno_status bdb_remove(kvdyno_session *session, const void *key, size_t key_size)
{
    DB *db = session->database->db;
    unsigned tries = 0;
    DBT item;
    int code = bdb_input(&item, key, key_size);
    if (!session->txn)
        bdb_park_cursors(session);
    if (code == 0)
        do
            code = db->del(db, session->txn, &item, 0);
        while (bdb_try_again(session, code, &tries));
    return bdb_answer(session, "remove", code);
}

/* ---- several entries as one ---- */

/* Some work inside a transaction. It answers a code of Berkeley DB. */
typedef int (*bdb_work)(kvdyno_session *session, DB_TXN *txn, void *context);

static int try_as_one(kvdyno_session *session, bdb_work work, void *context)
{
    DB_ENV *env = session->database->env;
    DB_TXN *txn;
    int code = env->txn_begin(env, session->txn, &txn, 0);
    if (code != 0)
        return code;
    code = work(session, txn, context);
    if (code == 0)
        return txn->commit(txn, 0);
    int undone = txn->abort(txn);
    return undone ? undone : code;
}

/* All of the work or none. Inside the caller's transaction it is nested, so that failing halfway leaves that whole. */
static int do_as_one(kvdyno_session *session, bdb_work work, void *context)
{
    unsigned tries = 0;
    int code;
    if (!session->txn)
        bdb_park_cursors(session);
    do
        code = try_as_one(session, work, context);
    while (bdb_try_again(session, code, &tries));
    return code;
}

typedef struct bdb_batch {
    const kvdyno_batch_entry *entries;
    size_t count;
} bdb_batch;

static int apply_step(DB *db, DB_TXN *txn, const kvdyno_batch_entry *step)
{
    DBT key, value;
    int code = bdb_input(&key, step->key.data, step->key.size);
    if (code != 0)
        return code;
    if (step->kind == KVDYNO_DELETE) {
        code = db->del(db, txn, &key, 0);
        return code == DB_NOTFOUND ? 0 : code;
    }
    code = bdb_input(&value, step->value.data, step->value.size);
    return code ? code : db->put(db, txn, &key, &value, 0);
}

static int apply_batch(kvdyno_session *session, DB_TXN *txn, void *context)
{
    const bdb_batch *batch = context;
    int code = 0;
    for (size_t i = 0; i < batch->count && code == 0; i++)
        code = apply_step(session->database->db, txn, &batch->entries[i]);
    return code;
}

kvdyno_status bdb_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    bdb_batch batch = {entries, count};
    return bdb_answer(session, "write", do_as_one(session, apply_batch, &batch));
}

typedef struct bdb_change {
    DBT key;
    kvdyno_update_fn update;
    void *context;
    kvdyno_status status; /* what the update answered */
} bdb_change;

/* The code is that of no error of Berkeley DB's: it only makes the transaction be undone. */
#define GIVEN_UP (-1)

static int apply_change(kvdyno_session *session, DB_TXN *txn, void *context)
{
    bdb_change *change = context;
    DB *db = session->database->db;
    kvdyno_bytes old = {NULL, 0}, new = {NULL, 0};
    int code = read_value(session, txn, &change->key, DB_RMW, &old);
    if (code != 0 && code != DB_NOTFOUND)
        return code;
    if (code == DB_NOTFOUND)
        old = (kvdyno_bytes){NULL, 0};
    change->status = change->update(change->context, old, &new);
    if (change->status != KVDYNO_OK)
        return GIVEN_UP;
    DBT value;
    code = bdb_input(&value, new.data, new.size);
    return code ? code : db->put(db, txn, &change->key, &value, 0);
}

kvdyno_status bdb_read_modify_write(kvdyno_session *session, const void *key, size_t key_size, kvdyno_update_fn update,
                         void *context)
{
    bdb_change change = {.update = update, .context = context, .status = KVDYNO_OK};
    int code = bdb_sought(&change.key, key, key_size);
    if (code == 0)
        code = do_as_one(session, apply_change, &change);
    if (code != GIVEN_UP)
        return bdb_answer(session, "read_modify_write", code);
    snprintf(session->error, sizeof session->error, "read_modify_write: the caller's update gave the change up");
    return change.status;
}

/* ---- transactions ---- */

static kvdyno_status refuse(kvdyno_session *session, kvdyno_status status, const char *reason)
{
    snprintf(session->error, sizeof session->error, "%s", reason);
    return status;
}

kvdyno_status bdb_begin(kvdyno_session *session, uint32_t kind)
{
    DB_ENV *env = session->database->env;
    if (session->txn)
        return refuse(session, KVDYNO_ERROR, "begin: a transaction is open");
    if (kind == KVDYNO_READ_ONLY && !session->database->snapshot)
        return refuse(session, KVDYNO_UNSUPPORTED, "begin: a read-only transaction needs option snapshot=true");
    bdb_park_cursors(session);
    int code = env->txn_begin(env, NULL, &session->txn, kind == KVDYNO_READ_ONLY ? DB_TXN_SNAPSHOT : 0);
    if (code != 0)
        session->txn = NULL;
    return bdb_answer(session, "begin", code);
}

kvdyno_status bdb_commit(kvdyno_session *session)
{
    if (!session->txn)
        return refuse(session, KVDYNO_ERROR, "commit: no transaction is open");
    return bdb_answer(session, "commit", end_transaction(session, true));
}

/* Aborting what a deadlock has already ended is what a careful caller does: nothing is left to undo. */
kvdyno_status bdb_abort(kvdyno_session *session)
{
    return session->txn ? bdb_answer(session, "abort", end_transaction(session, false)) : KVDYNO_OK;
}
