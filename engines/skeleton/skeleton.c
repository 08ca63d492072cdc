/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * skeleton.c: the engine ABI by example. Copy it, put your engine where the one in toy.h is, and measure it:
 *
 *     cc -shared -fPIC -O2 -I.../include -o libmine.so skeleton.c -pthread && kvdyno compare ./libmine.so lmdb
 *
 * Each hook says when it is called and what it owes; R marks those that an adapter must have. Read it beside kvdyno.h,
 * which has the contract in full.
 */
#include <stdarg.h>

#include "kvdyno.h"
#include "toy.h"

/* The three opaque types are the adapter's to define: the host only carries pointers to them. */
struct kvdyno_database {
    toy map;
};

struct kvdyno_session {
    toy *map;
    record *found; /* a copy of what the last get found */
    char error[256];
};

struct kvdyno_cursor {
    kvdyno_session *session;
    record *at; /* a copy of the record that the cursor stands on, or NULL */
};

/* ---- what the host reads before it opens anything ---- */

/* The host parses and checks what the user wrote: an adapter gets a value of the declared type, within the bounds, for
 * each option, in this order. */
enum { MEMORY_LIMIT, SYNC_CALL, OPTION_COUNT };
static const kvdyno_option options[OPTION_COUNT] = {
    [MEMORY_LIMIT] = {.name = "memory_limit",
                      .type = KVDYNO_OPTION_SIZE,
                      .default_value = "0",
                      .maximum = INT64_MAX,
                      .help = "Bytes of keys and values that it holds before it says that it is full; 0: no limit."},
    [SYNC_CALL] = {.name = "sync_call",
                   .type = KVDYNO_OPTION_CHOICE,
                   .default_value = "fdatasync",
                   .choices = "fdatasync|fsync",
                   .help = "The system call that puts the log on the storage."},
};

/* A named set of option values: `skeleton:small`. */
static const kvdyno_preset presets[] = {{"small", "memory_limit=64MiB", "Holds no more than 64 MiB."}};

/* A text for the host, cut to its capacity. */
__attribute__((format(printf, 2, 3))) static void say(kvdyno_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (text && text->data && text->capacity)
        vsnprintf(text->data, text->capacity, format, arguments);
    va_end(arguments);
}

/* R Called before anything is opened: is the engine there, and in which version? An adapter that loads its engine's
 * library at run time does so here, from `library` if that is not NULL. This engine is built in. */
static kvdyno_status skeleton_probe(const char *library, kvdyno_text *version, kvdyno_text *error)
{
    if (library) {
        say(error, "the skeleton is built in and loads no library, so not %s either", library);
        return KVDYNO_NO_LIBRARY;
    }
    say(version, "1.0");
    return KVDYNO_OK;
}

static const char *const durabilities[] = {
    [KVDYNO_DURABILITY_NONE] = "gathered by stdio, written when its buffer is full and at close",
    [KVDYNO_DURABILITY_PROCESS] = "each write is appended with write(2), not synced",
    [KVDYNO_DURABILITY_PERIODIC] = NULL, /* not declared */
    [KVDYNO_DURABILITY_COMMIT] = "each write is appended with write(2), then synced",
};

static bool acceptable(const kvdyno_config *config, kvdyno_text *error)
{
    if (config->durability > KVDYNO_DURABILITY_COMMIT || !durabilities[config->durability])
        say(error, "durability: the skeleton has no thread that syncs at intervals");
    else if (config->compression != KVDYNO_COMPRESSION_NONE)
        say(error, "compression: the skeleton stores everything as it is");
    else if (config->library)
        say(error, "library: the skeleton is built in and loads none, so not %s either", config->library);
    else
        return true;
    return false;
}

/* R Called before a run touches anything; what it lists is printed beside the figures. Every setting is either put in
 * the engine's own words or refused: nothing is replaced in silence. `path` is NULL. */
static kvdyno_status skeleton_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    if (!acceptable(config, error))
        return KVDYNO_UNSUPPORTED;
    char limit[32];
    snprintf(limit, sizeof limit, "%lld", (long long)config->options[MEMORY_LIMIT].integer);
    emit(context, "durability", "log", durabilities[config->durability]);
    emit(context, "cache", "records", "the setting bounds nothing: every record is held in memory");
    emit(context, "write_buffer", "records", "the setting bounds nothing: a write goes to log and memory at once");
    emit(context, "compression", "compression", "none");
    emit(context, "checksums", "log", "that of each write in the log as the database is opened; reads are from memory");
    emit(context, "options", "memory_limit", limit);
    emit(context, "options", "sync_call", config->options[SYNC_CALL].text);
    return KVDYNO_OK;
}

/* ---- the database ---- */

static kvdyno_status failed_with(int why, const char *what, kvdyno_text *error)
{
    say(error, "%s: %s", what, strerror(why));
    return why == ENOSPC ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
}

