/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * session.c: a session is a connection with prepared statements; its reads, writes, batches and transactions.
 *
 * A value that `get` hands out lies in a page of the connection's cache, or of the map, and stays there as long as the
 * statement that found it stands on its row. So the statement is reset at the session's next call, not before. With a
 * rollback journal that would keep every writer waiting; there the value is copied and the statement reset at once.
 *
 * SQLite has one writer at a time. A second one is told that the database is busy and asks again after a sleep, so who
 * waits longest is not served first, and nobody is woken. So writers of one process wait at a mutex here, as those of
 * engines do that have a lock for their writers; option writer_lock=false leaves it to SQLite. Writers of several
 * processes always wait as SQLite lets them.
 */
#include "sqlite_adapter.h"

/* ---- statements ---- */

int sqlite_prepare(const sqlite_api *api, sqlite3 *db, const char *sql, sqlite3_stmt **statement)
{
    return api->prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

/* No bytes are a blob too, and not NULL. */
int sqlite_bind(const sqlite_api *api, sqlite3_stmt *statement, int index, const void *data, size_t size)
{
    return api->bind_blob64(statement, index, size ? data : "", size, SQLITE_STATIC);
}

kvdyno_bytes sqlite_column(const sqlite_api *api, sqlite3_stmt *statement, int index)
{
    const void *data = api->column_blob(statement, index);
    return (kvdyno_bytes){data ? data : "", (size_t)api->column_bytes(statement, index)};
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
        [CONTAINS] = "SELECT 1 FROM kv WHERE key = ?1",
        [INSERT] = "INSERT OR IGNORE INTO kv(key, value) VALUES(?1, ?2)",
        [ERASE] = "DELETE FROM kv WHERE key = ?1",
        [ERASE_RANGE] = "DELETE FROM kv WHERE key >= ?1 AND key < ?2",
    };
    int code = sqlite_prepare(session->api, session->db, "SELECT value FROM kv WHERE key = ?1", &session->select);
    for (int i = 0; i < STATEMENT_COUNT && code == SQLITE_OK; i++)
        code = sqlite_prepare(session->api, session->db, texts[i], &session->statements[i]);
    return code;
}

static kvdyno_status session_start(kvdyno_session *session, kvdyno_text *error)
{
    kvdyno_database *database = session->database;
    session->api = &database->api;
    session->copies = database->plan.copies;
    int code = sqlite_connect(database, 0, &session->db);
    if (code == SQLITE_OK)
        code = prepare_all(session);
    return code ? sqlite_explain(session->api, session->db, "a session's connection", code, error) : KVDYNO_OK;
}

/* Finalizing a statement that was never prepared does nothing, and neither does closing no connection. */
static void session_stop(kvdyno_session *session)
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
}

#include "life.h"

/* ---- writing ---- */

#define NESTED false
#define MOST_TRIES 1u
typedef void *engine_txn; /* a connection has one transaction at a time */

/* SQLite's words are gone once the transaction is rolled back. */
static void keep_cause(kvdyno_session *session)
{
    snprintf(session->cause, sizeof session->cause, "%s", session->api->errmsg(session->db));
    session->cause_errno = session->api->system_errno(session->db);
}

/* Some errors make SQLite roll back by itself. */
static kvdyno_status explain(kvdyno_session *session, const char *what, int code, kvdyno_text *error)
{
    const sqlite_api *api = session->api;
    session->broken |= session->begun == WRITING && api->get_autocommit(session->db);
    if (!session->cause[0])
        return sqlite_explain(api, session->db, what, code, error);
    kvdyno_status status = sqlite_explain_with(api, session->cause, session->cause_errno, what, code, error);
    session->cause[0] = '\0';
    return status;
}

/* A writer waits for the others. */
static inline bool lost(kvdyno_session *session, int code)
{
    (void)session, (void)code;
    return false;
}

static inline void settle(kvdyno_session *session)
{
    sqlite_settle(session);
}

static const char *cannot_begin(kvdyno_session *session, uint32_t kind)
{
    bool possible = kind != KVDYNO_READ_ONLY || session->database->plan.wal;
    return possible ? NULL
                    : "with a rollback journal a read-only transaction would keep every writer waiting; "
                      "journal_mode=wal has snapshots";
}

static void lock_writers(kvdyno_session *session)
{
    if (session->database->plan.writer_lock)
        pthread_mutex_lock(&session->database->writer_lock);
}

static void unlock_writers(kvdyno_session *session)
{
    if (session->database->plan.writer_lock)
        pthread_mutex_unlock(&session->database->writer_lock);
}

/* Undoes what is left of a transaction that SQLite may have ended by itself. */
static void roll_back(kvdyno_session *session)
{
    if (session->api->get_autocommit(session->db))
        return;
    keep_cause(session);
    sqlite_do(session, ROLLBACK);
}

static int own_begin(kvdyno_session *session, void **txn)
{
    *txn = NULL;
    lock_writers(session);
    int code = sqlite_do(session, BEGIN_WRITE);
    if (code != SQLITE_OK)
        unlock_writers(session);
    return code;
}

