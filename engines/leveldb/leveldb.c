/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * leveldb.c: LevelDB behind the engine ABI, through its C API. The library is loaded at run time, so that any version,
 * and any descendant that kept the API, can be measured.
 */
#include "leveldb_adapter.h"

/* ---- the library ---- */

static bool load(const char *chosen, leveldb_api *api, kvdyno_text *error)
{
    static const char *const names[] = {"libleveldb.so.1d", "libleveldb.so.1", "libleveldb.so", NULL};
    const library_symbol symbols[] = {
#define REQUIRED(name) {(void **)&api->name, #name, false},
#define OPTIONAL(name) {(void **)&api->name, #name, true},
        FUNCTIONS(REQUIRED)
        OPTIONAL_FUNCTIONS(OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
        {NULL, NULL, false},
    };
    void *library = open_library(chosen, names, "Debian package libleveldb1d", error);
    return library && find_symbols(library, symbols, "LevelDB", error);
}

static kvdyno_status leveldb_probe(const char *library, kvdyno_text *version, kvdyno_text *error)
{
    leveldb_api api;
    if (!load(library, &api, error))
        return KVDYNO_NO_LIBRARY;
    if (api.leveldb_major_version && api.leveldb_minor_version)
        say(version, "%d.%d", api.leveldb_major_version(), api.leveldb_minor_version());
    else
        say(version, "unknown");
    return KVDYNO_OK;
}

/* ---- settings ---- */

/* The bounds are those to which LevelDB would cut a value in silence. */
#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define LEAST_WRITE_BUFFER (64 * KIB)
#define MOST_WRITE_BUFFER GIB
#define DEFAULT_FILE_SIZE (2 * MIB)

enum {
    BLOCK_SIZE, BLOCK_RESTART_INTERVAL, MAX_FILE_SIZE, MAX_OPEN_FILES, BLOOM_BITS, PARANOID_CHECKS, VERIFY_CHECKSUMS,
    FILL_CACHE, OPTION_COUNT
};
static const kvdyno_option options[OPTION_COUNT] = {
    [BLOCK_SIZE] = {.name = "block_size", .type = KVDYNO_OPTION_SIZE, .default_value = "4KiB", .minimum = KIB,
                    .maximum = 4 * MIB, .help = "Bytes of user data in a block, before compression."},
    [BLOCK_RESTART_INTERVAL] = {.name = "block_restart_interval", .type = KVDYNO_OPTION_INTEGER, .default_value = "16",
                                .minimum = 1, .maximum = 1 << 20,
                                .help = "Keys between two that are stored whole, not as a difference to the last one."},
    [MAX_FILE_SIZE] = {.name = "max_file_size", .type = KVDYNO_OPTION_SIZE, .default_value = "2MiB", .minimum = MIB,
                       .maximum = GIB, .help = "Bytes after which a table file is full and the next is begun."},
    [MAX_OPEN_FILES] = {.name = "max_open_files", .type = KVDYNO_OPTION_INTEGER, .default_value = "1000",
                        .minimum = 74, .maximum = 50000, .help = "The most files that are kept open at once."},
    [BLOOM_BITS] = {.name = "bloom_bits", .type = KVDYNO_OPTION_INTEGER, .default_value = "0", .maximum = 64,
                    .help = "Bits a key of the Bloom filters that spare reads of tables without it; 0: no filters."},
    [PARANOID_CHECKS] = {.name = "paranoid_checks", .type = KVDYNO_OPTION_BOOL, .default_value = "false",
                         .help = "Stops at the first damage that it meets in its files."},
    [VERIFY_CHECKSUMS] = {.name = "verify_checksums", .type = KVDYNO_OPTION_BOOL, .default_value = "false",
                          .help = "Checks the checksum of every block that a read takes from a file."},
    [FILL_CACHE] = {.name = "fill_cache", .type = KVDYNO_OPTION_BOOL, .default_value = "true",
                    .help = "Keeps the blocks that were read in the cache."},
};

static bool acceptable(const kvdyno_config *config, kvdyno_text *error)
{
    if (config->durability > KVDYNO_DURABILITY_COMMIT)
        say(error, "durability: level %" PRIu32 " is not known", config->durability);
    else if (config->compression > KVDYNO_COMPRESSION_SNAPPY)
        say(error, "compression: LevelDB has none but snappy");
    else if (config->write_buffer_bytes < LEAST_WRITE_BUFFER || config->write_buffer_bytes > MOST_WRITE_BUFFER)
        say(error, "write_buffer: LevelDB takes 64 KiB to 1 GiB, not %" PRIu64 " bytes", config->write_buffer_bytes);
    else
        return true;
    return false;
}

static void settings_durability(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    static const char *const how[] = {
        [KVDYNO_DURABILITY_NONE] = "sync=false: written to the log, not synced; LevelDB cannot do without its log",
        [KVDYNO_DURABILITY_PROCESS] = "sync=false: written to the log, not synced",
        [KVDYNO_DURABILITY_INTERVAL] = "sync=false: written to the log, not synced",
        [KVDYNO_DURABILITY_COMMIT] = "sync=true: each write, or group of concurrent ones, is synced",
    };
    emit(context, "durability", "WriteOptions", how[config->durability]);
    if (config->durability == KVDYNO_DURABILITY_INTERVAL)
        emitf(emit, context, "durability", "background", "an empty batch with sync=true every %" PRIu32 " ms",
              config->interval_ms);
    if (config->durability != KVDYNO_DURABILITY_COMMIT)
        emit(context, "durability", "close", "the memtable is written to a table file, which LevelDB syncs");
}

static void settings_options(const kvdyno_value *option, kvdyno_emit emit, void *context)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (options[i].type == KVDYNO_OPTION_BOOL)
            emit(context, "options", options[i].name, option[i].integer ? "true" : "false");
        else
            emitf(emit, context, "options", options[i].name, "%" PRId64, option[i].integer);
    }
}

