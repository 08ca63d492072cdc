/* An adapter for kvdyno: the engine ABI of kvdyno.h, which says what each function owes, over a small engine.
 *
 * The engine is a sorted table in memory behind a lock, with a log of its writes (table.h). Where it stands, yours
 * will: put your calls where it says ENGINE. Then declare what yours can do beyond this (scans, transactions, other
 * durabilities): the list is at the end. */
#include "table.h" /* ENGINE: its header instead; it includes what this file needs of libc */
#include "kvdyno.h"

struct kvdyno_database { struct table table; };                           /* ENGINE: its handle */
struct kvdyno_session { struct table *table; char *lent; char error[256]; }; /* what a thread needs to itself */

static kvdyno_status fail(kvdyno_text *error, const char *what)
{
    snprintf(error->data, error->capacity, "%s: %s", what, strerror(errno));
    return errno == ENOSPC ? KVDYNO_NO_SPACE : KVDYNO_ERROR;
}

static kvdyno_status probe(const char *library, kvdyno_text *version, kvdyno_text *error)
{
    if (library) { /* ENGINE: dlopen it here, or say that it is linked in */
        snprintf(error->data, error->capacity, "NAME is built in and loads no library, so not %s", library);
        return KVDYNO_NO_LIBRARY;
    }
    snprintf(version->data, version->capacity, "0.1"); /* ENGINE: the version that it says */
    return KVDYNO_OK;
}

/* Every setting is put in the engine's words or refused. ENGINE: say what yours makes of them. */
static kvdyno_status settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    const char *refused = config->library                                   ? "library: it is built in"
                          : config->durability != KVDYNO_DURABILITY_PROCESS ? "durability: it offers process alone"
                          : config->compression != KVDYNO_COMPRESSION_NONE  ? "compression: it has none" : NULL;
    if (refused) {
        snprintf(error->data, error->capacity, "%s", refused);
        return KVDYNO_UNSUPPORTED;
    }
    if (emit) {
        emit(context, "durability", "log", "each write goes to the OS at once, and is synced at close");
        emit(context, "cache", "table", "the setting bounds nothing: all records are in memory");
        emit(context, "write_buffer", "log", "the setting bounds nothing: no write waits");
        emit(context, "compression", "log", "none");
        emit(context, "files", "log", "NAME.data");
    }
    return KVDYNO_OK;
}

static kvdyno_status open_database(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error)
{
    kvdyno_status refused = settings(config, NULL, NULL, error);
    if (refused != KVDYNO_OK)
        return refused;
    kvdyno_database *database = calloc(1, sizeof *database);
    if (!database)
        return fail(error, "open");
    struct table *table = &database->table;
    pthread_mutex_init(&table->lock, NULL);
    snprintf(table->file, sizeof table->file, "%s/NAME.data", config->path);
    if (config->create ? save(table) : load(table)) { /* ENGINE: create or open */
        kvdyno_status failed = fail(error, table->file);
        tdestroy(table->tree, release);
        free(database);
        return failed;
    }
    *opened = database;
    return KVDYNO_OK;
}

static kvdyno_status close_database(kvdyno_database *database, kvdyno_text *error)
{
    struct table *table = &database->table;
    kvdyno_status status = fsync(table->log) ? fail(error, table->file) : KVDYNO_OK; /* ENGINE: close */
    close(table->log);
    tdestroy(table->tree, release);
    free(database);
    return status;
}

static kvdyno_status session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
                                  kvdyno_text *error)
{
    (void)host;
    *opened = calloc(1, sizeof **opened);
    if (!*opened)
        return fail(error, "session");
    (*opened)->table = &database->table;
    return KVDYNO_OK;
}

static void session_close(kvdyno_session *session)
{
    free(session->lent);
    free(session);
}

static void session_error(kvdyno_session *session, kvdyno_text *error)
{
    snprintf(error->data, error->capacity, "%s", session->error);
}

/* The value stays readable until the session's next call, whatever others write. ENGINE: one that can lends its own. */
static kvdyno_status get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    struct record wanted = {.key = key, .key_size = key_size}, **slot;
    pthread_mutex_lock(&session->table->lock);
    slot = tfind(&wanted, &session->table->tree, order);
    char *copy = slot ? realloc(session->lent, (*slot)->value_size + 1) : NULL;
    if (copy) {
        *value = (kvdyno_bytes){memcpy(copy, (*slot)->value, (*slot)->value_size), (*slot)->value_size};
        session->lent = copy;
    }
    pthread_mutex_unlock(&session->table->lock);
    if (!slot)
        return KVDYNO_MISS;
    return copy ? KVDYNO_OK : fail(&(kvdyno_text){session->error, sizeof session->error}, "get");
}

/* The entries in order. ENGINE: if it can do all or nothing, declare KVDYNO_CAN_BATCH. */
static kvdyno_status write_entries(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    pthread_mutex_lock(&session->table->lock);
    int failed = append(session->table, entries, count);
    for (size_t i = 0; i < count && !failed; i++) {
        if (entries[i].kind == KVDYNO_PUT)
            failed = store(session->table, entries[i].key, entries[i].value);
        else
            forget(session->table, entries[i].key);
    }
    pthread_mutex_unlock(&session->table->lock);
    return failed ? fail(&(kvdyno_text){session->error, sizeof session->error}, "write") : KVDYNO_OK;
}

static kvdyno_status put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                         size_t value_size)
{
    return write_entries(session, &(kvdyno_batch_entry){KVDYNO_PUT, 0, {key, key_size}, {value, value_size}}, 1);
}

static kvdyno_status delete(kvdyno_session *session, const void *key, size_t key_size)
{
    return write_entries(session, &(kvdyno_batch_entry){KVDYNO_DELETE, 0, {key, key_size}, {NULL, 0}}, 1);
}

static const kvdyno_engine engine = {
    .size = sizeof engine,
    .abi_version = KVDYNO_ABI_VERSION,
    .name = "NAME",
    .summary = "a sorted table in memory, with a log", /* ENGINE */
    .origin = "built in",
    .capabilities = KVDYNO_CAN_DELETE, /* ENGINE: KVDYNO_CAN_SCAN and what else it can, with the functions for it */
    .durabilities = 1u << KVDYNO_DURABILITY_PROCESS, /* ENGINE: those that it offers */
    .compressions = 1u << KVDYNO_COMPRESSION_NONE,
    .probe = probe,
    .settings = settings,
    .open = open_database,
    .close = close_database,
    .session_open = session_open,
    .session_close = session_close,
    .session_error = session_error,
    .get = get,
    .put = put,
    .remove = delete,
    .write = write_entries,
    /* ENGINE: what else it can, each with its capability: cursors, cursor_open_with, contains, insert_if_absent,
     * delete_range, counters; kvdyno.h has all of them. */
};

const kvdyno_engine *kvdyno_engine_v2(void)
{
    return &engine;
}
