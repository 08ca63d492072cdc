/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * lmdb.c: LMDB behind the engine ABI. The library is loaded at run time, so that any version can be measured.
 *
 * A value that `get` hands out lies in the map, and stays there as long as a read transaction that saw it. So a session
 * keeps one read transaction, resets it at the next call of any kind and renews it for the next read. The price: a
 * session that rests after a read keeps LMDB from reusing the pages freed since then, until its next call or its end:
 * beside a writer the file grows. An empty read-only transaction, begin and commit, leaves a session at rest.
 */
#include <unistd.h>

#include "lmdb_adapter.h"

/* ---- the library ---- */

static bool load(const char *chosen, lmdb_api *api, kvdyno_text *error)
{
    static const char *const names[] = {"liblmdb.so.0", "liblmdb.so", NULL};
    const library_symbol symbols[] = {
#define SYMBOL(name) {(void **)&api->name, #name, false},
        FUNCTIONS(SYMBOL)
#undef SYMBOL
        {NULL, NULL, false},
    };
    void *library = open_library(chosen, names, "Debian package liblmdb0", error);
    return library && find_symbols(library, symbols, "LMDB", error);
}

static kvdyno_status lmdb_probe(const char *library, kvdyno_text *version, kvdyno_text *error)
{
    lmdb_api api;
    if (!load(library, &api, error))
        return KVDYNO_NO_LIBRARY;
    int major, minor, patch;
    api.mdb_version(&major, &minor, &patch);
    say(version, "%d.%d.%d", major, minor, patch);
    return KVDYNO_OK;
}

static void lmdb_effective_capabilities(const kvdyno_config *config, kvdyno_capabilities *declared)
{
    lmdb_api api;
    char reason[256];
    kvdyno_text error = {reason, sizeof reason};
    if (!load(config->library, &api, &error) || !lmdb_can_use_device(&api, false, &error))
        declared->capabilities &= ~KVDYNO_CAN_RAW_DEVICE;
}

/* ---- settings ---- */

enum { MAP_SIZE, WRITEMAP, READAHEAD, MEMINIT, APPEND, OPTION_COUNT };
static const kvdyno_option options[OPTION_COUNT] = {
    [MAP_SIZE] = {.name = "map_size", .type = KVDYNO_OPTION_SIZE, .default_value = "0", .maximum = INT64_C(1) << 46,
                  .help = "The most bytes that the database may grow to; 0: 4 times the expected data, from 1 GiB up."},
    [WRITEMAP] = {.name = "writemap", .type = KVDYNO_OPTION_BOOL, .default_value = "false",
                  .help = "Writes through a writable map instead of with pwrite (MDB_WRITEMAP)."},
    [READAHEAD] = {.name = "readahead", .type = KVDYNO_OPTION_BOOL, .default_value = "true",
                   .help = "Lets the OS read ahead; false (MDB_NORDAHEAD) suits random reads of more than the memory."},
    [MEMINIT] = {.name = "meminit", .type = KVDYNO_OPTION_BOOL, .default_value = "true",
                 .help = "Zeroes new pages before they are written; false is MDB_NOMEMINIT."},
    [APPEND] = {.name = "append", .type = KVDYNO_OPTION_BOOL, .default_value = "false",
                .help = "Puts with MDB_APPEND as long as the keys of a put or a batch come after the last one stored."},
};

#define GIB (UINT64_C(1) << 30)
#define PAGE UINT64_C(4096)

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* What a record takes at least: a node in a leaf page, or whole overflow pages for a value of half a page and more. */
static uint64_t record_bytes(uint64_t key_size, uint64_t value_size)
{
    const uint64_t node_head = 8 + 2, page_head = 16;
    if (node_head + key_size + value_size <= (PAGE - page_head) / 2)
        return node_head + key_size + value_size;
    return node_head + key_size + 8 + round_up(page_head + value_size, PAGE);
}

