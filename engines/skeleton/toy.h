/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * toy.h: the engine that skeleton.c shows to the lab, where yours will stand. It is an ordered map in memory with a
 * log: records in a sorted array, quick to read, slow to grow out of order. Functions that can fail return an errno, or
 * 0.
 */
#ifndef TOY_H
#define TOY_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kvdyno.h"

/* ---- the map ---- */

typedef struct record {
    size_t key_size, value_size;
    char bytes[]; /* the key, then the value */
} record;

typedef struct toy {
    pthread_rwlock_t lock; /* readers side by side, one writer alone */
    record **records;
    size_t count, capacity;
    uint64_t bytes, memory_limit;
    uint32_t durability; /* KVDYNO_DURABILITY_... */
    int (*sync)(int file);
    FILE *log;
    int log_error; /* the errno that ended the log: nothing can be written after it */
} toy;

static int compare(const void *key, size_t key_size, const record *other)
{
    size_t common = key_size < other->key_size ? key_size : other->key_size;
    int order = common ? memcmp(key, other->bytes, common) : 0;
    return order ? order : (key_size > other->key_size) - (key_size < other->key_size);
}

/* The index of the first record at or after the key; `same` says whether it is the key's own. */
static size_t find(const toy *map, const void *key, size_t key_size, bool *same)
{
    size_t low = 0, high = map->count;
    *same = false;
    while (low < high && !*same) {
        size_t middle = low + (high - low) / 2;
        int order = compare(key, key_size, map->records[middle]);
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
    record *made = (record *)malloc(sizeof *made + key.size + value.size);
    if (!made)
        return NULL;
    *made = (record){key.size, value.size};
    if (key.size)
        memcpy(made->bytes, key.data, key.size);
    if (value.size)
        memcpy(made->bytes + key.size, value.data, value.size);
    return made;
}

static bool reserve(toy *map, size_t more)
{
    if (map->count + more <= map->capacity)
        return true;
    size_t capacity = (map->count + more) * 2;
    record **larger = (record **)realloc(map->records, capacity * sizeof *larger);
    if (!larger)
        return false;
    map->records = larger;
    map->capacity = capacity;
    return true;
}

/* One step of a change, once everything that can fail is done: `made` is the record of a put, NULL for a delete. */
static void apply(toy *map, kvdyno_bytes key, record *made)
{
    bool same;
    size_t at = find(map, key.data, key.size, &same);
    size_t before = same, after = made != NULL;
    record **slot = map->records + at;
    if (same) {
        map->bytes -= (*slot)->key_size + (*slot)->value_size;
        free(*slot);
    }
    if (before != after)
        memmove(slot + after, slot + before, (map->count - at - before) * sizeof *slot);
    if (made) {
        *slot = made;
        map->bytes += made->key_size + made->value_size;
    }
    map->count += after - before;
}

/* Copies a record into memory of the reader's own, so that writers may free the original. */
static bool keep(record **copy, const record *from)
{
    size_t size = sizeof *from + from->key_size + from->value_size;
    record *memory = (record *)realloc(*copy, size);
    if (!memory)
        return false;
    memcpy(memory, from, size);
    *copy = memory;
    return true;
}

/* ---- the log: entries in groups, each group whole or not at all ---- */

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
    *sum = add_sum(*sum, (const char *)bytes, size);
    return size == 0 || fwrite(bytes, 1, size, log) == size;
}

/* Writes the entries as the durability level asks. Returns an errno: after the first one the end of the file is not
 * known any more, so whatever comes later fails as well. */
static int log_steps(toy *map, const kvdyno_batch_entry *entries, size_t count)
{
    uint64_t sum = SUM_START;
    bool done = !map->log_error;
    for (size_t i = 0; i < count && done; i++) {
        size_t value_size = entries[i].kind == KVDYNO_PUT ? entries[i].value.size : 0;
        step_head head = {entries[i].kind, entries[i].key.size, value_size};
        done = log_bytes(map->log, &head, sizeof head, &sum) &&
               log_bytes(map->log, entries[i].key.data, head.key_size, &sum) &&
               log_bytes(map->log, entries[i].value.data, head.value_size, &sum);
    }
    step_head end = {GROUP_END, 0, sum};
    done = done && log_bytes(map->log, &end, sizeof end, &sum);
    if (done && map->durability >= KVDYNO_DURABILITY_PROCESS)
        done = fflush(map->log) == 0;
    if (done && map->durability == KVDYNO_DURABILITY_COMMIT)
        done = map->sync(fileno(map->log)) == 0;
    if (!done && !map->log_error)
        map->log_error = errno;
    return map->log_error;
}

