/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * options.c: what there is to set in RocksDB, and what of it excludes each other or is not in the library.
 */
#include "family.h"

/* The bounds to which RocksDB would cut it in silence. */
#define LEAST_WRITE_BUFFER (64 * KIB)
#define MOST_WRITE_BUFFER (64 * GIB)

/* The defaults are RocksDB's own. */
const kvdyno_option rdb_options[OPTION_COUNT] = {
    [BLOCK_SIZE] = {"block_size", SIZE("4KiB", KIB, GIB, "Bytes of user data in a block, before compression.")},
    [BLOOM_BITS] = {"bloom_bits",
                    INTEGER("0", 0, 64,
                            "Bits a key of the Bloom filters that spare reads of tables without it; 0: no filters.")},
    [CACHE_INDEX_AND_FILTER_BLOCKS] = {"cache_index_and_filter_blocks",
                                       BOOL("false", "Keeps indexes and filters in the block cache, not beside it.")},
    [MAX_BACKGROUND_JOBS] = {"max_background_jobs",
                             INTEGER("0", 0, 4096, "The most flushes and compactions at once; 0: RocksDB's default.")},
    [MAX_OPEN_FILES] = {"max_open_files",
                        INTEGER("-1", -1, INT32_MAX, "The most files that are kept open at once; -1: all of them.")},
    [MAX_WRITE_BUFFER_NUMBER] = {"max_write_buffer_number",
                                 INTEGER("2", 2, 4096,
                                         "The most write buffers, the one being filled and those being written out.")},
    [TARGET_FILE_SIZE_BASE] = {"target_file_size_base",
                               SCALED_SIZE("64MiB", 64 * KIB, 1024 * GIB,
                                           "Bytes after which a table file of level 1 is full and the next is begun.")},
    [LEVEL0_TRIGGER] = {"level0_file_num_compaction_trigger",
                        INTEGER("4", 1, 4096, "Files in level 0 that start a compaction.")},
    [COMPACTION_STYLE] = {"compaction_style", CHOICE("level", "level|universal", "How tables are merged.")},
    [DIRECT_READS] = {"direct_reads", BOOL("false", "Reads with O_DIRECT: the OS caches nothing.")},
    [DIRECT_IO_FLUSH_COMPACTION] = {"direct_io_flush_compaction",
                                    BOOL("false", "Flushes and compactions read and write with O_DIRECT.")},
    [MMAP_READS] = {"mmap_reads", BOOL("false", "Reads table files through a map.")},
    [MMAP_WRITES] = {"mmap_writes", BOOL("false", "Writes files through a map.")},
    [PIPELINED_WRITE] = {"pipelined_write",
                         BOOL("false",
                              "Lets a group of writes enter the log while the last one enters the write buffer.")},
    [UNORDERED_WRITE] = {"unordered_write",
                         BOOL("false",
                              "Lets writes enter the write buffer in any order: faster, but a snapshot may change.")},
    [VERIFY_CHECKSUMS] = {"verify_checksums",
                          BOOL("true", "Checks the checksum of every block that a read takes from a file.")},
    [FILL_CACHE] = {"fill_cache", BOOL("true", "Keeps the blocks that were read in the cache.")},
    [STATISTICS] = {"statistics",
                    BOOL("false", "Counts what RocksDB does, for the engine's statistics; it costs time.")},
    [PREFIX_EXTRACTOR] = {"prefix_extractor", BOOL("false", "Tells RocksDB that keys have a prefix, which hash "
                                                            "memtables, hash indexes, plain tables and filters use.")},
    [PREFIX_SIZE] =
        {"prefix_size",
         INTEGER("0", 0, 65535,
                 "Bytes of that prefix; 0: what groups of the workload's keys have in common, or the whole key.")},
    [MEMTABLE] = {"memtable",
                  CHOICE("skiplist", "skiplist|hash_skiplist|hash_linkedlist",
                         "The write buffer: one skip list, or a hash table by prefix of skip lists or linked lists.")},
    [HASH_BUCKET_COUNT] =
        {"hash_bucket_count",
         INTEGER(
             "0", 0, INT32_MAX,
             "Buckets of a hash memtable; 0: 1048576, or what takes an eighth of the write buffer if that is fewer.")},
    [MEMTABLE_PREFIX_BLOOM] = {"memtable_prefix_bloom_size_ratio",
                               REAL("0",
                                    "The part of the write buffer, 0 to 0.25, for a Bloom filter of its prefixes.")},
    [ALLOW_CONCURRENT_MEMTABLE_WRITE] =
        {"allow_concurrent_memtable_write",
         BOOL("true",
              "Lets several threads enter the write buffer at once; a hash memtable takes one at a time whatever this "
              "says.")},
    [TABLE] = {"table",
               CHOICE("block", "block|plain",
                      "The format of table files; plain is made for memory and has neither cursors nor compression.")},
    [INDEX] = {"index", CHOICE("binary", "binary|hash",
                               "How the block of a key is found: by binary search, or by hash of its prefix.")},
    [BLOOM_LOCALITY] =
        {"bloom_locality",
         INTEGER("0", 0, 1,
                 "1: all bits of a key lie in one cache line of the memtable's and the plain table's Bloom filters.")},
    [NUM_LEVELS] = {"num_levels", INTEGER("7", 2, 64, "The most levels.")},
    [LEVEL_BASE] = {"max_bytes_for_level_base", SCALED_SIZE("256MiB", MIB, 1024 * GIB, "Bytes that level 1 may hold.")},
    [DYNAMIC_LEVEL_BYTES] =
        {"level_compaction_dynamic_level_bytes",
         CHOICE("default", "default|true|false",
                "Sizes levels by the last one instead of level 1; default: as this version of RocksDB does.")},
    [LEVEL0_SLOWDOWN] = {"level0_slowdown_writes_trigger",
                         INTEGER("20", 1, 65536, "Files in level 0 that slow writers down.")},
    [LEVEL0_STOP] = {"level0_stop_writes_trigger", INTEGER("36", 1, 65536, "Files in level 0 that stop writers.")},
    [MAX_BACKGROUND_COMPACTIONS] =
        {"max_background_compactions",
         INTEGER("-1", -1, 4096,
                 "The most compactions at once, besides flushes; -1: RocksDB derives it from max_background_jobs.")},
    [MAX_BACKGROUND_FLUSHES] =
        {"max_background_flushes",
         INTEGER("-1", -1, 4096,
                 "The most flushes at once; -1: RocksDB derives it; 0: they share the threads of compactions.")},
    [OBSOLETE_FILES_PERIOD] = {"delete_obsolete_files_period_micros",
                               INTEGER("21600000000", 1, INT64_C(1) << 50,
                                       "Microseconds between two searches for files no longer needed.")},
    [OWN_OPTIONS] = {"options", WORDS("Any other options in RocksDB's own words (GetOptionsFromString), such as "
                                      "enable_blob_files=true;min_blob_size=1024.")},
};

