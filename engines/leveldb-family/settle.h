/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * settle.h: the end of what the last read of a session handed out, at the next call.
 */
#ifndef SETTLE_H
#define SETTLE_H

static inline void settle(kvdyno_session *session)
{
    session->api->free(session->value);
    session->value = NULL;
    for (; session->value_count; session->value_count--)
        session->api->free(session->values[session->value_count - 1]);
}

#endif
