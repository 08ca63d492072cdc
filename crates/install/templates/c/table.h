/* The engine that stands in for yours: a sorted table in memory, and a file with all writes, its log. Functions that
 * can fail give -1 and leave errno. */
#define _GNU_SOURCE /* twalk_r, tdestroy, mempcpy */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kvdyno.h"

struct record { size_t key_size, value_size; const char *key; char *value; };

struct table { void *tree; pthread_mutex_t lock; int log; off_t log_size; char file[4096]; };

#define DELETED ((size_t)-1) /* the size of the value in the log */

static int order(const void *one, const void *other)
{
    const struct record *a = one, *b = other;
    size_t common = a->key_size < b->key_size ? a->key_size : b->key_size;
    int order = memcmp(a->key, b->key, common);
    return order ? order : (a->key_size > b->key_size) - (a->key_size < b->key_size);
}

/* Copies, for the host uses its buffers again. */
static int store(struct table *table, kvdyno_bytes key, kvdyno_bytes value)
{
    struct record *made = calloc(1, sizeof *made + key.size), **slot = NULL;
    char *copy = malloc(value.size + 1);
    if (made && copy) {
        made->key = memcpy(made + 1, key.data, key.size);
        made->key_size = key.size;
        slot = tsearch(made, &table->tree, order);
    }
    if (!slot) {
        free(made);
        free(copy);
        errno = ENOMEM;
        return -1;
    }
    if (*slot != made) {
        free(made);
        free((*slot)->value);
    }
    (*slot)->value = value.size ? memcpy(copy, value.data, value.size) : copy;
    (*slot)->value_size = value.size;
    return 0;
}

static void release(void *node)
{
    free(((struct record *)node)->value);
    free(node);
}

static void write_record(const void *node, VISIT visit, void *file)
{
    const struct record *record = *(struct record *const *)node;
    size_t sizes[2] = {record->key_size, record->value_size};
    if (visit == postorder || visit == leaf) { /* each once; ferror tells whether all of it was written */
        fwrite(sizes, sizeof sizes, 1, file);
        fwrite(record->key, 1, sizes[0], file);
        fwrite(record->value, 1, sizes[1], file);
    }
}

static void forget(struct table *table, kvdyno_bytes key)
{
    struct record wanted = {.key = key.data, .key_size = key.size}, **slot = tfind(&wanted, &table->tree, order);
    if (slot) {
        struct record *record = *slot;
        tdelete(record, &table->tree, order);
        release(record);
    }
}

/* Writes a new log, and puts it in the old one's place only when it is whole and on the storage. */
static int save(struct table *table)
{
    char new[4104];
    snprintf(new, sizeof new, "%s.new", table->file);
    FILE *file = fopen(new, "we");
    if (!file)
        return -1;
    twalk_r(table->tree, write_record, file);
    int failed = fflush(file) || ferror(file) || fsync(fileno(file));
    if (fclose(file) || failed || rename(new, table->file))
        return -1;
    table->log = open(table->file, O_WRONLY | O_APPEND | O_CLOEXEC);
    table->log_size = table->log < 0 ? 0 : lseek(table->log, 0, SEEK_END);
    return table->log < 0 ? -1 : 0;
}

/* Reads the log up to the write that a death cut short, if one did, and saves what there is. */
static int load(struct table *table)
{
    FILE *file = fopen(table->file, "re");
    size_t sizes[2];
    int failed = !file, is_whole = 1;
    while (!failed && is_whole && fread(sizes, sizeof sizes, 1, file) == 1) {
        size_t size = sizes[0] + (sizes[1] == DELETED ? 0 : sizes[1]);
        char *bytes = malloc(size + 1);
        failed = !bytes;
        is_whole = bytes && fread(bytes, 1, size, file) == size;
        if (is_whole && sizes[1] == DELETED)
            forget(table, (kvdyno_bytes){bytes, size});
        else if (is_whole)
            failed = store(table, (kvdyno_bytes){bytes, sizes[0]}, (kvdyno_bytes){bytes + sizes[0], sizes[1]});
        free(bytes);
    }
    failed |= file && ferror(file);
    if (file)
        fclose(file);
    return failed ? -1 : save(table);
}

/* Writes the entries to the log, all of them or nothing. */
static int append(struct table *table, const kvdyno_batch_entry *entries, size_t count)
{
    size_t size = 0, done = 0;
    ssize_t written = 0;
    for (size_t i = 0; i < count; i++)
        size += 2 * sizeof size + entries[i].key.size + entries[i].value.size;
    char *bytes = malloc(size + 1), *end = bytes;
    if (!bytes)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const kvdyno_bytes *key = &entries[i].key, *value = &entries[i].value;
        size_t sizes[2] = {key->size, entries[i].kind == KVDYNO_PUT ? value->size : DELETED};
        end = mempcpy(mempcpy(end, sizes, sizeof sizes), key->data, key->size);
        if (value->size)
            end = mempcpy(end, value->data, value->size);
    }
    while (done < size && (written = write(table->log, bytes + done, size - done)) > 0)
        done += (size_t)written;
    free(bytes);
    if (done == size) {
        table->log_size += (off_t)size;
        return 0;
    }
    int why = errno;
    if (ftruncate(table->log, table->log_size)) /* what was refused must not be found later */
        why = errno;
    errno = why;
    return -1;
}
