/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * library.c: finding libsqlite3, and the one setting that it has for the whole process.
 */
#include "sqlite_adapter.h"

static const library_source source = {"SQLite 3.20 or newer", "Debian package libsqlite3-0",
                                      (const char *const[]){"libsqlite3.so.0", "libsqlite3.so", NULL}};

bool sqlite_load(const char *chosen, sqlite_api *api, kvdyno_text *error)
{
    const library_symbol symbols[] = {
#define SYMBOL(type, name, parameters) {(void **)&api->name, "sqlite3_" #name, false},
        SQLITE_FUNCTIONS(SYMBOL)
#undef SYMBOL
            {(void **)&api->temp_directory, "sqlite3_temp_directory", true},
        LAST_SYMBOL};
    if (!load_library(&source, chosen, symbols, error))
        return false;
    if (!api->threadsafe()) {
        say(error, "the library was built for one thread only (SQLITE_THREADSAFE=0)");
        return false;
    }
    return true;
}

/* The users of the library in this process, and how it counts memory. */
static struct {
    pthread_mutex_t lock;
    int (*config)(int, ...); /* of the library in use, by which it is known */
    unsigned users;
    bool count_memory;
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The setting can be changed only while the library is shut down. */
static int configure(const sqlite_api *api, bool count_memory)
{
    int code = api->shutdown();
    if (code == SQLITE_OK)
        code = api->config(SQLITE_CONFIG_MEMSTATUS, (int)count_memory);
    return code == SQLITE_OK ? api->initialize() : code;
}

bool sqlite_enter(const sqlite_api *api, bool count_memory, kvdyno_text *error)
{
    pthread_mutex_lock(&library.lock);
    bool fits = true;
    if (library.users && (library.config != api->config || library.count_memory != count_memory)) {
        say(error, "count_memory: SQLite is in use in this process with another library or another setting");
        fits = false;
    } else if (!library.users) {
        int code = configure(api, count_memory);
        fits = code == SQLITE_OK;
        if (!fits)
            say(error, "sqlite3_config: %s", api->errstr(code));
        library.config = api->config;
        library.count_memory = count_memory;
    }
    library.users += fits;
    pthread_mutex_unlock(&library.lock);
    return fits;
}

void sqlite_leave(const sqlite_api *api)
{
    pthread_mutex_lock(&library.lock);
    if (--library.users == 0)
        api->shutdown();
    pthread_mutex_unlock(&library.lock);
}
