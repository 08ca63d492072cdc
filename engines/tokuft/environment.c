/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * environment.c: the life of an environment; syncing in the background; what errors amount to.
 */
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "tokuft.h"

#define TABLE "data"
#define MARK "tokudb.environment" /* the file that an environment is known by */

/* ---- errors ---- */

kvdyno_status tokuft_explain(kvdyno_database *database, const char *what, int code, kvdyno_text *error)
{
    char last[sizeof database->message.text];
    engine_message_take(&database->message, last, sizeof last);
    last[strcspn(last, "\n")] = '\0';
    say(error, "%s: %s%s%s%s", what, database->library.db_strerror(code), *last ? ": " : "", last,
        code == TOKUDB_HUGE_PAGES_ENABLED ? "; option check_huge_pages=false overrides that" : "");
    if (lost_lock(code))
        return KVDYNO_CONFLICT;
    return code == ENOSPC ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
}

/* ---- syncing the log ---- */

/* The number in "log000000000007.tokulog29", or false for a file of another kind. */
static bool log_number(const char *name, uint64_t *number)
{
    char kind[9] = "";
    return sscanf(name, "log%" SCNu64 ".%8[a-z]", number, kind) == 2 && strcmp(kind, "tokulog") == 0;
}

/* A file that a checkpoint has made needless may be gone. */
static int sync_log_file(int folder, const char *name)
{
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT ? 0 : errno;
    int code = fsync(file) ? errno : 0;
    close(file);
    return code;
}

static int sync_from(kvdyno_database *database, DIR *folder)
{
    uint64_t number, newest = database->synced_log;
    int code = 0;
    for (struct dirent *entry; code == 0 && (entry = readdir(folder));) {
        if (!log_number(entry->d_name, &number) || number < database->synced_log)
            continue;
        code = sync_log_file(dirfd(folder), entry->d_name);
        newest = number > newest ? number : newest;
    }
    if (code == 0 && newest != database->synced_log)
        code = fsync(dirfd(folder)) ? errno : 0;
    database->synced_log = code == 0 ? newest : database->synced_log;
    return code;
}

/* TokuFT takes what a commit wrote for synced, so that its own log_flush would do nothing. */
static int sync_log_files(void *context)
{
    kvdyno_database *database = context;
    DIR *folder = opendir(database->path);
    if (!folder)
        return errno;
    pthread_mutex_lock(&database->sync_lock);
    int code = sync_from(database, folder);
    pthread_mutex_unlock(&database->sync_lock);
    closedir(folder);
    return code;
}

/* ---- open ---- */

static int open_environment(kvdyno_database *database, const kvdyno_config *config)
{
    const uint32_t flags = DB_CREATE | DB_PRIVATE | DB_THREAD | DB_RECOVER | DB_INIT_MPOOL | DB_INIT_LOCK |
                           DB_INIT_LOG | DB_INIT_TXN;
    int code = database->library.db_env_create(&database->env, 0);
    if (code != 0) {
        database->env = NULL;
        return code;
    }
    database->env->app_private = &database->message;
    database->env->set_errcall(database->env, keep_message);
    code = tokuft_set_environment(database->env, &database->library, config);
    if (code == 0)
        code = database->env->open(database->env, database->path, flags, 0666);
    return code ? code : tokuft_set_periods(database->env, config);
}

/* A table keeps what it was made with, and other wishes are passed over in silence. */
static int check_table(kvdyno_database *database, const kvdyno_config *config)
{
    const char *name;
    uint32_t node = 0, basement = 0, fanout = 0;
    TOKU_COMPRESSION_METHOD method = TOKU_NO_COMPRESSION;
    DB *db = database->db;
    int code = db->get_pagesize(db, &node);
    if (code == 0)
        code = db->get_readpagesize(db, &basement);
    if (code == 0)
        code = db->get_fanout(db, &fanout);
    if (code == 0)
        code = db->get_compression_method(db, &method);
    if (code != 0 || (node == option_integer(config, NODE_SIZE) && basement == option_integer(config, BASEMENT_SIZE) &&
                      fanout == option_integer(config, FANOUT) && (int)method == tokuft_method(config, &name)))
        return code;
    char text[160];
    snprintf(text, sizeof text, "the table there was made with nodes of %u, basement nodes of %u, fanout %u, method %d",
             node, basement, fanout, (int)method);
    engine_message_keep(&database->message, text);
    return EINVAL;
}

