/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * skeleton.c: the engine ABI by example. Copy this file, put your engine in place of the treap, and measure it:
 *
 *     cc -shared -fPIC -O2 -I.../include -o libmine.so skeleton.c -pthread && kvdyno compare ./libmine.so lmdb
 *
 * It is a whole engine: an ordered map in memory, written to one file. Each hook says when it is called and what it
 * owes; R marks those that an adapter must have. Read it beside kvdyno.h, which has the contract in full.
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
#include <sys/stat.h>
#include <unistd.h>

#include "kvdyno.h"

/* ---- the engine's own: a treap, an ordered tree kept in balance by random priorities ------------------------------- */

typedef struct node {
    struct node *left, *right;
    uint32_t priority;
    size_t key_size, value_size;
    char bytes[]; /* the key, then the value */
} node;

/* The three opaque types are the adapter's to define. The host only carries the pointers. */
struct kvdyno_database {
    pthread_rwlock_t lock; /* readers side by side, one writer alone */
    node *root;
    uint64_t records, bytes, memory_limit;
    uint32_t random, durability;
    int (*sync)(int file);
    char path[PATH_MAX], new_path[PATH_MAX];
    int file;
    off_t file_size; /* up to the end of the last whole group */
    char *group;     /* the group that is being written */
    size_t group_size, group_capacity;
};

struct kvdyno_session {
    kvdyno_database *database;
    char *value; /* what the last get found */
    size_t value_capacity;
    char error[256];
};

struct kvdyno_cursor {
    kvdyno_session *session;
    node *record; /* a copy of the record under the cursor, or NULL */
};

static int compare(const void *a, size_t a_size, const node *b)
{
    size_t common = a_size < b->key_size ? a_size : b->key_size;
    int order = common ? memcmp(a, b->bytes, common) : 0;
    return order ? order : (a_size > b->key_size) - (a_size < b->key_size);
}

/* Where the key's node hangs, or would: a pointer to its parent's link. */
static node **find(node **at, const void *key, size_t key_size)
{
    int order;
    while (*at && (order = compare(key, key_size, *at)) != 0)
        at = order < 0 ? &(*at)->left : &(*at)->right;
    return at;
}

/* The nearest record in a direction from a key, or from the end if there is none; `itself`: the key's own counts. */
static const node *nearest(const node *at, const void *key, size_t key_size, uint32_t direction, bool itself)
{
    const node *best = NULL;
    while (at) {
        int order = key ? compare(key, key_size, at) : direction == KVDYNO_FORWARD ? -1 : 1;
        if (order == 0 && itself)
            return at;
        bool candidate = direction == KVDYNO_FORWARD ? order < 0 : order > 0;
        if (candidate)
            best = at;
        at = candidate == (direction == KVDYNO_FORWARD) ? at->left : at->right;
    }
    return best;
}

static node *node_new(const void *key, size_t key_size, const void *value, size_t value_size)
{
    node *made = malloc(sizeof *made + key_size + value_size);
    if (!made)
        return NULL;
    *made = (node){.key_size = key_size, .value_size = value_size};
    if (key_size)
        memcpy(made->bytes, key, key_size);
    if (value_size)
        memcpy(made->bytes + key_size, value, value_size);
    return made;
}

/* Takes a node out: what hung below it moves up, the higher priority first. */
static void unlink_node(kvdyno_database *database, node **at)
{
    node *old = *at, *left = old->left, *right = old->right;
    while (left && right) {
        if (left->priority > right->priority) {
            *at = left, at = &left->right, left = left->right;
        } else {
            *at = right, at = &right->left, right = right->left;
        }
    }
    *at = left ? left : right;
    database->records--;
    database->bytes -= old->key_size + old->value_size;
    free(old);
}

/* Puts a node in, in place of one with the same key. It cannot fail, so a batch that has its nodes is as good as done. */
static void link_node(kvdyno_database *database, node *made)
{
    node **same = find(&database->root, made->bytes, made->key_size);
    if (*same)
        unlink_node(database, same);
    database->random ^= database->random << 13, database->random ^= database->random >> 17;
    made->priority = database->random ^= database->random << 5;

    node **at = &database->root;
    while (*at && (*at)->priority >= made->priority)
        at = compare(made->bytes, made->key_size, *at) < 0 ? &(*at)->left : &(*at)->right;
    node *rest = *at, **left = &made->left, **right = &made->right;
    while (rest) { /* what hung there is split: smaller keys to the left of the new node, greater ones to the right */
        if (compare(made->bytes, made->key_size, rest) > 0)
            *left = rest, left = &rest->right, rest = rest->right;
        else
            *right = rest, right = &rest->left, rest = rest->left;
    }
    *left = *right = NULL;
    *at = made;
    database->records++;
    database->bytes += made->key_size + made->value_size;
}

