/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * mdbx_adapter.h: what the parts of the libmdbx adapter share.
 */
#ifndef MDBX_ADAPTER_H
#define MDBX_ADAPTER_H

#include <errno.h>

#include "adapter.h"
#include "api.h"

/* The library's functions; their addresses come from the library that a database names. */
typedef struct mx_api {
#define FUNCTION_MEMBER(type, name, arguments) type(*name) arguments;
    MDBX_FUNCTIONS(FUNCTION_MEMBER)
#undef FUNCTION_MEMBER
    const MDBX_version_info *version;
} mx_api;

/* With pages of 4 KiB; larger ones would take longer keys, but a limit should not depend on an option. */
#define MOST_KEY_BYTES 2022

/* The options, in settings.c. */
enum {
    SIZE_UPPER, GROWTH_STEP, PAGE_SIZE, SYNC_MODE, WRITEMAP, READAHEAD, MEMINIT, LIFORECLAIM, TXN_DP_LIMIT, APPEND,
    OPTION_COUNT
};
extern const kvdyno_option mx_options[OPTION_COUNT];

/* What a configuration comes to. */
typedef struct mx_plan {
    intptr_t size_upper, growth_step, page_size; /* -1: libmdbx's own default */
    unsigned flags;                              /* of mdbx_env_open */
    unsigned max_readers;
    uint64_t txn_dp_limit; /* pages; UINT64_MAX: libmdbx's own default */
} mx_plan;

struct kvdyno_database {
    mx_api api;
    MDBX_env *env;
    MDBX_dbi dbi;
    unsigned append; /* MDBX_APPEND or 0 */
    periodic_syncer syncer;
};

struct kvdyno_session {
    const mx_api *api;
    MDBX_txn *current; /* what reads go to: `reader`, or the transaction that was begun for writing */
    MDBX_txn *reader;
    MDBX_dbi dbi;
    bool begun;  /* between begin and commit or abort: nothing is renewed */
    bool broken; /* a batch failed half-way in a begun transaction: it can only be aborted */
    kvdyno_database *database;
    kvdyno_cursor *cursors;
    char error[256];
};

/* Finds the library and its functions; false, and why, if there is none or it is another. */
bool mx_load(const char *chosen, mx_api *api, kvdyno_text *error);
/* Works out what `config` comes to; false, and why, if it cannot be honoured. */
bool mx_make_plan(const kvdyno_config *config, mx_plan *plan, kvdyno_text *error);
/* Says what failed in libmdbx's words, and what to do where the map is full. */
kvdyno_status mx_explain(const mx_api *api, const char *what, int code, kvdyno_text *error);
/* The same, for session_error. */
kvdyno_status mx_fail(kvdyno_session *session, const char *what, int code);
/* A refusal of the adapter's own, for session_error. */
kvdyno_status mx_refuse(kvdyno_session *session, kvdyno_status status, const char *why);
/* To be called before the session's begun transaction ends. */
void mx_end_cursors(kvdyno_session *session);

/* What the last read handed out is borrowed no longer. To reset a transaction that is reset already does no harm. */
static inline void settle(kvdyno_session *session)
{
    if (!session->begun)
        session->api->mdbx_txn_reset(session->reader);
}

/* The next read of `reader` sees the last commit, also if it was reset. libmdbx says whether there was a newer one. */
static inline int refresh(const mx_api *api, MDBX_txn *reader)
{
    int code = api->mdbx_txn_refresh(reader);
    return __builtin_expect(code == MDBX_RESULT_TRUE, 1) ? 0 : code;
}

/* The hooks, of settings.c, */
kvdyno_status mx_probe(const char *library, kvdyno_text *version, kvdyno_text *error);
kvdyno_status mx_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error);
/* of environment.c, */
kvdyno_status mx_open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error);
kvdyno_status mx_close(kvdyno_database *database, kvdyno_text *error);
kvdyno_status mx_flush(kvdyno_database *database, kvdyno_text *error);
kvdyno_status mx_compact(kvdyno_database *database, kvdyno_text *error);
kvdyno_status mx_statistics(kvdyno_database *database, kvdyno_emit emit, void *context);
/* of session.c, */
kvdyno_status mx_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
                                kvdyno_text *error);
void mx_session_close(kvdyno_session *session);
void mx_session_error(kvdyno_session *session, kvdyno_text *error);
kvdyno_status mx_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value);
kvdyno_status mx_multi_get(kvdyno_session *session, const kvdyno_bytes *keys, size_t count, kvdyno_bytes *values,
                             kvdyno_status *statuses);
kvdyno_status mx_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                         size_t value_size);
kvdyno_status mx_remove(kvdyno_session *session, const void *key, size_t key_size);
kvdyno_status mx_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count);
kvdyno_status mx_read_modify_write(kvdyno_session *session, const void *key, size_t key_size, kvdyno_update_fn update,
                          void *context);
kvdyno_status mx_begin(kvdyno_session *session, uint32_t kind);
kvdyno_status mx_commit(kvdyno_session *session);
kvdyno_status mx_abort(kvdyno_session *session);
/* and of cursor.c. */
kvdyno_status mx_cursor_open(kvdyno_session *session, kvdyno_cursor **opened);
void mx_cursor_close(kvdyno_cursor *cursor);
kvdyno_status mx_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                        kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status mx_cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status mx_cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);

#endif
