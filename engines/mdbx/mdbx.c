/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * mdbx.c: libmdbx behind the engine ABI: its options and settings, and where it differs from LMDB. The rest is in
 * ../lmdb-family.
 */
#include "family.h"

/* ---- the library ---- */

static const library_source source = {"libmdbx", "`kvdyno engines install mdbx`",
                                      (const char *const[]){"libmdbx.so", NULL}};

bool library_load(const char *chosen, library_api *api, kvdyno_text *error)
{
    const library_symbol symbols[] = {{(void **)&api->version, "mdbx_version", false},
                                      MDBX_FUNCTIONS(REQUIRED_SYMBOL) LAST_SYMBOL};
    if (!load_library(&source, chosen, symbols, error))
        return false;
    if (api->version->major == MDBX_SUPPORTED_MAJOR && api->version->minor == MDBX_SUPPORTED_MINOR)
        return true;
    say(error, "the library is libmdbx %u.%u; this adapter speaks to %u.%u", api->version->major, api->version->minor,
        MDBX_SUPPORTED_MAJOR, MDBX_SUPPORTED_MINOR);
    return false;
}

kvdyno_status adapter_probe(const char *library, kvdyno_text *version, kvdyno_text *error)
{
    library_api api;
    if (!library_load(library, &api, error))
        return KVDYNO_NO_LIBRARY;
    say_release((library_release){api.version->major, api.version->minor, api.version->patch}, version);
    return KVDYNO_OK;
}

/* ---- the options ---- */

enum {
    SIZE_UPPER,
    GROWTH_STEP,
    PAGE_SIZE,
    SYNC_MODE,
    WRITEMAP,
    READAHEAD,
    MEMINIT,
    LIFORECLAIM,
    TXN_DP_LIMIT,
    APPEND,
    OPTION_COUNT
};

#define MOST_BYTES (INT64_C(1) << 43) /* as many pages of 4 KiB as libmdbx can number */

static const kvdyno_option options[OPTION_COUNT] = {
    [SIZE_UPPER] = {"size_upper",
                    SIZE("0", 0, MOST_BYTES,
                         "The most bytes that the database may grow to; 0: 4 times the expected data, from 1 GiB up.")},
    [GROWTH_STEP] = {"growth_step",
                     SIZE("0", 0, 4 * GIB,
                          "Bytes by which the file grows when it is full; 0: libmdbx's choice, 16 MiB.")},
    [PAGE_SIZE] = {"page_size", CHOICE("auto", "auto|4096|8192|16384|32768|65536",
                                       "Bytes of a page; auto: libmdbx's choice, the page of the system.")},
    [SYNC_MODE] =
        {"sync_mode",
         CHOICE("auto", "auto|utterly_nosync|safe_nosync|nometasync",
                "How commits are written below durability commit; auto: utterly_nosync, and safe_nosync at durability "
                "periodic.")},
    [WRITEMAP] = {"writemap", BOOL("false", "Writes through a writable map instead of with pwrite (MDBX_WRITEMAP).")},
    [READAHEAD] = {"readahead",
                   BOOL("true", "Lets libmdbx choose whether the OS reads ahead; false (MDBX_NORDAHEAD): never.")},
    [MEMINIT] = {"meminit", BOOL("true", "Zeroes new pages before they are written; false is MDBX_NOMEMINIT.")},
    [LIFORECLAIM] = {"liforeclaim", BOOL("false", "Reuses the pages that were freed last first (MDBX_LIFORECLAIM).")},
    [TXN_DP_LIMIT] =
        {"txn_dp_limit",
         INTEGER(
             "0", 0, INT32_MAX,
             "The most changed pages that a transaction keeps in memory, from 128 up; 0: libmdbx's choice, 1/42 of the "
             "memory.")},
    [APPEND] = {"append",
                BOOL("false",
                     "Puts with MDBX_APPEND as long as the keys of a put or a batch come after the last one stored.")},
};

/* ---- the settings ---- */

/* Bytes; 0: auto. */
static long page_size(const kvdyno_config *config)
{
    return atol(config->options[PAGE_SIZE].text);
}

static intptr_t size_upper(const kvdyno_config *config)
{
    long page = page_size(config);
    return (intptr_t)family_map_size(config, options, SIZE_UPPER, page ? (uint64_t)page : 4096);
}

static unsigned max_readers(const kvdyno_config *config)
{
    return family_max_readers(config, 114);
}

