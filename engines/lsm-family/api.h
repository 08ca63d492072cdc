/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * api.h: the C API that LevelDB has and its descendants kept, RocksDB too, each with a prefix of its own (LSM_PREFIX).
 * The adapters declare the functions themselves, so that one build serves every version and no header is needed.
 */
#ifndef LSM_API_H
#define LSM_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct lsm_batch lsm_batch;
typedef struct lsm_cache lsm_cache;
typedef struct lsm_db lsm_db;
typedef struct lsm_filter lsm_filter;
typedef struct lsm_iterator lsm_iterator;
typedef struct lsm_options lsm_options;
typedef struct lsm_readoptions lsm_readoptions;
typedef struct lsm_snapshot lsm_snapshot;
typedef struct lsm_writeoptions lsm_writeoptions;

/* clang-format off */
#define LSM_FUNCTIONS(X)                                                                                               \
    X(lsm_db *, open, (const lsm_options *, const char *, char **)) X(void, close, (lsm_db *))                         \
    X(char *, property_value, (lsm_db *, const char *))                                                                \
    X(void, compact_range, (lsm_db *, const char *, size_t, const char *, size_t))                                     \
    X(char *, get, (lsm_db *, const lsm_readoptions *, const char *, size_t, size_t *, char **))                       \
    X(void, put, (lsm_db *, const lsm_writeoptions *, const char *, size_t, const char *, size_t, char **))            \
    X(void, delete, (lsm_db *, const lsm_writeoptions *, const char *, size_t, char **))                               \
    X(void, write, (lsm_db *, const lsm_writeoptions *, lsm_batch *, char **))                                         \
    X(lsm_batch *, writebatch_create, (void)) X(void, writebatch_destroy, (lsm_batch *))                               \
    X(void, writebatch_clear, (lsm_batch *))                                                                           \
    X(void, writebatch_put, (lsm_batch *, const char *, size_t, const char *, size_t))                                 \
    X(void, writebatch_delete, (lsm_batch *, const char *, size_t))                                                    \
    X(const lsm_snapshot *, create_snapshot, (lsm_db *)) X(void, release_snapshot, (lsm_db *, const lsm_snapshot *))   \
    X(lsm_iterator *, create_iterator, (lsm_db *, const lsm_readoptions *)) X(void, iter_destroy, (lsm_iterator *))    \
    X(unsigned char, iter_valid, (const lsm_iterator *)) X(void, iter_seek_to_first, (lsm_iterator *))                 \
    X(void, iter_seek_to_last, (lsm_iterator *)) X(void, iter_seek, (lsm_iterator *, const char *, size_t))            \
    X(void, iter_next, (lsm_iterator *)) X(void, iter_prev, (lsm_iterator *))                                          \
    X(const char *, iter_key, (const lsm_iterator *, size_t *))                                                        \
    X(const char *, iter_value, (const lsm_iterator *, size_t *))                                                      \
    X(void, iter_get_error, (const lsm_iterator *, char **)) X(lsm_options *, options_create, (void))                  \
    X(void, options_destroy, (lsm_options *)) X(void, options_set_create_if_missing, (lsm_options *, unsigned char))   \
    X(void, options_set_error_if_exists, (lsm_options *, unsigned char))                                               \
    X(void, options_set_write_buffer_size, (lsm_options *, size_t))                                                    \
    X(void, options_set_compression, (lsm_options *, int)) X(lsm_cache *, cache_create_lru, (size_t))                  \
    X(void, cache_destroy, (lsm_cache *)) X(lsm_readoptions *, readoptions_create, (void))                             \
    X(void, readoptions_destroy, (lsm_readoptions *))                                                                  \
    X(void, readoptions_set_verify_checksums, (lsm_readoptions *, unsigned char))                                      \
    X(void, readoptions_set_fill_cache, (lsm_readoptions *, unsigned char))                                            \
    X(void, readoptions_set_snapshot, (lsm_readoptions *, const lsm_snapshot *))                                       \
    X(lsm_writeoptions *, writeoptions_create, (void)) X(void, writeoptions_destroy, (lsm_writeoptions *))             \
    X(void, writeoptions_set_sync, (lsm_writeoptions *, unsigned char))
/* clang-format on */
/* Not in every version. */
#define LSM_OPTIONAL_FUNCTIONS(X) X(void, free, (void *)) X(void, flush_wal, (lsm_db *, unsigned char, char **))

#define PREFIXED_SYMBOL(type, name, arguments) {(void **)&api->name, LSM_PREFIX #name, false},
#define PREFIXED_OPTIONAL(type, name, arguments) {(void **)&api->name, LSM_PREFIX #name, true},

#endif
