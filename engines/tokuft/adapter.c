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

const kvdyno_option tokuft_options[OPTION_COUNT] = {
    [NODE_SIZE] = {"node_size", SIZE("4MiB", 4096, 1 << 28, "DB->set_pagesize: bytes of a node, uncompressed.")},
    [BASEMENT_SIZE] = {"basement_size",
                       SIZE("128KiB", 1024, 1 << 28,
                            "DB->set_readpagesize: bytes of the part of a leaf that is read by itself.")},
    [FANOUT] = {"fanout", INTEGER("16", 2, 16384, "DB->set_fanout: children of an inner node.")},
    [CODEC] = {"codec", CHOICE("lab", "lab|quicklz|lzma|zlib-checksum",
                               "Instead of the lab's `compression`, which must not be none: a method that it has "
                               "no word for.")},
    [CHECKPOINT_SECONDS] = {"checkpoint_seconds",
                            INTEGER("60", 0, 1000000, "Seconds between checkpoints; 0: at close only.")},
    [CLEANER_SECONDS] = {"cleaner_seconds",
                         INTEGER("1", 0, 1000000,
                                 "Seconds between rounds of the thread that empties buffers; 0: none.")},
    [CLEANER_ITERATIONS] = {"cleaner_iterations",
                            INTEGER("5", 0, 1000000, "Nodes whose buffers it empties in a round.")},
    [PARTIAL_EVICTION] = {"partial_eviction", BOOL("true", "Evict parts of nodes, not only whole ones.")},
    [COMPRESS_EVICTED] = {"compress_evicted",
                          BOOL("true", "Compress buffers of inner nodes in memory before they are evicted.")},
    [DIRECT_IO] = {"direct_io", BOOL("false", "Read and write the tree around the operating system's cache.")},
    [LOG_FILE_SIZE] = {"log_file_size", SCALED_SIZE("100MiB", 1 << 20, 1 << 30, "Bytes of a log file.")},
    [LOCK_TIMEOUT_MS] = {"lock_timeout_ms",
                         INTEGER("4000", 0, 3600000,
                                 "How long a write waits for a lock; single writes and batches then try again.")},
    [LOCK_MEMORY] = {"lock_memory",
                     SIZE("64MiB", 1 << 16, INT64_C(1) << 40, "Bytes for row locks; beyond that they become ranges.")},
    [CLIENT_THREADS] = {"client_threads",
                        INTEGER("0", 0, 1024, "Threads for work that clients leave behind; 0: one for each CPU.")},
    [CACHE_THREADS] = {"cache_threads", INTEGER("0", 0, 1024, "Threads that read ahead and evict; 0: twice the CPUs.")},
    [CHECKPOINT_THREADS] = {"checkpoint_threads",
                            INTEGER("0", 0, 1024, "Threads that write at a checkpoint; 0: a quarter of the CPUs.")},
    [REDZONE] = {"redzone",
                 INTEGER("5", 0, 100, "Percent of the filesystem that TokuFT keeps free: below it writes fail.")},
    [CHECK_HUGE_PAGES] = {"check_huge_pages",
                          BOOL("true", "Refuse to open where the kernel gives huge pages to whoever asks for none.")},
};

kvdyno_status adapter_probe(const char *chosen, kvdyno_text *version, kvdyno_text *error)
{
    tokuft_library library;
    library_release is;
    kvdyno_status status = tokuft_library_open(chosen, &library, error);
    if (status != KVDYNO_OK)
        return status;
    library.db_version(&is.major, &is.minor, &is.patch);
    say_release(is, version);
    return KVDYNO_OK;
}

ADAPTER_TABLE(.name = "tokuft",
              .summary = "TokuFT (PerconaFT): a fractal tree with a write-ahead log, row locks and snapshots",
              .origin = "no package has it: docs/engines/tokuft.md says how to build it",
              .capabilities = CAN_STORE_IN_ORDER | KVDYNO_CAN_TRANSACT | KVDYNO_CAN_SNAPSHOT |
                              KVDYNO_CAN_READ_MODIFY_WRITE | KVDYNO_CAN_WRITE_CONCURRENTLY | KVDYNO_READS_REPEAT |
                              KVDYNO_IS_SERIALIZABLE,
              .compressions = COMPRESSION(NONE) | COMPRESSION(SNAPPY) | COMPRESSION(ZLIB), .max_key_size = 32 << 10,
              .max_value_size = 32 << 20, .read_modify_write = adapter_read_modify_write, .compact = adapter_compact,
              OPTIONS(tokuft_options));
