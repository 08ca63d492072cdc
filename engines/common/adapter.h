/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the C adapters of this project share: texts, the background syncer of durability level `periodic`, finding an
 * engine's library at run time, and records read ahead. A convenience, not part of the ABI: an adapter needs kvdyno.h alone.
 */
#ifndef KVDYNO_ADAPTER_H
#define KVDYNO_ADAPTER_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "kvdyno.h"

/* ---- texts ---- */

/* Writes a formatted text, cut to the room there is. */
__attribute__((format(printf, 2, 3))) static inline void say(kvdyno_text *text, const char *format, ...)
{
    if (!text || !text->data || text->capacity == 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text->data, text->capacity, format, arguments);
    va_end(arguments);
}

/* Emits one entry whose value is formatted. */
__attribute__((format(printf, 5, 6))) static inline void emitf(kvdyno_emit emit, void *context, const char *topic,
                                                              const char *name, const char *format, ...)
{
    char value[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    emit(context, topic, name, value);
}

/* ---- what a host asks for ---- */

/* Processes that will have the database open at once. A host that is older than the member means one. */
static inline uint32_t config_processes(const kvdyno_config *config)
{
    bool known = config->size >= offsetof(kvdyno_config, processes) + sizeof config->processes;
    return known && config->processes > 1 ? config->processes : 1;
}

/* ---- an engine's own library ---- */

/* Opens `chosen` if the user named a library, otherwise the first of `names` (NULL-terminated) that the system has.
 * On failure says what was looked for and `package`, the one that has it. */
static inline void *open_library(const char *chosen, const char *const *names, const char *package, kvdyno_text *error)
{
    if (chosen) {
        void *library = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            say(error, "cannot load the library %s: %s", chosen, dlerror());
        return library;
    }
    for (const char *const *name = names; *name; name++) {
        void *library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    say(error, "%s is not installed; %s has it", names[0], package);
    return NULL;
}

/* One function to look up: where its address goes, its name, and whether the adapter can do without. */
typedef struct library_symbol {
    void **address;
    const char *name;
    bool optional;
} library_symbol;

/* Fills in the addresses of `symbols` (ended by a NULL name). False, and why, if a needed one is missing. */
static inline bool find_symbols(void *library, const library_symbol *symbols, const char *what, kvdyno_text *error)
{
    for (const library_symbol *symbol = symbols; symbol->name; symbol++) {
        *symbol->address = dlsym(library, symbol->name);
        if (!*symbol->address && !symbol->optional) {
            say(error, "the library is not %s, or too old: it has no %s", what, symbol->name);
            return false;
        }
    }
    return true;
}

/* ---- several processes ---- */

/* What only one of the processes shall do that have a database open: the one that holds a lock on the folder. The kernel
 * gives the lock on when that process dies. */
typedef struct process_turn {
    bool asked; /* false: there is one process, and it is its turn */
    int folder;
} process_turn;

/* Returns 0 or an errno. `turn` must be zeroed. */
static inline int process_turn_open(process_turn *turn, const char *path)
{
    turn->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    turn->asked = turn->folder >= 0;
    return turn->asked ? 0 : errno;
}

static inline bool process_turn_is_mine(const process_turn *turn)
{
    return !turn->asked || flock(turn->folder, LOCK_EX | LOCK_NB) == 0;
}

static inline void process_turn_close(process_turn *turn)
{
    if (turn->asked)
        close(turn->folder);
    turn->asked = false;
}

/* ---- durability level `periodic` ---- */

/* A thread that calls `sync` every interval until it is stopped. The first error it meets is kept for the stopper. */
typedef struct periodic_syncer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool running, stopping;
    const process_turn *turn; /* NULL, or whether this process is to do it */
    uint32_t sync_period_ms;
    int (*sync)(void *context); /* 0: done; anything else is kept */
    void *context;
    int first_error;
} periodic_syncer;

static inline void *periodic_syncer_main(void *argument)
{
    periodic_syncer *syncer = argument;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&syncer->lock);
    while (!syncer->stopping) {
        uint64_t ns = (uint64_t)next.tv_nsec + (uint64_t)syncer->sync_period_ms * 1000000u;
        next.tv_sec += (time_t)(ns / 1000000000u);
        next.tv_nsec = (long)(ns % 1000000000u);
        while (!syncer->stopping && pthread_cond_timedwait(&syncer->wake, &syncer->lock, &next) == 0)
            ;
        if (syncer->stopping)
            break;
        pthread_mutex_unlock(&syncer->lock);
        bool mine = !syncer->turn || process_turn_is_mine(syncer->turn);
        int failed = mine ? syncer->sync(syncer->context) : 0;
        pthread_mutex_lock(&syncer->lock);
        if (failed && !syncer->first_error)
            syncer->first_error = failed;
    }
    pthread_mutex_unlock(&syncer->lock);
    return NULL;
}

