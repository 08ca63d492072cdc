/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * database.c: opening, closing and what is asked of a database as a whole.
 *
 * A database may be open in several processes. Whoever finds it unused mends and sets it, which GT.M does only for a
 * database that is nowhere open, while the others wait. Two files that users and their syncers keep locked tell whether
 * it is: a lock ends with its process, however that ends.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "gtm_adapter.h"

/* GT.M is in the process once. */
static bool entered;

/* ---- who uses it ---- */

static int lock_file(const char *folder, const char *name, kvdyno_text *error)
{
    char path[PATH_MAX];
    gt_path(path, folder, name);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        say(error, "cannot open %s: %s", path, strerror(errno));
    return file;
}

static void unlock(kvdyno_database *database)
{
    close(database->users);
    close(database->syncers);
}

static bool lock(int file, int how, kvdyno_text *error)
{
    int failed;
    while ((failed = flock(file, how)) && errno == EINTR)
        ;
    if (failed)
        say(error, "cannot lock the database: %s", strerror(errno));
    return !failed;
}

/* Makes a database, or what has to be done to one that nobody has open. A syncer whose user is gone is about to go. */
static bool prepare(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    const gt_place *place = &database->place;
    const char *folder = database->folder;
    return lock(database->syncers, LOCK_EX, error) && gt_write_files(place, folder, error) &&
           (config->create ? gt_create(place, folder, config, error) : gt_mend(place, folder, error)) &&
           gt_set(place, folder, config, error) && lock(database->syncers, LOCK_UN, error);
}

static bool join_users(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    bool first = flock(database->users, LOCK_EX | LOCK_NB) == 0;
    if (!first && config->create) {
        say(error, "another process has the database open");
        return false;
    }
    return (!first || prepare(database, config, error)) && lock(database->users, LOCK_SH, error);
}

/* ---- opening ---- */

static bool files_as_expected(const kvdyno_config *config, kvdyno_text *error)
{
    char path[PATH_MAX];
    gt_path(path, config->path, GT_DATABASE);
    bool there = access(path, F_OK) == 0, expected = there == !config->create;
    if (!expected)
        say(error, "%s %s", path, there ? "is there already" : "is not there");
    return expected;
}

/* GT.M parts file names at blanks, and cuts them at 255 bytes; the journal's grows by a date. */
static bool find_folder(const kvdyno_config *config, char folder[PATH_MAX], kvdyno_text *error)
{
    if (!realpath(config->path, folder))
        say(error, "%s: %s", config->path, strerror(errno));
    else if (strpbrk(folder, " \t\"$,=") || strlen(folder) > 200)
        say(error, "GT.M cannot work in %s: it takes at most 200 bytes, none of them a blank, \", $, comma or =", folder);
    else
        return true;
    return false;
}

static kvdyno_status open_locked(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    if (!join_users(database, config, error) ||
        !gt_enter(&database->library, &database->place, database->folder, error)) {
        unlock(database);
        return gt_status_of(error && error->data ? error->data : "");
    }
    entered = true;
    return KVDYNO_OK;
}

static kvdyno_status open_place(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    if (!gt_find(config->library, &database->place, error) || !gt_load(&database->place, &database->library, error))
        return KVDYNO_NO_LIBRARY;
    gt_unload(&database->library);
    if (!files_as_expected(config, error) || !find_folder(config, database->folder, error))
        return KVDYNO_ERROR;
    database->users = lock_file(database->folder, "kvdyno.users", error);
    if (database->users < 0)
        return KVDYNO_ERROR;
    database->syncers = lock_file(database->folder, "kvdyno.syncers", error);
    if (database->syncers < 0) {
        close(database->users);
        return KVDYNO_ERROR;
    }
    return open_locked(database, config, error);
}

kvdyno_status gt_open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error)
{
    if (!gt_acceptable(config, error))
        return KVDYNO_UNSUPPORTED;
    if (entered) {
        say(error, "GT.M has one database open at a time in a process");
        return KVDYNO_ERROR;
    }
    kvdyno_database *database = calloc(1, sizeof *database);
    if (!database) {
        say(error, "out of memory");
        return KVDYNO_ERROR;
    }
    database->thread = pthread_self();
    database->durability = config->durability;
    database->interval_ms = config->interval_ms;
    kvdyno_status status = open_place(database, config, error);
    if (status == KVDYNO_OK)
        *opened = database;
    else
        free(database);
    return status;
}

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

/* GT.M's own end leaves the blocks in shared memory while others have the database open, and syncs no header. */
kvdyno_status gt_close(kvdyno_database *database, kvdyno_text *error)
{
    kvdyno_status status = database->wrote ? gt_flush(database, error) : KVDYNO_OK;
    bool ended = gt_leave(&database->library, status == KVDYNO_OK ? error : NULL);
    bool stopped = gt_stop_syncer(database);
    if (!stopped && ended && status == KVDYNO_OK)
        say(error, "the process that syncs the journal failed");
    if (status == KVDYNO_OK && ended && stopped && database->wrote)
        ended = sync_file(database->folder, GT_DATABASE, error) && sync_file(database->folder, GT_JOURNAL, error);
    unlock(database);
    entered = false;
    free(database);
    return status != KVDYNO_OK ? status : ended && stopped ? KVDYNO_OK : KVDYNO_ERROR;
}

/* ---- housekeeping ---- */

static bool is_free(const kvdyno_database *database, kvdyno_text *error)
{
    if (!database->session || !database->session->begun)
        return true;
    say(error, "a transaction is open");
    return false;
}

kvdyno_status gt_flush(kvdyno_database *database, kvdyno_text *error)
{
    if (!is_free(database, error))
        return KVDYNO_ERROR;
    if (database->library.api.gtm_cip(&database->library.calls.flush))
        return gt_explain(&database->library, "VIEW \"FLUSH\"", error);
    return KVDYNO_OK;
}

/* MUPIP REORG works beside the database's users. It fails where there is no record to move. */
kvdyno_status gt_compact(kvdyno_database *database, kvdyno_text *error)
{
    char said[GT_SAID];
    const char *reorg[] = {"reorg", "-region", "DEFAULT", "-truncate", NULL};
    if (gt_run(&database->place, database->folder, "mupip", reorg, NULL, said) || strstr(said, "NOSELECT"))
        return KVDYNO_OK;
    kvdyno_status status = gt_status_of(said);
    say(error, "mupip reorg: %s", gt_gist(said));
    return status;
}

/* "SET:12,KIL:0,...": counts since the database was made, of all processes. */
kvdyno_status gt_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
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
