/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * sqlite_adapter.h: what the parts of the SQLite adapter share.
 *
 *   sqlite.c      the engine as kvdyno sees it: options, capabilities, the table of functions
 *   library.c     finding libsqlite3, and its process-wide settings
 *   settings.c    from kvdyno's settings to SQLite's
 *   connection.c  a connection and its pragmas; errors
 *   database.c    open, close, syncs, checkpoints, VACUUM
 *   session.c     reads, writes, batches, transactions; who may write
 *   cursor.c      scans
 *   statistics.c  SQLite's own figures
 *   written.c     bytes written to the database's file
 */
#ifndef SQLITE_ADAPTER_H
#define SQLITE_ADAPTER_H

#include "adapter.h"
#include "sqlite_api.h"

/* ---- the library ---- */

bool sqlite_load(const char *chosen, sqlite_api *api, kvdyno_text *error);
/* To be called around the life of a database: SQLite counts memory for the whole process or not at all. */
bool sqlite_enter(const sqlite_api *api, bool count_memory, kvdyno_text *error);
void sqlite_leave(const sqlite_api *api);

/* ---- options, in the order in which they are declared ---- */

enum {
    JOURNAL_MODE,
    PAGE_SIZE,
    MMAP_SIZE,
    WAL_AUTOCHECKPOINT,
    CHECKPOINT_MS,
    CHECKPOINT_MODE,
    WITHOUT_ROWID,
    COPY_VALUES,
    WRITER_LOCK,
    BUSY_SLEEP_US,
    SECURE_DELETE,
    COUNT_MEMORY,
    PRAGMAS,
    OPTION_COUNT
};

/* SQLite's settings, made of a kvdyno_config. */
typedef struct sqlite_plan {
    const char *journal_mode;
    bool wal;
    const char *synchronous;
    int64_t cache_kib;    /* of a session's connection */
    uint32_t connections; /* that share the cache setting */
    int64_t page_size, mmap_size;
    int wal_autocheckpoint;
    uint32_t checkpoint_ms;
    const char *checkpoint_mode_name;
    int checkpoint_mode;
    bool without_rowid, copies, writer_lock;
    int busy_sleep_us;
    const char *secure_delete; /* of the pragma, or NULL: as the library was built */
    bool count_memory;
    uint32_t sync_ms;   /* how often the log is synced in the background, or 0 */
    char pragmas[1024]; /* of the user's, "name=value;name=value" */
} sqlite_plan;

/* Refuses what cannot be honoured. The texts of `plan` are static. */
kvdyno_status sqlite_make_plan(const kvdyno_config *config, const sqlite_api *api, sqlite_plan *plan,
                               kvdyno_text *error);

/* ---- a database ---- */

#define CACHE_FIGURES 4

/* See written.c. */
typedef struct written_bytes {
    const struct sqlite3_io_methods *own; /* SQLite's */
    struct sqlite3_io_methods methods;    /* those that count */
    uint64_t bytes;                       /* atomic */
} written_bytes;

struct kvdyno_database {
    sqlite_api api;
    sqlite_plan plan;
    bool entered; /* counted as a user of the library */
    char *folder, *file;
    sqlite3 *keeper; /* a connection of the adapter's own, for all that is no session's */
    pthread_mutex_t keeper_lock;
    pthread_mutex_t writer_lock; /* see session.c */
    periodic_syncer log_syncer, checkpointer;
    uint64_t cache_figures[CACHE_FIGURES]; /* of sessions that were closed; atomic */
    uint64_t checkpoints;                  /* of the background thread; atomic */
    written_bytes written;
};

/* Counts what a connection that has just been opened writes to the database's file. */
int sqlite_count_written(kvdyno_database *database, sqlite3 *db);

/* Adds the figures of a connection that is about to be closed. */
void sqlite_count_cache(kvdyno_database *database, sqlite3 *db);

/* ---- connections ---- */

/* pragmas.c: pragmas of the user's. */
bool sqlite_takes_pragmas(const sqlite_api *api, const char *pragmas, kvdyno_text *error);
int sqlite_set_pragmas(const sqlite_api *api, sqlite3 *db, const char *pragmas);
/* Their values as the connection has them. */
int sqlite_say_pragmas(const sqlite_api *api, sqlite3 *db, const char *pragmas, kvdyno_emit emit, void *context);

/* Opens one with all its pragmas. On failure `*db` may be there all the same, to say why, and to be closed. */
int sqlite_connect(kvdyno_database *database, int flags, sqlite3 **db);
/* Makes a connection wait for locks of others: for ever. */
int sqlite_wait_for_ever(const kvdyno_database *database, sqlite3 *db);
/* Runs statements of which nothing is read; the text is formatted. */
__attribute__((format(printf, 3, 4))) int sqlite_run(const sqlite_api *api, sqlite3 *db, const char *format, ...);
/* Runs a statement and copies the first column of its last row; an empty text if there is none. */
int sqlite_ask(const sqlite_api *api, sqlite3 *db, const char *sql, char *answer, size_t capacity);
/* Says what failed in SQLite's words; `db` may be NULL. */
kvdyno_status sqlite_explain(const sqlite_api *api, sqlite3 *db, const char *what, int code, kvdyno_text *error);
/* The same, with the words and the errno that SQLite had at the time. */
kvdyno_status sqlite_explain_with(const sqlite_api *api, const char *words, int cause, const char *what, int code,
                                  kvdyno_text *error);

/* ---- sessions ---- */

enum {
    BEGIN_WRITE,
    BEGIN_READ,
    LOOK,
    COMMIT,
    ROLLBACK,
    CONTAINS,
    REPLACE,
    INSERT,
    ERASE,
    ERASE_RANGE,
    STATEMENT_COUNT
};
enum { SCAN_UP, SCAN_DOWN, SCAN_FROM_LAST, SCAN_WAYS, SCAN_COUNT = SCAN_WAYS * 6 };

struct kvdyno_session {
    const sqlite_api *api;
    sqlite3_stmt *select; /* stands on the row of the value that was handed out last */
    unsigned standing;    /* cursors whose scan stands on a row */
    bool copies;          /* a value is copied, and the read ends at once */
    growing value;
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    sqlite3_stmt *scans[SCAN_COUNT]; /* spare ones, for the next cursor */
    char cause[300]; /* SQLite's words for the error that made a transaction be rolled back; empty: none */
    int cause_errno;
    SESSION_MEMBERS;
};

#define NOT_FOUND SQLITE_DONE

/* The status of a finished call: OK, MISS, or the error, kept for session_error. */
kvdyno_status session_answer(kvdyno_session *session, const char *what, int code);
/* Runs one of the session's statements to its end. */
int sqlite_do(kvdyno_session *session, int statement);
int sqlite_bind(const sqlite_api *api, sqlite3_stmt *statement, int index, const void *data, size_t size);
/* Column `index` of the row that a statement stands on. */
kvdyno_bytes sqlite_column(const sqlite_api *api, sqlite3_stmt *statement, int index);
int sqlite_prepare(const sqlite_api *api, sqlite3 *db, const char *sql, sqlite3_stmt **statement);

/* Cursors let go of what they stand on; each goes on from its last key. */
void sqlite_park_cursors(kvdyno_session *session);

/* The value handed out is borrowed no longer, and no read of this session is open but that of a begun transaction. */
static inline void sqlite_settle(kvdyno_session *session)
{
    session->api->reset(session->select);
    if (session->standing)
        sqlite_park_cursors(session);
}

#endif
