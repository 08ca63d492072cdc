/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * basho-leveldb.c: Basho's LevelDB, the descendant that Riak stores its data in, behind the engine ABI. Of what Basho
 * added, its C API reaches the checks of compactions; the second Bloom filter is reached through a function that our
 * build script adds. The rest (levels, threads, throttle) is fixed.
 */
#include <sys/ipc.h>
#include <sys/shm.h>

#include "family.h"

enum { VERIFY_COMPACTIONS = SHARED_OPTION_COUNT, BLOOM2, OPTION_COUNT };
static const kvdyno_option options[OPTION_COUNT] = {
    /* Above 1033 files its reckoning of the table cache begins again at nothing. */
    SHARED_OPTIONS(20, 1033,
                   "Less 10 and times 4 MiB: the most memory for indexes and filters of open tables; above "
                   "521 the product overflows and nothing bounds it.",
                   "true"),
    [VERIFY_COMPACTIONS] = {.name = "verify_compactions",
                            .type = KVDYNO_OPTION_BOOL,
                            .default_value = "true",
                            .help = "Checks the checksum of every block that a compaction reads."},
    [BLOOM2] = {.name = "bloom2",
                .type = KVDYNO_OPTION_BOOL,
                .default_value = "false",
                .help = "Makes Bloom filters of Basho's second kind, as Riak does."},
};

static const kvdyno_preset presets[] = {
    {.name = "riak", .options = "bloom_bits=16,bloom2=true", .help = "With the Bloom filters that Basho advises."},
};

static const char *lacks(const library_api *api, const kvdyno_value *option)
{
    if (option[BLOOM2].integer && !option[BLOOM_BITS].integer)
        return "bloom2: bloom_bits says how many bits a key its filters have, and says 0";
    if (option[BLOOM2].integer && !api->kvdyno_filterpolicy_create_bloom2)
        return "bloom2: the C API does not reach these filters, and this library has not what "
               "`kvdyno engines install basho-leveldb` adds for that";
    return NULL;
}

static void remarks(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    int64_t files = config->options[MAX_OPEN_FILES].integer, most = INT32_MAX / (4 * MIB);
    emit(context, "cache", "tables",
         "read, not mapped: what is read enters the block cache and the OS's; a compaction "
         "drops what it wrote from the OS's (POSIX_FADV_DONTNEED)");
    if (files - 10 > most)
        emit(context, "cache", "table_cache",
             "indexes and filters of open tables, beside the block cache: unbounded, "
             "for max_open_files overflows Basho's reckoning");
    else
        emitf(emit, context, "cache", "table_cache",
              "indexes and filters of open tables, beside the block cache: up "
              "to %" PRId64 " bytes",
              (files - 10) * 4 * MIB);
    emit(context, "write_buffer", "throttle",
         "from a minute after the first open on, writes wait as long as Basho "
         "reckons that compaction takes for them, while it is behind");
    if (config->compression == KVDYNO_COMPRESSION_SNAPPY)
        emit(context, "compression", "level 0", "written without compression");
}

static void set(const library_api *api, lsm_options *made, const kvdyno_value *option)
{
    api->options_set_verify_compactions(made, option[VERIFY_COMPACTIONS].integer != 0);
}

static lsm_filter *filter(const library_api *api, const kvdyno_value *option)
{
    int bits = (int)option[BLOOM_BITS].integer;
    return option[BLOOM2].integer ? api->kvdyno_filterpolicy_create_bloom2(bits) : api->filterpolicy_create_bloom(bits);
}

/* Basho counts in a System V segment that all processes of the machine share and none removes. One that this process
 * shares with nobody, new or left by another, is marked to go with it. */
static void opened(void)
{
    const key_t basho = 41207;
    struct shmid_ds segment;
    int id = shmget(basho, 0, 0);
    if (id >= 0 && shmctl(id, IPC_STAT, &segment) == 0 && segment.shm_nattch == 1)
        shmctl(id, IPC_RMID, NULL);
}

static const char *const counters[] = {
    "leveldb.BlockCached",     "leveldb.BlockRead",       "leveldb.BlockFiltered",  "leveldb.BlockFilterFalse",
    "leveldb.TableCached",     "leveldb.TableOpened",     "leveldb.WriteNewMem",    "leveldb.WriteWaitImm",
    "leveldb.WriteWaitLevel0", "leveldb.ThrottleCounter", "leveldb.ReadBlockError", "leveldb.BGWriteError",
};
#define COUNTER_COUNT (sizeof counters / sizeof *counters)
_Static_assert(COUNTER_COUNT <= MOST_COUNTERS, "more counters than a database holds");

const family_member member = {
    .library = {"Basho's LevelDB", "`kvdyno engines install basho-leveldb`",
                (const char *const[]){"libbasholeveldb.so", NULL}},
    .hallmark = "leveldb_options_set_verify_compactions",
    .options = options,
    .option_count = OPTION_COUNT,
    .log = "written to the log, which is mapped",
    .sync = "each write, or group of concurrent ones, is synced",
    .properties = (const char *const[]){"leveldb.stats", "leveldb.total-bytes", "leveldb.ThrottleGauge",
                                        "leveldb.num-files-at-level0", "leveldb.num-files-at-level1",
                                        "leveldb.num-files-at-level2", "leveldb.num-files-at-level3",
                                        "leveldb.num-files-at-level4", "leveldb.num-files-at-level5",
                                        "leveldb.num-files-at-level6", NULL},
    .counters = counters,
    .counter_count = COUNTER_COUNT,
    .lacks = lacks,
    .remarks = remarks,
    .set = set,
    .opened = opened,
    .filter = filter,
};

ADAPTER_TABLE(.name = "basho-leveldb",
              .summary = "Basho's LevelDB: LevelDB with larger levels, more background threads and a write throttle, "
                         "for Riak",
              .origin = "npm package leveldown-basho", LEVELDB_TABLE, PRESETS(presets));
