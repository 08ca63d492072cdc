/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * pragmas.c: pragmas of the user's. SQLite passes over a pragma that it does not know in silence, so each is looked for
 * in its own list first.
 */
#include "sqlite_adapter.h"
#include "words.h"

static const taken_word taken[] = {
    {"cache_size", "the lab's cache"},
    {"default_cache_size", "the lab's cache"},
    {"soft_heap_limit", "the lab's cache"},
    {"hard_heap_limit", "the lab's cache"},
    {"temp_store_directory", "the lab's folder"},
    {"data_store_directory", "the lab's folder"},
    {"synchronous", "the lab's durability"},
    {"journal_mode", "option journal_mode"},
    {"page_size", "option page_size"},
    {"mmap_size", "option mmap_size"},
    {"wal_autocheckpoint", "option wal_autocheckpoint"},
    {"secure_delete", "option secure_delete"},
    {"busy_timeout", "option busy_sleep_us"},
    {"locking_mode", "the adapter, which relies on it,"},
    {"query_only", "the adapter, which relies on it,"},
    {NULL, NULL},
};

#define NAME_MOST 64

static own_words words_of(const char *pragmas)
{
    return (own_words){.option = "pragmas", .text = pragmas, .separators = ";", .flat = true};
}

/* Its name without that of a database before it, `main.auto_vacuum`. */
static own_word without_schema(own_word word)
{
    const char *dot = memchr(word.name, '.', word.length);
    size_t before = dot ? (size_t)(dot - word.name) + 1 : 0;
    return (own_word){.name = word.name + before, .length = word.length - before};
}

/* What a pragma of this name answers on a connection. */
static int ask(const sqlite_api *api, sqlite3 *db, const char *name, size_t length, char *answer, size_t capacity)
{
    char sql[NAME_MOST + 16];
    snprintf(sql, sizeof sql, "PRAGMA %.*s", (int)length, name);
    return sqlite_ask(api, db, sql, answer, capacity);
}

static bool knows(const sqlite_api *api, sqlite3 *db, const char *name, size_t length)
{
    char sql[NAME_MOST + 80], answer[8];
    if (length > NAME_MOST || memchr(name, '\'', length))
        return false;
    snprintf(sql, sizeof sql, "SELECT 1 FROM pragma_pragma_list WHERE name = '%.*s' COLLATE NOCASE", (int)length, name);
    return sqlite_ask(api, db, sql, answer, sizeof answer) == SQLITE_OK && answer[0];
}

int sqlite_set_pragmas(const sqlite_api *api, sqlite3 *db, const char *pragmas)
{
    int code = SQLITE_OK;
    for (const char *at = pragmas; *at && code == SQLITE_OK; at += *at == ';') {
        size_t length = strcspn(at, ";");
        if (strspn(at, " ") < length)
            code = sqlite_run(api, db, "PRAGMA %.*s", (int)length, at);
        at += length;
    }
    return code;
}

/* On a database in memory. */
static bool are_known(const sqlite_api *api, sqlite3 *db, const char *pragmas, kvdyno_text *error)
{
    const own_words words = words_of(pragmas);
    if (!knows(api, db, "pragma_list", strlen("pragma_list"))) {
        say(error, "pragmas: this version of SQLite does not list those that it knows (PRAGMA pragma_list)");
        return false;
    }
    for (own_word word = {0}; next_word(&words, &word);) {
        own_word pragma = without_schema(word);
        if (knows(api, db, pragma.name, pragma.length))
            continue;
        say(error, "pragmas: this version of SQLite has no pragma %.*s, at character %zu (PRAGMA pragma_list)",
            (int)word.length, word.name, (size_t)(word.name - pragmas) + 1);
        return false;
    }
    int code = sqlite_set_pragmas(api, db, pragmas);
    if (code != SQLITE_OK)
        sqlite_explain(api, db, "pragmas", code, error);
    return code == SQLITE_OK;
}

bool sqlite_takes_pragmas(const sqlite_api *api, const char *pragmas, kvdyno_text *error)
{
    const own_words words = words_of(pragmas);
    sqlite3 *db = NULL;
    if (!pragmas[0])
        return true;
    if (refuses_words(&words, taken, error))
        return false;
    int code = api->open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK)
        sqlite_explain(api, db, "pragmas", code, error);
    bool known = code == SQLITE_OK && are_known(api, db, pragmas, error);
    api->close(db);
    return known;
}

int sqlite_say_pragmas(const sqlite_api *api, sqlite3 *db, const char *pragmas, kvdyno_emit emit, void *context)
{
    const own_words words = words_of(pragmas);
    for (own_word word = {0}; next_word(&words, &word);) {
        char pragma[NAME_MOST + 1], value[256];
        int code = ask(api, db, word.name, word.length, value, sizeof value);
        if (code != SQLITE_OK)
            return code;
        snprintf(pragma, sizeof pragma, "%.*s", (int)word.length, word.name);
        emit(context, "pragma", pragma, value);
    }
    return SQLITE_OK;
}