static void free_nodes(node *at)
{
    if (!at)
        return;
    free_nodes(at->left);
    free_nodes(at->right);
    free(at);
}

/* ---- the file: groups of steps, each group whole or not at all ----------------------------------------------------- */

typedef struct group_head {
    uint64_t size, checksum; /* of the steps that follow */
} group_head;

typedef struct step_head {
    uint64_t kind, key_size, value_size; /* then the key, then the value */
} step_head;

static uint64_t checksum(const char *bytes, size_t size) /* FNV-1a */
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return sum;
}

static bool group_reserve(kvdyno_database *database, size_t size)
{
    if (size <= database->group_capacity)
        return true;
    char *larger = realloc(database->group, size * 2);
    if (!larger)
        return false;
    database->group = larger;
    database->group_capacity = size * 2;
    return true;
}

static void group_add(kvdyno_database *database, const void *bytes, size_t size)
{
    if (size)
        memcpy(database->group + database->group_size, bytes, size);
    database->group_size += size;
}

static bool group_step(kvdyno_database *database, uint32_t kind, kvdyno_bytes key, kvdyno_bytes value)
{
    if (database->group_size == 0)
        database->group_size = sizeof(group_head);
    step_head head = {kind, key.size, value.size};
    if (!group_reserve(database, database->group_size + sizeof head + key.size + value.size))
        return errno = ENOMEM, false;
    group_add(database, &head, sizeof head);
    group_add(database, key.data, key.size);
    group_add(database, value.data, value.size);
    return true;
}

/* Writes the group to the end of the file. On failure nothing of it stays there. */
static bool group_write(kvdyno_database *database, int file, off_t *file_size)
{
    size_t size = database->group_size, done = 0;
    if (size == 0)
        return true;
    group_head head = {size - sizeof head, checksum(database->group + sizeof head, size - sizeof head)};
    memcpy(database->group, &head, sizeof head);
    database->group_size = 0;
    while (done < size) {
        ssize_t written = pwrite(file, database->group + done, size - done, *file_size + (off_t)done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            int why = errno;
            if (ftruncate(file, *file_size) == 0)
                errno = why;
            return false;
        }
        done += (size_t)written;
    }
    *file_size += (off_t)size;
    return true;
}

static bool save_nodes(kvdyno_database *database, const node *at, int file, off_t *file_size)
{
    if (!at)
        return true;
    kvdyno_bytes key = {at->bytes, at->key_size}, value = {at->bytes + at->key_size, at->value_size};
    return save_nodes(database, at->left, file, file_size) && group_step(database, KVDYNO_PUT, key, value) &&
           (database->group_size < 1 << 20 || group_write(database, file, file_size)) &&
           save_nodes(database, at->right, file, file_size);
}

