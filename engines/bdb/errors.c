/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What Berkeley DB's errors amount to.
 */
#include "bdb.h"

static kvdyno_status status_of(int code, const char *message)
{
    if (lost_lock(code))
        return KVDYNO_CONFLICT;
    /* A log that cannot be written makes the environment panic; the message before tells why. */
    if (code == ENOSPC || (code == DB_RUNRECOVERY && strstr(message, strerror(ENOSPC))))
        return KVDYNO_NO_SPACE;
    return KVDYNO_ERROR;
}

kvdyno_status bdb_explain_with(const bdb_library *library, engine_message *message, const char *what, int code,
                               kvdyno_text *error)
{
    char last[sizeof message->text];
    engine_message_take(message, last, sizeof last);
    say(error, "%s: %s%s%s", what, library->db_strerror(code), *last ? ": " : "", last);
    return status_of(code, last);
}

kvdyno_status bdb_explain(kvdyno_database *database, const char *what, int code, kvdyno_text *error)
{
    return bdb_explain_with(&database->library, &database->message, what, code, error);
}
