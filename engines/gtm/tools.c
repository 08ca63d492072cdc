/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * tools.c: running GT.M's programs, which make, set and mend databases.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtm_adapter.h"

#define MOST_ARGUMENTS 8

/* A process of GT.M's. */
typedef struct gt_task {
    const gt_installation *installation;
    const char *folder, *program;
    const char *const *arguments;
    const char *preload; /* or NULL */
} gt_task;

/* Starts it with these standard streams. */
static pid_t start(const gt_task *task, int input, int output)
{
    char path[PATH_MAX];
    gt_path(path, task->installation->dist, task->program);
    char *all[MOST_ARGUMENTS + 2] = {path};
    for (int i = 0; task->arguments[i] && i < MOST_ARGUMENTS; i++)
        all[i + 1] = (char *)task->arguments[i];
    char **environment = gt_environment(task->installation, task->folder, task->preload);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, output, 2);
    if (task->installation->held >= 0)
        posix_spawn_file_actions_adddup2(&actions, task->installation->held, 3);
    pid_t child = -1;
    int failed = environment ? posix_spawn(&child, path, &actions, NULL, all, environment) : ENOMEM;
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    errno = failed;
    return failed ? -1 : child;
}

pid_t gt_start(const gt_installation *installation, const char *folder, const char *program,
               const char *const *arguments, int input)
{
    const gt_task task = {installation, folder, program, arguments, NULL};
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t child = nowhere < 0 ? -1 : start(&task, input, nowhere);
    int failed = errno;
    close(nowhere);
    errno = failed;
    return child;
}

const char *gt_gist(char *said)
{
    char *best = NULL, *rest = said;
    int best_rank = -1;
    for (char *line; (line = strsep(&rest, "\n"));) {
        int rank = strstr(line, "-E-") || strstr(line, "-F-") ? 2 : strstr(line, "-W-") ? 1 : 0;
        if (*line && rank > best_rank) {
            best = line;
            best_rank = rank;
        }
    }
    return best ? best : "it says nothing";
}

static void listen_to(int pipe, char *said, size_t size)
{
    char beyond[1024];
    size_t end = 0;
    for (;;) {
        bool full = end == size - 1;
        ssize_t got = full ? read(pipe, beyond, sizeof beyond) : read(pipe, said + end, size - 1 - end);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        end += full ? 0 : (size_t)got;
    }
    said[end] = '\0';
}

bool gt_ended_well(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool run(const gt_task *task, const char *input, char said[GT_SAID])
{
    int ends[2], in = open(input ? input : "/dev/null", O_RDONLY | O_CLOEXEC);
    if (in < 0 || pipe2(ends, O_CLOEXEC)) {
        snprintf(said, GT_SAID, "%s", strerror(errno));
        if (in >= 0)
            close(in);
        return false;
    }
    pid_t child = start(task, in, ends[1]);
    int failed = errno;
    close(in);
    close(ends[1]);
    if (child > 0)
        listen_to(ends[0], said, GT_SAID);
    else
        snprintf(said, GT_SAID, "cannot start %s: %s", task->program, strerror(failed));
    close(ends[0]);
    return child > 0 && gt_ended_well(child);
}

bool gt_run(const gt_installation *installation, const char *folder, const char *program, const char *const *arguments,
            const char *input, char said[GT_SAID])
{
    return run(&(gt_task){installation, folder, program, arguments, NULL}, input, said);
}

/* ---- without waiting ---- */

bool gt_own_file(char path[PATH_MAX])
{
    Dl_info adapter;
    return dladdr((void *)gt_own_file, &adapter) && realpath(adapter.dli_fname, path);
}

/* A process that is killed while it writes the journal leaves a latch behind, for which GT.M's programs wait a minute,
 * in entries of 10 ms and thousands of yields, before they look whether there is such a process at all. Beside others
 * at work a yield lasts as long as their time slices. Here it is known that there is none. These replace the C
 * library's functions in a program that preloads this adapter, and nowhere else. */
__attribute__((visibility("default"))) int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request,
                                                           struct timespec *rest)
{
    (void)clock, (void)flags, (void)request, (void)rest;
    return 0;
}

__attribute__((visibility("default"))) int sched_yield(void)
{
    return 0;
}

bool gt_run_alone(const gt_installation *installation, const char *folder, const char *program,
                  const char *const *arguments, char said[GT_SAID])
{
    char adapter[PATH_MAX];
    bool found = gt_own_file(adapter);
    return run(&(gt_task){installation, folder, program, arguments, found ? adapter : NULL}, NULL, said);
}
