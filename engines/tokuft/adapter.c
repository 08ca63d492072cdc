/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * adapter.c: TokuFT, also called PerconaFT, behind the engine ABI: a fractal tree, which is a B-tree whose inner nodes
 * hold messages that are on their way to the leaves.
 *
 * What to know when reading its figures:
 *
 * - A get is a transaction of its own: TokuFT has no other way to see only what was committed, without locks. Beginning
 *   and ending it takes a lock that all threads share. `reads_per_transaction` spreads that over many reads.
 * - A get copies the value; so do cursors, which read ahead.
 * - Nodes of 4 MiB are written, parts of them of 128 KiB are read: caches of a few nodes say little.
 * - An overwrite or a delete does not read what was there. The price is paid by those who read, and in the background.
 */
#include "tokuft.h"

static const kvdyno_option options[OPTION_COUNT] = {
    [NODE_SIZE] = {.name = "node_size", .type = KVDYNO_OPTION_SIZE, .default_value = "4MiB", .minimum = 4096,
                   .maximum = 1 << 28, .help = "DB->set_pagesize: bytes of a node, uncompressed."},
    [BASEMENT_SIZE] = {.name = "basement_size", .type = KVDYNO_OPTION_SIZE, .default_value = "128KiB",
                       .minimum = 1024, .maximum = 1 << 28,
                       .help = "DB->set_readpagesize: bytes of the part of a leaf that is read by itself."},
    [FANOUT] = {.name = "fanout", .type = KVDYNO_OPTION_INTEGER, .default_value = "16", .minimum = 2,
                .maximum = 16384, .help = "DB->set_fanout: children of an inner node."},
    [CODEC] = {.name = "codec", .type = KVDYNO_OPTION_CHOICE, .default_value = "lab",
               .choices = "lab|quicklz|lzma|zlib-checksum",
               .help = "In the place of the `compression` that the lab asked for, which must not be none: a method "
                       "that it has no word for."},
    [CHECKPOINT_SECONDS] = {.name = "checkpoint_seconds", .type = KVDYNO_OPTION_INTEGER, .default_value = "60",
                            .maximum = 1000000, .help = "Seconds between checkpoints; 0: at close only."},
    [CLEANER_SECONDS] = {.name = "cleaner_seconds", .type = KVDYNO_OPTION_INTEGER, .default_value = "1",
                         .maximum = 1000000,
                         .help = "Seconds between rounds of the thread that empties buffers; 0: none."},
    [CLEANER_ITERATIONS] = {.name = "cleaner_iterations", .type = KVDYNO_OPTION_INTEGER, .default_value = "5",
                            .maximum = 1000000, .help = "Nodes whose buffers it empties in a round."},
    [PARTIAL_EVICTION] = {.name = "partial_eviction", .type = KVDYNO_OPTION_BOOL, .default_value = "true",
                          .help = "Evict parts of nodes, not only whole ones."},
    [COMPRESS_EVICTED] = {.name = "compress_evicted", .type = KVDYNO_OPTION_BOOL, .default_value = "true",
                          .help = "Compress buffers of inner nodes in memory before they are evicted."},
    [DIRECT_IO] = {.name = "direct_io", .type = KVDYNO_OPTION_BOOL, .default_value = "false",
                   .help = "Read and write the tree around the operating system's cache."},
    [LOG_FILE_SIZE] = {.name = "log_file_size", .type = KVDYNO_OPTION_SIZE, .default_value = "100MiB",
                       .minimum = 1 << 20, .maximum = 1 << 30, .help = "Bytes of a log file."},
    [LOCK_TIMEOUT_MS] = {.name = "lock_timeout_ms", .type = KVDYNO_OPTION_INTEGER, .default_value = "4000",
                         .maximum = 3600000,
                         .help = "How long a write waits for a lock; single writes and batches then try again."},
    [LOCK_MEMORY] = {.name = "lock_memory", .type = KVDYNO_OPTION_SIZE, .default_value = "64MiB", .minimum = 1 << 16,
                     .maximum = INT64_C(1) << 40, .help = "Bytes for row locks; beyond that they become ranges."},
    [CLIENT_THREADS] = {.name = "client_threads", .type = KVDYNO_OPTION_INTEGER, .default_value = "0",
                        .maximum = 1024, .help = "Threads for work that clients leave behind; 0: one for each CPU."},
    [CACHE_THREADS] = {.name = "cache_threads", .type = KVDYNO_OPTION_INTEGER, .default_value = "0", .maximum = 1024,
                       .help = "Threads that read ahead and evict; 0: twice the CPUs."},
    [CHECKPOINT_THREADS] = {.name = "checkpoint_threads", .type = KVDYNO_OPTION_INTEGER, .default_value = "0",
                            .maximum = 1024, .help = "Threads that write at a checkpoint; 0: a quarter of the CPUs."},
    [REDZONE] = {.name = "redzone", .type = KVDYNO_OPTION_INTEGER, .default_value = "5", .maximum = 100,
                 .help = "Percent of the filesystem that TokuFT keeps free: below it writes fail."},
    [CHECK_HUGE_PAGES] = {.name = "check_huge_pages", .type = KVDYNO_OPTION_BOOL, .default_value = "true",
                          .help = "Refuse to open where the kernel gives huge pages to whoever asks for none."},
};

