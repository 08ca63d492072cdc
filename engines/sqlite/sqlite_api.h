/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * sqlite_api.h: what this adapter calls of SQLite's C interface, which has been stable since version 3.0. The library
 * is loaded at run time, so that any version can be measured, and no header of it is needed to build.
 */
#ifndef SQLITE_API_H
#define SQLITE_API_H

#include <stdint.h>

#include "library.h"

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

/* A file as SQLite's layer for the operating system sees it, and its methods, of which the adapter calls the first. */
typedef struct sqlite3_file sqlite3_file;
struct sqlite3_file {
    const struct sqlite3_io_methods {
        int version;
        int (*close)(sqlite3_file *);
        int (*read)(sqlite3_file *, void *, int, int64_t);
        int (*write)(sqlite3_file *, const void *, int, int64_t);
        int (*truncate)(sqlite3_file *, int64_t);
        int (*sync)(sqlite3_file *, int);
        void (*others[13])(void); /* of versions up to 3 */
    } *methods;                   /* NULL: not open */
};

/* Result codes: the lowest byte is the kind, the rest says more of it. */
enum {
    SQLITE_OK = 0,
    SQLITE_BUSY = 5,
    SQLITE_FULL = 13,
    SQLITE_CONSTRAINT = 19,
    SQLITE_MISUSE = 21,
    SQLITE_ROW = 100,
    SQLITE_DONE = 101
};
/* Of sqlite3_open_v2, */
enum { SQLITE_OPEN_READWRITE = 0x2, SQLITE_OPEN_CREATE = 0x4, SQLITE_OPEN_NOMUTEX = 0x8000 };
/* sqlite3_wal_checkpoint_v2 (those after it are FULL, RESTART, TRUNCATE), */
enum { SQLITE_CHECKPOINT_PASSIVE = 0 };
/* sqlite3_config, sqlite3_prepare_v3, */
enum { SQLITE_CONFIG_MEMSTATUS = 9, SQLITE_PREPARE_PERSISTENT = 1 };
/* sqlite3_file_control (JOURNAL: the rollback journal, or the write-ahead log), xSync, */
enum { SQLITE_FCNTL_FILE_POINTER = 7, SQLITE_FCNTL_JOURNAL_POINTER = 28, SQLITE_SYNC_NORMAL = 2 };
/* sqlite3_status64, */
enum { SQLITE_STATUS_MEMORY_USED = 0, SQLITE_STATUS_PAGECACHE_OVERFLOW = 2, SQLITE_STATUS_MALLOC_COUNT = 9 };
/* sqlite3_db_status. */
enum {
    SQLITE_DBSTATUS_CACHE_HIT = 7,
    SQLITE_DBSTATUS_CACHE_MISS = 8,
    SQLITE_DBSTATUS_CACHE_WRITE = 9,
    SQLITE_DBSTATUS_CACHE_SPILL = 12
};

#define SQLITE_STATIC ((void (*)(void *))0) /* what is bound stays where it is until it is bound anew */

/* X(returned type, name, parameters) */
/* clang-format off */
#define SQLITE_FUNCTIONS(X)                                                                                            \
    X(const char *, libversion, (void)) X(int, threadsafe, (void)) X(int, compileoption_used, (const char *))          \
    X(const char *, compileoption_get, (int)) X(int, config, (int, ...)) X(int, initialize, (void))                    \
    X(int, shutdown, (void)) X(int, open_v2, (const char *, sqlite3 **, int, const char *))                            \
    X(int, close, (sqlite3 *)) X(int, extended_result_codes, (sqlite3 *, int)) X(const char *, errmsg, (sqlite3 *))    \
    X(const char *, errstr, (int)) X(int, system_errno, (sqlite3 *)) X(int, busy_timeout, (sqlite3 *, int))            \
    X(int, busy_handler, (sqlite3 *, int (*)(void *, int), void *))                                                    \
    X(int, exec, (sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **))                   \
    X(int, prepare_v3, (sqlite3 *, const char *, int, unsigned, sqlite3_stmt **, const char **))                       \
    X(int, finalize, (sqlite3_stmt *)) X(int, reset, (sqlite3_stmt *)) X(int, step, (sqlite3_stmt *))                  \
    X(int, bind_blob64, (sqlite3_stmt *, int, const void *, uint64_t, void (*)(void *)))                               \
    X(const void *, column_blob, (sqlite3_stmt *, int)) X(int, column_bytes, (sqlite3_stmt *, int))                    \
    X(int, changes, (sqlite3 *)) X(int, get_autocommit, (sqlite3 *))                                                   \
    X(int, file_control, (sqlite3 *, const char *, int, void *))                                                       \
    X(int, wal_checkpoint_v2, (sqlite3 *, const char *, int, int *, int *))                                            \
    X(int, status64, (int, int64_t *, int64_t *, int)) X(int, db_status, (sqlite3 *, int, int *, int *, int))
/* clang-format on */

typedef struct sqlite_api {
    SQLITE_FUNCTIONS(API_MEMBER)
    char **temp_directory; /* SQLite's global variable: where temporary files go; NULL in some builds */
} sqlite_api;

#endif
