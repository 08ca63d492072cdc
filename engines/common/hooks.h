/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * hooks.h: the functions of an adapter that its table lists, and the table. Each adapter of this project is a library
 * of its own, so all of them give their hooks these names; kvdyno.h says what each owes.
 */
#ifndef KVDYNO_HOOKS_H
#define KVDYNO_HOOKS_H

#include <stdbool.h>

#include "kvdyno.h"

kvdyno_status adapter_probe(const char *library, kvdyno_text *version, kvdyno_text *error);
kvdyno_status adapter_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error);
kvdyno_status adapter_open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error);
kvdyno_status adapter_close(kvdyno_database *database, kvdyno_text *error);
kvdyno_status adapter_flush(kvdyno_database *database, kvdyno_text *error);
kvdyno_status adapter_statistics(kvdyno_database *database, kvdyno_emit emit, void *context);

kvdyno_status adapter_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
                                   kvdyno_text *error);
void adapter_session_close(kvdyno_session *session);
void adapter_session_error(kvdyno_session *session, kvdyno_text *error);
kvdyno_status adapter_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value);
kvdyno_status adapter_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                          size_t value_size);
kvdyno_status adapter_remove(kvdyno_session *session, const void *key, size_t key_size);
kvdyno_status adapter_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count);
kvdyno_status adapter_begin(kvdyno_session *session, uint32_t kind);
kvdyno_status adapter_commit(kvdyno_session *session);
kvdyno_status adapter_abort(kvdyno_session *session);

kvdyno_status adapter_cursor_open(kvdyno_session *session, kvdyno_cursor **opened);
void adapter_cursor_close(kvdyno_cursor *cursor);
kvdyno_status adapter_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                  kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status adapter_cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);
kvdyno_status adapter_cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);

/* These not every adapter has: those that it has it names in its table. */
kvdyno_status adapter_multi_get(kvdyno_session *session, const kvdyno_bytes *keys, size_t count, kvdyno_bytes *values,
                                kvdyno_status *statuses);
kvdyno_status adapter_read_modify_write(kvdyno_session *session, const void *key, size_t key_size,
                                        kvdyno_update_fn update, void *context);
kvdyno_status adapter_compact(kvdyno_database *database, kvdyno_text *error);
kvdyno_status adapter_wait_idle(kvdyno_database *database, kvdyno_text *error);
kvdyno_status adapter_destroy(const kvdyno_config *config, kvdyno_text *error);
void adapter_effective_capabilities(const kvdyno_config *config, kvdyno_capabilities *declared);
kvdyno_status adapter_counters(kvdyno_database *database, kvdyno_counters *counters);
kvdyno_status adapter_delete_range(kvdyno_session *session, const void *from, size_t from_size, const void *to,
                                   size_t to_size);

kvdyno_status adapter_contains(kvdyno_session *session, const void *key, size_t key_size);
kvdyno_status adapter_insert_if_absent(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                                       size_t value_size);

kvdyno_status adapter_cursor_open_with(kvdyno_session *session, const kvdyno_cursor_options *options,
                                       kvdyno_cursor **opened);

/* The prefix of all keys of a cursor. A host that is older than the member has none. */
static inline kvdyno_bytes cursor_prefix(const kvdyno_cursor_options *options)
{
    bool known = options->size >= offsetof(kvdyno_cursor_options, prefix) + sizeof options->prefix;
    return known ? options->prefix : (kvdyno_bytes){NULL, 0};
}

kvdyno_status adapter_set_durability(kvdyno_session *session, uint32_t level);

/* Whether the host knows a member of the counters. */
#define COUNTS(counters, member) (offsetof(kvdyno_counters, member) + sizeof(counters)->member <= (counters)->size)

/* ---- the table ---- */

#define CAN_STORE_IN_ORDER (KVDYNO_CAN_SCAN | KVDYNO_CAN_SCAN_REVERSE | KVDYNO_CAN_DELETE | KVDYNO_CAN_BATCH)
#define COMPRESSION(name) (1u << KVDYNO_COMPRESSION_##name)

#define OPTIONS(table) .options = table, .option_count = sizeof table / sizeof *table
#define PRESETS(table) .presets = table, .preset_count = sizeof table / sizeof *table

/* Exports the table: the hooks that every adapter has, every durability level, and the members that are given. */
#define ADAPTER_TABLE(...)                                                                                             \
    static const kvdyno_engine engine = {                                                                              \
        .size = sizeof(kvdyno_engine),                                                                                 \
        .abi_version = KVDYNO_ABI_VERSION,                                                                             \
        .option_size = sizeof(kvdyno_option),                                                                          \
        .preset_size = sizeof(kvdyno_preset),                                                                          \
        .probe = adapter_probe,                                                                                        \
        .settings = adapter_settings,                                                                                  \
        .open = adapter_open,                                                                                          \
        .close = adapter_close,                                                                                        \
        .flush = adapter_flush,                                                                                        \
        .statistics = adapter_statistics,                                                                              \
        .session_open = adapter_session_open,                                                                          \
        .session_close = adapter_session_close,                                                                        \
        .session_error = adapter_session_error,                                                                        \
        .get = adapter_get,                                                                                            \
        .put = adapter_put,                                                                                            \
        .remove = adapter_remove,                                                                                      \
        .write = adapter_write,                                                                                        \
        .begin = adapter_begin,                                                                                        \
        .commit = adapter_commit,                                                                                      \
        .abort = adapter_abort,                                                                                        \
        .cursor_open = adapter_cursor_open,                                                                            \
        .cursor_close = adapter_cursor_close,                                                                          \
        .cursor_seek = adapter_cursor_seek,                                                                            \
        .cursor_next = adapter_cursor_next,                                                                            \
        .cursor_previous = adapter_cursor_previous,                                                                    \
        .durabilities = 1u << KVDYNO_DURABILITY_NONE | 1u << KVDYNO_DURABILITY_PROCESS |                               \
                        1u << KVDYNO_DURABILITY_PERIODIC | 1u << KVDYNO_DURABILITY_COMMIT,                             \
        __VA_ARGS__};                                                                                                  \
    const kvdyno_engine *kvdyno_engine_v2(void)                                                                        \
    {                                                                                                                  \
        return &engine;                                                                                                \
    }                                                                                                                  \
    _Static_assert(KVDYNO_ABI_VERSION == 2, "the function is named after the version")

#endif
