/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * session.c: reading, writing and transactions.
 */
#include "lmdb_adapter.h"

kvdyno_status lmdb_fail(kvdyno_session *session, const char *what, int code)
{
    kvdyno_text error = {session->error, sizeof session->error};
    return lmdb_explain(session->api, what, code, &error);
}

kvdyno_status lmdb_refuse(kvdyno_session *session, kvdyno_status status, const char *why)
{
    snprintf(session->error, sizeof session->error, "%s", why);
    return status;
}

static int reader_new(kvdyno_database *database, MDB_txn **reader)
{
    int code = database->api.mdb_txn_begin(database->env, NULL, MDB_RDONLY, reader);
    if (!code)
        database->api.mdb_txn_reset(*reader);
    return code;
}

kvdyno_status lmdb_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
                                kvdyno_text *error)
{
    (void)host;
    kvdyno_session *session = calloc(1, sizeof *session);
    if (!session) {
        say(error, "out of memory");
        return KVDYNO_ERROR;
    }
    session->api = &database->api;
    session->database = database;
    session->dbi = database->dbi;
    int code = reader_new(database, &session->reader);
    if (code) {
        free(session);
        return lmdb_explain(&database->api, "mdb_txn_begin", code, error);
    }
    session->current = session->reader;
    *opened = session;
    return KVDYNO_OK;
}

void lmdb_session_close(kvdyno_session *session)
{
    if (session->current != session->reader)
        session->api->mdb_txn_abort(session->current);
    session->api->mdb_txn_abort(session->reader);
    free(session);
}

void lmdb_session_error(kvdyno_session *session, kvdyno_text *error)
{
    say(error, "%s", session->error);
}

static inline kvdyno_status read_one(kvdyno_session *session, MDB_val *sought, kvdyno_bytes *value)
{
    MDB_val found;
    int code = session->api->mdb_get(session->current, session->dbi, sought, &found);
    if (__builtin_expect(code != 0, 0))
        return code == MDB_NOTFOUND ? KVDYNO_MISS : lmdb_fail(session, "mdb_get", code);
    *value = (kvdyno_bytes){found.mv_data, found.mv_size};
    return KVDYNO_OK;
}

/* The key is put in its place first: then nothing but the session and the answer has to outlive the renewal. */
kvdyno_status lmdb_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    MDB_val sought = {key_size, (void *)key};
    int code = refresh(session);
    if (__builtin_expect(code != 0, 0))
        return lmdb_fail(session, "mdb_txn_renew", code);
    return read_one(session, &sought, value);
}

kvdyno_status lmdb_multi_get(kvdyno_session *session, const kvdyno_bytes *keys, size_t count,
                             kvdyno_bytes *values, kvdyno_status *statuses)
{
    int code = refresh(session);
    kvdyno_status worst = code ? lmdb_fail(session, "mdb_txn_renew", code) : KVDYNO_OK;
    for (size_t i = 0; i < count; i++) {
        MDB_val sought = {keys[i].size, (void *)keys[i].data};
        statuses[i] = code ? worst : read_one(session, &sought, &values[i]);
        if (statuses[i] < 0)
            worst = statuses[i];
    }
    return worst;
}

/* ---- writing: in the begun transaction, or in one of its own ---- */

static kvdyno_status writer_begin(kvdyno_session *session, MDB_txn **writer)
{
    settle(session);
    if (session->begun && session->current == session->reader)
        return lmdb_refuse(session, KVDYNO_UNSUPPORTED, "a read-only transaction is open on this session");
    if (session->broken)
        return lmdb_refuse(session, KVDYNO_ERROR, "a batch failed in this transaction: it can only be aborted");
    *writer = session->current;
    if (session->begun)
        return KVDYNO_OK;
    int code = session->api->mdb_txn_begin(session->database->env, NULL, 0, writer);
    return code ? lmdb_fail(session, "mdb_txn_begin", code) : KVDYNO_OK;
}

/* Commits a transaction of its own if all went well. */
static kvdyno_status writer_end(kvdyno_session *session, MDB_txn *writer, kvdyno_status status)
{
    if (session->begun)
        return status;
    if (status != KVDYNO_OK) {
        session->api->mdb_txn_abort(writer);
        return status;
    }
    int code = session->api->mdb_txn_commit(writer);
    return code ? lmdb_fail(session, "mdb_txn_commit", code) : KVDYNO_OK;
}

/* `append`: MDB_APPEND until a key is not the greatest, then 0. LMDB itself compares, and then changes nothing. */
static kvdyno_status store(kvdyno_session *session, MDB_txn *writer, kvdyno_bytes key, kvdyno_bytes value,
                           unsigned *append)
{
    MDB_val to = {key.size, (void *)key.data}, what = {value.size, (void *)value.data};
    int code = session->api->mdb_put(writer, session->dbi, &to, &what, *append);
    if (code == MDB_KEYEXIST && *append) {
        *append = 0;
        code = session->api->mdb_put(writer, session->dbi, &to, &what, 0);
    }
    return code ? lmdb_fail(session, "mdb_put", code) : KVDYNO_OK;
}

