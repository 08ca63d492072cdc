/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * library.h: LMDB, as the family sees it. lmdb.h gives the types; the functions' addresses come from the library that a
 * database names, so that any version can be measured.
 */
#ifndef LMDB_LIBRARY_H
#define LMDB_LIBRARY_H

#include <lmdb.h>

#include "adapter.h"

/* clang-format off */
#define LMDB_FUNCTIONS(X)                                                                                              \
    X(mdb_version) X(mdb_strerror) X(mdb_env_create) X(mdb_env_open) X(mdb_env_close) X(mdb_env_sync)                  \
    X(mdb_env_stat) X(mdb_env_info) X(mdb_env_set_mapsize) X(mdb_env_set_maxreaders) X(mdb_reader_check)               \
    X(mdb_txn_begin) X(mdb_txn_commit) X(mdb_txn_abort) X(mdb_txn_reset) X(mdb_txn_renew) X(mdb_dbi_open)              \
    X(mdb_get) X(mdb_put) X(mdb_del) X(mdb_cursor_open) X(mdb_cursor_close) X(mdb_cursor_renew) X(mdb_cursor_get)
/* clang-format on */

typedef struct library_api {
#define MEMBER(name) __typeof__(name) *name;
    LMDB_FUNCTIONS(MEMBER)
#undef MEMBER
} library_api;

#define CALL(name) mdb_##name
typedef MDB_env tree_env;
typedef MDB_txn tree_txn;
typedef MDB_cursor tree_cursor;
typedef MDB_val tree_val;
typedef MDB_dbi tree_dbi;
typedef MDB_stat tree_stat;
#define PAGE_HEAD 16
#define MOST_KEY_BYTES SIZE_MAX /* LMDB looks itself */
#define KEY_TOO_LONG MDB_BAD_VALSIZE
#define MAP_SIZE_OPTION "map_size"
enum { NOT_FOUND = MDB_NOTFOUND, MAP_FULL = MDB_MAP_FULL, NOT_APPENDED = MDB_KEYEXIST, KEY_EXISTS = MDB_KEYEXIST };
enum { NO_OVERWRITE = MDB_NOOVERWRITE };
enum {
    TREE_FIRST = MDB_FIRST,
    TREE_LAST = MDB_LAST,
    TREE_NEXT = MDB_NEXT,
    TREE_PREV = MDB_PREV,
    TREE_SET_RANGE = MDB_SET_RANGE
};

/* The code of a call: 0, or an error. */
static inline int done(int code)
{
    return code;
}

static inline tree_val tree_value(kvdyno_bytes bytes)
{
    return (MDB_val){bytes.size, (void *)bytes.data};
}

static inline kvdyno_bytes tree_bytes(const tree_val *value)
{
    return (kvdyno_bytes){value->mv_data, value->mv_size};
}

static inline const char *tree_error(const library_api *api, int code, char *text, size_t capacity)
{
    (void)text, (void)capacity;
    return api->mdb_strerror(code);
}

static inline int tree_begin(const library_api *api, MDB_env *env, bool writes, MDB_txn **txn)
{
    return api->mdb_txn_begin(env, NULL, writes ? 0 : MDB_RDONLY, txn);
}

static inline int tree_commit(const library_api *api, MDB_txn *txn)
{
    return api->mdb_txn_commit(txn);
}

static inline void tree_abort(const library_api *api, MDB_txn *txn)
{
    api->mdb_txn_abort(txn);
}

/* Brings a read transaction to the last commit. By addresses, so that a get need not keep both across the first call.
 * */
static inline int tree_refresh(const library_api *const *api, MDB_txn *const *reader)
{
    (*api)->mdb_txn_reset(*reader);
    return (*api)->mdb_txn_renew(*reader);
}

static inline int tree_sync(const library_api *api, MDB_env *env)
{
    return api->mdb_env_sync(env, 1);
}

static inline int tree_env_close(const library_api *api, MDB_env *env, bool synced)
{
    (void)synced; /* it never syncs */
    api->mdb_env_close(env);
    return 0;
}

static inline int tree_cursor_new(const library_api *api, MDB_txn *txn, MDB_dbi dbi, MDB_cursor **cursor)
{
    return api->mdb_cursor_open(txn, dbi, cursor);
}

static inline int tree_cursor_get(const library_api *api, MDB_cursor *at, MDB_val *key, MDB_val *data, int step)
{
    return api->mdb_cursor_get(at, key, data, (MDB_cursor_op)step);
}

/* The last record at or before a key: one step back from the first at or after it, unless that is the key itself. */
static inline int tree_cursor_seek_backward(const library_api *api, MDB_cursor *at, const void *key, size_t key_size,
                                            MDB_val *found, MDB_val *data)
{
    int code = api->mdb_cursor_get(at, found, data, MDB_SET_RANGE);
    if (code == MDB_NOTFOUND)
        return api->mdb_cursor_get(at, found, data, MDB_LAST);
    if (code || (found->mv_size == key_size && memcmp(found->mv_data, key, key_size) == 0))
        return code;
    return api->mdb_cursor_get(at, found, data, MDB_PREV);
}

/* A block device instead of a folder, in device.c: whether `path` is one, whether it is blank or holds a database as
 * `create` wants it, whether this version can use it so, and the largest map that fits into it, 0 if that is not known.
 * */
bool lmdb_is_device(const char *path);
bool lmdb_device_as_expected(const kvdyno_config *config, kvdyno_text *error);
bool lmdb_can_use_device(const library_api *api, bool writemap, kvdyno_text *error);
uint64_t lmdb_device_map(const char *path);

#endif
