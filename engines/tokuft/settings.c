/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * settings.c: from kvdyno's settings to those of a TokuFT environment, and saying what they came to.
 */
#include "tokuft.h"

/* Eviction starts at the cache's size, and clients wait at one and a half of it: a root and a way down must fit. */
#define CACHE_NODES 4

/* ---- what the settings come to ---- */

typedef struct method {
    const char *word; /* of option codec, or NULL */
    TOKU_COMPRESSION_METHOD method;
    const char *name;
} method;

/* `codec` replaces the lab's `compression`, which has no word for it. */
int tokuft_method(const kvdyno_config *config, const char **name)
{
    static const method lab[] = {
        [KVDYNO_COMPRESSION_NONE] = {NULL, TOKU_NO_COMPRESSION, "TOKU_NO_COMPRESSION"},
        [KVDYNO_COMPRESSION_SNAPPY] = {NULL, TOKU_SNAPPY_METHOD, "TOKU_SNAPPY_METHOD"},
        [KVDYNO_COMPRESSION_ZLIB] = {NULL, TOKU_ZLIB_WITHOUT_CHECKSUM_METHOD, "TOKU_ZLIB_WITHOUT_CHECKSUM_METHOD"},
    };
    static const method codecs[] = {
        {"quicklz", TOKU_QUICKLZ_METHOD, "TOKU_QUICKLZ_METHOD"},
        {"lzma", TOKU_LZMA_METHOD, "TOKU_LZMA_METHOD"},
        {"zlib-checksum", TOKU_ZLIB_METHOD, "TOKU_ZLIB_METHOD"},
    };
    const char *codec = config->options[CODEC].text;
    const method *chosen = NULL;
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        if (strcmp(codec, codecs[i].word) == 0 && config->compression != KVDYNO_COMPRESSION_NONE)
            chosen = &codecs[i];
    if (strcmp(codec, "lab") == 0 && config->compression < sizeof lab / sizeof *lab && lab[config->compression].name)
        chosen = &lab[config->compression];
    if (!chosen)
        return -1;
    *name = chosen->name;
    return (int)chosen->method;
}

kvdyno_status tokuft_check(const kvdyno_config *config, kvdyno_text *error)
{
    const char *name;
    if (refuses_durability(config, error))
        return KVDYNO_UNSUPPORTED;
    if (tokuft_method(config, &name) < 0)
        say(error, "compression: with option codec=%s it can be %s", config->options[CODEC].text,
            strcmp(config->options[CODEC].text, "lab") == 0 ? "none, snappy or zlib" : "anything but none");
    else if (option_integer(config, BASEMENT_SIZE) > option_integer(config, NODE_SIZE))
        say(error, "basement_size: a basement node is a part of a node, and cannot be larger");
    else if (config->cache_bytes < (uint64_t)(CACHE_NODES * option_integer(config, NODE_SIZE)))
        say(error, "cache: %" PRIu64 " bytes hold less than %d nodes of %" PRId64 "; node_size makes them smaller",
            config->cache_bytes, CACHE_NODES, option_integer(config, NODE_SIZE));
    else
        return KVDYNO_OK;
    return KVDYNO_UNSUPPORTED;
}

/* ---- setting it ---- */

int tokuft_set_environment(DB_ENV *env, const tokuft_library *library, const kvdyno_config *config)
{
    uint64_t cache = config->cache_bytes;
    library->set_direct_io(option_integer(config, DIRECT_IO));
    library->set_compress_buffers(option_integer(config, COMPRESS_EVICTED));
    tokuft_answer_syncs(library);
    env->set_check_thp(env, option_integer(config, CHECK_HUGE_PAGES));
    int code = env->set_cachesize(env, (uint32_t)(cache >> 30), (uint32_t)(cache & 0x3fffffff), 1);
    if (code == 0)
        code = env->set_lg_max(env, (uint32_t)option_integer(config, LOG_FILE_SIZE));
    if (code == 0)
        code = env->set_lk_max_memory(env, (uint64_t)option_integer(config, LOCK_MEMORY));
    if (code == 0)
        code = env->set_lock_timeout(env, (uint64_t)option_integer(config, LOCK_TIMEOUT_MS), NULL);
    if (code == 0)
        code = env->set_redzone(env, (int)option_integer(config, REDZONE));
    if (code == 0)
        code = env->set_client_pool_threads(env, (uint32_t)option_integer(config, CLIENT_THREADS));
    if (code == 0)
        code = env->set_cachetable_pool_threads(env, (uint32_t)option_integer(config, CACHE_THREADS));
    return code ? code : env->set_checkpoint_pool_threads(env, (uint32_t)option_integer(config, CHECKPOINT_THREADS));
}

