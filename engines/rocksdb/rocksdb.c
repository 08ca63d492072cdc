/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * rocksdb.c: RocksDB behind the engine ABI, through its C API: what it is, what it can be told, what it refuses.
 */
#include "rocksdb_adapter.h"

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
/* The bounds to which RocksDB would cut it in silence. */
#define LEAST_WRITE_BUFFER (64 * KIB)
#define MOST_WRITE_BUFFER (64 * GIB)

/* The defaults are RocksDB's own. */
static const kvdyno_option options[OPTION_COUNT] = {
    [BLOCK_SIZE] = {.name = "block_size", .type = KVDYNO_OPTION_SIZE, .default_value = "4KiB", .minimum = KIB,
                    .maximum = GIB, .help = "Bytes of user data in a block, before compression."},
    [BLOOM_BITS] = {.name = "bloom_bits", .type = KVDYNO_OPTION_INTEGER, .default_value = "0", .maximum = 64,
                    .help = "Bits a key of the Bloom filters that spare reads of tables without it; 0: no filters."},
    [CACHE_INDEX_AND_FILTER_BLOCKS] = {.name = "cache_index_and_filter_blocks", .type = KVDYNO_OPTION_BOOL,
                                       .default_value = "false",
                                       .help = "Keeps indexes and filters in the block cache, not beside it."},
    [MAX_BACKGROUND_JOBS] = {.name = "max_background_jobs", .type = KVDYNO_OPTION_INTEGER, .default_value = "0",
                             .maximum = 4096,
                             .help = "The most flushes and compactions at once; 0: RocksDB's default."},
    [MAX_OPEN_FILES] = {.name = "max_open_files", .type = KVDYNO_OPTION_INTEGER, .default_value = "-1", .minimum = -1,
                        .maximum = INT32_MAX, .help = "The most files that are kept open at once; -1: all of them."},
    [MAX_WRITE_BUFFER_NUMBER] = {.name = "max_write_buffer_number", .type = KVDYNO_OPTION_INTEGER,
                                 .default_value = "2", .minimum = 2, .maximum = 4096,
                                 .help = "The most write buffers, the one being filled and those being written out."},
    [TARGET_FILE_SIZE_BASE] = {.name = "target_file_size_base", .type = KVDYNO_OPTION_SIZE, .default_value = "64MiB",
                               .minimum = 64 * KIB, .maximum = 1024 * GIB,
                               .help = "Bytes after which a table file of level 1 is full and the next is begun."},
    [LEVEL0_TRIGGER] = {.name = "level0_file_num_compaction_trigger", .type = KVDYNO_OPTION_INTEGER,
                        .default_value = "4", .minimum = 1, .maximum = 4096,
                        .help = "Files in level 0 that start a compaction."},
    [COMPACTION_STYLE] = {.name = "compaction_style", .type = KVDYNO_OPTION_CHOICE, .default_value = "level",
                          .choices = "level|universal", .help = "How tables are merged."},
    [DIRECT_READS] = {.name = "direct_reads", .type = KVDYNO_OPTION_BOOL, .default_value = "false",
                      .help = "Reads with O_DIRECT: the OS caches nothing."},
    [DIRECT_IO_FLUSH_COMPACTION] = {.name = "direct_io_flush_compaction", .type = KVDYNO_OPTION_BOOL,
                                    .default_value = "false",
                                    .help = "Flushes and compactions read and write with O_DIRECT."},
    [MMAP_READS] = {.name = "mmap_reads", .type = KVDYNO_OPTION_BOOL, .default_value = "false",
                    .help = "Reads table files through a map."},
    [MMAP_WRITES] = {.name = "mmap_writes", .type = KVDYNO_OPTION_BOOL, .default_value = "false",
                     .help = "Writes files through a map."},
    [PIPELINED_WRITE] = {.name = "pipelined_write", .type = KVDYNO_OPTION_BOOL, .default_value = "false",
                         .help = "Lets a group of writes enter the log while the last one enters the write buffer."},
    [UNORDERED_WRITE] = {.name = "unordered_write", .type = KVDYNO_OPTION_BOOL, .default_value = "false",
                         .help = "Lets writes enter the write buffer in any order: faster, but a snapshot may change."},
    [VERIFY_CHECKSUMS] = {.name = "verify_checksums", .type = KVDYNO_OPTION_BOOL, .default_value = "true",
                          .help = "Checks the checksum of every block that a read takes from a file."},
    [FILL_CACHE] = {.name = "fill_cache", .type = KVDYNO_OPTION_BOOL, .default_value = "true",
                    .help = "Keeps the blocks that were read in the cache."},
    [STATISTICS] = {.name = "statistics", .type = KVDYNO_OPTION_BOOL, .default_value = "false",
                    .help = "Counts what RocksDB does, for the engine's statistics; it costs time."},
};

