/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * lock.c: who is at a database. A database may be open in several processes, but what mends and sets it wants it for
 * itself. Each byte of a file stands for one kind of company; its lock belongs to an open file, and so is passed on to
 * programs that are started with it, and ends with the last process that has it, however that ends.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "gtm_adapter.h"

static bool lock(int file, int company, short type, bool wait)
{
    struct flock part = {.l_type = type, .l_whence = SEEK_SET, .l_start = company, .l_len = 1};
    int failed;
    while ((failed = fcntl(file, wait ? F_OFD_SETLKW : F_OFD_SETLK, &part)) && errno == EINTR)
        ;
    return !failed;
}

int gt_meet(const char *folder, int company, bool alone, kvdyno_text *error)
{
    char path[PATH_MAX];
    gt_path(path, folder, "kvdyno.lock");
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0 && lock(file, company, alone ? F_WRLCK : F_RDLCK, true))
        return file;
    say(error, "cannot lock %s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    return -1;
}

int gt_join_users(const char *folder, bool *first, kvdyno_text *error)
{
    char path[PATH_MAX];
    gt_path(path, folder, "kvdyno.lock");
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    *first = file >= 0 && lock(file, GT_USERS, F_WRLCK, false);
    if (file >= 0 && (*first || lock(file, GT_USERS, F_RDLCK, true)))
        return file;
    say(error, "cannot lock %s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    return -1;
}

void gt_let_others_join(int users)
{
    lock(users, GT_USERS, F_RDLCK, false);
}
