/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * rocksdb.c: RocksDB behind the engine ABI, through its C API: what it is and can do.
 */
#include "family.h"

ADAPTER_TABLE(.name = "rocksdb", .summary = "RocksDB: a log-structured merge tree with many background threads",
              .origin = "Debian package librocksdb7.8, or librocksdbjni-linux64.so from any org.rocksdb:rocksdbjni",
              .capabilities = FAMILY_CAPABILITIES | KVDYNO_CAN_PREFIX | KVDYNO_CAN_COUNT | KVDYNO_CAN_DELETE_RANGE |
                              KVDYNO_CAN_BOUND | KVDYNO_CAN_SCAN_PREFIX,
              FAMILY_LIMITS,
              .compressions = COMPRESSION(NONE) | COMPRESSION(SNAPPY) | COMPRESSION(LZ4) | COMPRESSION(ZSTD) |
                              COMPRESSION(ZLIB),
              .multi_get = adapter_multi_get, .compact = adapter_compact, .wait_idle = adapter_wait_idle,
              .effective_capabilities = adapter_effective_capabilities, .counters = adapter_counters,
              .delete_range = adapter_delete_range, .cursor_open_with = adapter_cursor_open_with,
              .set_durability = adapter_set_durability, OPTIONS(rdb_options), PRESETS(rdb_presets));