/* Four times the data: pages are half empty after random puts, and copy-on-write needs room beside the old pages. */
static uint64_t map_size(const kvdyno_config *config)
{
    const uint64_t most = (uint64_t)options[MAP_SIZE].maximum;
    uint64_t asked = (uint64_t)config->options[MAP_SIZE].integer;
    if (asked)
        return round_up(asked, PAGE);
    uint64_t each = 4 * record_bytes(config->key_size, config->value_size);
    if (config->records > most / each)
        return most;
    uint64_t needed = round_up(config->records * each, GIB);
    return needed > GIB ? needed : GIB;
}

/* Reader slots: LMDB's own default, and for each session of each process one for its reads and three for cursors. */
static unsigned max_readers(const kvdyno_config *config)
{
    return 126 + 4 * config->sessions * config_processes(config);
}

static unsigned env_flags(const kvdyno_config *config)
{
    const kvdyno_value *option = config->options;
    return MDB_NOTLS | (config->durability == KVDYNO_DURABILITY_COMMIT ? 0 : MDB_NOSYNC) |
           (option[WRITEMAP].integer ? MDB_WRITEMAP : 0) | (option[READAHEAD].integer ? 0 : MDB_NORDAHEAD) |
           (option[MEMINIT].integer ? 0 : MDB_NOMEMINIT);
}

static bool acceptable(const kvdyno_config *config, kvdyno_text *error)
{
    if (config->durability > KVDYNO_DURABILITY_COMMIT)
        say(error, "durability: level %" PRIu32 " is not known", config->durability);
    else if (config->compression != KVDYNO_COMPRESSION_NONE)
        say(error, "compression: LMDB has none");
    else
        return true;
    return false;
}

static void settings_durability(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    static const char *const how[] = {
        [KVDYNO_DURABILITY_NONE] = "MDB_NOSYNC: a commit writes to the OS, synced at close; LMDB has no weaker mode",
        [KVDYNO_DURABILITY_PROCESS] = "MDB_NOSYNC: a commit writes to the OS, synced at close",
        [KVDYNO_DURABILITY_PERIODIC] = "MDB_NOSYNC: a commit writes to the OS; before it is synced, a loss of power "
                                       "may damage the database",
        [KVDYNO_DURABILITY_COMMIT] = "LMDB's default: each commit is synced",
    };
    emit(context, "durability", "flags", how[config->durability]);
    if (config->durability == KVDYNO_DURABILITY_PERIODIC)
        emitf(emit, context, "durability", "background", "mdb_env_sync every %" PRIu32 " ms%s", config->sync_period_ms,
              config_processes(config) > 1 ? ", by one of the processes" : "");
}

static kvdyno_status lmdb_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    if (!acceptable(config, error))
        return KVDYNO_UNSUPPORTED;
    settings_durability(config, emit, context);
    emit(context, "cache", "cache", "none of its own: the database is mapped, the OS caches it");
    emit(context, "write_buffer", "write_buffer", "none: a transaction's copy-on-write pages, written at its commit");
    emit(context, "compression", "compression", "none");
    emit(context, "checksums", "checksums", "none: nothing checks the pages that are read");
    emitf(emit, context, "options", "map_size", "%" PRIu64 ", at most the size of a device", map_size(config));
    emitf(emit, context, "options", "max_readers", "%u", max_readers(config));
    emit(context, "options", "MDB_NOTLS", "true");
    for (int i = WRITEMAP; i < OPTION_COUNT; i++)
        emit(context, "options", options[i].name, config->options[i].integer ? "true" : "false");
    return KVDYNO_OK;
}

/* ---- the database ---- */

kvdyno_status lmdb_explain(const lmdb_api *api, const char *what, int code, kvdyno_text *error)
{
    say(error, "%s: %s%s", what, api->mdb_strerror(code), code == MDB_MAP_FULL ? "; raise the option map_size" : "");
    return code == MDB_MAP_FULL || code == ENOSPC ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
}

static int sync_env(void *context)
{
    kvdyno_database *database = context;
    return database->api.mdb_env_sync(database->env, 1);
}