static kvdyno_status probe(const char *chosen, kvdyno_text *version, kvdyno_text *error)
{
    tokuft_library library;
    kvdyno_status status = tokuft_library_open(chosen, &library, error);
    if (status != KVDYNO_OK)
        return status;
    int major, minor, patch;
    library.version(&major, &minor, &patch);
    say(version, "%d.%d.%d", major, minor, patch);
    return KVDYNO_OK;
}

static const kvdyno_engine engine = {
    .size = sizeof(kvdyno_engine),
    .abi_version = KVDYNO_ABI_VERSION,
    .name = "tokuft",
    .summary = "TokuFT (PerconaFT): a fractal tree with a write-ahead log, row locks and snapshots",
    .origin = "no package has it: docs/engines/tokuft.md says how to build it",
    .capabilities = KVDYNO_CAN_SCAN | KVDYNO_CAN_SCAN_REVERSE | KVDYNO_CAN_DELETE | KVDYNO_CAN_BATCH |
                    KVDYNO_CAN_TRANSACT | KVDYNO_CAN_SNAPSHOT | KVDYNO_CAN_READ_MODIFY_WRITE | KVDYNO_CAN_WRITE_CONCURRENTLY,
    .durabilities = 1u << KVDYNO_DURABILITY_NONE | 1u << KVDYNO_DURABILITY_PROCESS |
                    1u << KVDYNO_DURABILITY_PERIODIC | 1u << KVDYNO_DURABILITY_COMMIT,
    .compressions = 1u << KVDYNO_COMPRESSION_NONE | 1u << KVDYNO_COMPRESSION_SNAPPY | 1u << KVDYNO_COMPRESSION_ZLIB,
    .max_key_size = 32 << 10,
    .max_value_size = 32 << 20,
    .options = options,
    .option_count = OPTION_COUNT,
    .option_size = sizeof(kvdyno_option),
    .probe = probe,
    .settings = tokuft_settings,
    .open = tokuft_open,
    .close = tokuft_close,
    .session_open = tokuft_session_open,
    .session_close = tokuft_session_close,
    .session_error = tokuft_session_error,
    .get = tokuft_get,
    .put = tokuft_put,
    .remove = tokuft_remove,
    .write = tokuft_write,
    .read_modify_write = tokuft_read_modify_write,
    .begin = tokuft_begin,
    .commit = tokuft_end_commit,
    .abort = tokuft_end_abort,
    .cursor_open = tokuft_cursor_open,
    .cursor_close = tokuft_cursor_close,
    .cursor_seek = tokuft_cursor_seek,
    .cursor_next = tokuft_cursor_next,
    .cursor_previous = tokuft_cursor_previous,
    .flush = tokuft_flush,
    .compact = tokuft_compact,
    .statistics = tokuft_statistics,
};

const kvdyno_engine *kvdyno_engine_v2(void)
{
    return &engine;
}
