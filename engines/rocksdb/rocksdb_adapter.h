/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * rocksdb_adapter.h: what the parts of the RocksDB adapter share. It declares the C functions itself, so that one build
 * serves every version from 5.7 on; no header of RocksDB's is needed.
 */
#ifndef ROCKSDB_ADAPTER_H
#define ROCKSDB_ADAPTER_H

#include "adapter.h"

/* ---- RocksDB's C API, as far as it is used ---- */

typedef struct rocksdb_t rocksdb_t;
typedef struct rocksdb_cache_t rocksdb_cache_t;
typedef struct rocksdb_filterpolicy_t rocksdb_filterpolicy_t;
typedef struct rocksdb_flushoptions_t rocksdb_flushoptions_t;
typedef struct rocksdb_iterator_t rocksdb_iterator_t;
typedef struct rocksdb_options_t rocksdb_options_t;
typedef struct rocksdb_pinnableslice_t rocksdb_pinnableslice_t;
typedef struct rocksdb_readoptions_t rocksdb_readoptions_t;
typedef struct rocksdb_snapshot_t rocksdb_snapshot_t;
typedef struct rocksdb_table_options_t rocksdb_table_options_t; /* block-based */
typedef struct rocksdb_writebatch_t rocksdb_writebatch_t;
typedef struct rocksdb_writeoptions_t rocksdb_writeoptions_t;