static kvdyno_status database_failed(kvdyno_database *database, const char *what, int code, kvdyno_text *error)
{
    kvdyno_status status = lmdb_explain(&database->api, what, code, error);
    process_turn_close(&database->turn);
    if (database->env)
        database->api.mdb_env_close(database->env);
    free(database);
    return status;
}

/* LMDB makes what is not there: so whether a database is there has to be asked first. */
static bool files_as_expected(const kvdyno_config *config, kvdyno_text *error)
{
    size_t size = strlen(config->path) + sizeof "/data.mdb";
    char *path = malloc(size);
    if (!path) {
        say(error, "out of memory");
        return false;
    }
    snprintf(path, size, "%s/data.mdb", config->path);
    bool there = access(path, F_OK) == 0, expected = there == !config->create;
    if (!expected)
        say(error, "%s %s", path, there ? "is there already" : "is not there");
    free(path);
    return expected;
}

/* The unnamed database: opened once, in a transaction of its own, for all sessions. */
static int open_dbi(kvdyno_database *database)
{
    const lmdb_api *api = &database->api;
    MDB_txn *txn;
    int code = api->mdb_txn_begin(database->env, NULL, 0, &txn);
    if (code)
        return code;
    code = api->mdb_dbi_open(txn, NULL, 0, &database->dbi);
    if (code) {
        api->mdb_txn_abort(txn);
        return code;
    }
    return api->mdb_txn_commit(txn);
}

/* A device cannot grow: writes beyond its end would be found out too late. */
static uint64_t map_size_here(const kvdyno_config *config)
{
    uint64_t wanted = map_size(config), there = UINT64_MAX;
    if (lmdb_is_device(config->path))
        there = lmdb_device_map(config->path);
    return wanted < there ? wanted : there;
}

static int start_syncer(kvdyno_database *database, const kvdyno_config *config)
{
    int code = config_processes(config) > 1 ? process_turn_open(&database->turn, config->path) : 0;
    database->syncer.turn = &database->turn;
    return code ? code : periodic_syncer_start(&database->syncer, config->sync_period_ms, sync_env, database);
}

static kvdyno_status open_env(const kvdyno_config *config, kvdyno_database *database, kvdyno_text *error)
{
    const lmdb_api *api = &database->api;
    uint64_t map = map_size_here(config);
    if (!map) {
        say(error, "%s is smaller than 2 MiB, or its size is not known", config->path);
        free(database);
        return KVDYNO_ERROR;
    }
    int code = api->mdb_env_create(&database->env);
    if (code)
        return database_failed(database, "mdb_env_create", code, error);
    code = api->mdb_env_set_mapsize(database->env, map);
    if (code)
        return database_failed(database, "mdb_env_set_mapsize", code, error);
    code = api->mdb_env_set_maxreaders(database->env, max_readers(config));
    if (code)
        return database_failed(database, "mdb_env_set_maxreaders", code, error);
    code = api->mdb_env_open(database->env, config->path, env_flags(config), 0666);
    if (code)
        return database_failed(database, "mdb_env_open", code, error);
    code = api->mdb_reader_check(database->env, NULL); /* slots of processes that died */
    if (code)
        return database_failed(database, "mdb_reader_check", code, error);
    code = open_dbi(database);
    if (code)
        return database_failed(database, "mdb_dbi_open", code, error);
    if (config->durability == KVDYNO_DURABILITY_PERIODIC)
        code = start_syncer(database, config);
    return code ? database_failed(database, "the syncing thread", code, error) : KVDYNO_OK;
}

