/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * api.h: what the adapter uses of libmdbx, whose header no package of the distribution has. build.sh compiles this file
 * behind the real mdbx.h: what is declared here must then agree with it, or the build fails.
 */
#ifndef KVDYNO_MDBX_API_H
#define KVDYNO_MDBX_API_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* The versions whose interface this is. */
#define MDBX_SUPPORTED_MAJOR 0
#define MDBX_SUPPORTED_MINOR 14

/* clang-format off */
#define MDBX_CONSTANTS(X)                                                                                              \
    X(MDBX_RESULT_TRUE, -1)                                                                                            \
    X(MDBX_NOTFOUND, -30798) X(MDBX_MAP_FULL, -30792) X(MDBX_BAD_VALSIZE, -30781) X(MDBX_EKEYMISMATCH, -30418)         \
    X(MDBX_LAGGARD_READER, -30409) X(MDBX_KEYEXIST, -30799) X(MDBX_NOOVERWRITE, 0x10)                                  \
    X(MDBX_WRITEMAP, 0x80000) X(MDBX_NOSTICKYTHREADS, 0x200000) X(MDBX_NORDAHEAD, 0x800000)                            \
    X(MDBX_NOMEMINIT, 0x1000000) X(MDBX_LIFORECLAIM, 0x4000000) X(MDBX_SYNC_DURABLE, 0) X(MDBX_NOMETASYNC, 0x40000)    \
    X(MDBX_SAFE_NOSYNC, 0x10000) X(MDBX_UTTERLY_NOSYNC, 0x110000)                                                      \
    X(MDBX_TXN_READWRITE, 0) X(MDBX_TXN_RDONLY, 0x20000) X(MDBX_UPSERT, 0) X(MDBX_APPEND, 0x20000)                     \
    X(MDBX_DB_DEFAULTS, 0) X(MDBX_opt_max_readers, 1) X(MDBX_opt_txn_dp_limit, 7)                                      \
    X(MDBX_FIRST, 0) X(MDBX_LAST, 6) X(MDBX_NEXT, 8) X(MDBX_PREV, 12) X(MDBX_SET_RANGE, 17)                            \
    X(MDBX_TO_KEY_LESSER_OR_EQUAL, 22) X(MDBX_LOG_ERROR, 1) X(MDBX_DBG_DONTCHANGE, -1)
/* clang-format on */

