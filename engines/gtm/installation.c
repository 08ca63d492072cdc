/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * installation.c: where GT.M is, and the environment that it works in.
 */
#define _GNU_SOURCE
#include <glob.h>
#include <stdarg.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gtm_adapter.h"

void gt_path(char path[PATH_MAX], const char *folder, const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
}

static bool is_there(const char *folder, const char *name)
{
    char path[PATH_MAX];
    gt_path(path, folder, name);
    return access(path, R_OK) == 0;
}

/* The newest of the distribution's packages. */
static bool installed(char *library)
{
    glob_t found;
    bool any = glob("/usr/lib/*/fis-gtm/*/libgtmshr.so", 0, NULL, &found) == 0;
    if (any)
        snprintf(library, PATH_MAX, "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    return any;
}

/* GT.M ends the whole process if this is not so; hence it is checked first. */
static bool has_gtmsecshr(const char *dist, kvdyno_text *error)
{
    char path[PATH_MAX];
    struct stat about;
    gt_path(path, dist, "gtmsecshr");
    if (stat(path, &about) == 0 && about.st_uid == 0 && about.st_mode & S_ISUID)
        return true;
    say(error, "GT.M needs %s, owned by root and with its set-user-id bit", path);
    return false;
}

bool gt_find(const char *chosen, gt_installation *installation, kvdyno_text *error)
{
    char library[PATH_MAX] = "";
    const char *dist = getenv("gtm_dist");
    if (chosen)
        snprintf(library, sizeof library, "%s", chosen);
    else if (dist && is_there(dist, "libgtmshr.so"))
        gt_path(library, dist, "libgtmshr.so");
    else if (!installed(library)) {
        say(error, "libgtmshr.so is neither in $gtm_dist nor in /usr/lib/*/fis-gtm/*; Debian package fis-gtm has it");
        return false;
    }
    if (!realpath(library, installation->library)) {
        say(error, "cannot load the library %s: there is no such file", library);
        return false;
    }
    snprintf(installation->dist, sizeof installation->dist, "%s", installation->library);
    *strrchr(installation->dist, '/') = '\0';
    installation->held = -1;
    return true;
}

/* The files in GT.M's folder beside its library. */
bool gt_is_complete(const gt_installation *installation, kvdyno_text *error)
{
    static const char *const needed[] = {"mumps", "mupip", "libgtmutil.so"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!is_there(installation->dist, needed[i])) {
            say(error, "%s has no %s beside libgtmshr.so", installation->dist, needed[i]);
            return false;
        }
    return has_gtmsecshr(installation->dist, error);
}

static bool speaks_to_gtm(const char *variable)
{
    return strncasecmp(variable, "gtm", 3) == 0 || strncmp(variable, "kvdyno_gtm=", 11) == 0;
}

/* The next variable of an environment whose texts lie behind one another at `text`. */
__attribute__((format(printf, 3, 4))) static void add(char ***end, char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    *(*end)++ = *text;
    *text += vsprintf(*text, format, arguments) + 1;
    va_end(arguments);
}

char **gt_environment(const gt_installation *installation, const char *folder, const char *preload)
{
    const size_t own = 10, longest = 2 * PATH_MAX + 64;
    size_t count = 0;
    while (environ[count])
        count++;
    char **all = malloc((count + own + 1) * sizeof *all + own * longest), **end = all;
    if (!all)
        return NULL;
    char *text = (char *)(all + count + own + 1);
    for (size_t i = 0; i < count; i++)
        if (!speaks_to_gtm(environ[i]) && !(preload && strncmp(environ[i], "LD_PRELOAD=", 11) == 0))
            *end++ = environ[i];
    add(&end, &text, "gtm_dist=%s", installation->dist);
    add(&end, &text, "gtmroutines=%s %s/libgtmutil.so", folder, installation->dist);
    add(&end, &text, "gtmgbldir=%s/kvdyno.gld", folder);
    add(&end, &text, "GTMCI=%s/kvdyno.ci", folder);
    add(&end, &text, "GTMXC_kvdyno=%s/kvdyno.xc", folder);
    add(&end, &text, "kvdyno_gtm=%s", folder);        /* in the global directory: the database's folder */
    add(&end, &text, "gtm_chset=M");                  /* strings are bytes */
    add(&end, &text, "gtm_error_on_jnl_file_lost=1"); /* else it goes on without a journal that cannot be written */
    add(&end, &text, "gtm_nocenable=1");              /* leaves Ctrl-C alone */
    if (preload)
        add(&end, &text, "LD_PRELOAD=%s", preload);
    *end = NULL;
    return all;
}
