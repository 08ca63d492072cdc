/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * session.c: reading, writing, batches and changes. Each is one call-in.
 *
 * GT.M hands a value out of its string pool, which moves at any later call; so it is copied into memory of the
 * session's, where it stays until the session's next call.
 */
#define _GNU_SOURCE
#include "gtm_adapter.h"

static kvdyno_session *current; /* for GT.M's calls back into the adapter; a process has no second session */

static kvdyno_status key_too_long(kvdyno_session *session, size_t size)
{
    return session_refuse(session, KVDYNO_ERROR, "a key of %zu bytes: at most %d are possible", size, GT_MAX_KEY);
}

static kvdyno_status value_too_large(kvdyno_session *session, size_t size)
{
    return session_refuse(session, KVDYNO_ERROR, "a value of %zu bytes: at most %d are possible", size, GT_MAX_VALUE);
}

/* ---- life ---- */

static kvdyno_status session_start(kvdyno_session *session, kvdyno_text *error)
{
    kvdyno_database *database = session->database;
    if (database->session || !pthread_equal(database->thread, pthread_self())) {
        say(error, "GT.M has no threads: one session a process, on the thread that opened the database");
        return KVDYNO_ERROR;
    }
    session->answer = allocate(GT_ANSWER_BYTES, error);
    if (!session->answer)
        return KVDYNO_ERROR;
    bool now = database->durability == KVDYNO_DURABILITY_COMMIT;
    session->library = &database->library;
    session->put = now ? &database->library.calls.putnow : &database->library.calls.put;
    session->remove = now ? &database->library.calls.removenow : &database->library.calls.remove;
    session->batch_id = now ? (gt_bytes){0, (char *)""} : (gt_bytes){5, (char *)"BATCH"};
    session->key[0] = GT_LETTER;
    database->session = current = session;
    return KVDYNO_OK;
}

static void session_stop(kvdyno_session *session)
{
    gt_end_stack(session);
    if (current == session)
        session->database->session = current = NULL;
    free(session->answer);
}

#include "life.h"

/* ---- reading ---- */

/* In a transaction. */
static kvdyno_status get_within(kvdyno_session *session, gt_bytes key, kvdyno_bytes *value)
{
    gt_bytes answer;
    kvdyno_status status = gt_ask(session, GT_GET, key, (gt_bytes){0, NULL}, NULL, &answer);
    if (status == KVDYNO_OK)
        *value = (kvdyno_bytes){answer.address, (size_t)answer.length};
    return status;
}

kvdyno_status adapter_get(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value)
{
    if (__builtin_expect(key_size > GT_MAX_KEY, 0))
        return key_too_long(session, key_size);
    gt_bytes sought = gt_named(session, key, key_size), answer = {GT_ANSWER_BYTES, session->answer};
    if (__builtin_expect(session->transaction != NULL, 0))
        return get_within(session, sought, value);
    if (__builtin_expect(session->library->api.gtm_cip(&session->library->calls.get, &sought, &answer), 0))
        return session_fail(session, "$GET");
    if (answer.length == GT_ANSWER_BYTES)
        return KVDYNO_MISS;
    *value = (kvdyno_bytes){session->answer, (size_t)answer.length};
    return KVDYNO_OK;
}

/* ---- writing ---- */

static kvdyno_status first_write(kvdyno_session *session)
{
    kvdyno_text error = {session->error, sizeof session->error};
    if (session->database->durability == KVDYNO_DURABILITY_PERIODIC && !gt_start_syncer(session->database, &error))
        return KVDYNO_ERROR;
    session->database->wrote = true;
    return KVDYNO_OK;
}

/* A reader has no syncer. */
static inline kvdyno_status will_write(kvdyno_session *session)
{
    return __builtin_expect(session->database->wrote, 1) ? KVDYNO_OK : first_write(session);
}

static kvdyno_status check_sizes(kvdyno_session *session, size_t key_size, size_t value_size)
{
    if (key_size > GT_MAX_KEY)
        return key_too_long(session, key_size);
    return value_size > GT_MAX_VALUE ? value_too_large(session, value_size) : KVDYNO_OK;
}

static kvdyno_status may_store(kvdyno_session *session, size_t key_size, size_t value_size)
{
    kvdyno_status status = check_sizes(session, key_size, value_size);
    return status == KVDYNO_OK ? will_write(session) : status;
}

kvdyno_status adapter_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                          size_t value_size)
{
    kvdyno_status status = may_store(session, key_size, value_size);
    if (status != KVDYNO_OK)
        return status;
    gt_bytes where = gt_named(session, key, key_size), what = {(long)value_size, (char *)value};
    if (session->transaction)
        return gt_ask(session, GT_PUT, where, what, NULL, NULL);
    return session->library->api.gtm_cip(session->put, &where, &what) ? session_fail(session, "SET") : KVDYNO_OK;
}

