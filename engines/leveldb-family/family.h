/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * family.h: what the adapters of LevelDB and of the descendants that kept its C API share. This folder is no adapter:
 * an engine of the family has a folder of its own, with a `family_member` that says what is peculiar to it, and names
 * this one in its flags.mk.
 */
#ifndef FAMILY_H
#define FAMILY_H

#include <leveldb/c.h>

#include "adapter.h"

/* What only some of the libraries have: Basho's, and what our own build scripts add (engines/NAME/build.sh). */
void leveldb_options_set_verify_compactions(leveldb_options_t *options, uint8_t verify);
leveldb_filterpolicy_t *kvdyno_filterpolicy_create_bloom2(int bits_per_key);
void kvdyno_finish_closing(void);
const char *kvdyno_library_version(void);
size_t snappy_max_compressed_length(size_t length);

/* The library's functions. leveldb/c.h lends their types; their addresses come from the library that a database names,
 * which may be one of LevelDB's descendants: they export the same names. */
#define FUNCTIONS(X)                                                                                                   \
    X(leveldb_open) X(leveldb_close) X(leveldb_get) X(leveldb_put) X(leveldb_delete) X(leveldb_write)                  \
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
/* These, not all libraries have. Snappy's is found where a library was linked with it. */
#define OPTIONAL_FUNCTIONS(X)                                                                                          \
    X(leveldb_free) X(leveldb_options_set_max_file_size) X(leveldb_options_set_verify_compactions)                     \
    X(leveldb_major_version) X(leveldb_minor_version) X(kvdyno_library_version)                                        \
    X(kvdyno_filterpolicy_create_bloom2) X(kvdyno_finish_closing) X(snappy_max_compressed_length)

typedef struct leveldb_api {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
    OPTIONAL_FUNCTIONS(MEMBER)
#undef MEMBER
} leveldb_api;

/* ---- what is peculiar to a member ---- */

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

/* The options that all have come first, in this order; a member's own follow. */
enum {
    BLOCK_SIZE, BLOCK_RESTART_INTERVAL, MAX_OPEN_FILES, BLOOM_BITS, PARANOID_CHECKS, VERIFY_CHECKSUMS, FILL_CACHE,
    SHARED_OPTION_COUNT
};

/* The bounds are those to which LevelDB would cut a value in silence. */
#define SHARED_OPTIONS(least_files, most_files, files_help, verify)                                                    \
    [BLOCK_SIZE] = {.name = "block_size", .type = KVDYNO_OPTION_SIZE, .default_value = "4KiB", .minimum = KIB,         \
                    .maximum = 4 * MIB, .help = "Bytes of user data in a block, before compression."},                 \
    [BLOCK_RESTART_INTERVAL] = {.name = "block_restart_interval", .type = KVDYNO_OPTION_INTEGER,                       \
                                .default_value = "16", .minimum = 1, .maximum = 1 << 20,                               \
                                .help = "Keys between two that are stored whole, not as a difference to the last "     \
                                        "one."},                                                                       \
    [MAX_OPEN_FILES] = {.name = "max_open_files", .type = KVDYNO_OPTION_INTEGER, .default_value = "1000",              \
                        .minimum = least_files, .maximum = most_files, .help = files_help},                            \
    [BLOOM_BITS] = {.name = "bloom_bits", .type = KVDYNO_OPTION_INTEGER, .default_value = "0", .maximum = 64,          \
                    .help = "Bits a key of the Bloom filters that spare reads of tables without it; 0: no filters."},  \
    [PARANOID_CHECKS] = {.name = "paranoid_checks", .type = KVDYNO_OPTION_BOOL, .default_value = "false",              \
                         .help = "Stops at the first damage that it meets in its files."},                             \
    [VERIFY_CHECKSUMS] = {.name = "verify_checksums", .type = KVDYNO_OPTION_BOOL, .default_value = verify,             \
                          .help = "Checks the checksum of every block that a read takes from a file."},                \
    [FILL_CACHE] = {.name = "fill_cache", .type = KVDYNO_OPTION_BOOL, .default_value = "true",                         \
                    .help = "Keeps the blocks that were read in the cache."}

#define MOST_COUNTERS 16

typedef struct family_member {
    const char *title;             /* "LevelDB" */
    const char *const *libraries;  /* names to look for, ended by NULL */
    const char *source;            /* what has the library: "Debian package libleveldb1d" */
    const char *hallmark;          /* a symbol that its relatives do not have; NULL: any relative may take its place */
    const kvdyno_option *options;
    size_t option_count;
    const char *log;               /* how a write that is not synced is kept */
    const char *sync;              /* what sync=true comes to */
    const char *const *properties; /* for statistics, ended by NULL */
    const char *const *counters;   /* properties that count for more than this database: told as growth since open */
    size_t counter_count;          /* at most MOST_COUNTERS */
    /* The rest may be NULL. What the library cannot do of the member's own options, with the option's name; */
    const char *(*lacks)(const leveldb_api *api, const kvdyno_value *option);
    /* what is to be said of the cache and of writing; */
    void (*remarks)(const kvdyno_config *config, kvdyno_emit emit, void *context);
    /* the member's own options; */
    void (*set)(const leveldb_api *api, leveldb_options_t *made, const kvdyno_value *option);
    /* why the database cannot be opened, before the engine is asked; */
    bool (*forbids)(const kvdyno_config *config, kvdyno_text *error);
    /* what is to be done when it is open; */
    void (*opened)(void);
    /* the Bloom filter, where it is not the plain one. */
    leveldb_filterpolicy_t *(*filter)(const leveldb_api *api, const kvdyno_value *option);
} family_member;

