/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * handles.h: what Berkeley DB and TokuFT have in common, which took over its interface: environments, tables and
 * transactions as structs full of functions. Each adapter includes the db.h of its own library.
 */
#ifndef BDB_HANDLES_H
#define BDB_HANDLES_H

#include <errno.h>
#include <stdint.h>
#include <db.h>

#include "adapter.h"

/* The functions that are called by name; all others are members of the handles that the first two create. */
/* clang-format off */
#define HANDLE_FUNCTIONS(X)                                                                                            \
    X(int, db_env_create, (DB_ENV **env, uint32_t flags)) X(int, db_create, (DB **db, DB_ENV *env, uint32_t flags))    \
    X(const char *, db_version, (int *major, int *minor, int *patch)) X(const char *, db_strerror, (int error))
/* clang-format on */

static const library_release built_release = {DB_VERSION_MAJOR, DB_VERSION_MINOR, DB_VERSION_PATCH};

/* The library's error callback; `app_private` has the memory for its last message. */
static inline void keep_message(const DB_ENV *env, const char *prefix, const char *message)
{
    (void)prefix;
    engine_message_keep(env->app_private, message);
}

/* A DBT that the library reads from. EINVAL if it cannot express the size. */
static inline int read_from(DBT *item, kvdyno_bytes bytes)
{
    if (bytes.size > UINT32_MAX)
        return EINVAL;
    *item = (DBT){.data = (void *)bytes.data, .size = (uint32_t)bytes.size};
    return 0;
}

static inline bool lost_lock(int code)
{
    return code == DB_LOCK_DEADLOCK || code == DB_LOCK_NOTGRANTED;
}

/* Losing a lock this often in a row for one operation means that something else is wrong. */
#define MOST_TRIES 10000u
#define NOT_FOUND DB_NOTFOUND
/* A batch in the caller's transaction is nested in it, so that failing halfway leaves that whole. */
#define NESTED true
typedef DB_TXN *engine_txn;

/* The status of a finished call: OK, MISS, or the error, kept for session_error. A lost lock ends a transaction. */
kvdyno_status session_answer(kvdyno_session *session, const char *what, int code);

#endif
