/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The table: page size, order and partitions.
 */
#include "bdb.h"

/* ---- order ---- */

static int compare_numbers(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

/* Berkeley DB's own order. */
static int by_bytes(DB *db, const DBT *a, const DBT *b)
{
    (void)db;
    int order = memcmp(a->data, b->data, a->size < b->size ? a->size : b->size);
    return order ? order : compare_numbers(a->size, b->size);
}

static int by_length(DB *db, const DBT *a, const DBT *b)
{
    (void)db;
    return a->size == b->size ? memcmp(a->data, b->data, a->size) : compare_numbers(a->size, b->size);
}

static size_t spaces(const DBT *key)
{
    const char *bytes = key->data;
    size_t count = 0;
    for (u_int32_t i = 0; i < key->size; i++)
        count += bytes[i] == ' ';
    return count;
}

static int by_words(DB *db, const DBT *a, const DBT *b)
{
    int order = compare_numbers(spaces(a), spaces(b));
    return order ? order : by_bytes(db, a, b);
}

bdb_order bdb_order_of(const kvdyno_config *config)
{
    const char *comparator = config->options[BDB_COMPARATOR].text;
    if (strcmp(comparator, "length") == 0)
        return by_length;
    return strcmp(comparator, "words") == 0 ? by_words : by_bytes;
}

/* ---- partitions ---- */

bool bdb_is_partitioned(const kvdyno_config *config)
{
    return option_integer(config, BDB_PARTITIONS) > 1;
}

/* FNV-1a, folded, because Berkeley DB takes what remains of it when divided by the number of partitions. */
static u_int32_t partition_of(DB *db, DBT *key)
{
    (void)db;
    const unsigned char *bytes = key->data;
    u_int32_t hash = 2166136261u;
    for (u_int32_t i = 0; i < key->size; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash ^ hash >> 16;
}

/* ---- setting and saying it ---- */

int bdb_set_table(DB *db, const kvdyno_config *config)
{
    bdb_order order = bdb_order_of(config);
    u_int32_t page_size = (u_int32_t)option_integer(config, BDB_PAGE_SIZE);
    int code = page_size ? db->set_pagesize(db, page_size) : 0;
    if (code == 0 && order != by_bytes)
        code = db->set_bt_compare(db, order);
    if (code == 0 && bdb_is_partitioned(config))
        code = db->set_partition(db, (u_int32_t)option_integer(config, BDB_PARTITIONS), NULL, partition_of);
    return code;
}

void bdb_say_table(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    bdb_order order = bdb_order_of(config);
    long long page_size = option_integer(config, BDB_PAGE_SIZE);
    if (page_size)
        emitf(emit, context, "options", "set_pagesize", "%lld", page_size);
    else
        emit(context, "options", "set_pagesize", "not set: the filesystem's block size");
    emit(context, "options", "set_bt_compare",
         order == by_length  ? "shorter keys first, then by their bytes"
         : order == by_words ? "keys of fewer words first, then by their bytes"
                             : "not set: by their bytes");
    if (bdb_is_partitioned(config))
        emitf(emit, context, "options", "set_partition", "%lld, by a hash of the key",
              (long long)option_integer(config, BDB_PARTITIONS));
    else
        emit(context, "options", "set_partition", "not set: one table");
}
