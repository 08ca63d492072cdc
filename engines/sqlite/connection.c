/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * connection.c: a connection and its pragmas; what SQLite's errors amount to.
 */
#include <unistd.h>

#include "sqlite_adapter.h"

/* ---- errors ---- */

kvdyno_status sqlite_explain_with(const sqlite_api *api, const char *words, int cause, const char *what, int code,
                                  kvdyno_text *error)
{
    bool full = (code & 0xff) == SQLITE_FULL || cause == ENOSPC || cause == EDQUOT;
    say(error, "%s: %s (%s)%s%s", what, words, api->errstr(code), cause ? ": " : "", cause ? strerror(cause) : "");
    return full ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
}

kvdyno_status sqlite_explain(const sqlite_api *api, sqlite3 *db, const char *what, int code, kvdyno_text *error)
{
    int cause = db && code != SQLITE_OK ? api->system_errno(db) : 0;
    return sqlite_explain_with(api, db ? api->errmsg(db) : api->errstr(code), cause, what, code, error);
}

/* ---- statements that are run once ---- */

int sqlite_run(const sqlite_api *api, sqlite3 *db, const char *format, ...)
{
    char sql[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sql, sizeof sql, format, arguments);
    va_end(arguments);
    return api->exec(db, sql, NULL, NULL, NULL);
}

typedef struct answer {
    char *text;
    size_t capacity;
} answer;

static int keep_answer(void *context, int columns, char **values, char **names)
{
    (void)columns;
    (void)names;
    answer *kept = context;
    snprintf(kept->text, kept->capacity, "%s", values[0] ? values[0] : "");
    return 0;
}

int sqlite_ask(const sqlite_api *api, sqlite3 *db, const char *sql, char *text, size_t capacity)
{
    answer kept = {text, capacity};
    *text = '\0';
    return api->exec(db, sql, keep_answer, &kept, NULL);
}

/* ---- waiting ---- */

static int sleep_and_retry(void *context, int tries)
{
    (void)tries;
    usleep((useconds_t) * (const int *)context);
    return 1;
}

int sqlite_wait_for_ever(const kvdyno_database *database, sqlite3 *db)
{
    const sqlite_plan *plan = &database->plan;
    if (plan->busy_sleep_us)
        return database->api.busy_handler(db, sleep_and_retry, (void *)&plan->busy_sleep_us);
    return database->api.busy_timeout(db, INT_MAX);
}

/* ---- a connection ---- */

/* The page size comes first, for it holds only until there is a page; so do pragmas of the user's such as auto_vacuum,
 * before the journal's mode writes one. */
static int set_pragmas(const kvdyno_database *database, sqlite3 *db)
{
    const sqlite_api *api = &database->api;
    const sqlite_plan *plan = &database->plan;
    int code = sqlite_run(api, db, "PRAGMA page_size=%" PRId64, plan->page_size);
    if (code == SQLITE_OK)
        code = sqlite_set_pragmas(api, db, plan->pragmas);
    if (code == SQLITE_OK)
        code = sqlite_run(api, db,
                          "PRAGMA journal_mode=%s; PRAGMA synchronous=%s; PRAGMA cache_size=-%" PRId64
                          "; PRAGMA mmap_size=%" PRId64 "; PRAGMA wal_autocheckpoint=%d",
                          plan->journal_mode, plan->synchronous, plan->cache_kib, plan->mmap_size,
                          plan->wal_autocheckpoint);
    if (code == SQLITE_OK && plan->secure_delete)
        code = sqlite_run(api, db, "PRAGMA secure_delete=%s", plan->secure_delete);
    return code;
}

int sqlite_connect(kvdyno_database *database, int flags, sqlite3 **db)
{
    const sqlite_api *api = &database->api;
    *db = NULL;
    int code = api->open_v2(database->file, db, flags | SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = sqlite_count_written(database, *db);
    if (code == SQLITE_OK)
        code = api->extended_result_codes(*db, 1);
    if (code == SQLITE_OK)
        code = sqlite_wait_for_ever(database, *db);
    return code == SQLITE_OK ? set_pragmas(database, *db) : code;
}
