/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * ranges.c: the deletion of a range, which RocksDB writes as one tombstone for all keys in it; and bounds of iterators.
 */
#include "family.h"
#include "settle.h"

kvdyno_status adapter_delete_range(kvdyno_session *session, const void *from, size_t from_size, const void *to,
                                   size_t to_size)
{
    const library_api *api = session->api;
    char *problem = NULL;
    settle(session);
    if (session->begun != NO_TRANSACTION)
        return session_refuse(session, KVDYNO_UNSUPPORTED, "a read-only transaction is open on this session");
    if (!api->writebatch_delete_range || session->database->plain)
        return session_refuse(session, KVDYNO_UNSUPPORTED, "this library, or table=plain, deletes no ranges");
    /* Newer releases take a range that ends before it begins for an error. */
    if (!comes_before(from, from_size, to, to_size))
        return KVDYNO_OK;
    api->writebatch_clear(session->batch);
    api->writebatch_delete_range(session->batch, from, from_size, to, to_size);
    api->write(session->db, session->write, session->batch, &problem);
    return session_answer(session, "delete_range", problem);
}

bool rdb_bounds_iterators(const library_api *api)
{
    return api->readoptions_set_iterate_lower_bound && api->readoptions_set_iterate_upper_bound;
}

/* An iterator with the prefix extractor's own order: it ends with the prefix that it was sent to. */
static kvdyno_status read_prefix(kvdyno_session *session, kvdyno_bytes prefix, growing *keys, lsm_readoptions **within)
{
    const library_api *api = session->api;
    if (!rdb_scans_prefixes(api) || prefix.size != session->database->prefix.size)
        return session_refuse(session, KVDYNO_UNSUPPORTED,
                              "a prefix of %zu bytes: RocksDB shows the keys of the extractor's, whose have %zu",
                              prefix.size, session->database->prefix.size);
    if (!growing_keep(keys, prefix.data, prefix.size))
        return session_refuse(session, KVDYNO_ERROR, "out of memory");
    *within = family_read_options(session->database);
    api->readoptions_set_prefix_same_as_start(*within, 1);
    return KVDYNO_OK;
}

bool rdb_scans_prefixes(const library_api *api)
{
    return api->readoptions_set_prefix_same_as_start && api->readoptions_set_total_order_seek;
}

kvdyno_status engine_bound_reads(kvdyno_session *session, const kvdyno_cursor_options *options, growing *keys,
                                 lsm_readoptions **within)
{
    const library_api *api = session->api;
    size_t from_size = options->from.size, to_size = options->to.size;
    kvdyno_bytes prefix = cursor_prefix(options);
    if (prefix.size)
        return read_prefix(session, prefix, keys, within);
    if (!rdb_bounds_iterators(api))
        return session_refuse(session, KVDYNO_UNSUPPORTED, "this library has no bounds for iterators");
    if (!growing_reserve(keys, from_size + to_size))
        return session_refuse(session, KVDYNO_ERROR, "out of memory");
    char *from = keys->data, *to = from + from_size;
    *within = engine_scan_options(session->database);
    if (from_size) {
        memcpy(from, options->from.data, from_size);
        api->readoptions_set_iterate_lower_bound(*within, from, from_size);
    }
    if (to_size) {
        memcpy(to, options->to.data, to_size);
        api->readoptions_set_iterate_upper_bound(*within, to, to_size);
    }
    return KVDYNO_OK;
}
