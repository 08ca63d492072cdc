/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * skeleton.c: the engine ABI by example. Copy this file, put your engine in place of the array, and measure it:
 *
 *     cc -shared -fPIC -O2 -I.../include -o libmine.so skeleton.c -pthread && kvdyno compare ./libmine.so lmdb
 *
 * It is a whole engine: an ordered map in memory, with a log. Each hook says when it is called and what it owes; R
 * marks those that an adapter must have. Read it beside kvdyno.h, which has the contract in full.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kvdyno.h"

/* ---- the engine's own: records in a sorted array. Quick to read, slow to grow out of order. ---- */

typedef struct record {
    size_t key_size, value_size;
    char bytes[]; /* the key, then the value */
} record;

/* The three opaque types are the adapter's to define: the host only carries pointers to them. */
struct kvdyno_database {
    pthread_rwlock_t lock; /* readers side by side, one writer alone */
    record **records;
    size_t count, capacity;
    uint64_t bytes, memory_limit;
    uint32_t durability;
    int (*sync)(int file);
    FILE *log;
    int log_error; /* the errno that ended the log: nothing can be written after it */
};

struct kvdyno_session {
    kvdyno_database *database;
    record *found; /* a copy of what the last get found */
    char error[256];
};

struct kvdyno_cursor {
    kvdyno_session *session;
    record *at; /* a copy of the record that the cursor stands on, or NULL */
};

static int compare(const void *key, size_t key_size, const record *other)
{
    size_t common = key_size < other->key_size ? key_size : other->key_size;
    int order = common ? memcmp(key, other->bytes, common) : 0;
    return order ? order : (key_size > other->key_size) - (key_size < other->key_size);
}

