/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * database.c: opening, closing and housekeeping.
 */
#include "family.h"

kvdyno_status family_explain(const leveldb_api *api, const char *what, char *problem, kvdyno_text *error)
{
    say(error, "%s: %s", what, problem);
    kvdyno_status status = strstr(problem, "No space left") ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
    api->leveldb_free(problem);
    return status;
}

static void database_free(kvdyno_database *database)
{
    const leveldb_api *api = &database->api;
    if (database->db)
        api->leveldb_close(database->db);
    if (database->db && api->kvdyno_finish_closing)
        api->kvdyno_finish_closing();
    if (database->cache)
        api->leveldb_cache_destroy(database->cache);
    if (database->filter)
        api->leveldb_filterpolicy_destroy(database->filter);
    if (database->nothing)
        api->leveldb_writebatch_destroy(database->nothing);
    if (database->write)
        api->leveldb_writeoptions_destroy(database->write);
    if (database->synced)
        api->leveldb_writeoptions_destroy(database->synced);
    free(database);
}

/* Syncs the log. LevelDB has no call for it, but it logs an empty batch like any other. */
static kvdyno_status sync_log(kvdyno_database *database, kvdyno_text *error)
{
    char *problem = NULL;
    database->api.leveldb_write(database->db, database->synced, database->nothing, &problem);
    return problem ? family_explain(&database->api, "cannot sync the log", problem, error) : KVDYNO_OK;
}

static int sync_in_background(void *context)
{
    kvdyno_database *database = context;
    kvdyno_text error = {database->syncer_error, sizeof database->syncer_error};
    return database->syncer_error[0] ? KVDYNO_ERROR : sync_log(database, &error);
}

/* Puts everything on the storage. The log alone is not enough: that of a memtable on its way to a table file is out of
 * reach and was not synced. So LevelDB is asked to compact a range without keys, which first writes out the memtables;
 * should that fail, LevelDB takes no more writes, and the sync of the log says why. (LevelDB before 1.15, and so its
 * descendants, tries again instead until it succeeds.) */
kvdyno_status family_flush(kvdyno_database *database, kvdyno_text *error)
{
    database->api.leveldb_compact_range(database->db, "", 0, "", 0);
    return sync_log(database, error);
}

static leveldb_options_t *make_options(kvdyno_database *database, const kvdyno_config *config)
{
    const leveldb_api *api = &database->api;
    const kvdyno_value *option = config->options;
    leveldb_options_t *made = api->leveldb_options_create();
    api->leveldb_options_set_create_if_missing(made, config->create != 0);
    api->leveldb_options_set_error_if_exists(made, config->create != 0);
    api->leveldb_options_set_cache(made, database->cache);
    api->leveldb_options_set_write_buffer_size(made, config->write_buffer_bytes);
    api->leveldb_options_set_compression(made, config->compression == KVDYNO_COMPRESSION_SNAPPY
                                                   ? leveldb_snappy_compression
                                                   : leveldb_no_compression);
    api->leveldb_options_set_block_size(made, (size_t)option[BLOCK_SIZE].integer);
    api->leveldb_options_set_block_restart_interval(made, (int)option[BLOCK_RESTART_INTERVAL].integer);
    api->leveldb_options_set_max_open_files(made, (int)option[MAX_OPEN_FILES].integer);
    api->leveldb_options_set_paranoid_checks(made, option[PARANOID_CHECKS].integer != 0);
    if (database->filter)
        api->leveldb_options_set_filter_policy(made, database->filter);
    if (member.set)
        member.set(api, made, option);
    return made;
}

