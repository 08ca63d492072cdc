/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * session.c: reading, writing and transactions.
 */
#include "mdbx_adapter.h"

kvdyno_status mx_fail(kvdyno_session *session, const char *what, int code)
{
    kvdyno_text error = {session->error, sizeof session->error};
    return mx_explain(session->api, what, code, &error);
}

kvdyno_status mx_refuse(kvdyno_session *session, kvdyno_status status, const char *why)
{
    snprintf(session->error, sizeof session->error, "%s", why);
    return status;
}

static int reader_new(kvdyno_database *database, MDBX_txn **reader)
{
    int code = database->api.mdbx_txn_begin_ex(database->env, NULL, MDBX_TXN_RDONLY, reader, NULL);
    if (!code)
        database->api.mdbx_txn_reset(*reader);
    return code;
}

kvdyno_status mx_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
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
        return mx_explain(&database->api, "mdbx_txn_begin", code, error);
    }
    session->current = session->reader;
    *opened = session;
    return KVDYNO_OK;
}

void mx_session_close(kvdyno_session *session)
{
    if (session->current != session->reader)
        session->api->mdbx_txn_abort_ex(session->current, NULL);
    session->api->mdbx_txn_abort_ex(session->reader, NULL);
    free(session);
}

void mx_session_error(kvdyno_session *session, kvdyno_text *error)
{
    say(error, "%s", session->error);
}

static inline kvdyno_status read_one(kvdyno_session *session, MDBX_val *sought, kvdyno_bytes *value)
{
    MDBX_val found;
    int code = session->api->mdbx_get(session->current, session->dbi, sought, &found);
    if (__builtin_expect(code != 0, 0))
        return code == MDBX_NOTFOUND ? KVDYNO_MISS : mx_fail(session, "mdbx_get", code);
    *value = (kvdyno_bytes){found.iov_base, found.iov_len};
    return KVDYNO_OK;
}

/* The key is put in its place first: then nothing but the session and the answer has to outlive the refresh. */
kvdyno_status mx_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    MDBX_val sought = {(void *)key, key_size};
    int code = session->begun ? 0 : refresh(session->api, session->reader);
    if (__builtin_expect(code != 0, 0))
        return mx_fail(session, "mdbx_txn_refresh", code);
    return read_one(session, &sought, value);
}

kvdyno_status mx_multi_get(kvdyno_session *session, const kvdyno_bytes *keys, size_t count,
                             kvdyno_bytes *values, kvdyno_status *statuses)
{
    int code = session->begun ? 0 : refresh(session->api, session->reader);
    kvdyno_status worst = code ? mx_fail(session, "mdbx_txn_refresh", code) : KVDYNO_OK;
    for (size_t i = 0; i < count; i++) {
        MDBX_val sought = {(void *)keys[i].data, keys[i].size};
        statuses[i] = code ? worst : read_one(session, &sought, &values[i]);
        if (statuses[i] < 0)
            worst = statuses[i];
    }
    return worst;
}

/* ---- writing: in the begun transaction, or in one of its own ---- */

static kvdyno_status writer_begin(kvdyno_session *session, MDBX_txn **writer)
{
    settle(session);
    if (session->begun && session->current == session->reader)
        return mx_refuse(session, KVDYNO_UNSUPPORTED, "a read-only transaction is open on this session");
    if (session->broken)
        return mx_refuse(session, KVDYNO_ERROR, "a batch failed in this transaction: it can only be aborted");
    *writer = session->current;
    if (session->begun)
        return KVDYNO_OK;
    int code = session->api->mdbx_txn_begin_ex(session->database->env, NULL, MDBX_TXN_READWRITE, writer, NULL);
    return code ? mx_fail(session, "mdbx_txn_begin", code) : KVDYNO_OK;
}

/* libmdbx aborts a transaction in which something failed, and says so with a code that is no error elsewhere. */
static kvdyno_status commit_writer(kvdyno_session *session, MDBX_txn *writer)
{
    int code = session->api->mdbx_txn_commit_ex(writer, NULL);
    if (code == MDBX_RESULT_TRUE)
        return mx_refuse(session, KVDYNO_ERROR, "something failed in this transaction: it was aborted");
    return code ? mx_fail(session, "mdbx_txn_commit", code) : KVDYNO_OK;
}

/* Commits a transaction of its own if all went well. */
static kvdyno_status writer_end(kvdyno_session *session, MDBX_txn *writer, kvdyno_status status)
{
    if (session->begun)
        return status;
    if (status != KVDYNO_OK) {
        session->api->mdbx_txn_abort_ex(writer, NULL);
        return status;
    }
    return commit_writer(session, writer);
}

