/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * upkeep.c: what GT.M's programs GDE and MUPIP do to a database that nobody has open.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

#include "gtm_adapter.h"

/* Nobody has the database open. All that a failure says goes to the log: the reason names its worst line only. */
static bool mupip(const gt_installation *installation, const char *folder, const char *const *arguments,
                  kvdyno_text *error)
{
    char said[GT_SAID], what[200] = "";
    for (int i = 0; arguments[i]; i++)
        snprintf(what + strlen(what), sizeof what - strlen(what), " %s", arguments[i]);
    if (gt_run_alone(installation, folder, "mupip", arguments, said))
        return true;
    fprintf(stderr, "mupip%s:\n%s\n", what, said);
    say(error, "mupip%s: %s", what, gt_gist(said));
    return false;
}

/* The global directory says what a new database is like. */
static bool write_global_directory(const gt_installation *installation, const char *folder, const kvdyno_config *config,
                                   kvdyno_text *error)
{
    const kvdyno_value *option = config->options;
    char commands[1000], input[PATH_MAX], said[GT_SAID];
    snprintf(commands, sizeof commands,
             "change -segment DEFAULT -file_name=\"$kvdyno_gtm/" GT_DATABASE "\" -access_method=%s -block_size=%" PRId64
             " -allocation=%" PRId64 " -extension_count=%" PRId64 "\n"
             "change -region DEFAULT -key_size=1019 -record_size=%d\n"
             "exit\n",
             option[ACCESS_METHOD].text, option[BLOCK_SIZE].integer, option[ALLOCATION].integer, gt_extension(config),
             GT_MAX_VALUE);
    if (!gt_write_file(folder, "kvdyno.gde", commands, error))
        return false;
    gt_path(input, folder, "kvdyno.gde");
    bool written = gt_run(installation, folder, "mumps", (const char *[]){"-run", "GDE", NULL}, input, said);
    gt_path(input, folder, "kvdyno.gld");
    if (written && access(input, F_OK) == 0)
        return true;
    say(error, "GDE makes no global directory: %s", gt_gist(said));
    return false;
}

bool gt_create(const gt_installation *installation, const char *folder, const kvdyno_config *config, kvdyno_text *error)
{
    return write_global_directory(installation, folder, config, error) &&
           mupip(installation, folder, (const char *[]){"create", NULL}, error);
}

/* MUPIP RUNDOWN writes out what processes left in shared memory. Where there is a journal it leaves that to recovery,
 * which also takes back what was only half done. */
bool gt_mend(const gt_installation *installation, const char *folder, kvdyno_text *error)
{
    char database[PATH_MAX], journal[PATH_MAX];
    gt_path(database, folder, GT_DATABASE);
    gt_path(journal, folder, GT_JOURNAL);
    if (mupip(installation, folder, (const char *[]){"rundown", "-file", database, NULL}, error))
        return true;
    if (access(journal, F_OK))
        return false;
    return mupip(installation, folder, (const char *[]){"journal", "-recover", "-backward", journal, NULL}, error);
}

/* All generations of the journal. No longer needed once the database is whole. */
static bool remove_journals(const char *folder, kvdyno_text *error)
{
    DIR *files = opendir(folder);
    bool removed = files != NULL;
    for (struct dirent *file; files && (file = readdir(files));) {
        char path[PATH_MAX];
        if (!strstr(file->d_name, GT_JOURNAL))
            continue;
        gt_path(path, folder, file->d_name);
        removed = removed && unlink(path) == 0;
    }
    if (files)
        closedir(files);
    if (!removed)
        say(error, "cannot remove old journals in %s: %s", folder, strerror(errno));
    return removed;
}