/* The index of the first record at or after the key; `same` says whether it is the key's own. */
static size_t find(const kvdyno_database *database, const void *key, size_t key_size, bool *same)
{
    size_t low = 0, high = database->count;
    *same = false;
    while (low < high && !*same) {
        size_t middle = low + (high - low) / 2;
        int order = compare(key, key_size, database->records[middle]);
        *same = order == 0;
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return high;
}

static record *record_new(kvdyno_bytes key, kvdyno_bytes value)
{
    record *made = malloc(sizeof *made + key.size + value.size);
    if (!made)
        return NULL;
    *made = (record){key.size, value.size};
    if (key.size)
        memcpy(made->bytes, key.data, key.size);
    if (value.size)
        memcpy(made->bytes + key.size, value.data, value.size);
    return made;
}

static bool reserve(kvdyno_database *database, size_t more)
{
    if (database->count + more <= database->capacity)
        return true;
    size_t capacity = (database->count + more) * 2;
    record **larger = realloc(database->records, capacity * sizeof *larger);
    if (!larger)
        return false;
    database->records = larger;
    database->capacity = capacity;
    return true;
}

/* One step of a change, once everything that can fail is done: `made` is the record of a put, NULL for a delete. */
static void apply(kvdyno_database *database, kvdyno_bytes key, record *made)
{
    bool same;
    size_t at = find(database, key.data, key.size, &same);
    size_t old = same, new = made != NULL;
    record **place = database->records + at;
    if (same) {
        database->bytes -= (*place)->key_size + (*place)->value_size;
        free(*place);
    }
    if (old != new)
        memmove(place + new, place + old, (database->count - at - old) * sizeof *place);
    if (made) {
        *place = made;
        database->bytes += made->key_size + made->value_size;
    }
    database->count += new - old;
}

/* ---- the log: steps in groups, each group whole or not at all ---- */

typedef struct step_head {
    uint64_t kind, key_size, value_size; /* then the key, then the value */
} step_head;

#define GROUP_END 2u /* the step that ends a group; in value_size, the checksum of the group */
#define SUM_START 0xcbf29ce484222325u

static uint64_t add_sum(uint64_t sum, const char *bytes, size_t size) /* FNV-1a */
{
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return sum;
}

static bool log_bytes(FILE *log, const void *bytes, size_t size, uint64_t *sum)
{
    *sum = add_sum(*sum, bytes, size);
    return fwrite(bytes, 1, size, log) == size;
}

/* Writes the steps as the durability level asks. Returns an errno: after the first one the end of the file is not known
 * any more, so whatever comes later fails as well. */
static int log_steps(kvdyno_database *database, const kvdyno_step *steps, size_t count)
{
    uint64_t sum = SUM_START;
    bool done = !database->log_error;
    for (size_t i = 0; i < count && done; i++) {
        step_head head = {steps[i].kind, steps[i].key.size, steps[i].kind == KVDYNO_PUT ? steps[i].value.size : 0};
        done = log_bytes(database->log, &head, sizeof head, &sum) &&
               log_bytes(database->log, steps[i].key.data, head.key_size, &sum) &&
               log_bytes(database->log, steps[i].value.data, head.value_size, &sum);
    }
    step_head end = {GROUP_END, 0, sum};
    done = done && log_bytes(database->log, &end, sizeof end, &sum);
    if (done && database->durability >= KVDYNO_DURABILITY_PROCESS)
        done = fflush(database->log) == 0;
    if (done && database->durability == KVDYNO_DURABILITY_COMMIT)
        done = database->sync(fileno(database->log)) == 0;
    if (!done && !database->log_error)
        database->log_error = errno;
    return database->log_error;
}

/* One step, as a record that the caller frees. NULL where there is no whole one, or, with errno set, after a failure. */
static record *read_step(FILE *log, long end, step_head *head)
{
    if (fread(head, sizeof *head, 1, log) != 1)
        return NULL;
    size_t left = (size_t)(end - ftell(log)), key_size = head->key_size;
    size_t value_size = head->kind == GROUP_END ? 0 : head->value_size;
    if (key_size > left || value_size > left - key_size)
        return NULL;
    record *step = malloc(sizeof *step + key_size + value_size);
    if (step && fread(step->bytes, 1, key_size + value_size, log) == key_size + value_size) {
        step->key_size = key_size;
        step->value_size = value_size;
        return step;
    }
    free(step);
    return NULL;
}

/* Where the last whole group ends. A crash may have left a part of one more behind it, which nobody was told is safe. */
static long whole_groups(FILE *log, long end)
{
    long whole = 0;
    uint64_t sum = SUM_START;
    step_head head;
    for (record *step; (step = read_step(log, end, &head)); free(step)) {
        if (head.kind != GROUP_END) {
            sum = add_sum(add_sum(sum, (char *)&head, sizeof head), step->bytes, step->key_size + step->value_size);
        } else if (head.value_size == sum) {
            whole = ftell(log);
            sum = SUM_START;
        } else if (ftell(log) != end) {
            errno = EILSEQ; /* more was written after it: the file is damaged */
        }
    }
    return whole;
}

/* Reads the log back, cuts off what is not whole, and returns an errno. */
static int replay(kvdyno_database *database)
{
    FILE *log = database->log;
    if (fseek(log, 0, SEEK_END))
        return errno;
    long end = ftell(log);
    rewind(log);
    errno = 0;
    long whole = whole_groups(log, end);
    rewind(log);
    step_head head;
    while (!errno && ftell(log) < whole) {
        record *step = read_step(log, end, &head);
        if (!step || !reserve(database, 1)) {
            free(step);
            return ENOMEM;
        }
        kvdyno_bytes key = {step->bytes, step->key_size};
        if (head.kind != GROUP_END)
            apply(database, key, head.kind == KVDYNO_PUT ? step : NULL);
        if (head.kind != KVDYNO_PUT)
            free(step);
    }
    if (!errno && ftruncate(fileno(log), whole) == 0)
        fseek(log, whole, SEEK_SET);
    return ferror(log) && !errno ? EIO : errno;
}

/* ---- what the host reads before it opens anything ---- */

/* The host parses and checks what the user wrote: an adapter gets a value of the declared type, within the bounds, for
 * each option, in this order. */
enum { MEMORY_LIMIT, SYNC_CALL, OPTION_COUNT };
static const kvdyno_option options[OPTION_COUNT] = {
    [MEMORY_LIMIT] = {.name = "memory_limit", .type = KVDYNO_OPTION_SIZE, .default_value = "0", .maximum = INT64_MAX,
                      .help = "Bytes of keys and values that it holds before it says that it is full; 0: no limit."},
    [SYNC_CALL] = {.name = "sync_call", .type = KVDYNO_OPTION_CHOICE, .default_value = "fdatasync",
                   .choices = "fdatasync|fsync", .help = "The system call that puts the log on the storage."},
};

/* A named set of option values: `skeleton:small`. */
static const kvdyno_preset presets[] = {{"small", "memory_limit=64MiB", "Holds no more than 64 MiB."}};

/* A text for the host, cut to the room that it gives. */
__attribute__((format(printf, 2, 3))) static void say(kvdyno_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (text && text->data && text->capacity)
        vsnprintf(text->data, text->capacity, format, arguments);
    va_end(arguments);
}

/* R Called first, and alone: is the engine there, and in which version? An adapter that loads its engine's library at
 * run time does so here, from `library` if that is not NULL. This engine is built in. */
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
    [KVDYNO_DURABILITY_COMMIT] = "each write is appended with write(2), then synced",
};