/* One step, as a record that the caller frees. NULL where there is no whole one, and, with errno set, on a failure. */
static record *read_step(FILE *log, long end, step_head *head)
{
    if (fread(head, sizeof *head, 1, log) != 1)
        return NULL;
    size_t left = (size_t)(end - ftell(log)), key_size = head->key_size;
    size_t value_size = head->kind == GROUP_END ? 0 : head->value_size;
    if (key_size > left || value_size > left - key_size)
        return NULL;
    record *step = (record *)malloc(sizeof *step + key_size + value_size);
    if (step && fread(step->bytes, 1, key_size + value_size, log) == key_size + value_size) {
        step->key_size = key_size;
        step->value_size = value_size;
        return step;
    }
    free(step);
    return NULL;
}

/* Where the last whole group ends. A crash may have left a part of one more behind it: it was never acknowledged. */
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
static int replay(toy *map)
{
    FILE *log = map->log;
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
        if (!step || !reserve(map, 1)) {
            free(step);
            return errno ? errno : EIO;
        }
        kvdyno_bytes key = {step->bytes, step->key_size};
        if (head.kind != GROUP_END)
            apply(map, key, head.kind == KVDYNO_PUT ? step : NULL);
        if (head.kind != KVDYNO_PUT)
            free(step);
    }
    if (!errno && ftruncate(fileno(log), whole) == 0)
        fseek(log, whole, SEEK_SET);
    return ferror(log) && !errno ? EIO : errno;
}

/* ---- what an adapter calls ---- */

/* A new file is on the storage only once the folder that names it is. */
static int sync_folder(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = folder < 0 || fsync(folder) ? errno : 0;
    if (folder >= 0)
        close(folder);
    return failed;
}

static int log_open(toy *map, const char *path, bool create)
{
    char name[PATH_MAX];
    if (snprintf(name, sizeof name, "%s/skeleton.log", path) >= PATH_MAX)
        return ENAMETOOLONG;
    map->log = fopen(name, create ? "w+xe" : "r+e");
    if (!map->log)
        return errno;
    return create ? sync_folder(path) : replay(map);
}

/* `map` is zeroed, but for what it is told: memory_limit, durability and sync. After a failure, toy_close it too. */
static int toy_open(toy *map, const char *path, bool create)
{
    pthread_rwlockattr_t attributes; /* without them, a stream of readers would keep the writers out for ever */
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&map->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    return log_open(map, path, create);
}

static int toy_flush(toy *map)
{
    pthread_rwlock_wrlock(&map->lock);
    if (!map->log_error && (fflush(map->log) || map->sync(fileno(map->log))))
        map->log_error = errno;
    int failed = map->log_error;
    pthread_rwlock_unlock(&map->lock);
    return failed;
}

static int toy_close(toy *map)
{
    int failed = map->log && fclose(map->log) ? errno : 0;
    for (size_t i = 0; i < map->count; i++)
        free(map->records[i]);
    free(map->records);
    pthread_rwlock_destroy(&map->lock);
    return failed;
}

/* Makes the records of the puts and adds up their bytes. */
static bool records_new(const kvdyno_batch_entry *entries, size_t count, record **records, uint64_t *bytes)
{
    for (size_t i = 0; i < count; i++) {
        if (entries[i].kind != KVDYNO_PUT)
            continue;
        records[i] = record_new(entries[i].key, entries[i].value);
        if (!records[i])
            return false;
        *bytes += entries[i].key.size + entries[i].value.size;
    }
    return true;
}

/* All of the entries or none: so first all that can fail, the log as the last of it, then the change. */
static int toy_write(toy *map, const kvdyno_batch_entry *entries, size_t count)
{
    uint64_t bytes = 0;
    record **records = (record **)calloc(count + 1, sizeof *records);
    int failed = records && records_new(entries, count, records, &bytes) ? 0 : ENOMEM;
    pthread_rwlock_wrlock(&map->lock);
    if (!failed && bytes && map->memory_limit && map->bytes + bytes > map->memory_limit)
        failed = ENOSPC;
    if (!failed)
        failed = reserve(map, count) ? log_steps(map, entries, count) : ENOMEM;
    for (size_t i = 0; !failed && i < count; i++)
        apply(map, entries[i].key, records[i]);
    pthread_rwlock_unlock(&map->lock);
    for (size_t i = 0; failed && records && i < count; i++)
        free(records[i]);
    free(records);
    return failed;
}

#endif
