/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Berkeley DB's own figures, under the names of its statistics structures.
 */
#include "bdb.h"

#define FIGURE(topic, stat, member) emitf(emit, context, topic, #member, "%" PRIu64, (uint64_t)(stat)->member)

static int say_cache(DB_ENV *env, kvdyno_emit emit, void *context)
{
    DB_MPOOL_STAT *stat;
    int code = env->memp_stat(env, &stat, NULL, 0);
    if (code != 0)
        return code;
    FIGURE("cache", stat, st_regsize);
    FIGURE("cache", stat, st_pages);
    FIGURE("cache", stat, st_page_clean);
    FIGURE("cache", stat, st_page_dirty);
    FIGURE("cache", stat, st_cache_hit);
    FIGURE("cache", stat, st_cache_miss);
    FIGURE("cache", stat, st_page_create);
    FIGURE("cache", stat, st_page_in);
    FIGURE("cache", stat, st_page_out);
    FIGURE("cache", stat, st_ro_evict);
    FIGURE("cache", stat, st_rw_evict);
    FIGURE("cache", stat, st_hash_wait);
    FIGURE("cache", stat, st_region_wait);
    FIGURE("cache", stat, st_io_wait);
    FIGURE("cache", stat, st_mvcc_frozen);
    FIGURE("cache", stat, st_mvcc_thawed);
    free(stat);
    return 0;
}

static int say_locks(DB_ENV *env, kvdyno_emit emit, void *context)
{
    DB_LOCK_STAT *stat;
    int code = env->lock_stat(env, &stat, 0);
    if (code != 0)
        return code;
    FIGURE("locks", stat, st_nrequests);
    FIGURE("locks", stat, st_lock_wait);
    FIGURE("locks", stat, st_ndeadlocks);
    FIGURE("locks", stat, st_maxnlocks);
    FIGURE("locks", stat, st_maxnlockers);
    FIGURE("locks", stat, st_partitions);
    FIGURE("locks", stat, st_part_wait);
    FIGURE("locks", stat, st_regsize);
    free(stat);
    return 0;
}

static int say_log(DB_ENV *env, kvdyno_emit emit, void *context)
{
    DB_LOG_STAT *stat;
    int code = env->log_stat(env, &stat, 0);
    if (code != 0)
        return code;
    uint64_t written = (uint64_t)stat->st_w_mbytes * 1024 * 1024 + stat->st_w_bytes;
    emitf(emit, context, "log", "st_w_mbytes, st_w_bytes", "%" PRIu64, written);
    FIGURE("log", stat, st_record);
    FIGURE("log", stat, st_wcount);
    FIGURE("log", stat, st_wcount_fill);
    FIGURE("log", stat, st_scount);
    FIGURE("log", stat, st_maxcommitperflush);
    FIGURE("log", stat, st_region_wait);
    free(stat);
    return 0;
}

static int say_transactions(DB_ENV *env, kvdyno_emit emit, void *context)
{
    DB_TXN_STAT *stat;
    int code = env->txn_stat(env, &stat, 0);
    if (code != 0)
        return code;
    FIGURE("transactions", stat, st_nbegins);
    FIGURE("transactions", stat, st_ncommits);
    FIGURE("transactions", stat, st_naborts);
    FIGURE("transactions", stat, st_maxnactive);
    FIGURE("transactions", stat, st_maxnsnapshot);
    free(stat);
    return 0;
}

/* Only what is known without walking the tree. */
static int say_table(DB *db, kvdyno_emit emit, void *context)
{
    DB_BTREE_STAT *stat;
    int code = db->stat(db, NULL, &stat, DB_FAST_STAT);
    if (code != 0)
        return code;
    FIGURE("btree", stat, bt_pagesize);
    FIGURE("btree", stat, bt_pagecnt);
    free(stat);
    return 0;
}

kvdyno_status bdb_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    DB_ENV *env = database->env;
    int code = say_cache(env, emit, context);
    if (code == 0)
        code = say_locks(env, emit, context);
    if (code == 0)
        code = say_log(env, emit, context);
    if (code == 0)
        code = say_transactions(env, emit, context);
    if (code == 0)
        code = say_table(database->db, emit, context);
    return code ? KVDYNO_ERROR : KVDYNO_OK;
}
