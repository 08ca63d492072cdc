/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * lmdb.c: LMDB behind the engine ABI: its options and settings, and where it differs from libmdbx. The rest is in
 * ../lmdb-family.
 */
#include "family.h"

/* ---- the library ---- */

static const library_source source = {"LMDB", "Debian package liblmdb0",
                                      (const char *const[]){"liblmdb.so.0", "liblmdb.so", NULL}};

bool library_load(const char *chosen, library_api *api, kvdyno_text *error)
{
    const library_symbol symbols[] = {
#define SYMBOL(name) {(void **)&api->name, #name, false},
        LMDB_FUNCTIONS(SYMBOL)
#undef SYMBOL
            LAST_SYMBOL};
    return load_library(&source, chosen, symbols, error);
}

kvdyno_status adapter_probe(const char *library, kvdyno_text *version, kvdyno_text *error)
{
    library_api api;
    library_release is;
    if (!library_load(library, &api, error))
        return KVDYNO_NO_LIBRARY;
    api.mdb_version(&is.major, &is.minor, &is.patch);
    say_release(is, version);
    return KVDYNO_OK;
}

void adapter_effective_capabilities(const kvdyno_config *config, kvdyno_capabilities *declared)
{
    library_api api;
    if (!library_load(config->library, &api, NULL) || !lmdb_can_use_device(&api, false, NULL))
        declared->capabilities &= ~KVDYNO_CAN_RAW_DEVICE;
}

/* ---- settings ---- */

enum { MAP_SIZE, WRITEMAP, READAHEAD, MEMINIT, APPEND, OPTION_COUNT };
static const kvdyno_option options[OPTION_COUNT] = {
    [MAP_SIZE] = {"map_size",
                  SIZE("0", 0, INT64_C(1) << 46,
                       "The most bytes that the database may grow to; 0: 4 times the expected data, from 1 GiB up.")},
    [WRITEMAP] = {"writemap", BOOL("false", "Writes through a writable map instead of with pwrite (MDB_WRITEMAP).")},
    [READAHEAD] = {"readahead",
                   BOOL("true",
                        "Lets the OS read ahead; false (MDB_NORDAHEAD) suits random reads of more than the memory.")},
    [MEMINIT] = {"meminit", BOOL("true", "Zeroes new pages before they are written; false is MDB_NOMEMINIT.")},
    [APPEND] = {"append",
                BOOL("false",
                     "Puts with MDB_APPEND as long as the keys of a put or a batch come after the last one stored.")},
};

#define PAGE 4096

static unsigned max_readers(const kvdyno_config *config)
{
    return family_max_readers(config, 126);
}

unsigned engine_flags(const kvdyno_config *config)
{
    const kvdyno_value *option = config->options;
    return MDB_NOTLS | (config->durability == KVDYNO_DURABILITY_COMMIT ? 0 : MDB_NOSYNC) |
           (option[WRITEMAP].integer ? MDB_WRITEMAP : 0) | (option[READAHEAD].integer ? 0 : MDB_NORDAHEAD) |
           (option[MEMINIT].integer ? 0 : MDB_NOMEMINIT);
}

bool engine_accepts(const kvdyno_config *config, kvdyno_text *error)
{
    return !refuses_durability(config, error) && !refuses_compression(config, "LMDB", error);
}

kvdyno_status adapter_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    static const char *const how[] = {
        [KVDYNO_DURABILITY_NONE] = "MDB_NOSYNC: a commit writes to the OS, synced at close",
        [KVDYNO_DURABILITY_PROCESS] = "MDB_NOSYNC: a commit writes to the OS, synced at close",
        [KVDYNO_DURABILITY_PERIODIC] = "MDB_NOSYNC: a commit writes to the OS; before it is synced, a loss of power "
                                       "may damage the database",
        [KVDYNO_DURABILITY_COMMIT] = "LMDB's default: each commit is synced",
    };
    if (!engine_accepts(config, error))
        return KVDYNO_UNSUPPORTED;
    emit(context, "durability", "flags", how[config->durability]);
    family_say_stronger(config, emit, context);
    family_say_periodic(config, "mdb_env_sync", emit, context);
    family_say_memory("none: a transaction's copy-on-write pages, written at its commit", emit, context);
    emitf(emit, context, "options", "map_size", "%" PRIu64 ", at most the size of a device",
          family_map_size(config, options, MAP_SIZE, PAGE));
    emitf(emit, context, "options", "max_readers", "%u", max_readers(config));
    emit(context, "options", "MDB_NOTLS", "true");
    for (int i = WRITEMAP; i < OPTION_COUNT; i++)
        emit_option(&options[i], config->options[i], emit, context);
    return KVDYNO_OK;
}

