/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * settings.c: finding the library, and what the lab's settings come to.
 */
#include "family.h"

/* ---- the library ---- */

kvdyno_status family_load(const char *chosen, leveldb_api *api, kvdyno_text *error)
{
    void *relative = NULL;
    const library_symbol symbols[] = {
#define REQUIRED(name) {(void **)&api->name, #name, false},
#define OPTIONAL(name) {(void **)&api->name, #name, true},
        FUNCTIONS(REQUIRED)
        OPTIONAL_FUNCTIONS(OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
        {&relative, member.hallmark, false},
        {NULL, NULL, false},
    };
    void *library = open_library(chosen, member.libraries, member.source, error);
    if (!library || !find_symbols(library, symbols, member.title, error))
        return KVDYNO_NO_LIBRARY;
    if (!api->leveldb_free)
        api->leveldb_free = free; /* what the C API allocates it allocates with malloc */
    return KVDYNO_OK;
}

/* The version of LevelDB that a descendant comes from is not its own: then that is said. */
kvdyno_status family_probe(const char *library, kvdyno_text *version, kvdyno_text *error)
{
    leveldb_api api;
    kvdyno_status status = family_load(library, &api, error);
    if (status != KVDYNO_OK)
        return status;
    if (api.kvdyno_library_version)
        say(version, "%s", api.kvdyno_library_version());
    else if (api.leveldb_major_version && api.leveldb_minor_version)
        say(version, "%s%d.%d", member.hallmark ? "of LevelDB " : "", api.leveldb_major_version(),
            api.leveldb_minor_version());
    else
        say(version, "unknown");
    return KVDYNO_OK;
}

/* ---- settings ---- */

/* The bounds are those to which LevelDB would cut a value in silence. */
#define LEAST_WRITE_BUFFER (64 * KIB)
#define MOST_WRITE_BUFFER GIB

kvdyno_status family_accepts(const leveldb_api *api, const kvdyno_config *config, kvdyno_text *error)
{
    const char *lack = member.lacks ? member.lacks(api, config->options) : NULL;
    if (config->durability > KVDYNO_DURABILITY_COMMIT)
        say(error, "durability: level %" PRIu32 " is not known", config->durability);
    else if (config->compression > KVDYNO_COMPRESSION_SNAPPY)
        say(error, "compression: %s has none but snappy", member.title);
    else if (config->compression == KVDYNO_COMPRESSION_SNAPPY && !api->snappy_max_compressed_length)
        say(error, "compression: this library was built without snappy; it would store blocks as they are");
    else if (config->write_buffer_bytes < LEAST_WRITE_BUFFER || config->write_buffer_bytes > MOST_WRITE_BUFFER)
        say(error, "write_buffer: %s takes 64 KiB to 1 GiB, not %" PRIu64 " bytes", member.title,
            config->write_buffer_bytes);
    else if (lack)
        say(error, "%s", lack);
    else
        return KVDYNO_OK;
    return KVDYNO_UNSUPPORTED;
}

static void settings_durability(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    if (config->durability == KVDYNO_DURABILITY_COMMIT) {
        emitf(emit, context, "durability", "WriteOptions", "sync=true: %s", member.sync);
        return;
    }
    emitf(emit, context, "durability", "WriteOptions", "sync=false: %s, not synced%s%s%s", member.log,
          config->durability == KVDYNO_DURABILITY_NONE ? "; " : "",
          config->durability == KVDYNO_DURABILITY_NONE ? member.title : "",
          config->durability == KVDYNO_DURABILITY_NONE ? " cannot do without its log" : "");
    if (config->durability == KVDYNO_DURABILITY_PERIODIC)
        emitf(emit, context, "durability", "background", "an empty batch with sync=true every %" PRIu32 " ms",
              config->sync_period_ms);
    emitf(emit, context, "durability", "close", "the memtable is written to a table file, which %s syncs",
          member.title);
}

static void settings_options(const kvdyno_value *option, kvdyno_emit emit, void *context)
{
    for (size_t i = 0; i < member.option_count; i++) {
        if (member.options[i].type == KVDYNO_OPTION_BOOL)
            emit(context, "options", member.options[i].name, option[i].integer ? "true" : "false");
        else
            emitf(emit, context, "options", member.options[i].name, "%" PRId64, option[i].integer);
    }
}

static void settings_checksums(bool verified, kvdyno_emit emit, void *context)
{
    bool usual = strcmp(member.options[VERIFY_CHECKSUMS].default_value, verified ? "true" : "false") == 0;
    emitf(emit, context, "checksums", "verify_checksums", "%s%s%s", verified
          ? "true: that of every block that a read takes from a file" : "false: reads check none",
          usual ? ", the default of " : "", usual ? member.title : "");
}

kvdyno_status family_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    leveldb_api api;
    kvdyno_status status = family_load(config->library, &api, error);
    if (status == KVDYNO_OK)
        status = family_accepts(&api, config, error);
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
    settings_options(config->options, emit, context);
    return KVDYNO_OK;
}
