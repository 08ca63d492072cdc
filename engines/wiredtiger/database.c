/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The life of a database: open, close, flush, compact, and waiting for background work.
 */
#include "wt.h"

#define REST_POLL_MS 500
#define REST_POLLS 4    /* so many polls in a row without any change are rest */
#define REST_MINUTES 60 /* more than this is an error */

static kvdyno_status explain(kvdyno_database *database, const char *what, int code, kvdyno_text *error)
{
    return wt_explain(&database->library, &database->listener, what, code, error);
}

/* ---- open ---- */

/* Reads from WiredTiger's metadata how the table is stored. */
static int stored_as_lsm(WT_SESSION *session, bool *lsm)
{
    WT_CURSOR *metadata;
    const char *text;
    int code = session->open_cursor(session, "metadata:", NULL, NULL, &metadata);
    if (code != 0)
        return code;
    metadata->set_key(metadata, "colgroup:data");
    code = metadata->search(metadata);
    if (code == 0)
        code = metadata->get_value(metadata, &text);
    if (code == 0)
        *lsm = strstr(text, "source=\"lsm:") != NULL;
    int closed = metadata->close(metadata);
    return code ? code : closed;
}

static int check_table(kvdyno_database *database)
{
    bool lsm;
    int code = stored_as_lsm(database->chore_session, &lsm);
    if (code != 0 || lsm == database->plan.lsm)
        return code;
    engine_message_keep(&database->listener.message,
                        lsm ? "the table there was made with type=lsm" : "the table there was made with type=file");
    return EINVAL;
}

/* The checkpoint makes the empty table outlive a crash where there is no log. */
static int make_table(kvdyno_database *database)
{
    WT_SESSION *session = database->chore_session;
    int code = session->create(session, WT_TABLE, database->plan.table);
    return code ? code : session->checkpoint(session, NULL);
}

static int sync_log(void *context)
{
    WT_SESSION *session = context;
    return session->log_flush(session, "sync=on");
}

static int start_syncer(kvdyno_database *database, const kvdyno_config *config)
{
    WT_CONNECTION *connection = database->connection;
    if (config->durability != KVDYNO_DURABILITY_PERIODIC)
        return 0;
    int code = connection->open_session(connection, NULL, NULL, &database->log_session);
    return code ? code
                : periodic_syncer_start(&database->log_syncer, config->sync_period_ms, sync_log, database->log_session);
}

static int open_all(kvdyno_database *database, const kvdyno_config *config)
{
    int code = database->library.wiredtiger_open(config->path, &database->listener.handler, database->plan.connection,
                                                 &database->connection);
    if (code != 0) {
        database->connection = NULL;
        return code;
    }
    WT_CONNECTION *connection = database->connection;
    code = connection->open_session(connection, NULL, NULL, &database->chore_session);
    if (code == 0)
        code = config->create ? make_table(database) : check_table(database);
    return code ? code : start_syncer(database, config);
}

/* After a panic, WiredTiger's threads may still speak to the listener. */
static void dispose(kvdyno_database *database)
{
    if (wt_panicked(&database->listener))
        return;
    pthread_mutex_destroy(&database->chores);
    free(database);
}

/* WiredTiger makes a checkpoint as it closes. After a panic it asks that the process end, and closing may wait for ever
 * for a thread that is gone: the connection is left as it is. */
static int close_connection(kvdyno_database *database)
{
    if (wt_panicked(&database->listener))
        return WT_PANIC;
    return database->connection->close(database->connection, NULL);
}

static kvdyno_status database_start(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    pthread_mutex_init(&database->chores, NULL);
    wt_listener_init(&database->listener);
    kvdyno_status status = wt_library_open(config->library, &database->library, error);
    if (status == KVDYNO_OK)
        status = wt_make_plan(config, &database->library, &database->plan, error);
    if (status != KVDYNO_OK)
        return status;
    int code = open_all(database, config);
    return code ? explain(database, "opening the database and its table", code, error) : KVDYNO_OK;
}

static void database_dispose(kvdyno_database *database)
{
    periodic_syncer_stop(&database->log_syncer);
    if (database->connection)
        close_connection(database);
    dispose(database);
}

#include "open.h"

/* ---- close ---- */

kvdyno_status adapter_close(kvdyno_database *database, kvdyno_text *error)
{
    kvdyno_status status = KVDYNO_OK;
    int code = periodic_syncer_stop(&database->log_syncer);
    const char *what = "the background log_flush";
    int closed = close_connection(database);
    if (closed != 0) {
        what = "WT_CONNECTION::close";
        code = closed;
    }
    if (code != 0)
        status = explain(database, what, code, error);
    dispose(database);
    return status;
}

/* ---- housekeeping ---- */

kvdyno_status adapter_flush(kvdyno_database *database, kvdyno_text *error)
{
    WT_SESSION *session = database->chore_session;
    pthread_mutex_lock(&database->chores);
    int code = database->plan.logged ? sync_log(session) : session->checkpoint(session, NULL);
    pthread_mutex_unlock(&database->chores);
    return code ? explain(database, "flush", code, error) : KVDYNO_OK;
}

kvdyno_status adapter_compact(kvdyno_database *database, kvdyno_text *error)
{
    WT_SESSION *session = database->chore_session;
    pthread_mutex_lock(&database->chores);
    int code = session->compact(session, WT_TABLE, WT_COMPACT);
    pthread_mutex_unlock(&database->chores);
    return code ? explain(database, "compact", code, error) : KVDYNO_OK;
}

/* Figures that change while an LSM tree writes out or merges its chunks. The first three are queues, empty at rest. */
static const int restless[] = {
    WT_STAT_CONN_LSM_WORK_QUEUE_APP, WT_STAT_CONN_LSM_WORK_QUEUE_MANAGER, WT_STAT_CONN_LSM_WORK_QUEUE_SWITCH,
    WT_STAT_CONN_LSM_ROWS_MERGED,    WT_STAT_CONN_BLOCK_BYTE_WRITE,
};
#define RESTLESS (sizeof restless / sizeof *restless)

static void pause_ms(long ms)
{
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static int wait_for_rest(kvdyno_database *database)
{
    uint64_t last[RESTLESS] = {0}, now[RESTLESS];
    long polls = REST_MINUTES * 60000L / REST_POLL_MS;
    for (int calm = 0; calm < REST_POLLS; polls--) {
        int code = wt_read_figures(database, restless, now, RESTLESS);
        if (code != 0 || polls == 0)
            return code ? code : ETIMEDOUT;
        calm = now[0] + now[1] + now[2] == 0 && memcmp(last, now, sizeof now) == 0 ? calm + 1 : 0;
        memcpy(last, now, sizeof now);
        if (calm < REST_POLLS)
            pause_ms(REST_POLL_MS);
    }
    return 0;
}

/* A Btree has no work of its own to wait for: eviction goes on while the cache is too full, checkpoints as set. */
kvdyno_status adapter_wait_idle(kvdyno_database *database, kvdyno_text *error)
{
    if (!database->plan.lsm)
        return KVDYNO_OK;
    if (!database->plan.statistics) {
        say(error, "wait_idle: it watches the statistics, which option statistics=none turns off");
        return KVDYNO_UNSUPPORTED;
    }
    pthread_mutex_lock(&database->chores);
    int code = wait_for_rest(database);
    pthread_mutex_unlock(&database->chores);
    return code ? explain(database, "wait_idle", code, error) : KVDYNO_OK;
}
