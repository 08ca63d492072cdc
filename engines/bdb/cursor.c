/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Cursors.
 *
 * A cursor of Berkeley DB keeps the page that it stands on locked until it moves on, and a writer who wants the page
 * waits for it, for ever if need be: the deadlock detector sees no deadlock in a cursor that nobody moves. So a cursor
 * here lets go of its page ("is parked") whenever its session writes or begins a transaction, and a thread of the
 * database parks those that have not moved for a round of PARK_MS. A parked cursor goes on from its last key. Cursors
 * inside a transaction are left alone, for there it is the transaction that holds the locks.
 */
#include "bdb.h"

#define PARK_MS 10u

struct kvdyno_cursor {
    CURSOR_MEMBERS;
    kvdyno_cursor *next_of_database;
    bool listed;          /* there */
    pthread_mutex_t lock; /* the session against the parker; it guards all below */
    DBC *dbc;             /* NULL: parked, or never moved */
    bool in_transaction;
    bool keys_only;
    bool positioned; /* `key` holds the key that the cursor stands on */
    uint64_t moves, moves_seen;
    growing key, spare, value, sought;
    u_int32_t key_size, sought_size;
};

/* ---- parking ---- */

static int park(kvdyno_cursor *cursor)
{
    DBC *dbc = cursor->dbc;
    cursor->dbc = NULL;
    return dbc ? dbc->close(dbc) : 0;
}

void bdb_park_cursors(kvdyno_session *session)
{
    for (kvdyno_cursor *cursor = session->cursors; cursor; cursor = cursor->next) {
        pthread_mutex_lock(&cursor->lock);
        park(cursor);
        pthread_mutex_unlock(&cursor->lock);
    }
}

static int park_if_idle(kvdyno_cursor *cursor)
{
    int code = 0;
    if (pthread_mutex_trylock(&cursor->lock) != 0)
        return 0;
    if (cursor->moves == cursor->moves_seen && !cursor->in_transaction)
        code = park(cursor);
    cursor->moves_seen = cursor->moves;
    pthread_mutex_unlock(&cursor->lock);
    return code;
}

/* One round of the parker. */
static int park_idle_cursors(void *context)
{
    kvdyno_database *database = context;
    int first = 0;
    pthread_mutex_lock(&database->cursors_lock);
    for (kvdyno_cursor *cursor = database->cursors; cursor; cursor = cursor->next_of_database) {
        int code = park_if_idle(cursor);
        first = first ? first : code;
    }
    pthread_mutex_unlock(&database->cursors_lock);
    return first;
}

/* ---- life ---- */

/* The parker runs from the first cursor on, so that a workload without scans does not pay for it. */
static int enlist(kvdyno_cursor *cursor)
{
    kvdyno_database *database = cursor->session->database;
    int code = 0;
    pthread_mutex_lock(&database->cursors_lock);
    if (!database->parker.running)
        code = periodic_syncer_start(&database->parker, PARK_MS, park_idle_cursors, database);
    cursor->listed = code == 0;
    if (cursor->listed) {
        cursor->next_of_database = database->cursors;
        database->cursors = cursor;
    }
    pthread_mutex_unlock(&database->cursors_lock);
    return code;
}

static void delist(kvdyno_cursor *cursor)
{
    kvdyno_database *database = cursor->session->database;
    pthread_mutex_lock(&database->cursors_lock);
    kvdyno_cursor **link = &database->cursors;
    while (*link != cursor)
        link = &(*link)->next_of_database;
    *link = cursor->next_of_database;
    pthread_mutex_unlock(&database->cursors_lock);
}

static kvdyno_status cursor_start(kvdyno_cursor *cursor)
{
    pthread_mutex_init(&cursor->lock, NULL);
    bool reserved = growing_reserve(&cursor->key, 64) && growing_reserve(&cursor->spare, 64) &&
                    growing_reserve(&cursor->sought, 64) &&
                    growing_reserve(&cursor->value, cursor->session->database->value_hint);
    return session_answer(cursor->session, "cursor_open", reserved ? enlist(cursor) : ENOMEM);
}

#define LIMITS_CURSORS true
static kvdyno_status cursor_limit(kvdyno_cursor *cursor, const kvdyno_cursor_options *options)
{
    cursor->keys_only = options->keys_only;
    return KVDYNO_OK;
}

static void cursor_stop(kvdyno_cursor *cursor)
{
    if (cursor->listed)
        delist(cursor);
    park(cursor);
    pthread_mutex_destroy(&cursor->lock);
    free(cursor->key.data);
    free(cursor->spare.data);
    free(cursor->value.data);
    free(cursor->sought.data);
}

/* ---- moving ---- */

static int unpark(kvdyno_cursor *cursor)
{
    kvdyno_session *session = cursor->session;
    DB *db = session->database->db;
    bool versions = session->database->snapshot && !session->txn;
    cursor->in_transaction = session->txn != NULL;
    return db->cursor(db, session->txn, &cursor->dbc, versions ? DB_TXN_SNAPSHOT : 0);
}

/* The key sought, as Berkeley DB has it, or for other moves no bytes. The spare memory must be large enough. */
static DBT spare_key(kvdyno_cursor *cursor, bool sought)
{
    u_int32_t size = sought ? cursor->sought_size : 0;
    memcpy(cursor->spare.data, cursor->sought.data, size);
    return (DBT){
        .data = cursor->spare.data, .ulen = bdb_capacity(&cursor->spare), .size = size, .flags = DB_DBT_USERMEM};
}

/* Moves the cursor of Berkeley DB and takes over key and value. The key is read into the spare memory, so that the last
 * one is still known if the call has to be made again. */