/* The settings of RocksDB's own page on workloads in memory, beside the table format. */
#define IN_MEMORY                                                                                                      \
    "prefix_extractor=true,memtable=hash_skiplist,bloom_bits=10,bloom_locality=1,mmap_reads=true,max_open_files=-1,"   \
    "max_write_buffer_number=2,num_levels=6,target_file_size_base=128MiB,max_bytes_for_level_base=1GiB,"               \
    "level_compaction_dynamic_level_bytes=false,level0_file_num_compaction_trigger=8,"                                 \
    "level0_slowdown_writes_trigger=16,level0_stop_writes_trigger=24,max_background_compactions=4,"                    \
    "max_background_flushes=0,delete_obsolete_files_period_micros=314572800,verify_checksums=true,"

const kvdyno_preset rdb_presets[RDB_PRESETS] = {
    {"pfx", IN_MEMORY "table=plain",
     "The settings that RocksDB published for data in memory, by prefix, with PlainTable: no cursors, no compression."},
    {"pfx-block", IN_MEMORY "table=block,index=hash",
     "The same with block-based tables and a hash index, which can be scanned and compressed."},
};

/* ---- options that are one call of the C API ---- */

typedef enum { INT, UCHAR, WORD, TRUTH } kind; /* TRUTH: a CHOICE of true, false, and not to call it at all */

