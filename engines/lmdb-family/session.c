/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * session.c: reading, writing and transactions.
 */
#include "family.h"

/* ---- life ---- */

static kvdyno_status session_start(kvdyno_session *session, kvdyno_text *error)
{
    kvdyno_database *database = session->database;
    session->api = &database->api;
    session->dbi = database->dbi;
    int code = tree_begin(session->api, database->env, false, &session->reader);
    if (code)
        return family_explain(session->api, "a read transaction", code, error);
    session->api->CALL(txn_reset)(session->reader);
    session->current = session->reader;
    return KVDYNO_OK;
}

static void session_stop(kvdyno_session *session)
{
    if (session->reader)
        tree_abort(session->api, session->reader);
}

#include "life.h"

/* ---- reading ---- */

/* The next read sees the last commit. */
static inline int refresh(kvdyno_session *session)
{
    return session->begun ? 0 : tree_refresh(&session->api, &session->reader);
}

static inline kvdyno_status read_one(kvdyno_session *session, tree_val *sought, kvdyno_bytes *value)
{
    tree_val found;
    int code = session->api->CALL(get)(session->current, session->dbi, sought, &found);
    if (__builtin_expect(code != 0, 0))
        return session_answer(session, "get", code);
    *value = tree_bytes(&found);
    return KVDYNO_OK;
}

/* The key is made first: then nothing but the session and the answer has to outlive the refresh. */
kvdyno_status adapter_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    tree_val sought = tree_value((kvdyno_bytes){key, key_size});
    int code = refresh(session);
    if (__builtin_expect(code != 0, 0))
        return session_answer(session, "a read transaction", code);
    return read_one(session, &sought, value);
}

kvdyno_status adapter_multi_get(kvdyno_session *session, const kvdyno_bytes *keys, size_t count, kvdyno_bytes *values,
                                kvdyno_status *statuses)
{
    int code = refresh(session);
    kvdyno_status worst = session_answer(session, "a read transaction", code);
    for (size_t i = 0; i < count; i++) {
        tree_val sought = tree_value(keys[i]);
        statuses[i] = code ? worst : read_one(session, &sought, &values[i]);
        if (statuses[i] < 0)
            worst = statuses[i];
    }
    return worst;
}

/* ---- writing ---- */

#define NESTED false
#define MOST_TRIES 1u
typedef tree_txn *engine_txn;

static kvdyno_status explain(kvdyno_session *session, const char *what, int code, kvdyno_text *error)
{
    return family_explain(session->api, what, code, error);
}

/* A writer waits for the others. */
static inline bool lost(kvdyno_session *session, int code)
{
    (void)session, (void)code;
    return false;
}

static inline const char *cannot_begin(kvdyno_session *session, uint32_t kind)
{
    (void)session, (void)kind;
    return NULL;
}

static int open_transaction(kvdyno_session *session, uint32_t kind)
{
    if (kind == KVDYNO_READ_ONLY)
        return tree_refresh(&session->api, &session->reader);
    int code = tree_begin(session->api, session->database->env, true, &session->current);
    if (code)
        session->current = session->reader;
    return code;
}

static int close_transaction(kvdyno_session *session, bool keep)
{
    tree_txn *writer = session->current;
    for (kvdyno_cursor *cursor = session->cursors; cursor; cursor = cursor->next)
        cursor_leave(cursor);
    session->current = session->reader;
    session->api->CALL(txn_reset)(session->reader);
    if (writer == session->reader)
        return 0;
    if (keep)
        return tree_commit(session->api, writer);
    tree_abort(session->api, writer);
    return 0;
}

static inline int own_begin(kvdyno_session *session, tree_txn **txn)
{
    return tree_begin(session->api, session->database->env, true, txn);
}

static inline int own_end(kvdyno_session *session, tree_txn *txn, bool keep)
{
    if (keep)
        return tree_commit(session->api, txn);
    tree_abort(session->api, txn);
    return 0;
}

static inline tree_txn *begun_txn(kvdyno_session *session)
{
    return session->current;
}

static inline int single_begin(kvdyno_session *session, tree_txn **txn)
{
    *txn = session->current;
    return session->begun ? 0 : own_begin(session, txn);
}

static inline int single_end(kvdyno_session *session, tree_txn *txn, int code)
{
    int ended = session->begun ? 0 : own_end(session, txn, code == 0);
    return code ? code : ended;
}

/* With the option append, the puts of a batch append until a key is not the greatest. The engine itself compares, and
 * then changes nothing. */
static inline int store(kvdyno_session *session, tree_txn *txn, kvdyno_bytes key, kvdyno_bytes value)
{
    tree_val to = tree_value(key), data = tree_value(value);
    if (__builtin_expect(key.size > MOST_KEY_BYTES, 0))
        return KEY_TOO_LONG;
    int code = session->api->CALL(put)(txn, session->dbi, &to, &data, session->append);
    if (code != NOT_APPENDED || !session->append)
        return code;
    session->append = 0;
    return session->api->CALL(put)(txn, session->dbi, &to, &data, 0);
}

#define ALREADY_THERE KEY_EXISTS
static int store_if_absent(kvdyno_session *session, tree_txn *txn, kvdyno_bytes key, kvdyno_bytes value)
{
    tree_val to = tree_value(key), data = tree_value(value);
    if (key.size > MOST_KEY_BYTES)
        return KEY_TOO_LONG;
    return session->api->CALL(put)(txn, session->dbi, &to, &data, NO_OVERWRITE);
}

static inline int discard(kvdyno_session *session, tree_txn *txn, kvdyno_bytes key)
{
    tree_val sought = tree_value(key);
    return session->api->CALL(del)(txn, session->dbi, &sought, NULL);
}

#ifdef DISCARDS_RANGES
static int discard_range(kvdyno_session *session, tree_txn *txn, kvdyno_bytes from, kvdyno_bytes to)
{
    const library_api *api = session->api;
    tree_cursor *begin = NULL, *end = NULL;
    int code = tree_cursor_new(api, txn, session->dbi, &begin);
    if (!code)
        code = tree_cursor_new(api, txn, session->dbi, &end);
    if (!code)
        code = api->CALL(cursor_bind)(txn, begin, session->dbi);
    if (!code)
        code = api->CALL(cursor_bind)(txn, end, session->dbi);
    if (!code)
        code = tree_discard_between(api, begin, end, from, to);
    if (begin)
        api->CALL(cursor_close)(begin);
    if (end)
        api->CALL(cursor_close)(end);
    return code;
}
#endif

static inline int present(kvdyno_session *session, tree_txn *txn, kvdyno_bytes key, kvdyno_bytes *old)
{
    tree_val sought = tree_value(key), found;
    int code = session->api->CALL(get)(txn, session->dbi, &sought, &found);
    if (!code)
        *old = tree_bytes(&found);
    return code;
}

static inline int release_old(kvdyno_session *session, kvdyno_bytes old, kvdyno_bytes *new)
{
    (void)session, (void)old, (void)new;
    return 0;
}

#include "transactions.h"
