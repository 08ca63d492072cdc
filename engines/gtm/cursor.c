/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * cursor.c: a cursor is the key of the record where it stands; $ORDER looks for the neighbours of a key, whether that
 * still exists or not. So each step sees the newest state.
 */
#define _GNU_SOURCE
#include "gtm_adapter.h"

static kvdyno_status cursor_start(kvdyno_cursor *cursor)
{
    (void)cursor;
    return KVDYNO_OK;
}

static void cursor_stop(kvdyno_cursor *cursor)
{
    (void)cursor;
}

static gt_name *call_of(gt_calls *calls, int request)
{
    switch (request) {
    case GT_FORWARD:
        return &calls->forward;
    case GT_BACKWARD:
        return &calls->backward;
    case GT_NEXT:
        return &calls->next;
    default:
        return &calls->previous;
    }
}

/* The key is in the cursor then, the value in the session's answer. A miss leaves the cursor where it was. */
static kvdyno_status move(kvdyno_cursor *cursor, int request, gt_bytes from, kvdyno_bytes *found, kvdyno_bytes *value)
{
    kvdyno_session *session = cursor->session;
    gt_library *library = session->library;
    char other[GT_MAX_KEY + 1];
    gt_bytes key = {sizeof other, other}, answer = {GT_ANSWER_BYTES, session->answer};
    if (session->transaction) {
        kvdyno_status status = gt_ask(session, request, from, (gt_bytes){0, NULL}, &key, &answer);
        if (status != KVDYNO_OK)
            return status;
    } else if (library->api.gtm_cip(call_of(&library->calls, request), &from, &key, &answer))
        return session_fail(session, "$ORDER");
    if (key.length == 0)
        return KVDYNO_MISS;
    cursor->size = (size_t)key.length;
    memcpy(cursor->key, key.address, cursor->size);
    *found = (kvdyno_bytes){cursor->key + 1, cursor->size - 1};
    *value = (kvdyno_bytes){session->answer, (size_t)answer.length};
    return KVDYNO_OK;
}

kvdyno_status adapter_cursor_seek(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                  kvdyno_bytes *found, kvdyno_bytes *value)
{
    bool forward = direction == KVDYNO_FORWARD;
    cursor->size = 0;
    if (!key) /* an empty subscript stands before the first and after the last */
        return move(cursor, forward ? GT_NEXT : GT_PREVIOUS, (gt_bytes){0, cursor->key}, found, value);
    if (key_size > GT_MAX_KEY)
        return session_refuse(cursor->session, KVDYNO_ERROR, "the key is longer than keys can be");
    gt_bytes from = gt_named(cursor->session, key, key_size);
    return move(cursor, forward ? GT_FORWARD : GT_BACKWARD, from, found, value);
}

static kvdyno_status cursor_step(kvdyno_cursor *cursor, uint32_t direction, kvdyno_bytes *found, kvdyno_bytes *value)
{
    if (!cursor->size)
        return cursor_not_positioned(cursor->session);
    gt_bytes from = {(long)cursor->size, cursor->key};
    return move(cursor, direction == KVDYNO_FORWARD ? GT_NEXT : GT_PREVIOUS, from, found, value);
}

#include "cursors.h"
