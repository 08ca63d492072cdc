/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * family.h: one adapter for LMDB and libmdbx, which grew out of it: memory-mapped copy-on-write trees, one writer
 * beside any number of readers. This folder is no adapter: an engine of the family names it in its flags.mk and has in
 * its own folder a library.h that says how its library differs.
 *
 * A value that `get` hands out lies in the map, and stays there as long as a read transaction that saw it. So a session
 * keeps one read transaction, resets it at the next call of any kind and brings it to the last commit for the next
 * read. The price: a session that rests after a read keeps the engine from reusing the pages freed since then, until
 * its next call or its end: beside a writer the file grows. An empty read-only transaction, begin and commit, leaves a
 * session at rest.
 */
#ifndef LMDB_FAMILY_H
#define LMDB_FAMILY_H

#include "adapter.h"
#include "library.h"

struct kvdyno_database {
    library_api api;
    tree_env *env;
    tree_dbi dbi;
    unsigned append; /* the flag of a put that appends, or 0 */
    periodic_syncer syncer;
    process_turn turn;
};

struct kvdyno_session {
    const library_api *api;
    tree_txn *current; /* the one that reads go to: `reader`, or the transaction that was begun for writing */
    tree_txn *reader;
    tree_dbi dbi;
    unsigned append; /* the flag of the next put: that of the database, until a put of this batch did not append */
    SESSION_MEMBERS;
};

struct kvdyno_cursor {
    CURSOR_MEMBERS;
    tree_txn *txn;      /* its own, at the last commit at each seek outside of a begun transaction */
    tree_cursor *own;   /* in `txn` */
    tree_cursor *begun; /* in the session's begun transaction, or NULL */
    tree_cursor *at;    /* the one of them that was sought last; NULL: none, or its transaction has ended */
};

/* ---- parts that each engine has: NAME.c, library.c ---- */

bool library_load(const char *chosen, library_api *api, kvdyno_text *error);
/* Whether `config` can be honoured. */
bool engine_accepts(const kvdyno_config *config, kvdyno_text *error);
/* Whether the database is there, or not, as `config` has it, and this library can open it. */
kvdyno_status engine_prepare(const kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error);
/* Between making the environment and opening it. A code of the engine's, and the call that gave it. */
int engine_configure(kvdyno_database *database, const kvdyno_config *config, const char **what);
unsigned engine_flags(const kvdyno_config *config);
/* Puts the cursor into the transaction that a seek looks into: the begun one, or its own at the last commit. */
int cursor_enter(kvdyno_cursor *cursor);
/* Takes it out of the begun transaction, which is about to end. */
void cursor_leave(kvdyno_cursor *cursor);

/* ---- the table ---- */

#define FAMILY_CAPABILITIES                                                                                            \
    (CAN_STORE_IN_ORDER | KVDYNO_CAN_MULTI_GET | KVDYNO_CAN_TRANSACT | KVDYNO_CAN_SNAPSHOT |                           \
     KVDYNO_CAN_READ_MODIFY_WRITE | KVDYNO_CAN_SHARE_PROCESSES | KVDYNO_IS_MAPPED | KVDYNO_READS_REPEAT |              \
     KVDYNO_IS_SERIALIZABLE | KVDYNO_CAN_INSERT_IF_ABSENT)
#define FAMILY_HOOKS                                                                                                   \
    .multi_get = adapter_multi_get, .read_modify_write = adapter_read_modify_write,                                    \
    .insert_if_absent = adapter_insert_if_absent, .compressions = COMPRESSION(NONE)

/* ---- settings.c ---- */

/* The most bytes that the database may grow to: the option, or 4 times the expected data, from 1 GiB up. */
uint64_t family_map_size(const kvdyno_config *config, const kvdyno_option *options, int option, uint64_t page);
/* Reader slots: the engine's own default, and for each session of each process one for its reads and three for cursors.
 * */
unsigned family_max_readers(const kvdyno_config *config, unsigned default_readers);
/* That durability `none` is met as `process` is: neither engine has a weaker mode. */
void family_say_stronger(const kvdyno_config *config, kvdyno_emit emit, void *context);
void family_say_periodic(const kvdyno_config *config, const char *call, kvdyno_emit emit, void *context);
void family_say_tree(const tree_stat *stat, kvdyno_emit emit, void *context);
void family_say_memory(const char *write_buffer, kvdyno_emit emit, void *context);

/* ---- environment.c, session.c ---- */

/* Says what failed in the engine's words, and what to do where the map is full. */
kvdyno_status family_explain(const library_api *api, const char *what, int code, kvdyno_text *error);
/* The status of a finished call: OK, MISS, or the error, kept for session_error. */
kvdyno_status session_answer(kvdyno_session *session, const char *what, int code);

/* To be called before whatever is no read: what the last read handed out is borrowed no longer. A transaction that is
 * reset already may be reset again. */
static inline void settle(kvdyno_session *session)
{
    session->append = session->database->append;
    if (!session->begun)
        session->api->CALL(txn_reset)(session->reader);
}

#endif
