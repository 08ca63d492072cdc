/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * library.c: finding libtokufractaltree, and which syncs are left out.
 */
#include <unistd.h>

#include "tokuft.h"

#define PORTABILITY "libtokuportability.so"

/* build.sh says where the library is that the adapter was built against. */
#ifndef TOKUFT_LIBRARY
#error "build this adapter with build.sh"
#endif

/* TokuFT's own second library, which lies beside the first and is not found there by itself. Where it is not there, the
 * dynamic linker may still find it elsewhere. */
static void open_portability(const char *beside)
{
    const char *name = strrchr(beside, '/');
    size_t folder = name ? (size_t)(name + 1 - beside) : 0;
    char *path = malloc(folder + sizeof PORTABILITY);
    if (!path)
        return;
    memcpy(path, beside, folder);
    memcpy(path + folder, PORTABILITY, sizeof PORTABILITY);
    dlopen(path, RTLD_NOW | RTLD_LOCAL);
    free(path);
}

/* The handles are laid out anew whenever a method is added, and the version tells but some of that. */
kvdyno_status tokuft_library_open(const char *chosen, tokuft_library *api, kvdyno_text *error)
{
    static const library_source source = {"PerconaFT", NULL, NULL};
    const char *path = chosen ? chosen : TOKUFT_LIBRARY;
    const library_symbol symbols[] = {
        HANDLE_FUNCTIONS(REQUIRED_SYMBOL){(void **)&api->set_direct_io, "db_env_set_direct_io", false},
        {(void **)&api->set_compress_buffers, "db_env_set_compress_buffers_before_eviction", false},
        {(void **)&api->set_fsync, "db_env_set_func_fsync", false},
        {(void **)&api->read_counter, "read_partitioned_counter", true},
        LAST_SYMBOL,
    };
    library_release is;
    open_portability(path);
    if (!load_library(&source, path, symbols, error))
        return KVDYNO_NO_LIBRARY;
    api->db_version(&is.major, &is.minor, &is.patch);
    bool same = same_release(source.title, is, built_release, error);
    if (same && is.patch != DB_VERSION_PATCH)
        say(error,
            "the library is PerconaFT %d.%d.%d, this adapter was built with the header of %d.%d.%d: build it "
            "again",
            is.major, is.minor, is.patch, DB_VERSION_MAJOR, DB_VERSION_MINOR, DB_VERSION_PATCH);
    return same && is.patch == DB_VERSION_PATCH ? KVDYNO_OK : KVDYNO_NO_LIBRARY;
}

/* ---- syncs ---- */

/* A commit of TokuFT's either syncs the log or leaves its records in the log's buffer. What lies between, written but
 * not synced, is had by leaving out the sync of a commit that would sync. Threads of TokuFT's own, and all that a
 * session does but commit, sync as ever. */
static __thread bool leave_out;

static int sync_file(int fd)
{
    return leave_out ? 0 : fsync(fd);
}

int tokuft_commit(DB_TXN *txn, uint32_t flags, bool unsynced)
{
    leave_out = unsynced;
    int code = txn->commit(txn, flags);
    leave_out = false;
    return code;
}

void tokuft_answer_syncs(const tokuft_library *library)
{
    library->set_fsync(sync_file);
}
