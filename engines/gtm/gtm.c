/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * gtm.c: GT.M behind the engine ABI: what it is, its options and settings.
 *
 * GT.M is the engine of a language, M, whose global variables are its database; C reaches it by calling routines of M.
 * Here a record is a node ^k(key). Processes share a database through shared memory; within a process there is no
 * second thread.
 */
#define _GNU_SOURCE
#include "gtm_adapter.h"

#define BUFFERS_MIN UINT64_C(64)
#define BUFFERS_MAX UINT64_C(2097151)
#define JOURNAL_BLOCK UINT64_C(512)
#define JOURNAL_BUFFER_MIN UINT64_C(2308)
#define JOURNAL_BUFFER_MAX UINT64_C(1048576)

const kvdyno_option gt_options[OPTION_COUNT] = {
    [ACCESS_METHOD] = {"access_method",
                       CHOICE("BG", "BG|MM",
                              "BG: blocks are cached in global buffers; MM: the file is mapped, without a journal.")},
    [BLOCK_SIZE] = {"block_size", SIZE("4096", 2048, 65024, "Bytes of a database block: a multiple of 512.")},
    [ALLOCATION] = {"allocation", INTEGER("100", 10, 1040187392, "Blocks that a new database has.")},
    [EXTENSION] = {"extension_count",
                   INTEGER("0", 0, 1048575,
                           "Blocks by which a full database grows; 0: a tenth of the expected data, from 100 up.")},
    [EPOCH_INTERVAL] = {"epoch_interval",
                        INTEGER("300", 1, 32767, "Seconds between epochs, at which all changed blocks are written.")},
    [SYNC_IO] = {"sync_io",
                 BOOL("false", "Writes the journal with O_DSYNC and O_DIRECT instead of syncing it afterwards.")},
};

bool gt_is_mapped(const kvdyno_config *config)
{
    return strcmp(config->options[ACCESS_METHOD].text, "MM") == 0;
}

bool gt_is_journaled(const kvdyno_config *config)
{
    return config->durability != KVDYNO_DURABILITY_NONE;
}

uint64_t gt_global_buffers(const kvdyno_config *config)
{
    return config->cache_bytes / (uint64_t)config->options[BLOCK_SIZE].integer;
}

uint64_t gt_journal_buffer(const kvdyno_config *config)
{
    return config->write_buffer_bytes / JOURNAL_BLOCK;
}

/* GT.M's own 100 blocks make a load wait for the file to grow, time and again. */
int64_t gt_extension(const kvdyno_config *config)
{
    const int64_t own = 100, most = gt_options[EXTENSION].maximum, requested = config->options[EXTENSION].integer;
    if (requested)
        return requested;
    double bytes = (double)config->records * (double)(config->key_size + config->value_size);
    double tenth = bytes / 10 / (double)config->options[BLOCK_SIZE].integer;
    return tenth<(double)own ? own : tenth>(double) most ? most : (int64_t)tenth;
}

static bool cache_fits(const kvdyno_config *config, kvdyno_text *error)
{
    uint64_t block = (uint64_t)config->options[BLOCK_SIZE].integer, buffers = gt_global_buffers(config);
    if (gt_is_mapped(config) || (buffers >= BUFFERS_MIN && buffers <= BUFFERS_MAX))
        return true;
    say(error,
        "cache: %" PRIu64 " bytes are %" PRIu64 " global buffers of %" PRIu64 " bytes; GT.M has %" PRIu64 " to %" PRIu64
        ", that is %" PRIu64 " to %" PRIu64 " bytes; see the option block_size",
        config->cache_bytes, buffers, block, BUFFERS_MIN, BUFFERS_MAX, BUFFERS_MIN * block, BUFFERS_MAX * block);
    return false;
}

static bool write_buffer_fits(const kvdyno_config *config, kvdyno_text *error)
{
    uint64_t blocks = gt_journal_buffer(config);
    if (!gt_is_journaled(config) || (blocks >= JOURNAL_BUFFER_MIN && blocks <= JOURNAL_BUFFER_MAX))
        return true;
    say(error, "write_buffer: the journal's buffer has %" PRIu64 " to %" PRIu64 " bytes, not %" PRIu64,
        JOURNAL_BUFFER_MIN * JOURNAL_BLOCK, JOURNAL_BUFFER_MAX * JOURNAL_BLOCK, config->write_buffer_bytes);
    return false;
}

bool gt_acceptable(const kvdyno_config *config, kvdyno_text *error)
{
    if (refuses_durability(config, error) || refuses_compression(config, "GT.M", error))
        return false;
    if (config->options[BLOCK_SIZE].integer % 512)
        say(error, "block_size: %" PRId64 " is no multiple of 512", config->options[BLOCK_SIZE].integer);
    else if (gt_is_mapped(config) && gt_is_journaled(config))
        say(error, "access_method: MM has no journal of before-images, so it knows only durability none");
    else if (gt_is_mapped(config) && config->options[BLOCK_SIZE].integer % 4096)
        say(error, "block_size: with MM a multiple of 4096, the size of a page");
    else
        return cache_fits(config, error) && write_buffer_fits(config, error);
    return false;
}

