/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * From kvdyno's settings to WiredTiger's configuration strings, and saying what they came to.
 */
#include "words.h"
#include "wt.h"

#define CACHE_LEAST (uint64_t)MIB
#define CHUNK_LEAST (uint64_t)(512 * KIB)
#define CHUNK_MOST (uint64_t)(500 * MIB)
#define CHUNK_DEFAULT (uint64_t)(10 * MIB)

/* The cache must hold three chunks, and for a page of each of the up to 15 chunks in each of three
 * merges. */
#define CHUNKS_CACHED 3u
#define MERGE_PAGES (3u * 15u)
#define ALLOCATION_SIZE 4096

/* Sessions of WiredTiger beside those of kvdyno: eviction, merges, log, checkpoints, and this adapter's own. */
#define SESSIONS_INSIDE 80u
/* Each cursor of kvdyno has a session of WiredTiger's to itself. */
#define SESSIONS_EACH 8u

static const char *truth(const kvdyno_config *config, int option)
{
    return option_integer(config, option) ? "true" : "false";
}

/* ---- what the settings come to ---- */

/* A compressor: built into the library, or else an extension that the system's linker finds. */
typedef struct wt_compressor {
    const char *name;
    const char *built_in; /* a symbol of the library, if it has it inside */
    const char *extension;
} wt_compressor;

static const wt_compressor compressors[] = {
    [KVDYNO_COMPRESSION_NONE] = {"none", NULL, NULL},
    [KVDYNO_COMPRESSION_SNAPPY] = {"snappy", "snappy_extension_init", "libwiredtiger_snappy.so"},
    [KVDYNO_COMPRESSION_LZ4] = {"lz4", "lz4_extension_init", "libwiredtiger_lz4.so"},
    [KVDYNO_COMPRESSION_ZSTD] = {"zstd", "zstd_extension_init", "libwiredtiger_zstd.so"},
    [KVDYNO_COMPRESSION_ZLIB] = {"zlib", "zlib_extension_init", "libwiredtiger_zlib.so"},
};

static const char *compressor_name(const kvdyno_config *config)
{
    return compressors[config->compression].name;
}

/* The extension to load for the requested compression, unless the library has it inside. */
static const char *compressor_extension(const kvdyno_config *config, const wt_library *library)
{
    const wt_compressor *requested = &compressors[config->compression];
    return requested->built_in && !dlsym(library->handle, requested->built_in) ? requested->extension : NULL;
}

/* The largest chunk that the cache can hold three of, in bytes. */
static uint64_t chunk_most(const kvdyno_config *config)
{
    uint64_t pages = MERGE_PAGES * (uint64_t)option_integer(config, WT_OPTION_LEAF_PAGE_MAX);
    uint64_t most = config->cache_bytes > pages ? (config->cache_bytes - pages) / CHUNKS_CACHED : 0;
    return most < CHUNK_MOST ? most : CHUNK_MOST;
}

static uint64_t chunk_size(const kvdyno_config *config)
{
    uint64_t size = config->write_buffer_bytes ? config->write_buffer_bytes : CHUNK_DEFAULT;
    uint64_t most = chunk_most(config);
    if (size > most)
        size = most;
    return size < CHUNK_LEAST ? CHUNK_LEAST : size;
}

static bool is_lsm(const kvdyno_config *config)
{
    return strcmp(config->options[WT_OPTION_TYPE].text, "lsm") == 0;
}

/* The log as wiredtiger_open wants it. */
static const char *log_sync(uint32_t durability)
{
    if (durability == KVDYNO_DURABILITY_NONE)
        return "transaction_sync=(enabled=false)";
    if (durability == KVDYNO_DURABILITY_COMMIT)
        return "transaction_sync=(enabled=true,method=fsync)";
    return "transaction_sync=(enabled=true,method=none)";
}

#define OF_THE_ADAPTER "the adapter, which relies on it,"