/* Writes everything to a new file and puts it in place of the old one. Only with the write lock. */
static bool save(kvdyno_database *database)
{
    off_t size = 0;
    int file = open(database->new_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool saved = file >= 0 && save_nodes(database, database->root, file, &size) &&
                 group_write(database, file, &size) && fsync(file) == 0 &&
                 rename(database->new_path, database->path) == 0;
    database->group_size = 0;
    int old = saved ? database->file : file;
    if (old >= 0)
        close(old);
    if (!saved)
        return false;
    database->file = file;
    database->file_size = size;
    char folder[PATH_MAX]; /* the new name is on the storage only once its folder is */
    memcpy(folder, database->path, sizeof folder);
    *strrchr(folder, '/') = 0;
    int handle = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    saved = handle >= 0 && fsync(handle) == 0;
    if (handle >= 0)
        close(handle);
    return saved;
}

static bool replay_group(kvdyno_database *database, const char *at, const char *end)
{
    while (at < end) {
        step_head head;
        memcpy(&head, at, sizeof head);
        const char *key = at + sizeof head;
        if (head.kind == KVDYNO_PUT) {
            node *made = node_new(key, head.key_size, key + head.key_size, head.value_size);
            if (!made)
                return errno = ENOMEM, false;
            link_node(database, made);
        } else {
            node **old = find(&database->root, key, head.key_size);
            if (*old)
                unlink_node(database, old);
        }
        at = key + head.key_size + head.value_size;
    }
    return true;
}

/* Reads the file back. A last group that is not whole was never acknowledged: a crash cut it off, and so do we. */
static bool replay(kvdyno_database *database)
{
    struct stat file;
    if (fstat(database->file, &file) != 0)
        return false;
    group_head head;
    while (pread(database->file, &head, sizeof head, database->file_size) == sizeof head) {
        off_t steps = database->file_size + (off_t)sizeof head, left = file.st_size - steps;
        if (head.size == 0 || head.size > (uint64_t)left)
            break;
        if (!group_reserve(database, head.size))
            return errno = ENOMEM, false;
        for (size_t done = 0; done < head.size;) {
            ssize_t got = pread(database->file, database->group + done, head.size - done, steps + (off_t)done);
            if (got <= 0)
                return false;
            done += (size_t)got;
        }
        if (checksum(database->group, head.size) != head.checksum) {
            if (head.size == (uint64_t)left)
                break;
            return errno = EILSEQ, false; /* not the last one: the file is damaged */
        }
        if (!replay_group(database, database->group, database->group + head.size))
            return false;
        database->file_size = steps + (off_t)head.size;
    }
    return ftruncate(database->file, database->file_size) == 0;
}

/* ---- what the host reads before it opens anything ------------------------------------------------------------------ */

/* The host parses and checks what the user wrote: an adapter gets a value of the type, within the bounds, for every
 * option, in this order. */
enum { MEMORY_LIMIT, SYNC_CALL, OPTION_COUNT };
static const kvdyno_option options[OPTION_COUNT] = {
    [MEMORY_LIMIT] = {.name = "memory_limit", .type = KVDYNO_OPTION_SIZE, .default_value = "0", .maximum = INT64_MAX,
                      .help = "The most bytes of keys and values it holds before it says that it is full; 0: no limit."},
    [SYNC_CALL] = {.name = "sync_call", .type = KVDYNO_OPTION_CHOICE, .default_value = "fdatasync",
                   .choices = "fdatasync|fsync", .help = "The call that puts the file on the storage."},
};

/* A named set of option values, for `kvdyno ... skeleton:small`. */
static const kvdyno_preset presets[] = {
    {"small", "memory_limit=64MiB", "Holds no more than 64 MiB."},
};

/* Texts for the host are cut to the room it gives. */
__attribute__((format(printf, 2, 3))) static void say(kvdyno_text *text, const char *format, ...)
{
    if (!text || !text->data || text->capacity == 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text->data, text->capacity, format, arguments);
    va_end(arguments);
}

/* R Called first, and alone: is the engine there, and which version? An adapter that loads its engine's library at run
 * time does so here, from `library` if that is not NULL; this engine is built in. */
static kvdyno_status skeleton_probe(const char *library, kvdyno_text *version, kvdyno_text *error)
{
    if (library) {
        say(error, "the skeleton is built in: there is no library to load, not even %s", library);
        return KVDYNO_NO_LIBRARY;
    }
    say(version, "1.0");
    return KVDYNO_OK;
}

/* R Called before a run touches anything, and printed beside its figures: what the settings come to in the engine's own
 * words. Whatever cannot be met is refused here, never replaced in silence. `path` is NULL. */
static kvdyno_status skeleton_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    static const char *const meets[] = {
        [KVDYNO_DURABILITY_NONE] = "nothing is written before close",
        [KVDYNO_DURABILITY_PROCESS] = "each write is appended to the file with pwrite, not synced",
        [KVDYNO_DURABILITY_COMMIT] = "each write is appended to the file and synced",
    };
    if (config->durability > KVDYNO_DURABILITY_COMMIT || !meets[config->durability]) {
        say(error, "durability interval: the skeleton has no thread that syncs in the background");
        return KVDYNO_UNSUPPORTED;
    }
    if (config->compression != KVDYNO_COMPRESSION_NONE) {
        say(error, "compression: the skeleton stores everything as it is");
        return KVDYNO_UNSUPPORTED;
    }
    char limit[32];
    snprintf(limit, sizeof limit, "%lld", (long long)config->options[MEMORY_LIMIT].integer);
    emit(context, "durability", "file", meets[config->durability]);
    emit(context, "cache", "memory", "not bounded by the setting: every record is held in memory");
    emit(context, "write_buffer", "buffer", "none: a write goes to the file at once, or at close");
    emit(context, "compression", "compression", "none");
    emit(context, "options", "memory_limit", limit);
    emit(context, "options", "sync_call", config->options[SYNC_CALL].text);
    return KVDYNO_OK;
}