/* The flags of the sync mode, also as text. */
static unsigned sync_mode(const kvdyno_config *config, const char **name)
{
    static const struct {
        const char *option, *name;
        unsigned flags;
    } modes[] = {
        {"utterly_nosync", "MDBX_UTTERLY_NOSYNC", MDBX_UTTERLY_NOSYNC},
        {"safe_nosync", "MDBX_SAFE_NOSYNC", MDBX_SAFE_NOSYNC},
        {"nometasync", "MDBX_NOMETASYNC", MDBX_NOMETASYNC},
    };
    const char *mode = config->options[SYNC_MODE].text;
    *name = "MDBX_SYNC_DURABLE";
    if (config->durability == KVDYNO_DURABILITY_COMMIT)
        return MDBX_SYNC_DURABLE;
    if (strcmp(mode, "auto") == 0)
        mode = config->durability == KVDYNO_DURABILITY_PERIODIC ? "safe_nosync" : "utterly_nosync";
    size_t i = 0;
    while (strcmp(modes[i].option, mode) != 0)
        i++;
    *name = modes[i].name;
    return modes[i].flags;
}

static unsigned other_flags(const kvdyno_value *option)
{
    return (option[WRITEMAP].integer ? MDBX_WRITEMAP : 0) | (option[READAHEAD].integer ? 0 : MDBX_NORDAHEAD) |
           (option[MEMINIT].integer ? 0 : MDBX_NOMEMINIT) | (option[LIFORECLAIM].integer ? MDBX_LIFORECLAIM : 0);
}

unsigned engine_flags(const kvdyno_config *config)
{
    const char *name;
    return MDBX_NOSTICKYTHREADS | sync_mode(config, &name) | other_flags(config->options);
}

bool engine_accepts(const kvdyno_config *config, kvdyno_text *error)
{
    int64_t pages = option_integer(config, TXN_DP_LIMIT);
    if (refuses_durability(config, error) || refuses_compression(config, "libmdbx", error))
        return false;
    if (pages && pages < 128)
        say(error, "txn_dp_limit: libmdbx takes 128 pages and more");
    return !pages || pages >= 128;
}

static void settings_durability(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    static const struct {
        unsigned flags;
        const char *meaning;
    } modes[] = {
        {MDBX_SYNC_DURABLE, "each commit syncs the data, then the meta page"},
        {MDBX_NOMETASYNC, "each commit syncs the data; a loss of power may undo the last one"},
        {MDBX_SAFE_NOSYNC, "a commit writes to the OS; a loss of power goes back to the last sync"},
        {MDBX_UTTERLY_NOSYNC, "a commit writes to the OS; a loss of power may damage the database"},
    };
    const char *name;
    unsigned flags = sync_mode(config, &name);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (modes[i].flags == flags)
            emitf(emit, context, "durability", "mode", "%s: %s", name, modes[i].meaning);
    family_say_stronger(config, emit, context);
    family_say_periodic(config, "mdbx_env_sync", emit, context);
    if (config->durability != KVDYNO_DURABILITY_COMMIT)
        emit(context, "durability", "close", "mdbx_env_sync");
}

static void settings_option(const kvdyno_config *config, int i, kvdyno_emit emit, void *context)
{
    const kvdyno_value value = config->options[i];
    const char *name = options[i].name;
    bool counts = options[i].type == KVDYNO_OPTION_SIZE || options[i].type == KVDYNO_OPTION_INTEGER;
    if (i == SYNC_MODE && config->durability == KVDYNO_DURABILITY_COMMIT)
        emitf(emit, context, "options", name, "%s, which is for levels below commit", value.text);
    else if (counts && !value.integer)
        emit(context, "options", name, "libmdbx's default");
    else
        emit_option(&options[i], value, emit, context);
}

kvdyno_status adapter_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    if (!engine_accepts(config, error))
        return KVDYNO_UNSUPPORTED;
    settings_durability(config, emit, context);
    family_say_memory("none: a transaction's changed pages, written at its commit, or before if they are more than "
                      "txn_dp_limit",
                      emit, context);
    emitf(emit, context, "options", "size_upper", "%" PRIdPTR, size_upper(config));
    for (int i = GROWTH_STEP; i < OPTION_COUNT; i++)
        settings_option(config, i, emit, context);
    emitf(emit, context, "options", "max_readers", "%u", max_readers(config));
    emit(context, "options", "MDBX_NOSTICKYTHREADS", "true");
    return KVDYNO_OK;
}

/* ---- the database ---- */

/* libmdbx opens what is there where it was to make something new. */
kvdyno_status engine_prepare(const kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    (void)database;
    return file_as_expected(config->path, "mdbx.dat", config->create, error) ? KVDYNO_OK : KVDYNO_ERROR;
}

int engine_configure(kvdyno_database *database, const kvdyno_config *config, const char **what)
{
    const library_api *api = &database->api;
    const intptr_t own_choice = -1;
    int64_t dirty_pages = option_integer(config, TXN_DP_LIMIT), growth = option_integer(config, GROWTH_STEP);
    database->append = option_integer(config, APPEND) ? MDBX_APPEND : 0;
    /* Otherwise it tells on stderr each time that the file grows. */
    api->mdbx_setup_debug(MDBX_LOG_ERROR, MDBX_DBG_DONTCHANGE, MDBX_LOGGER_DONTCHANGE);
    *what = "max_readers";
    int code = api->mdbx_env_set_option(database->env, MDBX_opt_max_readers, max_readers(config));
    if (!code) {
        *what = "txn_dp_limit";
        code = api->mdbx_env_set_option(database->env, MDBX_opt_txn_dp_limit,
                                        dirty_pages ? (uint64_t)dirty_pages : UINT64_MAX);
    }
    if (code)
        return code;
    *what = "mdbx_env_set_geometry";
    return api->mdbx_env_set_geometry(database->env, own_choice, own_choice, size_upper(config),
                                      growth ? (intptr_t)growth : own_choice, own_choice,
                                      page_size(config) ? page_size(config) : own_choice);
}

