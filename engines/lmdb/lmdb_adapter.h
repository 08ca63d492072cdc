/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * lmdb_adapter.h: what the parts of the LMDB adapter share.
 */
#ifndef LMDB_ADAPTER_H
#define LMDB_ADAPTER_H

#include <errno.h>
#include <lmdb.h>

#include "adapter.h"

/* The library's functions. lmdb.h lends their types; their addresses come from the library that a database names. */
#define FUNCTIONS(X)                                                                                                   \
    X(mdb_version) X(mdb_strerror) X(mdb_env_create) X(mdb_env_open) X(mdb_env_close) X(mdb_env_sync)                  \
    X(mdb_env_stat) X(mdb_env_info) X(mdb_env_set_mapsize) X(mdb_env_set_maxreaders) X(mdb_reader_check)               \
    X(mdb_txn_begin) X(mdb_txn_commit) X(mdb_txn_abort) X(mdb_txn_reset) X(mdb_txn_renew) X(mdb_dbi_open)              \
    X(mdb_get) X(mdb_put) X(mdb_del) X(mdb_cursor_open) X(mdb_cursor_close) X(mdb_cursor_renew) X(mdb_cursor_get)

typedef struct lmdb_api {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} lmdb_api;

struct kvdyno_database {
    lmdb_api api;
    MDB_env *env;
    MDB_dbi dbi;
    unsigned append; /* MDB_APPEND or 0 */
    periodic_syncer syncer;
    process_turn turn;
};

struct kvdyno_session {
    const lmdb_api *api;
    MDB_txn *current; /* what reads go to: `reader`, or the transaction that was begun for writing */
    MDB_txn *reader;
    MDB_dbi dbi;
    bool begun;  /* between begin and commit or abort: nothing is renewed */
    bool broken; /* a batch failed half-way in a begun transaction: it can only be aborted */
    kvdyno_database *database;
    kvdyno_cursor *cursors;
    char error[256];
};

struct kvdyno_cursor {
    kvdyno_session *session;
    kvdyno_cursor *next;
    MDB_txn *txn;      /* its own, renewed at each seek outside a begun transaction */
    MDB_cursor *own;   /* in `txn` */
    MDB_cursor *begun; /* in the session's begun transaction, or NULL */
    MDB_cursor *at;    /* whichever of them was sought last; NULL: none, or its transaction has ended */
};

/* Says what failed in LMDB's words, and what to do where the map is full. */
kvdyno_status lmdb_explain(const lmdb_api *api, const char *what, int code, kvdyno_text *error);
/* The same, for session_error. */
kvdyno_status lmdb_fail(kvdyno_session *session, const char *what, int code);
/* A refusal of the adapter's own, for session_error. */
kvdyno_status lmdb_refuse(kvdyno_session *session, kvdyno_status status, const char *why);
/* To be called before the session's begun transaction ends. */
void lmdb_end_cursors(kvdyno_session *session);

/* What the last read handed out is borrowed no longer. To reset a transaction that is reset already does no harm. */
static inline void settle(kvdyno_session *session)
{
    if (!session->begun)
        session->api->mdb_txn_reset(session->reader);
}

/* As settle, and the next read sees the last commit. */
static inline int refresh(kvdyno_session *session)
{
    if (session->begun)
        return 0;
    session->api->mdb_txn_reset(session->reader);
    return session->api->mdb_txn_renew(session->reader);
}

/* A block device instead of a folder, in device.c: whether `path` is one, whether it is blank or holds a database as
 * `create` wants it, whether this version can use it so, and the largest map that fits into it, 0 if that is not known. */
bool lmdb_is_device(const char *path);
bool lmdb_device_as_expected(const kvdyno_config *config, kvdyno_text *error);
bool lmdb_can_use_device(const lmdb_api *api, bool writemap, kvdyno_text *error);
uint64_t lmdb_device_map(const char *path);
kvdyno_status lmdb_destroy(const kvdyno_config *config, kvdyno_text *error);

/* In statistics.c. */
kvdyno_status lmdb_statistics(kvdyno_database *database, kvdyno_emit emit, void *context);

/* The hooks of the session, in session.c, */
kvdyno_status lmdb_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
                                kvdyno_text *error);
void lmdb_session_close(kvdyno_session *session);
void lmdb_session_error(kvdyno_session *session, kvdyno_text *error);
kvdyno_status lmdb_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value);
kvdyno_status lmdb_multi_get(kvdyno_session *session, const kvdyno_bytes *keys, size_t count, kvdyno_bytes *values,
                             kvdyno_status *statuses);
kvdyno_status lmdb_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                       size_t value_size);
kvdyno_status lmdb_remove(kvdyno_session *session, const void *key, size_t key_size);
kvdyno_status lmdb_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count);
kvdyno_status lmdb_read_modify_write(kvdyno_session *session, const void *key, size_t key_size, kvdyno_update_fn update,
                          void *context);
kvdyno_status lmdb_begin(kvdyno_session *session, uint32_t kind);
kvdyno_status lmdb_commit(kvdyno_session *session);
kvdyno_status lmdb_abort(kvdyno_session *session);
/* and of the cursor, in cursor.c. */
kvdyno_status lmdb_cursor_open(kvdyno_session *session, kvdyno_cursor **opened);
void lmdb_cursor_close(kvdyno_cursor *cursor);
kvdyno_status lmdb_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                               kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status lmdb_cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status lmdb_cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);

#endif