/* ---- settings ---- */

static void settings_durability(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    static const char *const how[] = {
        [KVDYNO_DURABILITY_NONE] = "SET: a write is in shared memory when it is acknowledged; a process that is killed "
                                   "within a write may damage the database",
        [KVDYNO_DURABILITY_PROCESS] = "SET: a write and its journal record are in shared memory when it is "
                                      "acknowledged; that outlives the process, and the next opening recovers it",
        [KVDYNO_DURABILITY_PERIODIC] = "SET: a write and its journal record are in shared memory when it is "
                                       "acknowledged",
        [KVDYNO_DURABILITY_COMMIT] = "SET and VIEW \"JNLWAIT\", or TCOMMIT: the journal is synced before a write is "
                                     "acknowledged",
    };
    emit(context, "durability", "journal", gt_is_journaled(config) ? "before_images" : "disabled");
    emit(context, "durability", "writes", how[config->durability]);
    if (config->durability == KVDYNO_DURABILITY_PERIODIC)
        emitf(emit, context, "durability", "background",
              "VIEW \"JNLFLUSH\" every %" PRIu32 " ms, by a process beside "
              "each process that writes",
              config->sync_period_ms);
}

static void settings_memory(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    if (gt_is_mapped(config))
        emit(context, "cache", "cache", "none of its own: the database is mapped, the OS caches it");
    else
        emitf(emit, context, "cache", "global_buffers", "%" PRIu64 ", in shared memory", gt_global_buffers(config));
    if (gt_is_journaled(config))
        emitf(emit, context, "write_buffer", "buffer_size",
              "%" PRIu64 " (of 512 bytes): the journal's buffer, in "
              "shared memory; changed blocks wait in the global buffers",
              gt_journal_buffer(config));
    else
        emit(context, "write_buffer", "buffer_size", "none: without a journal; changed blocks wait in the cache");
}

kvdyno_status adapter_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    const kvdyno_value *option = config->options;
    if (!gt_acceptable(config, error))
        return KVDYNO_UNSUPPORTED;
    settings_durability(config, emit, context);
    settings_memory(config, emit, context);
    emit(context, "compression", "compression", "none");
    emit(context, "checksums", "checksums", "none: blocks have none, only records of the journal");
    emit(context, "options", "access_method", option[ACCESS_METHOD].text);
    for (int i = BLOCK_SIZE; i <= EPOCH_INTERVAL; i++)
        emitf(emit, context, "options", gt_options[i].name, "%" PRId64,
              i == EXTENSION ? gt_extension(config) : option[i].integer);
    emit(context, "options", "sync_io", option[SYNC_IO].integer ? "true" : "false");
    emit(context, "options", "key_size", "1019");
    emitf(emit, context, "options", "record_size", "%d", GT_MAX_VALUE);
    return KVDYNO_OK;
}

/* ---- the version ---- */

/* Only GT.M itself tells its version: "GT.M V7.0-005 Linux x86_64". */
kvdyno_status adapter_probe(const char *library, kvdyno_text *version, kvdyno_text *error)
{
    gt_installation installation;
    gt_library loaded;
    char said[GT_SAID], number[64];
    if (!gt_find(library, &installation, error) || !gt_load(&installation, &loaded, error))
        return KVDYNO_NO_LIBRARY;
    gt_unload(&loaded);
    const char *ask[] = {"-run", "%XCMD", "write $zversion,!", NULL};
    if (gt_run(&installation, installation.dist, "mumps", ask, NULL, said) && sscanf(said, "GT.M V%63s", number) == 1) {
        say(version, "%s", number);
        return KVDYNO_OK;
    }
    say(error, "%s/mumps does not say which version of GT.M it is: %s", installation.dist, gt_gist(said));
    return KVDYNO_NO_LIBRARY;
}

/* ---- the engine ---- */

ADAPTER_TABLE(.name = "gtm",
              .summary = "GT.M: the database of the language M, B-trees in memory that processes share, without "
                         "threads",
              .origin = "Debian package fis-gtm",
              .capabilities = CAN_STORE_IN_ORDER | KVDYNO_CAN_TRANSACT | KVDYNO_CAN_READ_MODIFY_WRITE |
                              KVDYNO_CAN_WRITE_CONCURRENTLY | KVDYNO_CAN_SHARE_PROCESSES | KVDYNO_IS_SINGLE |
                              KVDYNO_IS_BOUND | KVDYNO_READS_REPEAT | KVDYNO_IS_SERIALIZABLE,
              .compressions = COMPRESSION(NONE), .max_key_size = GT_MAX_KEY, .max_value_size = GT_MAX_VALUE,
              .read_modify_write = adapter_read_modify_write, .compact = adapter_compact, .destroy = adapter_destroy,
              OPTIONS(gt_options));
