/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * cursors.h: the life of cursors and their steps, to be included once, in the file that has defined struct
 * kvdyno_cursor and
 *
 *     static kvdyno_status cursor_start(kvdyno_cursor *cursor)   its `session` is set
 *     static kvdyno_status cursor_limit(kvdyno_cursor *cursor, const kvdyno_cursor_options *options)
 *                                                                where LIMITS_CURSORS is defined; it was started
 *     static void cursor_stop(kvdyno_cursor *cursor)             also after a failed start
 *     static kvdyno_status cursor_step(kvdyno_cursor *cursor, uint32_t direction, kvdyno_bytes *found,
 *                                      kvdyno_bytes *value)
 */

static inline kvdyno_status cursor_begin(kvdyno_session *session, const kvdyno_cursor_options *options,
                                         kvdyno_cursor **opened)
{
    kvdyno_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return session_refuse(session, KVDYNO_ERROR, "out of memory");
    cursor->session = session;
    kvdyno_status status = cursor_start(cursor);
#ifdef LIMITS_CURSORS
    if (status == KVDYNO_OK && options)
        status = cursor_limit(cursor, options);
#else
    (void)options;
#endif
    if (status == KVDYNO_OK) {
        cursor->next = session->cursors;
        session->cursors = *opened = cursor;
    } else {
        cursor_stop(cursor);
        free(cursor);
    }
    return status;
}

kvdyno_status adapter_cursor_open(kvdyno_session *session, kvdyno_cursor **opened)
{
    return cursor_begin(session, NULL, opened);
}

#ifdef LIMITS_CURSORS
kvdyno_status adapter_cursor_open_with(kvdyno_session *session, const kvdyno_cursor_options *options,
                                       kvdyno_cursor **opened)
{
    return cursor_begin(session, options, opened);
}
#endif

void adapter_cursor_close(kvdyno_cursor *cursor)
{
    kvdyno_cursor **link = &cursor->session->cursors;
    while (*link != cursor)
        link = &(*link)->next;
    *link = cursor->next;
    cursor_stop(cursor);
    free(cursor);
}

kvdyno_status adapter_cursor_next(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    return cursor_step(cursor, KVDYNO_FORWARD, found, value);
}

kvdyno_status adapter_cursor_previous(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value)
{
    return cursor_step(cursor, KVDYNO_BACKWARD, found, value);
}