static int fetch(kvdyno_cursor *cursor, u_int32_t move, u_int32_t *value_size)
{
    DBT key, value;
    int code;
    do {
        key = spare_key(cursor, move == DB_SET_RANGE);
        value = (DBT){.data = cursor->value.data, .ulen = bdb_capacity(&cursor->value), .flags = DB_DBT_USERMEM};
        if (cursor->keys_only) /* 0 bytes of the value, from its beginning on */
            value.flags |= DB_DBT_PARTIAL;
        code = cursor->dbc->get(cursor->dbc, &key, &value, move);
        if (code == DB_BUFFER_SMALL &&
            !(growing_reserve(&cursor->spare, key.size) && growing_reserve(&cursor->value, value.size)))
            code = ENOMEM;
    } while (code == DB_BUFFER_SMALL);
    if (code != 0)
        return code;
    growing last = cursor->key;
    cursor->key = cursor->spare;
    cursor->spare = last;
    cursor->key_size = key.size;
    *value_size = value.size;
    return growing_reserve(&cursor->spare, cursor->sought_size) ? 0 : ENOMEM;
}

/* The cursor's key against the one that is sought, in the table's order. */
static int compare(const kvdyno_cursor *cursor)
{
    const kvdyno_database *database = cursor->session->database;
    DBT key = {.data = cursor->key.data, .size = cursor->key_size};
    DBT sought = {.data = cursor->sought.data, .size = cursor->sought_size};
    return database->order(database->db, &key, &sought);
}

/* Goes to the nearest key from the sought one on; `beyond` leaves out the sought one itself. */
static int find(kvdyno_cursor *cursor, uint32_t direction, bool beyond, u_int32_t *value_size)
{
    int code = fetch(cursor, DB_SET_RANGE, value_size);
    if (direction == KVDYNO_FORWARD) {
        while (code == 0 && beyond && compare(cursor) <= 0)
            code = fetch(cursor, DB_NEXT, value_size);
        return code;
    }
    if (code == DB_NOTFOUND)
        code = fetch(cursor, DB_LAST, value_size);
    while (code == 0 && (compare(cursor) > 0 || (beyond && compare(cursor) == 0)))
        code = fetch(cursor, DB_PREV, value_size);
    return code;
}

static int seek_sought(kvdyno_cursor *cursor, bool with_key, uint32_t direction, bool beyond, u_int32_t *value_size)
{
    int code = cursor->dbc ? 0 : unpark(cursor);
    if (code != 0)
        return code;
    if (with_key)
        return find(cursor, direction, beyond, value_size);
    return fetch(cursor, direction == KVDYNO_FORWARD ? DB_FIRST : DB_LAST, value_size);
}

/* Keeps a copy: the caller's key may be what this cursor found last. */
static int remember_sought(kvdyno_cursor *cursor, const void *key, size_t key_size)
{
    if (key_size > UINT32_MAX)
        return EINVAL;
    if (!growing_keep(&cursor->sought, key, key_size) || !growing_reserve(&cursor->spare, key_size))
        return ENOMEM;
    cursor->sought_size = (u_int32_t)key_size;
    return 0;
}

/* One seek, tried again from its beginning if it loses a deadlock. */
static int seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction, bool beyond,
                u_int32_t *value_size)
{
    unsigned tries = 0;
    int code = key ? remember_sought(cursor, key, key_size) : 0;
    if (code != 0)
        return code;
    do {
        if (tries)
            park(cursor);
        code = seek_sought(cursor, key != NULL, direction, beyond, value_size);
    } while (code == DB_LOCK_DEADLOCK && !cursor->session->txn && ++tries < MOST_TRIES);
    return code;
}

/* One step. From a parked cursor, or after a lost deadlock, it is a seek beyond the last key. */
static int step(kvdyno_cursor *cursor, uint32_t direction, u_int32_t *value_size)
{
    if (!cursor->positioned)
        return DB_NOTFOUND;
    if (cursor->dbc) {
        int code = fetch(cursor, direction == KVDYNO_FORWARD ? DB_NEXT : DB_PREV, value_size);
        if (code != DB_LOCK_DEADLOCK || cursor->session->txn)
            return code;
        park(cursor);
    }
    return seek(cursor, cursor->key.data, cursor->key_size, direction, true, value_size);
}

/* After a miss or an error the cursor stands nowhere, and holds nothing. */
static kvdyno_status finish(kvdyno_cursor *cursor, int code, u_int32_t value_size, kvdyno_bytes *found,
                            kvdyno_bytes *value)
{
    cursor->positioned = code == 0;
    cursor->moves++;
    if (code == 0) {
        *found = (kvdyno_bytes){cursor->key.data, cursor->key_size};
        *value = (kvdyno_bytes){cursor->value.data, value_size};
    } else {
        int closed = park(cursor);
        code = code == DB_NOTFOUND && closed ? closed : code;
    }
    pthread_mutex_unlock(&cursor->lock);
    return code == 0 ? KVDYNO_OK : session_answer(cursor->session, "a scan", code);
}

kvdyno_status adapter_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                  kvdyno_bytes *found, kvdyno_bytes *value)
{
    u_int32_t value_size = 0;
    pthread_mutex_lock(&cursor->lock);
    int code = cursor->session->database->snapshot ? park(cursor) : 0; /* a new version is seen by a new cursor only */
    if (code == 0)
        code = seek(cursor, key, key_size, direction, false, &value_size);
    return finish(cursor, code, value_size, found, value);
}

static kvdyno_status cursor_step(kvdyno_cursor *cursor, uint32_t direction, kvdyno_bytes *found, kvdyno_bytes *value)
{
    u_int32_t value_size = 0;
    pthread_mutex_lock(&cursor->lock);
    int code = step(cursor, direction, &value_size);
    return finish(cursor, code, value_size, found, value);
}

#include "cursors.h"
