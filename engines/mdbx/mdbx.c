/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * mdbx.c: libmdbx behind the engine ABI. The library is loaded at run time.
 *
 * A value that `get` hands out lies in the map, and stays there as long as a read transaction that saw it. So a session
 * keeps one read transaction, refreshes it for each read and resets it at the next call that is none. The price: a
 * session that rests after a read keeps libmdbx from reusing the pages freed since then, until its next call or its
 * end: beside a writer the file grows. An empty read-only transaction, begin and commit, leaves a session at rest.
 */
#include "mdbx_adapter.h"

static const kvdyno_engine engine = {
    .size = sizeof(kvdyno_engine),
    .abi_version = KVDYNO_ABI_VERSION,
    .name = "mdbx",
    .summary = "libmdbx: a memory-mapped copy-on-write B+tree that grew out of LMDB, one writer beside any readers",
    .origin = "crate mdbx-sys",
    .capabilities = KVDYNO_CAN_SCAN | KVDYNO_CAN_SCAN_REVERSE | KVDYNO_CAN_DELETE | KVDYNO_CAN_BATCH |
                    KVDYNO_CAN_MULTI_GET | KVDYNO_CAN_TRANSACT | KVDYNO_CAN_SNAPSHOT | KVDYNO_CAN_READ_MODIFY_WRITE |
                    KVDYNO_CAN_SHARE_PROCESSES | KVDYNO_IS_MAPPED,
    .durabilities = 1u << KVDYNO_DURABILITY_NONE | 1u << KVDYNO_DURABILITY_PROCESS |
                    1u << KVDYNO_DURABILITY_PERIODIC | 1u << KVDYNO_DURABILITY_COMMIT,
    .compressions = 1u << KVDYNO_COMPRESSION_NONE,
    .max_key_size = MOST_KEY_BYTES,
    .max_value_size = 0x7ff00000,
    .options = mx_options,
    .option_count = OPTION_COUNT,
    .option_size = sizeof(kvdyno_option),
    .preset_size = sizeof(kvdyno_preset),
    .probe = mx_probe,
    .settings = mx_settings,
    .open = mx_open,
    .close = mx_close,
    .session_open = mx_session_open,
    .session_close = mx_session_close,
    .session_error = mx_session_error,
    .get = mx_get,
    .put = mx_put,
    .remove = mx_remove,
    .write = mx_write,
    .multi_get = mx_multi_get,
    .read_modify_write = mx_read_modify_write,
    .begin = mx_begin,
    .commit = mx_commit,
    .abort = mx_abort,
    .cursor_open = mx_cursor_open,
    .cursor_close = mx_cursor_close,
    .cursor_seek = mx_cursor_seek,
    .cursor_next = mx_cursor_next,
    .cursor_previous = mx_cursor_previous,
    .flush = mx_flush,
    .compact = mx_compact,
    .statistics = mx_statistics,
};

const kvdyno_engine *kvdyno_engine_v2(void)
{
    return &engine;
}
