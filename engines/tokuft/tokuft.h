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

#include "handles.h"

/* ---- the library ---- */

typedef struct tokuft_library {
    HANDLE_FUNCTIONS(API_MEMBER)
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

extern const kvdyno_option tokuft_options[OPTION_COUNT];
/* The method of compression, or -1 if the settings contradict each other; its name. */
int tokuft_method(const kvdyno_config *config, const char **name);
kvdyno_status tokuft_check(const kvdyno_config *config, kvdyno_text *error);
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
    bool unsynced; /* a commit writes the log and does not sync it */
    pthread_mutex_t sync_lock;
    uint64_t synced_log; /* the number of the newest log file that was synced, under sync_lock */
    periodic_syncer syncer;
};

/* Writes "what: TokuFT's text for the code: its last message" and returns the status that the code amounts to. */
kvdyno_status tokuft_explain(kvdyno_database *database, const char *what, int code, kvdyno_text *error);

/* ---- sessions and cursors ---- */

struct kvdyno_session {
    DB_ENV *env;
    DB *db;
    DB_TXN *txn; /* the one that begin opened, or NULL */
    growing value;
    size_t value_size;
    DBT key; /* of a get, filled in once but for what changes */
    SESSION_MEMBERS;
};

/* A transaction that sees the state of now and locks nothing. */
int tokuft_begin_snapshot(kvdyno_session *session, DB_TXN **txn);
/* To be called before the session's transaction ends: a cursor must not outlive the one that it looks into. */
void tokuft_leave_transaction(kvdyno_session *session);

#endif
