/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * engine.h: LevelDB and the descendants that kept its C API with its prefix. This folder is no adapter: an engine has a
 * folder of its own, with a `family_member` that says what is peculiar to it, and names this one in its flags.mk.
 */
#ifndef LEVELDB_ENGINE_H
#define LEVELDB_ENGINE_H

#include "adapter.h"
#include "api.h"

#define LSM_PREFIX "leveldb_"

/* clang-format off */
#define ENGINE_FUNCTIONS(X)                                                                                            \
    X(void, options_set_cache, (lsm_options *, lsm_cache *)) X(void, options_set_max_open_files, (lsm_options *, int)) \
    X(void, options_set_block_size, (lsm_options *, size_t))                                                           \
    X(void, options_set_filter_policy, (lsm_options *, lsm_filter *))                                                  \
    X(void, options_set_block_restart_interval, (lsm_options *, int))                                                  \
    X(void, options_set_paranoid_checks, (lsm_options *, unsigned char))                                               \
    X(lsm_filter *, filterpolicy_create_bloom, (int)) X(void, filterpolicy_destroy, (lsm_filter *))
/* clang-format on */
/* These, not all libraries have. */
/* clang-format off */
#define ENGINE_OPTIONAL_FUNCTIONS(X)                                                                                   \
    X(void, options_set_max_file_size, (lsm_options *, size_t)) X(int, major_version, (void))                          \
    X(int, minor_version, (void)) X(void, options_set_verify_compactions, (lsm_options *, unsigned char))
/* clang-format on */
/* The same, without the prefix: from this project's own build scripts (engines/NAME/build.sh); and Snappy's, which is
 * found where a library was linked with it. */
/* clang-format off */
#define EXTRA_FUNCTIONS(X)                                                                                             \
    X(lsm_filter *, kvdyno_filterpolicy_create_bloom2, (int)) X(void, kvdyno_finish_closing, (void))                   \
    X(const char *, kvdyno_library_version, (void)) X(size_t, snappy_max_compressed_length, (size_t))
/* clang-format on */

typedef struct library_api {
    LSM_FUNCTIONS(API_MEMBER)
    LSM_OPTIONAL_FUNCTIONS(API_MEMBER)
    ENGINE_FUNCTIONS(API_MEMBER)
    ENGINE_OPTIONAL_FUNCTIONS(API_MEMBER)
    EXTRA_FUNCTIONS(API_MEMBER)
} library_api;

/* ---- what is peculiar to a member ---- */

/* The options that all have come first, in this order; a member's own follow. */
enum {
    BLOCK_SIZE,
    BLOCK_RESTART_INTERVAL,
    MAX_OPEN_FILES,
    BLOOM_BITS,
    PARANOID_CHECKS,
    VERIFY_CHECKSUMS,
    FILL_CACHE,
    SHARED_OPTION_COUNT
};

/* The bounds are those to which LevelDB would cut a value in silence. */
#define SHARED_OPTIONS(least_files, most_files, files_help, verify)                                                    \
    [BLOCK_SIZE] = {"block_size", SIZE("4KiB", KIB, 4 * MIB, "Bytes of user data in a block, before compression.")},   \
    [BLOCK_RESTART_INTERVAL] = {"block_restart_interval",                                                              \
                                INTEGER(                                                                               \
                                    "16", 1, 1 << 20,                                                                  \
                                    "Keys between two that are stored whole, not as a difference to the last one.")},  \
    [MAX_OPEN_FILES] = {"max_open_files", INTEGER("1000", least_files, most_files, files_help)},                       \
    [BLOOM_BITS] = {"bloom_bits",                                                                                      \
                    INTEGER("0", 0, 64,                                                                                \
                            "Bits a key of the Bloom filters that spare reads of tables without it; 0: no filters.")}, \
    [PARANOID_CHECKS] = {"paranoid_checks", BOOL("false", "Stops at the first damage that it meets in its files.")},   \
    [VERIFY_CHECKSUMS] = {"verify_checksums",                                                                          \
                          BOOL(verify, "Checks the checksum of every block that a read takes from a file.")},          \
    [FILL_CACHE] = {"fill_cache", BOOL("true", "Keeps the blocks that were read in the cache.")}

#define MOST_COUNTERS 16

typedef struct family_member {
    library_source library;
    const char *hallmark; /* a symbol that its relatives do not have; NULL: any relative will do */
    const kvdyno_option *options;
    size_t option_count;
    const char *log;               /* how a write that is not synced is kept */
    const char *sync;              /* what sync=true comes to */
    const char *const *properties; /* for statistics, ended by NULL */
    const char *const *counters;   /* properties that count for more than this database: told as growth since open */
    size_t counter_count;          /* at most MOST_COUNTERS */
    /* The rest may be NULL. What the library cannot do of the member's own options, with the option's name; */
    const char *(*lacks)(const library_api *api, const kvdyno_value *option);
    /* what is to be said of the cache and of writing; */
    void (*remarks)(const kvdyno_config *config, kvdyno_emit emit, void *context);
    /* the member's own options; */
    void (*set)(const library_api *api, lsm_options *made, const kvdyno_value *option);
    /* why the database cannot be opened, before the engine tries; */
    bool (*forbids)(const kvdyno_config *config, kvdyno_text *error);
    /* what is to be done when it is open; */
    void (*opened)(void);
    /* the Bloom filter, where it is not the plain one. */
    lsm_filter *(*filter)(const library_api *api, const kvdyno_value *option);
} family_member;

/* Defined by each adapter. */
extern const family_member member;

/* ---- the handles ---- */

#define DATABASE_MEMBERS                                                                                               \
    lsm_filter *filter;                                                                                                \
    uint64_t counted[MOST_COUNTERS] /* the member's counters when it was opened */

/* `value`, `values`: handed out by the last get, the last multi_get. */
#define READ_MEMBERS                                                                                                   \
    char *value, **values;                                                                                             \
    size_t value_count, value_capacity

#define SCAN_OPTIONS(session) ((session)->read)

/* The members that the tables of all have in common. No wait_idle: LevelDB does not tell whether its background threads
 * have work. */
#define LEVELDB_TABLE                                                                                                  \
    .capabilities = FAMILY_CAPABILITIES, .compressions = COMPRESSION(NONE) | COMPRESSION(SNAPPY), FAMILY_LIMITS,       \
    .multi_get = adapter_multi_get, .compact = adapter_compact, .set_durability = adapter_set_durability,              \
    OPTIONS(options)

#endif
