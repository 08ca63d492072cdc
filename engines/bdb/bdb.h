/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * bdb.h: what the files of the Berkeley DB adapter share.
 *
 *   bdb.c          the engine as kvdyno sees it: options, capabilities, the table of functions
 *   library.c      finding and checking libdb
 *   settings.c     from kvdyno's settings to an environment's
 *   table.c        page size, order and partitions of the table
 *   environment.c  open and close; the background threads; errors
 *   session.c      reads, writes, batches, transactions
 *   cursor.c       scans
 *   statistics.c   Berkeley DB's own figures
 */
#ifndef KVDYNO_BDB_H
#define KVDYNO_BDB_H

#include <db.h>
#include <errno.h>

#include "adapter.h"

/* ---- the library ---- */

/* The four functions that are called by name; all others are members of the handles that these two create. */
typedef struct bdb_library {
    void *handle;
    int (*env_create)(DB_ENV **env, u_int32_t flags);
    int (*db_create)(DB **db, DB_ENV *env, u_int32_t flags);
    char *(*version)(int *major, int *minor, int *patch);
    char *(*error_text)(int error);
} bdb_library;

kvdyno_status bdb_library_open(const char *chosen, bdb_library *library, kvdyno_text *error);
void bdb_library_close(bdb_library *library);

/* ---- options, in the order in which they are declared ---- */

enum {
    BDB_PAGE_SIZE,
    BDB_SNAPSHOT,
    BDB_PRIVATE,
    BDB_LOG_FILE_SIZE,
    BDB_LOG_AUTO_REMOVE,
    BDB_LOG_ZERO,
    BDB_CHECKPOINT_KB,
    BDB_LOCK_PARTITIONS,
    BDB_DIRECT_IO,
    BDB_LOG_BUFFER,
    BDB_LOG_DSYNC,
    BDB_COMPARATOR,
    BDB_PARTITIONS,
    BDB_OPTION_COUNT
};

/* ---- a database ---- */

/* How keys are ordered. */
typedef int (*bdb_order)(DB *db, const DBT *a, const DBT *b);

struct kvdyno_database {
    bdb_library library;
    DB_ENV *env;
    DB *db;
    engine_message message; /* what Berkeley DB last told its error callback */
    char *path;
    bool snapshot;        /* versions of pages are kept, and reads lock nothing */
    bool shared;          /* other processes may use the environment */
    bool log_auto_remove;
    u_int32_t checkpoint_kb;
    bdb_order order;
    size_t value_hint;    /* bytes a session's buffer begins with */
    periodic_syncer log_syncer;
    periodic_syncer checkpointer;
    process_turn turn; /* which process does what these two threads do */
    periodic_syncer parker; /* see cursor.c */
    pthread_mutex_t cursors_lock;
    kvdyno_cursor *cursors; /* every open cursor, under cursors_lock */
};

#define BDB_POLL_MS 500u /* how often it is looked whether a checkpoint is due, and whether a process died */

/* What a kvdyno_config comes to. */
typedef struct bdb_plan {
    uint64_t cache;       /* as given to set_cachesize */
    int cache_regions;
    uint64_t log_buffer, log_file;
    u_int32_t durability; /* a flag of the environment, or 0 */
    u_int32_t lockers, locks, transactions;
    bool shared; /* other processes may use the environment */
    u_int32_t threads; /* that can be in Berkeley DB at once, in all processes; 0 if none need be watched */
} bdb_plan;

int64_t bdb_integer_option(const kvdyno_config *config, int option);
uint64_t bdb_at_most(uint64_t value, uint64_t limit);
kvdyno_status bdb_make_plan(const kvdyno_config *config, bdb_plan *plan, kvdyno_text *error);

/* These answer a code of Berkeley DB. Nothing on the storage is touched. */
int bdb_make_environment(const bdb_library *library, engine_message *message, DB_ENV **env);
int bdb_set_all(DB_ENV *env, const kvdyno_config *config, const bdb_plan *plan);
int bdb_set_table(DB *db, const kvdyno_config *config);
void bdb_say_table(const kvdyno_config *config, kvdyno_emit emit, void *context);
bdb_order bdb_order_of(const kvdyno_config *config);
bool bdb_is_partitioned(const kvdyno_config *config);

kvdyno_status bdb_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error);
kvdyno_status bdb_open(const kvdyno_config *config, kvdyno_database **database, kvdyno_text *error);
kvdyno_status bdb_close(kvdyno_database *database, kvdyno_text *error);
kvdyno_status bdb_flush(kvdyno_database *database, kvdyno_text *error);
kvdyno_status bdb_compact(kvdyno_database *database, kvdyno_text *error);
kvdyno_status bdb_statistics(kvdyno_database *database, kvdyno_emit emit, void *context);

/* Writes "what: Berkeley DB's text for the code: its last message" and returns the status that the code amounts to. */
kvdyno_status bdb_explain_with(const bdb_library *library, engine_message *message, const char *what, int code,
                               kvdyno_text *error);
kvdyno_status bdb_explain(kvdyno_database *database, const char *what, int code, kvdyno_text *error);

/* ---- sessions ---- */

/* Memory that grows; Berkeley DB copies what it finds into it. */
typedef struct bdb_buffer {
    void *data;
    u_int32_t capacity;
} bdb_buffer;

/* 0 or ENOMEM; what the buffer held stays. */
int bdb_buffer_grow(bdb_buffer *buffer, size_t size);

struct kvdyno_session {
    kvdyno_database *database;
    DB_TXN *txn; /* the one that begin opened, or NULL */
    bdb_buffer value;
    DBT key, item; /* of a get, filled in once but for what changes */
    kvdyno_cursor *cursors; /* this session's */
    char error[640];
};

kvdyno_status bdb_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **session,
                               kvdyno_text *error);
void bdb_session_close(kvdyno_session *session);
void bdb_session_error(kvdyno_session *session, kvdyno_text *error);
kvdyno_status bdb_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value);
kvdyno_status bdb_put(kvdyno_session *session, const void *key, size_t key_size, const void *value, size_t value_size);
kvdyno_status bdb_remove(kvdyno_session *session, const void *key, size_t key_size);
kvdyno_status bdb_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count);
kvdyno_status bdb_read_modify_write(kvdyno_session *session, const void *key, size_t key_size, kvdyno_update_fn update,
                         void *context);
kvdyno_status bdb_begin(kvdyno_session *session, uint32_t kind);
kvdyno_status bdb_commit(kvdyno_session *session);
kvdyno_status bdb_abort(kvdyno_session *session);

/* Fills in a DBT that Berkeley DB reads from. EINVAL if it cannot express the size. */
int bdb_input(DBT *item, const void *data, size_t size);

/* What a finished call answers: OK, MISS, or the error, kept for session_error. A deadlock ends an open transaction. */
kvdyno_status bdb_answer(kvdyno_session *session, const char *what, int code);

/* Whether a call that failed with `code` is to be tried again: it lost a deadlock, and no transaction is open. */
bool bdb_try_again(kvdyno_session *session, int code, unsigned *tries);

/* ---- cursors ---- */

kvdyno_status bdb_cursor_open(kvdyno_session *session, kvdyno_cursor **cursor);
void bdb_cursor_close(kvdyno_cursor *cursor);
kvdyno_status bdb_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                              kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status bdb_cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status bdb_cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);

/* Makes the session's cursors let go of their pages; each goes on from its last key when it is next used. */
void bdb_park_cursors(kvdyno_session *session);

#endif