typedef struct setter {
    const char *function;
    kind kind;
    bool if_given; /* the default is not to call it */
} setter;

static const setter setters[OPTION_COUNT] = {
    [MAX_BACKGROUND_JOBS] = {"rocksdb_options_set_max_background_jobs", INT, true},
    [MAX_OPEN_FILES] = {"rocksdb_options_set_max_open_files", INT, false},
    [MAX_WRITE_BUFFER_NUMBER] = {"rocksdb_options_set_max_write_buffer_number", INT, false},
    [TARGET_FILE_SIZE_BASE] = {"rocksdb_options_set_target_file_size_base", WORD, false},
    [LEVEL0_TRIGGER] = {"rocksdb_options_set_level0_file_num_compaction_trigger", INT, false},
    [DIRECT_READS] = {"rocksdb_options_set_use_direct_reads", UCHAR, false},
    [DIRECT_IO_FLUSH_COMPACTION] = {"rocksdb_options_set_use_direct_io_for_flush_and_compaction", UCHAR, false},
    [MMAP_READS] = {"rocksdb_options_set_allow_mmap_reads", UCHAR, false},
    [MMAP_WRITES] = {"rocksdb_options_set_allow_mmap_writes", UCHAR, false},
    [PIPELINED_WRITE] = {"rocksdb_options_set_enable_pipelined_write", UCHAR, true},
    [UNORDERED_WRITE] = {"rocksdb_options_set_unordered_write", UCHAR, true},
    [ALLOW_CONCURRENT_MEMTABLE_WRITE] = {"rocksdb_options_set_allow_concurrent_memtable_write", UCHAR, false},
    [BLOOM_LOCALITY] = {"rocksdb_options_set_bloom_locality", INT, true},
    [NUM_LEVELS] = {"rocksdb_options_set_num_levels", INT, false},
    [LEVEL_BASE] = {"rocksdb_options_set_max_bytes_for_level_base", WORD, false},
    [DYNAMIC_LEVEL_BYTES] = {"rocksdb_options_set_level_compaction_dynamic_level_bytes", TRUTH, true},
    [LEVEL0_SLOWDOWN] = {"rocksdb_options_set_level0_slowdown_writes_trigger", INT, false},
    [LEVEL0_STOP] = {"rocksdb_options_set_level0_stop_writes_trigger", INT, false},
    [MAX_BACKGROUND_COMPACTIONS] = {"rocksdb_options_set_max_background_compactions", INT, true},
    [MAX_BACKGROUND_FLUSHES] = {"rocksdb_options_set_max_background_flushes", INT, true},
    [OBSOLETE_FILES_PERIOD] = {"rocksdb_options_set_delete_obsolete_files_period_micros", WORD, true},
};

const char *rdb_setter_name(int option)
{
    return setters[option].function;
}

/* The value that is set, which may be less than the one that is requested. */
static int64_t effective(const kvdyno_config *config, int option)
{
    if (option == ALLOW_CONCURRENT_MEMTABLE_WRITE)
        return rdb_concurrent_memtable(config);
    return setters[option].kind == TRUTH ? option_is(config, option, "true") : config->options[option].integer;
}

/* A default is spelled as a user would spell it. */
static bool is_default(const kvdyno_config *config, int option)
{
    const char *given = rdb_options[option].default_value;
    if (rdb_options[option].type == KVDYNO_OPTION_CHOICE)
        return option_is(config, option, given);
    if (rdb_options[option].type == KVDYNO_OPTION_BOOL)
        return effective(config, option) == (strcmp(given, "true") == 0);
    char *unit;
    int64_t number = strtoll(given, &unit, 10);
    return effective(config, option) == number * (*unit == 'K' ? KIB : *unit == 'M' ? MIB : *unit == 'G' ? GIB : 1);
}

