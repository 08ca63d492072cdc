/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * device.c: a block device instead of a folder. LMDB then maps the device itself, and keeps its lock file beside
 * the device's node. It takes whatever it does not know for empty space, so what lies there is looked at first.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "family.h"

#define HEAD (128 * 1024)            /* where partition tables, filesystems and volume managers put their marks */
#define MAP_UNIT (UINT64_C(2) << 20) /* LMDB rounds a device's map up to whole large pages */
static const uint32_t magic = 0xbeefc0de;

bool lmdb_is_device(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISBLK(status.st_mode);
}

typedef enum { UNREADABLE, BLANK, LMDB, FOREIGN } content;

/* LMDB's mark lies behind the head of its first page, the size of which differs between versions. */
static content content_of(const unsigned char *head)
{
    for (size_t at = 8; at < 64; at += sizeof magic)
        if (memcmp(head + at, &magic, sizeof magic) == 0)
            return LMDB;
    return head[0] == 0 && memcmp(head, head + 1, HEAD - 1) == 0 ? BLANK : FOREIGN;
}

static content look(const char *path, kvdyno_text *error)
{
    unsigned char *head = malloc(HEAD);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    content is = UNREADABLE;
    errno = file >= 0 ? 0 : errno;
    if (head && file >= 0 && pread(file, head, HEAD, 0) == HEAD)
        is = content_of(head);
    else
        say(error, "cannot read %s: %s", path, errno ? strerror(errno) : "it is too small");
    if (file >= 0)
        close(file);
    free(head);
    return is;
}

/* Only a device that is blank at its beginning is an empty one. */
bool lmdb_device_as_expected(const kvdyno_config *config, kvdyno_text *error)
{
    content is = look(config->path, error);
    if (is == UNREADABLE)
        return false;
    if (config->create && is == FOREIGN)
        say(error, "%s is not blank: it may hold a filesystem or somebody's data; if not, clear its first %d KiB",
            config->path, HEAD / 1024);
    else if (config->create && is == LMDB)
        say(error, "%s holds a database already", config->path);
    else if (!config->create && is != LMDB)
        say(error, "%s holds no database", config->path);
    else
        return true;
    return false;
}

/* With MDB_WRITEMAP, 0.9.90 writes a new device's first pages through a map that it has just given back. */
bool lmdb_can_use_device(const library_api *api, bool writemap, kvdyno_text *error)
{
    int major, minor, patch;
    const char *version = api->mdb_version(&major, &minor, &patch);
    if (major == 0 && minor == 9 && patch < 70)
        say(error, "a raw device: %.*s knows none; 0.9.70 and later do", (int)strcspn(version, ":"), version);
    else if (writemap)
        say(error, "writemap: LMDB crashes with it when it makes a database on a raw device");
    else
        return true;
    return false;
}

uint64_t lmdb_device_map(const char *path)
{
    uint64_t bytes = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    if (ioctl(file, BLKGETSIZE64, &bytes) != 0)
        bytes = 0;
    close(file);
    return bytes / MAP_UNIT * MAP_UNIT;
}

static int clear(const char *path)
{
    static const unsigned char zeros[HEAD];
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return errno;
    int code = pwrite(file, zeros, HEAD, 0) != HEAD || fsync(file) != 0 ? errno : 0;
    close(file);
    return code;
}

/* Leaves a device blank, so that the next database can be made on it, and removes the lock file beside it. Clears
 * nothing but LMDB's own; in a folder there is nothing to do. */
kvdyno_status adapter_destroy(const kvdyno_config *config, kvdyno_text *error)
{
    if (!lmdb_is_device(config->path))
        return KVDYNO_OK;
    char lock[4096];
    snprintf(lock, sizeof lock, "%s-lock", config->path);
    content is = look(config->path, error);
    int code = is == LMDB ? clear(config->path) : 0;
    if (is == UNREADABLE)
        return KVDYNO_ERROR;
    if (!code && unlink(lock) != 0 && errno != ENOENT)
        code = errno;
    if (code)
        say(error, "cannot clear %s: %s", config->path, strerror(code));
    return code ? KVDYNO_ERROR : KVDYNO_OK;
}
