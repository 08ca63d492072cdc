/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * database.c: opening, closing and housekeeping.
 */
#include "family.h"

kvdyno_status family_explain(const library_api *api, const char *what, char *problem, kvdyno_text *error)
{
    say(error, "%s: %s", what, problem);
    kvdyno_status status = strstr(problem, "No space left") ? KVDYNO_NO_SPACE
                           : strstr(problem, "not linked")  ? KVDYNO_UNSUPPORTED /* a compression is not built in */
                                                            : KVDYNO_ERROR;
    api->free(problem);
    return status;
}

/* ---- syncing ---- */

/* Where there is no call for it, an empty batch is logged like any other. */
kvdyno_status family_sync_log(kvdyno_database *database, kvdyno_text *error)
{
    const library_api *api = &database->api;
    char *problem = NULL;
    if (api->flush_wal)
        api->flush_wal(database->db, 1, &problem);
    else
        api->write(database->db, database->writes[KVDYNO_DURABILITY_COMMIT], database->nothing, &problem);
    return problem ? family_explain(api, "cannot sync the log", problem, error) : KVDYNO_OK;
}

static int sync_in_background(void *context)
{
    kvdyno_database *database = context;
    kvdyno_text error = {database->syncer_error, sizeof database->syncer_error};
    return database->syncer_error[0] ? KVDYNO_ERROR : family_sync_log(database, &error);
}

static kvdyno_status start_syncer(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    if (config->durability != KVDYNO_DURABILITY_PERIODIC)
        return KVDYNO_OK;
    int failed = periodic_syncer_start(&database->syncer, config->sync_period_ms, sync_in_background, database);
    if (failed)
        say(error, "cannot start the syncing thread: %s", strerror(failed));
    return failed ? KVDYNO_ERROR : KVDYNO_OK;
}

/* ---- opening and closing ---- */

static kvdyno_status make_parts(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    const library_api *api = &database->api;
    database->durability = config->durability;
    database->weakest = weakest_durability(config);
    database->verify_checksums = option_integer(config, VERIFY_CHECKSUMS) != 0;
    database->fill_cache = option_integer(config, FILL_CACHE) != 0;
    database->cache = api->cache_create_lru(config->cache_bytes);
    for (uint32_t level = 0; level < DURABILITY_LEVELS; level++) {
        database->writes[level] = api->writeoptions_create();
        api->writeoptions_set_sync(database->writes[level], level == KVDYNO_DURABILITY_COMMIT);
    }
    database->nothing = api->writebatch_create();
    database->options = api->options_create();
    api->options_set_create_if_missing(database->options, config->create != 0);
    api->options_set_error_if_exists(database->options, config->create != 0);
    api->options_set_write_buffer_size(database->options, config->write_buffer_bytes);
    return engine_configure(database, config, error);
}

static kvdyno_status database_start(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    kvdyno_status status = engine_prepare(config, &database->api, error);
    if (status != KVDYNO_OK)
        return status;
    if (engine_forbids(config, error))
        return KVDYNO_ERROR;
    status = make_parts(database, config, error);
    if (status != KVDYNO_OK)
        return status;
    char *problem = NULL;
    database->db = database->api.open(database->options, config->path, &problem);
    if (problem)
        return family_explain(&database->api, "cannot open", problem, error);
    engine_opened(database, config);
    return start_syncer(database, config, error);
}

/* The parts are made all together, or none of them. */
static void database_dispose(kvdyno_database *database)
{
    const library_api *api = &database->api;
    if (database->db)
        api->close(database->db);
    if (database->options) {
        engine_closed(database);
        api->options_destroy(database->options);
        api->cache_destroy(database->cache);
        api->writebatch_destroy(database->nothing);
        for (uint32_t level = 0; level < DURABILITY_LEVELS; level++)
            api->writeoptions_destroy(database->writes[level]);
    }
    free(database);
}

#include "open.h"

kvdyno_status adapter_close(kvdyno_database *database, kvdyno_text *error)
{
    kvdyno_status status;
    if (periodic_syncer_stop(&database->syncer)) {
        say(error, "in the background: %s", database->syncer_error);
        status = KVDYNO_ERROR;
    } else {
        status = engine_persist(database, error);
    }
    database_dispose(database);
    return status;
}

/* ---- housekeeping ---- */

kvdyno_status adapter_compact(kvdyno_database *database, kvdyno_text *error)
{
    database->api.compact_range(database->db, NULL, 0, NULL, 0);
    return engine_health(database, error);
}

uint64_t family_number(kvdyno_database *database, const char *property)
{
    char *value = database->api.property_value(database->db, property);
    uint64_t number = value ? strtoull(value, NULL, 10) : 0;
    database->api.free(value);
    return number;
}

void family_say_properties(kvdyno_database *database, const char *const *properties, kvdyno_emit emit, void *context)
{
    for (; *properties; properties++) {
        char *value = database->api.property_value(database->db, *properties);
        if (value)
            emit(context, "property", *properties, value);
        database->api.free(value);
    }
}
