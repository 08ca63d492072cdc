/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * database.c: opening, closing and housekeeping.
 */
#include <unistd.h>

#include "rocksdb_adapter.h"

kvdyno_status rdb_explain(const rocksdb_api *api, const char *what, char *problem, kvdyno_text *error)
{
    say(error, "%s: %s", what, problem);
    kvdyno_status status = strstr(problem, "No space left") ? KVDYNO_NO_SPACE
                           : strstr(problem, "not linked")  ? KVDYNO_UNSUPPORTED /* a compression is not built in */
                                                            : KVDYNO_ERROR;
    api->rocksdb_free(problem);
    return status;
}

static void database_free(kvdyno_database *database)
{
    const rocksdb_api *api = &database->api;
    if (database->db)
        api->rocksdb_close(database->db);
    if (database->options)
        api->rocksdb_options_destroy(database->options);
    if (database->cache)
        api->rocksdb_cache_destroy(database->cache);
    if (database->write)
        api->rocksdb_writeoptions_destroy(database->write);
    if (database->flush)
        api->rocksdb_flushoptions_destroy(database->flush);
    free(database);
}

/* Older versions have no call for it, but they log an empty batch like any other. */
static void sync_by_batch(const rocksdb_api *api, rocksdb_t *db, char **problem)
{
    rocksdb_writeoptions_t *synced = api->rocksdb_writeoptions_create();
    rocksdb_writebatch_t *empty = api->rocksdb_writebatch_create();
    api->rocksdb_writeoptions_set_sync(synced, 1);
    api->rocksdb_write(db, synced, empty, problem);
    api->rocksdb_writebatch_destroy(empty);
    api->rocksdb_writeoptions_destroy(synced);
}

static kvdyno_status sync_log(kvdyno_database *database, kvdyno_text *error)
{
    char *problem = NULL;
    if (database->api.rocksdb_flush_wal)
        database->api.rocksdb_flush_wal(database->db, 1, &problem);
    else
        sync_by_batch(&database->api, database->db, &problem);
    return problem ? rdb_explain(&database->api, "cannot sync the log", problem, error) : KVDYNO_OK;
}

static int sync_in_background(void *context)
{
    kvdyno_database *database = context;
    kvdyno_text error = {database->syncer_error, sizeof database->syncer_error};
    return database->syncer_error[0] ? KVDYNO_ERROR : sync_log(database, &error);
}

kvdyno_status rdb_flush(kvdyno_database *database, kvdyno_text *error)
{
    char *problem = NULL;
    database->api.rocksdb_flush(database->db, database->flush, &problem);
    return problem ? rdb_explain(&database->api, "rocksdb_flush", problem, error) : KVDYNO_OK;
}

/* ---- opening ---- */

static void set_compression(kvdyno_database *database, uint32_t compression)
{
    static const int codes[] = {
        [KVDYNO_COMPRESSION_NONE] = 0, [KVDYNO_COMPRESSION_SNAPPY] = 1, [KVDYNO_COMPRESSION_ZLIB] = 2,
        [KVDYNO_COMPRESSION_LZ4] = 4,  [KVDYNO_COMPRESSION_ZSTD] = 7,
    };
    database->api.rocksdb_options_set_compression(database->options, codes[compression]);
    if (database->api.rocksdb_options_set_bottommost_compression) /* else it is like the rest */
        database->api.rocksdb_options_set_bottommost_compression(database->options, codes[compression]);
}

static void set_options(kvdyno_database *database, const kvdyno_config *config)
{
    const rocksdb_api *api = &database->api;
    rocksdb_options_t *to = database->options;
    api->rocksdb_options_set_create_if_missing(to, config->create != 0);
    api->rocksdb_options_set_error_if_exists(to, config->create != 0);
    api->rocksdb_options_set_write_buffer_size(to, config->write_buffer_bytes);
    api->rocksdb_options_set_compaction_style(to, rdb_is(config, COMPACTION_STYLE, "universal"));
    if (database->statistics)
        api->rocksdb_options_enable_statistics(to);
    rdb_set_options(api, to, config);
    rdb_set_prefix(database, config);
    rdb_set_memtable(api, to, config);
    rdb_set_tables(database, config);
    set_compression(database, config->compression);
}

static void make_parts(kvdyno_database *database, const kvdyno_config *config)
{
    const rocksdb_api *api = &database->api;
    const kvdyno_value *option = config->options;
    database->durability = config->durability;
    database->mmap_writes = option[MMAP_WRITES].integer != 0;
    database->verify_checksums = option[VERIFY_CHECKSUMS].integer != 0;
    database->fill_cache = option[FILL_CACHE].integer != 0;
    database->statistics = option[STATISTICS].integer != 0;
    database->plain = rdb_is(config, TABLE, "plain");
    database->cache = api->rocksdb_cache_create_lru(config->cache_bytes);
    database->write = api->rocksdb_writeoptions_create();
    api->rocksdb_writeoptions_set_sync(database->write, config->durability == KVDYNO_DURABILITY_COMMIT);
    api->rocksdb_writeoptions_disable_WAL(database->write, config->durability == KVDYNO_DURABILITY_NONE);
    database->flush = api->rocksdb_flushoptions_create();
    api->rocksdb_flushoptions_set_wait(database->flush, 1);
    database->options = api->rocksdb_options_create();
    set_options(database, config);
}

