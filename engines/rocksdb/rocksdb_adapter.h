/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * rocksdb_adapter.h: what the parts of the RocksDB adapter share.
 */
#ifndef ROCKSDB_ADAPTER_H
#define ROCKSDB_ADAPTER_H

#include "adapter.h"
#include "rocksdb_api.h"

/* ---- the options, in the order in which they are declared ---- */

enum {
    BLOCK_SIZE, BLOOM_BITS, CACHE_INDEX_AND_FILTER_BLOCKS, MAX_BACKGROUND_JOBS, MAX_OPEN_FILES,
    MAX_WRITE_BUFFER_NUMBER, TARGET_FILE_SIZE_BASE, LEVEL0_TRIGGER, COMPACTION_STYLE, DIRECT_READS,
    DIRECT_IO_FLUSH_COMPACTION, MMAP_READS, MMAP_WRITES, PIPELINED_WRITE, UNORDERED_WRITE, VERIFY_CHECKSUMS, FILL_CACHE,
    STATISTICS, PREFIX_EXTRACTOR, PREFIX_SIZE, MEMTABLE, HASH_BUCKET_COUNT, MEMTABLE_PREFIX_BLOOM,
    ALLOW_CONCURRENT_MEMTABLE_WRITE, TABLE, INDEX, BLOOM_LOCALITY, NUM_LEVELS, LEVEL_BASE, DYNAMIC_LEVEL_BYTES,
    LEVEL0_SLOWDOWN, LEVEL0_STOP, MAX_BACKGROUND_COMPACTIONS, MAX_BACKGROUND_FLUSHES, OBSOLETE_FILES_PERIOD,
    OPTION_COUNT
};

/* ---- the library ---- */

typedef struct rocksdb_api {
#define MEMBER(type, name, arguments) type(*name) arguments;
    FUNCTIONS(MEMBER)
    OPTIONAL_FUNCTIONS(MEMBER)
#undef MEMBER
    void *setters[OPTION_COUNT]; /* of the options that are one call; NULL where this version has none */
} rocksdb_api;

/* ---- the database and its sessions ---- */

/* The beginning of a key, or all of one that is shorter. */
typedef struct capped_prefix {
    size_t size;
    char name[48]; /* kept in table files: that one is opened with another prefix shows by it */
} capped_prefix;

struct kvdyno_database {
    rocksdb_api api;
    rocksdb_t *db;
    rocksdb_options_t *options; /* kept: the statistics are read from it */
    rocksdb_cache_t *cache;
    rocksdb_writeoptions_t *write;
    rocksdb_flushoptions_t *flush;
    uint32_t durability;
    bool mmap_writes, verify_checksums, fill_cache, statistics;
    bool plain; /* tables without cursors */
    capped_prefix prefix;
    periodic_syncer syncer;
    char syncer_error[256];
};

struct kvdyno_session {
    const rocksdb_api *api;
    rocksdb_t *db;
    rocksdb_readoptions_t *read;        /* with the snapshot of a begun transaction, if there is one */
    rocksdb_readoptions_t *scan;        /* the same for iterators, which show all keys whatever their prefixes */
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

/* options.c: what there is to set, and what of it cannot be honoured, in `settings` as in `open`. */
extern const kvdyno_option rdb_options[OPTION_COUNT];
enum { RDB_PRESETS = 2 };
extern const kvdyno_preset rdb_presets[RDB_PRESETS];
void rdb_effective_capabilities(const kvdyno_config *config, kvdyno_capabilities *declared);
bool rdb_acceptable(const kvdyno_config *config, kvdyno_text *error);
bool rdb_library_can(const rocksdb_api *api, const kvdyno_config *config, kvdyno_text *error);
/* Whether a CHOICE is `choice`. */
bool rdb_is(const kvdyno_config *config, int option, const char *choice);
/* The C function that alone sets an option, or NULL; and the calls of all there are. */
const char *rdb_setter_name(int option);
void rdb_set_options(const rocksdb_api *api, rocksdb_options_t *to, const kvdyno_config *config);

/* settings.c */
kvdyno_status rdb_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error);

/* prefix.c: the keys' prefix, and the memtables and tables that are built round it. */
size_t rdb_prefix_size(const kvdyno_config *config); /* SIZE_MAX: the whole key */
size_t rdb_hash_buckets(const kvdyno_config *config);
bool rdb_concurrent_memtable(const kvdyno_config *config);
void rdb_set_prefix(kvdyno_database *database, const kvdyno_config *config);
void rdb_set_memtable(const rocksdb_api *api, rocksdb_options_t *to, const kvdyno_config *config);
void rdb_set_tables(kvdyno_database *database, const kvdyno_config *config);

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
kvdyno_status rdb_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count);
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
