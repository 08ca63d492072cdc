/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * settings.c: finding the library, the options, and what the lab's settings come to.
 */
#include "mdbx_adapter.h"

/* ---- the library ---- */

bool mx_load(const char *chosen, mx_api *api, kvdyno_text *error)
{
    static const char *const names[] = {"libmdbx.so", NULL};
    const library_symbol symbols[] = {
        {(void **)&api->version, "mdbx_version", false},
#define FUNCTION_SYMBOL(type, name, arguments) {(void **)&api->name, #name, false},
        MDBX_FUNCTIONS(FUNCTION_SYMBOL)
#undef FUNCTION_SYMBOL
        {NULL, NULL, false},
    };
    void *library = open_library(chosen, names, "`kvdyno engines install mdbx`", error);
    if (!library || !find_symbols(library, symbols, "libmdbx", error))
        return false;
    if (api->version->major == MDBX_SUPPORTED_MAJOR && api->version->minor == MDBX_SUPPORTED_MINOR)
        return true;
    say(error, "the library is libmdbx %u.%u; this adapter speaks to %u.%u", api->version->major, api->version->minor,
        MDBX_SUPPORTED_MAJOR, MDBX_SUPPORTED_MINOR);
    return false;
}

kvdyno_status mx_probe(const char *library, kvdyno_text *version, kvdyno_text *error)
{
    mx_api api;
    if (!mx_load(library, &api, error))
        return KVDYNO_NO_LIBRARY;
    say(version, "%u.%u.%u", api.version->major, api.version->minor, api.version->patch);
    return KVDYNO_OK;
}

/* ---- the options ---- */

#define GIB (INT64_C(1) << 30)
#define MOST_BYTES (INT64_C(1) << 43) /* as many pages of 4 KiB as libmdbx can number */

const kvdyno_option mx_options[OPTION_COUNT] = {
    [SIZE_UPPER] = {.name = "size_upper", .type = KVDYNO_OPTION_SIZE, .default_value = "0", .maximum = MOST_BYTES,
                    .help = "The most bytes that the database may grow to; 0: 4 times the expected data, from 1 GiB "
                            "up."},
    [GROWTH_STEP] = {.name = "growth_step", .type = KVDYNO_OPTION_SIZE, .default_value = "0", .maximum = 4 * GIB,
                     .help = "Bytes by which the file grows when it is full; 0: libmdbx's choice, 16 MiB."},
    [PAGE_SIZE] = {.name = "page_size", .type = KVDYNO_OPTION_CHOICE, .default_value = "auto",
                   .choices = "auto|4096|8192|16384|32768|65536",
                   .help = "Bytes of a page; auto: libmdbx's choice, the page of the system."},
    [SYNC_MODE] = {.name = "sync_mode", .type = KVDYNO_OPTION_CHOICE, .default_value = "auto",
                   .choices = "auto|utterly_nosync|safe_nosync|nometasync",
                   .help = "How commits are written below durability commit; auto: utterly_nosync, and safe_nosync at "
                           "durability periodic."},
    [WRITEMAP] = {.name = "writemap", .type = KVDYNO_OPTION_BOOL, .default_value = "false",
                  .help = "Writes through a writable map instead of with pwrite (MDBX_WRITEMAP)."},
    [READAHEAD] = {.name = "readahead", .type = KVDYNO_OPTION_BOOL, .default_value = "true",
                   .help = "Lets libmdbx choose whether the OS reads ahead; false (MDBX_NORDAHEAD): never."},
    [MEMINIT] = {.name = "meminit", .type = KVDYNO_OPTION_BOOL, .default_value = "true",
                 .help = "Zeroes new pages before they are written; false is MDBX_NOMEMINIT."},
    [LIFORECLAIM] = {.name = "liforeclaim", .type = KVDYNO_OPTION_BOOL, .default_value = "false",
                     .help = "Reuses the pages that were freed last first (MDBX_LIFORECLAIM)."},
    [TXN_DP_LIMIT] = {.name = "txn_dp_limit", .type = KVDYNO_OPTION_INTEGER, .default_value = "0",
                      .maximum = INT32_MAX,
                      .help = "The most changed pages that a transaction keeps in memory, from 128 up; 0: libmdbx's "
                              "choice, 1/42 of the memory."},
    [APPEND] = {.name = "append", .type = KVDYNO_OPTION_BOOL, .default_value = "false",
                .help = "Puts with MDBX_APPEND as long as the keys of a put or a batch come after the last one "
                        "stored."},
};

/* ---- what a configuration comes to ---- */

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* What a record takes at least: a node in a leaf page, or pages of its own for a value of half a page and more. */
static uint64_t record_bytes(uint64_t key_size, uint64_t value_size, uint64_t page)
{
    const uint64_t node_head = 8 + 2, page_head = 20;
    if (node_head + key_size + value_size <= (page - page_head) / 2)
        return node_head + key_size + value_size;
    return node_head + key_size + 8 + round_up(page_head + value_size, page);
}

/* Four times the data: pages are half empty after random puts, and copy-on-write needs room beside the old pages. */
static uint64_t size_upper(const kvdyno_config *config, uint64_t page)
{
    uint64_t asked = (uint64_t)config->options[SIZE_UPPER].integer;
    if (asked)
        return asked;
    uint64_t each = 4 * record_bytes(config->key_size, config->value_size, page);
    if (config->records > (uint64_t)MOST_BYTES / each)
        return (uint64_t)MOST_BYTES;
    uint64_t needed = round_up(config->records * each, GIB);
    return needed > GIB ? needed : GIB;
}