/* Returns 0, or the errno of pthread_create. `syncer` must be zeroed, but for `turn`. */
static inline int periodic_syncer_start(periodic_syncer *syncer, uint32_t sync_period_ms, int (*sync)(void *), void *context)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&syncer->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&syncer->lock, NULL);
    syncer->sync_period_ms = sync_period_ms ? sync_period_ms : 1;
    syncer->sync = sync;
    syncer->context = context;
    int failed = pthread_create(&syncer->thread, NULL, periodic_syncer_main, syncer);
    syncer->running = !failed;
    return failed;
}

/* Ends the thread, if it was started, and returns the first error that it met, or 0. */
static inline int periodic_syncer_stop(periodic_syncer *syncer)
{
    if (!syncer->running)
        return 0;
    pthread_mutex_lock(&syncer->lock);
    syncer->stopping = true;
    pthread_cond_signal(&syncer->wake);
    pthread_mutex_unlock(&syncer->lock);
    pthread_join(syncer->thread, NULL);
    pthread_cond_destroy(&syncer->wake);
    pthread_mutex_destroy(&syncer->lock);
    syncer->running = false;
    return syncer->first_error;
}

/* ---- what an engine says beside its error codes ---- */

/* The last message of an engine that reports through a callback, from whatever thread it came. */
typedef struct engine_message {
    pthread_mutex_t lock;
    char text[400];
} engine_message;

static inline void engine_message_init(engine_message *message)
{
    pthread_mutex_init(&message->lock, NULL);
    message->text[0] = '\0';
}

static inline void engine_message_keep(engine_message *message, const char *text)
{
    pthread_mutex_lock(&message->lock);
    snprintf(message->text, sizeof message->text, "%s", text ? text : "");
    pthread_mutex_unlock(&message->lock);
}

/* Moves the message to `text`, which is empty if there was none since the last call. */
static inline void engine_message_take(engine_message *message, char *text, size_t capacity)
{
    pthread_mutex_lock(&message->lock);
    snprintf(text, capacity, "%s", message->text);
    message->text[0] = '\0';
    pthread_mutex_unlock(&message->lock);
}

/* ---- memory that grows, and records read ahead ---- */

typedef struct growing {
    char *data;
    size_t capacity;
} growing;

/* False if there is no memory; what was there stays. */
static inline bool growing_reserve(growing *memory, size_t size)
{
    if (size <= memory->capacity)
        return true;
    size_t capacity = size + size / 4 + 64;
    char *data = (char *)realloc(memory->data, capacity);
    if (!data)
        return false;
    *memory = (growing){data, capacity};
    return true;
}

/* A key with its value. */
typedef struct key_value {
    kvdyno_bytes key, value;
} key_value;

/* Records that a cursor has copied, one behind the other, to be shown one by one. */
typedef struct read_ahead {
    growing memory;
    size_t filled, at; /* bytes; where the next record to be shown begins */
} read_ahead;

/* Copies a record behind those that are there. Only while none of them is lent out. */
static inline bool read_ahead_add(read_ahead *ahead, const key_value *one)
{
    const size_t sizes[2] = {one->key.size, one->value.size};
    size_t size = sizeof sizes + sizes[0] + sizes[1];
    if (!growing_reserve(&ahead->memory, ahead->filled + size))
        return false;
    char *place = ahead->memory.data + ahead->filled;
    memcpy(place, sizes, sizeof sizes);
    memcpy(place + sizeof sizes, one->key.data, sizes[0]);
    memcpy(place + sizeof sizes + sizes[0], one->value.data, sizes[1]);
    ahead->filled += size;
    return true;
}

/* The next of them, or false if none is left. */
static inline bool read_ahead_take(read_ahead *ahead, key_value *one)
{
    if (ahead->at == ahead->filled)
        return false;
    size_t sizes[2];
    const char *place = ahead->memory.data + ahead->at;
    memcpy(sizes, place, sizeof sizes);
    place += sizeof sizes;
    *one = (key_value){{place, sizes[0]}, {place + sizes[0], sizes[1]}};
    ahead->at += sizeof sizes + sizes[0] + sizes[1];
    return true;
}

static inline void read_ahead_drop(read_ahead *ahead)
{
    ahead->filled = ahead->at = 0;
}

#endif