/* R Called once, before any session. `create`: the folder is empty, make a database in it; otherwise open the one that
 * it holds, and fail if there is none. After a failure nothing stays open. Copy what you need of `config`. */
static kvdyno_status skeleton_open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error)
{
    if (!acceptable(config, error))
        return KVDYNO_UNSUPPORTED;
    kvdyno_database *database = (kvdyno_database *)calloc(1, sizeof *database);
    if (!database)
        return failed_with(ENOMEM, "open", error);
    database->map.durability = config->durability;
    database->map.memory_limit = (uint64_t)config->options[MEMORY_LIMIT].integer;
    database->map.sync = strcmp(config->options[SYNC_CALL].text, "fsync") == 0 ? fsync : fdatasync;
    int failed = toy_open(&database->map, config->path, config->create);
    if (!failed) {
        *opened = database;
        return KVDYNO_OK;
    }
    toy_close(&database->map);
    free(database);
    return failed_with(failed, "cannot open skeleton.log", error);
}

/* Optional: when it returns OK, all that was written is on the storage. */
static kvdyno_status skeleton_flush(kvdyno_database *database, kvdyno_text *error)
{
    int failed = toy_flush(&database->map);
    return failed ? failed_with(failed, "cannot write skeleton.log", error) : KVDYNO_OK;
}

/* R Called once, after every session was closed. Whatever the durability level, what was acknowledged is on the storage
 * when this returns OK. The handle is gone in any case. */
static kvdyno_status skeleton_close(kvdyno_database *database, kvdyno_text *error)
{
    kvdyno_status status = skeleton_flush(database, error);
    int failed = toy_close(&database->map);
    free(database);
    return failed && status == KVDYNO_OK ? failed_with(failed, "cannot close skeleton.log", error) : status;
}

/* Optional: what the engine knows of itself, in its own words. Any thread may ask while sessions work. */
static kvdyno_status skeleton_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    char records[32], bytes[32];
    pthread_rwlock_rdlock(&database->map.lock);
    snprintf(records, sizeof records, "%zu", database->map.count);
    snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)database->map.bytes);
    pthread_rwlock_unlock(&database->map.lock);
    emit(context, "memory", "records", records);
    emit(context, "memory", "bytes", bytes);
    return KVDYNO_OK;
}

/* ---- sessions ---- */

/* R One for each thread, called on that thread. What a thread needs to itself belongs here: a read transaction, a
 * buffer. `host` is for engines that keep nothing (KVDYNO_IS_VOLATILE). */
static kvdyno_status skeleton_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
                                           kvdyno_text *error)
{
    (void)host;
    *opened = (kvdyno_session *)calloc(1, sizeof **opened);
    if (!*opened)
        return failed_with(ENOMEM, "session", error);
    (*opened)->map = &database->map;
    return KVDYNO_OK;
}

/* R Its cursors were closed before. */
static void skeleton_session_close(kvdyno_session *session)
{
    free(session->found);
    free(session);
}

/* R Called after an answer that was neither OK nor MISS: why, in the engine's own words. */
static void skeleton_session_error(kvdyno_session *session, kvdyno_text *error)
{
    say(error, "%s", session->error);
}

static kvdyno_status fail(kvdyno_session *session, const char *what, int why)
{
    kvdyno_text error = {session->error, sizeof session->error};
    return failed_with(why, what, &error);
}

/* R The most frequent call: keep it lean. The value must stay readable until the session's next call, whatever others
 * write meanwhile. This engine frees what it replaces, so it has to copy; one that keeps versions (LMDB) or pins blocks
 * (RocksDB) hands out a pointer into its own memory. A miss is no error, and an error is no miss. */
static kvdyno_status skeleton_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    toy *map = session->map;
    pthread_rwlock_rdlock(&map->lock);
    bool same;
    size_t at = find(map, key, key_size, &same);
    bool kept = same && keep(&session->found, map->records[at]);
    pthread_rwlock_unlock(&map->lock);
    if (!same)
        return KVDYNO_MISS;
    if (!kept)
        return fail(session, "get", ENOMEM);
    *value = (kvdyno_bytes){session->found->bytes + session->found->key_size, session->found->value_size};
    return KVDYNO_OK;
}

/* R The entries, in order; all or nothing, since KVDYNO_CAN_BATCH is declared. Keys and values are copied before it
 * returns, for the host uses its buffers again. */
static kvdyno_status skeleton_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    int failed = count ? toy_write(session->map, entries, count) : 0;
    return failed ? fail(session, "write (full: the disk, or the option memory_limit)", failed) : KVDYNO_OK;
}

/* R Inserts or replaces. */
static kvdyno_status skeleton_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                                  size_t value_size)
{
    kvdyno_batch_entry step = {KVDYNO_PUT, 0, {key, key_size}, {value, value_size}};
    return skeleton_write(session, &step, 1);
}

