/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * leveldb_adapter.h: what the parts of the LevelDB adapter share.
 */
#ifndef LEVELDB_ADAPTER_H
#define LEVELDB_ADAPTER_H

#include <leveldb/c.h>

#include "adapter.h"

/* The library's functions. leveldb/c.h lends their types; their addresses come from the library that a database names,
 * which may be one of LevelDB's descendants: they export the same names. */
#define FUNCTIONS(X)                                                                                                   \
    X(leveldb_open) X(leveldb_close) X(leveldb_get) X(leveldb_put) X(leveldb_delete) X(leveldb_write) X(leveldb_free)  \
    X(leveldb_property_value) X(leveldb_compact_range) X(leveldb_create_snapshot) X(leveldb_release_snapshot)          \
    X(leveldb_create_iterator) X(leveldb_iter_destroy) X(leveldb_iter_valid) X(leveldb_iter_seek_to_first)             \
    X(leveldb_iter_seek_to_last) X(leveldb_iter_seek) X(leveldb_iter_next) X(leveldb_iter_prev) X(leveldb_iter_key)    \
    X(leveldb_iter_value) X(leveldb_iter_get_error) X(leveldb_writebatch_create) X(leveldb_writebatch_destroy)         \
    X(leveldb_writebatch_clear) X(leveldb_writebatch_put) X(leveldb_writebatch_delete)                                 \
    X(leveldb_options_create) X(leveldb_options_destroy) X(leveldb_options_set_create_if_missing)                      \
    X(leveldb_options_set_error_if_exists) X(leveldb_options_set_write_buffer_size) X(leveldb_options_set_cache)       \
    X(leveldb_options_set_max_open_files) X(leveldb_options_set_block_size) X(leveldb_options_set_filter_policy)       \
    X(leveldb_options_set_block_restart_interval) X(leveldb_options_set_compression)                                   \
    X(leveldb_options_set_paranoid_checks) X(leveldb_filterpolicy_create_bloom) X(leveldb_filterpolicy_destroy)        \
    X(leveldb_readoptions_create) X(leveldb_readoptions_destroy) X(leveldb_readoptions_set_verify_checksums)           \
    X(leveldb_readoptions_set_fill_cache) X(leveldb_readoptions_set_snapshot) X(leveldb_writeoptions_create)           \
    X(leveldb_writeoptions_destroy) X(leveldb_writeoptions_set_sync) X(leveldb_cache_create_lru)                       \
    X(leveldb_cache_destroy)
/* These, older libraries do not have. */
#define OPTIONAL_FUNCTIONS(X)                                                                                          \
    X(leveldb_options_set_max_file_size) X(leveldb_major_version) X(leveldb_minor_version)

typedef struct leveldb_api {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
    OPTIONAL_FUNCTIONS(MEMBER)
#undef MEMBER
} leveldb_api;

struct kvdyno_database {
    leveldb_api api;
    leveldb_t *db;
    leveldb_cache_t *cache;
    leveldb_filterpolicy_t *filter;
    leveldb_writeoptions_t *write; /* as the durability level asks */
    leveldb_writeoptions_t *synced;
    leveldb_writebatch_t *nothing; /* an empty batch: written with `synced`, it syncs the log */
    uint32_t durability;
    bool verify_checksums, fill_cache;
    interval_syncer syncer;
    char syncer_error[256];
};

struct kvdyno_session {
    const leveldb_api *api;
    leveldb_t *db;
    leveldb_readoptions_t *read;         /* with the snapshot of a begun transaction, if there is one */
    char *value;                         /* what the last get handed out */
    char **values;                       /* what the last multi_get handed out */
    size_t value_count, value_capacity;  /* of `values` */
    const leveldb_snapshot_t *snapshot;  /* between begin and commit or abort */
    leveldb_writebatch_t *batch;
    kvdyno_database *database;
    char error[512];
};

/* Says what failed in LevelDB's words. Takes `problem`, which LevelDB allocated. */
kvdyno_status leveldb_explain(const leveldb_api *api, const char *what, char *problem, kvdyno_text *error);
/* The same, for session_error. */
kvdyno_status leveldb_fail(kvdyno_session *session, const char *what, char *problem);
/* A refusal of the adapter's own, for session_error. */
kvdyno_status leveldb_refuse(kvdyno_session *session, kvdyno_status status, const char *why);

/* The hooks of the session, in session.c, */
kvdyno_status leveldb_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
                                   kvdyno_text *error);
void leveldb_session_close(kvdyno_session *session);
void leveldb_session_error(kvdyno_session *session, kvdyno_text *error);
kvdyno_status leveldb_session_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value);
kvdyno_status leveldb_session_multi_get(kvdyno_session *session, const kvdyno_bytes *keys, size_t count,
                                        kvdyno_bytes *values, kvdyno_status *statuses);
kvdyno_status leveldb_session_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                                  size_t value_size);
kvdyno_status leveldb_session_remove(kvdyno_session *session, const void *key, size_t key_size);
kvdyno_status leveldb_session_write(kvdyno_session *session, const kvdyno_step *steps, size_t count);
kvdyno_status leveldb_session_begin(kvdyno_session *session, uint32_t kind);
kvdyno_status leveldb_session_end(kvdyno_session *session);
/* and of the cursor, in cursor.c. */
kvdyno_status leveldb_cursor_open(kvdyno_session *session, kvdyno_cursor **opened);
void leveldb_cursor_close(kvdyno_cursor *cursor);
kvdyno_status leveldb_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                  kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status leveldb_cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status leveldb_cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);

#endif