#define FUNCTIONS(X)                                                                                                   \
    X(rocksdb_t *, rocksdb_open, (const rocksdb_options_t *, const char *, char **))                                   \
    X(void, rocksdb_close, (rocksdb_t *))                                                                              \
    X(void, rocksdb_destroy_db, (const rocksdb_options_t *, const char *, char **))                                    \
    X(void, rocksdb_free, (void *))                                                                                    \
    X(char *, rocksdb_property_value, (rocksdb_t *, const char *))                                                     \
    X(void, rocksdb_compact_range, (rocksdb_t *, const char *, size_t, const char *, size_t))                          \
    X(void, rocksdb_flush, (rocksdb_t *, const rocksdb_flushoptions_t *, char **))                                     \
    X(rocksdb_flushoptions_t *, rocksdb_flushoptions_create, (void))                                                   \
    X(void, rocksdb_flushoptions_destroy, (rocksdb_flushoptions_t *))                                                  \
    X(void, rocksdb_flushoptions_set_wait, (rocksdb_flushoptions_t *, unsigned char))                                  \
    /* reading and writing */                                                                                          \
    X(char *, rocksdb_get, (rocksdb_t *, const rocksdb_readoptions_t *, const char *, size_t, size_t *, char **))      \
    X(void, rocksdb_multi_get, (rocksdb_t *, const rocksdb_readoptions_t *, size_t, const char *const *,               \
                                const size_t *, char **, size_t *, char **))                                           \
    X(void, rocksdb_put, (rocksdb_t *, const rocksdb_writeoptions_t *, const char *, size_t, const char *, size_t,     \
                          char **))                                                                                    \
    X(void, rocksdb_delete, (rocksdb_t *, const rocksdb_writeoptions_t *, const char *, size_t, char **))              \
    X(void, rocksdb_write, (rocksdb_t *, const rocksdb_writeoptions_t *, rocksdb_writebatch_t *, char **))             \
    X(rocksdb_writebatch_t *, rocksdb_writebatch_create, (void))                                                       \
    X(void, rocksdb_writebatch_destroy, (rocksdb_writebatch_t *))                                                      \
    X(void, rocksdb_writebatch_clear, (rocksdb_writebatch_t *))                                                        \
    X(void, rocksdb_writebatch_put, (rocksdb_writebatch_t *, const char *, size_t, const char *, size_t))              \
    X(void, rocksdb_writebatch_delete, (rocksdb_writebatch_t *, const char *, size_t))                                 \
    X(const rocksdb_snapshot_t *, rocksdb_create_snapshot, (rocksdb_t *))                                              \
    X(void, rocksdb_release_snapshot, (rocksdb_t *, const rocksdb_snapshot_t *))                                       \
    /* iterators */                                                                                                    \
    X(rocksdb_iterator_t *, rocksdb_create_iterator, (rocksdb_t *, const rocksdb_readoptions_t *))                     \
    X(void, rocksdb_iter_destroy, (rocksdb_iterator_t *))                                                              \
    X(unsigned char, rocksdb_iter_valid, (const rocksdb_iterator_t *))                                                 \
    X(void, rocksdb_iter_seek_to_first, (rocksdb_iterator_t *))                                                        \
    X(void, rocksdb_iter_seek_to_last, (rocksdb_iterator_t *))                                                         \
    X(void, rocksdb_iter_seek, (rocksdb_iterator_t *, const char *, size_t))                                           \
    X(void, rocksdb_iter_seek_for_prev, (rocksdb_iterator_t *, const char *, size_t))                                  \
    X(void, rocksdb_iter_next, (rocksdb_iterator_t *))                                                                 \
    X(void, rocksdb_iter_prev, (rocksdb_iterator_t *))                                                                 \
    X(const char *, rocksdb_iter_key, (const rocksdb_iterator_t *, size_t *))                                          \
    X(const char *, rocksdb_iter_value, (const rocksdb_iterator_t *, size_t *))                                        \
    X(void, rocksdb_iter_get_error, (const rocksdb_iterator_t *, char **))                                             \
    /* options */                                                                                                      \
    X(rocksdb_options_t *, rocksdb_options_create, (void))                                                             \
    X(void, rocksdb_options_destroy, (rocksdb_options_t *))                                                            \
    X(void, rocksdb_options_set_create_if_missing, (rocksdb_options_t *, unsigned char))                               \
    X(void, rocksdb_options_set_error_if_exists, (rocksdb_options_t *, unsigned char))                                 \
    X(void, rocksdb_options_set_block_based_table_factory, (rocksdb_options_t *, rocksdb_table_options_t *))           \
    X(void, rocksdb_options_set_write_buffer_size, (rocksdb_options_t *, size_t))                                      \
    X(void, rocksdb_options_set_compression, (rocksdb_options_t *, int))                                               \
    X(void, rocksdb_options_set_max_open_files, (rocksdb_options_t *, int))                                            \
    X(void, rocksdb_options_set_max_write_buffer_number, (rocksdb_options_t *, int))                                   \
    X(void, rocksdb_options_set_target_file_size_base, (rocksdb_options_t *, uint64_t))                                \
    X(void, rocksdb_options_set_level0_file_num_compaction_trigger, (rocksdb_options_t *, int))                        \
    X(void, rocksdb_options_set_compaction_style, (rocksdb_options_t *, int))                                          \
    X(void, rocksdb_options_set_use_direct_reads, (rocksdb_options_t *, unsigned char))                                \
    X(void, rocksdb_options_set_use_direct_io_for_flush_and_compaction, (rocksdb_options_t *, unsigned char))          \
    X(void, rocksdb_options_set_allow_mmap_reads, (rocksdb_options_t *, unsigned char))                                \
    X(void, rocksdb_options_set_allow_mmap_writes, (rocksdb_options_t *, unsigned char))                               \
    X(void, rocksdb_options_enable_statistics, (rocksdb_options_t *))                                                  \
    X(char *, rocksdb_options_statistics_get_string, (rocksdb_options_t *))                                            \
    X(rocksdb_table_options_t *, rocksdb_block_based_options_create, (void))                                           \
    X(void, rocksdb_block_based_options_destroy, (rocksdb_table_options_t *))                                          \
    X(void, rocksdb_block_based_options_set_block_size, (rocksdb_table_options_t *, size_t))                           \
    X(void, rocksdb_block_based_options_set_block_cache, (rocksdb_table_options_t *, rocksdb_cache_t *))               \
    X(void, rocksdb_block_based_options_set_filter_policy, (rocksdb_table_options_t *, rocksdb_filterpolicy_t *))      \
    X(void, rocksdb_block_based_options_set_cache_index_and_filter_blocks, (rocksdb_table_options_t *, unsigned char)) \
    X(rocksdb_filterpolicy_t *, rocksdb_filterpolicy_create_bloom_full, (int, double))                                 \
    X(rocksdb_cache_t *, rocksdb_cache_create_lru, (size_t))                                                           \
    X(void, rocksdb_cache_destroy, (rocksdb_cache_t *))                                                                \
    X(rocksdb_readoptions_t *, rocksdb_readoptions_create, (void))                                                     \
    X(void, rocksdb_readoptions_destroy, (rocksdb_readoptions_t *))                                                    \
    X(void, rocksdb_readoptions_set_verify_checksums, (rocksdb_readoptions_t *, unsigned char))                        \
    X(void, rocksdb_readoptions_set_fill_cache, (rocksdb_readoptions_t *, unsigned char))                              \
    X(void, rocksdb_readoptions_set_snapshot, (rocksdb_readoptions_t *, const rocksdb_snapshot_t *))                   \
    X(rocksdb_writeoptions_t *, rocksdb_writeoptions_create, (void))                                                   \
    X(void, rocksdb_writeoptions_destroy, (rocksdb_writeoptions_t *))                                                  \
    X(void, rocksdb_writeoptions_set_sync, (rocksdb_writeoptions_t *, unsigned char))                                  \
    X(void, rocksdb_writeoptions_disable_WAL, (rocksdb_writeoptions_t *, int))
/* Not in every version: what needs one that is not there is refused when a database is opened, or done without it. */
#define OPTIONAL_FUNCTIONS(X)                                                                                          \
    X(rocksdb_pinnableslice_t *, rocksdb_get_pinned, (rocksdb_t *, const rocksdb_readoptions_t *, const char *,        \
                                                      size_t, char **))                                                \
    X(const char *, rocksdb_pinnableslice_value, (const rocksdb_pinnableslice_t *, size_t *))                          \
    X(void, rocksdb_pinnableslice_destroy, (rocksdb_pinnableslice_t *))                                                \
    X(void, rocksdb_flush_wal, (rocksdb_t *, unsigned char, char **))                                                  \
    X(void, rocksdb_options_set_bottommost_compression, (rocksdb_options_t *, int))                                    \
    X(void, rocksdb_options_set_max_background_jobs, (rocksdb_options_t *, int))                                       \
    X(void, rocksdb_options_set_enable_pipelined_write, (rocksdb_options_t *, unsigned char))                          \
    X(void, rocksdb_options_set_unordered_write, (rocksdb_options_t *, unsigned char))