void rdb_set_options(const library_api *api, lsm_options *to, const kvdyno_config *config)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        void *set = api->setters[i];
        if (!set || (setters[i].if_given && is_default(config, i)))
            continue;
        int64_t value = effective(config, i);
        if (setters[i].kind == INT)
            ((void (*)(lsm_options *, int))set)(to, (int)value);
        else if (setters[i].kind == WORD)
            ((void (*)(lsm_options *, uint64_t))set)(to, (uint64_t)value);
        else
            ((void (*)(lsm_options *, unsigned char))set)(to, value != 0);
    }
}

/* ---- what cannot be honoured ---- */

/* The function that this version lacks and this configuration needs, or NULL; `what` needs it. */
static const char *lacking(const library_api *api, const kvdyno_config *config, const char **what)
{
#define NEED(condition, setting, function)                                                                             \
    if ((condition) && !api->function)                                                                                 \
        return *what = setting, LSM_PREFIX #function;
    bool prefix = config->options[PREFIX_EXTRACTOR].integer;
    NEED(prefix, "prefix_extractor", options_set_prefix_extractor)
    NEED(prefix, "prefix_extractor", slicetransform_create)
    NEED(prefix, "prefix_extractor", slicetransform_create_noop)
    NEED(prefix, "prefix_extractor", readoptions_set_total_order_seek)
    NEED(option_is(config, MEMTABLE, "hash_skiplist"), "memtable", options_set_hash_skip_list_rep)
    NEED(option_is(config, MEMTABLE, "hash_linkedlist"), "memtable", options_set_hash_link_list_rep)
    NEED(config->options[MEMTABLE_PREFIX_BLOOM].real > 0, "memtable_prefix_bloom_size_ratio",
         options_set_memtable_prefix_bloom_size_ratio)
    NEED(option_is(config, TABLE, "plain"), "table", options_set_plain_table_factory)
    NEED(option_is(config, INDEX, "hash"), "index", block_based_options_set_index_type)
#undef NEED
    for (int i = 0; i < OPTION_COUNT; i++)
        if (setters[i].function && !api->setters[i] && !is_default(config, i))
            return *what = rdb_options[i].name, setters[i].function;
    return NULL;
}

bool rdb_library_can(const library_api *api, const kvdyno_config *config, kvdyno_text *error)
{
    const char *what, *function = lacking(api, config, &what);
    if (function)
        say(error, "%s: this version of the library has no %s", what, function);
    return !function;
}

/* The setting that is built round a prefix, where there is none. RocksDB would take something else in silence. */
static const char *without_prefix(const kvdyno_config *config)
{
    const kvdyno_value *option = config->options;
    if (option[PREFIX_EXTRACTOR].integer)
        return NULL;
    return !option_is(config, MEMTABLE, "skiplist")    ? "memtable: a hash memtable"
           : option_is(config, TABLE, "plain")         ? "table: a plain table"
           : option_is(config, INDEX, "hash")          ? "index: a hash index"
           : option[MEMTABLE_PREFIX_BLOOM].real != 0.0 ? "memtable_prefix_bloom_size_ratio: a filter of prefixes"
           : option[PREFIX_SIZE].integer               ? "prefix_size: a prefix"
                                                       : NULL;
}

static const char *beside_plain(const kvdyno_config *config)
{
    if (!option_is(config, TABLE, "plain"))
        return NULL;
    return config->compression != KVDYNO_COMPRESSION_NONE           ? "compression: a plain table has none"
           : option_is(config, INDEX, "hash")                       ? "index: a plain table has its own"
           : config->options[CACHE_INDEX_AND_FILTER_BLOCKS].integer ? "cache_index_and_filter_blocks: a plain table "
                                                                      "has no blocks"
                                                                    : NULL;
}

