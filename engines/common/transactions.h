/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * transactions.h: writes and transactions, for engines that answer with codes, 0 for success. To be included once, in
 * the file that has defined struct kvdyno_session and, as inline functions where a call would cost:
 *
 *     NOT_FOUND                 the code for a key, or a next record, that is not there
 *     NESTED                    whether a batch in the caller's transaction is a transaction within it: else one that
 *                               fails half-way leaves a transaction that can only be aborted
 *     MOST_TRIES                how often a write is tried that others made fail; more mean that something is wrong
 *     engine_txn                the engine's handle of a transaction
 *     explain(session, what, code, text)    the error in the engine's words, and its status
 *     lost(session, code)       whether the engine undid the work because of others, who may be gone at another try
 *     settle(session)           what the last read handed out is borrowed no longer
 *     cannot_begin(session, kind)           why not, or NULL
 *     open_transaction(session, kind), close_transaction(session, keep)    the caller's
 *     own_begin(session, &txn), own_end(session, txn, keep)    of one batch or change, outside of the caller's, or
 *                               within it if NESTED
 *     begun_txn(session)        the caller's, or what stands for none
 *     single_begin(session, &txn), single_end(session, txn, code)   of one put or delete: the code in the end
 *     store(session, txn, key, value), discard(session, txn, key)
 *     discard_range(session, txn, from, to)     where DISCARDS_RANGES is defined: `to` comes after `from`, and stays
 *     store_if_absent(session, txn, key, value)     where ALREADY_THERE is defined: the code for a key that is there
 *     present(session, txn, key, &old)      reads, to write: NOT_FOUND leaves `old` as it is
 *     release_old(session, old, &new)       is called before `new` is stored: `old` is not used any more
 */

/* Ends the caller's transaction. Its cursors go with it. */
static int leave_transaction(kvdyno_session *session, bool keep)
{
    int code = close_transaction(session, keep);
    session->begun = NO_TRANSACTION;
    session->broken = false;
    return code;
}

/* Apart from session_answer, for its text makes a call dear. */
__attribute__((noinline, cold)) static kvdyno_status session_failed(kvdyno_session *session, const char *what, int code)
{
    kvdyno_text text = {session->error, sizeof session->error};
    kvdyno_status status = explain(session, what, code, &text);
    if (status != KVDYNO_CONFLICT || !session->begun)
        return status;
    int undone = leave_transaction(session, false);
    return undone ? explain(session, "undoing a transaction", undone, &text) : status;
}

/* The status of a finished call: OK, MISS, or the error, kept for session_error. With a conflict the transaction ends.
 * */
inline kvdyno_status session_answer(kvdyno_session *session, const char *what, int code)
{
    if (code == 0)
        return KVDYNO_OK;
    return code == NOT_FOUND ? KVDYNO_MISS : session_failed(session, what, code);
}

/* ---- writing ---- */

static kvdyno_status refuse_write(kvdyno_session *session)
{
    if (session->broken)
        return session_refuse(session, KVDYNO_ERROR, "a batch failed in this transaction: it can only be aborted");
    return session_refuse(session, KVDYNO_UNSUPPORTED, "a read-only transaction is open on this session");
}

static inline bool may_write(const kvdyno_session *session)
{
    return session->begun != READING && !session->broken;
}

static inline bool try_again(kvdyno_session *session, int code, unsigned *tries)
{
    return lost(session, code) && !session->begun && ++*tries < MOST_TRIES;
}

/* A key and its value. */
static inline int put_once(kvdyno_session *session, const kvdyno_bytes stored[2])
{
    engine_txn txn;
    int code = single_begin(session, &txn);
    return code ? code : single_end(session, txn, store(session, txn, stored[0], stored[1]));
}

/* Apart from adapter_put, so that what is kept for another try costs the first one little. */
__attribute__((noinline, cold)) static kvdyno_status put_failed(kvdyno_session *session, const kvdyno_bytes stored[2],
                                                                int code)
{
    unsigned tries = 0;
    while (try_again(session, code, &tries))
        code = put_once(session, stored);
    return session_answer(session, "put", code);
}

kvdyno_status adapter_put(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                          size_t value_size)
{
    const kvdyno_bytes stored[2] = {{key, key_size}, {value, value_size}};
    settle(session);
    if (!may_write(session))
        return refuse_write(session);
    int code = put_once(session, stored);
    return code == 0 ? KVDYNO_OK : put_failed(session, stored, code);
}

kvdyno_status adapter_remove(kvdyno_session *session, const void *key, size_t key_size)
{
    engine_txn txn;
    unsigned tries = 0;
    int code;
    settle(session);
    if (!may_write(session))
        return refuse_write(session);
    do {
        code = single_begin(session, &txn);
        if (code == 0)
            code = single_end(session, txn, discard(session, txn, (kvdyno_bytes){key, key_size}));
    } while (try_again(session, code, &tries));
    return session_answer(session, "remove", code);
}