static bool acceptable(const kvdyno_config *config, kvdyno_text *error)
{
    if (config->durability > KVDYNO_DURABILITY_COMMIT || !durabilities[config->durability])
        say(error, "durability: the skeleton has no thread that syncs at intervals");
    else if (config->compression != KVDYNO_COMPRESSION_NONE)
        say(error, "compression: the skeleton stores everything as it is");
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
    emit(context, "options", "memory_limit", limit);
    emit(context, "options", "sync_call", config->options[SYNC_CALL].text);
    return KVDYNO_OK;
}

/* ---- the database ---- */

static int database_free(kvdyno_database *database)
{
    int failed = database->log && fclose(database->log) ? errno : 0;
    for (size_t i = 0; i < database->count; i++)
        free(database->records[i]);
    free(database->records);
    pthread_rwlock_destroy(&database->lock);
    free(database);
    return failed;
}

static kvdyno_database *database_new(const kvdyno_config *config)
{
    kvdyno_database *database = calloc(1, sizeof *database);
    if (!database)
        return NULL;
    pthread_rwlockattr_t attributes; /* without them, a stream of readers would keep the writers out for ever */
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&database->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    database->durability = config->durability;
    database->memory_limit = (uint64_t)config->options[MEMORY_LIMIT].integer;
    database->sync = strcmp(config->options[SYNC_CALL].text, "fsync") == 0 ? fsync : fdatasync;
    return database;
}

/* A new file is on the storage only once the folder that names it is. */
static int sync_folder(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = folder < 0 || fsync(folder) ? errno : 0;
    if (folder >= 0)
        close(folder);
    return failed;
}

static int log_open(kvdyno_database *database, const kvdyno_config *config)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/skeleton.log", config->path) >= PATH_MAX)
        return ENAMETOOLONG;
    database->log = fopen(path, config->create ? "w+xe" : "r+e");
    if (!database->log)
        return errno;
    return config->create ? sync_folder(config->path) : replay(database);
}

/* R Called once, before any session. `create`: the folder is empty, make a database in it; otherwise open the one that
 * it holds, and fail if there is none. After a failure nothing stays open. Copy what you need of `config`. */
static kvdyno_status skeleton_open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error)
{
    if (!acceptable(config, error))
        return KVDYNO_UNSUPPORTED;
    kvdyno_database *database = database_new(config);
    int failed = database ? log_open(database, config) : ENOMEM;
    if (!failed) {
        *opened = database;
        return KVDYNO_OK;
    }
    say(error, "cannot open %s/skeleton.log: %s", config->path, strerror(failed));
    if (database)
        database_free(database);
    return failed == ENOSPC ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
}

/* Optional: when it returns OK, all that was written is on the storage. */
static kvdyno_status skeleton_flush(kvdyno_database *database, kvdyno_text *error)
{
    pthread_rwlock_wrlock(&database->lock);
    int failed = database->log_error;
    if (!failed && (fflush(database->log) || database->sync(fileno(database->log))))
        failed = database->log_error = errno;
    pthread_rwlock_unlock(&database->lock);
    if (!failed)
        return KVDYNO_OK;
    say(error, "cannot write the log: %s", strerror(failed));
    return failed == ENOSPC ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
}

/* R Called once, after every session was closed. Whatever the durability level, what was acknowledged is on the storage
 * when this returns OK. The handle is gone in any case. */
static kvdyno_status skeleton_close(kvdyno_database *database, kvdyno_text *error)
{
    kvdyno_status status = skeleton_flush(database, error);
    int failed = database_free(database);
    if (failed && status == KVDYNO_OK) {
        say(error, "cannot close the log: %s", strerror(failed));
        status = KVDYNO_ERROR;
    }
    return status;
}

/* Optional: what the engine knows of itself, in its own words. Any thread may ask while sessions work. */
static kvdyno_status skeleton_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    char records[32], bytes[32];
    pthread_rwlock_rdlock(&database->lock);
    snprintf(records, sizeof records, "%zu", database->count);
    snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)database->bytes);
    pthread_rwlock_unlock(&database->lock);
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
    *opened = calloc(1, sizeof **opened);
    if (!*opened) {
        say(error, "out of memory");
        return KVDYNO_ERROR;
    }
    (*opened)->database = database;
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
    snprintf(session->error, sizeof session->error, "%s: %s", what, strerror(why));
    return why == ENOSPC ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
}