static kvdyno_status leveldb_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    if (!acceptable(config, error))
        return KVDYNO_UNSUPPORTED;
    settings_durability(config, emit, context);
    emitf(emit, context, "cache", "block_cache", "LRU of %" PRIu64 " bytes", config->cache_bytes);
    emit(context, "cache", "mapped tables", "LevelDB maps up to 1000 table files: what needs no decompression is read "
         "there, the OS caches it, and it does not enter the block cache");
    emitf(emit, context, "write_buffer", "write_buffer_size", "%" PRIu64, config->write_buffer_bytes);
    emit(context, "compression", "compression",
         config->compression == KVDYNO_COMPRESSION_SNAPPY ? "kSnappyCompression" : "kNoCompression");
    emit(context, "checksums", "verify_checksums", config->options[VERIFY_CHECKSUMS].integer
         ? "true: that of every block that a read takes from a file" : "false: reads check none, LevelDB's default");
    settings_options(config->options, emit, context);
    return KVDYNO_OK;
}

/* ---- the database ---- */

kvdyno_status leveldb_explain(const leveldb_api *api, const char *what, char *problem, kvdyno_text *error)
{
    say(error, "%s: %s", what, problem);
    kvdyno_status status = strstr(problem, "No space left") ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
    api->leveldb_free(problem);
    return status;
}

static void database_free(kvdyno_database *database)
{
    const leveldb_api *api = &database->api;
    if (database->db)
        api->leveldb_close(database->db);
    if (database->cache)
        api->leveldb_cache_destroy(database->cache);
    if (database->filter)
        api->leveldb_filterpolicy_destroy(database->filter);
    if (database->nothing)
        api->leveldb_writebatch_destroy(database->nothing);
    if (database->write)
        api->leveldb_writeoptions_destroy(database->write);
    if (database->synced)
        api->leveldb_writeoptions_destroy(database->synced);
    free(database);
}

/* Syncs the log. LevelDB has no call for it, but it logs an empty batch like any other. */
static kvdyno_status sync_log(kvdyno_database *database, kvdyno_text *error)
{
    char *problem = NULL;
    database->api.leveldb_write(database->db, database->synced, database->nothing, &problem);
    return problem ? leveldb_explain(&database->api, "cannot sync the log", problem, error) : KVDYNO_OK;
}