#ifdef DISCARDS_RANGES
kvdyno_status adapter_delete_range(kvdyno_session *session, const void *from, size_t from_size, const void *to,
                                   size_t to_size)
{
    engine_txn txn;
    unsigned tries = 0;
    int code;
    settle(session);
    if (!may_write(session))
        return refuse_write(session);
    if (!comes_before(from, from_size, to, to_size))
        return KVDYNO_OK;
    do {
        code = single_begin(session, &txn);
        if (code == 0) {
            code = discard_range(session, txn, (kvdyno_bytes){from, from_size}, (kvdyno_bytes){to, to_size});
            code = single_end(session, txn, code);
        }
    } while (try_again(session, code, &tries));
    session->broken = session->begun && code != 0; /* some of them may be gone */
    return session_answer(session, "delete_range", code);
}
#endif

#ifdef ALREADY_THERE
kvdyno_status adapter_insert_if_absent(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                                       size_t value_size)
{
    engine_txn txn;
    unsigned tries = 0;
    int code;
    settle(session);
    if (!may_write(session))
        return refuse_write(session);
    do {
        code = single_begin(session, &txn);
        if (code == 0) {
            code = store_if_absent(session, txn, (kvdyno_bytes){key, key_size}, (kvdyno_bytes){value, value_size});
            code = single_end(session, txn, code);
        }
    } while (try_again(session, code, &tries));
    return code == ALREADY_THERE ? KVDYNO_EXISTS : session_answer(session, "insert_if_absent", code);
}
#endif

/* ---- several steps as one: a batch, a change ---- */

/* Given up by the caller, and no code of the engine's: it only makes the transaction be undone. */
#define GIVEN_UP INT_MIN

/* The steps: a batch, or with `update` the change of one record. */
typedef struct steps {
    const kvdyno_batch_entry *entries;
    size_t count;
    kvdyno_update_fn update;
    void *context;
    kvdyno_status status; /* of `update` */
} steps;

static int apply_batch(kvdyno_session *session, engine_txn txn, const steps *batch)
{
    int code = 0;
    for (size_t i = 0; i < batch->count && code == 0; i++) {
        const kvdyno_batch_entry *entry = &batch->entries[i];
        if (entry->kind == KVDYNO_PUT)
            code = store(session, txn, entry->key, entry->value);
        else if ((code = discard(session, txn, entry->key)) == NOT_FOUND)
            code = 0; /* nothing to delete is no reason to give the batch up */
    }
    return code;
}

static int apply_change(kvdyno_session *session, engine_txn txn, steps *change)
{
    kvdyno_bytes old = {NULL, 0}, new = {NULL, 0};
    int code = present(session, txn, change->entries->key, &old);
    if (code != 0 && code != NOT_FOUND)
        return code;
    change->status = change->update(change->context, old, &new);
    code = release_old(session, old, &new);
    if (change->status != KVDYNO_OK)
        return GIVEN_UP;
    return code ? code : store(session, txn, change->entries->key, new);
}

static int apply(kvdyno_session *session, engine_txn txn, steps *work)
{
    return work->update ? apply_change(session, txn, work) : apply_batch(session, txn, work);
}

/* All of them or none; in the caller's transaction as part of that, or nested in it. */
static int try_as_one(kvdyno_session *session, steps *work)
{
    engine_txn txn;
    if (session->begun && !NESTED)
        return apply(session, begun_txn(session), work);
    int code = own_begin(session, &txn);
    if (code != 0)
        return code;
    code = apply(session, txn, work);
    int ended = own_end(session, txn, code == 0);
    return ended ? ended : code;
}

static kvdyno_status do_as_one(kvdyno_session *session, const char *what, steps *work)
{
    unsigned tries = 0;
    int code;
    settle(session);
    if (!may_write(session))
        return refuse_write(session);
    do
        code = try_as_one(session, work);
    while (try_again(session, code, &tries));
    if (code == GIVEN_UP)
        return session_refuse(session, work->status, "%s: the caller's update gave the change up", what);
    session->broken = session->begun && !NESTED && code != 0;
    return session_answer(session, what, code);
}

kvdyno_status adapter_write(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count)
{
    return do_as_one(session, "write", &(steps){.entries = entries, .count = count});
}

kvdyno_status adapter_read_modify_write(kvdyno_session *session, const void *key, size_t key_size,
                                        kvdyno_update_fn update, void *context)
{
    const kvdyno_batch_entry entry = {.key = {key, key_size}};
    return do_as_one(session, "read_modify_write", &(steps){.entries = &entry, .update = update, .context = context});
}

/* ---- the caller's transactions ---- */

kvdyno_status adapter_begin(kvdyno_session *session, uint32_t kind)
{
    const char *reason = cannot_begin(session, kind);
    settle(session);
    if (reason)
        return session_refuse(session, KVDYNO_UNSUPPORTED, "%s", reason);
    int code = open_transaction(session, kind);
    if (code == 0)
        session->begun = kind == KVDYNO_READ_ONLY ? READING : WRITING;
    return session_answer(session, "begin", code);
}

kvdyno_status adapter_commit(kvdyno_session *session)
{
    settle(session);
    if (!session->broken)
        return session_answer(session, "commit", leave_transaction(session, true));
    int undone = leave_transaction(session, false);
    return undone ? session_answer(session, "commit", undone)
                  : session_refuse(session, KVDYNO_ERROR, "a batch failed in this transaction: it was aborted");
}

kvdyno_status adapter_abort(kvdyno_session *session)
{
    settle(session);
    return session_answer(session, "abort", leave_transaction(session, false));
}
