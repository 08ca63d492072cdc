/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * open.h: opening a database, to be included once, in the file that has defined struct kvdyno_database and
 *
 *     static kvdyno_status database_start(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
 *     static void database_dispose(kvdyno_database *database)   closes what is open and frees it, after a failed start
 */

kvdyno_status adapter_open(const kvdyno_config *config, kvdyno_database **opened, kvdyno_text *error)
{
    kvdyno_database *database = allocate(sizeof *database, error);
    if (!database)
        return KVDYNO_ERROR;
    kvdyno_status status = database_start(database, config, error);
    if (status == KVDYNO_OK)
        *opened = database;
    else
        database_dispose(database);
    return status;
}
