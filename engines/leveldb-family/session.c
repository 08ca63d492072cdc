/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * session.c: reading, writing and snapshots. LevelDB's C API hands out values in memory that it allocates: a session
 * keeps them until its next call.
 */
#include "family.h"

kvdyno_status family_fail(kvdyno_session *session, const char *what, char *problem)
{
    kvdyno_text error = {session->error, sizeof session->error};
    return family_explain(session->api, what, problem, &error);
}

kvdyno_status family_refuse(kvdyno_session *session, kvdyno_status status, const char *why)
{
    snprintf(session->error, sizeof session->error, "%s", why);
    return status;
}

kvdyno_status family_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
                                   kvdyno_text *error)
{
    (void)host;
    const leveldb_api *api = &database->api;
    kvdyno_session *session = calloc(1, sizeof *session);
    if (!session) {
        say(error, "out of memory");
        return KVDYNO_ERROR;
    }
    session->api = api;
    session->db = database->db;
    session->database = database;
    session->batch = api->leveldb_writebatch_create();
    session->read = api->leveldb_readoptions_create();
    api->leveldb_readoptions_set_verify_checksums(session->read, database->verify_checksums);
    api->leveldb_readoptions_set_fill_cache(session->read, database->fill_cache);
    *opened = session;
    return KVDYNO_OK;
}

/* What the last read handed out is borrowed no longer. */
static void settle(kvdyno_session *session)
{
    session->api->leveldb_free(session->value);
    session->value = NULL;
    for (; session->value_count; session->value_count--)
        session->api->leveldb_free(session->values[session->value_count - 1]);
}

static void release_snapshot(kvdyno_session *session)
{
    session->api->leveldb_readoptions_set_snapshot(session->read, NULL);
    session->api->leveldb_release_snapshot(session->db, session->snapshot);
    session->snapshot = NULL;
}

static void take_snapshot(kvdyno_session *session)
{
    session->snapshot = session->api->leveldb_create_snapshot(session->db);
    session->api->leveldb_readoptions_set_snapshot(session->read, session->snapshot);
}

void family_session_close(kvdyno_session *session)
{
    settle(session);
    if (session->snapshot)
        release_snapshot(session);
    session->api->leveldb_readoptions_destroy(session->read);
    session->api->leveldb_writebatch_destroy(session->batch);
    free(session->values);
    free(session);
}

void family_session_error(kvdyno_session *session, kvdyno_text *error)
{
    say(error, "%s", session->error);
}

/* ---- reading ---- */

/* One read, whose value the caller keeps. */
static inline kvdyno_status read_one(kvdyno_session *session, const void *key, size_t key_size, char **kept,
                                     kvdyno_bytes *value)
{
    char *problem = NULL;
    size_t size;
    *kept = session->api->leveldb_get(session->db, session->read, key, key_size, &size, &problem);
    if (problem)
        return family_fail(session, "leveldb_get", problem);
    if (!*kept)
        return KVDYNO_MISS;
    *value = (kvdyno_bytes){*kept, size};
    return KVDYNO_OK;
}

kvdyno_status family_session_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    settle(session);
    return read_one(session, key, key_size, &session->value, value);
}

static bool reserve_values(kvdyno_session *session, size_t count)
{
    if (count <= session->value_capacity)
        return true;
    char **larger = realloc(session->values, count * sizeof *larger);
    if (!larger)
        return false;
    session->values = larger;
    session->value_capacity = count;
    return true;
}

/* All of them from one state: the begun transaction's, or that of now. */
kvdyno_status family_session_multi_get(kvdyno_session *session, const kvdyno_bytes *keys, size_t count,
                                        kvdyno_bytes *values, kvdyno_status *statuses)
{
    settle(session);
    if (!reserve_values(session, count))
        return family_refuse(session, KVDYNO_ERROR, "out of memory");
    bool begun = session->snapshot != NULL;
    if (!begun)
        take_snapshot(session);
    kvdyno_status worst = KVDYNO_OK;
    for (size_t i = 0; i < count; i++) {
        statuses[i] = read_one(session, keys[i].data, keys[i].size, &session->values[i], &values[i]);
        if (statuses[i] < 0)
            worst = statuses[i];
    }
    session->value_count = count;
    if (!begun)
        release_snapshot(session);
    return worst;
}

/* ---- writing ---- */

static kvdyno_status answer(kvdyno_session *session, const char *what, char *problem)
{
    return problem ? family_fail(session, what, problem) : KVDYNO_OK;
}

static kvdyno_status may_write(kvdyno_session *session)
{
    settle(session);
    if (session->snapshot)
        return family_refuse(session, KVDYNO_UNSUPPORTED, "a read-only transaction is open on this session");
    return KVDYNO_OK;
}

kvdyno_status family_session_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                                  size_t value_size)
{
    kvdyno_status status = may_write(session);
    if (status != KVDYNO_OK)
        return status;
    char *problem = NULL;
    session->api->leveldb_put(session->db, session->database->write, key, key_size, value, value_size, &problem);
    return answer(session, "leveldb_put", problem);
}

kvdyno_status family_session_remove(kvdyno_session *session, const void *key, size_t key_size)
{
    kvdyno_status status = may_write(session);
    if (status != KVDYNO_OK)
        return status;
    char *problem = NULL;
    session->api->leveldb_delete(session->db, session->database->write, key, key_size, &problem);
    return answer(session, "leveldb_delete", problem);
}

static void gather(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    const leveldb_api *api = session->api;
    api->leveldb_writebatch_clear(session->batch);
    for (const kvdyno_batch_entry *step = entries; step < entries + count; step++) {
        if (step->kind == KVDYNO_PUT)
            api->leveldb_writebatch_put(session->batch, step->key.data, step->key.size, step->value.data,
                                        step->value.size);
        else
            api->leveldb_writebatch_delete(session->batch, step->key.data, step->key.size);
    }
}

kvdyno_status family_session_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    kvdyno_status status = may_write(session);
    if (status != KVDYNO_OK || count == 0)
        return status;
    gather(session, entries, count);
    char *problem = NULL;
    session->api->leveldb_write(session->db, session->database->write, session->batch, &problem);
    return answer(session, "leveldb_write", problem);
}

/* ---- transactions: snapshots, for reading only ---- */

kvdyno_status family_session_begin(kvdyno_session *session, uint32_t kind)
{
    settle(session);
    if (kind != KVDYNO_READ_ONLY)
        return family_refuse(session, KVDYNO_UNSUPPORTED, "the LevelDB family has no transactions for writing");
    if (session->snapshot)
        return family_refuse(session, KVDYNO_ERROR, "a transaction is open already: they do not nest");
    take_snapshot(session);
    return KVDYNO_OK;
}

kvdyno_status family_session_end(kvdyno_session *session)
{
    settle(session);
    if (!session->snapshot)
        return family_refuse(session, KVDYNO_ERROR, "no transaction is open");
    release_snapshot(session);
    return KVDYNO_OK;
}
