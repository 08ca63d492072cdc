/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * memory.h: memory for handles, memory that grows, and records read ahead.
 */
#ifndef KVDYNO_MEMORY_H
#define KVDYNO_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* Zeroed memory; NULL, and why, if there is none. */
static inline void *allocate(size_t size, kvdyno_text *error)
{
    void *memory = calloc(1, size);
    if (!memory)
        say(error, "out of memory");
    return memory;
}

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

/* Keeps a copy of `size` bytes instead of what was there; `data` is not NULL then, for no bytes either. */
static inline bool growing_keep(growing *memory, const void *data, size_t size)
{
    if (!growing_reserve(memory, size + 1))
        return false;
    memcpy(memory->data, data, size);
    return true;
}

/* In the order of keys. */
static inline bool comes_before(const void *key, size_t key_size, const void *other, size_t other_size)
{
    size_t both = key_size < other_size ? key_size : other_size;
    int order = both ? memcmp(key, other, both) : 0;
    return order ? order < 0 : key_size < other_size;
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

/* Copies a record behind those that are there. Only while none of them is borrowed. */
static inline bool read_ahead_add(read_ahead *ahead, const key_value *one)
{
    const size_t sizes[2] = {one->key.size, one->value.size};
    size_t size = sizeof sizes + sizes[0] + sizes[1];
    if (!growing_reserve(&ahead->memory, ahead->filled + size))
        return false;
    char *copy = ahead->memory.data + ahead->filled;
    memcpy(copy, sizes, sizeof sizes);
    memcpy(copy + sizeof sizes, one->key.data, sizes[0]);
    memcpy(copy + sizeof sizes + sizes[0], one->value.data, sizes[1]);
    ahead->filled += size;
    return true;
}

/* The next of them, or false if none is left. */
static inline bool read_ahead_take(read_ahead *ahead, key_value *one)
{
    if (ahead->at == ahead->filled)
        return false;
    size_t sizes[2];
    const char *copy = ahead->memory.data + ahead->at;
    memcpy(sizes, copy, sizeof sizes);
    copy += sizeof sizes;
    *one = (key_value){{copy, sizes[0]}, {copy + sizes[0], sizes[1]}};
    ahead->at += sizeof sizes + sizes[0] + sizes[1];
    return true;
}

static inline void read_ahead_drop(read_ahead *ahead)
{
    ahead->filled = ahead->at = 0;
}

#endif