/* A handle that was never opened has to be closed before its environment too. */
static int open_table(kvdyno_database *database, const kvdyno_config *config)
{
    DB_ENV *env = database->env;
    DB_TXN *txn;
    int code = database->library.db_create(&database->db, env, 0);
    if (code != 0) {
        database->db = NULL;
        return code;
    }
    code = tokuft_set_table(database->db, config);
    if (code == 0)
        code = env->txn_begin(env, NULL, &txn, 0);
    if (code != 0)
        return code;
    code = database->db->open(database->db, txn, TABLE, NULL, DB_BTREE, config->create ? DB_CREATE : 0, 0666);
    if (code == 0)
        code = txn->commit(txn, 0);
    else
        txn->abort(txn);
    return code ? code : check_table(database, config);
}

static int open_all(kvdyno_database *database, const kvdyno_config *config)
{
    int code = open_environment(database, config);
    if (code == 0)
        code = open_table(database, config);
    if (code == 0 && config->durability == KVDYNO_DURABILITY_PERIODIC)
        code = periodic_syncer_start(&database->syncer, config->sync_period_ms, sync_log_files, database);
    return code;
}

/* Closes what is open; the first code that is no success. The environment makes a checkpoint, which syncs. */
static int close_handles(kvdyno_database *database)
{
    int first = periodic_syncer_stop(&database->syncer);
    int code = database->db ? database->db->close(database->db, 0) : 0;
    first = first ? first : code;
    code = database->env ? database->env->close(database->env, 0) : 0;
    database->db = NULL;
    database->env = NULL;
    return first ? first : code;
}

static int make_parts(kvdyno_database *database, const kvdyno_config *config)
{
    database->commit_flags = config->durability == KVDYNO_DURABILITY_NONE ? DB_TXN_NOSYNC : 0;
    database->unsynced = config->durability == KVDYNO_DURABILITY_PROCESS ||
                         config->durability == KVDYNO_DURABILITY_PERIODIC;
    engine_message_init(&database->message);
    pthread_mutex_init(&database->sync_lock, NULL);
    database->path = strdup(config->path);
    return database->path ? 0 : ENOMEM;
}

/* TokuFT makes what is not there. */
static kvdyno_status database_start(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    kvdyno_status status = tokuft_check(config, error);
    if (status == KVDYNO_OK)
        status = tokuft_library_open(config->library, &database->library, error);
    if (status != KVDYNO_OK)
        return status;
    if (!file_as_expected(config->path, MARK, config->create, error))
        return KVDYNO_ERROR;
    int code = make_parts(database, config);
    if (code == 0)
        code = open_all(database, config);
    return code ? tokuft_explain(database, "opening the environment and its table", code, error) : KVDYNO_OK;
}

static void database_dispose(kvdyno_database *database)
{
    close_handles(database);
    free(database->path);
    free(database);
}

#include "open.h"

kvdyno_status adapter_close(kvdyno_database *database, kvdyno_text *error)
{
    int code = close_handles(database);
    kvdyno_status status = code ? tokuft_explain(database, "close", code, error) : KVDYNO_OK;
    database_dispose(database);
    return status;
}

/* ---- housekeeping ---- */

kvdyno_status adapter_flush(kvdyno_database *database, kvdyno_text *error)
{
    int code = database->env->log_flush(database->env, NULL);
    if (code == 0)
        code = database->unsynced ? sync_log_files(database) : 0;
    return code ? tokuft_explain(database, "flush", code, error) : KVDYNO_OK;
}

static int go_on(void *extra, float progress)
{
    (void)extra;
    (void)progress;
    return 0;
}

/* Brings every message down to its leaf, drops the versions that nobody can see, and writes it all. */
kvdyno_status adapter_compact(kvdyno_database *database, kvdyno_text *error)
{
    DB *db = database->db;
    uint64_t loops = 0;
    int code = db->optimize(db);
    if (code == 0)
        code = db->hot_optimize(db, NULL, NULL, go_on, NULL, &loops);
    if (code == 0)
        code = database->env->txn_checkpoint(database->env, 0, 0, 0);
    return code ? tokuft_explain(database, "compact", code, error) : KVDYNO_OK;
}