/* ---- the database -------------------------------------------------------------------------------------------------- */

static void database_free(kvdyno_database *database)
{
    if (database->file >= 0)
        close(database->file);
    pthread_rwlock_destroy(&database->lock);
    free_nodes(database->root);
    free(database->group);
    free(database);
}

static kvdyno_database *database_new(const kvdyno_config *config)
{
    kvdyno_database *database = calloc(1, sizeof *database);
    if (!database)
        return NULL;
    pthread_rwlockattr_t attributes; /* by default a stream of readers would keep writers out for ever */
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&database->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    database->random = 2463534242u;
    database->durability = config->durability;
    database->memory_limit = (uint64_t)config->options[MEMORY_LIMIT].integer;
    database->sync = strcmp(config->options[SYNC_CALL].text, "fsync") == 0 ? fsync : fdatasync;
    database->file = -1;
    return database;
}

/* R Called once, before any session. `create`: the folder is empty, make a database in it; otherwise open the one that
 * it holds, and fail if there is none. Nothing may stay open after a failure. Copy what you need of `config`. */
static kvdyno_status skeleton_open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error)
{
    kvdyno_database *database = database_new(config);
    if (!database) {
        say(error, "out of memory");
        return KVDYNO_ERROR;
    }
    int length = snprintf(database->path, PATH_MAX, "%s/skeleton.data", config->path);
    int new_length = snprintf(database->new_path, PATH_MAX, "%s/skeleton.new", config->path);
    errno = ENAMETOOLONG;
    if (length < PATH_MAX && new_length < PATH_MAX) {
        int creation = config->create ? O_CREAT | O_EXCL : 0;
        database->file = open(database->path, O_RDWR | O_CLOEXEC | creation, 0666);
    }
    if (database->file < 0 || !replay(database)) {
        say(error, "cannot open %s: %s", database->path, strerror(errno));
        database_free(database);
        return KVDYNO_ERROR;
    }
    *opened = database;
    return KVDYNO_OK;
}

/* Also the hook `flush`: when it returns OK, all that was written is on the storage. */
static kvdyno_status skeleton_flush(kvdyno_database *database, kvdyno_text *error)
{
    pthread_rwlock_wrlock(&database->lock);
    bool done = database->durability == KVDYNO_DURABILITY_NONE ? save(database) : database->sync(database->file) == 0;
    int why = errno;
    pthread_rwlock_unlock(&database->lock);
    if (done)
        return KVDYNO_OK;
    say(error, "cannot write %s: %s", database->path, strerror(why));
    return why == ENOSPC ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
}

/* R Called once, after every session was closed. Whatever the durability level, what was acknowledged is on the storage
 * when this returns OK. The handle is gone in any case. */
static kvdyno_status skeleton_close(kvdyno_database *database, kvdyno_text *error)
{
    kvdyno_status status = skeleton_flush(database, error);
    database_free(database);
    return status;
}

/* Optional: the whole key range, in full. Here: a file without the records that were replaced or removed. */
static kvdyno_status skeleton_compact(kvdyno_database *database, kvdyno_text *error)
{
    pthread_rwlock_wrlock(&database->lock);
    bool done = save(database);
    int why = errno;
    pthread_rwlock_unlock(&database->lock);
    if (done)
        return KVDYNO_OK;
    say(error, "cannot write %s: %s", database->new_path, strerror(why));
    return why == ENOSPC ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
}

