/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wt.h: what the files of the WiredTiger adapter share.
 *
 *   release.h     what differs between releases of WiredTiger
 *   wiredtiger.c  the engine as kvdyno sees it: options, capabilities, the table of functions
 *   library.c     finding and checking libwiredtiger; what its errors amount to
 *   settings.c    from kvdyno's settings to WiredTiger's configuration strings
 *   database.c    open and close; flush, compact, waiting for background work
 *   session.c     reads, writes, batches, transactions
 *   cursor.c      scans
 *   statistics.c  WiredTiger's own figures
 */
#ifndef KVDYNO_WT_H
#define KVDYNO_WT_H

#include "adapter.h"
#include "release.h"

#define WT_TABLE "table:data"
#define WT_SESSION_CONFIG "isolation=snapshot" /* WiredTiger's own default is read-committed */

/* ---- the library ---- */

/* The functions that are called by name; all others are members of the handles that the first leads to. */
/* clang-format off */
#define WT_FUNCTIONS(X)                                                                                                \
    X(int, wiredtiger_open, (const char *home, WT_EVENT_HANDLER *, const char *config, WT_CONNECTION **))              \
    X(const char *, wiredtiger_strerror, (int error))                                                                  \
    X(const char *, wiredtiger_version, (int *major, int *minor, int *patch))                                          \
    X(int, wiredtiger_config_validate, (WT_SESSION *, WT_EVENT_HANDLER *, const char *name, const char *config))       \
    X(int, wiredtiger_config_parser_open, (WT_SESSION *, const char *config, size_t, WT_CONFIG_PARSER **))
/* clang-format on */
typedef struct wt_library {
    void *handle; /* never closed, see library.c */
    WT_FUNCTIONS(API_MEMBER)
} wt_library;

/* Used instead of WiredTiger's own handler, which prints. The first member is what WiredTiger knows. */
typedef struct wt_listener {
    WT_EVENT_HANDLER handler;
    engine_message message;
    engine_message cause; /* the last message before a panic */
    bool no_space;        /* some thread of WiredTiger's met a full disk: a panic after that is for want of space */
    bool panicked;        /* nothing may be called any more, not even close, which may then never return */
} wt_listener;

kvdyno_status wt_library_open(const char *chosen, wt_library *library, kvdyno_text *error);
void wt_listener_init(wt_listener *listener);
bool wt_panicked(const wt_listener *listener);

/* Writes "what: WiredTiger's text for the code: its last message" and returns the status that the code amounts to. */
kvdyno_status wt_explain(const wt_library *library, wt_listener *listener, const char *what, int code,
                         kvdyno_text *error);

/* ---- options, in the order in which they are declared ---- */

enum {
    WT_OPTION_TYPE,
    WT_OPTION_LEAF_PAGE_MAX,
    WT_OPTION_INTERNAL_PAGE_MAX,
    WT_OPTION_PREFIX_COMPRESSION,
    WT_OPTION_CHECKPOINT_SECONDS,
    WT_OPTION_LOG_FILE_MAX,
    WT_OPTION_LOG_PREALLOC,
    WT_OPTION_EVICTION_THREADS_MAX,
    WT_OPTION_LSM_MERGE_THREADS,
    WT_OPTION_LSM_BLOOM,
    WT_OPTION_MMAP,
    WT_OPTION_DIRECT_IO,
    WT_OPTION_STATISTICS,
    WT_OPTION_OPEN_CONFIG,
    WT_OPTION_CREATE_CONFIG,
    WT_OPTION_COUNT
};

/* ---- settings ---- */

/* The settings of a database, made of a kvdyno_config. */
typedef struct wt_plan {
    bool lsm;
    bool logged; /* there is a write-ahead log */
    bool statistics;
    uint64_t chunk_size;   /* of the LSM tree */
    const char *extension; /* the compressor's library, or NULL */
    char connection[8192]; /* for wiredtiger_open */
    char table[8192];      /* for WT_SESSION::create */
    bool own;              /* with words that the user gave */
} wt_plan;

kvdyno_status wt_make_plan(const kvdyno_config *config, const wt_library *library, wt_plan *plan, kvdyno_text *error);

/* ---- a database ---- */

struct kvdyno_database {
    wt_library library;
    wt_listener listener;
    wt_plan plan;
    WT_CONNECTION *connection;
    WT_SESSION *log_session;   /* the syncer's */
    WT_SESSION *chore_session; /* for calls on the database, one at a time under `chores` */
    pthread_mutex_t chores;
    periodic_syncer log_syncer;
};

/* Reads some figures of the connection, in the order of `keys`. The caller holds `chores`. */
int wt_read_figures(kvdyno_database *database, const int *keys, uint64_t *figures, size_t count);

/* ---- sessions and cursors ---- */

struct kvdyno_session {
    WT_SESSION *session;
    WT_CURSOR *point;     /* gets and puts go through it; after a get it holds the value's page */
    WT_ITEM item;         /* of a get */
    WT_CURSOR *last;      /* where a range that is deleted ends; there from the first one on */
    WT_CURSOR *inserting; /* does not overwrite; there from the first insert-if-absent on */
    void *copy;           /* of a value that `read_modify_write` was given and that lies in the page it replaces */
    SESSION_MEMBERS;
};

#define NOT_FOUND WT_NOTFOUND

/* The status of a finished call: OK, MISS, or the error, kept for session_error. A rollback ends an open transaction.
 * */
kvdyno_status session_answer(kvdyno_session *session, const char *what, int code);

/* Makes the session's cursors let go of their pages; each goes on from its last key when it is next used. */
int wt_park_cursors(kvdyno_session *session);

#endif