/* The names are those that WiredTiger's own parser finds: what it takes for a value has brackets and quotes by rules of
 * its own. Names within a value in brackets belong to the name before it. */
static bool refuses_text(const wt_library *library, const own_words *words, const taken_word *taken, kvdyno_text *error)
{
    wt_listener listener;
    wt_listener_init(&listener);
    WT_CONFIG_PARSER *parser = NULL;
    WT_CONFIG_ITEM key, value;
    bool refused = false;
    size_t blank = strspn(words->text, "," SPACES);
    if (is_one_of(words->text[blank], BRACKETS)) { /* WiredTiger reads on as if a name stood before */
        say(error, "%s: the bracket at character %zu has no name before it", words->option, blank + 1);
        return true;
    }
    int code = library->wiredtiger_config_parser_open(NULL, words->text, strlen(words->text), &parser);
    while (code == 0 && !refused && (code = parser->next(parser, &key, &value)) == 0) {
        own_word word = {.name = key.str, .length = key.len};
        refused = refuses_word(words, &word, taken, error);
    }
    if (!refused && code != WT_NOTFOUND) {
        wt_explain(library, &listener, words->option, code, error);
        refused = true;
    }
    if (parser)
        parser->close(parser);
    return refused;
}

static bool refuses_own(const kvdyno_config *config, const wt_library *library, kvdyno_text *error)
{
    static const taken_word of_open[] = {
        {"cache_size", "the lab's cache"},
        {"shared_cache", "the lab's cache"},
        {"block_cache", "the lab's cache"},
        {"chunk_cache", "the lab's cache"},
        {"cache_overhead", "the lab's cache"},
        {"log", "the lab's durability"},
        {"transaction_sync", "the lab's durability"},
        {"in_memory", "the lab's durability"},
        {"checkpoint_sync", "the lab's durability"},
        {"statistics_log", "the lab's folder"},
        {"operation_tracking", "the lab's folder"},
        {"tiered_storage", "the lab's folder"},
        {"backup_restore_target", "the lab's folder"},
        {"checkpoint", "option checkpoint_seconds"},
        {"eviction", "option eviction_threads_max"},
        {"lsm_manager", "option lsm_merge_threads"},
        {"mmap", "option mmap"},
        {"mmap_all", "option mmap"},
        {"direct_io", "option direct_io"},
        {"statistics", "option statistics"},
        {"create", OF_THE_ADAPTER},
        {"exclusive", OF_THE_ADAPTER},
        {"readonly", OF_THE_ADAPTER},
        {"salvage", OF_THE_ADAPTER},
        {"encryption", OF_THE_ADAPTER},
        {"extensions", OF_THE_ADAPTER},
        {"builtin_extension_config", OF_THE_ADAPTER},
        {"session_max", OF_THE_ADAPTER},
        {"config_base", OF_THE_ADAPTER},
        {"use_environment", OF_THE_ADAPTER},
        {NULL, NULL},
    };
    static const taken_word of_create[] = {
        {"block_compressor", "the lab's compression"},
        {"huffman_key", "the lab's compression"},
        {"huffman_value", "the lab's compression"},
        {"dictionary", "the lab's compression"},
        {"cache_resident", "the lab's cache"},
        {"allocation_size", OF_THE_ADAPTER},
        {"encryption", OF_THE_ADAPTER},
        {"log", "the lab's durability"},
        {"type", "option type"},
        {"lsm", "option lsm_bloom, and the lab's write_buffer,"},
        {"leaf_page_max", "option leaf_page_max"},
        {"internal_page_max", "option internal_page_max"},
        {"prefix_compression", "option prefix_compression"},
        {"key_format", OF_THE_ADAPTER},
        {"value_format", OF_THE_ADAPTER},
        {"checksum", OF_THE_ADAPTER},
        {"collator", OF_THE_ADAPTER},
        {"columns", OF_THE_ADAPTER},
        {"colgroups", OF_THE_ADAPTER},
        {"exclusive", OF_THE_ADAPTER},
        {"source", OF_THE_ADAPTER},
        {"import", OF_THE_ADAPTER},
        {NULL, NULL},
    };
    const own_words open = {.option = "open_config", .text = config->options[WT_OPTION_OPEN_CONFIG].text};
    const own_words create = {.option = "create_config", .text = config->options[WT_OPTION_CREATE_CONFIG].text};
    return refuses_text(library, &open, of_open, error) || refuses_text(library, &create, of_create, error);
}

