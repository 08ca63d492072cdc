/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Finding libwiredtiger, making sure that its handles are laid out as the header says that this adapter was built with,
 * and listening to what it has to say.
 */
#include "wt.h"

static const library_source source = {"WiredTiger", WT_ORIGIN, (const char *const[]){WT_LIBRARIES, NULL}};

/* A library that proved good stays loaded: once in its life WiredTiger spends 0.7 s on finding out how fast the CPU's
 * clock ticks, and would do so at each open if it had been unloaded in between. */
kvdyno_status wt_library_open(const char *chosen, wt_library *api, kvdyno_text *error)
{
    const library_symbol symbols[] = {WT_FUNCTIONS(REQUIRED_SYMBOL) LAST_SYMBOL};
    const library_release built = {WIREDTIGER_VERSION_MAJOR, WIREDTIGER_VERSION_MINOR, WIREDTIGER_VERSION_PATCH};
    library_release is;
    api->handle = load_library(&source, chosen, symbols, error);
    if (!api->handle)
        return KVDYNO_NO_LIBRARY;
    api->wiredtiger_version(&is.major, &is.minor, &is.patch);
    if (same_release(source.title, is, built, error))
        return KVDYNO_OK;
    dlclose(api->handle);
    return KVDYNO_NO_LIBRARY;
}

/* ---- listening ---- */

bool wt_panicked(const wt_listener *listener)
{
    return __atomic_load_n(&listener->panicked, __ATOMIC_RELAXED);
}

static int hear_error(WT_EVENT_HANDLER *handler, WT_SESSION *session, int code, const char *text)
{
    wt_listener *listener = (wt_listener *)handler;
    (void)session;
    if (code == ENOSPC)
        __atomic_store_n(&listener->no_space, true, __ATOMIC_RELAXED);
    if (code == WT_PANIC)
        __atomic_store_n(&listener->panicked, true, __ATOMIC_RELAXED);
    else if (!wt_panicked(listener))
        engine_message_keep(&listener->cause, text);
    engine_message_keep(&listener->message, text);
    return 0;
}

static int hear_message(WT_EVENT_HANDLER *handler, WT_SESSION *session, const char *text)
{
    wt_listener *listener = (wt_listener *)handler;
    (void)session;
    engine_message_keep(&listener->message, text);
    return 0;
}

static int hear_progress(WT_EVENT_HANDLER *handler, WT_SESSION *session, const char *operation, uint64_t progress)
{
    (void)handler, (void)session, (void)operation, (void)progress;
    return 0;
}

void wt_listener_init(wt_listener *listener)
{
    memset(listener, 0, sizeof *listener);
    listener->handler.handle_error = hear_error;
    listener->handler.handle_message = hear_message;
    listener->handler.handle_progress = hear_progress;
    engine_message_init(&listener->message);
    engine_message_init(&listener->cause);
}

static kvdyno_status status_of(int code, const wt_listener *listener)
{
    if (code == WT_ROLLBACK)
        return KVDYNO_CONFLICT;
    if (code == ENOSPC)
        return KVDYNO_NO_SPACE;
    bool no_space = __atomic_load_n(&listener->no_space, __ATOMIC_RELAXED);
    return code == WT_PANIC && no_space ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
}

kvdyno_status wt_explain(const wt_library *library, wt_listener *listener, const char *what, int code,
                         kvdyno_text *error)
{
    char last[sizeof listener->message.text];
    engine_message_take(&listener->message, last, sizeof last);
    if (wt_panicked(listener)) {
        engine_message_take(&listener->cause, last, sizeof last);
        engine_message_keep(&listener->cause, last);
    }
    say(error, "%s: %s%s%s", what, library->wiredtiger_strerror(code), *last ? ": " : "", last);
    return status_of(code, listener);
}
