/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * session.c: a session is a connection with prepared statements; its reads, writes and batches.
 *
 * A value that `get` lends lies in a page of the connection's cache, or of the map, and stays there as long as the
 * statement that found it stands on its row. So the statement is reset at the session's next call, not before. With a
 * rollback journal that would keep every writer waiting; there the value is copied and the statement reset at once.
 */
#include "sqlite_adapter.h"

/* ---- errors ---- */

kvdyno_status sqlite_fail(kvdyno_session *session, const char *what, int code)
{
    kvdyno_text error = {session->error, sizeof session->error};
    kvdyno_status status = sqlite_explain(session->api, session->db, what, code, &error);
    if (session->writing && session->api->get_autocommit(session->db))
        session->broken = true; /* some errors make SQLite roll back by itself */
    return status;
}

kvdyno_status sqlite_refuse(kvdyno_session *session, kvdyno_status status, const char *why)
{
    snprintf(session->error, sizeof session->error, "%s", why);
    return status;
}

void sqlite_session_error(kvdyno_session *session, kvdyno_text *error)
{
    say(error, "%s", session->error);
}

/* ---- statements ---- */

int sqlite_prepare(const sqlite_api *api, sqlite3 *db, const char *sql, sqlite3_stmt **statement)
{
    return api->prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

/* No bytes are a blob too, and not NULL. */
int sqlite_bind(const sqlite_api *api, sqlite3_stmt *statement, int place, const void *data, size_t size)
{
    return api->bind_blob64(statement, place, size ? data : "", size, SQLITE_STATIC);
}

kvdyno_bytes sqlite_column(const sqlite_api *api, sqlite3_stmt *statement, int place)
{
    const void *data = api->column_blob(statement, place);
    return (kvdyno_bytes){data ? data : "", (size_t)api->column_bytes(statement, place)};
}

int sqlite_do(kvdyno_session *session, int statement)
{
    int code;
    do
        code = session->api->step(session->statements[statement]);
    while (code == SQLITE_ROW);
    int again = session->api->reset(session->statements[statement]);
    return code == SQLITE_DONE ? again : code;
}

/* ---- life ---- */

static int prepare_all(kvdyno_session *session)
{
    static const char *const texts[STATEMENT_COUNT] = {
        [BEGIN_WRITE] = "BEGIN IMMEDIATE",
        [BEGIN_READ] = "BEGIN",
        [LOOK] = "SELECT 1 FROM sqlite_master LIMIT 1",
        [COMMIT] = "COMMIT",
        [ROLLBACK] = "ROLLBACK",
        [REPLACE] = "REPLACE INTO kv(key, value) VALUES(?1, ?2)",
        [ERASE] = "DELETE FROM kv WHERE key = ?1",
    };
    int code = sqlite_prepare(session->api, session->db, "SELECT value FROM kv WHERE key = ?1", &session->select);
    for (int i = 0; i < STATEMENT_COUNT && code == SQLITE_OK; i++)
        code = sqlite_prepare(session->api, session->db, texts[i], &session->statements[i]);
    return code;
}

/* Finalizing a statement that was never prepared does nothing, and neither does closing no connection. */
static void dispose(kvdyno_session *session)
{
    const sqlite_api *api = session->api;
    api->finalize(session->select);
    for (int i = 0; i < STATEMENT_COUNT; i++)
        api->finalize(session->statements[i]);
    for (int i = 0; i < SCAN_COUNT; i++)
        api->finalize(session->scans[i]);
    if (session->db)
        sqlite_count_cache(session->database, session->db);
    api->close(session->db);
    free(session->value.data);
    free(session);
}

kvdyno_status sqlite_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
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
    session->copies = database->plan.copies;
    int code = sqlite_connect(database, 0, &session->db);
    if (code == SQLITE_OK)
        code = prepare_all(session);
    if (code == SQLITE_OK) {
        *opened = session;
        return KVDYNO_OK;
    }
    kvdyno_status status = sqlite_explain(session->api, session->db, "a session's connection", code, error);
    dispose(session);
    return status;
}

void sqlite_session_close(kvdyno_session *session)
{
    sqlite_settle(session);
    if (session->begun)
        sqlite_abort(session);
    while (session->cursors)
        sqlite_cursor_close(session->cursors);
    dispose(session);
}

/* ---- reading ---- */

static kvdyno_status copy_value(kvdyno_session *session, kvdyno_bytes *value)
{
    bool room = growing_reserve(&session->value, value->size);
    if (room) {
        memcpy(session->value.data, value->data, value->size);
        value->data = session->value.data;
    }
    session->api->reset(session->select);
    return room ? KVDYNO_OK : sqlite_refuse(session, KVDYNO_ERROR, "out of memory for a copy of the value");
}