static int sync_in_background(void *context)
{
    kvdyno_database *database = context;
    kvdyno_text error = {database->syncer_error, sizeof database->syncer_error};
    return database->syncer_error[0] ? KVDYNO_ERROR : sync_log(database, &error);
}

/* Puts everything on the storage. The log alone is not enough: that of a memtable on its way to a table file is out of
 * reach and was not synced. So LevelDB is asked to compact a range without keys, which first writes out the memtables;
 * should that fail, LevelDB takes no more writes, and the sync of the log says why. */
static kvdyno_status leveldb_flush(kvdyno_database *database, kvdyno_text *error)
{
    database->api.leveldb_compact_range(database->db, "", 0, "", 0);
    return sync_log(database, error);
}

static leveldb_options_t *make_options(kvdyno_database *database, const kvdyno_config *config)
{
    const leveldb_api *api = &database->api;
    const kvdyno_value *option = config->options;
    leveldb_options_t *made = api->leveldb_options_create();
    api->leveldb_options_set_create_if_missing(made, config->create != 0);
    api->leveldb_options_set_error_if_exists(made, config->create != 0);
    api->leveldb_options_set_cache(made, database->cache);
    api->leveldb_options_set_write_buffer_size(made, config->write_buffer_bytes);
    api->leveldb_options_set_compression(made, config->compression == KVDYNO_COMPRESSION_SNAPPY
                                                   ? leveldb_snappy_compression
                                                   : leveldb_no_compression);
    api->leveldb_options_set_block_size(made, (size_t)option[BLOCK_SIZE].integer);
    api->leveldb_options_set_block_restart_interval(made, (int)option[BLOCK_RESTART_INTERVAL].integer);
    api->leveldb_options_set_max_open_files(made, (int)option[MAX_OPEN_FILES].integer);
    api->leveldb_options_set_paranoid_checks(made, option[PARANOID_CHECKS].integer != 0);
    if (api->leveldb_options_set_max_file_size)
        api->leveldb_options_set_max_file_size(made, (size_t)option[MAX_FILE_SIZE].integer);
    if (database->filter)
        api->leveldb_options_set_filter_policy(made, database->filter);
    return made;
}

/* What the database needs besides LevelDB's own handle. */
static void make_parts(kvdyno_database *database, const kvdyno_config *config)
{
    const leveldb_api *api = &database->api;
    const kvdyno_value *option = config->options;
    database->durability = config->durability;
    database->verify_checksums = option[VERIFY_CHECKSUMS].integer != 0;
    database->fill_cache = option[FILL_CACHE].integer != 0;
    database->cache = api->leveldb_cache_create_lru(config->cache_bytes);
    if (option[BLOOM_BITS].integer)
        database->filter = api->leveldb_filterpolicy_create_bloom((int)option[BLOOM_BITS].integer);
    database->write = api->leveldb_writeoptions_create();
    api->leveldb_writeoptions_set_sync(database->write, config->durability == KVDYNO_DURABILITY_COMMIT);
    database->synced = api->leveldb_writeoptions_create();
    api->leveldb_writeoptions_set_sync(database->synced, 1);
    database->nothing = api->leveldb_writebatch_create();
}

static kvdyno_status open_db(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    const leveldb_api *api = &database->api;
    if (!api->leveldb_options_set_max_file_size && config->options[MAX_FILE_SIZE].integer != DEFAULT_FILE_SIZE) {
        say(error, "max_file_size: this library has no function to set it");
        return KVDYNO_UNSUPPORTED;
    }
    make_parts(database, config);
    leveldb_options_t *made = make_options(database, config);
    char *problem = NULL;
    database->db = api->leveldb_open(made, config->path, &problem);
    api->leveldb_options_destroy(made);
    if (problem)
        return leveldb_explain(api, "cannot open", problem, error);
    int failed = config->durability == KVDYNO_DURABILITY_INTERVAL
                     ? interval_syncer_start(&database->syncer, config->interval_ms, sync_in_background, database)
                     : 0;
    if (failed)
        say(error, "cannot start the syncing thread: %s", strerror(failed));
    return failed ? KVDYNO_ERROR : KVDYNO_OK;
}