/* Defined by each adapter. */
extern const family_member member;

/* ---- the handles ---- */

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
    uint64_t counted[MOST_COUNTERS]; /* the member's counters when it was opened */
    periodic_syncer syncer;
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

/* Finds the library and its functions; NO_LIBRARY, and why, if there is none or it is another. */
kvdyno_status family_load(const char *chosen, leveldb_api *api, kvdyno_text *error);
/* Whether `config` can be honoured, by the engine and by this library. */
kvdyno_status family_accepts(const leveldb_api *api, const kvdyno_config *config, kvdyno_text *error);
/* Says what failed in LevelDB's words. Takes `problem`, which LevelDB allocated. */
kvdyno_status family_explain(const leveldb_api *api, const char *what, char *problem, kvdyno_text *error);
/* The same, for session_error. */
kvdyno_status family_fail(kvdyno_session *session, const char *what, char *problem);
/* A refusal of the adapter's own, for session_error. */
kvdyno_status family_refuse(kvdyno_session *session, kvdyno_status status, const char *why);

/* The hooks, of settings.c, */
kvdyno_status family_probe(const char *library, kvdyno_text *version, kvdyno_text *error);
kvdyno_status family_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error);
/* of database.c, */
kvdyno_status family_open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error);
kvdyno_status family_close(kvdyno_database *database, kvdyno_text *error);
kvdyno_status family_flush(kvdyno_database *database, kvdyno_text *error);
kvdyno_status family_compact(kvdyno_database *database, kvdyno_text *error);
kvdyno_status family_statistics(kvdyno_database *database, kvdyno_emit emit, void *context);
/* of session.c, */
kvdyno_status family_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
                                  kvdyno_text *error);
void family_session_close(kvdyno_session *session);
void family_session_error(kvdyno_session *session, kvdyno_text *error);
kvdyno_status family_session_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value);
kvdyno_status family_session_multi_get(kvdyno_session *session, const kvdyno_bytes *keys, size_t count,
                                       kvdyno_bytes *values, kvdyno_status *statuses);
kvdyno_status family_session_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                                 size_t value_size);
kvdyno_status family_session_remove(kvdyno_session *session, const void *key, size_t key_size);
kvdyno_status family_session_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count);
kvdyno_status family_session_begin(kvdyno_session *session, uint32_t kind);
kvdyno_status family_session_end(kvdyno_session *session);
/* and of cursor.c. */
kvdyno_status family_cursor_open(kvdyno_session *session, kvdyno_cursor **opened);
void family_cursor_close(kvdyno_cursor *cursor);
kvdyno_status family_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                 kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status family_cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status family_cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);

/* What the tables of all members have in common. No wait_idle: LevelDB does not tell whether its background threads
 * have work. */
#define FAMILY_ENGINE                                                                                                  \
    .size = sizeof(kvdyno_engine), .abi_version = KVDYNO_ABI_VERSION,                                                  \
    .capabilities = KVDYNO_CAN_SCAN | KVDYNO_CAN_SCAN_REVERSE | KVDYNO_CAN_DELETE | KVDYNO_CAN_BATCH |                 \
                    KVDYNO_CAN_MULTI_GET | KVDYNO_CAN_SNAPSHOT | KVDYNO_CAN_WRITE_CONCURRENTLY,                        \
    .durabilities = 1u << KVDYNO_DURABILITY_NONE | 1u << KVDYNO_DURABILITY_PROCESS |                                   \
                    1u << KVDYNO_DURABILITY_PERIODIC | 1u << KVDYNO_DURABILITY_COMMIT,                                 \
    .compressions = 1u << KVDYNO_COMPRESSION_NONE | 1u << KVDYNO_COMPRESSION_SNAPPY,                                   \
    /* lengths are stored in 32 bits, a key with 8 bytes of LevelDB's own */                                           \
    .max_key_size = UINT32_MAX - 8, .max_value_size = UINT32_MAX, .option_size = sizeof(kvdyno_option),                \
    .preset_size = sizeof(kvdyno_preset), .probe = family_probe, .settings = family_settings, .open = family_open,     \
    .close = family_close, .session_open = family_session_open, .session_close = family_session_close,                 \
    .session_error = family_session_error, .get = family_session_get, .put = family_session_put,                       \
    .remove = family_session_remove, .write = family_session_write, .multi_get = family_session_multi_get,             \
    .begin = family_session_begin, .commit = family_session_end, .abort = family_session_end,                          \
    .cursor_open = family_cursor_open, .cursor_close = family_cursor_close, .cursor_seek = family_cursor_seek,         \
    .cursor_next = family_cursor_next, .cursor_previous = family_cursor_previous, .flush = family_flush,               \
    .compact = family_compact, .statistics = family_statistics

#endif