static const char *const compressions[] = {
    [KVDYNO_COMPRESSION_NONE] = "kNoCompression", [KVDYNO_COMPRESSION_SNAPPY] = "kSnappyCompression",
    [KVDYNO_COMPRESSION_LZ4] = "kLZ4Compression", [KVDYNO_COMPRESSION_ZSTD] = "kZSTD",
    [KVDYNO_COMPRESSION_ZLIB] = "kZlibCompression",
};

bool rdb_acceptable(const kvdyno_config *config, kvdyno_text *error)
{
    const kvdyno_value *option = config->options;
    if (config->durability > KVDYNO_DURABILITY_COMMIT)
        say(error, "durability: level %" PRIu32 " is not known", config->durability);
    else if (config->compression > KVDYNO_COMPRESSION_ZLIB)
        say(error, "compression: %" PRIu32 " is not known", config->compression);
    else if (config->write_buffer_bytes < LEAST_WRITE_BUFFER || config->write_buffer_bytes > MOST_WRITE_BUFFER)
        say(error, "write_buffer: RocksDB takes 64 KiB to 64 GiB, not %" PRIu64 " bytes", config->write_buffer_bytes);
    else if (option[DIRECT_READS].integer && option[MMAP_READS].integer)
        say(error, "direct_reads and mmap_reads exclude each other");
    else if (option[DIRECT_IO_FLUSH_COMPACTION].integer && option[MMAP_WRITES].integer)
        say(error, "direct_io_flush_compaction and mmap_writes exclude each other");
    else if (option[MMAP_WRITES].integer && config->durability == KVDYNO_DURABILITY_INTERVAL)
        say(error, "durability interval: RocksDB cannot sync its log in the background with mmap_writes");
    else if (option[PIPELINED_WRITE].integer && option[UNORDERED_WRITE].integer)
        say(error, "pipelined_write and unordered_write exclude each other");
    else
        return true;
    return false;
}

static void settings_durability(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    static const char *const how[][2] = {
        [KVDYNO_DURABILITY_NONE] = {"disableWAL=true", "the write buffers are flushed to table files"},
        [KVDYNO_DURABILITY_PROCESS] = {"sync=false: written to the log, not synced", "the log is synced"},
        [KVDYNO_DURABILITY_INTERVAL] = {"sync=false: written to the log, not synced", "the log is synced"},
        [KVDYNO_DURABILITY_COMMIT] = {"sync=true: each write, or group of concurrent ones, is synced", NULL},
    };
    emit(context, "durability", "WriteOptions", how[config->durability][0]);
    if (config->durability == KVDYNO_DURABILITY_INTERVAL)
        emitf(emit, context, "durability", "background", "FlushWAL(sync=true) every %" PRIu32 " ms",
              config->interval_ms);
    if (how[config->durability][1])
        emit(context, "durability", "close", how[config->durability][1]);
}

