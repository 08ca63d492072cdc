/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * database.c: open and close, syncs and checkpoints in the background, flush, VACUUM.
 *
 * All that is no session's business goes through one connection, the keeper. It is also what keeps the write-ahead log
 * from being removed whenever the last session closes.
 */
#include <fcntl.h>
#include <unistd.h>

#include "sqlite_adapter.h"

#define FILE_NAME "data.sqlite3"
#define CHECKPOINT_PATIENCE_MS 100u /* the most that a checkpoint in the background waits for readers */
#define KEEPER_PAGES 10

/* ---- syncing ---- */

/* Syncs what the file control names, which may be not open. Opening the file anew to sync it would not do: closing it
 * again would drop every POSIX lock that this process holds on it. */
static int sync_file(kvdyno_database *database, int which)
{
    sqlite3_file *file = NULL;
    int code = database->api.file_control(database->keeper, "main", which, &file);
    if (code != SQLITE_OK || !file || !file->methods)
        return code;
    return file->methods->sync(file, SQLITE_SYNC_NORMAL);
}

/* `status`: of the work before, whose error is not to be hidden by another. */
static kvdyno_status sync_folder(kvdyno_database *database, kvdyno_status status, kvdyno_text *error)
{
    int folder = open(database->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = folder >= 0 && fsync(folder) == 0;
    if (!synced && status == KVDYNO_OK) {
        say(error, "syncing %s: %s", database->folder, strerror(errno));
        status = KVDYNO_ERROR;
    }
    if (folder >= 0)
        close(folder);
    return status;
}

/* The work of a background thread at each interval: syncs the log where there is one. */
static int sync_log(void *context)
{
    kvdyno_database *database = context;
    pthread_mutex_lock(&database->keeper_lock);
    int code = sync_file(database, database->plan.wal ? SQLITE_FCNTL_JOURNAL_POINTER : SQLITE_FCNTL_FILE_POINTER);
    pthread_mutex_unlock(&database->keeper_lock);
    return code;
}

/* The log before the database: whatever a checkpoint has copied, the log still has. */
static int sync_all(kvdyno_database *database)
{
    int code = database->plan.wal ? sync_file(database, SQLITE_FCNTL_JOURNAL_POINTER) : SQLITE_OK;
    return code == SQLITE_OK ? sync_file(database, SQLITE_FCNTL_FILE_POINTER) : code;
}

/* ---- checkpoints ---- */

/* Busy is no error: there were readers whom it could not wait for, or another checkpoint was under way. */
static int checkpoint(kvdyno_database *database, int mode)
{
    int code = database->api.wal_checkpoint_v2(database->keeper, "main", mode, NULL, NULL);
    return (code & 0xff) == SQLITE_BUSY ? SQLITE_OK : code;
}

/* While it waits, writers wait; so it leaves them half of the time at least. */
static int checkpoint_in_background(void *context)
{
    kvdyno_database *database = context;
    uint32_t patience = database->plan.checkpoint_ms / 2;
    pthread_mutex_lock(&database->keeper_lock);
    database->api.busy_timeout(database->keeper,
                               (int)(patience < CHECKPOINT_PATIENCE_MS ? patience : CHECKPOINT_PATIENCE_MS));
    int code = checkpoint(database, database->plan.checkpoint_mode);
    sqlite_wait_for_ever(database, database->keeper);
    pthread_mutex_unlock(&database->keeper_lock);
    __atomic_fetch_add(&database->checkpoints, 1, __ATOMIC_RELAXED);
    return code;
}

/* ---- open ---- */

/* A first read, which also opens the log. */
static int look(kvdyno_database *database)
{
    char tables[32];
    return sqlite_ask(&database->api, database->keeper, "SELECT count(*) FROM sqlite_master", tables, sizeof tables);
}

static int make_table(kvdyno_database *database)
{
    const sqlite_plan *plan = &database->plan;
    return sqlite_run(&database->api, database->keeper,
                      "PRAGMA synchronous=EXTRA; "
                      "CREATE TABLE kv(key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL)%s; "
                      "PRAGMA synchronous=%s",
                      plan->without_rowid ? " WITHOUT ROWID" : "", plan->synchronous);
}

/* A pragma that cannot be honoured is passed over in silence, or by the library that was built so. */
static kvdyno_status verify(kvdyno_database *database, const char *pragma, const char *wanted, kvdyno_text *error)
{
    char sql[64], actual[64];
    snprintf(sql, sizeof sql, "PRAGMA %s", pragma);
    int code = sqlite_ask(&database->api, database->keeper, sql, actual, sizeof actual);
    if (code != SQLITE_OK)
        return sqlite_explain(&database->api, database->keeper, sql, code, error);
    if (strcmp(actual, wanted) == 0)
        return KVDYNO_OK;
    say(error, "%s: %s was requested, and the database has %s", pragma, wanted, actual);
    return KVDYNO_ERROR;
}

static kvdyno_status verify_all(kvdyno_database *database, kvdyno_text *error)
{
    char page_size[32], mmap_size[32];
    snprintf(page_size, sizeof page_size, "%" PRId64, database->plan.page_size);
    snprintf(mmap_size, sizeof mmap_size, "%" PRId64, database->plan.mmap_size);
    kvdyno_status status = verify(database, "journal_mode", database->plan.journal_mode, error);
    if (status == KVDYNO_OK)
        status = verify(database, "page_size", page_size, error);
    return status == KVDYNO_OK && database->plan.mmap_size ? verify(database, "mmap_size", mmap_size, error) : status;
}

static kvdyno_status open_keeper(kvdyno_database *database, bool create, kvdyno_text *error)
{
    const sqlite_api *api = &database->api;
    int code = sqlite_connect(database, create ? SQLITE_OPEN_CREATE : 0, &database->keeper);
    if (code == SQLITE_OK && create)
        code = make_table(database);
    if (code == SQLITE_OK)
        code = look(database);
    if (code == SQLITE_OK)
        code = sqlite_run(api, database->keeper, "PRAGMA cache_size=%d", KEEPER_PAGES);
    if (code != SQLITE_OK)
        return sqlite_explain(api, database->keeper, database->file, code, error);
    return verify_all(database, error);
}

static kvdyno_status start_threads(kvdyno_database *database, kvdyno_text *error)
{
    const sqlite_plan *plan = &database->plan;
    int failed = 0;
    if (plan->sync_ms)
        failed = periodic_syncer_start(&database->log_syncer, plan->sync_ms, sync_log, database);
    if (!failed && plan->checkpoint_ms)
        failed = periodic_syncer_start(&database->checkpointer, plan->checkpoint_ms, checkpoint_in_background,
                                       database);
    if (failed)
        say(error, "a background thread: %s", strerror(failed));
    return failed ? KVDYNO_ERROR : KVDYNO_OK;
}

static bool name_files(kvdyno_database *database, const char *folder)
{
    size_t size = strlen(folder) + sizeof "/" FILE_NAME;
    database->folder = strdup(folder);
    database->file = malloc(size);
    if (database->file)
        snprintf(database->file, size, "%s/" FILE_NAME, folder);
    return database->folder && database->file;
}

/* The first error of the background threads, which are over then: they use the keeper. */
static int stop_threads(kvdyno_database *database)
{
    int first = periodic_syncer_stop(&database->log_syncer), second = periodic_syncer_stop(&database->checkpointer);
    return first ? first : second;
}

static int close_keeper(kvdyno_database *database)
{
    int code = database->keeper ? database->api.close(database->keeper) : SQLITE_OK;
    database->keeper = NULL;
    return code;
}

static void dispose(kvdyno_database *database)
{
    if (database->entered)
        sqlite_leave(&database->api);
    pthread_mutex_destroy(&database->keeper_lock);
    pthread_mutex_destroy(&database->writer_lock);
    free(database->folder);
    free(database->file);
    free(database);
}

static kvdyno_status prepare(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    if (!sqlite_load(config->library, &database->api, error))
        return KVDYNO_NO_LIBRARY;
    kvdyno_status status = sqlite_make_plan(config, &database->api, &database->plan, error);
    if (status != KVDYNO_OK)
        return status;
    database->entered = sqlite_enter(&database->api, database->plan.count_memory, error);
    return database->entered ? KVDYNO_OK : KVDYNO_ERROR;
}

/* SQLite makes what is not there. */
static kvdyno_status database_start(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    pthread_mutex_init(&database->keeper_lock, NULL);
    pthread_mutex_init(&database->writer_lock, NULL);
    kvdyno_status status = prepare(database, config, error);
    if (status != KVDYNO_OK)
        return status;
    if (!name_files(database, config->path) || !file_as_expected(config->path, FILE_NAME, config->create, error))
        return KVDYNO_ERROR;
    status = open_keeper(database, config->create, error);
    return status == KVDYNO_OK ? start_threads(database, error) : status;
}

static void database_dispose(kvdyno_database *database)
{
    stop_threads(database);
    close_keeper(database);
    dispose(database);
}

#include "open.h"

/* ---- close ---- */

/* Whatever was left unsynced is synced now: the log, then what the checkpoint copies of it, then the folder. The last
 * connection to close checkpoints the rest, if another process has kept this one from it. */
static int finish(kvdyno_database *database)
{
    int code = sqlite_run(&database->api, database->keeper, "PRAGMA synchronous=FULL");
    if (code == SQLITE_OK)
        code = sync_all(database);
    if (code == SQLITE_OK && database->plan.wal)
        code = checkpoint(database, SQLITE_CHECKPOINT_PASSIVE);
    return code == SQLITE_OK ? sync_file(database, SQLITE_FCNTL_FILE_POINTER) : code;
}

kvdyno_status adapter_close(kvdyno_database *database, kvdyno_text *error)
{
    const sqlite_api *api = &database->api;
    kvdyno_status status = KVDYNO_OK;
    int code = stop_threads(database);
    if (code != SQLITE_OK)
        status = sqlite_explain(api, NULL, "a background thread", code, error);
    code = finish(database);
    if (code != SQLITE_OK && status == KVDYNO_OK)
        status = sqlite_explain(api, database->keeper, "close", code, error);
    code = close_keeper(database);
    if (code != SQLITE_OK && status == KVDYNO_OK)
        status = sqlite_explain(api, NULL, "close", code, error);
    status = sync_folder(database, status, error);
    dispose(database);
    return status;
}

/* ---- housekeeping ---- */

kvdyno_status adapter_flush(kvdyno_database *database, kvdyno_text *error)
{
    pthread_mutex_lock(&database->keeper_lock);
    int code = sync_all(database);
    kvdyno_status status = code == SQLITE_OK ? KVDYNO_OK
                                             : sqlite_explain(&database->api, database->keeper, "flush", code, error);
    pthread_mutex_unlock(&database->keeper_lock);
    return sync_folder(database, status, error);
}

/* VACUUM builds the database anew in a temporary file, which belongs on the storage that is measured. */
static int vacuum(kvdyno_database *database)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const sqlite_api *api = &database->api;
    pthread_mutex_lock(&lock);
    if (api->temp_directory)
        *api->temp_directory = database->folder;
    int code = sqlite_run(api, database->keeper, "PRAGMA cache_size=-%" PRId64 "; VACUUM; PRAGMA cache_size=%d",
                          database->plan.cache_kib, KEEPER_PAGES);
    if (api->temp_directory)
        *api->temp_directory = NULL;
    pthread_mutex_unlock(&lock);
    return code;
}

/* The file shrinks when a checkpoint brings the new pages into it, which readers may delay. */
kvdyno_status adapter_compact(kvdyno_database *database, kvdyno_text *error)
{
    pthread_mutex_lock(&database->writer_lock);
    pthread_mutex_lock(&database->keeper_lock);
    int code = vacuum(database);
    if (code == SQLITE_OK && database->plan.wal)
        code = checkpoint(database, SQLITE_CHECKPOINT_PASSIVE);
    kvdyno_status status = code == SQLITE_OK ? KVDYNO_OK
                                             : sqlite_explain(&database->api, database->keeper, "VACUUM", code, error);
    pthread_mutex_unlock(&database->keeper_lock);
    pthread_mutex_unlock(&database->writer_lock);
    return status;
}
