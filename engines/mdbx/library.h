/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * library.h: libmdbx, as the family sees it. The functions' addresses come from the library that a database names.
 */
#ifndef MDBX_LIBRARY_H
#define MDBX_LIBRARY_H

#include "adapter.h"
#include "api.h"

typedef struct library_api {
    MDBX_FUNCTIONS(API_MEMBER)
    const MDBX_version_info *version;
} library_api;

#define CALL(name) mdbx_##name
typedef MDBX_env tree_env;
typedef MDBX_txn tree_txn;
typedef MDBX_cursor tree_cursor;
typedef MDBX_val tree_val;
typedef MDBX_dbi tree_dbi;
typedef MDBX_stat tree_stat;
#define PAGE_HEAD 20
#define MOST_KEY_BYTES                                                                                                 \
    2022 /* with pages of 4 KiB; larger ones would take longer keys, but a limit should not depend on
                               an option */
#define KEY_TOO_LONG MDBX_BAD_VALSIZE
#define MAP_SIZE_OPTION "size_upper"
enum { NOT_FOUND = MDBX_NOTFOUND, MAP_FULL = MDBX_MAP_FULL, NOT_APPENDED = MDBX_EKEYMISMATCH };
enum { KEY_EXISTS = MDBX_KEYEXIST, NO_OVERWRITE = MDBX_NOOVERWRITE };
enum {
    TREE_FIRST = MDBX_FIRST,
    TREE_LAST = MDBX_LAST,
    TREE_NEXT = MDBX_NEXT,
    TREE_PREV = MDBX_PREV,
    TREE_SET_RANGE = MDBX_SET_RANGE
};

/* The code of a call: 0, or an error. RESULT_TRUE is a remark, such as that there was nothing to sync. */
static inline int done(int code)
{
    return code == MDBX_RESULT_TRUE ? 0 : code;
}

static inline tree_val tree_value(kvdyno_bytes bytes)
{
    return (MDBX_val){(void *)bytes.data, bytes.size};
}

static inline kvdyno_bytes tree_bytes(const tree_val *value)
{
    return (kvdyno_bytes){value->iov_base, value->iov_len};
}

/* It is only the commit whose RESULT_TRUE is an error. */
static inline const char *tree_error(const library_api *api, int code, char *text, size_t capacity)
{
    return code == MDBX_RESULT_TRUE ? "something failed in this transaction: it was aborted"
                                    : api->mdbx_strerror_r(code, text, capacity);
}

static inline int tree_begin(const library_api *api, MDBX_env *env, bool writes, MDBX_txn **txn)
{
    return api->mdbx_txn_begin_ex(env, NULL, writes ? MDBX_TXN_READWRITE : MDBX_TXN_RDONLY, txn, NULL);
}

static inline int tree_commit(const library_api *api, MDBX_txn *txn)
{
    return api->mdbx_txn_commit_ex(txn, NULL);
}

static inline void tree_abort(const library_api *api, MDBX_txn *txn)
{
    api->mdbx_txn_abort_ex(txn, NULL);
}

/* Brings a read transaction to the last commit, also if it was reset. libmdbx says whether there was a newer one. */
static inline int tree_refresh(const library_api *const *api, MDBX_txn *const *reader)
{
    int code = (*api)->mdbx_txn_refresh(*reader);
    return __builtin_expect(code == MDBX_RESULT_TRUE, 1) ? 0 : code;
}

static inline int tree_sync(const library_api *api, MDBX_env *env)
{
    return done(api->mdbx_env_sync_ex(env, true, false));
}

static inline int tree_env_close(const library_api *api, MDBX_env *env, bool synced)
{
    return api->mdbx_env_close_ex(env, !synced);
}

/* It is bound to a transaction by each seek. */
static inline int tree_cursor_new(const library_api *api, MDBX_txn *txn, MDBX_dbi dbi, MDBX_cursor **cursor)
{
    (void)txn, (void)dbi;
    *cursor = api->mdbx_cursor_create(NULL);
    return *cursor ? 0 : ENOMEM;
}

static inline int tree_cursor_get(const library_api *api, MDBX_cursor *at, MDBX_val *key, MDBX_val *data,
                                  MDBX_cursor_op step)
{
    return done(api->mdbx_cursor_get(at, key, data, step));
}

#define DISCARDS_RANGES true
/* Deletes what the range has: from where `begin` comes to stand up to `end`, or to the last record. */
static inline int tree_discard_between(const library_api *api, MDBX_cursor *begin, MDBX_cursor *end, kvdyno_bytes from,
                                       kvdyno_bytes to)
{
    MDBX_val first = tree_value(from), beyond = tree_value(to), data;
    uint64_t count;
    int code = tree_cursor_get(api, begin, &first, &data, MDBX_SET_RANGE);
    if (code)
        return code == MDBX_NOTFOUND ? 0 : code;
    if (!comes_before(first.iov_base, first.iov_len, to.data, to.size))
        return 0;
    code = tree_cursor_get(api, end, &beyond, &data, MDBX_SET_RANGE);
    if (code && code != MDBX_NOTFOUND)
        return code;
    bool to_last = code != 0;
    return done(api->mdbx_cursor_delete_range(begin, to_last ? NULL : end, to_last, &count));
}

static inline int tree_cursor_seek_backward(const library_api *api, MDBX_cursor *at, const void *key, size_t key_size,
                                            MDBX_val *found, MDBX_val *data)
{
    *found = (MDBX_val){(void *)key, key_size};
    return tree_cursor_get(api, at, found, data, MDBX_TO_KEY_LESSER_OR_EQUAL);
}

#endif
