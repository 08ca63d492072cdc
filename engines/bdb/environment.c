/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The life of an environment: open, close, the background threads.
 */
#include "bdb.h"

#define TABLE_FILE "data.bdb"
#define VALUE_HINT_MOST ((uint64_t)1 << 20)

/* ---- open ---- */

static int open_environment(kvdyno_database *database)
{
    DB_ENV *env = database->env;
    u_int32_t flags = DB_CREATE | DB_THREAD | DB_RECOVER | DB_INIT_MPOOL | DB_INIT_TXN | DB_INIT_LOG | DB_INIT_LOCK;
    /* With DB_REGISTER recovery runs only if a process died with the environment open, and with DB_FAILCHK only if it
     * died inside of a call. */
    return env->open(env, database->path, flags | (database->shared ? DB_REGISTER | DB_FAILCHK : DB_PRIVATE), 0644);
}

/* A table keeps the page size it was made with, and Berkeley DB passes over another one in silence. */
static int check_page_size(kvdyno_database *database, u_int32_t wanted)
{
    char text[100];
    u_int32_t size = 0;
    int code = database->db->get_pagesize(database->db, &size);
    if (code != 0 || wanted == 0 || size == wanted)
        return code;
    snprintf(text, sizeof text, "the table there was made with pages of %u bytes", size);
    engine_message_keep(&database->message, text);
    return EINVAL;
}

static int open_table(kvdyno_database *database, const kvdyno_config *config)
{
    u_int32_t flags = DB_AUTO_COMMIT | DB_THREAD;
    int code = database->library.db_create(&database->db, database->env, 0);
    if (code != 0) {
        database->db = NULL;
        return code;
    }
    flags |= config->create ? DB_CREATE : 0;
    flags |= database->snapshot ? DB_MULTIVERSION : 0;
    code = bdb_set_table(database->db, config);
    if (code == 0)
        code = database->db->open(database->db, NULL, TABLE_FILE, NULL, DB_BTREE, flags, 0644);
    return code ? code : check_page_size(database, (u_int32_t)option_integer(config, BDB_PAGE_SIZE));
}

static int sync_log(void *context)
{
    kvdyno_database *database = context;
    return database->env->log_flush(database->env, NULL);
}

/* A round of what has to be done now and then: a checkpoint if one is due, and giving back what dead processes held. */
static int do_rounds(void *context)
{
    kvdyno_database *database = context;
    DB_ENV *env = database->env;
    int code = database->shared ? env->failchk(env, 0) : 0;
    if (code == 0 && database->checkpoint_kib)
        code = env->txn_checkpoint(env, database->checkpoint_kib, 0, 0);
    return code;
}

/* Of several processes one at a time does it. */
static int start_thread(kvdyno_database *database, periodic_syncer *thread, uint32_t period_ms, int (*round)(void *))
{
    thread->turn = &database->turn;
    return periodic_syncer_start(thread, period_ms, round, database);
}

static int start_threads(kvdyno_database *database, const kvdyno_config *config)
{
    int code = database->shared ? process_turn_open(&database->turn, database->path) : 0;
    if (code == 0 && (database->checkpoint_kib || database->shared))
        code = start_thread(database, &database->checkpointer, BDB_POLL_MS, do_rounds);
    if (code == 0 && config->durability == KVDYNO_DURABILITY_PERIODIC)
        code = start_thread(database, &database->log_syncer, config->sync_period_ms, sync_log);
    return code;
}

static int open_all(kvdyno_database *database, const kvdyno_config *config, const bdb_plan *plan)
{
    int code = bdb_make_environment(&database->library, &database->message, &database->env);
    if (code == 0)
        code = bdb_set_all(database->env, config, plan);
    if (code == 0)
        code = bdb_write_db_config(config, config->path);
    if (code == 0)
        code = open_environment(database);
    if (code == 0)
        code = open_table(database, config);
    if (code == 0 && config->create) /* so that the empty table is there after a crash, whatever the durability level */
        code = database->env->txn_checkpoint(database->env, 0, 0, DB_FORCE);
    return code ? code : start_threads(database, config);
}

/* ---- close ---- */

/* The first error of several calls, and what it was that failed. */
typedef struct bdb_failure {
    const char *what;
    int code;
} bdb_failure;

