/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * engine.h: what RocksDB has besides what the family shares.
 */
#ifndef ROCKSDB_ENGINE_H
#define ROCKSDB_ENGINE_H

#include "adapter.h"
#include "api.h"

/* ---- the options, in the order in which they are declared ---- */

enum {
    BLOCK_SIZE,
    BLOOM_BITS,
    CACHE_INDEX_AND_FILTER_BLOCKS,
    MAX_BACKGROUND_JOBS,
    MAX_OPEN_FILES,
    MAX_WRITE_BUFFER_NUMBER,
    TARGET_FILE_SIZE_BASE,
    LEVEL0_TRIGGER,
    COMPACTION_STYLE,
    DIRECT_READS,
    DIRECT_IO_FLUSH_COMPACTION,
    MMAP_READS,
    MMAP_WRITES,
    PIPELINED_WRITE,
    UNORDERED_WRITE,
    VERIFY_CHECKSUMS,
    FILL_CACHE,
    STATISTICS,
    PREFIX_EXTRACTOR,
    PREFIX_SIZE,
    MEMTABLE,
    HASH_BUCKET_COUNT,
    MEMTABLE_PREFIX_BLOOM,
    ALLOW_CONCURRENT_MEMTABLE_WRITE,
    TABLE,
    INDEX,
    BLOOM_LOCALITY,
    NUM_LEVELS,
    LEVEL_BASE,
    DYNAMIC_LEVEL_BYTES,
    LEVEL0_SLOWDOWN,
    LEVEL0_STOP,
    MAX_BACKGROUND_COMPACTIONS,
    MAX_BACKGROUND_FLUSHES,
    OBSOLETE_FILES_PERIOD,
    OWN_OPTIONS,
    OPTION_COUNT
};

/* ---- the library ---- */

#define LSM_PREFIX "rocksdb_"

typedef struct rocksdb_flushoptions_t rocksdb_flushoptions_t;
typedef struct rocksdb_pinnableslice_t rocksdb_pinnableslice_t;
typedef struct rocksdb_slicetransform_t rocksdb_slicetransform_t;
typedef struct rocksdb_table_options_t rocksdb_table_options_t; /* block-based */

/* clang-format off */
#define ENGINE_FUNCTIONS(X)                                                                                            \
    X(void, flush, (lsm_db *, const rocksdb_flushoptions_t *, char **))                                                \
    X(rocksdb_flushoptions_t *, flushoptions_create, (void))                                                           \
    X(void, flushoptions_destroy, (rocksdb_flushoptions_t *))                                                          \
    X(void, flushoptions_set_wait, (rocksdb_flushoptions_t *, unsigned char))                                          \
    X(void, multi_get, (lsm_db *, const lsm_readoptions *, size_t, const char *const *, const size_t *, char **,       \
      size_t *, char **))                                                                                              \
    X(void, iter_seek_for_prev, (lsm_iterator *, const char *, size_t))                                                \
    X(void, options_set_block_based_table_factory, (lsm_options *, rocksdb_table_options_t *))                         \
    X(void, options_set_compaction_style, (lsm_options *, int)) X(void, options_enable_statistics, (lsm_options *))    \
    X(char *, options_statistics_get_string, (lsm_options *))                                                          \
    X(rocksdb_table_options_t *, block_based_options_create, (void))                                                   \
    X(void, block_based_options_destroy, (rocksdb_table_options_t *))                                                  \
    X(void, block_based_options_set_block_size, (rocksdb_table_options_t *, size_t))                                   \
    X(void, block_based_options_set_block_cache, (rocksdb_table_options_t *, lsm_cache *))                             \
    X(void, block_based_options_set_filter_policy, (rocksdb_table_options_t *, lsm_filter *))                          \
    X(void, block_based_options_set_cache_index_and_filter_blocks, (rocksdb_table_options_t *, unsigned char))         \
    X(lsm_filter *, filterpolicy_create_bloom_full, (int, double))                                                     \
    X(void, writeoptions_disable_WAL, (lsm_writeoptions *, int))
/* clang-format on */
/* Not in every version: what needs one that is not there is refused, or done without it. The plain table has eight
 * arguments in 8.5.4 and later; up to 7.8.3 the library looks at the first five. The name of a transform of slices is
 * the sixth argument, and in 11.8.1 the fifth, where in_range was, which RocksDB does not call. */
