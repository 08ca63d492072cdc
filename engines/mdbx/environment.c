/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * environment.c: opening, closing and housekeeping.
 */
#include <unistd.h>

#include "mdbx_adapter.h"

kvdyno_status mx_explain(const mx_api *api, const char *what, int code, kvdyno_text *error)
{
    char words[160];
    say(error, "%s: %s%s", what, api->mdbx_strerror_r(code, words, sizeof words),
        code == MDBX_MAP_FULL ? "; raise the option size_upper" : "");
    return code == MDBX_MAP_FULL || code == ENOSPC ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
}

/* There may have been nothing to sync; libmdbx says so. */
static int sync_env(void *context)
{
    kvdyno_database *database = context;
    int code = database->api.mdbx_env_sync_ex(database->env, true, false);
    return code == MDBX_RESULT_TRUE ? 0 : code;
}

/* `dont_sync`: what went wrong stays as it is. */
static kvdyno_status database_failed(kvdyno_database *database, const char *what, int code, kvdyno_text *error)
{
    kvdyno_status status = mx_explain(&database->api, what, code, error);
    if (database->env)
        database->api.mdbx_env_close_ex(database->env, true);
    free(database);
    return status;
}

/* libmdbx opens what is there where it was to make something new: so that has to be asked first. */
static bool may_create(const kvdyno_config *config, kvdyno_text *error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/mdbx.dat", config->path);
    bool there = access(path, F_OK) == 0;
    if (there && config->create)
        say(error, "%s is there already", path);
    return !there || !config->create;
}

/* The unnamed table: opened once, in a transaction of its own, for all sessions. */
static int open_table(kvdyno_database *database)
{
    const mx_api *api = &database->api;
    MDBX_txn *txn;
    int code = api->mdbx_txn_begin_ex(database->env, NULL, MDBX_TXN_READWRITE, &txn, NULL);
    if (code)
        return code;
    code = api->mdbx_dbi_open(txn, NULL, MDBX_DB_DEFAULTS, &database->dbi);
    if (code) {
        api->mdbx_txn_abort_ex(txn, NULL);
        return code;
    }
    code = api->mdbx_txn_commit_ex(txn, NULL);
    return code == MDBX_RESULT_TRUE ? 0 : code;
}

/* The entries of opening: the first that fails, and its code. */
static int open_env(const kvdyno_config *config, const mx_plan *plan, kvdyno_database *database, const char **what)
{
    const mx_api *api = &database->api;
    const mode_t mode = config->create ? 0666 : 0; /* 0: open what is there, make nothing */
    int code;
    /* Otherwise it tells on stderr each time that the file grows. */
    api->mdbx_setup_debug(MDBX_LOG_ERROR, MDBX_DBG_DONTCHANGE, MDBX_LOGGER_DONTCHANGE);
    if ((*what = "mdbx_env_create", code = api->mdbx_env_create(&database->env)) ||
        (*what = "max_readers",
         code = api->mdbx_env_set_option(database->env, MDBX_opt_max_readers, plan->max_readers)) ||
        (*what = "txn_dp_limit",
         code = api->mdbx_env_set_option(database->env, MDBX_opt_txn_dp_limit, plan->txn_dp_limit)) ||
        (*what = "mdbx_env_set_geometry",
         code = api->mdbx_env_set_geometry(database->env, -1, -1, plan->size_upper, plan->growth_step, -1,
                                           plan->page_size)) ||
        (*what = "mdbx_env_open", code = api->mdbx_env_open(database->env, config->path, plan->flags, mode)))
        return code;
    code = api->mdbx_reader_check(database->env, NULL); /* slots of processes that died */
    if ((*what = "mdbx_reader_check", code != 0 && code != MDBX_RESULT_TRUE))
        return code;
    *what = "mdbx_dbi_open";
    return open_table(database);
}

kvdyno_status mx_open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error)
{
    mx_plan plan;
    if (!mx_make_plan(config, &plan, error))
        return KVDYNO_UNSUPPORTED;
    if (!may_create(config, error))
        return KVDYNO_ERROR;
    kvdyno_database *database = calloc(1, sizeof *database);
    if (!database) {
        say(error, "out of memory");
        return KVDYNO_ERROR;
    }
    if (!mx_load(config->library, &database->api, error)) {
        free(database);
        return KVDYNO_NO_LIBRARY;
    }
    database->append = config->options[APPEND].integer ? MDBX_APPEND : 0;
    const char *what;
    int code = open_env(config, &plan, database, &what);
    if (!code && config->durability == KVDYNO_DURABILITY_PERIODIC) {
        what = "the syncing thread";
        code = periodic_syncer_start(&database->syncer, config->sync_period_ms, sync_env, database);
    }
    if (code)
        return database_failed(database, what, code, error);
    *opened = database;
    return KVDYNO_OK;
}

