/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * hyperleveldb.c: HyperLevelDB, LevelDB's descendant from HyperDex, behind the engine ABI. What it changed for more
 * writers and more compaction, it changed for good: its C API has no option that LevelDB's has not, and lacks one.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "family.h"

static const kvdyno_option options[SHARED_OPTION_COUNT] = {
    SHARED_OPTIONS(74, 50000, "The most files that are kept open at once.", "false"),
};

static void remarks(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    (void)config;
    emit(context, "cache", "mapped tables",
         "HyperLevelDB maps up to 1000 table files: what needs no decompression is "
         "read there, the OS caches it, and it does not enter the block cache");
    emit(context, "write_buffer", "mapped log",
         "a log is mapped in whole while it is written: it counts as memory of "
         "the process beside the write buffer");
    emit(context, "write_buffer", "stalls",
         "none for the number of files in level 0: a writer waits only where two "
         "write buffers are full");
}

/* Whether `name` in the database's folder can be had with `flags` of open. */
static bool there(const kvdyno_config *config, const char *name, int flags)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", config->path, name);
    int file = open(path, flags | O_CLOEXEC, 0644);
    if (file >= 0)
        close(file);
    return file >= 0;
}

/* When HyperLevelDB cannot open a database it goes on to use the handle that it has just freed. What usually stands in
 * the way is therefore found out before. */
static bool forbids(const kvdyno_config *config, kvdyno_text *error)
{
    bool has_database = there(config, "CURRENT", O_RDONLY);
    if (config->create && has_database)
        say(error, "cannot open: %s: exists (error_if_exists is true)", config->path);
    else if (!config->create && !has_database)
        say(error, "cannot open: %s: does not exist (create_if_missing is false)", config->path);
    else if (!there(config, "LOCK", O_RDWR | O_CREAT))
        say(error, "cannot open: %s/LOCK: %s", config->path, strerror(errno));
    else
        return false;
    return true;
}

const family_member member = {
    .library = {"HyperLevelDB", "`kvdyno engines install hyperleveldb`",
                (const char *const[]){"libhyperleveldb.so", "libhyperleveldb.so.0", NULL}},
    .hallmark = "_ZN7leveldb6DBImpl10LiveBackupERKNS_5SliceE", /* leveldb::DBImpl::LiveBackup: its C API has none */
    .options = options,
    .option_count = SHARED_OPTION_COUNT,
    .log = "written to the log, which is mapped",
    .sync = "each write is synced; one of several at once may return while another's sync, which carries it too, is "
            "still under way",
    .properties = (const char *const[]){"leveldb.stats", "leveldb.num-files-at-level0", "leveldb.num-files-at-level1",
                                        "leveldb.num-files-at-level2", "leveldb.num-files-at-level3",
                                        "leveldb.num-files-at-level4", "leveldb.num-files-at-level5",
                                        "leveldb.num-files-at-level6", NULL},
    .remarks = remarks,
    .forbids = forbids,
};

ADAPTER_TABLE(.name = "hyperleveldb",
              .summary = "HyperLevelDB: LevelDB with writers that log side by side and three background threads",
              .origin = "npm package leveldown-hyper", LEVELDB_TABLE);
