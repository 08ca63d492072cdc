/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * settle.h: the end of what the last read of a session handed out, at the next call.
 */
#ifndef SETTLE_H
#define SETTLE_H

/* Of values that are not pinned. */
void rdb_release_copies(kvdyno_session *session);

static inline void settle(kvdyno_session *session)
{
    if (session->pinned) {
        session->api->pinnableslice_destroy(session->pinned);
        session->pinned = NULL;
    } else if (session->copied || session->many.count) {
        rdb_release_copies(session);
    }
}

#endif
