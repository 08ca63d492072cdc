/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Finding libdb, and making sure that its handles are laid out as the header says that this adapter was built with.
 */
#include "bdb.h"

static const char *const library_names[] = {"libdb-5.3.so", NULL};

void bdb_library_close(bdb_library *library)
{
    if (library->handle)
        dlclose(library->handle);
    library->handle = NULL;
}

/* DB_ENV and DB are structs full of methods, and each minor release moved some: another release must not be used. */
static bool same_release(const bdb_library *library, kvdyno_text *error)
{
    int major, minor, patch;
    library->version(&major, &minor, &patch);
    if (major == DB_VERSION_MAJOR && minor == DB_VERSION_MINOR)
        return true;
    say(error, "the library is Berkeley DB %d.%d.%d, this adapter was built for %d.%d, whose handles are laid out "
               "differently: build it with the header of %d.%d",
        major, minor, patch, DB_VERSION_MAJOR, DB_VERSION_MINOR, major, minor);
    return false;
}

kvdyno_status bdb_library_open(const char *chosen, bdb_library *library, kvdyno_text *error)
{
    memset(library, 0, sizeof *library);
    library->handle = open_library(chosen, library_names, "Debian package libdb5.3", error);
    if (!library->handle)
        return KVDYNO_NO_LIBRARY;
    const library_symbol symbols[] = {
        {(void **)&library->env_create, "db_env_create", false},
        {(void **)&library->db_create, "db_create", false},
        {(void **)&library->version, "db_version", false},
        {(void **)&library->error_text, "db_strerror", false},
        {NULL, NULL, false},
    };
    if (find_symbols(library->handle, symbols, "Berkeley DB", error) && same_release(library, error))
        return KVDYNO_OK;
    bdb_library_close(library);
    return KVDYNO_NO_LIBRARY;
}