/* Nothing is lent: the read ends here. */
__attribute__((noinline)) static kvdyno_status no_row(kvdyno_session *session, int code)
{
    if (code != SQLITE_DONE) {
        kvdyno_status status = sqlite_fail(session, "get", code);
        session->api->reset(session->select);
        return status;
    }
    session->api->reset(session->select);
    return KVDYNO_MISS;
}

void sqlite_settle(kvdyno_session *session)
{
    session->api->reset(session->select);
    if (session->standing)
        sqlite_park_cursors(session);
}

kvdyno_status sqlite_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    const sqlite_api *api = session->api;
    sqlite_settle(session);
    int code = sqlite_bind(api, session->select, 1, key, key_size);
    if (__builtin_expect(code == SQLITE_OK, 1))
        code = api->step(session->select);
    if (__builtin_expect(code != SQLITE_ROW, 0))
        return no_row(session, code);
    *value = sqlite_column(api, session->select, 0);
    return session->copies ? copy_value(session, value) : KVDYNO_OK;
}

/* ---- writing ---- */

static kvdyno_status store(kvdyno_session *session, kvdyno_bytes key, kvdyno_bytes value)
{
    sqlite3_stmt *statement = session->statements[REPLACE];
    int code = sqlite_bind(session->api, statement, 1, key.data, key.size);
    if (code == SQLITE_OK)
        code = sqlite_bind(session->api, statement, 2, value.data, value.size);
    if (code == SQLITE_OK)
        code = sqlite_do(session, REPLACE);
    return code == SQLITE_OK ? KVDYNO_OK : sqlite_fail(session, "put", code);
}

static kvdyno_status discard(kvdyno_session *session, kvdyno_bytes key)
{
    int code = sqlite_bind(session->api, session->statements[ERASE], 1, key.data, key.size);
    if (code == SQLITE_OK)
        code = sqlite_do(session, ERASE);
    if (code != SQLITE_OK)
        return sqlite_fail(session, "remove", code);
    return session->api->changes(session->db) ? KVDYNO_OK : KVDYNO_MISS;
}

kvdyno_status sqlite_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                         size_t value_size)
{
    kvdyno_status status = sqlite_single_begin(session);
    if (status != KVDYNO_OK)
        return status;
    status = store(session, (kvdyno_bytes){key, key_size}, (kvdyno_bytes){value, value_size});
    sqlite_single_end(session);
    return status;
}

kvdyno_status sqlite_remove(kvdyno_session *session, const void *key, size_t key_size)
{
    kvdyno_status status = sqlite_single_begin(session);
    if (status != KVDYNO_OK)
        return status;
    status = discard(session, (kvdyno_bytes){key, key_size});
    sqlite_single_end(session);
    return status;
}

static kvdyno_status apply(kvdyno_session *session, const kvdyno_batch_entry *step)
{
    if (step->kind == KVDYNO_PUT)
        return store(session, step->key, step->value);
    kvdyno_status status = discard(session, step->key);
    return status == KVDYNO_MISS ? KVDYNO_OK : status; /* nothing to delete is no reason to give a batch up */
}

kvdyno_status sqlite_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    kvdyno_status status = sqlite_write_begin(session);
    if (status != KVDYNO_OK)
        return status;
    for (size_t i = 0; i < count && status == KVDYNO_OK; i++)
        status = apply(session, &entries[i]);
    session->broken = session->begun && status != KVDYNO_OK;
    return sqlite_write_end(session, status);
}

/* The present value; its data is NULL where there is none. */
static kvdyno_status present(kvdyno_session *session, kvdyno_bytes key, kvdyno_bytes *old)
{
    const sqlite_api *api = session->api;
    *old = (kvdyno_bytes){NULL, 0};
    int code = sqlite_bind(api, session->select, 1, key.data, key.size);
    if (code == SQLITE_OK)
        code = api->step(session->select);
    if (code == SQLITE_ROW)
        *old = sqlite_column(api, session->select, 0);
    return code == SQLITE_ROW || code == SQLITE_DONE ? KVDYNO_OK : sqlite_fail(session, "read_modify_write", code);
}

static kvdyno_status change(kvdyno_session *session, kvdyno_bytes key, kvdyno_update_fn update, void *context)
{
    kvdyno_bytes old, new = {NULL, 0};
    kvdyno_status status = present(session, key, &old);
    if (status == KVDYNO_OK) {
        status = update(context, old, &new);
        if (status != KVDYNO_OK)
            sqlite_refuse(session, status, "read_modify_write: the caller's update gave the change up");
    }
    session->api->reset(session->select);
    return status == KVDYNO_OK ? store(session, key, new) : status;
}

kvdyno_status sqlite_read_modify_write(kvdyno_session *session, const void *key, size_t key_size, kvdyno_update_fn update,
                            void *context)
{
    kvdyno_status status = sqlite_write_begin(session);
    if (status != KVDYNO_OK)
        return status;
    return sqlite_write_end(session, change(session, (kvdyno_bytes){key, key_size}, update, context));
}
