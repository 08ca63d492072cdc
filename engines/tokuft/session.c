/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * session.c: reads, writes, batches and transactions.
 *
 * A get is a transaction of its own that sees the state of its begin and locks nothing. TokuFT shows the value to a
 * callback while it holds the node, so the value has to be copied. A write locks its key; who loses a deadlock, or
 * waits too long, is told so and tries again, as one does with Berkeley DB.
 */
#include "tokuft.h"

/* Losing a lock this often in a row for one operation means that something else is wrong. */
#define MOST_TRIES 10000u

int tokuft_input(DBT *item, const void *data, size_t size)
{
    if (size > UINT32_MAX)
        return EINVAL;
    *item = (DBT){.data = (void *)data, .size = (uint32_t)size};
    return 0;
}

/* ---- answers ---- */

static bool lost_lock(int code)
{
    return code == DB_LOCK_DEADLOCK || code == DB_LOCK_NOTGRANTED;
}

static int end_transaction(kvdyno_session *session, bool keep)
{
    kvdyno_database *database = session->database;
    DB_TXN *txn = session->txn;
    tokuft_leave_transaction(session);
    session->txn = NULL;
    session->writing = false;
    return keep ? tokuft_commit(txn, database->commit_flags, database->unsynced) : txn->abort(txn);
}

kvdyno_status tokuft_answer(kvdyno_session *session, const char *what, int code)
{
    if (code == 0)
        return KVDYNO_OK;
    if (code == DB_NOTFOUND)
        return KVDYNO_MISS;
    kvdyno_text text = {session->error, sizeof session->error};
    kvdyno_status status = tokuft_explain(session->database, what, code, &text);
    if (status != KVDYNO_CONFLICT)
        return status;
    int undone = session->txn ? end_transaction(session, false) : 0;
    return undone ? tokuft_explain(session->database, "undoing a transaction", undone, &text) : status;
}

kvdyno_status tokuft_refuse(kvdyno_session *session, kvdyno_status status, const char *why)
{
    snprintf(session->error, sizeof session->error, "%s", why);
    return status;
}

void tokuft_session_error(kvdyno_session *session, kvdyno_text *error)
{
    say(error, "%s", session->error);
}

/* ---- life ---- */

kvdyno_status tokuft_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
                                  kvdyno_text *error)
{
    (void)host;
    kvdyno_session *session = calloc(1, sizeof *session);
    if (!session) {
        say(error, "out of memory");
        return KVDYNO_ERROR;
    }
    session->database = database;
    session->env = database->env;
    session->db = database->db;
    *opened = session;
    return KVDYNO_OK;
}

void tokuft_session_close(kvdyno_session *session)
{
    while (session->cursors)
        tokuft_cursor_close(session->cursors);
    if (session->txn)
        end_transaction(session, false);
    free(session->value.data);
    free(session);
}

/* ---- reading ---- */

int tokuft_begin_snapshot(kvdyno_session *session, DB_TXN **txn)
{
    return session->env->txn_begin(session->env, NULL, txn, DB_TXN_SNAPSHOT | DB_TXN_READ_ONLY);
}

static int keep_value(const DBT *key, const DBT *value, void *context)
{
    (void)key;
    kvdyno_session *session = context;
    if (!growing_reserve(&session->value, (size_t)value->size + 1)) /* never NULL, not for an empty value either */
        return ENOMEM;
    memcpy(session->value.data, value->data, value->size);
    session->value_size = value->size;
    return 0;
}

kvdyno_status tokuft_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    DB_TXN *own = NULL, *txn = session->txn;
    if (__builtin_expect(key_size > UINT32_MAX, 0))
        return tokuft_answer(session, "get", EINVAL);
    session->key.data = (void *)key;
    session->key.size = (uint32_t)key_size;
    int code = 0, ended = 0;
    if (!txn) {
        code = session->env->txn_begin(session->env, NULL, &own, DB_TXN_SNAPSHOT | DB_TXN_READ_ONLY);
        txn = own;
    }
    if (code == 0)
        code = session->db->getf_set(session->db, txn, 0, &session->key, keep_value, session);
    if (own)
        ended = own->commit(own, 0);
    if (__builtin_expect((code | ended) != 0, 0))
        return tokuft_answer(session, "get", code ? code : ended);
    *value = (kvdyno_bytes){session->value.data, session->value_size};
    return KVDYNO_OK;
}

/* ---- writing: each write, batch and change is a transaction, nested where one is open ---- */

/* Some work inside a transaction. It answers a code of TokuFT's. */
typedef int (*work)(kvdyno_session *session, DB_TXN *txn, void *context);

static int try_as_one(kvdyno_session *session, work task, void *context)
{
    kvdyno_database *database = session->database;
    DB_TXN *txn;
    int code = session->env->txn_begin(session->env, session->txn, &txn, 0);
    if (code != 0)
        return code;
    code = task(session, txn, context);
    if (code == 0)
        return tokuft_commit(txn, database->commit_flags, database->unsynced);
    int undone = txn->abort(txn);
    return undone ? undone : code;
}

