/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * life.h: opening and closing, to be included once, in the file that has defined struct kvdyno_session and
 *
 *     static kvdyno_status session_start(kvdyno_session *session, kvdyno_text *error)   its `database` is set
 *     static void session_stop(kvdyno_session *session)                                also after a failed start
 *
 * The host closes cursors and ends transactions before it closes a session.
 */

kvdyno_status adapter_session_open(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **opened,
                                   kvdyno_text *error)
{
    (void)host;
    kvdyno_session *session = allocate(sizeof *session, error);
    if (!session)
        return KVDYNO_ERROR;
    session->database = database;
    kvdyno_status status = session_start(session, error);
    if (status == KVDYNO_OK)
        *opened = session;
    else
        adapter_session_close(session);
    return status;
}

void adapter_session_close(kvdyno_session *session)
{
    session_stop(session);
    free(session);
}

void adapter_session_error(kvdyno_session *session, kvdyno_text *error)
{
    say(error, "%s", session->error);
}

kvdyno_status session_refuse(kvdyno_session *session, kvdyno_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(session->error, sizeof session->error, format, arguments);
    va_end(arguments);
    return status;
}

kvdyno_status cursor_not_positioned(kvdyno_session *session)
{
    return session_refuse(session, KVDYNO_ERROR, "the cursor stands nowhere: seek first");
}