static kvdyno_status leveldb_database_open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error)
{
    if (!acceptable(config, error))
        return KVDYNO_UNSUPPORTED;
    kvdyno_database *database = calloc(1, sizeof *database);
    if (!database) {
        say(error, "out of memory");
        return KVDYNO_ERROR;
    }
    if (!load(config->library, &database->api, error)) {
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

static kvdyno_status leveldb_database_close(kvdyno_database *database, kvdyno_text *error)
{
    kvdyno_status status = KVDYNO_OK;
    if (interval_syncer_stop(&database->syncer)) {
        say(error, "in the background: %s", database->syncer_error);
        status = KVDYNO_ERROR;
    } else if (database->durability != KVDYNO_DURABILITY_COMMIT) {
        status = leveldb_flush(database, error);
    }
    database_free(database);
    return status;
}

static kvdyno_status leveldb_compact(kvdyno_database *database, kvdyno_text *error)
{
    database->api.leveldb_compact_range(database->db, NULL, 0, NULL, 0);
    return sync_log(database, error); /* the compaction cannot say that it failed; LevelDB then takes no more writes */
}

static kvdyno_status leveldb_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    static const char *const properties[] = {
        "leveldb.stats",               "leveldb.approximate-memory-usage", "leveldb.num-files-at-level0",
        "leveldb.num-files-at-level1", "leveldb.num-files-at-level2",      "leveldb.num-files-at-level3",
        "leveldb.num-files-at-level4", "leveldb.num-files-at-level5",      "leveldb.num-files-at-level6",
    };
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        char *value = database->api.leveldb_property_value(database->db, properties[i]);
        if (value)
            emit(context, "property", properties[i], value);
        database->api.leveldb_free(value);
    }
    return KVDYNO_OK;
}

/* ---- the engine ---- */

static const kvdyno_engine engine = {
    .size = sizeof(kvdyno_engine),
    .abi_version = KVDYNO_ABI_VERSION,
    .name = "leveldb",
    .summary = "LevelDB: a log-structured merge tree with one background thread",
    .origin = "Debian package libleveldb1d",
    .capabilities = KVDYNO_CAN_SCAN | KVDYNO_CAN_SCAN_REVERSE | KVDYNO_CAN_DELETE | KVDYNO_CAN_BATCH |
                    KVDYNO_CAN_MULTI_GET | KVDYNO_CAN_SNAPSHOT | KVDYNO_CAN_WRITE_CONCURRENTLY,
    .durabilities = 1u << KVDYNO_DURABILITY_NONE | 1u << KVDYNO_DURABILITY_PROCESS |
                    1u << KVDYNO_DURABILITY_INTERVAL | 1u << KVDYNO_DURABILITY_COMMIT,
    .compressions = 1u << KVDYNO_COMPRESSION_NONE | 1u << KVDYNO_COMPRESSION_SNAPPY,
    .max_key_size = UINT32_MAX - 8, /* lengths are stored in 32 bits, a key with 8 bytes of LevelDB's own */
    .max_value_size = UINT32_MAX,
    .options = options,
    .option_count = OPTION_COUNT,
    .option_size = sizeof(kvdyno_option),
    .preset_size = sizeof(kvdyno_preset),
    .probe = leveldb_probe,
    .settings = leveldb_settings,
    .open = leveldb_database_open,
    .close = leveldb_database_close,
    .session_open = leveldb_session_open,
    .session_close = leveldb_session_close,
    .session_error = leveldb_session_error,
    .get = leveldb_session_get,
    .put = leveldb_session_put,
    .remove = leveldb_session_remove,
    .write = leveldb_session_write,
    .multi_get = leveldb_session_multi_get,
    .begin = leveldb_session_begin,
    .commit = leveldb_session_end,
    .abort = leveldb_session_end,
    .cursor_open = leveldb_cursor_open,
    .cursor_close = leveldb_cursor_close,
    .cursor_seek = leveldb_cursor_seek,
    .cursor_next = leveldb_cursor_next,
    .cursor_previous = leveldb_cursor_previous,
    .flush = leveldb_flush,
    .compact = leveldb_compact,
    .statistics = leveldb_statistics,
    /* No wait_idle: LevelDB does not tell whether its background thread has work. */
};

const kvdyno_engine *kvdyno_engine_v1(void)
{
    return &engine;
}