static kvdyno_status open_db(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    if (!rdb_library_can(&database->api, config, error))
        return KVDYNO_UNSUPPORTED;
    make_parts(database, config);
    char *problem = NULL;
    database->db = database->api.rocksdb_open(database->options, config->path, &problem);
    if (problem)
        return rdb_explain(&database->api, "cannot open", problem, error);
    int failed = config->durability == KVDYNO_DURABILITY_PERIODIC
                     ? periodic_syncer_start(&database->syncer, config->sync_period_ms, sync_in_background, database)
                     : 0;
    if (failed)
        say(error, "cannot start the syncing thread: %s", strerror(failed));
    return failed ? KVDYNO_ERROR : KVDYNO_OK;
}

kvdyno_status rdb_open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error)
{
    if (!rdb_acceptable(config, error))
        return KVDYNO_UNSUPPORTED;
    kvdyno_database *database = calloc(1, sizeof *database);
    if (!database) {
        say(error, "out of memory");
        return KVDYNO_ERROR;
    }
    void *library;
    if (!rdb_load(config->library, &database->api, &library, error)) {
        free(database);
        return KVDYNO_NO_LIBRARY;
    }
    kvdyno_status status = open_db(database, config, error);
    if (status == KVDYNO_OK)
        *opened = database;
    else
        database_free(database);
    return status;
}

/* What was acknowledged goes to the storage: by the log where there is one that can be synced, else by a flush. */
static kvdyno_status persist(kvdyno_database *database, kvdyno_text *error)
{
    if (database->durability == KVDYNO_DURABILITY_COMMIT && !database->mmap_writes)
        return KVDYNO_OK;
    if (database->durability == KVDYNO_DURABILITY_NONE || database->mmap_writes)
        return rdb_flush(database, error);
    return sync_log(database, error);
}

kvdyno_status rdb_close(kvdyno_database *database, kvdyno_text *error)
{
    kvdyno_status status;
    if (periodic_syncer_stop(&database->syncer)) {
        say(error, "in the background: %s", database->syncer_error);
        status = KVDYNO_ERROR;
    } else {
        status = persist(database, error);
    }
    database_free(database);
    return status;
}

/* ---- housekeeping ---- */

/* A property that is a number; 0 if this version does not know it. */
static uint64_t property(kvdyno_database *database, const char *name)
{
    char *value = database->api.rocksdb_property_value(database->db, name);
    uint64_t number = value ? strtoull(value, NULL, 10) : 0;
    database->api.rocksdb_free(value);
    return number;
}

static kvdyno_status background_health(kvdyno_database *database, kvdyno_text *error)
{
    uint64_t errors = property(database, "rocksdb.background-errors");
    if (!errors)
        return KVDYNO_OK;
    say(error, "RocksDB met %" PRIu64 " errors in the background; its LOG file says which", errors);
    return KVDYNO_ERROR;
}

kvdyno_status rdb_compact(kvdyno_database *database, kvdyno_text *error)
{
    database->api.rocksdb_compact_range(database->db, NULL, 0, NULL, 0);
    return background_health(database, error); /* the C API does not say whether the compaction failed */
}

static bool busy(kvdyno_database *database)
{
    return property(database, "rocksdb.num-running-flushes") || property(database, "rocksdb.num-running-compactions") ||
           property(database, "rocksdb.mem-table-flush-pending") || property(database, "rocksdb.compaction-pending");
}

kvdyno_status rdb_wait_idle(kvdyno_database *database, kvdyno_text *error)
{
    while (busy(database)) {
        kvdyno_status status = background_health(database, error); /* after an error, what is pending may stay so */
        if (status != KVDYNO_OK)
            return status;
        usleep(10000);
    }
    return background_health(database, error);
}

/* Each line is a name, a space, and what was counted under it. */
static void emit_tickers(char *lines, kvdyno_emit emit, void *context)
{
    char *rest = NULL;
    for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *space = strchr(line, ' ');
        if (!space)
            continue;
        *space = 0;
        emit(context, "ticker", line, space + 1);
    }
}

kvdyno_status rdb_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    static const char *const properties[] = {
        "rocksdb.estimate-num-keys",         "rocksdb.total-sst-files-size",    "rocksdb.live-sst-files-size",
        "rocksdb.estimate-live-data-size",   "rocksdb.cur-size-all-mem-tables", "rocksdb.size-all-mem-tables",
        "rocksdb.estimate-table-readers-mem", "rocksdb.block-cache-usage",      "rocksdb.block-cache-pinned-usage",
        "rocksdb.num-files-at-level0",       "rocksdb.num-files-at-level1",     "rocksdb.num-files-at-level2",
        "rocksdb.num-files-at-level3",       "rocksdb.num-files-at-level4",     "rocksdb.num-files-at-level5",
        "rocksdb.num-files-at-level6",       "rocksdb.actual-delayed-write-rate", "rocksdb.is-write-stopped",
        "rocksdb.num-running-flushes",       "rocksdb.num-running-compactions", "rocksdb.compaction-pending",
        "rocksdb.estimate-pending-compaction-bytes", "rocksdb.background-errors", "rocksdb.stats",
    };
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        char *value = database->api.rocksdb_property_value(database->db, properties[i]);
        if (value)
            emit(context, "property", properties[i], value);
        database->api.rocksdb_free(value);
    }
    char *lines = database->statistics ? database->api.rocksdb_options_statistics_get_string(database->options) : NULL;
    if (lines)
        emit_tickers(lines, emit, context);
    database->api.rocksdb_free(lines);
    return KVDYNO_OK;
}