/* Moves pages from the end of the file to free ones before them and cuts the file, as far as that leads: it may be that
 * no more can be moved, or that a session whose value is still borrowed needs the old pages. Neither is an error. */
kvdyno_status adapter_compact(kvdyno_database *database, kvdyno_text *error)
{
    const intptr_t own_choice = -1;
    int code = database->api.mdbx_env_defrag(database->env, 0, 0, 0, 0, own_choice, 0, NULL, NULL, NULL);
    bool moved = done(code) == 0 || code == MDBX_LAGGARD_READER;
    return moved ? KVDYNO_OK : family_explain(&database->api, "mdbx_env_defrag", code, error);
}

/* ---- statistics ---- */

static void say_environment(const MDBX_envinfo *info, kvdyno_emit emit, void *context)
{
    const figure environment[] = {
        {"geo.lower", info->mi_geo.lower},
        {"geo.upper", info->mi_geo.upper},
        {"geo.current", info->mi_geo.current},
        {"geo.shrink", info->mi_geo.shrink},
        {"geo.grow", info->mi_geo.grow},
        {"mapsize", info->mi_mapsize},
        {"last_pgno", info->mi_last_pgno},
        {"recent_txnid", info->mi_recent_txnid},
        {"latter_reader_txnid", info->mi_latter_reader_txnid},
        {"maxreaders", info->mi_maxreaders},
        {"numreaders", info->mi_numreaders},
        {"unsync_volume", info->mi_unsync_volume},
    };
    const figure pages[] = {
        {"newly", info->mi_pgop_stat.newly},     {"cow", info->mi_pgop_stat.cow},
        {"split", info->mi_pgop_stat.split},     {"merge", info->mi_pgop_stat.merge},
        {"spill", info->mi_pgop_stat.spill},     {"unspill", info->mi_pgop_stat.unspill},
        {"wops", info->mi_pgop_stat.wops},       {"prefault", info->mi_pgop_stat.prefault},
        {"mincore", info->mi_pgop_stat.mincore}, {"msync", info->mi_pgop_stat.msync},
        {"fsync", info->mi_pgop_stat.fsync},
    };
    emit_figures("environment", environment, sizeof environment / sizeof *environment, emit, context);
    emit_figures("page operations", pages, sizeof pages / sizeof *pages, emit, context);
}

kvdyno_status adapter_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    const library_api *api = &database->api;
    MDBX_stat stat;
    MDBX_envinfo info;
    MDBX_txn *txn;
    if (tree_begin(api, database->env, false, &txn))
        return KVDYNO_ERROR;
    int code = api->mdbx_dbi_stat(txn, database->dbi, &stat, sizeof stat);
    if (!code)
        code = api->mdbx_env_info_ex(database->env, txn, &info, sizeof info);
    tree_abort(api, txn);
    if (code)
        return KVDYNO_ERROR;
    family_say_tree(&stat, emit, context);
    say_environment(&info, emit, context);
    return KVDYNO_OK;
}

/* ---- cursors ---- */

int cursor_enter(kvdyno_cursor *cursor)
{
    kvdyno_session *session = cursor->session;
    const library_api *api = session->api;
    int code = 0;
    if (session->begun) {
        api->mdbx_txn_reset(cursor->txn);
    } else {
        settle(session);
        code = tree_refresh(&api, &cursor->txn);
    }
    if (!code)
        code = api->mdbx_cursor_bind(session->begun ? session->current : cursor->txn, cursor->own, session->dbi);
    cursor->begun = session->begun ? cursor->own : NULL;
    if (!code)
        cursor->at = cursor->own;
    return code;
}

/* libmdbx itself unbinds the cursors of a transaction that ends. */
void cursor_leave(kvdyno_cursor *cursor)
{
    if (!cursor->begun)
        return;
    cursor->at = cursor->begun = NULL;
}

/* ---- the engine ---- */

ADAPTER_TABLE(.name = "mdbx",
              .summary = "libmdbx: a memory-mapped copy-on-write B+tree that grew out of LMDB, one writer beside any "
                         "readers",
              .origin = "crate mdbx-sys", .capabilities = FAMILY_CAPABILITIES | KVDYNO_CAN_DELETE_RANGE, FAMILY_HOOKS,
              .compact = adapter_compact, .delete_range = adapter_delete_range, .max_key_size = MOST_KEY_BYTES,
              .max_value_size = 0x7ff00000, OPTIONS(options));