/* ---- the database ---- */

/* LMDB makes what is not there. */
kvdyno_status engine_prepare(const kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    if (!lmdb_is_device(config->path))
        return file_as_expected(config->path, "data.mdb", config->create, error) ? KVDYNO_OK : KVDYNO_ERROR;
    if (!lmdb_device_as_expected(config, error))
        return KVDYNO_ERROR;
    bool usable = lmdb_can_use_device(&database->api, config->options[WRITEMAP].integer != 0, error);
    return usable ? KVDYNO_OK : KVDYNO_UNSUPPORTED;
}

/* A device cannot grow: writes beyond its end would be found out too late. */
static uint64_t map_size(const kvdyno_config *config)
{
    uint64_t size = family_map_size(config, options, MAP_SIZE, PAGE);
    uint64_t most = lmdb_is_device(config->path) ? lmdb_device_map(config->path) : UINT64_MAX;
    return size < most ? size : most;
}

int engine_configure(kvdyno_database *database, const kvdyno_config *config, const char **what)
{
    uint64_t map = map_size(config);
    database->append = config->options[APPEND].integer ? MDB_APPEND : 0;
    *what = "a device smaller than 2 MiB, or of a size that is not known";
    if (!map)
        return EINVAL;
    *what = "mdb_env_set_mapsize";
    int code = database->api.mdb_env_set_mapsize(database->env, map);
    if (code)
        return code;
    *what = "mdb_env_set_maxreaders";
    return database->api.mdb_env_set_maxreaders(database->env, max_readers(config));
}

kvdyno_status adapter_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    MDB_stat stat;
    MDB_envinfo info;
    if (database->api.mdb_env_stat(database->env, &stat) || database->api.mdb_env_info(database->env, &info))
        return KVDYNO_ERROR;
    const figure figures[] = {
        {"map_size", info.me_mapsize},       {"last_page", info.me_last_pgno}, {"last_transaction", info.me_last_txnid},
        {"max_readers", info.me_maxreaders}, {"readers", info.me_numreaders},
    };
    family_say_tree(&stat, emit, context);
    emit_figures("environment", figures, sizeof figures / sizeof *figures, emit, context);
    return KVDYNO_OK;
}

/* ---- cursors ---- */

/* A cursor of a writing transaction cannot be moved to another one. */
int cursor_enter(kvdyno_cursor *cursor)
{
    const kvdyno_session *session = cursor->session;
    const library_api *api = session->api;
    int code = 0;
    if (session->begun) {
        api->mdb_txn_reset(cursor->txn);
        if (!cursor->begun)
            code = api->mdb_cursor_open(session->current, session->dbi, &cursor->begun);
    } else {
        settle(cursor->session);
        code = tree_refresh(&api, &cursor->txn);
        if (!code)
            code = api->mdb_cursor_renew(cursor->txn, cursor->own);
    }
    if (!code)
        cursor->at = session->begun ? cursor->begun : cursor->own;
    return code;
}

/* LMDB frees the cursors of a writing transaction with it, and not those of a reading one: neither may outlive it. */
void cursor_leave(kvdyno_cursor *cursor)
{
    if (!cursor->begun)
        return;
    cursor->session->api->mdb_cursor_close(cursor->begun);
    if (cursor->at == cursor->begun)
        cursor->at = NULL;
    cursor->begun = NULL;
}

/* ---- the engine ---- */

ADAPTER_TABLE(.name = "lmdb",
              .summary = "LMDB: a memory-mapped copy-on-write B+tree, one writer beside any number of readers",
              .origin = "Debian package liblmdb0; for raw devices 0.9.70 or later, such as the one in the crate "
                        "lmdb-master3-sys",
              .capabilities = FAMILY_CAPABILITIES | KVDYNO_CAN_RAW_DEVICE, FAMILY_HOOKS,
              .effective_capabilities = adapter_effective_capabilities, .destroy = adapter_destroy, .min_key_size = 1,
              .max_key_size = 511, .max_value_size = 0xffffffff, OPTIONS(options));