int tokuft_set_periods(DB_ENV *env, const kvdyno_config *config)
{
    int code = env->checkpointing_set_period(env, (uint32_t)option_integer(config, CHECKPOINT_SECONDS));
    if (code == 0)
        code = env->cleaner_set_period(env, (uint32_t)option_integer(config, CLEANER_SECONDS));
    if (code == 0)
        code = env->cleaner_set_iterations(env, (uint32_t)option_integer(config, CLEANER_ITERATIONS));
    return code ? code : env->evictor_set_enable_partial_eviction(env, option_integer(config, PARTIAL_EVICTION));
}

int tokuft_set_table(DB *db, const kvdyno_config *config)
{
    const char *name;
    int code = db->set_pagesize(db, (uint32_t)option_integer(config, NODE_SIZE));
    if (code == 0)
        code = db->set_readpagesize(db, (uint32_t)option_integer(config, BASEMENT_SIZE));
    if (code == 0)
        code = db->set_fanout(db, (uint32_t)option_integer(config, FANOUT));
    return code ? code : db->set_compression_method(db, (TOKU_COMPRESSION_METHOD)tokuft_method(config, &name));
}

/* ---- saying it ---- */

static void say_durability(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    static const char *const how[] = {
        [KVDYNO_DURABILITY_NONE] = "DB_TXN_NOSYNC: leaves its records in the log's buffer of 16 MiB, which is written "
                                   "when it is full, at a checkpoint and at close",
        [KVDYNO_DURABILITY_PROCESS] = "0, which writes the log and syncs it; the sync is left out "
                                      "(db_env_set_func_fsync), for TokuFT has no mode between the two",
        [KVDYNO_DURABILITY_PERIODIC] = "0, which writes the log and syncs it; the sync is left out "
                                       "(db_env_set_func_fsync), and a thread of the adapter's syncs the log files",
        [KVDYNO_DURABILITY_COMMIT] = "0: writes the log and syncs it; commits that wait together share a sync",
    };
    emit(context, "durability", "DB_TXN->commit", how[config->durability]);
    if (config->durability == KVDYNO_DURABILITY_PERIODIC)
        emitf(emit, context, "durability", "background", "fsync of the log files every %" PRIu32 " ms",
              config->sync_period_ms);
    if (option_integer(config, CHECKPOINT_SECONDS))
        emitf(emit, context, "durability", "checkpointing_set_period",
              "%" PRId64 " seconds; a checkpoint writes and syncs at every level, and so does close",
              option_integer(config, CHECKPOINT_SECONDS));
    else
        emit(context, "durability", "checkpointing_set_period", "0: checkpoints at close only");
}

static void say_memory(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    emitf(emit, context, "cache", "set_cachesize",
          "%" PRIu64 " bytes, of uncompressed nodes; eviction begins there, and clients wait at half as much again",
          config->cache_bytes);
    emit(context, "write_buffer", "write_buffer",
         "none to set: messages wait in the buffers of nodes, in the cache; the log has two buffers of 16 MiB");
    emitf(emit, context, "write_buffer", "set_lg_max", "%" PRId64 " bytes a log file",
          option_integer(config, LOG_FILE_SIZE));
}

static void say_options(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    static const struct {
        int option;
        const char *name;
    } set[] = {
        {NODE_SIZE, "set_pagesize"},
        {BASEMENT_SIZE, "set_readpagesize"},
        {FANOUT, "set_fanout"},
        {CLEANER_SECONDS, "cleaner_set_period"},
        {CLEANER_ITERATIONS, "cleaner_set_iterations"},
        {PARTIAL_EVICTION, "evictor_set_enable_partial_eviction"},
        {COMPRESS_EVICTED, "db_env_set_compress_buffers_before_eviction"},
        {DIRECT_IO, "db_env_set_direct_io"},
        {LOCK_TIMEOUT_MS, "set_lock_timeout"},
        {LOCK_MEMORY, "set_lk_max_memory"},
        {CLIENT_THREADS, "set_client_pool_threads"},
        {CACHE_THREADS, "set_cachetable_pool_threads"},
        {CHECKPOINT_THREADS, "set_checkpoint_pool_threads"},
        {REDZONE, "set_redzone"},
        {CHECK_HUGE_PAGES, "set_check_thp"},
    };
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        emit_value(&tokuft_options[set[i].option], config->options[set[i].option], set[i].name, emit, context);
    emit(context, "options", "isolation",
         "reads and cursors: DB_TXN_SNAPSHOT | DB_TXN_READ_ONLY; writes: row locks; "
         "transactions for reading and writing: serializable");
}

kvdyno_status adapter_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    tokuft_library library;
    const char *method_name = NULL;
    kvdyno_status status = tokuft_check(config, error);
    if (status == KVDYNO_OK)
        status = tokuft_library_open(config->library, &library, error);
    if (status != KVDYNO_OK)
        return status;
    tokuft_method(config, &method_name);
    say_durability(config, emit, context);
    say_memory(config, emit, context);
    emit(context, "compression", "set_compression_method", method_name);
    emit(context, "checksums", "checksums", "of every block of a node, checked when it is read from the file");
    emit(context, "files", "log", "log*.tokulog*");
    say_options(config, emit, context);
    return KVDYNO_OK;
}
