/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * cursor.c: a cursor is a SELECT in the order of the keys, from a key on, upward or downward.
 *
 * In WAL mode it stands on the row that it shows, and hands out key and value in the page. As long as it stands there
 * its connection sees the state of then; so it is parked, which is to say reset, when its session does anything else,
 * and goes on from its last key. With a rollback journal a statement that stands on a row keeps every writer waiting.
 * There rows are read ahead, twice as many each time, and the statement is reset before the first of them is shown.
 */
#include "sqlite_adapter.h"

#define AHEAD_ROWS_MOST 256u
#define AHEAD_BYTES_MOST ((size_t)256 << 10)

/* Of the keys that there are for a cursor: all, those from a bound on, or those up to one too. */
typedef enum extent { WHOLE, FROM_BOUND, TO_BOUND, EXTENTS } extent;
_Static_assert(SCAN_COUNT == SCAN_WAYS * EXTENTS * 2, "a statement for each way, extent, and with values or without");

struct kvdyno_cursor {
    CURSOR_MEMBERS;
    sqlite3_stmt *scans[SCAN_COUNT]; /* there from the first use on */
    sqlite3_stmt *scan;              /* the one that runs */
    uint32_t direction;              /* of it, or of the rows that were read ahead */
    bool standing;                   /* the scan stands on the row that was shown last */
    bool positioned;                 /* there is a row that was shown last */
    kvdyno_bytes shown;              /* its key */
    growing key;                     /* a key to seek */
    size_t key_size;
    read_ahead ahead;
    unsigned ahead_count; /* rows that the next reading ahead takes */
    extent extent;
    bool keys_only;
    kvdyno_bytes from, to; /* within `bounds` */
    growing bounds;
};

/* ---- standing, and not ---- */

static void stop(kvdyno_cursor *cursor)
{
    if (cursor->scan)
        cursor->session->api->reset(cursor->scan);
    cursor->session->standing -= cursor->standing;
    cursor->standing = false;
}

/* Makes `key` the one to seek. */
static bool keep_key(kvdyno_cursor *cursor, const void *key, size_t size)
{
    cursor->key_size = size;
    return growing_keep(&cursor->key, key, size);
}

/* Keeps the key that was shown last, and nothing else. Without memory for it the cursor stands nowhere any more. */
static void park(kvdyno_cursor *cursor)
{
    if (cursor->positioned && cursor->shown.data != cursor->key.data) {
        cursor->positioned = keep_key(cursor, cursor->shown.data, cursor->shown.size);
        cursor->shown = (kvdyno_bytes){cursor->key.data, cursor->key_size};
    }
    read_ahead_drop(&cursor->ahead);
    stop(cursor);
}

void sqlite_park_cursors(kvdyno_session *session)
{
    for (kvdyno_cursor *cursor = session->cursors; cursor; cursor = cursor->next)
        park(cursor);
}

/* ---- life ---- */

static kvdyno_status cursor_start(kvdyno_cursor *cursor)
{
    sqlite_settle(cursor->session);
    cursor->from = (kvdyno_bytes){"", 0};
    return KVDYNO_OK;
}

/* Its statements go to the session, for the next cursor, where that has none. */
static void give_back(kvdyno_cursor *cursor)
{
    kvdyno_session *session = cursor->session;
    for (int i = 0; i < SCAN_COUNT; i++) {
        if (session->scans[i])
            session->api->finalize(cursor->scans[i]);
        else
            session->scans[i] = cursor->scans[i];
    }
}

static void cursor_stop(kvdyno_cursor *cursor)
{
    stop(cursor);
    give_back(cursor);
    free(cursor->ahead.memory.data);
    free(cursor->key.data);
    free(cursor->bounds.data);
}

#define LIMITS_CURSORS true
static kvdyno_status cursor_limit(kvdyno_cursor *cursor, const kvdyno_cursor_options *options)
{
    kvdyno_bytes from = options->from, to = options->to;
    if (!growing_reserve(&cursor->bounds, from.size + to.size + 1))
        return session_refuse(cursor->session, KVDYNO_ERROR, "out of memory");
    char *data = cursor->bounds.data;
    cursor->keys_only = options->keys_only;
    cursor->extent = to.size ? TO_BOUND : from.size ? FROM_BOUND : WHOLE;
    cursor->from = (kvdyno_bytes){from.size ? memcpy(data, from.data, from.size) : data, from.size};
    cursor->to = (kvdyno_bytes){to.size ? memcpy(data + from.size, to.data, to.size) : data, to.size};
    return KVDYNO_OK;
}

