/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * settings.c: what a configuration comes to, in RocksDB's words.
 */
#include "family.h"

static const char *const compressions[] = {
    [KVDYNO_COMPRESSION_NONE] = "kNoCompression",   [KVDYNO_COMPRESSION_SNAPPY] = "kSnappyCompression",
    [KVDYNO_COMPRESSION_LZ4] = "kLZ4Compression",   [KVDYNO_COMPRESSION_ZSTD] = "kZSTD",
    [KVDYNO_COMPRESSION_ZLIB] = "kZlibCompression",
};

static void durability(const library_api *api, const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    static const char *const how[][2] = {
        [KVDYNO_DURABILITY_NONE] = {"disableWAL=true", "the write buffers are flushed to table files"},
        [KVDYNO_DURABILITY_PROCESS] = {"sync=false: written to the log, not synced", "the log is synced"},
        [KVDYNO_DURABILITY_PERIODIC] = {"sync=false: written to the log, not synced", "the log is synced"},
        [KVDYNO_DURABILITY_COMMIT] = {"sync=true: each write, or group of concurrent ones, is synced", NULL},
    };
    emit(context, "durability", "WriteOptions", how[config->durability][0]);
    if (config->durability == KVDYNO_DURABILITY_PERIODIC)
        emitf(emit, context, "durability", "background", "%s every %" PRIu32 " ms",
              api->flush_wal ? "FlushWAL(sync=true)" : "an empty batch with sync=true", config->sync_period_ms);
    for (uint32_t level = 0; level < DURABILITY_LEVELS; level++) {
        if (asks_for_durability(config, level))
            emitf(emit, context, "durability", "WriteOptions of sessions", "%s", how[level][0]);
    }
    if (how[weakest_durability(config)][1])
        emit(context, "durability", "close", how[weakest_durability(config)][1]);
}

static void cache(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    if (option_is(config, TABLE, "plain"))
        emit(context, "cache", "block_cache", "none: PlainTable has no blocks; the OS caches its files");
    else if (config->options[MMAP_READS].integer)
        emitf(emit, context, "cache", "block_cache",
              "LRU of %" PRIu64 " bytes; what is not compressed is read in the map and does not enter it",
              config->cache_bytes);
    else
        emitf(emit, context, "cache", "block_cache", "LRU of %" PRIu64 " bytes", config->cache_bytes);
}

/* Options that a plain table does not look at. */
static bool is_for_blocks(int option)
{
    return option == BLOCK_SIZE || option == CACHE_INDEX_AND_FILTER_BLOCKS || option == VERIFY_CHECKSUMS ||
           option == FILL_CACHE || option == INDEX;
}

static void prefix(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    size_t size = rdb_prefix_size(config);
    if (size == SIZE_MAX)
        emit(context, "options", "prefix_size", "the whole key");
    else
        emitf(emit, context, "options", "prefix_size", "%zu", size);
}

static void option(const kvdyno_config *config, int i, kvdyno_emit emit, void *context)
{
    const char *name = rdb_options[i].name;
    const kvdyno_value value = config->options[i];
    if (i == PREFIX_SIZE && config->options[PREFIX_EXTRACTOR].integer)
        prefix(config, emit, context);
    else if (i == HASH_BUCKET_COUNT && !option_is(config, MEMTABLE, "skiplist"))
        emitf(emit, context, "options", name, "%zu", rdb_hash_buckets(config));
    else if (i == ALLOW_CONCURRENT_MEMTABLE_WRITE && value.integer && !rdb_concurrent_memtable(config))
        emit(context, "options", name, "false: a hash memtable takes one writer at a time");
    else if (is_for_blocks(i) && option_is(config, TABLE, "plain"))
        emit(context, "options", name, "for block-based tables alone");
    else
        emit_option(&rdb_options[i], value, emit, context);
}

kvdyno_status adapter_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    library_api api;
    kvdyno_status status = engine_prepare(config, &api, error);
    if (status != KVDYNO_OK)
        return status;
    durability(&api, config, emit, context);
    cache(config, emit, context);
    emitf(emit, context, "write_buffer", "write_buffer_size", "%" PRIu64, config->write_buffer_bytes);
    emit(context, "compression", "compression, bottommost_compression", compressions[config->compression]);
    emit(context, "files", "log", "*.log");
    emit(context, "checksums", "verify_checksums",
         option_is(config, TABLE, "plain") ? "none: PlainTable has no checksums of its data"
         : config->options[VERIFY_CHECKSUMS].integer
             ? "true: that of every block that a read takes from a file, RocksDB's default"
             : "false: reads check none");
    for (int i = 0; i < OPTION_COUNT; i++)
        option(config, i, emit, context);
    return KVDYNO_OK;
}
