/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * library.c: finds RocksDB at run time, and its version. Besides librocksdb it may be the library inside the Java
 * package, librocksdbjni-linux64.so, which exports the C API too: so nearly any release can be measured.
 */
#include <unistd.h>

#include "family.h"

static const library_source source = {"RocksDB", "Debian package librocksdb7.8",
                                      (const char *const[]){"librocksdb.so.7.8", "librocksdb.so.7", "librocksdb.so.8",
                                                            "librocksdb.so.9", "librocksdb.so.10", "librocksdb.so.11",
                                                            "librocksdb.so", NULL}};

bool rdb_load(const char *chosen, library_api *api, void **library, kvdyno_text *error)
{
    const library_symbol symbols[] = {LSM_FUNCTIONS(PREFIXED_SYMBOL) LSM_OPTIONAL_FUNCTIONS(
        PREFIXED_OPTIONAL) ENGINE_FUNCTIONS(PREFIXED_SYMBOL) ENGINE_OPTIONAL_FUNCTIONS(PREFIXED_OPTIONAL) LAST_SYMBOL};
    *library = load_library(&source, chosen, symbols, error);
    for (int i = 0; i < OPTION_COUNT && *library; i++)
        api->setters[i] = rdb_setter_name(i) ? dlsym(*library, rdb_setter_name(i)) : NULL;
    return *library;
}

kvdyno_status engine_prepare(const kvdyno_config *config, library_api *api, kvdyno_text *error)
{
    void *library;
    if (!rdb_acceptable(config, error))
        return KVDYNO_UNSUPPORTED;
    if (!rdb_load(config->library, api, &library, error))
        return KVDYNO_NO_LIBRARY;
    bool can = rdb_library_can(api, config, error) && rdb_takes_own_options(api, config, error);
    return can ? KVDYNO_OK : KVDYNO_UNSUPPORTED;
}

/* ---- the version: the C API has no function for it, so there are three other ways ---- */

/* A std::string as a C++ function returns it, in the layout of GNU's library since 2015. A short text is in `local`. */
typedef struct cxx_string {
    char *data;
    size_t size;
    char local[16];
} cxx_string;

/* rocksdb::GetRocksVersionAsString(bool with_patch), since 6.17. A struct of this size is returned as a std::string is:
 * in memory that the caller gives. */
static bool version_from_cxx(void *library, kvdyno_text *version)
{
    cxx_string (*ask)(bool) = NULL;
    *(void **)&ask = dlsym(library, "_ZN7rocksdb23GetRocksVersionAsStringB5cxx11Eb");
    if (!ask)
        return false;
    cxx_string answer = ask(true);
    if (answer.size >= sizeof answer.local)
        return false;
    say(version, "%.*s", (int)answer.size, answer.local);
    return true;
}

/* The Java package's own function: a byte each for major, minor and patch. It looks at neither of its arguments. */
static bool version_from_java(void *library, kvdyno_text *version)
{
    int32_t (*ask)(void *environment, void *class) = NULL;
    *(void **)&ask = dlsym(library, "Java_org_rocksdb_RocksDB_version");
    if (!ask)
        return false;
    int32_t packed = ask(NULL, NULL);
    say(version, "%d.%d.%d", packed >> 16 & 0xff, packed >> 8 & 0xff, packed & 0xff);
    return true;
}

static bool version_from_log(const char *folder, kvdyno_text *version)
{
    char path[512], line[512], *found = NULL;
    snprintf(path, sizeof path, "%s/LOG", folder);
    FILE *log = fopen(path, "re");
    while (log && !found && fgets(line, sizeof line, log))
        found = strstr(line, "RocksDB version: ");
    if (log)
        fclose(log);
    if (found) {
        found += strlen("RocksDB version: ");
        found[strcspn(found, " \n")] = 0;
        say(version, "%s", found);
    }
    return found;
}

static void remove_file(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

/* Versions before 6.17 write it into the log with which an opening begins, and nowhere else. So one has to open a
 * database that is not there: it fails, as it should, and has made no more than that log and a lock. */
static bool version_from_failure(const library_api *api, kvdyno_text *version)
{
    const char *temporary = getenv("TMPDIR");
    char folder[400], *problem = NULL;
    int length = snprintf(folder, sizeof folder, "%s/kvdyno-rocksdb-XXXXXX", temporary ? temporary : "/tmp");
    if (length >= (int)sizeof folder || !mkdtemp(folder))
        return false;
    lsm_options *options = api->options_create();
    api->options_set_create_if_missing(options, 0);
    lsm_db *db = api->open(options, folder, &problem);
    if (!problem)
        api->close(db);
    bool found = version_from_log(folder, version);
    api->free(problem);
    api->options_destroy(options);
    remove_file(folder, "LOG");
    remove_file(folder, "LOCK");
    rmdir(folder);
    return found;
}

kvdyno_status adapter_probe(const char *library, kvdyno_text *version, kvdyno_text *error)
{
    library_api api;
    void *loaded;
    if (!rdb_load(library, &api, &loaded, error))
        return KVDYNO_NO_LIBRARY;
    if (!version_from_cxx(loaded, version) && !version_from_java(loaded, version) &&
        !version_from_failure(&api, version))
        say(version, "unknown");
    return KVDYNO_OK;
}
