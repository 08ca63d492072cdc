/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * transaction.c: transactions of the caller's.
 *
 * In GT.M a transaction lives within the routine that began it: TSTART and TCOMMIT cannot stand in two call-ins, and
 * within a transaction there is no further call-in. So the whole transaction is one call-in, on a stack of its own. Its
 * routine asks, by a call-out, what to do next; there the stack rests, and the caller goes on until he has the next
 * request. Where GT.M restarts a transaction the caller has to, for the routine does not know what led him to his
 * requests: it rolls back, and the request at hand is answered with CONFLICT.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "gtm_adapter.h"

/* GT.M puts values that it passes to C on the stack. */
#define STACK_SIZE ((size_t)8 << 20)

struct gt_transaction {
    ucontext_t caller, inside;
    kvdyno_session *session;
    int request;         /* what the caller asks for, */
    gt_bytes key, value; /* with these; afterwards what was found */
    bool there;
    bool ended;            /* the call-in has returned, */
    int failed, committed; /* with these */
};

static gt_transaction *running; /* the one whose stack is in use, or rests */

static void *new_stack(void)
{
    void *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return NULL;
    mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE);
    return stack;
}

void gt_end_stack(kvdyno_session *session)
{
    if (session->stack)
        munmap(session->stack, STACK_SIZE);
}

static void inside(void)
{
    gt_transaction *this = running;
    gt_library *library = this->session->library;
    this->failed = library->api.gtm_cip(&library->calls.transact, &this->committed, &this->session->batch_id);
    this->ended = true;
}

static void forget(kvdyno_session *session)
{
    free(session->transaction);
    session->transaction = running = NULL;
}

/* Lets the routine go on until it asks again or has ended. What failed stays begun until its caller ends it. */
static kvdyno_status go_on(gt_transaction *this)
{
    kvdyno_session *session = this->session;
    running = this;
    if (swapcontext(&this->caller, &this->inside))
        return session_refuse(session, KVDYNO_ERROR, "cannot change to the stack of the transaction");
    if (!this->ended)
        return KVDYNO_OK;
    if (this->failed)
        return session_fail(session, "a transaction");
    bool committed = this->committed;
    forget(session);
    return committed ? KVDYNO_OK : session_refuse(session, KVDYNO_CONFLICT, "GT.M restarts the transaction");
}

/* The value comes on GT.M's stack, and the key too: both have to be there until the caller is back. */
static void keep_answer(gt_transaction *this, int there, const gt_bytes *key, const gt_bytes *value)
{
    kvdyno_session *session = this->session;
    this->there = there;
    if (!there)
        return;
    this->key = (gt_bytes){key->length, session->key};
    memcpy(session->key, key->address, (size_t)key->length);
    this->value = (gt_bytes){value->length, session->answer};
    memcpy(session->answer, value->address, (size_t)value->length);
}

/* Called by the routine: brings the last answer, takes the next request. */
__attribute__((visibility("default"))) int kvdyno_gtm_turn(int count, int there, gt_bytes *key, gt_bytes *value);
int kvdyno_gtm_turn(int count, int there, gt_bytes *key, gt_bytes *value)
{
    (void)count;
    gt_transaction *this = running;
    keep_answer(this, there, key, value);
    swapcontext(&this->inside, &this->caller);
    *key = this->key;
    *value = this->value;
    return this->request;
}

kvdyno_status gt_ask(kvdyno_session *session, int request, gt_bytes key, gt_bytes given, gt_bytes *found,
                     gt_bytes *value)
{
    gt_transaction *this = session->transaction;
    const gt_bytes nothing = {0, (char *)""};
    if (this->ended)
        return session_refuse(session, KVDYNO_ERROR, "the transaction has failed and can only be aborted");
    this->request = request;
    this->key = key.length ? key : nothing;
    this->value = given.length ? given : nothing;
    kvdyno_status status = go_on(this);
    if (status != KVDYNO_OK || request <= GT_COMMIT)
        return status;
    if (request == GT_PUT || request == GT_REMOVE)
        return KVDYNO_OK;
    if (!this->there)
        return KVDYNO_MISS;
    if (found)
        *found = this->key;
    *value = this->value;
    return KVDYNO_OK;
}

kvdyno_status adapter_begin(kvdyno_session *session, uint32_t kind)
{
    if (kind != KVDYNO_READ_WRITE)
        return session_refuse(session, KVDYNO_UNSUPPORTED, "GT.M has no snapshots");
    if (!session->stack && !(session->stack = new_stack()))
        return session_refuse(session, KVDYNO_ERROR, "no memory for the stack of a transaction");
    gt_transaction *this = calloc(1, sizeof *this);
    if (!this)
        return session_refuse(session, KVDYNO_ERROR, "out of memory");
    getcontext(&this->inside);
    this->inside.uc_stack.ss_sp = session->stack;
    this->inside.uc_stack.ss_size = STACK_SIZE;
    this->inside.uc_link = &this->caller;
    makecontext(&this->inside, inside, 0);
    this->session = session;
    session->transaction = this;
    kvdyno_status status = go_on(this);
    if (status != KVDYNO_OK)
        forget(session);
    return status;
}

/* GT.M itself has rolled back what failed. */
static kvdyno_status end(kvdyno_session *session, int how)
{
    kvdyno_status status = session->transaction->ended && how == GT_ABORT
                               ? KVDYNO_OK
                               : gt_ask(session, how, (gt_bytes){0, NULL}, (gt_bytes){0, NULL}, NULL, NULL);
    if (session->transaction)
        forget(session);
    return status;
}

kvdyno_status adapter_commit(kvdyno_session *session)
{
    return end(session, GT_COMMIT);
}

kvdyno_status adapter_abort(kvdyno_session *session)
{
    return end(session, GT_ABORT);
}
