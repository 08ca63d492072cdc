/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * rocksdb_api.h: RocksDB's C API, as far as it is used. The adapter declares the functions itself, so that one build
 * serves every version from 5.7 on; no header of RocksDB's is needed.
 */
#ifndef ROCKSDB_API_H
#define ROCKSDB_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct rocksdb_t rocksdb_t;
typedef struct rocksdb_cache_t rocksdb_cache_t;
typedef struct rocksdb_filterpolicy_t rocksdb_filterpolicy_t;
typedef struct rocksdb_flushoptions_t rocksdb_flushoptions_t;
typedef struct rocksdb_iterator_t rocksdb_iterator_t;
typedef struct rocksdb_options_t rocksdb_options_t;
typedef struct rocksdb_pinnableslice_t rocksdb_pinnableslice_t;
typedef struct rocksdb_readoptions_t rocksdb_readoptions_t;
typedef struct rocksdb_slicetransform_t rocksdb_slicetransform_t;
typedef struct rocksdb_snapshot_t rocksdb_snapshot_t;
typedef struct rocksdb_table_options_t rocksdb_table_options_t; /* block-based */
typedef struct rocksdb_writebatch_t rocksdb_writebatch_t;
typedef struct rocksdb_writeoptions_t rocksdb_writeoptions_t;

#define FUNCTIONS(X)                                                                                                   \
    X(rocksdb_t *, rocksdb_open, (const rocksdb_options_t *, const char *, char **))                                   \
    X(void, rocksdb_close, (rocksdb_t *))                                                                              \
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
    X(void, rocksdb_options_set_compaction_style, (rocksdb_options_t *, int))                                          \
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
/* Not in every version: what needs one that is not there is refused, or done without it. */
#define OPTIONAL_FUNCTIONS(X)                                                                                          \
    X(rocksdb_pinnableslice_t *, rocksdb_get_pinned, (rocksdb_t *, const rocksdb_readoptions_t *, const char *,        \
                                                      size_t, char **))                                                \
    X(const char *, rocksdb_pinnableslice_value, (const rocksdb_pinnableslice_t *, size_t *))                          \
    X(void, rocksdb_pinnableslice_destroy, (rocksdb_pinnableslice_t *))                                                \
    X(void, rocksdb_flush_wal, (rocksdb_t *, unsigned char, char **))                                                  \
    X(void, rocksdb_block_based_options_set_index_type, (rocksdb_table_options_t *, int))                              \
    /* eight arguments in 8.5.4 and later; up to 7.8.3 the library looks at the first five */                          \
    X(void, rocksdb_options_set_plain_table_factory, (rocksdb_options_t *, uint32_t, int, double, size_t, size_t,      \
                                                     char, unsigned char, unsigned char))                              \
    X(void, rocksdb_options_set_hash_skip_list_rep, (rocksdb_options_t *, size_t, int32_t, int32_t))                   \
    X(void, rocksdb_options_set_hash_link_list_rep, (rocksdb_options_t *, size_t))                                     \
    X(void, rocksdb_options_set_memtable_prefix_bloom_size_ratio, (rocksdb_options_t *, double))                       \
    X(void, rocksdb_options_set_prefix_extractor, (rocksdb_options_t *, rocksdb_slicetransform_t *))                   \
    X(rocksdb_slicetransform_t *, rocksdb_slicetransform_create_noop, (void))                                          \
    /* the name is the sixth argument, and in 11.8.1 the fifth, where in_range was, which RocksDB does not call */     \
    X(rocksdb_slicetransform_t *, rocksdb_slicetransform_create,                                                       \
      (void *, void (*)(void *), char *(*)(void *, const char *, size_t, size_t *),                                    \
       unsigned char (*)(void *, const char *, size_t), const char *(*)(void *), const char *(*)(void *)))             \
    X(void, rocksdb_readoptions_set_total_order_seek, (rocksdb_readoptions_t *, unsigned char))                        \
    X(void, rocksdb_options_set_bottommost_compression, (rocksdb_options_t *, int))

#endif