/* A commit that fails undoes it. */
static int own_end(kvdyno_session *session, void *txn, bool keep)
{
    (void)txn;
    int code = keep ? sqlite_do(session, COMMIT) : SQLITE_OK;
    if (!keep || code != SQLITE_OK)
        roll_back(session);
    unlock_writers(session);
    return code;
}

/* BEGIN alone sees nothing yet: the state that is seen is that of the first read. */
static int begin_reading(kvdyno_session *session)
{
    int code = sqlite_do(session, BEGIN_READ);
    if (code == SQLITE_OK)
        code = sqlite_do(session, LOOK);
    if (code != SQLITE_OK)
        roll_back(session);
    return code;
}

static int open_transaction(kvdyno_session *session, uint32_t kind)
{
    void *txn;
    return kind == KVDYNO_READ_ONLY ? begin_reading(session) : own_begin(session, &txn);
}

static int close_transaction(kvdyno_session *session, bool keep)
{
    if (session->begun == WRITING)
        return own_end(session, NULL, keep);
    int code = keep ? sqlite_do(session, COMMIT) : SQLITE_OK;
    roll_back(session);
    return code;
}

static inline void *begun_txn(kvdyno_session *session)
{
    (void)session;
    return NULL;
}

/* One statement is a transaction by itself. */
static inline int single_begin(kvdyno_session *session, void **txn)
{
    *txn = NULL;
    if (!session->begun)
        lock_writers(session);
    return 0;
}

static inline int single_end(kvdyno_session *session, void *txn, int code)
{
    (void)txn;
    if (!session->begun)
        unlock_writers(session);
    return code;
}

static int run_with_two(kvdyno_session *session, int which, kvdyno_bytes key, kvdyno_bytes value)
{
    sqlite3_stmt *statement = session->statements[which];
    int code = sqlite_bind(session->api, statement, 1, key.data, key.size);
    if (code == SQLITE_OK)
        code = sqlite_bind(session->api, statement, 2, value.data, value.size);
    return code == SQLITE_OK ? sqlite_do(session, which) : code;
}

static int store(kvdyno_session *session, void *txn, kvdyno_bytes key, kvdyno_bytes value)
{
    (void)txn;
    return run_with_two(session, REPLACE, key, value);
}

/* IGNORE leaves out the row, and says so by the number of changes alone. */
#define ALREADY_THERE SQLITE_CONSTRAINT
static int store_if_absent(kvdyno_session *session, void *txn, kvdyno_bytes key, kvdyno_bytes value)
{
    (void)txn;
    int code = run_with_two(session, INSERT, key, value);
    return code == SQLITE_OK && !session->api->changes(session->db) ? ALREADY_THERE : code;
}

static int discard(kvdyno_session *session, void *txn, kvdyno_bytes key)
{
    (void)txn;
    int code = sqlite_bind(session->api, session->statements[ERASE], 1, key.data, key.size);
    if (code == SQLITE_OK)
        code = sqlite_do(session, ERASE);
    return code == SQLITE_OK && !session->api->changes(session->db) ? NOT_FOUND : code;
}

static int discard_range(kvdyno_session *session, void *txn, kvdyno_bytes from, kvdyno_bytes to)
{
    (void)txn;
    return run_with_two(session, ERASE_RANGE, from, to);
}

static int present(kvdyno_session *session, void *txn, kvdyno_bytes key, kvdyno_bytes *old)
{
    const sqlite_api *api = session->api;
    (void)txn;
    int code = sqlite_bind(api, session->select, 1, key.data, key.size);
    if (code == SQLITE_OK)
        code = api->step(session->select);
    if (code != SQLITE_ROW)
        return code;
    *old = sqlite_column(api, session->select, 0);
    return 0;
}

static int release_old(kvdyno_session *session, kvdyno_bytes old, kvdyno_bytes *new)
{
    (void)old, (void)new;
    session->api->reset(session->select);
    return 0;
}

#define DISCARDS_RANGES true
#include "transactions.h"

/* ---- reading ---- */

static kvdyno_status copy_value(kvdyno_session *session, kvdyno_bytes *value)
{
    bool kept = growing_keep(&session->value, value->data, value->size);
    value->data = session->value.data;
    session->api->reset(session->select);
    return kept ? KVDYNO_OK : session_refuse(session, KVDYNO_ERROR, "out of memory for a copy of the value");
}

/* Nothing is handed out: the read ends here. */
__attribute__((noinline)) static kvdyno_status no_row(kvdyno_session *session, int code)
{
    kvdyno_status status = session_answer(session, "get", code);
    session->api->reset(session->select);
    return status;
}

kvdyno_status adapter_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
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

kvdyno_status adapter_contains(kvdyno_session *session, const void *key, size_t key_size)
{
    const sqlite_api *api = session->api;
    sqlite3_stmt *statement = session->statements[CONTAINS];
    sqlite_settle(session);
    int code = sqlite_bind(api, statement, 1, key, key_size);
    if (code == SQLITE_OK)
        code = api->step(statement);
    kvdyno_status status = code == SQLITE_ROW ? KVDYNO_OK : session_answer(session, "contains", code);
    api->reset(statement);
    return status;
}
