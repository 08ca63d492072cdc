/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * tokuft.h: what the files of the TokuFT adapter share.
 *
 *   adapter.c      the engine as kvdyno sees it: options, capabilities, the table of functions
 *   library.c      finding libtokufractaltree; which syncs are left out
 *   settings.c     from kvdyno's settings to an environment's
 *   environment.c  open and close, syncing in the background, errors
 *   session.c      reads, writes, batches, transactions
 *   cursor.c       scans
 *   statistics.c   TokuFT's own figures
 *
 * It is built by build.sh against the db.h that the library's own build has generated: that header's structs are full
 * of methods, and their order is that of this library alone. No file here is called tokuft.c, so the Makefile of the
 * adapters passes the folder by.
 */
#ifndef KVDYNO_TOKUFT_H
#define KVDYNO_TOKUFT_H

#include <errno.h>
#include <stdint.h>
#include <db.h>

#include "adapter.h"

/* ---- the library ---- */

/* What is called by name; all else are members of the handles. */
typedef struct tokuft_library {
    int (*env_create)(DB_ENV **env, uint32_t flags);
    int (*db_create)(DB **db, DB_ENV *env, uint32_t flags);
    const char *(*version)(int *major, int *minor, int *patch);
    const char *(*error_text)(int error);
    void (*set_direct_io)(bool on);
    void (*set_compress_buffers)(bool on);
    void (*set_fsync)(int (*sync)(int fd));
    uint64_t (*read_counter)(struct partitioned_counter *counter); /* or NULL */
} tokuft_library;

kvdyno_status tokuft_library_open(const char *chosen, tokuft_library *library, kvdyno_text *error);
/* Makes the adapter the one who syncs for the library, so that it can leave a sync out. */
void tokuft_answer_syncs(const tokuft_library *library);
/* A commit that, with `unsynced`, writes the log but does not sync it. */
int tokuft_commit(DB_TXN *txn, uint32_t flags, bool unsynced);

/* ---- options, in the order in which they are declared ---- */

enum {
    NODE_SIZE,
    BASEMENT_SIZE,
    FANOUT,
    CODEC,
    CHECKPOINT_SECONDS,
    CLEANER_SECONDS,
    CLEANER_ITERATIONS,
    PARTIAL_EVICTION,
    COMPRESS_EVICTED,
    DIRECT_IO,
    LOG_FILE_SIZE,
    LOCK_TIMEOUT_MS,
    LOCK_MEMORY,
    CLIENT_THREADS,
    CACHE_THREADS,
    CHECKPOINT_THREADS,
    REDZONE,
    CHECK_HUGE_PAGES,
    OPTION_COUNT
};

int64_t tokuft_integer(const kvdyno_config *config, int option);
/* The method of compression, or -1 if the settings contradict each other; its name. */
int tokuft_method(const kvdyno_config *config, const char **name);
kvdyno_status tokuft_check(const kvdyno_config *config, kvdyno_text *error);
kvdyno_status tokuft_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error);
/* These answer a code of TokuFT's. */
int tokuft_set_environment(DB_ENV *env, const tokuft_library *library, const kvdyno_config *config);
int tokuft_set_periods(DB_ENV *env, const kvdyno_config *config);
int tokuft_set_table(DB *db, const kvdyno_config *config);

/* ---- a database ---- */

struct kvdyno_database {
    tokuft_library library;
    DB_ENV *env;
    DB *db;
    engine_message message; /* what TokuFT last told its error callback */
    char *path;
    uint32_t commit_flags;
    bool unsynced;          /* a commit writes the log and does not sync it */
    pthread_mutex_t sync_lock;
    uint64_t synced_log;    /* the number of the newest log file that was synced, under sync_lock */
    periodic_syncer syncer;
};

kvdyno_status tokuft_open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error);
kvdyno_status tokuft_close(kvdyno_database *database, kvdyno_text *error);
kvdyno_status tokuft_flush(kvdyno_database *database, kvdyno_text *error);
kvdyno_status tokuft_compact(kvdyno_database *database, kvdyno_text *error);
kvdyno_status tokuft_statistics(kvdyno_database *database, kvdyno_emit emit, void *context);
/* Writes "what: TokuFT's text for the code: its last message" and returns the status that the code amounts to. */
kvdyno_status tokuft_explain(kvdyno_database *database, const char *what, int code, kvdyno_text *error);

/* ---- sessions ---- */

struct kvdyno_session {
    kvdyno_database *database;
    DB_ENV *env;
    DB *db;
    DB_TXN *txn; /* the one that begin opened, or NULL */
    bool writing; /* and it is for writing */
    growing value;
    size_t value_size;
    DBT key; /* of a get, filled in once but for what changes */
    kvdyno_cursor *cursors;
    char error[640];
};

/* What a finished call answers: OK, MISS, or the error, kept for session_error. A lost lock ends a transaction. */
kvdyno_status tokuft_answer(kvdyno_session *session, const char *what, int code);
kvdyno_status tokuft_refuse(kvdyno_session *session, kvdyno_status status, const char *why);
/* A transaction that sees the state of now and locks nothing. */
int tokuft_begin_snapshot(kvdyno_session *session, DB_TXN **txn);
/* Fills in a DBT that TokuFT reads from. EINVAL if it cannot express the size. */
int tokuft_input(DBT *item, const void *data, size_t size);

kvdyno_status tokuft_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
                                  kvdyno_text *error);
void tokuft_session_close(kvdyno_session *session);
void tokuft_session_error(kvdyno_session *session, kvdyno_text *error);
kvdyno_status tokuft_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value);
kvdyno_status tokuft_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                         size_t value_size);
kvdyno_status tokuft_remove(kvdyno_session *session, const void *key, size_t key_size);
kvdyno_status tokuft_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count);
kvdyno_status tokuft_read_modify_write(kvdyno_session *session, const void *key, size_t key_size, kvdyno_update_fn update,
                            void *context);
kvdyno_status tokuft_begin(kvdyno_session *session, uint32_t kind);
kvdyno_status tokuft_end_commit(kvdyno_session *session);
kvdyno_status tokuft_end_abort(kvdyno_session *session);

/* ---- cursors ---- */

/* To be called before the session's transaction ends: a cursor must not outlive the one that it looks into. */
void tokuft_leave_transaction(kvdyno_session *session);

kvdyno_status tokuft_cursor_open(kvdyno_session *session, kvdyno_cursor **opened);
void tokuft_cursor_close(kvdyno_cursor *cursor);
kvdyno_status tokuft_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                 kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status tokuft_cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status tokuft_cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);

#endif