kvdyno_status mx_flush(kvdyno_database *database, kvdyno_text *error)
{
    int code = sync_env(database);
    return code ? mx_explain(&database->api, "mdbx_env_sync", code, error) : KVDYNO_OK;
}

kvdyno_status mx_close(kvdyno_database *database, kvdyno_text *error)
{
    int code = periodic_syncer_stop(&database->syncer);
    if (code)
        return database_failed(database, "mdbx_env_sync in the background", code, error);
    code = sync_env(database);
    if (code)
        return database_failed(database, "mdbx_env_sync", code, error);
    code = database->api.mdbx_env_close_ex(database->env, false);
    kvdyno_status status = code ? mx_explain(&database->api, "mdbx_env_close", code, error) : KVDYNO_OK;
    free(database);
    return status;
}

/* Moves pages from the end of the file to free places before them and cuts the file, as far as that leads: it may be
 * that no more can be moved, or that a session which still lends a value needs the old pages. Neither is an error. */
kvdyno_status mx_compact(kvdyno_database *database, kvdyno_text *error)
{
    const intptr_t libmdbx_decides = -1;
    int code = database->api.mdbx_env_defrag(database->env, 0, 0, 0, 0, libmdbx_decides, 0, NULL, NULL, NULL);
    bool as_far_as_it_leads = code == 0 || code == MDBX_RESULT_TRUE || code == MDBX_LAGGARD_READER;
    return as_far_as_it_leads ? KVDYNO_OK : mx_explain(&database->api, "mdbx_env_defrag", code, error);
}

/* ---- statistics ---- */

static void tree_statistics(const MDBX_stat *stat, kvdyno_emit emit, void *context)
{
    emitf(emit, context, "tree", "entries", "%" PRIu64, stat->ms_entries);
    emitf(emit, context, "tree", "depth", "%" PRIu32, stat->ms_depth);
    emitf(emit, context, "tree", "page_size", "%" PRIu32, stat->ms_psize);
    emitf(emit, context, "tree", "branch_pages", "%" PRIu64, stat->ms_branch_pages);
    emitf(emit, context, "tree", "leaf_pages", "%" PRIu64, stat->ms_leaf_pages);
    emitf(emit, context, "tree", "overflow_pages", "%" PRIu64, stat->ms_overflow_pages);
}

static void environment_statistics(const MDBX_envinfo *info, kvdyno_emit emit, void *context)
{
    const struct {
        const char *topic, *name;
        uint64_t value;
    } all[] = {
        {"environment", "geo.lower", info->mi_geo.lower},
        {"environment", "geo.upper", info->mi_geo.upper},
        {"environment", "geo.current", info->mi_geo.current},
        {"environment", "geo.shrink", info->mi_geo.shrink},
        {"environment", "geo.grow", info->mi_geo.grow},
        {"environment", "mapsize", info->mi_mapsize},
        {"environment", "last_pgno", info->mi_last_pgno},
        {"environment", "recent_txnid", info->mi_recent_txnid},
        {"environment", "latter_reader_txnid", info->mi_latter_reader_txnid},
        {"environment", "maxreaders", info->mi_maxreaders},
        {"environment", "numreaders", info->mi_numreaders},
        {"environment", "unsync_volume", info->mi_unsync_volume},
        {"page operations", "newly", info->mi_pgop_stat.newly},
        {"page operations", "cow", info->mi_pgop_stat.cow},
        {"page operations", "split", info->mi_pgop_stat.split},
        {"page operations", "merge", info->mi_pgop_stat.merge},
        {"page operations", "spill", info->mi_pgop_stat.spill},
        {"page operations", "unspill", info->mi_pgop_stat.unspill},
        {"page operations", "wops", info->mi_pgop_stat.wops},
        {"page operations", "prefault", info->mi_pgop_stat.prefault},
        {"page operations", "mincore", info->mi_pgop_stat.mincore},
        {"page operations", "msync", info->mi_pgop_stat.msync},
        {"page operations", "fsync", info->mi_pgop_stat.fsync},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        emitf(emit, context, all[i].topic, all[i].name, "%" PRIu64, all[i].value);
}

kvdyno_status mx_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    const mx_api *api = &database->api;
    MDBX_stat stat;
    MDBX_envinfo info;
    MDBX_txn *txn;
    if (api->mdbx_txn_begin_ex(database->env, NULL, MDBX_TXN_RDONLY, &txn, NULL))
        return KVDYNO_ERROR;
    int code = api->mdbx_dbi_stat(txn, database->dbi, &stat, sizeof stat);
    if (!code)
        code = api->mdbx_env_info_ex(database->env, txn, &info, sizeof info);
    api->mdbx_txn_abort_ex(txn, NULL);
    if (code)
        return KVDYNO_ERROR;
    tree_statistics(&stat, emit, context);
    environment_statistics(&info, emit, context);
    return KVDYNO_OK;
}
