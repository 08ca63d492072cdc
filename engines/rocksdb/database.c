/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * database.c: opening, closing and housekeeping.
 */
#include "family.h"

static void set_compression(kvdyno_database *database, uint32_t compression)
{
    static const int codes[] = {
        [KVDYNO_COMPRESSION_NONE] = 0, [KVDYNO_COMPRESSION_SNAPPY] = 1, [KVDYNO_COMPRESSION_ZLIB] = 2,
        [KVDYNO_COMPRESSION_LZ4] = 4,  [KVDYNO_COMPRESSION_ZSTD] = 7,
    };
    database->api.options_set_compression(database->options, codes[compression]);
    if (database->api.options_set_bottommost_compression) /* else it is like the rest */
        database->api.options_set_bottommost_compression(database->options, codes[compression]);
    if (database->api.options_set_blob_compression_type)
        database->api.options_set_blob_compression_type(database->options, codes[compression]);
}

kvdyno_status engine_configure(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    const library_api *api = &database->api;
    lsm_options *to = database->options;
    database->mmap_writes = option_integer(config, MMAP_WRITES) != 0;
    database->statistics = option_integer(config, STATISTICS) != 0;
    database->plain = option_is(config, TABLE, "plain");
    database->flush = api->flushoptions_create();
    api->flushoptions_set_wait(database->flush, 1);
    api->writeoptions_disable_WAL(database->writes[KVDYNO_DURABILITY_NONE], 1);
    api->options_set_compaction_style(to, option_is(config, COMPACTION_STYLE, "universal"));
    if (database->statistics)
        api->options_enable_statistics(to);
    rdb_set_options(api, to, config);
    rdb_set_prefix(database, config);
    rdb_set_memtable(api, to, config);
    rdb_set_tables(database, config);
    set_compression(database, config->compression);
    if (api->options_set_blob_cache) /* values in blob files are in the lab's cache, too */
        api->options_set_blob_cache(to, database->cache);
    return rdb_set_own_options(database, config, error);
}

bool engine_forbids(const kvdyno_config *config, kvdyno_text *error)
{
    (void)config, (void)error;
    return false;
}

void engine_opened(kvdyno_database *database, const kvdyno_config *config)
{
    rdb_keep_own_options(database, config);
}

void engine_closed(kvdyno_database *database)
{
    database->api.flushoptions_destroy(database->flush);
    free(database->own_options);
}

kvdyno_status adapter_flush(kvdyno_database *database, kvdyno_text *error)
{
    char *problem = NULL;
    database->api.flush(database->db, database->flush, &problem);
    return problem ? family_explain(&database->api, "rocksdb_flush", problem, error) : KVDYNO_OK;
}

/* By the log where there is one that can be synced, else by a flush. */
kvdyno_status engine_persist(kvdyno_database *database, kvdyno_text *error)
{
    if (database->weakest == KVDYNO_DURABILITY_COMMIT && !database->mmap_writes)
        return KVDYNO_OK;
    if (database->weakest == KVDYNO_DURABILITY_NONE || database->mmap_writes)
        return adapter_flush(database, error);
    return family_sync_log(database, error);
}

/* ---- housekeeping ---- */

/* The C API does not say whether a compaction failed. */
kvdyno_status engine_health(kvdyno_database *database, kvdyno_text *error)
{
    uint64_t errors = family_number(database, "rocksdb.background-errors");
    if (!errors)
        return KVDYNO_OK;
    say(error, "RocksDB met %" PRIu64 " errors in the background; its LOG file says which", errors);
    return KVDYNO_ERROR;
}

static bool busy(kvdyno_database *database)
{
    return family_number(database, "rocksdb.num-running-flushes") ||
           family_number(database, "rocksdb.num-running-compactions") ||
           family_number(database, "rocksdb.mem-table-flush-pending") ||
           family_number(database, "rocksdb.compaction-pending");
}

kvdyno_status adapter_wait_idle(kvdyno_database *database, kvdyno_text *error)
{
    while (busy(database)) {
        kvdyno_status status = engine_health(database, error); /* after an error, what is pending may stay so */
        if (status != KVDYNO_OK)
            return status;
        usleep(10000);
    }
    return engine_health(database, error);
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

kvdyno_status adapter_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    static const char *const properties[] = {
        "rocksdb.estimate-num-keys",
        "rocksdb.total-sst-files-size",
        "rocksdb.live-sst-files-size",
        "rocksdb.estimate-live-data-size",
        "rocksdb.cur-size-all-mem-tables",
        "rocksdb.size-all-mem-tables",
        "rocksdb.estimate-table-readers-mem",
        "rocksdb.block-cache-usage",
        "rocksdb.block-cache-pinned-usage",
        "rocksdb.num-files-at-level0",
        "rocksdb.num-files-at-level1",
        "rocksdb.num-files-at-level2",
        "rocksdb.num-files-at-level3",
        "rocksdb.num-files-at-level4",
        "rocksdb.num-files-at-level5",
        "rocksdb.num-files-at-level6",
        "rocksdb.actual-delayed-write-rate",
        "rocksdb.is-write-stopped",
        "rocksdb.num-running-flushes",
        "rocksdb.num-running-compactions",
        "rocksdb.compaction-pending",
        "rocksdb.estimate-pending-compaction-bytes",
        "rocksdb.background-errors",
        "rocksdb.stats",
        NULL,
    };
    family_say_properties(database, properties, emit, context);
    char *lines = database->statistics ? database->api.options_statistics_get_string(database->options) : NULL;
    if (lines)
        emit_tickers(lines, emit, context);
    database->api.free(lines);
    rdb_say_own_options(database, emit, context);
    return KVDYNO_OK;
}

/* The ticker `name` of the lines, which have `name COUNT : 123`. */
static uint64_t ticker(const char *lines, const char *name)
{
    const char *at = lines;
    size_t length = strlen(name);
    while ((at = strstr(at, name)) && !((at == lines || at[-1] == '\n') && at[length] == ' '))
        at += length;
    const char *count = at ? strstr(at, "COUNT : ") : NULL;
    return count ? strtoull(count + strlen("COUNT : "), NULL, 10) : KVDYNO_ABSENT;
}

/* include/rocksdb/statistics.h: FLUSH_WRITE_BYTES and COMPACT_WRITE_BYTES, written during flush and during compaction;
 * STALL_MICROS, that writers waited for compaction or flush to finish. The log is in neither. */
kvdyno_status adapter_counters(kvdyno_database *database, kvdyno_counters *counters)
{
    char *lines = database->statistics ? database->api.options_statistics_get_string(database->options) : NULL;
    if (!lines)
        return KVDYNO_UNSUPPORTED;
    uint64_t stalled_us = ticker(lines, "rocksdb.stall.micros");
    if (COUNTS(counters, flushed_bytes))
        counters->flushed_bytes = ticker(lines, "rocksdb.flush.write.bytes");
    if (COUNTS(counters, compacted_bytes))
        counters->compacted_bytes = ticker(lines, "rocksdb.compact.write.bytes");
    if (COUNTS(counters, stalled_ns) && stalled_us != KVDYNO_ABSENT)
        counters->stalled_ns = 1000 * stalled_us;
    database->api.free(lines);
    return KVDYNO_OK;
}