/* Optional: what the engine knows of itself, in its own words. Any thread may ask while sessions work. */
static kvdyno_status skeleton_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    char records[32], bytes[32];
    pthread_rwlock_rdlock(&database->lock);
    snprintf(records, sizeof records, "%llu", (unsigned long long)database->records);
    snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)database->bytes);
    pthread_rwlock_unlock(&database->lock);
    emit(context, "treap", "records", records);
    emit(context, "treap", "bytes", bytes);
    return KVDYNO_OK;
}

/* ---- sessions: one for each thread --------------------------------------------------------------------------------- */

/* R Called on the thread that will use the session. What a thread needs to itself belongs here: a read transaction, a
 * buffer. `host` is for engines that keep nothing (KVDYNO_IS_VOLATILE). */
static kvdyno_status skeleton_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
                                           kvdyno_text *error)
{
    (void)host;
    kvdyno_session *session = calloc(1, sizeof *session);
    if (!session) {
        say(error, "out of memory");
        return KVDYNO_ERROR;
    }
    session->database = database;
    *opened = session;
    return KVDYNO_OK;
}

/* R Its cursors were closed before. */
static void skeleton_session_close(kvdyno_session *session)
{
    free(session->value);
    free(session);
}

/* R Called after an answer that was neither OK nor MISS: the engine's own words for it. */
static void skeleton_session_error(kvdyno_session *session, kvdyno_text *error)
{
    say(error, "%s", session->error);
}

static kvdyno_status fail(kvdyno_session *session, const char *what, int why)
{
    snprintf(session->error, sizeof session->error, "%s: %s", what, strerror(why));
    return why == ENOSPC ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
}

/* R The most frequent call: keep it lean. The value must stay readable until the session's next call, whatever other
 * threads write meanwhile. This engine copies it into the session, because its writers free what they replace; one that
 * keeps versions (LMDB) or pins blocks (RocksDB) hands out a pointer to its own memory instead. */
static kvdyno_status skeleton_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    kvdyno_database *database = session->database;
    kvdyno_status status = KVDYNO_MISS; /* a miss is no error, and an error is no miss */
    pthread_rwlock_rdlock(&database->lock);
    const node *found = *find(&database->root, key, key_size);
    if (found && found->value_size >= session->value_capacity) {
        size_t capacity = found->value_size * 2 + 64;
        char *larger = malloc(capacity);
        if (!larger) {
            pthread_rwlock_unlock(&database->lock);
            return fail(session, "get", ENOMEM);
        }
        free(session->value);
        session->value = larger;
        session->value_capacity = capacity;
    }
    if (found) {
        memcpy(session->value, found->bytes + found->key_size, found->value_size);
        *value = (kvdyno_bytes){session->value, found->value_size};
        status = KVDYNO_OK;
    }
    pthread_rwlock_unlock(&database->lock);
    return status;
}

/* Makes the change outlive what the durability level says it must, before anybody sees it. */
static bool make_durable(kvdyno_database *database, const kvdyno_step *steps, size_t count)
{
    if (database->durability == KVDYNO_DURABILITY_NONE)
        return true;
    off_t before = database->file_size;
    bool gathered = true;
    for (size_t i = 0; i < count && gathered; i++)
        gathered = group_step(database, steps[i].kind, steps[i].key,
                              steps[i].kind == KVDYNO_PUT ? steps[i].value : (kvdyno_bytes){NULL, 0});
    if (!gathered)
        return database->group_size = 0, false;
    if (!group_write(database, database->file, &database->file_size))
        return false;
    if (database->durability != KVDYNO_DURABILITY_COMMIT || database->sync(database->file) == 0)
        return true;
    int why = errno; /* the write is answered with an error, so it must not come back */
    if (ftruncate(database->file, before) == 0)
        database->file_size = before, errno = why;
    return false;
}

/* Everything that can fail has happened: nodes[i] is ready for every put. */
static void apply(kvdyno_database *database, const kvdyno_step *steps, node **nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        node **old = find(&database->root, steps[i].key.data, steps[i].key.size);
        if (steps[i].kind == KVDYNO_PUT)
            link_node(database, nodes[i]);
        else if (*old)
            unlink_node(database, old);
    }
}

