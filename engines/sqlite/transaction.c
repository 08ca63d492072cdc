/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * transaction.c: transactions, and who may write.
 *
 * SQLite has one writer at a time. A second one is told that the database is busy and asks again after a sleep, so who
 * waits longest is not served first, and nobody is woken. So writers of one process wait at a mutex here, as those of
 * engines do that have a lock for their writers; option writer_lock=false leaves it to SQLite. Writers of several
 * processes always wait as SQLite lets them.
 */
#include "sqlite_adapter.h"

static void lock_writers(kvdyno_session *session)
{
    if (session->database->plan.writer_lock)
        pthread_mutex_lock(&session->database->writer_lock);
}

static void unlock_writers(kvdyno_session *session)
{
    if (session->database->plan.writer_lock)
        pthread_mutex_unlock(&session->database->writer_lock);
}

/* Undoes what is left of a transaction that SQLite may have ended by itself. */
static void roll_back(kvdyno_session *session)
{
    if (!session->api->get_autocommit(session->db))
        sqlite_do(session, ROLLBACK);
}

/* Whether a write can belong to the transaction that was begun. */
static kvdyno_status may_write(kvdyno_session *session)
{
    if (session->begun && !session->writing)
        return sqlite_refuse(session, KVDYNO_UNSUPPORTED, "a read-only transaction is open on this session");
    if (session->broken)
        return sqlite_refuse(session, KVDYNO_ERROR, "a write failed in this transaction: it can only be aborted");
    return KVDYNO_OK;
}

/* ---- one write ---- */

kvdyno_status sqlite_single_begin(kvdyno_session *session)
{
    sqlite_settle(session);
    kvdyno_status status = may_write(session);
    if (status == KVDYNO_OK && !session->begun)
        lock_writers(session);
    return status;
}

void sqlite_single_end(kvdyno_session *session)
{
    if (!session->begun)
        unlock_writers(session);
}

kvdyno_status sqlite_write_begin(kvdyno_session *session)
{
    kvdyno_status status = sqlite_single_begin(session);
    if (status != KVDYNO_OK || session->begun)
        return status;
    int code = sqlite_do(session, BEGIN_WRITE);
    if (code == SQLITE_OK)
        return KVDYNO_OK;
    status = sqlite_fail(session, "BEGIN IMMEDIATE", code);
    unlock_writers(session);
    return status;
}

/* COMMIT of what is open on the connection; what cannot be committed is undone. */
static kvdyno_status commit_open(kvdyno_session *session)
{
    int code = sqlite_do(session, COMMIT);
    if (code == SQLITE_OK)
        return KVDYNO_OK;
    kvdyno_status status = sqlite_fail(session, "COMMIT", code);
    roll_back(session);
    return status;
}

kvdyno_status sqlite_write_end(kvdyno_session *session, kvdyno_status status)
{
    if (session->begun)
        return status;
    if (status == KVDYNO_OK)
        status = commit_open(session);
    else
        roll_back(session);
    unlock_writers(session);
    return status;
}

/* ---- the caller's transactions ---- */

/* BEGIN alone sees nothing yet: the state that is seen is that of the first read. */
static int begin_reading(kvdyno_session *session)
{
    int code = sqlite_do(session, BEGIN_READ);
    if (code == SQLITE_OK)
        code = sqlite_do(session, LOOK);
    return code;
}

kvdyno_status sqlite_begin(kvdyno_session *session, uint32_t kind)
{
    sqlite_settle(session);
    bool writing = kind == KVDYNO_READ_WRITE;
    if (session->begun)
        return sqlite_refuse(session, KVDYNO_ERROR, "a transaction is open already: they do not nest");
    if (!writing && !session->database->plan.wal)
        return sqlite_refuse(session, KVDYNO_UNSUPPORTED, "with a rollback journal a read-only transaction would keep "
                                                          "every writer waiting; journal_mode=wal has snapshots");
    if (writing)
        lock_writers(session);
    int code = writing ? sqlite_do(session, BEGIN_WRITE) : begin_reading(session);
    if (code == SQLITE_OK) {
        session->begun = true;
        session->writing = writing;
        return KVDYNO_OK;
    }
    kvdyno_status status = sqlite_fail(session, "BEGIN", code);
    roll_back(session);
    if (writing)
        unlock_writers(session);
    return status;
}

static kvdyno_status end(kvdyno_session *session, bool keep)
{
    sqlite_settle(session);
    if (!session->begun)
        return sqlite_refuse(session, KVDYNO_ERROR, "no transaction is open");
    kvdyno_status status = KVDYNO_OK;
    if (keep && session->broken)
        status = sqlite_refuse(session, KVDYNO_ERROR, "a write failed in this transaction: it was aborted");
    else if (keep)
        status = commit_open(session);
    roll_back(session);
    if (session->writing)
        unlock_writers(session);
    session->begun = session->writing = session->broken = false;
    return status;
}

kvdyno_status sqlite_commit(kvdyno_session *session)
{
    return end(session, true);
}

kvdyno_status sqlite_abort(kvdyno_session *session)
{
    return end(session, false);
}
