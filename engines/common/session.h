/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * session.h: the members that the sessions and cursors of all adapters have, and errors for session_error.
 */
#ifndef KVDYNO_SESSION_H
#define KVDYNO_SESSION_H

#include "hooks.h"
#include "memory.h"

/* The transaction that is open between begin and commit or abort. */
typedef enum transaction_kind { NO_TRANSACTION, READING, WRITING } transaction_kind;

/* For struct kvdyno_session, behind the members that are used most. `broken`: a batch failed half-way in the begun
 * transaction, which can only be aborted. */
#define SESSION_MEMBERS                                                                                                \
    kvdyno_database *database;                                                                                         \
    kvdyno_cursor *cursors;                                                                                            \
    uint8_t begun; /* transaction_kind */                                                                              \
    bool broken;                                                                                                       \
    char error[640]

/* For struct kvdyno_cursor. `next`: of the session's. */
#define CURSOR_MEMBERS                                                                                                 \
    kvdyno_session *session;                                                                                           \
    kvdyno_cursor *next

/* A refusal of the adapter's own, for session_error. */
kvdyno_status session_refuse(kvdyno_session *session, kvdyno_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
kvdyno_status cursor_not_positioned(kvdyno_session *session);

#endif