kvdyno_status adapter_remove(kvdyno_session *session, const void *key, size_t key_size)
{
    kvdyno_status status = may_store(session, key_size, 0);
    if (status != KVDYNO_OK)
        return status;
    gt_bytes where = gt_named(session, key, key_size);
    if (session->transaction)
        return gt_ask(session, GT_REMOVE, where, (gt_bytes){0, NULL}, NULL, NULL);
    return session->library->api.gtm_cip(session->remove, &where) ? session_fail(session, "KILL") : KVDYNO_OK;
}

/* ---- a batch: GT.M calls back for its entries ---- */

static kvdyno_status write_one(kvdyno_session *session, const kvdyno_batch_entry *entry)
{
    if (entry->kind == KVDYNO_PUT)
        return adapter_put(session, entry->key.data, entry->key.size, entry->value.data, entry->value.size);
    return adapter_remove(session, entry->key.data, entry->key.size);
}

static kvdyno_status write_within(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    kvdyno_status status = KVDYNO_OK;
    for (size_t i = 0; i < count && status == KVDYNO_OK; i++)
        status = write_one(session, &entries[i]);
    return status;
}

kvdyno_status adapter_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    kvdyno_status status = will_write(session);
    for (size_t i = 0; i < count && status == KVDYNO_OK; i++)
        status = check_sizes(session, entries[i].key.size, entries[i].kind == KVDYNO_PUT ? entries[i].value.size : 0);
    if (status != KVDYNO_OK)
        return status;
    if (session->transaction)
        return write_within(session, entries, count);
    session->entries = entries;
    session->entry_count = count;
    if (session->library->api.gtm_cip(&session->library->calls.write, &session->batch_id))
        return session_fail(session, "a batch");
    return KVDYNO_OK;
}

#define CALLED_BY_GTM __attribute__((visibility("default")))

/* GT.M begins the batch, for the first time or again. */
CALLED_BY_GTM void kvdyno_gtm_rewind(int count);
void kvdyno_gtm_rewind(int count)
{
    (void)count;
    if (current)
        current->entry_next = 0;
}

/* The next step: 1, a put; 2, a removal; 0: there is none. */
CALLED_BY_GTM int kvdyno_gtm_step(int count, gt_bytes *key, gt_bytes *value);
int kvdyno_gtm_step(int count, gt_bytes *key, gt_bytes *value)
{
    (void)count;
    if (current->entry_next == current->entry_count)
        return 0;
    const kvdyno_batch_entry *step = &current->entries[current->entry_next++];
    bool put = step->kind == KVDYNO_PUT;
    *key = gt_named(current, step->key.data, step->key.size);
    *value = put ? (gt_bytes){(long)step->value.size, (char *)step->value.data} : (gt_bytes){0, (char *)""};
    return put ? 1 : 2;
}

/* ---- a read-modify-write: GT.M calls back with the present value ---- */

static kvdyno_status change_within(kvdyno_session *session, gt_bytes key, kvdyno_update_fn update, void *context)
{
    kvdyno_bytes old = {NULL, 0}, new = {NULL, 0};
    kvdyno_status status = get_within(session, key, &old);
    if (status < KVDYNO_OK || status == KVDYNO_CONFLICT)
        return status;
    status = update(context, old, &new);
    if (status != KVDYNO_OK)
        return status;
    if (new.size > GT_MAX_VALUE)
        return value_too_large(session, new.size);
    return gt_ask(session, GT_PUT, key, (gt_bytes){(long)new.size, (char *)new.data}, NULL, NULL);
}

kvdyno_status adapter_read_modify_write(kvdyno_session *session, const void *key, size_t key_size,
                                        kvdyno_update_fn update, void *context)
{
    kvdyno_status status = may_store(session, key_size, 0);
    if (status != KVDYNO_OK)
        return status;
    gt_bytes where = gt_named(session, key, key_size);
    if (session->transaction)
        return change_within(session, where, update, context);
    session->update = update;
    session->update_context = context;
    if (session->library->api.gtm_cip(&session->library->calls.readmodifywrite, &where, &session->batch_id))
        return session_fail(session, "a read-modify-write");
    return session->update_status;
}

/* 0: the new value is to be stored; else it is given up. GT.M may ask again, with a newer value. */
CALLED_BY_GTM int kvdyno_gtm_change(int count, int there, gt_bytes *value);
int kvdyno_gtm_change(int count, int there, gt_bytes *value)
{
    (void)count;
    const char *present = value->address ? value->address : "";
    kvdyno_bytes old = {there ? present : NULL, there ? (size_t)value->length : 0}, new = {NULL, 0};
    current->update_status = current->update(current->update_context, old, &new);
    if (current->update_status == KVDYNO_OK && new.size > GT_MAX_VALUE)
        current->update_status = value_too_large(current, new.size);
    if (current->update_status == KVDYNO_OK)
        *value = (gt_bytes){(long)new.size, new.size ? (char *)new.data : (char *)""};
    return current->update_status != KVDYNO_OK;
}
