/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * family.h: one adapter for LevelDB, its descendants, and RocksDB, which share a C API: log-structured merge trees with
 * snapshots. This folder is no adapter: an engine of the family names it in its flags.mk and has in its own folder an
 * engine.h with what its handles hold besides.
 */
#ifndef LSM_FAMILY_H
#define LSM_FAMILY_H

#include "adapter.h"
#include "api.h"
#include "engine.h"

struct kvdyno_database {
    library_api api;
    lsm_db *db;
    lsm_options *options;
    lsm_cache *cache;
    lsm_writeoptions *writes[DURABILITY_LEVELS]; /* as each level asks */
    lsm_batch *nothing;                          /* an empty batch: written as COMMIT, it syncs the log */
    uint32_t durability;                         /* of sessions that say no other */
    uint32_t weakest;                            /* the least at which anything is written */
    bool verify_checksums, fill_cache;
    periodic_syncer syncer;
    char syncer_error[256];
    DATABASE_MEMBERS;
};

struct kvdyno_session {
    const library_api *api;
    lsm_db *db;
    lsm_writeoptions *write; /* the database's, for the session's level */
    lsm_readoptions *read;   /* with the snapshot of a begun transaction, if there is one */
    READ_MEMBERS;
    const lsm_snapshot *snapshot; /* of the begun transaction */
    lsm_batch *batch;
    SESSION_MEMBERS;
};

/* ---- parts that each engine has ---- */

/* Loads the library, and whether `config` can be honoured, by the engine and by this library. */
kvdyno_status engine_prepare(const kvdyno_config *config, library_api *api, kvdyno_text *error);
/* Sets what the engine has besides, in `database->options` and elsewhere; all of it is there even if it refuses. */
kvdyno_status engine_configure(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error);
/* Why the database cannot be opened, before the library tries. */
bool engine_forbids(const kvdyno_config *config, kvdyno_text *error);
void engine_opened(kvdyno_database *database, const kvdyno_config *config);
/* Puts on the storage at close what was acknowledged. */
kvdyno_status engine_persist(kvdyno_database *database, kvdyno_text *error);
/* After a call that cannot say that it failed. */
kvdyno_status engine_health(kvdyno_database *database, kvdyno_text *error);
void engine_closed(kvdyno_database *database);

void engine_session_start(kvdyno_session *session);
void engine_session_stop(kvdyno_session *session);
/* Reads see `snapshot`, or if it is NULL the newest state. */
void engine_read_from(kvdyno_session *session, const lsm_snapshot *snapshot);
/* Why there are no cursors, or NULL. */
const char *engine_lacks_cursors(const kvdyno_session *session);
/* Makes read options with bounds, whose keys are kept in `keys`. Where LIMITS_CURSORS is defined. */
kvdyno_status engine_bound_reads(kvdyno_session *session, const kvdyno_cursor_options *options, growing *keys,
                                 lsm_readoptions **within);
/* To the last record at or before a key. */
void engine_seek_backward(const library_api *api, lsm_iterator *iterator, const void *key, size_t key_size);

/* ---- database.c, session.c ---- */

kvdyno_status family_sync_log(kvdyno_database *database, kvdyno_text *error);
/* Says what failed in the engine's words. Takes `problem`, which the library allocated. */
kvdyno_status family_explain(const library_api *api, const char *what, char *problem, kvdyno_text *error);
/* A property that is a number; 0 if this version does not know it. */
uint64_t family_number(kvdyno_database *database, const char *property);
/* `properties` ends with NULL. */
void family_say_properties(kvdyno_database *database, const char *const *properties, kvdyno_emit emit, void *context);
/* The same for session_error; OK if there is no problem. */
kvdyno_status session_answer(kvdyno_session *session, const char *what, char *problem);
lsm_readoptions *family_read_options(const kvdyno_database *database);
void family_take_snapshot(kvdyno_session *session);
void family_release_snapshot(kvdyno_session *session);

/* Lengths are stored in 32 bits, that of a key with 8 bytes of the engine's own. */
#define FAMILY_LIMITS .max_key_size = UINT32_MAX - 8, .max_value_size = UINT32_MAX
#define FAMILY_CAPABILITIES                                                                                            \
    (CAN_STORE_IN_ORDER | KVDYNO_CAN_MULTI_GET | KVDYNO_CAN_SNAPSHOT | KVDYNO_CAN_WRITE_CONCURRENTLY |                 \
     KVDYNO_CAN_SET_DURABILITY)

#endif