static void settings_option(const kvdyno_option *option, kvdyno_value value, kvdyno_emit emit, void *context)
{
    if (option->type == KVDYNO_OPTION_BOOL)
        emit(context, "options", option->name, value.integer ? "true" : "false");
    else if (option->type == KVDYNO_OPTION_CHOICE)
        emit(context, "options", option->name, value.text);
    else
        emitf(emit, context, "options", option->name, "%" PRId64, value.integer);
}

static kvdyno_status rdb_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    if (!rdb_acceptable(config, error))
        return KVDYNO_UNSUPPORTED;
    settings_durability(config, emit, context);
    emitf(emit, context, "cache", "block_cache", "LRU of %" PRIu64 " bytes", config->cache_bytes);
    emitf(emit, context, "write_buffer", "write_buffer_size", "%" PRIu64, config->write_buffer_bytes);
    emit(context, "compression", "compression, bottommost_compression", compressions[config->compression]);
    emit(context, "checksums", "verify_checksums", config->options[VERIFY_CHECKSUMS].integer
         ? "true: that of every block that a read takes from a file, RocksDB's default" : "false: reads check none");
    for (int i = 0; i < OPTION_COUNT; i++)
        settings_option(&options[i], config->options[i], emit, context);
    return KVDYNO_OK;
}

static const kvdyno_engine engine = {
    .size = sizeof(kvdyno_engine),
    .abi_version = KVDYNO_ABI_VERSION,
    .name = "rocksdb",
    .summary = "RocksDB: a log-structured merge tree with many background threads",
    .origin = "Debian package librocksdb7.8, or librocksdbjni-linux64.so from any org.rocksdb:rocksdbjni",
    .capabilities = KVDYNO_CAN_SCAN | KVDYNO_CAN_SCAN_REVERSE | KVDYNO_CAN_DELETE | KVDYNO_CAN_BATCH |
                    KVDYNO_CAN_MULTI_GET | KVDYNO_CAN_SNAPSHOT | KVDYNO_CAN_WRITE_CONCURRENTLY,
    .durabilities = 1u << KVDYNO_DURABILITY_NONE | 1u << KVDYNO_DURABILITY_PROCESS |
                    1u << KVDYNO_DURABILITY_INTERVAL | 1u << KVDYNO_DURABILITY_COMMIT,
    .compressions = 1u << KVDYNO_COMPRESSION_NONE | 1u << KVDYNO_COMPRESSION_SNAPPY | 1u << KVDYNO_COMPRESSION_LZ4 |
                    1u << KVDYNO_COMPRESSION_ZSTD | 1u << KVDYNO_COMPRESSION_ZLIB,
    .max_key_size = UINT32_MAX - 8, /* lengths are stored in 32 bits, a key with 8 bytes of RocksDB's own */
    .max_value_size = UINT32_MAX,
    .options = options,
    .option_count = OPTION_COUNT,
    .option_size = sizeof(kvdyno_option),
    .preset_size = sizeof(kvdyno_preset),
    .probe = rdb_probe,
    .settings = rdb_settings,
    .open = rdb_open,
    .close = rdb_close,
    .session_open = rdb_session_open,
    .session_close = rdb_session_close,
    .session_error = rdb_session_error,
    .get = rdb_get,
    .put = rdb_put,
    .remove = rdb_remove,
    .write = rdb_write,
    .multi_get = rdb_multi_get,
    .begin = rdb_begin,
    .commit = rdb_end,
    .abort = rdb_end,
    .cursor_open = rdb_cursor_open,
    .cursor_close = rdb_cursor_close,
    .cursor_seek = rdb_cursor_seek,
    .cursor_next = rdb_cursor_next,
    .cursor_previous = rdb_cursor_previous,
    .flush = rdb_flush,
    .compact = rdb_compact,
    .wait_idle = rdb_wait_idle,
    .statistics = rdb_statistics,
};

const kvdyno_engine *kvdyno_engine_v1(void)
{
    return &engine;
}