static const char *exclusion(const kvdyno_config *config)
{
    const kvdyno_value *option = config->options;
    bool by_kind = option[MAX_BACKGROUND_COMPACTIONS].integer >= 0 || option[MAX_BACKGROUND_FLUSHES].integer >= 0;
    if (option[DIRECT_READS].integer && option[MMAP_READS].integer)
        return "direct_reads and mmap_reads exclude each other";
    if (option[DIRECT_IO_FLUSH_COMPACTION].integer && option[MMAP_READS].integer)
        return "direct_io_flush_compaction and mmap_reads exclude each other";
    if (option[DIRECT_IO_FLUSH_COMPACTION].integer && option[MMAP_WRITES].integer)
        return "direct_io_flush_compaction and mmap_writes exclude each other";
    if (option[MMAP_WRITES].integer && config->durability == KVDYNO_DURABILITY_PERIODIC)
        return "durability periodic: RocksDB cannot sync its log in the background with mmap_writes";
    if (option[PIPELINED_WRITE].integer && option[UNORDERED_WRITE].integer)
        return "pipelined_write and unordered_write exclude each other";
    if (option[UNORDERED_WRITE].integer && !rdb_concurrent_memtable(config))
        return "unordered_write: it needs the memtable skiplist and allow_concurrent_memtable_write";
    if (option[HASH_BUCKET_COUNT].integer && option_is(config, MEMTABLE, "skiplist"))
        return "hash_bucket_count: a skip list has no buckets; choose another memtable";
    if (option[MAX_BACKGROUND_JOBS].integer && by_kind)
        return "max_background_jobs: RocksDB ignores it where max_background_compactions or _flushes is given";
    if (option[LEVEL0_TRIGGER].integer > option[LEVEL0_SLOWDOWN].integer ||
        option[LEVEL0_SLOWDOWN].integer > option[LEVEL0_STOP].integer)
        return "level0_file_num_compaction_trigger, _slowdown_writes_trigger, _stop_writes_trigger: they must not fall";
    if (!(option[MEMTABLE_PREFIX_BLOOM].real >= 0 && option[MEMTABLE_PREFIX_BLOOM].real <= 0.25))
        return "memtable_prefix_bloom_size_ratio: it is from 0 to 0.25";
    if (config->key_size && option[PREFIX_SIZE].integer > (int64_t)config->key_size)
        return "prefix_size: it is larger than the key";
    return NULL;
}

void adapter_effective_capabilities(const kvdyno_config *config, kvdyno_capabilities *declared)
{
    library_api api;
    void *library;
    bool there = rdb_load(config->library, &api, &library, NULL);
    if (!there || !rdb_bounds_iterators(&api))
        declared->capabilities &= ~KVDYNO_CAN_BOUND;
    /* With a prefix_size of its own the extractor may know another prefix than the lab's keys have. */
    if (!there || !rdb_scans_prefixes(&api) || !config->options[PREFIX_EXTRACTOR].integer ||
        config->options[PREFIX_SIZE].integer)
        declared->capabilities &= ~KVDYNO_CAN_SCAN_PREFIX;
    if (!config->options[STATISTICS].integer)
        declared->capabilities &= ~KVDYNO_CAN_COUNT;
    if (!option_is(config, TABLE, "plain"))
        return;
    declared->capabilities &= ~(KVDYNO_CAN_SCAN | KVDYNO_CAN_SCAN_REVERSE | KVDYNO_CAN_DELETE_RANGE | KVDYNO_CAN_BOUND |
                                KVDYNO_CAN_SCAN_PREFIX);
    declared->compressions = 1u << KVDYNO_COMPRESSION_NONE;
}

bool rdb_acceptable(const kvdyno_config *config, kvdyno_text *error)
{
    const char *excluded = beside_plain(config), *lonely = without_prefix(config);
    if (refuses_durability(config, error))
        return false;
    if (config->compression > KVDYNO_COMPRESSION_ZLIB)
        say(error, "compression: %" PRIu32 " is not known", config->compression);
    else if (config->write_buffer_bytes < LEAST_WRITE_BUFFER || config->write_buffer_bytes > MOST_WRITE_BUFFER)
        say(error, "write_buffer: RocksDB takes 64 KiB to 64 GiB, not %" PRIu64 " bytes", config->write_buffer_bytes);
    else if (lonely)
        say(error, "%s needs prefix_extractor=true", lonely);
    else if (excluded || (excluded = exclusion(config)))
        say(error, "%s", excluded);
    else
        return true;
    return false;
}
