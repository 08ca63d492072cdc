/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * rocksdb.c: RocksDB behind the engine ABI, through its C API: what it is and can do.
 */
#include "rocksdb_adapter.h"

static const kvdyno_engine engine = {
    .size = sizeof(kvdyno_engine),
    .abi_version = KVDYNO_ABI_VERSION,
    .name = "rocksdb",
    .summary = "RocksDB: a log-structured merge tree with many background threads",
    .origin = "Debian package librocksdb7.8, or librocksdbjni-linux64.so from any org.rocksdb:rocksdbjni",
    .capabilities = KVDYNO_CAN_SCAN | KVDYNO_CAN_SCAN_REVERSE | KVDYNO_CAN_DELETE | KVDYNO_CAN_BATCH |
                    KVDYNO_CAN_MULTI_GET | KVDYNO_CAN_SNAPSHOT | KVDYNO_CAN_WRITE_CONCURRENTLY | KVDYNO_CAN_PREFIX,
    .durabilities = 1u << KVDYNO_DURABILITY_NONE | 1u << KVDYNO_DURABILITY_PROCESS |
                    1u << KVDYNO_DURABILITY_PERIODIC | 1u << KVDYNO_DURABILITY_COMMIT,
    .compressions = 1u << KVDYNO_COMPRESSION_NONE | 1u << KVDYNO_COMPRESSION_SNAPPY | 1u << KVDYNO_COMPRESSION_LZ4 |
                    1u << KVDYNO_COMPRESSION_ZSTD | 1u << KVDYNO_COMPRESSION_ZLIB,
    .max_key_size = UINT32_MAX - 8, /* lengths are stored in 32 bits, a key with 8 bytes of RocksDB's own */
    .max_value_size = UINT32_MAX,
    .options = rdb_options,
    .option_count = OPTION_COUNT,
    .option_size = sizeof(kvdyno_option),
    .presets = rdb_presets,
    .preset_count = RDB_PRESETS,
    .preset_size = sizeof(kvdyno_preset),
    .probe = rdb_probe,
    .settings = rdb_settings,
    .open = rdb_open,
    .close = rdb_close,
    .session_open = rdb_session_open,
    .session_close = rdb_session_close,
    .session_error = rdb_session_error,
    .get = rdb_get,
    .put = rdb_put,
    .remove = rdb_remove,
    .write = rdb_write,
    .multi_get = rdb_multi_get,
    .begin = rdb_begin,
    .commit = rdb_end,
    .abort = rdb_end,
    .cursor_open = rdb_cursor_open,
    .cursor_close = rdb_cursor_close,
    .cursor_seek = rdb_cursor_seek,
    .cursor_next = rdb_cursor_next,
    .cursor_previous = rdb_cursor_previous,
    .flush = rdb_flush,
    .compact = rdb_compact,
    .wait_idle = rdb_wait_idle,
    .statistics = rdb_statistics,
    .effective_capabilities = rdb_effective_capabilities,
};

const kvdyno_engine *kvdyno_engine_v2(void)
{
    return &engine;
}
