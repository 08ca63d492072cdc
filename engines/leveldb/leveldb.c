/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * leveldb.c: LevelDB behind the engine ABI, through its C API. The library is loaded at run time, so that any version,
 * and any descendant that kept the API, can be measured.
 */
#include "family.h"

enum { MAX_FILE_SIZE = SHARED_OPTION_COUNT, LEVEL_BASE, OPTION_COUNT };
static const kvdyno_option options[OPTION_COUNT] = {
    SHARED_OPTIONS(74, 50000, "The most files that are kept open at once.", "false"),
    [MAX_FILE_SIZE] = {"max_file_size",
                       SCALED_SIZE("2MiB", MIB, GIB, "Bytes after which a table file is full and the next is begun.")},
    [LEVEL_BASE] = {"level_base",
                    SCALED_SIZE("10MiB", 10 * MIB, 10 * MIB, "Bytes that level 1 may hold: a constant of LevelDB's.")},
};
#define DEFAULT_FILE_SIZE (2 * MIB)

static const char *lacks(const library_api *api, const kvdyno_value *option)
{
    if (!api->options_set_max_file_size && option[MAX_FILE_SIZE].integer != DEFAULT_FILE_SIZE)
        return "max_file_size: this library has no function to set it";
    return NULL;
}

static void remarks(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    (void)config;
    emit(context, "cache", "mapped tables",
         "LevelDB maps up to 1000 table files: what needs no decompression is read "
         "there, the OS caches it, and it does not enter the block cache");
}

static void set(const library_api *api, lsm_options *made, const kvdyno_value *option)
{
    if (api->options_set_max_file_size)
        api->options_set_max_file_size(made, (size_t)option[MAX_FILE_SIZE].integer);
}

const family_member member = {
    .library = {"LevelDB", "Debian package libleveldb1d",
                (const char *const[]){"libleveldb.so.1d", "libleveldb.so.1", "libleveldb.so", NULL}},
    .options = options,
    .option_count = OPTION_COUNT,
    .log = "written to the log",
    .sync = "each write, or group of concurrent ones, is synced",
    .properties = (const char *const[]){"leveldb.stats", "leveldb.approximate-memory-usage",
                                        "leveldb.num-files-at-level0", "leveldb.num-files-at-level1",
                                        "leveldb.num-files-at-level2", "leveldb.num-files-at-level3",
                                        "leveldb.num-files-at-level4", "leveldb.num-files-at-level5",
                                        "leveldb.num-files-at-level6", NULL},
    .lacks = lacks,
    .remarks = remarks,
    .set = set,
};

ADAPTER_TABLE(.name = "leveldb", .summary = "LevelDB: a log-structured merge tree with one background thread",
              .origin = "Debian package libleveldb1d", LEVELDB_TABLE);
