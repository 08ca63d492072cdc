/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Finding libdb, and making sure that its handles are laid out as the header says that this adapter was built with.
 */
#include "bdb.h"

static const library_source source = {"Berkeley DB", "Debian package libdb5.3",
                                      (const char *const[]){"libdb-5.3.so", NULL}};

void bdb_library_close(bdb_library *library)
{
    if (library->handle)
        dlclose(library->handle);
    library->handle = NULL;
}

kvdyno_status bdb_library_open(const char *chosen, bdb_library *api, kvdyno_text *error)
{
    const library_symbol symbols[] = {HANDLE_FUNCTIONS(REQUIRED_SYMBOL) LAST_SYMBOL};
    library_release is;
    api->handle = load_library(&source, chosen, symbols, error);
    if (!api->handle)
        return KVDYNO_NO_LIBRARY;
    api->db_version(&is.major, &is.minor, &is.patch);
    if (same_release(source.title, is, built_release, error))
        return KVDYNO_OK;
    bdb_library_close(api);
    return KVDYNO_NO_LIBRARY;
}
