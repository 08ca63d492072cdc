/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * environment.c: opening, closing and syncing.
 */
#include "family.h"

kvdyno_status family_explain(const library_api *api, const char *what, int code, kvdyno_text *error)
{
    char text[160];
    say(error, "%s: %s%s", what, tree_error(api, code, text, sizeof text),
        code == MAP_FULL ? "; raise the option " MAP_SIZE_OPTION : "");
    return code == MAP_FULL || code == ENOSPC ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
}

static int sync_env(void *context)
{
    kvdyno_database *database = context;
    return tree_sync(&database->api, database->env);
}

/* The unnamed table: opened once, in a transaction of its own, for all sessions. */
static int open_table(kvdyno_database *database)
{
    const library_api *api = &database->api;
    tree_txn *txn;
    int code = tree_begin(api, database->env, true, &txn);
    if (code)
        return code;
    code = api->CALL(dbi_open)(txn, NULL, 0, &database->dbi);
    if (!code)
        return tree_commit(api, txn);
    tree_abort(api, txn);
    return code;
}

/* Of several processes one at a time syncs. */
static int start_syncer(kvdyno_database *database, const kvdyno_config *config)
{
    if (config->durability != KVDYNO_DURABILITY_PERIODIC)
        return 0;
    int code = config_processes(config) > 1 ? process_turn_open(&database->turn, config->path) : 0;
    database->syncer.turn = &database->turn;
    return code ? code : periodic_syncer_start(&database->syncer, config->sync_period_ms, sync_env, database);
}

/* The first call of opening that fails, and its code. */
static int open_env(kvdyno_database *database, const kvdyno_config *config, const char **what)
{
    const library_api *api = &database->api;
    int code = api->CALL(env_create)(&database->env);
    *what = "making the environment";
    if (!code)
        code = engine_configure(database, config, what);
    if (!code) {
        *what = "opening the environment";
        code = api->CALL(env_open)(database->env, config->path, engine_flags(config), 0666);
    }
    if (!code) {
        *what = "clearing the slots of readers that died";
        code = done(api->CALL(reader_check)(database->env, NULL));
    }
    if (!code) {
        *what = "opening the table";
        code = open_table(database);
    }
    if (!code) {
        *what = "the syncing thread";
        code = start_syncer(database, config);
    }
    return code;
}

/* `synced`: else, after a failure, what is there stays as it is. */
static int close_env(kvdyno_database *database, bool synced)
{
    process_turn_close(&database->turn);
    int code = database->env ? tree_env_close(&database->api, database->env, synced) : 0;
    database->env = NULL;
    return code;
}

static kvdyno_status database_start(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    if (!engine_accepts(config, error))
        return KVDYNO_UNSUPPORTED;
    if (!library_load(config->library, &database->api, error))
        return KVDYNO_NO_LIBRARY;
    kvdyno_status status = engine_prepare(database, config, error);
    if (status != KVDYNO_OK)
        return status;
    const char *what;
    int code = open_env(database, config, &what);
    return code ? family_explain(&database->api, what, code, error) : KVDYNO_OK;
}

static void database_dispose(kvdyno_database *database)
{
    close_env(database, false);
    free(database);
}

#include "open.h"

kvdyno_status adapter_flush(kvdyno_database *database, kvdyno_text *error)
{
    int code = sync_env(database);
    return code ? family_explain(&database->api, "syncing", code, error) : KVDYNO_OK;
}

kvdyno_status adapter_close(kvdyno_database *database, kvdyno_text *error)
{
    const char *what = "syncing in the background";
    int code = periodic_syncer_stop(&database->syncer);
    if (!code) {
        what = "syncing";
        code = sync_env(database);
    }
    int closed = close_env(database, code == 0);
    if (!code) {
        what = "closing the environment";
        code = closed;
    }
    kvdyno_status status = code ? family_explain(&database->api, what, code, error) : KVDYNO_OK;
    free(database);
    return status;
}
