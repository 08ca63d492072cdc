/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * process.h: work that one of the processes does for all that have a database open.
 */
#ifndef KVDYNO_PROCESS_H
#define KVDYNO_PROCESS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <unistd.h>

/* The right to do it: a lock on the folder. The kernel gives the lock on when the process that holds it dies. */
typedef struct process_turn {
    bool shared; /* false: there is one process, and it is its turn */
    int folder;
} process_turn;

/* Returns 0 or an errno. `turn` must be zeroed. */
static inline int process_turn_open(process_turn *turn, const char *path)
{
    turn->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    turn->shared = turn->folder >= 0;
    return turn->shared ? 0 : errno;
}

static inline bool process_turn_is_mine(const process_turn *turn)
{
    return !turn->shared || flock(turn->folder, LOCK_EX | LOCK_NB) == 0;
}

static inline void process_turn_close(process_turn *turn)
{
    if (turn->shared)
        close(turn->folder);
    turn->shared = false;
}

#endif