static kvdyno_status refuse(const kvdyno_config *config, const wt_library *library, kvdyno_text *error)
{
    if (refuses_durability(config, error) || refuses_own(config, library, error))
        return KVDYNO_UNSUPPORTED;
    if (config->compression >= 32 || !(WT_COMPRESSIONS >> config->compression & 1))
        say(error, "compression: " WT_NO_COMPRESSOR);
    else if (config->cache_bytes < CACHE_LEAST)
        say(error, "cache: WiredTiger takes no less than 1 MiB");
    else if (is_lsm(config) && !WT_LSM_WORKS)
        say(error, "type: an LSM tree of this release keeps the state that a session's first get saw, outside of "
                   "transactions too, until the session writes: a reader would never see what others write");
    else if (is_lsm(config) && chunk_most(config) < CHUNK_LEAST)
        say(error, "cache: of an LSM tree it must hold three chunks of 512 KiB and 45 leaf pages");
    else if (option_integer(config, WT_OPTION_LEAF_PAGE_MAX) % ALLOCATION_SIZE)
        say(error, "leaf_page_max: not a multiple of 4 KiB");
    else if (option_integer(config, WT_OPTION_INTERNAL_PAGE_MAX) % ALLOCATION_SIZE)
        say(error, "internal_page_max: not a multiple of 4 KiB");
    else
        return KVDYNO_OK;
    return KVDYNO_UNSUPPORTED;
}

/* use_environment and config_base are off so that nothing but this string decides. */
static int write_connection(const kvdyno_config *config, wt_plan *plan)
{
    return snprintf(
        plan->connection, sizeof plan->connection,
        "%suse_environment=false,config_base=false,cache_size=%" PRIu64 ",session_max=%" PRIu64
        ",log=(enabled=%s,file_max=%" PRId64 ",prealloc=%s),%s,checkpoint=(wait=%" PRId64
        "),eviction=(threads_max=%" PRId64 "),lsm_manager=(worker_thread_max=%" PRId64
        "),mmap=%s,statistics=(%s)%s%s%s%s,%s",
        config->create ? "create=true," : "", config->cache_bytes,
        (uint64_t)SESSIONS_INSIDE + (uint64_t)SESSIONS_EACH * config->sessions, plan->logged ? "true" : "false",
        option_integer(config, WT_OPTION_LOG_FILE_MAX), truth(config, WT_OPTION_LOG_PREALLOC),
        log_sync(config->durability), option_integer(config, WT_OPTION_CHECKPOINT_SECONDS),
        option_integer(config, WT_OPTION_EVICTION_THREADS_MAX), option_integer(config, WT_OPTION_LSM_MERGE_THREADS),
        truth(config, WT_OPTION_MMAP), config->options[WT_OPTION_STATISTICS].text,
        option_integer(config, WT_OPTION_DIRECT_IO) ? ",direct_io=[data]" : "", plan->extension ? ",extensions=[" : "",
        plan->extension ? plan->extension : "", plan->extension ? "]" : "",
        config->options[WT_OPTION_OPEN_CONFIG].text);
}

