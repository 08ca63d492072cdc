/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * database.c: opening, closing and housekeeping.
 *
 * Whoever finds a database unused mends and sets it, which GT.M does only for one that is nowhere open; others who come
 * meanwhile wait.
 */
#define _GNU_SOURCE
#include "gtm_adapter.h"

/* GT.M is in the process once. */
static bool entered;

/* ---- opening ---- */

/* GT.M parts file names at blanks, and cuts them at 255 bytes; the journal's grows by a date. */
static bool find_folder(const kvdyno_config *config, char folder[PATH_MAX], kvdyno_text *error)
{
    if (!realpath(config->path, folder))
        say(error, "%s: %s", config->path, strerror(errno));
    else if (strpbrk(folder, " \t\"$,=") || strlen(folder) > 200)
        say(error, "GT.M cannot work in %s: at most 200 bytes, none of them a blank, a comma, \", $ or =", folder);
    else
        return true;
    return false;
}

/* Makes a database, or does to one that nobody has open what has to be done. */
static bool prepare(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    const gt_installation *installation = &database->installation;
    const char *folder = database->folder;
    int helpers = gt_meet(folder, GT_HELPERS, true, error); /* of users who died */
    if (helpers < 0)
        return false;
    close(helpers);
    return gt_write_files(installation, folder, error) &&
           (config->create ? gt_create(installation, folder, config, error) : gt_mend(installation, folder, error)) &&
           gt_set(installation, folder, config, error);
}

/* GT.M's programs that prepare it keep the door shut, should this process die. */
static bool enter_first(kvdyno_database *database, const kvdyno_config *config, int openers, kvdyno_text *error)
{
    database->installation.held = openers;
    bool prepared = prepare(database, config, error);
    database->installation.held = -1;
    if (prepared)
        gt_let_others_join(database->users);
    return prepared;
}

static bool enter(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    bool first, done = false;
    int openers = gt_meet(database->folder, GT_OPENERS, true, error);
    if (openers < 0)
        return false;
    database->users = gt_join_users(database->folder, &first, error);
    if (database->users >= 0 && first)
        done = enter_first(database, config, openers, error);
    else if (database->users >= 0 && config->create)
        say(error, "another process has the database open");
    else
        done = database->users >= 0;
    close(openers);
    done = done && gt_enter(&database->library, &database->installation, database->folder, error);
    if (!done && database->users >= 0)
        close(database->users);
    return done;
}

static kvdyno_status open_installation(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    if (!gt_find(config->library, &database->installation, error) ||
        !gt_load(&database->installation, &database->library, error))
        return KVDYNO_NO_LIBRARY;
    gt_unload(&database->library);
    if (!file_as_expected(config->path, GT_DATABASE, config->create, error) ||
        !find_folder(config, database->folder, error))
        return KVDYNO_ERROR;
    if (!enter(database, config, error))
        return error && error->data ? gt_status_of(error->data) : KVDYNO_ERROR;
    entered = true;
    return KVDYNO_OK;
}

static kvdyno_status database_start(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    if (!gt_acceptable(config, error))
        return KVDYNO_UNSUPPORTED;
    if (entered) {
        say(error, "GT.M has one database open at a time in a process");
        return KVDYNO_ERROR;
    }
    database->thread = pthread_self();
    database->durability = config->durability;
    database->sync_period_ms = config->sync_period_ms;
    return open_installation(database, config, error);
}

static void database_dispose(kvdyno_database *database)
{
    free(database); /* nothing else is left open after a failure */
}

#include "open.h"

/* ---- closing ---- */

static bool sync_file(const char *folder, const char *name, kvdyno_text *error)
{
    char path[PATH_MAX];
    gt_path(path, folder, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT)
        return true;
    bool synced = file >= 0 && fsync(file) == 0;
    if (!synced)
        say(error, "cannot sync %s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    return synced;
}

/* GT.M's own end leaves the blocks in shared memory while others have the database open, and syncs no header. The first
 * failure is the one that is reported. */
kvdyno_status adapter_close(kvdyno_database *database, kvdyno_text *error)
{
    kvdyno_status status = database->wrote ? adapter_flush(database, error) : KVDYNO_OK;
    kvdyno_text *unreported = status == KVDYNO_OK ? error : NULL;
    bool closed = gt_stop_syncer(database, unreported);
    closed = gt_leave(&database->library, closed ? unreported : NULL) && closed;
    if (closed && database->wrote)
        closed = sync_file(database->folder, GT_DATABASE, unreported) &&
                 sync_file(database->folder, GT_JOURNAL, unreported);
    gt_give_back_entry();
    close(database->users);
    free(database);
    entered = false;
    return status == KVDYNO_OK && !closed ? KVDYNO_ERROR : status;
}

/* ---- housekeeping ---- */

static bool is_free(const kvdyno_database *database, kvdyno_text *error)
{
    if (!database->session || !database->session->transaction)
        return true;
    say(error, "a transaction is open");
    return false;
}

kvdyno_status adapter_flush(kvdyno_database *database, kvdyno_text *error)
{
    if (!is_free(database, error))
        return KVDYNO_ERROR;
    if (database->library.api.gtm_cip(&database->library.calls.flush))
        return gt_explain(&database->library, "VIEW \"FLUSH\"", error);
    return KVDYNO_OK;
}

/* MUPIP REORG works beside the database's users. It fails where there is no record to move. */
kvdyno_status adapter_compact(kvdyno_database *database, kvdyno_text *error)
{
    char said[GT_SAID];
    const char *reorg[] = {"reorg", "-region", "DEFAULT", "-truncate", NULL};
    int helper = gt_meet(database->folder, GT_HELPERS, false, error);
    if (helper < 0)
        return KVDYNO_ERROR;
    database->installation.held = helper;
    bool done = gt_run(&database->installation, database->folder, "mupip", reorg, NULL, said);
    database->installation.held = -1;
    close(helper);
    if (done || strstr(said, "NOSELECT"))
        return KVDYNO_OK;
    kvdyno_status status = gt_status_of(said);
    say(error, "mupip reorg: %s", gt_gist(said));
    return status;
}

/* "SET:12,KIL:0,...": counts since the database was made, of all processes. */
kvdyno_status adapter_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    char text[8192], *rest = text;
    gt_bytes all = {sizeof text - 1, text};
    if (!is_free(database, NULL) || database->library.api.gtm_cip(&database->library.calls.statistics, &all))
        return KVDYNO_ERROR;
    text[all.length] = '\0';
    for (char *one; (one = strsep(&rest, ","));) {
        char *value = strchr(one, ':');
        if (!value)
            continue;
        *value = '\0';
        emit(context, "GVSTAT", one, value + 1);
    }
    return KVDYNO_OK;
}
