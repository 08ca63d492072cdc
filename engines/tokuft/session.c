/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * session.c: reads, writes, batches and transactions.
 *
 * A get is a transaction of its own that sees the state of its begin and locks nothing. TokuFT shows the value to a
 * callback while it holds the node, so the value has to be copied. A write locks its key; who loses a deadlock, or
 * waits too long, is told so and tries again, as one does with Berkeley DB.
 */
#include "tokuft.h"

/* ---- life ---- */

static kvdyno_status session_start(kvdyno_session *session, kvdyno_text *error)
{
    (void)error;
    session->env = session->database->env;
    session->db = session->database->db;
    return KVDYNO_OK;
}

static void session_stop(kvdyno_session *session)
{
    free(session->value.data);
}

#include "life.h"

/* ---- writing: each write, batch and change is a transaction, nested where one is open ---- */

int tokuft_begin_snapshot(kvdyno_session *session, DB_TXN **txn)
{
    return session->env->txn_begin(session->env, NULL, txn, DB_TXN_SNAPSHOT | DB_TXN_READ_ONLY);
}

static int keep_value(const DBT *key, const DBT *value, void *context)
{
    (void)key;
    kvdyno_session *session = context;
    if (!growing_keep(&session->value, value->data, value->size))
        return ENOMEM;
    session->value_size = value->size;
    return 0;
}

static kvdyno_status explain(kvdyno_session *session, const char *what, int code, kvdyno_text *error)
{
    return tokuft_explain(session->database, what, code, error);
}

static inline bool lost(kvdyno_session *session, int code)
{
    (void)session;
    return lost_lock(code);
}

static inline void settle(kvdyno_session *session)
{
    (void)session; /* values are copies */
}

static const char *cannot_begin(kvdyno_session *session, uint32_t kind)
{
    (void)session, (void)kind;
    return NULL;
}

static int open_transaction(kvdyno_session *session, uint32_t kind)
{
    int code = kind == KVDYNO_READ_ONLY ? tokuft_begin_snapshot(session, &session->txn)
                                        : session->env->txn_begin(session->env, NULL, &session->txn, DB_SERIALIZABLE);
    if (code != 0)
        session->txn = NULL;
    return code;
}

static int own_begin(kvdyno_session *session, DB_TXN **txn)
{
    return session->env->txn_begin(session->env, session->txn, txn, 0);
}

static int own_end(kvdyno_session *session, DB_TXN *txn, bool keep)
{
    const kvdyno_database *database = session->database;
    return keep ? tokuft_commit(txn, database->commit_flags, database->unsynced) : txn->abort(txn);
}

static int close_transaction(kvdyno_session *session, bool keep)
{
    DB_TXN *txn = session->txn;
    tokuft_leave_transaction(session);
    session->txn = NULL;
    return own_end(session, txn, keep);
}

static inline DB_TXN *begun_txn(kvdyno_session *session)
{
    return session->txn;
}

static inline int single_begin(kvdyno_session *session, DB_TXN **txn)
{
    return own_begin(session, txn);
}

static int single_end(kvdyno_session *session, DB_TXN *txn, int code)
{
    int ended = own_end(session, txn, code == 0);
    return ended ? ended : code;
}

static int store(kvdyno_session *session, DB_TXN *txn, kvdyno_bytes key, kvdyno_bytes value)
{
    DBT key_item, value_item;
    int code = read_from(&key_item, key);
    if (code == 0)
        code = read_from(&value_item, value);
    return code ? code : session->db->put(session->db, txn, &key_item, &value_item, 0);
}

/* A delete is a message like any other: it does not look whether the key is there. */
static int discard(kvdyno_session *session, DB_TXN *txn, kvdyno_bytes key)
{
    DBT item;
    int code = read_from(&item, key);
    return code ? code : session->db->del(session->db, txn, &item, DB_DELETE_ANY);
}

static int present(kvdyno_session *session, DB_TXN *txn, kvdyno_bytes key, kvdyno_bytes *old)
{
    DBT sought;
    int code = read_from(&sought, key);
    if (code == 0)
        code = session->db->getf_set(session->db, txn, DB_RMW, &sought, keep_value, session);
    if (code == 0)
        *old = (kvdyno_bytes){session->value.data, session->value_size};
    return code;
}

static inline int release_old(kvdyno_session *session, kvdyno_bytes old, kvdyno_bytes *new)
{
    (void)session, (void)old, (void)new;
    return 0;
}

#include "transactions.h"

/* ---- reading ---- */

kvdyno_status adapter_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    DB_TXN *own = NULL, *txn = session->txn;
    if (__builtin_expect(key_size > UINT32_MAX, 0))
        return session_answer(session, "get", EINVAL);
    session->key.data = (void *)key;
    session->key.size = (uint32_t)key_size;
    int code = 0, ended = 0;
    if (!txn) {
        code = tokuft_begin_snapshot(session, &own);
        txn = own;
    }
    if (code == 0)
        code = session->db->getf_set(session->db, txn, 0, &session->key, keep_value, session);
    if (own)
        ended = own->commit(own, 0);
    if (__builtin_expect((code | ended) != 0, 0))
        return session_answer(session, "get", code ? code : ended);
    *value = (kvdyno_bytes){session->value.data, session->value_size};
    return KVDYNO_OK;
}
