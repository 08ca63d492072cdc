/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A session: reads, writes, batches and transactions.
 */
#include "bdb.h"

/* With an order of its own a table may find a key that is equal and not the same, which Berkeley DB would write back
 * into the caller's. */
static int read_only(DBT *item, kvdyno_bytes key)
{
    int code = read_from(item, key);
    item->flags = DB_DBT_READONLY;
    return code;
}

/* ---- life ---- */

static int reserve(kvdyno_session *session, size_t size)
{
    if (!growing_reserve(&session->value, size))
        return ENOMEM;
    session->item.data = session->value.data;
    session->item.ulen = bdb_capacity(&session->value);
    return 0;
}

static kvdyno_status session_start(kvdyno_session *session, kvdyno_text *error)
{
    session->key.flags = DB_DBT_READONLY;
    session->item.flags = DB_DBT_USERMEM;
    int code = reserve(session, session->database->value_hint);
    return code ? bdb_explain(session->database, "a session", code, error) : KVDYNO_OK;
}

static void session_stop(kvdyno_session *session)
{
    free(session->value.data);
}

#include "life.h"

/* ---- writing ---- */

static kvdyno_status explain(kvdyno_session *session, const char *what, int code, kvdyno_text *error)
{
    return bdb_explain(session->database, what, code, error);
}

static inline bool lost(kvdyno_session *session, int code)
{
    (void)session;
    return code == DB_LOCK_DEADLOCK;
}

static inline void settle(kvdyno_session *session)
{
    if (!session->begun)
        bdb_park_cursors(session);
}

static const char *cannot_begin(kvdyno_session *session, uint32_t kind)
{
    bool possible = kind != KVDYNO_READ_ONLY || session->database->snapshot;
    return possible ? NULL : "begin: a read-only transaction needs option snapshot=true";
}

static int open_transaction(kvdyno_session *session, uint32_t kind)
{
    DB_ENV *env = session->database->env;
    int code = env->txn_begin(env, NULL, &session->txn, kind == KVDYNO_READ_ONLY ? DB_TXN_SNAPSHOT : session->own);
    if (code != 0)
        session->txn = NULL;
    return code;
}

static int own_end(kvdyno_session *session, DB_TXN *txn, bool keep)
{
    (void)session;
    return keep ? txn->commit(txn, 0) : txn->abort(txn);
}

static int close_transaction(kvdyno_session *session, bool keep)
{
    DB_TXN *txn = session->txn;
    bdb_park_cursors(session);
    session->txn = NULL;
    return own_end(session, txn, keep);
}

static int own_begin(kvdyno_session *session, DB_TXN **txn)
{
    DB_ENV *env = session->database->env;
    return env->txn_begin(env, session->txn, txn, session->txn ? 0 : session->own);
}

static inline DB_TXN *begun_txn(kvdyno_session *session)
{
    return session->txn;
}

/* Without a transaction Berkeley DB makes one, which is committed as the environment says. */
static inline bool needs_own(const kvdyno_session *session)
{
    return __builtin_expect(session->own != 0, 0) && !session->txn;
}

static inline int single_begin(kvdyno_session *session, DB_TXN **txn)
{
    *txn = session->txn;
    return needs_own(session) ? own_begin(session, txn) : 0;
}

static inline int single_end(kvdyno_session *session, DB_TXN *txn, int code)
{
    if (!needs_own(session))
        return code;
    int ended = own_end(session, txn, code == 0);
    return code ? code : ended;
}

static inline int put_with(kvdyno_session *session, DB_TXN *txn, kvdyno_bytes key, kvdyno_bytes value, u_int32_t flags)
{
    DB *db = session->database->db;
    DBT key_item, value_item;
    int code = read_from(&key_item, key);
    if (code == 0)
        code = read_from(&value_item, value);
    return code ? code : db->put(db, txn, &key_item, &value_item, flags);
}

static inline int store(kvdyno_session *session, DB_TXN *txn, kvdyno_bytes key, kvdyno_bytes value)
{
    return put_with(session, txn, key, value, 0);
}

#define ALREADY_THERE DB_KEYEXIST
static int store_if_absent(kvdyno_session *session, DB_TXN *txn, kvdyno_bytes key, kvdyno_bytes value)
{
    return put_with(session, txn, key, value, DB_NOOVERWRITE);
}

static inline int discard(kvdyno_session *session, DB_TXN *txn, kvdyno_bytes key)
{
    DB *db = session->database->db;
    DBT item;
    int code = read_from(&item, key);
    return code ? code : db->del(db, txn, &item, 0);
}

