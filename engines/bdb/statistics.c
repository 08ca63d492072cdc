/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Berkeley DB's own figures, under the names of its statistics structures.
 */
#include "bdb.h"

/* clang-format off */
#define CACHE_FIGURES(X)                                                                                               \
    X(st_regsize) X(st_pages) X(st_page_clean) X(st_page_dirty) X(st_cache_hit) X(st_cache_miss)                       \
    X(st_page_create) X(st_page_in) X(st_page_out) X(st_ro_evict) X(st_rw_evict) X(st_hash_wait)                       \
    X(st_region_wait) X(st_io_wait) X(st_mvcc_frozen) X(st_mvcc_thawed)
#define LOCKS_FIGURES(X)                                                                                               \
    X(st_nrequests) X(st_lock_wait) X(st_ndeadlocks) X(st_maxnlocks) X(st_maxnlockers) X(st_partitions)                \
    X(st_part_wait) X(st_regsize)
#define LOG_FIGURES(X)                                                                                                 \
    X(st_w_mbytes) X(st_w_bytes) X(st_record) X(st_wcount) X(st_wcount_fill) X(st_scount)                              \
    X(st_maxcommitperflush) X(st_region_wait)
#define TRANSACTIONS_FIGURES(X)                                                                                        \
    X(st_nbegins) X(st_ncommits) X(st_naborts) X(st_maxnactive) X(st_maxnsnapshot)
/* clang-format on */
#define TABLE_FIGURES(X) X(bt_pagesize) X(bt_pagecnt)

#define FIGURE(member) {#member, (uint64_t)stat->member},

/* A function that emits the figures of one structure, which `call` fills in and the C library frees. */
#define SAY(function, topic, type, figures_of, call)                                                                   \
    static int function(kvdyno_database *database, kvdyno_emit emit, void *context)                                    \
    {                                                                                                                  \
        DB_ENV *env = database->env;                                                                                   \
        DB *db = database->db;                                                                                         \
        type *stat;                                                                                                    \
        (void)env, (void)db;                                                                                           \
        int code = call;                                                                                               \
        if (code != 0)                                                                                                 \
            return code;                                                                                               \
        const figure figures[] = {figures_of(FIGURE)};                                                                 \
        emit_figures(topic, figures, sizeof figures / sizeof *figures, emit, context);                                 \
        free(stat);                                                                                                    \
        return 0;                                                                                                      \
    }

SAY(say_cache, "cache", DB_MPOOL_STAT, CACHE_FIGURES, env->memp_stat(env, &stat, NULL, 0))
SAY(say_locks, "locks", DB_LOCK_STAT, LOCKS_FIGURES, env->lock_stat(env, &stat, 0))
SAY(say_log, "log", DB_LOG_STAT, LOG_FIGURES, env->log_stat(env, &stat, 0))
SAY(say_transactions, "transactions", DB_TXN_STAT, TRANSACTIONS_FIGURES, env->txn_stat(env, &stat, 0))
/* Only what is known without walking the tree. */
SAY(say_table, "btree", DB_BTREE_STAT, TABLE_FIGURES, db->stat(db, NULL, &stat, DB_FAST_STAT))

kvdyno_status adapter_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    static int (*const all[])(kvdyno_database *, kvdyno_emit, void *) = {say_cache, say_locks, say_log,
                                                                         say_transactions, say_table};
    int code = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all && code == 0; i++)
        code = all[i](database, emit, context);
    return code ? KVDYNO_ERROR : KVDYNO_OK;
}

/* Pages that went from the cache to the files, at checkpoints and to make space; the log is not in it. Figures of the
 * whole cache would take a walk through it. */
kvdyno_status adapter_counters(kvdyno_database *database, kvdyno_counters *counters)
{
    DB_MPOOL_FSTAT **files = NULL;
    uint64_t bytes = 0;
    if (database->env->memp_stat(database->env, NULL, &files, 0) != 0)
        return KVDYNO_ERROR;
    for (DB_MPOOL_FSTAT **file = files; file && *file; file++)
        bytes += (uint64_t)(*file)->st_page_out * (*file)->st_pagesize;
    if (COUNTS(counters, flushed_bytes))
        counters->flushed_bytes = bytes;
    free(files);
    return KVDYNO_OK;
}
