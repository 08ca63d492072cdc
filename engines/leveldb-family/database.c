/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * database.c: opening, and putting everything on the storage.
 */
#include "family.h"

kvdyno_status engine_configure(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    (void)error;
    enum { NO_COMPRESSION, SNAPPY_COMPRESSION };
    const library_api *api = &database->api;
    const kvdyno_value *option = config->options;
    lsm_options *made = database->options;
    api->options_set_cache(made, database->cache);
    api->options_set_compression(made, config->compression == KVDYNO_COMPRESSION_SNAPPY ? SNAPPY_COMPRESSION
                                                                                        : NO_COMPRESSION);
    api->options_set_block_size(made, (size_t)option[BLOCK_SIZE].integer);
    api->options_set_block_restart_interval(made, (int)option[BLOCK_RESTART_INTERVAL].integer);
    api->options_set_max_open_files(made, (int)option[MAX_OPEN_FILES].integer);
    api->options_set_paranoid_checks(made, option[PARANOID_CHECKS].integer != 0);
    if (option[BLOOM_BITS].integer) {
        database->filter = member.filter ? member.filter(api, option)
                                         : api->filterpolicy_create_bloom((int)option[BLOOM_BITS].integer);
        api->options_set_filter_policy(made, database->filter);
    }
    if (member.set)
        member.set(api, made, option);
    return KVDYNO_OK;
}

bool engine_forbids(const kvdyno_config *config, kvdyno_text *error)
{
    return member.forbids && member.forbids(config, error);
}

void engine_opened(kvdyno_database *database, const kvdyno_config *config)
{
    (void)config;
    if (member.opened)
        member.opened();
    for (size_t i = 0; i < member.counter_count; i++)
        database->counted[i] = family_number(database, member.counters[i]);
}

void engine_closed(kvdyno_database *database)
{
    const library_api *api = &database->api;
    if (database->db && api->kvdyno_finish_closing)
        api->kvdyno_finish_closing();
    if (database->filter)
        api->filterpolicy_destroy(database->filter);
}

/* Puts everything on the storage. The log alone is not enough: that of a memtable on its way to a table file is out of
 * reach and was not synced. So LevelDB has to compact a range without keys, which first writes out the memtables;
 * should that fail, LevelDB takes no more writes, and the sync of the log says why. (LevelDB before 1.15, and so its
 * descendants, tries again instead until it succeeds.) */
kvdyno_status adapter_flush(kvdyno_database *database, kvdyno_text *error)
{
    database->api.compact_range(database->db, "", 0, "", 0);
    return family_sync_log(database, error);
}

kvdyno_status engine_persist(kvdyno_database *database, kvdyno_text *error)
{
    return database->weakest == KVDYNO_DURABILITY_COMMIT ? KVDYNO_OK : adapter_flush(database, error);
}

/* After a failure LevelDB takes no more writes. */
kvdyno_status engine_health(kvdyno_database *database, kvdyno_text *error)
{
    return family_sync_log(database, error);
}

kvdyno_status adapter_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    family_say_properties(database, member.properties, emit, context);
    for (size_t i = 0; i < member.counter_count; i++)
        emitf(emit, context, "since open", member.counters[i], "%" PRIu64,
              family_number(database, member.counters[i]) - database->counted[i]);
    return KVDYNO_OK;
}