/* `append`: MDBX_APPEND until a key is not the greatest, then 0. libmdbx itself compares, and then changes nothing. */
static kvdyno_status put_one(kvdyno_session *session, MDBX_txn *writer, kvdyno_bytes key, kvdyno_bytes value,
                           unsigned *append)
{
    if (key.size > MOST_KEY_BYTES)
        return mx_refuse(session, KVDYNO_ERROR, "the key is too long");
    MDBX_val to = {(void *)key.data, key.size}, what = {(void *)value.data, value.size};
    int code = session->api->mdbx_put(writer, session->dbi, &to, &what, *append);
    if (code == MDBX_EKEYMISMATCH && *append) {
        *append = 0;
        code = session->api->mdbx_put(writer, session->dbi, &to, &what, 0);
    }
    return code ? mx_fail(session, "mdbx_put", code) : KVDYNO_OK;
}

static kvdyno_status delete_one(kvdyno_session *session, MDBX_txn *writer, kvdyno_bytes key)
{
    MDBX_val what = {(void *)key.data, key.size};
    int code = session->api->mdbx_del(writer, session->dbi, &what, NULL);
    return code == MDBX_NOTFOUND ? KVDYNO_MISS : code ? mx_fail(session, "mdbx_del", code) : KVDYNO_OK;
}

kvdyno_status mx_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                       size_t value_size)
{
    MDBX_txn *writer;
    kvdyno_status status = writer_begin(session, &writer);
    if (status != KVDYNO_OK)
        return status;
    unsigned append = session->database->append;
    status = put_one(session, writer, (kvdyno_bytes){key, key_size}, (kvdyno_bytes){value, value_size}, &append);
    return writer_end(session, writer, status);
}

kvdyno_status mx_remove(kvdyno_session *session, const void *key, size_t key_size)
{
    MDBX_txn *writer;
    kvdyno_status status = writer_begin(session, &writer);
    if (status != KVDYNO_OK)
        return status;
    return writer_end(session, writer, delete_one(session, writer, (kvdyno_bytes){key, key_size}));
}

kvdyno_status mx_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    MDBX_txn *writer;
    kvdyno_status status = writer_begin(session, &writer);
    if (status != KVDYNO_OK)
        return status;
    unsigned append = session->database->append;
    for (size_t i = 0; i < count && status == KVDYNO_OK; i++) {
        if (entries[i].kind == KVDYNO_PUT)
            status = put_one(session, writer, entries[i].key, entries[i].value, &append);
        else
            status = delete_one(session, writer, entries[i].key);
        if (status == KVDYNO_MISS) /* nothing to delete is no reason to give the batch up */
            status = KVDYNO_OK;
    }
    session->broken = session->begun && status != KVDYNO_OK;
    return writer_end(session, writer, status);
}

kvdyno_status mx_read_modify_write(kvdyno_session *session, const void *key, size_t key_size, kvdyno_update_fn update,
                          void *context)
{
    MDBX_txn *writer;
    kvdyno_status status = writer_begin(session, &writer);
    if (status != KVDYNO_OK)
        return status;
    MDBX_val sought = {(void *)key, key_size}, found = {NULL, 0};
    int code = session->api->mdbx_get(writer, session->dbi, &sought, &found);
    if (code && code != MDBX_NOTFOUND)
        return writer_end(session, writer, mx_fail(session, "mdbx_get", code));
    kvdyno_bytes old = {code ? NULL : found.iov_base, code ? 0 : found.iov_len}, new = {NULL, 0};
    unsigned append = 0;
    status = update(context, old, &new);
    if (status == KVDYNO_OK)
        status = put_one(session, writer, (kvdyno_bytes){key, key_size}, new, &append);
    return writer_end(session, writer, status);
}

/* ---- transactions ---- */

kvdyno_status mx_begin(kvdyno_session *session, uint32_t kind)
{
    if (session->begun)
        return mx_refuse(session, KVDYNO_ERROR, "a transaction is open already: they do not nest");
    int code;
    if (kind == KVDYNO_READ_ONLY) {
        code = refresh(session->api, session->reader);
    } else {
        settle(session);
        code = session->api->mdbx_txn_begin_ex(session->database->env, NULL, MDBX_TXN_READWRITE, &session->current,
                                                NULL);
    }
    if (code) {
        session->current = session->reader;
        return mx_fail(session, "begin", code);
    }
    session->begun = true;
    return KVDYNO_OK;
}

static kvdyno_status end(kvdyno_session *session, bool keep)
{
    if (!session->begun)
        return mx_refuse(session, KVDYNO_ERROR, "no transaction is open");
    MDBX_txn *writer = session->current == session->reader ? NULL : session->current;
    bool broken = session->broken;
    mx_end_cursors(session);
    session->current = session->reader;
    session->begun = session->broken = false;
    settle(session);
    if (writer && keep && !broken)
        return commit_writer(session, writer);
    if (writer)
        session->api->mdbx_txn_abort_ex(writer, NULL);
    return keep && broken ? mx_refuse(session, KVDYNO_ERROR, "a batch failed in this transaction: it was aborted")
                          : KVDYNO_OK;
}

kvdyno_status mx_commit(kvdyno_session *session)
{
    return end(session, true);
}

kvdyno_status mx_abort(kvdyno_session *session)
{
    return end(session, false);
}