/* clang-format off */
#define MDBX_FUNCTIONS(X)                                                                                              \
    X(const char *, mdbx_strerror_r, (int code, char *buffer, size_t size))                                            \
    X(int, mdbx_setup_debug, (MDBX_log_level_t level, MDBX_debug_flags_t flags, MDBX_debug_func logger))               \
    X(int, mdbx_env_create, (MDBX_env **env))                                                                          \
    X(int, mdbx_env_set_option, (MDBX_env *env, MDBX_option_t option, uint64_t value))                                 \
    X(int, mdbx_env_set_geometry, (MDBX_env *env, intptr_t lower, intptr_t now, intptr_t upper, intptr_t growth,       \
                                   intptr_t shrink, intptr_t page_size))                                               \
    X(int, mdbx_env_open, (MDBX_env *env, const char *path, MDBX_env_flags_t flags, mode_t mode))                      \
    X(int, mdbx_env_close_ex, (MDBX_env *env, bool dont_sync))                                                         \
    X(int, mdbx_env_sync_ex, (MDBX_env *env, bool force, bool nonblock))                                               \
    X(int, mdbx_env_info_ex, (const MDBX_env *env, const MDBX_txn *txn, MDBX_envinfo *info, size_t size))              \
    X(int, mdbx_env_defrag, (MDBX_env *env, size_t at_least, size_t time_at_least, size_t enough, size_t time_limit,   \
                             intptr_t backlash, intptr_t batch, MDBX_defrag_notify_func notify, void *context,         \
                             MDBX_defrag_result_t *result))                                                            \
    X(int, mdbx_reader_check, (MDBX_env *env, int *dead))                                                              \
    X(int, mdbx_txn_begin_ex, (MDBX_env *env, MDBX_txn *parent, MDBX_txn_flags_t flags, MDBX_txn **txn,                \
                               void *context))                                                                         \
    X(int, mdbx_txn_commit_ex, (MDBX_txn *txn, MDBX_commit_latency *latency))                                          \
    X(int, mdbx_txn_abort_ex, (MDBX_txn *txn, MDBX_commit_latency *latency))                                           \
    X(int, mdbx_txn_reset, (MDBX_txn *txn))                                                                            \
    X(int, mdbx_txn_refresh, (MDBX_txn *txn))                                                                          \
    X(int, mdbx_dbi_open, (MDBX_txn *txn, const char *name, MDBX_db_flags_t flags, MDBX_dbi *dbi))                     \
    X(int, mdbx_dbi_stat, (const MDBX_txn *txn, MDBX_dbi dbi, MDBX_stat *stat, size_t size))                           \
    X(int, mdbx_get, (const MDBX_txn *txn, MDBX_dbi dbi, const MDBX_val *key, MDBX_val *data))                         \
    X(int, mdbx_put, (MDBX_txn *txn, MDBX_dbi dbi, const MDBX_val *key, MDBX_val *data, MDBX_put_flags_t flags))       \
    X(int, mdbx_del, (MDBX_txn *txn, MDBX_dbi dbi, const MDBX_val *key, const MDBX_val *data))                         \
    X(MDBX_cursor *, mdbx_cursor_create, (void *context))                                                              \
    X(int, mdbx_cursor_bind, (MDBX_txn *txn, MDBX_cursor *cursor, MDBX_dbi dbi))                                       \
    X(void, mdbx_cursor_close, (MDBX_cursor *cursor))                                                                  \
    X(int, mdbx_cursor_get, (MDBX_cursor *cursor, MDBX_val *key, MDBX_val *data, MDBX_cursor_op op))                   \
    X(int, mdbx_cursor_delete_range, (MDBX_cursor *begin, MDBX_cursor *end, bool end_including, uint64_t *count))
/* clang-format on */

/* clang-format off */
#define MDBX_STAT_MEMBERS(X)                                                                                           \
    X(uint32_t, ms_psize) X(uint32_t, ms_depth) X(uint64_t, ms_branch_pages) X(uint64_t, ms_leaf_pages)                \
    X(uint64_t, ms_overflow_pages) X(uint64_t, ms_entries) X(uint64_t, ms_mod_txnid)
/* clang-format on */

/* The groups that have no name here are not looked at. */
struct geometry {
    uint64_t lower, upper, current, shrink, grow;
};
struct page_operations {
    uint64_t newly, cow, clone, split, merge, spill, unspill, wops, prefault, mincore, msync, fsync;
};
/* clang-format off */
#define MDBX_ENVINFO_MEMBERS(X)                                                                                        \
    X(struct geometry, mi_geo)                                                                                         \
    X(uint64_t, mi_mapsize) X(uint64_t, mi_dxb_fsize) X(uint64_t, mi_dxb_fallocated) X(uint64_t, mi_last_pgno)         \
    X(uint64_t, mi_recent_txnid) X(uint64_t, mi_latter_reader_txnid) X(uint64_t, mi_self_latter_reader_txnid)          \
    X(three_pairs, mi_meta_txnid)                                                                                      \
    X(uint32_t, mi_maxreaders) X(uint32_t, mi_numreaders) X(uint32_t, mi_dxb_pagesize) X(uint32_t, mi_sys_pagesize)    \
    X(uint32_t, mi_sys_upcblk) X(uint32_t, mi_sys_ioblk)                                                               \
    X(four_pairs, mi_bootid)                                                                                           \
    X(uint64_t, mi_unsync_volume) X(uint64_t, mi_autosync_threshold) X(uint32_t, mi_since_sync_seconds16dot16)         \
    X(uint32_t, mi_autosync_period_seconds16dot16) X(uint32_t, mi_since_reader_check_seconds16dot16)                   \
    X(uint32_t, mi_mode)                                                                                               \
    X(struct page_operations, mi_pgop_stat)                                                                            \
    X(one_pair, mi_dxbid)