static kvdyno_status discard(kvdyno_session *session, MDB_txn *writer, kvdyno_bytes key)
{
    MDB_val what = {key.size, (void *)key.data};
    int code = session->api->mdb_del(writer, session->dbi, &what, NULL);
    return code == MDB_NOTFOUND ? KVDYNO_MISS : code ? lmdb_fail(session, "mdb_del", code) : KVDYNO_OK;
}

kvdyno_status lmdb_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                       size_t value_size)
{
    MDB_txn *writer;
    kvdyno_status status = writer_begin(session, &writer);
    if (status != KVDYNO_OK)
        return status;
    unsigned append = session->database->append;
    status = store(session, writer, (kvdyno_bytes){key, key_size}, (kvdyno_bytes){value, value_size}, &append);
    return writer_end(session, writer, status);
}

kvdyno_status lmdb_remove(kvdyno_session *session, const void *key, size_t key_size)
{
    MDB_txn *writer;
    kvdyno_status status = writer_begin(session, &writer);
    if (status != KVDYNO_OK)
        return status;
    return writer_end(session, writer, discard(session, writer, (kvdyno_bytes){key, key_size}));
}

kvdyno_status lmdb_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    MDB_txn *writer;
    kvdyno_status status = writer_begin(session, &writer);
    if (status != KVDYNO_OK)
        return status;
    unsigned append = session->database->append;
    for (size_t i = 0; i < count && status == KVDYNO_OK; i++) {
        if (entries[i].kind == KVDYNO_PUT)
            status = store(session, writer, entries[i].key, entries[i].value, &append);
        else
            status = discard(session, writer, entries[i].key);
        if (status == KVDYNO_MISS) /* nothing to delete is no reason to give the batch up */
            status = KVDYNO_OK;
    }
    session->broken = session->begun && status != KVDYNO_OK;
    return writer_end(session, writer, status);
}

kvdyno_status lmdb_read_modify_write(kvdyno_session *session, const void *key, size_t key_size, kvdyno_update_fn update,
                          void *context)
{
    MDB_txn *writer;
    kvdyno_status status = writer_begin(session, &writer);
    if (status != KVDYNO_OK)
        return status;
    MDB_val sought = {key_size, (void *)key}, found = {0, NULL};
    int code = session->api->mdb_get(writer, session->dbi, &sought, &found);
    if (code && code != MDB_NOTFOUND)
        return writer_end(session, writer, lmdb_fail(session, "mdb_get", code));
    kvdyno_bytes old = {code ? NULL : found.mv_data, code ? 0 : found.mv_size}, new = {NULL, 0};
    unsigned append = 0;
    status = update(context, old, &new);
    if (status == KVDYNO_OK)
        status = store(session, writer, (kvdyno_bytes){key, key_size}, new, &append);
    return writer_end(session, writer, status);
}

/* ---- transactions ---- */

kvdyno_status lmdb_begin(kvdyno_session *session, uint32_t kind)
{
    if (session->begun)
        return lmdb_refuse(session, KVDYNO_ERROR, "a transaction is open already: they do not nest");
    int code;
    if (kind == KVDYNO_READ_ONLY) {
        code = refresh(session);
    } else {
        settle(session);
        code = session->api->mdb_txn_begin(session->database->env, NULL, 0, &session->current);
    }
    if (code) {
        session->current = session->reader;
        return lmdb_fail(session, "begin", code);
    }
    session->begun = true;
    return KVDYNO_OK;
}

static kvdyno_status end(kvdyno_session *session, bool keep)
{
    if (!session->begun)
        return lmdb_refuse(session, KVDYNO_ERROR, "no transaction is open");
    MDB_txn *writer = session->current == session->reader ? NULL : session->current;
    bool broken = session->broken;
    lmdb_end_cursors(session);
    session->current = session->reader;
    session->begun = session->broken = false;
    settle(session);
    if (writer && keep && !broken) {
        int code = session->api->mdb_txn_commit(writer);
        return code ? lmdb_fail(session, "mdb_txn_commit", code) : KVDYNO_OK;
    }
    if (writer)
        session->api->mdb_txn_abort(writer);
    return keep && broken ? lmdb_refuse(session, KVDYNO_ERROR, "a batch failed in this transaction: it was aborted")
                          : KVDYNO_OK;
}

kvdyno_status lmdb_commit(kvdyno_session *session)
{
    return end(session, true);
}

kvdyno_status lmdb_abort(kvdyno_session *session)
{
    return end(session, false);
}