static int write_table(const kvdyno_config *config, wt_plan *plan)
{
    char lsm[128] = "";
    if (plan->lsm)
        snprintf(lsm, sizeof lsm, ",lsm=(chunk_size=%" PRIu64 ",bloom=%s)", plan->chunk_size,
                 truth(config, WT_OPTION_LSM_BLOOM));
    return snprintf(plan->table, sizeof plan->table,
                    "type=%s,key_format=u,value_format=u,leaf_page_max=%" PRId64 ",internal_page_max=%" PRId64
                    ",prefix_compression=%s,block_compressor=%s%s,%s",
                    config->options[WT_OPTION_TYPE].text, option_integer(config, WT_OPTION_LEAF_PAGE_MAX),
                    option_integer(config, WT_OPTION_INTERNAL_PAGE_MAX), truth(config, WT_OPTION_PREFIX_COMPRESSION),
                    compressor_name(config), lsm, config->options[WT_OPTION_CREATE_CONFIG].text);
}

kvdyno_status wt_make_plan(const kvdyno_config *config, const wt_library *library, wt_plan *plan, kvdyno_text *error)
{
    kvdyno_status status = refuse(config, library, error);
    if (status != KVDYNO_OK)
        return status;
    memset(plan, 0, sizeof *plan);
    plan->lsm = is_lsm(config);
    plan->logged = config->durability != KVDYNO_DURABILITY_NONE;
    plan->statistics = strcmp(config->options[WT_OPTION_STATISTICS].text, "none") != 0;
    plan->chunk_size = chunk_size(config);
    plan->extension = compressor_extension(config, library);
    plan->own = config->options[WT_OPTION_CREATE_CONFIG].text[0];
    bool fits = write_connection(config, plan) < (int)sizeof plan->connection;
    fits = write_table(config, plan) < (int)sizeof plan->table && fits;
    if (fits)
        return KVDYNO_OK;
    say(error, "the configuration for WiredTiger does not fit its buffer");
    return KVDYNO_ERROR;
}

/* ---- saying it ---- */

static const char *durability_meaning(uint32_t durability)
{
    switch (durability) {
    case KVDYNO_DURABILITY_NONE:
        return "no log; what was written is on the storage after the next checkpoint";
    case KVDYNO_DURABILITY_PROCESS:
        return "a commit writes the log to the operating system and does not sync it";
    case KVDYNO_DURABILITY_PERIODIC:
        return "a commit writes the log to the operating system; a thread calls WT_SESSION::log_flush, which syncs it";
    default:
        return "a commit writes and syncs the log; commits that wait together share a sync";
    }
}

static void say_durability(const kvdyno_config *config, const wt_plan *plan, kvdyno_emit emit, void *context)
{
    int64_t seconds = option_integer(config, WT_OPTION_CHECKPOINT_SECONDS);
    emit(context, "durability", "log", plan->logged ? "enabled=true" : "enabled=false");
    emit(context, "durability", "commit", log_sync(config->durability));
    emit(context, "durability", "meaning", durability_meaning(config->durability));
    if (config->durability == KVDYNO_DURABILITY_PERIODIC)
        emitf(emit, context, "durability", "log_flush", "sync=on every %u ms", config->sync_period_ms);
    if (seconds)
        emitf(emit, context, "durability", "checkpoint", "wait=%" PRId64 " s, and at close; it writes and syncs",
              seconds);
    else
        emit(context, "durability", "checkpoint", "at close only");
}

#define WHY_ANOTHER_CHUNK_SIZE                                                                                         \
    ": WiredTiger takes 512 KiB to 500 MiB, and wants three chunks and 45 leaf pages to fit in the cache"