/* ---- scans ---- */

/* Where the statement for a way is, in the cursor and in the session. */
static int scan_index(const kvdyno_cursor *cursor, int way)
{
    return way + SCAN_WAYS * (cursor->extent + EXTENTS * cursor->keys_only);
}

/* ?1 is the key to begin at, ?2 the least one there is, ?3 the first beyond them. */
static int prepare_scan(kvdyno_cursor *cursor, int way, sqlite3_stmt **scan)
{
    static const char *const texts[SCAN_WAYS][EXTENTS] = {
        [SCAN_UP] = {"key >= ?1 ORDER BY key", "key >= ?1 ORDER BY key", "key >= ?1 AND key < ?3 ORDER BY key"},
        [SCAN_DOWN] = {"key <= ?1 ORDER BY key DESC", "key <= ?1 AND key >= ?2 ORDER BY key DESC",
                       "key <= ?1 AND key >= ?2 ORDER BY key DESC"},
        [SCAN_FROM_LAST] = {"1 ORDER BY key DESC", "key >= ?2 ORDER BY key DESC",
                            "key >= ?2 AND key < ?3 ORDER BY key DESC"},
    };
    char text[128];
    snprintf(text, sizeof text, "SELECT key, %s FROM kv WHERE %s", cursor->keys_only ? "x''" : "value",
             texts[way][cursor->extent]);
    return sqlite_prepare(cursor->session->api, cursor->session->db, text, scan);
}

static int bind_scan(kvdyno_cursor *cursor, int way)
{
    const sqlite_api *api = cursor->session->api;
    int code = SQLITE_OK;
    if (way != SCAN_FROM_LAST)
        code = sqlite_bind(api, cursor->scan, 1, cursor->key.data, cursor->key_size);
    if (code == SQLITE_OK && cursor->extent != WHOLE && way != SCAN_UP)
        code = sqlite_bind(api, cursor->scan, 2, cursor->from.data, cursor->from.size);
    if (code == SQLITE_OK && cursor->extent == TO_BOUND && way != SCAN_DOWN)
        code = sqlite_bind(api, cursor->scan, 3, cursor->to.data, cursor->to.size);
    return code;
}

static int need_scan(kvdyno_cursor *cursor, int way)
{
    kvdyno_session *session = cursor->session;
    int index = scan_index(cursor, way);
    if (!cursor->scans[index]) {
        cursor->scans[index] = session->scans[index];
        session->scans[index] = NULL;
    }
    int code = cursor->scans[index] ? SQLITE_OK : prepare_scan(cursor, way, &cursor->scans[index]);
    cursor->scan = cursor->scans[index];
    return code;
}

static int step(kvdyno_cursor *cursor, key_value *row)
{
    const sqlite_api *api = cursor->session->api;
    int code = api->step(cursor->scan);
    if (code == SQLITE_ROW) {
        row->key = sqlite_column(api, cursor->scan, 0);
        row->value = sqlite_column(api, cursor->scan, 1);
    }
    return code;
}

/* The first row of a scan from the kept key on; `beyond` leaves out the row of that key itself. */
static int first_row(kvdyno_cursor *cursor, int way, bool beyond, key_value *row)
{
    int code = need_scan(cursor, way);
    if (code == SQLITE_OK)
        code = bind_scan(cursor, way);
    if (code == SQLITE_OK)
        code = step(cursor, row);
    bool same = code == SQLITE_ROW && row->key.size == cursor->key_size &&
                memcmp(row->key.data, cursor->key.data, cursor->key_size) == 0;
    return beyond && same ? step(cursor, row) : code;
}