/* Reads a value into the session's memory, which grows until it fits. */
static int read_value(kvdyno_session *session, DB_TXN *txn, kvdyno_bytes key, u_int32_t flags, kvdyno_bytes *value)
{
    DB *db = session->database->db;
    DBT sought, *item = &session->item;
    int code = read_only(&sought, key);
    if (code == 0)
        do
            code = db->get(db, txn, &sought, item, flags);
        while (code == DB_BUFFER_SMALL && (code = reserve(session, item->size)) == 0);
    if (code == 0)
        *value = (kvdyno_bytes){item->data, item->size};
    return code;
}

static int present(kvdyno_session *session, DB_TXN *txn, kvdyno_bytes key, kvdyno_bytes *old)
{
    return read_value(session, txn, key, DB_RMW, old);
}

static inline int release_old(kvdyno_session *session, kvdyno_bytes old, kvdyno_bytes *new)
{
    (void)session, (void)old, (void)new;
    return 0;
}

#include "transactions.h"

kvdyno_status adapter_set_durability(kvdyno_session *session, uint32_t level)
{
    static const u_int32_t flags[DURABILITY_LEVELS] = {
        [KVDYNO_DURABILITY_NONE] = DB_TXN_NOSYNC,
        [KVDYNO_DURABILITY_PROCESS] = DB_TXN_WRITE_NOSYNC,
        [KVDYNO_DURABILITY_PERIODIC] = DB_TXN_WRITE_NOSYNC,
        [KVDYNO_DURABILITY_COMMIT] = DB_TXN_SYNC,
    };
    if (lacks_durability(level, session->database->durability))
        return session_refuse(session, KVDYNO_UNSUPPORTED, "%s", LACKS_DURABILITY);
    session->own = level == session->database->durability ? 0 : flags[level];
    return KVDYNO_OK;
}

/* ---- reading ---- */

/* Whether a key is there. */
static int look(kvdyno_session *session, DB_TXN *txn, kvdyno_bytes key)
{
    DB *db = session->database->db;
    DBT sought;
    int code = read_only(&sought, key);
    return code ? code : db->exists(db, txn, &sought, 0);
}

/* A read that locks nothing is a transaction of its own: the flag can be had in no other way. Without `value` it only
 * looks. */
static int read_snapshot(kvdyno_session *session, kvdyno_bytes key, kvdyno_bytes *value)
{
    DB_ENV *env = session->database->env;
    DB_TXN *txn;
    int code = env->txn_begin(env, NULL, &txn, DB_TXN_SNAPSHOT);
    if (code != 0)
        return code;
    code = value ? read_value(session, txn, key, 0, value) : look(session, txn, key);
    int ended = txn->commit(txn, 0);
    return code ? code : ended;
}

/* A get that lost a deadlock, whose value did not fit, or that needs a transaction to see versions. */
static kvdyno_status get_with_care(kvdyno_session *session, kvdyno_bytes key, kvdyno_bytes *value)
{
    bool versions = session->database->snapshot && !session->txn;
    unsigned tries = 0;
    int code;
    do
        code = versions ? read_snapshot(session, key, value) : read_value(session, session->txn, key, 0, value);
    while (try_again(session, code, &tries));
    return session_answer(session, "get", code);
}

/* As few instructions as it takes in the usual case. */
kvdyno_status adapter_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    const kvdyno_database *database = session->database;
    if (__builtin_expect(database->snapshot || key_size > UINT32_MAX, 0))
        return get_with_care(session, (kvdyno_bytes){key, key_size}, value);
    session->key.data = (void *)key;
    session->key.size = (u_int32_t)key_size;
    int code = database->db->get(database->db, session->txn, &session->key, &session->item, 0);
    if (__builtin_expect(code == DB_BUFFER_SMALL || (code == DB_LOCK_DEADLOCK && !session->txn), 0))
        return get_with_care(session, (kvdyno_bytes){key, key_size}, value);
    if (__builtin_expect(code != 0, 0))
        return session_answer(session, "get", code);
    value->data = session->item.data;
    value->size = session->item.size;
    return KVDYNO_OK;
}

kvdyno_status adapter_contains(kvdyno_session *session, const void *key, size_t key_size)
{
    bool versions = session->database->snapshot && !session->txn;
    kvdyno_bytes sought = {key, key_size};
    unsigned tries = 0;
    int code;
    settle(session);
    do
        code = versions ? read_snapshot(session, sought, NULL) : look(session, session->txn, sought);
    while (try_again(session, code, &tries));
    return session_answer(session, "contains", code);
}