/* Each start has a journal of its own: switched off, journaling is begun anew. */
bool gt_set(const gt_installation *installation, const char *folder, const kvdyno_config *config, kvdyno_text *error)
{
    char database[PATH_MAX], buffers[64], journal[PATH_MAX + 200];
    gt_path(database, folder, GT_DATABASE);
    snprintf(buffers, sizeof buffers, "-global_buffers=%" PRIu64, gt_global_buffers(config));
    const char *off[] = {"set", "-file", database, "-journal=disable", gt_is_mapped(config) ? NULL : buffers, NULL};
    if (!mupip(installation, folder, off, error) || !remove_journals(folder, error))
        return false;
    if (!gt_is_journaled(config))
        return true;
    snprintf(journal, sizeof journal,
             "-journal=enable,on,before_images,file=%s/" GT_JOURNAL ",buffer_size=%" PRIu64 ",epoch_interval=%" PRId64
             ",%ssync_io",
             folder, gt_journal_buffer(config), config->options[EPOCH_INTERVAL].integer,
             config->options[SYNC_IO].integer ? "" : "no");
    return mupip(installation, folder, (const char *[]){"set", "-file", database, journal, NULL}, error);
}

/* ---- giving back what is outside the folder ---- */

/* MUPIP FTOK lists what the file has: "kvdyno.dat :: SEMAPHORE [...] :: SEGMENT [...] :: KEY [...] :: ...". Numbers of
 * an earlier start of the machine may be somebody else's now: then there is no semaphore of the file's own key. */
static bool remove_shared(const char *said)
{
    int semaphore, segment, key;
    const char *numbers = strstr(said, GT_DATABASE " :: ");
    if (!numbers || sscanf(numbers + sizeof GT_DATABASE - 1, " :: %d [%*[^]]] :: %d [%*[^]]] :: %d", &semaphore,
                           &segment, &key) != 3)
        return false;
    int own = semget((key_t)key, 0, 0);
    if (own < 0)
        return errno == ENOENT;
    return (segment < 0 || shmctl(segment, IPC_RMID, NULL) == 0) &&
           (semaphore < 0 || semctl(semaphore, 0, IPC_RMID) == 0) && semctl(own, 0, IPC_RMID) == 0;
}

/* Where GT.M could not write all that it had when it ended, it keeps the semaphores of its database, because the end of
 * the process would give them back; until then nobody could open the database, nor mend it. GT.M's sets have three
 * semaphores: who is at the entrance, how many are in, and a number that says that they are GT.M's. */
void gt_give_back_entry(void)
{
    enum { ENTRANCE, INSIDE, MARK, GT_SEMAPHORES, GT_NUMBER = 43 };
    struct seminfo all;
    int last = semctl(0, 0, SEM_INFO, &all);
    for (int index = 0; index <= last; index++) {
        struct semid_ds facts;
        int set = semctl(index, 0, SEM_STAT, &facts);
        if (set < 0 || facts.sem_nsems != GT_SEMAPHORES || semctl(set, MARK, GETVAL) != GT_NUMBER)
            continue;
        for (int which = ENTRANCE; which <= INSIDE; which++) {
            struct sembuf back = {(unsigned short)which, -1, SEM_UNDO | IPC_NOWAIT};
            if (semctl(set, which, GETVAL) < 1 || semctl(set, which, GETPID) != getpid() || semop(set, &back, 1))
                break;
        }
    }
}

/* MUPIP RUNDOWN writes first what the shared memory holds, and keeps that if the storage is full. */
static bool rundown(const gt_installation *installation, const char *folder, const char *database, kvdyno_text *error)
{
    char said[GT_SAID];
    const char *flush[] = {"rundown", "-file", database, "-override", NULL}, *ftok[] = {"ftok", database, NULL};
    return mupip(installation, folder, flush, error) ||
           (gt_run(installation, folder, "mupip", ftok, NULL, said) && remove_shared(said));
}

kvdyno_status adapter_destroy(const kvdyno_config *config, kvdyno_text *error)
{
    gt_installation installation;
    char database[PATH_MAX];
    gt_path(database, config->path, GT_DATABASE);
    if (access(database, F_OK))
        return KVDYNO_OK;
    if (!gt_find(config->library, &installation, error))
        return KVDYNO_NO_LIBRARY;
    /* Helpers of a user who died may be about to end. */
    int openers = gt_meet(config->path, GT_OPENERS, true, error);
    int helpers = openers < 0 ? -1 : gt_meet(config->path, GT_HELPERS, true, error);
    bool gone = helpers >= 0 && rundown(&installation, config->path, database, error);
    if (helpers >= 0)
        close(helpers);
    if (openers >= 0)
        close(openers);
    return gone ? KVDYNO_OK : KVDYNO_ERROR;
}
