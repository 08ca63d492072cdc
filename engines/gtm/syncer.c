/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * syncer.c: durability level `periodic`. GT.M syncs its journal in the background only at epochs, of whole seconds, and
 * has no threads; so a process of GT.M's own stands beside a process that writes, and says VIEW "JNLFLUSH" as often as
 * requested. Meanwhile it reads from a pipe. At close it is told to end; if the pipe ends before, the writer has died,
 * and it kills itself: as the last process it would close the database for whole, and what the writer left half done
 * would never be taken back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "gtm_adapter.h"

/* It is a helper as long as it lives: whoever opens the database next waits for its end. */
bool gt_start_syncer(kvdyno_database *database, kvdyno_text *error)
{
    char interval[32];
    int ends[2], helper = gt_meet(database->folder, GT_HELPERS, false, error);
    if (helper < 0)
        return false;
    if (pipe2(ends, O_CLOEXEC)) {
        say(error, "cannot start the process that syncs the journal: %s", strerror(errno));
        close(helper);
        return false;
    }
    snprintf(interval, sizeof interval, "%" PRIu32, database->sync_period_ms ? database->sync_period_ms : 1);
    const char *sync[] = {"-run", "sync^kvdyno", interval, NULL};
    database->installation.held = helper;
    database->syncer = gt_start(&database->installation, database->folder, "mumps", sync, ends[0]);
    database->installation.held = -1;
    if (database->syncer < 0)
        say(error, "cannot start the process that syncs the journal: %s", strerror(errno));
    close(helper);
    close(ends[0]);
    if (database->syncer < 0)
        close(ends[1]);
    else
        database->syncer_end = ends[1];
    return database->syncer > 0;
}

bool gt_stop_syncer(kvdyno_database *database, kvdyno_text *error)
{
    if (database->syncer <= 0)
        return true;
    bool told = write(database->syncer_end, "end\n", 4) == 4;
    close(database->syncer_end);
    bool ended = gt_ended_well(database->syncer) && told;
    if (!ended)
        say(error, "the process that syncs the journal failed");
    return ended;
}
