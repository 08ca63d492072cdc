/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * prefix.c: the prefix of keys, and the memtables and tables that may be built round it.
 */
#include "family.h"

/* ---- the prefix ---- */

size_t rdb_prefix_size(const kvdyno_config *config)
{
    uint64_t size = (uint64_t)config->options[PREFIX_SIZE].integer;
    if (!size)
        size = config->prefix_size;
    return size ? size : SIZE_MAX;
}

/* RocksDB's own prefix of a fixed size reads beyond keys that are shorter. This one takes those whole. It costs the
 * same: the C API wraps either of them in a call through a pointer. */
static char *capped_transform(void *state, const char *key, size_t size, size_t *prefix_size)
{
    const capped_prefix *prefix = state;
    *prefix_size = size < prefix->size ? size : prefix->size;
    return (char *)key;
}

static unsigned char capped_holds(void *state, const char *key, size_t size)
{
    (void)state, (void)key, (void)size;
    return 1;
}

static const char *capped_name(void *state)
{
    return ((capped_prefix *)state)->name;
}

static void capped_end(void *state)
{
    (void)state; /* part of the database's */
}

void rdb_set_prefix(kvdyno_database *database, const kvdyno_config *config)
{
    const library_api *api = &database->api;
    capped_prefix *prefix = &database->prefix;
    prefix->size = rdb_prefix_size(config);
    if (!config->options[PREFIX_EXTRACTOR].integer)
        return;
    rocksdb_slicetransform_t *transform;
    if (prefix->size == SIZE_MAX) {
        transform = api->slicetransform_create_noop();
    } else {
        snprintf(prefix->name, sizeof prefix->name, "kvdyno.CappedPrefix.%zu", prefix->size);
        transform = api->slicetransform_create(prefix, capped_end, capped_transform, capped_holds, capped_name,
                                               capped_name);
    }
    api->options_set_prefix_extractor(database->options, transform);
}

/* ---- the memtable ---- */

bool rdb_concurrent_memtable(const kvdyno_config *config)
{
    return config->options[ALLOW_CONCURRENT_MEMTABLE_WRITE].integer && option_is(config, MEMTABLE, "skiplist");
}

/* The buckets are part of the write buffer, one pointer each: as many as db_bench takes would fill a small one. */
size_t rdb_hash_buckets(const kvdyno_config *config)
{
    const size_t usual = 1 << 20, affordable = config->write_buffer_bytes / 8 / sizeof(void *);
    if (config->options[HASH_BUCKET_COUNT].integer)
        return (size_t)config->options[HASH_BUCKET_COUNT].integer;
    return affordable < usual ? affordable : usual;
}

void rdb_set_memtable(const library_api *api, lsm_options *to, const kvdyno_config *config)
{
    const int32_t height = 4, branching = 4; /* RocksDB's defaults */
    if (option_is(config, MEMTABLE, "hash_skiplist"))
        api->options_set_hash_skip_list_rep(to, rdb_hash_buckets(config), height, branching);
    else if (option_is(config, MEMTABLE, "hash_linkedlist"))
        api->options_set_hash_link_list_rep(to, rdb_hash_buckets(config));
    if (config->options[MEMTABLE_PREFIX_BLOOM].real > 0)
        api->options_set_memtable_prefix_bloom_size_ratio(to, config->options[MEMTABLE_PREFIX_BLOOM].real);
}

/* ---- tables ---- */

static void set_plain(kvdyno_database *database, const kvdyno_value *option)
{
    /* RocksDB's defaults. Keys are stored with their size, since an adapter must take keys of any. */
    const uint32_t any_size = 0;
    const double hash_table_ratio = 0.75;
    const size_t index_sparseness = 16, huge_pages = 0;
    const char plain_encoding = 0;
    database->api.options_set_plain_table_factory(database->options, any_size, (int)option[BLOOM_BITS].integer,
                                                  hash_table_ratio, index_sparseness, huge_pages, plain_encoding, 0, 0);
}

/* The table's options hold the cache and the filter from then on; RocksDB frees the filter. */
static void set_block_based(kvdyno_database *database, const kvdyno_config *config)
{
    const library_api *api = &database->api;
    const kvdyno_value *option = config->options;
    rocksdb_table_options_t *table = api->block_based_options_create();
    api->block_based_options_set_block_size(table, (size_t)option[BLOCK_SIZE].integer);
    api->block_based_options_set_block_cache(table, database->cache);
    api->block_based_options_set_cache_index_and_filter_blocks(table,
                                                               option[CACHE_INDEX_AND_FILTER_BLOCKS].integer != 0);
    if (option_is(config, INDEX, "hash"))
        api->block_based_options_set_index_type(table, 1);
    /* The number of bits was an int in older versions and is a double in newer ones. They are passed in registers of
     * different kinds, so the library finds the one that it looks for. */
    int64_t bits = option[BLOOM_BITS].integer;
    if (bits)
        api->block_based_options_set_filter_policy(table, api->filterpolicy_create_bloom_full((int)bits, (double)bits));
    api->options_set_block_based_table_factory(database->options, table);
    api->block_based_options_destroy(table);
}

void rdb_set_tables(kvdyno_database *database, const kvdyno_config *config)
{
    if (database->plain)
        set_plain(database, config->options);
    else
        set_block_based(database, config);
}