static void note(bdb_failure *failure, const char *what, int code)
{
    if (code != 0 && failure->code == 0)
        *failure = (bdb_failure){what, code};
}

static void stop_threads(kvdyno_database *database, bdb_failure *failure)
{
    note(failure, "the background parking of cursors", periodic_syncer_stop(&database->parker));
    note(failure, "the background log_flush", periodic_syncer_stop(&database->log_syncer));
    note(failure, "the background txn_checkpoint", periodic_syncer_stop(&database->checkpointer));
}

/* Region files that outlive their last user would decide the next one's cache and tables. If another process still uses
 * them they stay, and Berkeley DB answers EBUSY. */
static int remove_regions(kvdyno_database *database)
{
    DB_ENV *env;
    int code = bdb_make_environment(&database->library, &database->message, &env);
    if (code == 0)
        code = env->remove(env, database->path, 0);
    return code == EBUSY ? 0 : code;
}

static void close_handles(kvdyno_database *database, bdb_failure *failure)
{
    DB_ENV *env = database->env;
    if (database->db)
        note(failure, "DB->close", database->db->close(database->db, 0));
    if (env && database->log_auto_remove && failure->code == 0)
        note(failure, "DB_ENV->log_archive", env->log_archive(env, NULL, DB_ARCH_REMOVE));
    if (env)
        note(failure, "DB_ENV->close", env->close(env, 0));
}

static int make_parts(kvdyno_database *database, const kvdyno_config *config, const bdb_plan *plan)
{
    engine_message_init(&database->message);
    pthread_mutex_init(&database->cursors_lock, NULL);
    database->snapshot = option_integer(config, BDB_SNAPSHOT);
    database->shared = plan->shared;
    database->log_auto_remove = option_integer(config, BDB_LOG_AUTO_REMOVE);
    database->durability = config->durability;
    database->checkpoint_kib = (u_int32_t)option_integer(config, BDB_CHECKPOINT_KIB);
    database->order = bdb_order_of(config);
    database->value_hint = bdb_at_most(config->value_size, VALUE_HINT_MOST) + 1024;
    database->path = strdup(config->path);
    return database->path ? 0 : ENOMEM;
}

static kvdyno_status database_start(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    bdb_plan plan;
    kvdyno_status status = bdb_make_plan(config, &plan, error);
    if (status == KVDYNO_OK)
        status = bdb_library_open(config->library, &database->library, error);
    if (status != KVDYNO_OK)
        return status;
    int code = make_parts(database, config, &plan);
    if (code == 0)
        code = open_all(database, config, &plan);
    return code ? bdb_explain(database, "opening the environment and its table", code, error) : KVDYNO_OK;
}

static void dispose(kvdyno_database *database)
{
    bdb_library_close(&database->library);
    process_turn_close(&database->turn);
    free(database->path);
    free(database);
}

static void database_dispose(kvdyno_database *database)
{
    bdb_failure ignored = {NULL, EINVAL};
    stop_threads(database, &ignored);
    close_handles(database, &ignored);
    dispose(database);
}

#include "open.h"

kvdyno_status adapter_close(kvdyno_database *database, kvdyno_text *error)
{
    bdb_failure failure = {NULL, 0};
    kvdyno_status status = KVDYNO_OK;
    stop_threads(database, &failure);
    note(&failure, "DB_ENV->txn_checkpoint", database->env->txn_checkpoint(database->env, 0, 0, DB_FORCE));
    close_handles(database, &failure);
    if (database->shared)
        note(&failure, "DB_ENV->remove", remove_regions(database));
    if (failure.code != 0)
        status = bdb_explain(database, failure.what, failure.code, error);
    dispose(database);
    return status;
}

/* ---- housekeeping ---- */

kvdyno_status adapter_flush(kvdyno_database *database, kvdyno_text *error)
{
    int code = sync_log(database);
    return code ? bdb_explain(database, "flush", code, error) : KVDYNO_OK;
}

/* Packs the pages and gives those at the end of the file back to the filesystem. */
kvdyno_status adapter_compact(kvdyno_database *database, kvdyno_text *error)
{
    DB_COMPACT report;
    memset(&report, 0, sizeof report);
    int code = database->db->compact(database->db, NULL, NULL, NULL, &report, DB_FREE_SPACE, NULL);
    return code ? bdb_explain(database, "compact", code, error) : KVDYNO_OK;
}
