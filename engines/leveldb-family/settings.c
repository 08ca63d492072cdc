/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * settings.c: finding the library, and what the lab's settings come to.
 */
#include "family.h"

/* ---- the library ---- */

static kvdyno_status load(const char *chosen, library_api *api, kvdyno_text *error)
{
    void *relative = NULL;
    const library_symbol symbols[] = {LSM_FUNCTIONS(PREFIXED_SYMBOL) LSM_OPTIONAL_FUNCTIONS(PREFIXED_OPTIONAL)
                                          ENGINE_FUNCTIONS(PREFIXED_SYMBOL) ENGINE_OPTIONAL_FUNCTIONS(PREFIXED_OPTIONAL)
                                              EXTRA_FUNCTIONS(OPTIONAL_SYMBOL){&relative, member.hallmark, false},
                                      LAST_SYMBOL};
    if (!load_library(&member.library, chosen, symbols, error))
        return KVDYNO_NO_LIBRARY;
    if (!api->free)
        api->free = free; /* what the C API allocates it allocates with malloc */
    return KVDYNO_OK;
}

/* The version of LevelDB that a descendant comes from is not its own: then that is said. */
kvdyno_status adapter_probe(const char *library, kvdyno_text *version, kvdyno_text *error)
{
    library_api api;
    kvdyno_status status = load(library, &api, error);
    if (status != KVDYNO_OK)
        return status;
    if (api.kvdyno_library_version)
        say(version, "%s", api.kvdyno_library_version());
    else if (api.major_version && api.minor_version)
        say(version, "%s%d.%d", member.hallmark ? "of LevelDB " : "", api.major_version(), api.minor_version());
    else
        say(version, "unknown");
    return KVDYNO_OK;
}

/* ---- settings ---- */

/* The bounds are those to which LevelDB would cut a value in silence. */
#define LEAST_WRITE_BUFFER (64 * KIB)
#define MOST_WRITE_BUFFER GIB

static kvdyno_status accepts(const library_api *api, const kvdyno_config *config, kvdyno_text *error)
{
    const char *lack = member.lacks ? member.lacks(api, config->options) : NULL;
    if (refuses_durability(config, error))
        return KVDYNO_UNSUPPORTED;
    if (config->compression > KVDYNO_COMPRESSION_SNAPPY)
        say(error, "compression: %s has none but snappy", member.library.title);
    else if (config->compression == KVDYNO_COMPRESSION_SNAPPY && !api->snappy_max_compressed_length)
        say(error, "compression: this library was built without snappy; it would store blocks as they are");
    else if (config->write_buffer_bytes < LEAST_WRITE_BUFFER || config->write_buffer_bytes > MOST_WRITE_BUFFER)
        say(error, "write_buffer: %s takes 64 KiB to 1 GiB, not %" PRIu64 " bytes", member.library.title,
            config->write_buffer_bytes);
    else if (lack)
        say(error, "%s", lack);
    else
        return KVDYNO_OK;
    return KVDYNO_UNSUPPORTED;
}

static void say_level(uint32_t level, const char *name, kvdyno_emit emit, void *context)
{
    if (level == KVDYNO_DURABILITY_COMMIT)
        emitf(emit, context, "durability", name, "sync=true: %s", member.sync);
    else
        emitf(emit, context, "durability", name, "sync=false: %s, not synced", member.log);
}

static void settings_durability(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    say_level(config->durability, "WriteOptions", emit, context);
    if (config->durability == KVDYNO_DURABILITY_NONE)
        emit(context, "stronger", "process", "it cannot do without its log");
    for (uint32_t level = 0; level < DURABILITY_LEVELS; level++) {
        if (asks_for_durability(config, level))
            say_level(level, "WriteOptions of sessions", emit, context);
    }
    if (weakest_durability(config) == KVDYNO_DURABILITY_COMMIT)
        return;
    if (config->durability == KVDYNO_DURABILITY_PERIODIC)
        emitf(emit, context, "durability", "background", "an empty batch with sync=true every %" PRIu32 " ms",
              config->sync_period_ms);
    emitf(emit, context, "durability", "close", "the memtable is written to a table file, which %s syncs",
          member.library.title);
}

static void settings_checksums(bool verified, kvdyno_emit emit, void *context)
{
    bool usual = strcmp(member.options[VERIFY_CHECKSUMS].default_value, verified ? "true" : "false") == 0;
    emit(context, "files", "log", "*.log");
    emitf(emit, context, "checksums", "verify_checksums", "%s%s%s",
          verified ? "true: that of every block that a read takes from a file" : "false: reads check none",
          usual ? ", the default of " : "", usual ? member.library.title : "");
}

kvdyno_status engine_prepare(const kvdyno_config *config, library_api *api, kvdyno_text *error)
{
    kvdyno_status status = load(config->library, api, error);
    return status == KVDYNO_OK ? accepts(api, config, error) : status;
}

kvdyno_status adapter_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    library_api api;
    kvdyno_status status = engine_prepare(config, &api, error);
    if (status != KVDYNO_OK)
        return status;
    settings_durability(config, emit, context);
    emitf(emit, context, "cache", "block_cache", "LRU of %" PRIu64 " bytes", config->cache_bytes);
    emitf(emit, context, "write_buffer", "write_buffer_size", "%" PRIu64, config->write_buffer_bytes);
    emit(context, "compression", "compression",
         config->compression == KVDYNO_COMPRESSION_SNAPPY ? "kSnappyCompression" : "kNoCompression");
    settings_checksums(config->options[VERIFY_CHECKSUMS].integer != 0, emit, context);
    if (member.remarks)
        member.remarks(config, emit, context);
    for (size_t i = 0; i < member.option_count; i++)
        emit_option(&member.options[i], config->options[i], emit, context);
    return KVDYNO_OK;
}
