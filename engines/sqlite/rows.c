/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * rows.c: rows read ahead, each as the sizes of its key and value and then their bytes.
 */
#include "sqlite_adapter.h"

typedef struct row_head {
    size_t key_size, value_size;
} row_head;

bool rows_add(rows *ahead, const record *row)
{
    const row_head head = {row->key.size, row->value.size};
    size_t size = sizeof head + head.key_size + head.value_size;
    if (!buffer_reserve(&ahead->memory, ahead->filled + size))
        return false;
    char *place = ahead->memory.data + ahead->filled;
    memcpy(place, &head, sizeof head);
    memcpy(place + sizeof head, row->key.data, head.key_size);
    memcpy(place + sizeof head + head.key_size, row->value.data, head.value_size);
    ahead->filled += size;
    return true;
}

bool rows_take(rows *ahead, record *row)
{
    if (ahead->at == ahead->filled)
        return false;
    row_head head;
    const char *place = ahead->memory.data + ahead->at;
    memcpy(&head, place, sizeof head);
    place += sizeof head;
    row->key = (kvdyno_bytes){place, head.key_size};
    row->value = (kvdyno_bytes){place + head.key_size, head.value_size};
    ahead->at += sizeof head + head.key_size + head.value_size;
    return true;
}
