/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * files.h: the files of a database, for engines that do not look themselves whether it is there.
 */
#ifndef KVDYNO_FILES_H
#define KVDYNO_FILES_H

#include <limits.h>

#include "process.h"
#include "text.h"

/* Whether the file that a database is known by is there exactly if the database is not to be created. */
static inline bool file_as_expected(const char *folder, const char *name, bool create, kvdyno_text *error)
{
    char path[PATH_MAX];
    int size = snprintf(path, sizeof path, "%s/%s", folder, name);
    bool there = size < (int)sizeof path && access(path, F_OK) == 0, expected = there != create;
    if (!expected)
        say(error, "%s %s", path, there ? "is there already" : "is not there");
    return expected;
}

#endif