static void say_buffers(const kvdyno_config *config, const wt_plan *plan, kvdyno_emit emit, void *context)
{
    emitf(emit, context, "cache", "cache_size", "%" PRIu64, config->cache_bytes);
    emit(context, "cache", "cache_overhead", "8 %, WiredTiger's default: it counts what it caches as that much more");
    if (!plan->lsm)
        emit(context, "write_buffer", "none of its own",
             config->options[WT_OPTION_OPEN_CONFIG].text[0]
                 ? "changed pages wait in the cache"
                 : "changed pages wait in the cache; eviction_dirty_target=5, eviction_dirty_trigger=20 (% of the "
                   "cache), WiredTiger's defaults");
    else
        emitf(emit, context, "write_buffer", "lsm chunk_size", "%" PRIu64 "%s", plan->chunk_size,
              plan->chunk_size == config->write_buffer_bytes ? "" : WHY_ANOTHER_CHUNK_SIZE);
    emit(context, "compression", "block_compressor", compressor_name(config));
    if (config->compression != KVDYNO_COMPRESSION_NONE)
        emit(context, "compression", "from", plan->extension ? plan->extension : "the library itself");
}

/* Chunks of an LSM tree are read where they lie, where nothing looks at their checksums. */
static void say_checksums(const kvdyno_config *config, const wt_plan *plan, kvdyno_emit emit, void *context)
{
    emit(context, "checksums", "checksum", WT_CHECKSUM);
    emit(context, "files", "log", "WiredTigerLog.* WiredTigerPreplog.* WiredTigerTmplog.*");
    if (plan->lsm && option_integer(config, WT_OPTION_MMAP))
        emit(context, "checksums", "mmap", "chunks that were written out are mapped, and reads there check none");
}

static void say_options(const kvdyno_config *config, const wt_plan *plan, kvdyno_emit emit, void *context)
{
    emit(context, "options", "type", config->options[WT_OPTION_TYPE].text);
    emit(context, "options", "isolation", WT_SESSION_CONFIG);
    emit(context, "options", "wiredtiger_open", plan->connection);
    emit(context, "options", "WT_SESSION::create", plan->table);
}

/* ---- settings ---- */

/* Lets WiredTiger read the strings without opening anything, so that it refuses itself what it cannot do. */
static kvdyno_status try_plan(const kvdyno_config *config, const wt_library *library, const wt_plan *plan,
                              kvdyno_text *error)
{
    wt_listener listener;
    wt_listener_init(&listener);
    int option = WT_OPTION_OPEN_CONFIG;
    int code = library->wiredtiger_config_validate(NULL, &listener.handler, "wiredtiger_open", plan->connection);
    if (code == 0) {
        option = WT_OPTION_CREATE_CONFIG;
        code = library->wiredtiger_config_validate(NULL, &listener.handler, "WT_SESSION.create", plan->table);
    }
    if (code == 0)
        return KVDYNO_OK;
    const char *own = option == WT_OPTION_OPEN_CONFIG ? "open_config" : "create_config";
    bool is_own = config->options[option].text[0];
    wt_explain(library, &listener, is_own ? own : "WiredTiger refuses a setting", code, error);
    return KVDYNO_UNSUPPORTED;
}

static kvdyno_status try_extension(const wt_plan *plan, kvdyno_text *error)
{
    void *extension = plan->extension ? dlopen(plan->extension, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!plan->extension)
        return KVDYNO_OK;
    if (!extension) {
        say(error, "compression: %s; " WT_ORIGIN " has it", dlerror());
        return KVDYNO_UNSUPPORTED;
    }
    dlclose(extension);
    return KVDYNO_OK;
}

kvdyno_status adapter_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    wt_plan plan;
    wt_library library;
    kvdyno_status status = wt_library_open(config->library, &library, error);
    if (status == KVDYNO_OK)
        status = wt_make_plan(config, &library, &plan, error);
    if (status != KVDYNO_OK)
        return status;
    status = try_plan(config, &library, &plan, error);
    if (status == KVDYNO_OK)
        status = try_extension(&plan, error);
    if (status != KVDYNO_OK)
        return status;
    say_durability(config, &plan, emit, context);
    say_buffers(config, &plan, emit, context);
    say_checksums(config, &plan, emit, context);
    say_options(config, &plan, emit, context);
    return KVDYNO_OK;
}