/* clang-format on */
typedef uint64_t one_pair[2], three_pairs[6], four_pairs[8];

#define VERSION_MEMBERS(X) X(uint16_t, major) X(uint16_t, minor) X(uint16_t, patch) X(uint16_t, tweak)

#define DECLARE_MEMBER(type, name) type name;

#ifndef LIBMDBX_H

typedef struct MDBX_env MDBX_env;
typedef struct MDBX_txn MDBX_txn;
typedef struct MDBX_cursor MDBX_cursor;
typedef struct MDBX_commit_latency MDBX_commit_latency;
typedef struct MDBX_defrag_result MDBX_defrag_result_t;
typedef int (*MDBX_defrag_notify_func)(void *context, const MDBX_defrag_result_t *progress);
typedef struct iovec MDBX_val;
typedef uint32_t MDBX_dbi;
typedef unsigned MDBX_env_flags_t, MDBX_db_flags_t, MDBX_put_flags_t, MDBX_option_t, MDBX_cursor_op;
typedef int MDBX_txn_flags_t, MDBX_log_level_t, MDBX_debug_flags_t;
typedef void (*MDBX_debug_func)(MDBX_log_level_t level, const char *function, int line, const char *format,
                                va_list arguments);
#define MDBX_LOGGER_DONTCHANGE ((MDBX_debug_func)(intptr_t)-1)

#define DECLARE_CONSTANT(name, value) name = value,
enum { MDBX_CONSTANTS(DECLARE_CONSTANT) };
typedef struct MDBX_stat {
    MDBX_STAT_MEMBERS(DECLARE_MEMBER)
} MDBX_stat;
typedef struct MDBX_envinfo {
    MDBX_ENVINFO_MEMBERS(DECLARE_MEMBER)
} MDBX_envinfo;
typedef struct MDBX_version_info {
    VERSION_MEMBERS(DECLARE_MEMBER)
} MDBX_version_info;

#else /* the real header is here: does it agree? */

#define DECLARE_FUNCTION(type, name, arguments) type name arguments;
MDBX_FUNCTIONS(DECLARE_FUNCTION)

struct our_stat {
    MDBX_STAT_MEMBERS(DECLARE_MEMBER)
};
struct our_envinfo {
    MDBX_ENVINFO_MEMBERS(DECLARE_MEMBER)
};
struct our_version {
    VERSION_MEMBERS(DECLARE_MEMBER)
};
#define SAME_CONSTANT(name, value) _Static_assert(name == value, #name " differs");
#define SAME_OFFSET(ours, theirs, name)                                                                                \
    _Static_assert(offsetof(struct ours, name) == offsetof(struct theirs, name), #name " lies at another offset");
#define SAME_IN_STAT(type, name) SAME_OFFSET(our_stat, MDBX_stat, name)
#define SAME_IN_ENVINFO(type, name) SAME_OFFSET(our_envinfo, MDBX_envinfo, name)
#define SAME_IN_VERSION(type, name) SAME_OFFSET(our_version, MDBX_version_info, name)
MDBX_CONSTANTS(SAME_CONSTANT)
MDBX_STAT_MEMBERS(SAME_IN_STAT)
MDBX_ENVINFO_MEMBERS(SAME_IN_ENVINFO)
VERSION_MEMBERS(SAME_IN_VERSION)
_Static_assert(sizeof(struct our_stat) == sizeof(MDBX_stat), "MDBX_stat has another size");
_Static_assert(sizeof(struct our_envinfo) == sizeof(MDBX_envinfo), "MDBX_envinfo has another size");
_Static_assert(MDBX_VERSION_MAJOR == MDBX_SUPPORTED_MAJOR && MDBX_VERSION_MINOR == MDBX_SUPPORTED_MINOR,
               "another version of libmdbx");

#endif
#endif