static int change(kvdyno_database *database, const kvdyno_step *steps, node **nodes, size_t count)
{
    uint64_t added = 0;
    for (size_t i = 0; i < count; i++) {
        if (steps[i].kind != KVDYNO_PUT)
            continue;
        nodes[i] = node_new(steps[i].key.data, steps[i].key.size, steps[i].value.data, steps[i].value.size);
        if (!nodes[i])
            return ENOMEM;
        added += steps[i].key.size + steps[i].value.size;
    }
    int why = 0;
    pthread_rwlock_wrlock(&database->lock);
    if (added && database->memory_limit && database->bytes + added > database->memory_limit)
        why = ENOSPC;
    else if (make_durable(database, steps, count))
        apply(database, steps, nodes, count);
    else
        why = errno;
    pthread_rwlock_unlock(&database->lock);
    return why;
}

/* R The steps, in order. All or nothing, since KVDYNO_CAN_BATCH is declared. Keys and values are copied before it
 * returns: the host uses its buffers again. */
static kvdyno_status skeleton_write(kvdyno_session *session, const kvdyno_step *steps, size_t count)
{
    node **nodes = calloc(count ? count : 1, sizeof *nodes);
    int why = nodes ? change(session->database, steps, nodes, count) : ENOMEM;
    for (size_t i = 0; why && nodes && i < count; i++)
        free(nodes[i]);
    free(nodes);
    return why ? fail(session, "write (full means the disk, or the option memory_limit)", why) : KVDYNO_OK;
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

/* ---- cursors: for KVDYNO_CAN_SCAN and KVDYNO_CAN_SCAN_REVERSE ------------------------------------------------------ */

static kvdyno_status skeleton_cursor_open(kvdyno_session *session, kvdyno_cursor **opened)
{
    kvdyno_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return fail(session, "cursor", ENOMEM);
    cursor->session = session;
    *opened = cursor;
    return KVDYNO_OK;
}

static void skeleton_cursor_close(kvdyno_cursor *cursor)
{
    free(cursor->record);
    free(cursor);
}

/* The cursor keeps a copy of its record, so it finds its way on even if that record is deleted under it. */
static kvdyno_status move(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction, bool itself,
                          kvdyno_bytes *found, kvdyno_bytes *value)
{
    kvdyno_database *database = cursor->session->database;
    pthread_rwlock_rdlock(&database->lock);
    const node *next = nearest(database->root, key, key_size, direction, itself);
    node *copy = next ? node_new(next->bytes, next->key_size, next->bytes + next->key_size, next->value_size) : NULL;
    pthread_rwlock_unlock(&database->lock);
    if (!next)
        return KVDYNO_MISS;
    if (!copy)
        return fail(cursor->session, "cursor", ENOMEM);
    free(cursor->record); /* only now: `key` may have been this one's */
    cursor->record = copy;
    *found = (kvdyno_bytes){copy->bytes, copy->key_size};
    *value = (kvdyno_bytes){copy->bytes + copy->key_size, copy->value_size};
    return KVDYNO_OK;
}

/* FORWARD: the first record at or after the key; BACKWARD: the last one at or before it. key == NULL: the very first or
 * the very last. */
static kvdyno_status skeleton_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                          kvdyno_bytes *found, kvdyno_bytes *value)
{
    return move(cursor, key, key_size, direction, true, found, value);
}

/* Both answer MISS at the end, and go on from the record that the cursor stands on. */
static kvdyno_status skeleton_cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    const node *at = cursor->record;
    return at ? move(cursor, at->bytes, at->key_size, KVDYNO_FORWARD, false, found, value) : KVDYNO_MISS;
}

static kvdyno_status skeleton_cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    const node *at = cursor->record;
    return at ? move(cursor, at->bytes, at->key_size, KVDYNO_BACKWARD, false, found, value) : KVDYNO_MISS;
}

/* ---- the engine, as the host sees it ------------------------------------------------------------------------------- */

static const kvdyno_engine engine = {
    .size = sizeof(kvdyno_engine),
    .abi_version = KVDYNO_ABI_VERSION,
    .name = "skeleton",
    .summary = "an ordered map in memory, written to one file: the engine ABI by example",
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
    .compact = skeleton_compact,
    .statistics = skeleton_statistics,
    /* Not here, and not declared: multi_get, modify, begin, commit, abort, wait_idle, size_bytes. */
};

/* The one symbol that the host looks up. */
const kvdyno_engine *kvdyno_engine_v1(void)
{
    return &engine;
}
