/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * db_config.c: settings in Berkeley DB's own words. It reads them from the file DB_CONFIG of the folder, and they
 * prevail over what the adapter has set; so what the lab or an option sets is refused. A line is a name and its values
 * with spaces between; here `;` ends one.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "bdb.h"
#include "words.h"

#define OF_THE_ADAPTER "the adapter, which relies on it,"

/* Any word of a line: a flag is as much a setting as the name before it. */
static const taken_word taken[] = {
    {"set_cachesize", "the lab's cache"},
    {"set_cache_max", "the lab's cache"},
    {"set_memory_max", "the lab's cache"},
    {"set_lg_bsize", "the lab's write_buffer"},
    {"DB_TXN_NOSYNC", "the lab's durability"},
    {"DB_TXN_WRITE_NOSYNC", "the lab's durability"},
    {"DB_LOG_IN_MEMORY", "the lab's durability"},
    {"DB_LOG_INMEMORY", "the lab's durability"},
    {"set_data_dir", "the lab's folder"},
    {"add_data_dir", "the lab's folder"},
    {"set_create_dir", "the lab's folder"},
    {"set_lg_dir", "the lab's folder"},
    {"set_metadata_dir", "the lab's folder"},
    {"set_tmp_dir", "the lab's folder"},
    {"db_data_dir", "the lab's folder"},
    {"db_log_dir", "the lab's folder"},
    {"db_tmp_dir", "the lab's folder"},
    {"set_lg_max", "option log_file_size"},
    {"set_lk_partitions", "option lock_partitions"},
    {"DB_LOG_AUTO_REMOVE", "option log_auto_remove"},
    {"db_log_autoremove", "option log_auto_remove"},
    {"DB_LOG_ZERO", "option log_zero"},
    {"DB_LOG_DSYNC", "option log_dsync"},
    {"db_dsync_log", "option log_dsync"},
    {"DB_DIRECT_DB", "option direct_io"},
    {"DB_DSYNC_DB", "the lab's durability"},
    {"DB_LOG_DIRECT", "the lab's durability"}, /* the log would leave the OS cache */
    {"db_direct_log", "the lab's durability"},
    {"DB_NOPANIC", OF_THE_ADAPTER},
    {"DB_MULTIVERSION", "option snapshot"},
    {"DB_TXN_SNAPSHOT", "option snapshot"},
    {"DB_NOLOCKING", OF_THE_ADAPTER},
    {"DB_TIME_NOTGRANTED", OF_THE_ADAPTER}, /* a deadlock would have another code */
    {"DB_TXN_NOWAIT", OF_THE_ADAPTER},
    {"DB_PANIC_ENVIRONMENT", OF_THE_ADAPTER},
    {"set_lk_detect", OF_THE_ADAPTER},
    {"set_lk_max_lockers", OF_THE_ADAPTER},
    {"set_lk_max_locks", OF_THE_ADAPTER},
    {"set_lk_max_objects", OF_THE_ADAPTER},
    {"set_tx_max", OF_THE_ADAPTER},
    {"set_thread_count", OF_THE_ADAPTER},
    {"set_open_flags", OF_THE_ADAPTER},
    {NULL, NULL},
};

#define FILE_NAME "DB_CONFIG"
/* Berkeley DB reads a line into 256 bytes, with its end; it takes what is beyond them for a line of its own. */
#define LINE_MOST 254

static const char *text_of(const kvdyno_config *config)
{
    return config->options[BDB_DB_CONFIG].text;
}

bool bdb_has_db_config(const kvdyno_config *config)
{
    return text_of(config)[0];
}

bool bdb_refuses_db_config(const kvdyno_config *config, kvdyno_text *error)
{
    const own_words words = {.option = "db_config", .text = text_of(config), .separators = ";" SPACES};
    for (const char *line = words.text, *end; *line; line = end + (*end != 0)) {
        end = line + strcspn(line, ";\n");
        if (end - line <= LINE_MOST)
            continue;
        say(error, "db_config: the line at character %zu has %zu bytes, and Berkeley DB reads %d",
            (size_t)(line - words.text) + 1, (size_t)(end - line), LINE_MOST);
        return true;
    }
    return refuses_words(&words, taken, error);
}

static int write_lines(const char *text, const char *path)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return errno;
    for (const char *at = text; *at; at++)
        fputc(*at == ';' ? '\n' : *at, file);
    fputc('\n', file);
    int failed = ferror(file) ? EIO : 0;
    return fclose(file) ? errno : failed;
}

int bdb_write_db_config(const kvdyno_config *config, const char *folder)
{
    char path[PATH_MAX], draft[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/" FILE_NAME, folder);
    if (!bdb_has_db_config(config))
        return unlink(path) && errno != ENOENT ? errno : 0;
    /* Other processes may be reading it. */
    snprintf(draft, sizeof draft, "%s.%ld", path, (long)getpid());
    int code = write_lines(text_of(config), draft);
    if (code == 0 && rename(draft, path))
        code = errno;
    if (code)
        unlink(draft);
    return code;
}

int bdb_try_db_config(const kvdyno_config *config, const bdb_library *library, engine_message *message)
{
    const char *temporary = getenv("TMPDIR");
    char folder[PATH_MAX - 16], path[PATH_MAX];
    DB_ENV *env = NULL;
    if (!bdb_has_db_config(config))
        return 0;
    int length = snprintf(folder, sizeof folder, "%s/kvdyno-bdb-XXXXXX", temporary ? temporary : "/tmp");
    if (length >= (int)sizeof folder)
        return ENAMETOOLONG;
    if (!mkdtemp(folder))
        return errno;
    int code = bdb_write_db_config(config, folder);
    if (code == 0)
        code = bdb_make_environment(library, message, &env);
    if (code == 0)
        code = env->open(env, folder, DB_CREATE | DB_PRIVATE | DB_INIT_MPOOL, 0644);
    if (env)
        env->close(env, 0);
    snprintf(path, sizeof path, "%s/" FILE_NAME, folder);
    unlink(path);
    rmdir(folder);
    return code;
}
