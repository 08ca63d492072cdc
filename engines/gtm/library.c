/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * library.c: GT.M's library as a guest in the host's process.
 *
 * GT.M takes a process for its own: it sets nearly every signal, speaks through the environment and counts on the end
 * of the process to tidy up; after gtm_exit it cannot be started again. So the library is loaded for each open and
 * unloaded at close, and what it changed is put back: an unloaded library can be loaded anew. Of the signals it keeps
 * SIGALRM alone, by which it writes out changed blocks. gtm_jinit is gtm_init for a process with threads of its own.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <syslog.h>
#include <unistd.h>

#include "gtm_adapter.h"

bool gt_load(const gt_installation *installation, gt_library *library, kvdyno_text *error)
{
    static const library_source source = {"GT.M", NULL, NULL};
    gt_api *api = &library->api;
    const library_symbol symbols[] = {GT_FUNCTIONS(REQUIRED_SYMBOL) LAST_SYMBOL};
    library->handle = load_library(&source, installation->library, symbols, error);
    if (!library->handle)
        return false;
    if (!gt_is_complete(installation, error)) {
        gt_unload(library);
        return false;
    }
#define NAME(call, signature) library->calls.call = (gt_name){{sizeof #call - 1, (char *)#call}, NULL};
    GT_CALLS(NAME)
#undef NAME
    return true;
}

void gt_unload(gt_library *library)
{
    dlclose(library->handle);
    library->handle = NULL;
}

kvdyno_status gt_status_of(const char *message)
{
    static const char *const full[] = {"-GBLOFLOW", "-OUTOFSPACE", "-NOSPACEEXT", "-ENO28", "No space left on device"};
    for (size_t i = 0; i < sizeof full / sizeof *full; i++)
        if (strstr(message, full[i]))
            return KVDYNO_NO_SPACE;
    return KVDYNO_ERROR;
}

kvdyno_status gt_explain(const gt_library *library, const char *what, kvdyno_text *error)
{
    char message[400] = "";
    library->api.gtm_zstatus(message, sizeof message);
    say(error, "%s: %s", what, message);
    return gt_status_of(message);
}

kvdyno_status session_fail(kvdyno_session *session, const char *what)
{
    kvdyno_text error = {session->error, sizeof session->error};
    return gt_explain(session->library, what, &error);
}

/* ---- signals ---- */

static void keep_signals(gt_library *library)
{
    for (int number = 1; number < NSIG; number++)
        sigaction(number, NULL, &library->host[number]);
}

static void give_back_signals(gt_library *library, bool timer_too)
{
    for (int number = 1; number < NSIG; number++)
        if (timer_too || number != SIGALRM)
            sigaction(number, &library->host[number], NULL); /* fails for those that nobody can set */
}

/* ---- from start to end ---- */

/* GT.M's settings are in the environment while it starts and opens the database, and only then. */
static bool start(gt_library *library, const gt_installation *installation, const char *folder, kvdyno_text *error)
{
    char **host = environ, **guest = gt_environment(installation, folder, NULL);
    if (!guest) {
        say(error, "out of memory");
        return false;
    }
    environ = guest;
    bool failed = library->api.gtm_jinit() || library->api.gtm_cip(&library->calls.start);
    environ = host;
    free(guest);
    if (failed)
        gt_explain(library, "starting GT.M", error);
    return !failed;
}

bool gt_enter(gt_library *library, const gt_installation *installation, const char *folder, kvdyno_text *error)
{
    if (!gt_load(installation, library, error))
        return false;
    keep_signals(library);
    gt_heap_begin(library->handle);
    bool started = start(library, installation, folder, error);
    give_back_signals(library, false);
    if (!started)
        gt_leave(library, NULL);
    return started;
}

bool gt_leave(gt_library *library, kvdyno_text *error)
{
    bool failed = library->api.gtm_exit() != 0;
    if (failed)
        gt_explain(library, "ending GT.M", error);
    give_back_signals(library, true);
    gt_unload(library);
    gt_heap_end();
    mallopt(M_MMAP_MAX, 65536); /* GT.M sets it to 0; this is the C library's own */
    closelog();                 /* which would look into the unloaded library */
    return !failed;
}