/* What the database needs besides LevelDB's own handle. */
static void make_parts(kvdyno_database *database, const kvdyno_config *config)
{
    const leveldb_api *api = &database->api;
    const kvdyno_value *option = config->options;
    database->durability = config->durability;
    database->verify_checksums = option[VERIFY_CHECKSUMS].integer != 0;
    database->fill_cache = option[FILL_CACHE].integer != 0;
    database->cache = api->leveldb_cache_create_lru(config->cache_bytes);
    if (option[BLOOM_BITS].integer)
        database->filter = member.filter ? member.filter(api, option)
                                         : api->leveldb_filterpolicy_create_bloom((int)option[BLOOM_BITS].integer);
    database->write = api->leveldb_writeoptions_create();
    api->leveldb_writeoptions_set_sync(database->write, config->durability == KVDYNO_DURABILITY_COMMIT);
    database->synced = api->leveldb_writeoptions_create();
    api->leveldb_writeoptions_set_sync(database->synced, 1);
    database->nothing = api->leveldb_writebatch_create();
}

/* A counter of the process's, or of more than that. */
static uint64_t counter(kvdyno_database *database, const char *name)
{
    char *value = database->api.leveldb_property_value(database->db, name);
    uint64_t count = value ? strtoull(value, NULL, 10) : 0;
    database->api.leveldb_free(value);
    return count;
}

static void start_counting(kvdyno_database *database)
{
    if (member.opened)
        member.opened();
    for (size_t i = 0; i < member.counter_count; i++)
        database->counted[i] = counter(database, member.counters[i]);
}

static kvdyno_status open_db(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    const leveldb_api *api = &database->api;
    kvdyno_status status = family_accepts(api, config, error);
    if (status != KVDYNO_OK)
        return status;
    if (member.forbids && member.forbids(config, error))
        return KVDYNO_ERROR;
    make_parts(database, config);
    leveldb_options_t *made = make_options(database, config);
    char *problem = NULL;
    database->db = api->leveldb_open(made, config->path, &problem);
    api->leveldb_options_destroy(made);
    if (problem)
        return family_explain(api, "cannot open", problem, error);
    start_counting(database);
    int failed = config->durability == KVDYNO_DURABILITY_PERIODIC
                     ? periodic_syncer_start(&database->syncer, config->sync_period_ms, sync_in_background, database)
                     : 0;
    if (failed)
        say(error, "cannot start the syncing thread: %s", strerror(failed));
    return failed ? KVDYNO_ERROR : KVDYNO_OK;
}

kvdyno_status family_open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error)
{
    kvdyno_database *database = calloc(1, sizeof *database);
    if (!database) {
        say(error, "out of memory");
        return KVDYNO_ERROR;
    }
    kvdyno_status status = family_load(config->library, &database->api, error);
    if (status == KVDYNO_OK)
        status = open_db(database, config, error);
    if (status == KVDYNO_OK)
        *opened = database;
    else
        database_free(database);
    return status;
}

kvdyno_status family_close(kvdyno_database *database, kvdyno_text *error)
{
    kvdyno_status status = KVDYNO_OK;
    if (periodic_syncer_stop(&database->syncer)) {
        say(error, "in the background: %s", database->syncer_error);
        status = KVDYNO_ERROR;
    } else if (database->durability != KVDYNO_DURABILITY_COMMIT) {
        status = family_flush(database, error);
    }
    database_free(database);
    return status;
}

/* The compaction cannot say that it failed; LevelDB then takes no more writes. */
kvdyno_status family_compact(kvdyno_database *database, kvdyno_text *error)
{
    database->api.leveldb_compact_range(database->db, NULL, 0, NULL, 0);
    return sync_log(database, error);
}

kvdyno_status family_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    for (const char *const *name = member.properties; *name; name++) {
        char *value = database->api.leveldb_property_value(database->db, *name);
        if (value)
            emit(context, "property", *name, value);
        database->api.leveldb_free(value);
    }
    for (size_t i = 0; i < member.counter_count; i++)
        emitf(emit, context, "since open", member.counters[i], "%" PRIu64,
              counter(database, member.counters[i]) - database->counted[i]);
    return KVDYNO_OK;
}