/* For KVDYNO_CAN_DELETE. OK also where there was nothing to delete. */
static kvdyno_status skeleton_remove(kvdyno_session *session, const void *key, size_t key_size)
{
    kvdyno_batch_entry step = {KVDYNO_DELETE, 0, {key, key_size}, {NULL, 0}};
    return skeleton_write(session, &step, 1);
}

/* ---- cursors: for KVDYNO_CAN_SCAN, and backward for KVDYNO_CAN_SCAN_REVERSE ---- */

static kvdyno_status skeleton_cursor_open(kvdyno_session *session, kvdyno_cursor **opened)
{
    *opened = (kvdyno_cursor *)calloc(1, sizeof **opened);
    if (!*opened)
        return fail(session, "cursor", ENOMEM);
    (*opened)->session = session;
    return KVDYNO_OK;
}

static void skeleton_cursor_close(kvdyno_cursor *cursor)
{
    free(cursor->at);
    free(cursor);
}

/* To the nearest record from a key, or from the end if there is no key; `itself`: the key's own record counts. */
static kvdyno_status move(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction, bool itself,
                          kvdyno_bytes *found, kvdyno_bytes *value)
{
    toy *map = cursor->session->map;
    bool same = false;
    pthread_rwlock_rdlock(&map->lock);
    size_t at = key ? find(map, key, key_size, &same) : direction == KVDYNO_FORWARD ? 0 : map->count;
    if (!(same && itself))
        at = direction == KVDYNO_FORWARD ? at + same : at - 1; /* before the first: SIZE_MAX, which is no index */
    bool there = at < map->count;
    bool kept = there && keep(&cursor->at, map->records[at]);
    pthread_rwlock_unlock(&map->lock);
    if (!there)
        return KVDYNO_MISS;
    if (!kept)
        return fail(cursor->session, "cursor", ENOMEM);
    *found = (kvdyno_bytes){cursor->at->bytes, cursor->at->key_size};
    *value = (kvdyno_bytes){cursor->at->bytes + cursor->at->key_size, cursor->at->value_size};
    return KVDYNO_OK;
}

/* FORWARD: the first record at or after the key; BACKWARD: the last one at or before it. key == NULL: the very first,
 * or the very last. */
static kvdyno_status skeleton_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                          kvdyno_bytes *found, kvdyno_bytes *value)
{
    return move(cursor, key, key_size, direction, true, found, value);
}

/* Both answer MISS at the end. The cursor has its own copy of the key, so it goes on even if that record is deleted. */
static kvdyno_status skeleton_cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    const record *at = cursor->at;
    return at ? move(cursor, at->bytes, at->key_size, KVDYNO_FORWARD, false, found, value) : KVDYNO_MISS;
}

static kvdyno_status skeleton_cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    const record *at = cursor->at;
    return at ? move(cursor, at->bytes, at->key_size, KVDYNO_BACKWARD, false, found, value) : KVDYNO_MISS;
}

/* ---- the engine, as the host sees it ---- */

static const kvdyno_engine engine = {
    .size = sizeof(kvdyno_engine),
    .abi_version = KVDYNO_ABI_VERSION,
    .name = "skeleton",
    .summary = "an ordered map in memory with a log: the engine ABI by example",
    .origin = "built in",
    .capabilities = KVDYNO_CAN_SCAN | KVDYNO_CAN_SCAN_REVERSE | KVDYNO_CAN_DELETE | KVDYNO_CAN_BATCH,
    .durabilities = 1u << KVDYNO_DURABILITY_NONE | 1u << KVDYNO_DURABILITY_PROCESS | 1u << KVDYNO_DURABILITY_COMMIT,
    .compressions = 1u << KVDYNO_COMPRESSION_NONE,
    .options = options,
    .option_count = OPTION_COUNT,
    .option_size = sizeof(kvdyno_option),
    .presets = presets,
    .preset_count = sizeof presets / sizeof *presets,
    .preset_size = sizeof(kvdyno_preset),
    .probe = skeleton_probe,
    .settings = skeleton_settings,
    .open = skeleton_open,
    .close = skeleton_close,
    .session_open = skeleton_session_open,
    .session_close = skeleton_session_close,
    .session_error = skeleton_session_error,
    .get = skeleton_get,
    .put = skeleton_put,
    .remove = skeleton_remove,
    .write = skeleton_write,
    .cursor_open = skeleton_cursor_open,
    .cursor_close = skeleton_cursor_close,
    .cursor_seek = skeleton_cursor_seek,
    .cursor_next = skeleton_cursor_next,
    .cursor_previous = skeleton_cursor_previous,
    .flush = skeleton_flush,
    .statistics = skeleton_statistics,
    /* Not declared, so not here: multi_get, contains, insert_if_absent, delete_range, read_modify_write, begin, commit,
     * abort, cursor_open_with, compact, wait_idle, destroy, effective_capabilities, counters. */
};

/* The one symbol that the host looks up. */
const kvdyno_engine *kvdyno_engine_v2(void)
{
    return &engine;
}
