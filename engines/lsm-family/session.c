/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * session.c: writing, and snapshots. Reading is each engine's own.
 */
#include "family.h"
#include "settle.h"

lsm_readoptions *family_read_options(const kvdyno_database *database)
{
    lsm_readoptions *options = database->api.readoptions_create();
    database->api.readoptions_set_verify_checksums(options, database->verify_checksums);
    database->api.readoptions_set_fill_cache(options, database->fill_cache);
    return options;
}

static kvdyno_status session_start(kvdyno_session *session, kvdyno_text *error)
{
    (void)error;
    session->api = &session->database->api;
    session->db = session->database->db;
    session->batch = session->api->writebatch_create();
    session->write = session->database->writes[session->database->durability];
    session->read = family_read_options(session->database);
    engine_session_start(session);
    return KVDYNO_OK;
}

static void session_stop(kvdyno_session *session)
{
    settle(session);
    engine_session_stop(session);
    session->api->readoptions_destroy(session->read);
    session->api->writebatch_destroy(session->batch);
}

#include "life.h"

kvdyno_status session_answer(kvdyno_session *session, const char *what, char *problem)
{
    kvdyno_text error = {session->error, sizeof session->error};
    return problem ? family_explain(session->api, what, problem, &error) : KVDYNO_OK;
}

/* ---- writing ---- */

static inline bool may_write(kvdyno_session *session)
{
    settle(session);
    return session->begun == NO_TRANSACTION;
}

static kvdyno_status refuse_write(kvdyno_session *session)
{
    return session_refuse(session, KVDYNO_UNSUPPORTED, "a read-only transaction is open on this session");
}

kvdyno_status adapter_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                          size_t value_size)
{
    char *problem = NULL;
    if (!may_write(session))
        return refuse_write(session);
    session->api->put(session->db, session->write, key, key_size, value, value_size, &problem);
    return session_answer(session, "put", problem);
}

kvdyno_status adapter_remove(kvdyno_session *session, const void *key, size_t key_size)
{
    char *problem = NULL;
    if (!may_write(session))
        return refuse_write(session);
    session->api->delete(session->db, session->write, key, key_size, &problem);
    return session_answer(session, "delete", problem);
}

static void gather(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    const library_api *api = session->api;
    api->writebatch_clear(session->batch);
    for (const kvdyno_batch_entry *entry = entries; entry < entries + count; entry++) {
        if (entry->kind == KVDYNO_PUT)
            api->writebatch_put(session->batch, entry->key.data, entry->key.size, entry->value.data, entry->value.size);
        else
            api->writebatch_delete(session->batch, entry->key.data, entry->key.size);
    }
}

kvdyno_status adapter_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    char *problem = NULL;
    if (!may_write(session))
        return refuse_write(session);
    if (count == 0)
        return KVDYNO_OK;
    gather(session, entries, count);
    session->api->write(session->db, session->write, session->batch, &problem);
    return session_answer(session, "write", problem);
}

kvdyno_status adapter_set_durability(kvdyno_session *session, uint32_t level)
{
    if (lacks_durability(level, session->database->durability))
        return session_refuse(session, KVDYNO_UNSUPPORTED, "%s", LACKS_DURABILITY);
    session->write = session->database->writes[level];
    return KVDYNO_OK;
}

/* ---- transactions: snapshots, for reading only ---- */

void family_take_snapshot(kvdyno_session *session)
{
    session->snapshot = session->api->create_snapshot(session->db);
    engine_read_from(session, session->snapshot);
}

void family_release_snapshot(kvdyno_session *session)
{
    engine_read_from(session, NULL);
    session->api->release_snapshot(session->db, session->snapshot);
    session->snapshot = NULL;
}

kvdyno_status adapter_begin(kvdyno_session *session, uint32_t kind)
{
    settle(session);
    if (kind != KVDYNO_READ_ONLY)
        return session_refuse(session, KVDYNO_UNSUPPORTED, "the C API has no transactions for writing");
    family_take_snapshot(session);
    session->begun = READING;
    return KVDYNO_OK;
}

kvdyno_status adapter_commit(kvdyno_session *session)
{
    settle(session);
    family_release_snapshot(session);
    session->begun = NO_TRANSACTION;
    return KVDYNO_OK;
}

kvdyno_status adapter_abort(kvdyno_session *session)
{
    return adapter_commit(session);
}
