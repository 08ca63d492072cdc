/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * bdb.h: what the files of the Berkeley DB adapter share.
 *
 *   bdb.c          the engine as kvdyno sees it: options, capabilities, the table of functions
 *   library.c      finding and checking libdb
 *   settings.c     from kvdyno's settings to an environment's
 *   db_config.c    settings in Berkeley DB's own words
 *   table.c        page size, order and partitions of the table
 *   environment.c  open and close; the background threads; errors
 *   session.c      reads, writes, batches, transactions
 *   cursor.c       scans
 *   statistics.c   Berkeley DB's own figures
 */
#ifndef KVDYNO_BDB_H
#define KVDYNO_BDB_H

#include "handles.h"

/* ---- the library ---- */

typedef struct bdb_library {
    void *handle;
    HANDLE_FUNCTIONS(API_MEMBER)
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
    BDB_CHECKPOINT_KIB,
    BDB_LOCK_PARTITIONS,
    BDB_DIRECT_IO,
    BDB_LOG_BUFFER,
    BDB_LOG_DSYNC,
    BDB_COMPARATOR,
    BDB_PARTITIONS,
    BDB_DB_CONFIG,
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
    bool snapshot; /* versions of pages are kept, and reads lock nothing */
    bool shared;   /* other processes may use the environment */
    bool log_auto_remove;
    uint32_t durability; /* of sessions that say no other */
    u_int32_t checkpoint_kib;
    bdb_order order;
    size_t value_hint; /* bytes a session's buffer begins with */
    periodic_syncer log_syncer;
    periodic_syncer checkpointer;
    process_turn turn;      /* which process does what these two threads do */
    periodic_syncer parker; /* see cursor.c */
    pthread_mutex_t cursors_lock;
    kvdyno_cursor *cursors; /* every open cursor, under cursors_lock */
};

#define BDB_POLL_MS 500u /* how often it is looked whether a checkpoint is due, and whether a process died */

/* The settings of an environment, made of a kvdyno_config. */
typedef struct bdb_plan {
    uint64_t cache; /* as given to set_cachesize */
    int cache_regions;
    uint64_t log_buffer, log_file;
    u_int32_t durability; /* a flag of the environment, or 0 */
    u_int32_t lockers, locks, transactions;
    bool shared;       /* other processes may use the environment */
    u_int32_t threads; /* that can be in Berkeley DB at once, in all processes; 0 if none need be watched */
} bdb_plan;

uint64_t bdb_at_most(uint64_t value, uint64_t limit);
kvdyno_status bdb_make_plan(const kvdyno_config *config, bdb_plan *plan, kvdyno_text *error);

/* These answer a code of Berkeley DB. Nothing on the storage is touched. */
int bdb_make_environment(const bdb_library *library, engine_message *message, DB_ENV **env);
int bdb_set_all(DB_ENV *env, const kvdyno_config *config, const bdb_plan *plan);
int bdb_set_table(DB *db, const kvdyno_config *config);
void bdb_say_table(const kvdyno_config *config, kvdyno_emit emit, void *context);
/* Settings in Berkeley DB's own words, which it reads from the file DB_CONFIG when it opens an environment. */
bool bdb_has_db_config(const kvdyno_config *config);
bool bdb_refuses_db_config(const kvdyno_config *config, kvdyno_text *error);
/* Writes the file into a folder, or removes one that another configuration left. An errno of the system. */
int bdb_write_db_config(const kvdyno_config *config, const char *folder);
/* Lets Berkeley DB read it, for an environment in a temporary folder. */
int bdb_try_db_config(const kvdyno_config *config, const bdb_library *library, engine_message *message);
bdb_order bdb_order_of(const kvdyno_config *config);
bool bdb_is_partitioned(const kvdyno_config *config);

/* Writes "what: Berkeley DB's text for the code: its last message" and returns the status that the code amounts to. */
kvdyno_status bdb_explain_with(const bdb_library *library, engine_message *message, const char *what, int code,
                               kvdyno_text *error);
kvdyno_status bdb_explain(kvdyno_database *database, const char *what, int code, kvdyno_text *error);

/* ---- sessions ---- */

struct kvdyno_session {
    DB_TXN *txn;   /* the one that begin opened, or NULL */
    u_int32_t own; /* how its transactions are committed, as flags of theirs; 0: as those of the environment */
    DBT key, item; /* of a get; `item` has the memory that values are copied to */
    growing value; /* that memory */
    SESSION_MEMBERS;
};

/* ---- cursors ---- */

/* Bytes that Berkeley DB may write to. */
static inline u_int32_t bdb_capacity(const growing *memory)
{
    return memory->capacity < UINT32_MAX ? (u_int32_t)memory->capacity : UINT32_MAX;
}

/* Makes the session's cursors let go of their pages; each goes on from its last key when it is next used. */
void bdb_park_cursors(kvdyno_session *session);

#endif
