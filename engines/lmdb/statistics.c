/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * statistics.c: what LMDB tells of itself.
 */
#include "lmdb_adapter.h"

kvdyno_status lmdb_statistics(kvdyno_database *database, kvdyno_emit emit, void *context)
{
    MDB_stat stat;
    MDB_envinfo info;
    if (database->api.mdb_env_stat(database->env, &stat) || database->api.mdb_env_info(database->env, &info))
        return KVDYNO_ERROR;
    emitf(emit, context, "tree", "entries", "%zu", stat.ms_entries);
    emitf(emit, context, "tree", "depth", "%u", stat.ms_depth);
    emitf(emit, context, "tree", "page_size", "%u", stat.ms_psize);
    emitf(emit, context, "tree", "branch_pages", "%zu", stat.ms_branch_pages);
    emitf(emit, context, "tree", "leaf_pages", "%zu", stat.ms_leaf_pages);
    emitf(emit, context, "tree", "overflow_pages", "%zu", stat.ms_overflow_pages);
    emitf(emit, context, "environment", "map_size", "%zu", info.me_mapsize);
    emitf(emit, context, "environment", "last_page", "%zu", info.me_last_pgno);
    emitf(emit, context, "environment", "last_transaction", "%zu", info.me_last_txnid);
    emitf(emit, context, "environment", "max_readers", "%u", info.me_maxreaders);
    emitf(emit, context, "environment", "readers", "%u", info.me_numreaders);
    return KVDYNO_OK;
}