/* Copies a record into a place that belongs to one session or cursor, so that writers may free the original. */
static bool keep(record **place, const record *from)
{
    size_t size = sizeof *from + from->key_size + from->value_size;
    record *room = realloc(*place, size);
    if (!room)
        return false;
    *place = memcpy(room, from, size);
    return true;
}

/* R The most frequent call: keep it lean. The value must stay readable until the session's next call, whatever others
 * write meanwhile. This engine frees what it replaces, so it has to copy; one that keeps versions (LMDB) or pins blocks
 * (RocksDB) hands out a pointer into its own memory. A miss is no error, and an error is no miss. */
static kvdyno_status skeleton_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    kvdyno_database *database = session->database;
    pthread_rwlock_rdlock(&database->lock);
    bool same;
    size_t at = find(database, key, key_size, &same);
    bool kept = same && keep(&session->found, database->records[at]);
    pthread_rwlock_unlock(&database->lock);
    if (!same)
        return KVDYNO_MISS;
    if (!kept)
        return fail(session, "get", ENOMEM);
    *value = (kvdyno_bytes){session->found->bytes + session->found->key_size, session->found->value_size};
    return KVDYNO_OK;
}

/* Makes the records of the puts and adds up their bytes. */
static bool records_new(const kvdyno_step *steps, size_t count, record **records, uint64_t *bytes)
{
    for (size_t i = 0; i < count; i++) {
        if (steps[i].kind != KVDYNO_PUT)
            continue;
        records[i] = record_new(steps[i].key, steps[i].value);
        if (!records[i])
            return false;
        *bytes += steps[i].key.size + steps[i].value.size;
    }
    return true;
}

/* R The steps, in order; all or nothing, since KVDYNO_CAN_BATCH is declared. So: first all that can fail, the log as the
 * last of it, then the change. Keys and values are copied, for the host uses its buffers again. */
static kvdyno_status skeleton_write(kvdyno_session *session, const kvdyno_step *steps, size_t count)
{
    kvdyno_database *database = session->database;
    uint64_t bytes = 0;
    record **records = calloc(count + 1, sizeof *records);
    int failed = records && records_new(steps, count, records, &bytes) ? 0 : ENOMEM;
    pthread_rwlock_wrlock(&database->lock);
    if (!failed && bytes && database->memory_limit && database->bytes + bytes > database->memory_limit)
        failed = ENOSPC;
    if (!failed)
        failed = reserve(database, count) ? log_steps(database, steps, count) : ENOMEM;
    for (size_t i = 0; !failed && i < count; i++)
        apply(database, steps[i].key, records[i]);
    pthread_rwlock_unlock(&database->lock);
    for (size_t i = 0; failed && records && i < count; i++)
        free(records[i]);
    free(records);
    return failed ? fail(session, "write (full: the disk, or the option memory_limit)", failed) : KVDYNO_OK;
}

/* R Inserts or replaces. */
static kvdyno_status skeleton_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                                  size_t value_size)
{
    kvdyno_step step = {KVDYNO_PUT, 0, {key, key_size}, {value, value_size}};
    return skeleton_write(session, &step, 1);
}

/* For KVDYNO_CAN_DELETE. OK also where there was nothing to delete. */
static kvdyno_status skeleton_remove(kvdyno_session *session, const void *key, size_t key_size)
{
    kvdyno_step step = {KVDYNO_DELETE, 0, {key, key_size}, {NULL, 0}};
    return skeleton_write(session, &step, 1);
}

/* ---- cursors: for KVDYNO_CAN_SCAN, and backward for KVDYNO_CAN_SCAN_REVERSE ---- */

static kvdyno_status skeleton_cursor_open(kvdyno_session *session, kvdyno_cursor **opened)
{
    *opened = calloc(1, sizeof **opened);
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
    kvdyno_database *database = cursor->session->database;
    bool same = false;
    pthread_rwlock_rdlock(&database->lock);
    size_t at = key ? find(database, key, key_size, &same) : direction == KVDYNO_FORWARD ? 0 : database->count;
    if (!(same && itself))
        at = direction == KVDYNO_FORWARD ? at + same : at - 1; /* before the first: SIZE_MAX, which is no index */
    bool there = at < database->count;
    bool kept = there && keep(&cursor->at, database->records[at]);
    pthread_rwlock_unlock(&database->lock);
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
    /* Not declared, so not here: multi_get, modify, begin, commit, abort, compact, wait_idle, size_bytes. */
};

/* The one symbol that the host looks up. */
const kvdyno_engine *kvdyno_engine_v1(void)
{
    return &engine;
}
