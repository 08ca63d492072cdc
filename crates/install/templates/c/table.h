/* The engine that stands in for yours: a sorted table in memory, in one file when it is closed. Functions that can fail
 * give -1 and leave errno. */
#define _GNU_SOURCE /* twalk_r, tdestroy */
#include <errno.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kvdyno.h"

struct record { size_t key_size, value_size; const char *key; char *value; };

struct table { void *tree; pthread_mutex_t lock; char file[4096]; };

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

/* Writes a new file, and puts it in the old one's place only when it is whole and on the storage. */
static int save(struct table *table)
{
    char new[4104];
    snprintf(new, sizeof new, "%s.new", table->file);
    FILE *file = fopen(new, "we");
    if (!file)
        return -1;
    twalk_r(table->tree, write_record, file);
    int failed = fflush(file) || ferror(file) || fsync(fileno(file));
    return fclose(file) || failed || rename(new, table->file) ? -1 : 0;
}

static int load(struct table *table)
{
    FILE *file = fopen(table->file, "re");
    size_t sizes[2];
    int failed = !file;
    while (!failed && fread(sizes, sizeof sizes, 1, file) == 1) {
        char *bytes = malloc(sizes[0] + sizes[1] + 1);
        failed = !bytes || fread(bytes, 1, sizes[0] + sizes[1], file) != sizes[0] + sizes[1] ||
                 store(table, (kvdyno_bytes){bytes, sizes[0]}, (kvdyno_bytes){bytes + sizes[0], sizes[1]});
        free(bytes);
    }
    if (file)
        fclose(file);
    return failed ? -1 : 0;
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