typedef struct rocksdb_api {
#define MEMBER(type, name, arguments) type(*name) arguments;
    FUNCTIONS(MEMBER)
    OPTIONAL_FUNCTIONS(MEMBER)
#undef MEMBER
} rocksdb_api;

/* ---- the options, in the order in which they are declared ---- */

enum {
    BLOCK_SIZE, BLOOM_BITS, CACHE_INDEX_AND_FILTER_BLOCKS, MAX_BACKGROUND_JOBS, MAX_OPEN_FILES,
    MAX_WRITE_BUFFER_NUMBER, TARGET_FILE_SIZE_BASE, LEVEL0_TRIGGER, COMPACTION_STYLE, DIRECT_READS,
    DIRECT_IO_FLUSH_COMPACTION, MMAP_READS, MMAP_WRITES, PIPELINED_WRITE, UNORDERED_WRITE, VERIFY_CHECKSUMS, FILL_CACHE,
    STATISTICS, OPTION_COUNT
};

/* ---- the database and its sessions ---- */

struct kvdyno_database {
    rocksdb_api api;
    rocksdb_t *db;
    rocksdb_options_t *options; /* kept: the statistics are read from it */
    rocksdb_cache_t *cache;
    rocksdb_writeoptions_t *write;
    rocksdb_flushoptions_t *flush;
    uint32_t durability;
    bool mmap_writes, verify_checksums, fill_cache, statistics;
    interval_syncer syncer;
    char syncer_error[256];
};

struct kvdyno_session {
    const rocksdb_api *api;
    rocksdb_t *db;
    rocksdb_readoptions_t *read;        /* with the snapshot of a begun transaction, if there is one */
    rocksdb_pinnableslice_t *pinned;    /* what the last get handed out, */
    char *copied;                       /* or this, where the library cannot pin */
    const rocksdb_snapshot_t *snapshot; /* between begin and commit or abort */
    rocksdb_writebatch_t *batch;
    struct many {
        const char **keys;
        size_t *key_sizes, *value_sizes;
        char **values, **problems;
        size_t capacity, count; /* values that the last multi_get handed out */
    } many;
    kvdyno_database *database;
    char error[512];
};

/* library.c */
bool rdb_load(const char *chosen, rocksdb_api *api, void **library, kvdyno_text *error);
kvdyno_status rdb_probe(const char *library, kvdyno_text *version, kvdyno_text *error);

/* rocksdb.c: refuses what cannot be honoured, in `settings` and in `open`. */
bool rdb_acceptable(const kvdyno_config *config, kvdyno_text *error);

/* database.c */
kvdyno_status rdb_open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error);
kvdyno_status rdb_close(kvdyno_database *database, kvdyno_text *error);
kvdyno_status rdb_flush(kvdyno_database *database, kvdyno_text *error);
kvdyno_status rdb_compact(kvdyno_database *database, kvdyno_text *error);
kvdyno_status rdb_wait_idle(kvdyno_database *database, kvdyno_text *error);
kvdyno_status rdb_statistics(kvdyno_database *database, kvdyno_emit emit, void *context);
/* Says what failed in RocksDB's words. Takes `problem`, which RocksDB allocated. */
kvdyno_status rdb_explain(const rocksdb_api *api, const char *what, char *problem, kvdyno_text *error);

/* session.c */
kvdyno_status rdb_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
                               kvdyno_text *error);
void rdb_session_close(kvdyno_session *session);
void rdb_session_error(kvdyno_session *session, kvdyno_text *error);
kvdyno_status rdb_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value);
kvdyno_status rdb_multi_get(kvdyno_session *session, const kvdyno_bytes *keys, size_t count, kvdyno_bytes *values,
                            kvdyno_status *statuses);
kvdyno_status rdb_put(kvdyno_session *session, const void *key, size_t key_size, const void *value, size_t value_size);
kvdyno_status rdb_remove(kvdyno_session *session, const void *key, size_t key_size);
kvdyno_status rdb_write(kvdyno_session *session, const kvdyno_step *steps, size_t count);
kvdyno_status rdb_begin(kvdyno_session *session, uint32_t kind);
kvdyno_status rdb_end(kvdyno_session *session);
/* As rdb_explain, and a refusal of the adapter's own, for session_error. */
kvdyno_status rdb_fail(kvdyno_session *session, const char *what, char *problem);
kvdyno_status rdb_refuse(kvdyno_session *session, kvdyno_status status, const char *why);

/* cursor.c */
kvdyno_status rdb_cursor_open(kvdyno_session *session, kvdyno_cursor **opened);
void rdb_cursor_close(kvdyno_cursor *cursor);
kvdyno_status rdb_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                              kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status rdb_cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status rdb_cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);

#endif