/* All of the work or none. Inside the caller's transaction that is what a lost lock ends. */
static int do_as_one(kvdyno_session *session, work task, void *context)
{
    unsigned tries = 0;
    int code;
    do
        code = try_as_one(session, task, context);
    while (lost_lock(code) && !session->txn && ++tries < MOST_TRIES);
    return code;
}

static kvdyno_status as_one(kvdyno_session *session, const char *what, work task, void *context)
{
    if (session->txn && !session->writing)
        return tokuft_refuse(session, KVDYNO_UNSUPPORTED, "a read-only transaction is open on this session");
    return tokuft_answer(session, what, do_as_one(session, task, context));
}

typedef struct batch {
    const kvdyno_batch_entry *entries;
    size_t count;
} batch;

/* A delete is a message like any other: it does not look whether the key is there. */
static int apply_step(DB *db, DB_TXN *txn, const kvdyno_batch_entry *step)
{
    DBT key, value;
    int code = tokuft_input(&key, step->key.data, step->key.size);
    if (code != 0)
        return code;
    if (step->kind == KVDYNO_DELETE)
        return db->del(db, txn, &key, DB_DELETE_ANY);
    code = tokuft_input(&value, step->value.data, step->value.size);
    return code ? code : db->put(db, txn, &key, &value, 0);
}

static int apply_batch(kvdyno_session *session, DB_TXN *txn, void *context)
{
    const batch *all = context;
    int code = 0;
    for (size_t i = 0; i < all->count && code == 0; i++)
        code = apply_step(session->db, txn, &all->entries[i]);
    return code;
}

kvdyno_status tokuft_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                         size_t value_size)
{
    const kvdyno_batch_entry step = {.kind = KVDYNO_PUT, .key = {key, key_size}, .value = {value, value_size}};
    batch one = {&step, 1};
    return as_one(session, "put", apply_batch, &one);
}

kvdyno_status tokuft_remove(kvdyno_session *session, const void *key, size_t key_size)
{
    const kvdyno_batch_entry step = {.kind = KVDYNO_DELETE, .key = {key, key_size}};
    batch one = {&step, 1};
    return as_one(session, "remove", apply_batch, &one);
}

kvdyno_status tokuft_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    batch all = {entries, count};
    return as_one(session, "write", apply_batch, &all);
}

typedef struct change {
    DBT key;
    kvdyno_update_fn update;
    void *context;
    kvdyno_status status; /* what the update answered */
} change;

/* No code of TokuFT's: it only makes the transaction be undone. */
#define GIVEN_UP (-1)

static int apply_change(kvdyno_session *session, DB_TXN *txn, void *context)
{
    change *wanted = context;
    kvdyno_bytes old = {NULL, 0}, new = {NULL, 0};
    int code = session->db->getf_set(session->db, txn, DB_RMW, &wanted->key, keep_value, session);
    if (code != 0 && code != DB_NOTFOUND)
        return code;
    if (code == 0)
        old = (kvdyno_bytes){session->value.data, session->value_size};
    wanted->status = wanted->update(wanted->context, old, &new);
    if (wanted->status != KVDYNO_OK)
        return GIVEN_UP;
    DBT value;
    code = tokuft_input(&value, new.data, new.size);
    return code ? code : session->db->put(session->db, txn, &wanted->key, &value, 0);
}

kvdyno_status tokuft_read_modify_write(kvdyno_session *session, const void *key, size_t key_size, kvdyno_update_fn update,
                            void *context)
{
    change wanted = {.update = update, .context = context, .status = KVDYNO_OK};
    int code = tokuft_input(&wanted.key, key, key_size);
    if (code != 0)
        return tokuft_answer(session, "read_modify_write", code);
    kvdyno_status status = as_one(session, "read_modify_write", apply_change, &wanted);
    if (wanted.status == KVDYNO_OK)
        return status;
    return tokuft_refuse(session, wanted.status, "read_modify_write: the caller's update gave the change up");
}

/* ---- transactions ---- */

kvdyno_status tokuft_begin(kvdyno_session *session, uint32_t kind)
{
    if (session->txn)
        return tokuft_refuse(session, KVDYNO_ERROR, "begin: a transaction is open");
    bool writing = kind == KVDYNO_READ_WRITE;
    int code = writing ? session->env->txn_begin(session->env, NULL, &session->txn, DB_SERIALIZABLE)
                       : tokuft_begin_snapshot(session, &session->txn);
    if (code != 0)
        session->txn = NULL;
    session->writing = writing && code == 0;
    return tokuft_answer(session, "begin", code);
}

kvdyno_status tokuft_end_commit(kvdyno_session *session)
{
    if (!session->txn)
        return tokuft_refuse(session, KVDYNO_ERROR, "commit: no transaction is open");
    return tokuft_answer(session, "commit", end_transaction(session, true));
}

/* Aborting what a lost lock has already ended is what a careful caller does: nothing is left to undo. */
kvdyno_status tokuft_end_abort(kvdyno_session *session)
{
    return session->txn ? tokuft_answer(session, "abort", end_transaction(session, false)) : KVDYNO_OK;
}