static kvdyno_status lmdb_open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error)
{
    if (!acceptable(config, error))
        return KVDYNO_UNSUPPORTED;
    bool device = lmdb_is_device(config->path);
    if (device ? !lmdb_device_as_expected(config, error) : !files_as_expected(config, error))
        return KVDYNO_ERROR;
    kvdyno_database *database = calloc(1, sizeof *database);
    if (!database) {
        say(error, "out of memory");
        return KVDYNO_ERROR;
    }
    if (!load(config->library, &database->api, error)) {
        free(database);
        return KVDYNO_NO_LIBRARY;
    }
    if (device && !lmdb_can_use_device(&database->api, config->options[WRITEMAP].integer != 0, error)) {
        free(database);
        return KVDYNO_UNSUPPORTED;
    }
    database->append = config->options[APPEND].integer ? MDB_APPEND : 0;
    kvdyno_status status = open_env(config, database, error);
    if (status == KVDYNO_OK)
        *opened = database;
    return status;
}

static kvdyno_status lmdb_flush(kvdyno_database *database, kvdyno_text *error)
{
    int code = sync_env(database);
    return code ? lmdb_explain(&database->api, "mdb_env_sync", code, error) : KVDYNO_OK;
}

static kvdyno_status lmdb_close(kvdyno_database *database, kvdyno_text *error)
{
    int code = periodic_syncer_stop(&database->syncer);
    if (code)
        return database_failed(database, "mdb_env_sync in the background", code, error);
    code = sync_env(database);
    if (code)
        return database_failed(database, "mdb_env_sync", code, error);
    process_turn_close(&database->turn);
    database->api.mdb_env_close(database->env);
    free(database);
    return KVDYNO_OK;
}

/* ---- the engine ---- */

static const kvdyno_engine engine = {
    .size = sizeof(kvdyno_engine),
    .abi_version = KVDYNO_ABI_VERSION,
    .name = "lmdb",
    .summary = "LMDB: a memory-mapped copy-on-write B+tree, one writer beside any number of readers",
    .origin = "Debian package liblmdb0; for raw devices 0.9.70 or later, such as the one in the crate lmdb-master3-sys",
    .capabilities = KVDYNO_CAN_SCAN | KVDYNO_CAN_SCAN_REVERSE | KVDYNO_CAN_DELETE | KVDYNO_CAN_BATCH |
                    KVDYNO_CAN_MULTI_GET | KVDYNO_CAN_TRANSACT | KVDYNO_CAN_SNAPSHOT | KVDYNO_CAN_READ_MODIFY_WRITE |
                    KVDYNO_CAN_SHARE_PROCESSES | KVDYNO_CAN_RAW_DEVICE | KVDYNO_IS_MAPPED,
    .durabilities = 1u << KVDYNO_DURABILITY_NONE | 1u << KVDYNO_DURABILITY_PROCESS |
                    1u << KVDYNO_DURABILITY_PERIODIC | 1u << KVDYNO_DURABILITY_COMMIT,
    .compressions = 1u << KVDYNO_COMPRESSION_NONE,
    .min_key_size = 1,
    .max_key_size = 511,
    .max_value_size = 0xffffffff,
    .options = options,
    .option_count = OPTION_COUNT,
    .option_size = sizeof(kvdyno_option),
    .preset_size = sizeof(kvdyno_preset),
    .probe = lmdb_probe,
    .settings = lmdb_settings,
    .open = lmdb_open,
    .close = lmdb_close,
    .session_open = lmdb_session_open,
    .session_close = lmdb_session_close,
    .session_error = lmdb_session_error,
    .get = lmdb_get,
    .put = lmdb_put,
    .remove = lmdb_remove,
    .write = lmdb_write,
    .multi_get = lmdb_multi_get,
    .read_modify_write = lmdb_read_modify_write,
    .begin = lmdb_begin,
    .commit = lmdb_commit,
    .abort = lmdb_abort,
    .cursor_open = lmdb_cursor_open,
    .cursor_close = lmdb_cursor_close,
    .cursor_seek = lmdb_cursor_seek,
    .cursor_next = lmdb_cursor_next,
    .cursor_previous = lmdb_cursor_previous,
    .flush = lmdb_flush,
    .statistics = lmdb_statistics,
    .destroy = lmdb_destroy,
    .effective_capabilities = lmdb_effective_capabilities,
};

const kvdyno_engine *kvdyno_engine_v2(void)
{
    return &engine;
}