/* The same, and as many rows after it as are due are read ahead. */
static int fetch_ahead(kvdyno_cursor *cursor, int way, bool beyond, key_value *row)
{
    read_ahead *ahead = &cursor->ahead;
    bool kept = true;
    unsigned count = 0;
    int code = first_row(cursor, way, beyond, row);
    while (code == SQLITE_ROW) {
        kept = read_ahead_add(ahead, row);
        if (!kept || ++count == cursor->ahead_count || ahead->filled >= AHEAD_BYTES_MOST)
            break;
        code = step(cursor, row);
    }
    cursor->ahead_count = cursor->ahead_count < AHEAD_ROWS_MOST ? cursor->ahead_count * 2 : AHEAD_ROWS_MOST;
    if (!kept)
        return ENOMEM;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return code;
    stop(cursor);
    return read_ahead_take(ahead, row) ? SQLITE_ROW : SQLITE_DONE;
}

static int start(kvdyno_cursor *cursor, int way, bool beyond, key_value *row)
{
    uint32_t direction = way == SCAN_UP ? KVDYNO_FORWARD : KVDYNO_BACKWARD;
    if (!beyond || direction != cursor->direction)
        cursor->ahead_count = 1;
    cursor->direction = direction;
    return cursor->session->database->plan.wal ? first_row(cursor, way, beyond, row)
                                               : fetch_ahead(cursor, way, beyond, row);
}

/* After a miss or an error the cursor stands nowhere. */
static kvdyno_status answer(kvdyno_cursor *cursor, int code, const key_value *row, kvdyno_bytes *found,
                            kvdyno_bytes *value)
{
    kvdyno_session *session = cursor->session;
    bool stands = code == SQLITE_ROW && session->database->plan.wal;
    cursor->positioned = code == SQLITE_ROW;
    if (cursor->positioned) {
        cursor->shown = *found = row->key;
        *value = row->value;
        session->standing += stands && !cursor->standing;
        cursor->standing = stands;
        return KVDYNO_OK;
    }
    kvdyno_status status = KVDYNO_MISS;
    if (code == ENOMEM)
        status = session_refuse(session, KVDYNO_ERROR, "out of memory for the cursor's rows");
    else if (code != SQLITE_DONE)
        status = session_answer(session, "a scan", code);
    stop(cursor);
    return status;
}

/* ---- moving ---- */

/* The way that begins at a key, or at the end of what there is where the key lies beyond that. */
static int way_to(const kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction)
{
    bool beyond = cursor->extent == TO_BOUND && key && !comes_before(key, key_size, cursor->to.data, cursor->to.size);
    if (direction == KVDYNO_FORWARD)
        return SCAN_UP;
    return key && !beyond ? SCAN_DOWN : SCAN_FROM_LAST;
}

/* The sought key is kept first: it may be what this cursor handed out. */
kvdyno_status adapter_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                  kvdyno_bytes *found, kvdyno_bytes *value)
{
    key_value row;
    bool before = direction == KVDYNO_FORWARD &&
                  (!key || comes_before(key, key_size, cursor->from.data, cursor->from.size));
    const kvdyno_bytes first = before ? cursor->from : (kvdyno_bytes){key ? key : "", key ? key_size : 0};
    int way = way_to(cursor, key, key_size, direction);
    bool kept = keep_key(cursor, first.data, first.size);
    cursor->positioned = false;
    park(cursor);
    sqlite_settle(cursor->session);
    if (!kept)
        return answer(cursor, ENOMEM, NULL, found, value);
    int code = start(cursor, way, false, &row);
    return answer(cursor, code, &row, found, value);
}

static kvdyno_status cursor_step(kvdyno_cursor *cursor, uint32_t direction, kvdyno_bytes *found, kvdyno_bytes *value)
{
    key_value row;
    if (!cursor->positioned)
        return KVDYNO_MISS;
    if (cursor->direction == direction && cursor->standing)
        return answer(cursor, step(cursor, &row), &row, found, value);
    if (cursor->direction == direction && read_ahead_take(&cursor->ahead, &row))
        return answer(cursor, SQLITE_ROW, &row, found, value);
    park(cursor);
    int scan = direction == KVDYNO_FORWARD ? SCAN_UP : SCAN_DOWN;
    int code = cursor->positioned ? start(cursor, scan, true, &row) : ENOMEM;
    return answer(cursor, code, &row, found, value);
}

#include "cursors.h"