/* Reader slots: libmdbx's own default, and for each session one for its reads and three for cursors. */
static unsigned max_readers(const kvdyno_config *config)
{
    bool told = config->size >= offsetof(kvdyno_config, processes) + sizeof config->processes;
    unsigned processes = told && config->processes ? config->processes : 1;
    return 114 + 4 * config->sessions * processes;
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
    const char *asked = config->options[SYNC_MODE].text;
    *name = "MDBX_SYNC_DURABLE";
    if (config->durability == KVDYNO_DURABILITY_COMMIT)
        return MDBX_SYNC_DURABLE;
    if (strcmp(asked, "auto") == 0)
        asked = config->durability == KVDYNO_DURABILITY_PERIODIC ? "safe_nosync" : "utterly_nosync";
    size_t i = 0;
    while (strcmp(modes[i].option, asked) != 0)
        i++;
    *name = modes[i].name;
    return modes[i].flags;
}

static unsigned other_flags(const kvdyno_value *option)
{
    return (option[WRITEMAP].integer ? MDBX_WRITEMAP : 0) | (option[READAHEAD].integer ? 0 : MDBX_NORDAHEAD) |
           (option[MEMINIT].integer ? 0 : MDBX_NOMEMINIT) | (option[LIFORECLAIM].integer ? MDBX_LIFORECLAIM : 0);
}

static bool acceptable(const kvdyno_config *config, kvdyno_text *error)
{
    int64_t pages = config->options[TXN_DP_LIMIT].integer;
    if (config->durability > KVDYNO_DURABILITY_COMMIT)
        say(error, "durability: level %" PRIu32 " is not known", config->durability);
    else if (config->compression != KVDYNO_COMPRESSION_NONE)
        say(error, "compression: libmdbx has none");
    else if (pages && pages < 128)
        say(error, "txn_dp_limit: libmdbx takes 128 pages and more");
    else
        return true;
    return false;
}

bool mx_make_plan(const kvdyno_config *config, mx_plan *plan, kvdyno_text *error)
{
    if (!acceptable(config, error))
        return false;
    const kvdyno_value *option = config->options;
    const char *mode;
    long page = atol(option[PAGE_SIZE].text); /* 0: auto */
    *plan = (mx_plan){
        .size_upper = (intptr_t)size_upper(config, page ? (uint64_t)page : 4096),
        .growth_step = option[GROWTH_STEP].integer ? (intptr_t)option[GROWTH_STEP].integer : -1,
        .page_size = page ? page : -1,
        .flags = MDBX_NOSTICKYTHREADS | sync_mode(config, &mode) | other_flags(option),
        .max_readers = max_readers(config),
        .txn_dp_limit = option[TXN_DP_LIMIT].integer ? (uint64_t)option[TXN_DP_LIMIT].integer : UINT64_MAX,
    };
    return true;
}

/* ---- settings ---- */

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
            emitf(emit, context, "durability", "mode", "%s: %s%s", name, modes[i].meaning,
                  config->durability == KVDYNO_DURABILITY_NONE ? "; libmdbx has no weaker mode" : "");
    if (config->durability == KVDYNO_DURABILITY_PERIODIC)
        emitf(emit, context, "durability", "background", "mdbx_env_sync every %" PRIu32 " ms", config->sync_period_ms);
    if (config->durability != KVDYNO_DURABILITY_COMMIT)
        emit(context, "durability", "close", "mdbx_env_sync");
}

static void settings_options(const kvdyno_config *config, const mx_plan *plan, kvdyno_emit emit, void *context)
{
    const kvdyno_value *option = config->options;
    emitf(emit, context, "options", "size_upper", "%" PRIdPTR, plan->size_upper);
    for (int i = GROWTH_STEP; i < OPTION_COUNT; i++) {
        const char *name = mx_options[i].name;
        if (mx_options[i].type == KVDYNO_OPTION_BOOL)
            emit(context, "options", name, option[i].integer ? "true" : "false");
        else if (i == SYNC_MODE && config->durability == KVDYNO_DURABILITY_COMMIT)
            emitf(emit, context, "options", name, "%s, which is for levels below commit", option[i].text);
        else if (mx_options[i].type == KVDYNO_OPTION_CHOICE)
            emit(context, "options", name, option[i].text);
        else if (option[i].integer)
            emitf(emit, context, "options", name, "%" PRId64, option[i].integer);
        else
            emit(context, "options", name, "libmdbx's default");
    }
    emitf(emit, context, "options", "max_readers", "%u", plan->max_readers);
    emit(context, "options", "MDBX_NOSTICKYTHREADS", "true");
}

kvdyno_status mx_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    mx_plan plan;
    if (!mx_make_plan(config, &plan, error))
        return KVDYNO_UNSUPPORTED;
    settings_durability(config, emit, context);
    emit(context, "cache", "cache", "none of its own: the database is mapped, the OS caches it");
    emit(context, "write_buffer", "write_buffer", "none: a transaction's changed pages, written at its commit, or "
         "before if they are more than txn_dp_limit");
    emit(context, "compression", "compression", "none");
    emit(context, "checksums", "checksums", "none: nothing checks the pages that are read");
    settings_options(config, &plan, emit, context);
    return KVDYNO_OK;
}