/* clang-format off */
#define ENGINE_OPTIONAL_FUNCTIONS(X)                                                                                   \
    X(rocksdb_pinnableslice_t *, get_pinned, (lsm_db *, const lsm_readoptions *, const char *, size_t, char **))       \
    X(const char *, pinnableslice_value, (const rocksdb_pinnableslice_t *, size_t *))                                  \
    X(void, pinnableslice_destroy, (rocksdb_pinnableslice_t *))                                                        \
    X(void, block_based_options_set_index_type, (rocksdb_table_options_t *, int))                                      \
    X(void, options_set_plain_table_factory, (lsm_options *, uint32_t, int, double, size_t, size_t, char,              \
      unsigned char, unsigned char))                                                                                   \
    X(void, options_set_hash_skip_list_rep, (lsm_options *, size_t, int32_t, int32_t))                                 \
    X(void, options_set_hash_link_list_rep, (lsm_options *, size_t))                                                   \
    X(void, options_set_memtable_prefix_bloom_size_ratio, (lsm_options *, double))                                     \
    X(void, options_set_prefix_extractor, (lsm_options *, rocksdb_slicetransform_t *))                                 \
    X(rocksdb_slicetransform_t *, slicetransform_create_noop, (void))                                                  \
    X(rocksdb_slicetransform_t *, slicetransform_create, (void *, void (*)(void *), char *(*)(void *, const char *,    \
      size_t, size_t *), unsigned char (*)(void *, const char *, size_t), const char *(*)(void *),        \
      const char *(*)(void *)))                                                                                        \
    X(void, readoptions_set_total_order_seek, (lsm_readoptions *, unsigned char))                                      \
    X(void, readoptions_set_prefix_same_as_start, (lsm_readoptions *, unsigned char))                                  \
    X(void, options_set_bottommost_compression, (lsm_options *, int))                                                  \
    X(void, readoptions_set_iterate_lower_bound, (lsm_readoptions *, const char *, size_t))                            \
    X(void, readoptions_set_iterate_upper_bound, (lsm_readoptions *, const char *, size_t))                            \
    X(void, get_options_from_string, (const lsm_options *, const char *, lsm_options *, char **))                      \
    X(void, options_set_blob_compression_type, (lsm_options *, int))                                                   \
    X(void, options_set_blob_cache, (lsm_options *, lsm_cache *))                                                      \
    X(void, writebatch_delete_range, (lsm_batch *, const char *, size_t, const char *, size_t))
/* clang-format on */

typedef struct library_api {
    LSM_FUNCTIONS(API_MEMBER)
    LSM_OPTIONAL_FUNCTIONS(API_MEMBER)
    ENGINE_FUNCTIONS(API_MEMBER)
    ENGINE_OPTIONAL_FUNCTIONS(API_MEMBER)
    void *setters[OPTION_COUNT]; /* of the options that are one call; NULL where this version has none */
} library_api;

/* ---- the handles ---- */

/* The beginning of a key, or all of one that is shorter. */
typedef struct capped_prefix {
    size_t size;
    char name[48]; /* kept in table files: that one is opened with another prefix shows by it */
} capped_prefix;

/* `plain`: tables without cursors. `own_options`: what RocksDB says that the options in its own words came to, a line
 * each; NULL if there are none. */
#define DATABASE_MEMBERS                                                                                               \
    rocksdb_flushoptions_t *flush;                                                                                     \
    bool mmap_writes, statistics, plain;                                                                               \
    char *own_options;                                                                                                 \
    capped_prefix prefix

/* The arrays of rocksdb_multi_get; `count`: values that the last one handed out. */
typedef struct many_values {
    const char **keys;
    size_t *key_sizes, *value_sizes;
    char **values, **problems;
    size_t capacity, count;
} many_values;

/* `scan`: as `read`, for iterators, which show all keys whatever their prefixes. `pinned`: handed out by the last get,
 * or `copied`, where the library cannot pin. */
#define READ_MEMBERS                                                                                                   \
    lsm_readoptions *scan;                                                                                             \
    rocksdb_pinnableslice_t *pinned;                                                                                   \
    char *copied;                                                                                                      \
    many_values many

#define SCAN_OPTIONS(session) ((session)->scan)
#define LIMITS_CURSORS true

bool rdb_load(const char *chosen, library_api *api, void **library, kvdyno_text *error);

/* options.c: what there is to set, and what of it cannot be honoured, in `settings` as in `open`. */
extern const kvdyno_option rdb_options[OPTION_COUNT];
enum { RDB_PRESETS = 2 };
extern const kvdyno_preset rdb_presets[RDB_PRESETS];
bool rdb_acceptable(const kvdyno_config *config, kvdyno_text *error);
/* Whether the library has both bounds of iterators: 5.7.3 has one. */
bool rdb_bounds_iterators(const library_api *api);
/* Whether it has iterators of one prefix. */
bool rdb_scans_prefixes(const library_api *api);
/* Read options of iterators. */
lsm_readoptions *engine_scan_options(const kvdyno_database *database);
bool rdb_library_can(const library_api *api, const kvdyno_config *config, kvdyno_text *error);
/* The C function that alone sets an option, or NULL; and the calls of all there are. */
const char *rdb_setter_name(int option);
void rdb_set_options(const library_api *api, lsm_options *to, const kvdyno_config *config);

/* own_options.c: options in RocksDB's own words. */
bool rdb_takes_own_options(const library_api *api, const kvdyno_config *config, kvdyno_text *error);
kvdyno_status rdb_set_own_options(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error);
/* Keeps what they came to, by the file that RocksDB wrote when it opened the database. */
void rdb_keep_own_options(kvdyno_database *database, const kvdyno_config *config);
void rdb_say_own_options(const kvdyno_database *database, kvdyno_emit emit, void *context);

/* prefix.c: the keys' prefix, and the memtables and tables that are built round it. */
size_t rdb_prefix_size(const kvdyno_config *config); /* SIZE_MAX: the whole key */
size_t rdb_hash_buckets(const kvdyno_config *config);
bool rdb_concurrent_memtable(const kvdyno_config *config);
void rdb_set_prefix(kvdyno_database *database, const kvdyno_config *config);
void rdb_set_memtable(const library_api *api, lsm_options *to, const kvdyno_config *config);
void rdb_set_tables(kvdyno_database *database, const kvdyno_config *config);

#endif
