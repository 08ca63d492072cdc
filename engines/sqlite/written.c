/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * written.c: the bytes that SQLite writes to the database's file, which it does not count itself. The methods of the
 * file are SQLite's own but for write.
 */
#include <string.h>

#include "sqlite_adapter.h"

static written_bytes *counter_of(const sqlite3_file *file)
{
    return (written_bytes *)((char *)(uintptr_t)file->methods - offsetof(written_bytes, methods));
}

static int count_write(sqlite3_file *file, const void *data, int size, int64_t offset)
{
    written_bytes *written = counter_of(file);
    int code = written->own->write(file, data, size, offset);
    if (code == SQLITE_OK)
        __atomic_fetch_add(&written->bytes, (uint64_t)size, __ATOMIC_RELAXED);
    return code;
}

/* Version 1 has 12 methods, version 2 the four of shared memory too, version 3 the two of memory maps too. */
static size_t methods_size(int version)
{
    const size_t methods = version >= 3 ? 18 : version == 2 ? 16 : 12;
    return offsetof(struct sqlite3_io_methods, close) + methods * sizeof(void (*)(void));
}

int sqlite_count_written(kvdyno_database *database, sqlite3 *db)
{
    written_bytes *written = &database->written;
    sqlite3_file *file = NULL;
    int code = database->api.file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK)
        return code;
    if (!written->own) {
        written->own = file->methods;
        memcpy(&written->methods, written->own, methods_size(written->own->version));
        written->methods.version = written->own->version < 3 ? written->own->version : 3;
        written->methods.write = count_write;
    }
    /* One file is of one kind. */
    if (file->methods != written->own)
        return SQLITE_MISUSE;
    file->methods = &written->methods;
    return SQLITE_OK;
}

/* Pages that were written to the database's file: at checkpoints of the log, or by commits with a rollback journal. */
kvdyno_status adapter_counters(kvdyno_database *database, kvdyno_counters *counters)
{
    if (COUNTS(counters, flushed_bytes))
        counters->flushed_bytes = __atomic_load_n(&database->written.bytes, __ATOMIC_RELAXED);
    return KVDYNO_OK;
}
