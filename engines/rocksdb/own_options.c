/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * own_options.c: options in RocksDB's own words, as GetOptionsFromString takes them: "name=value;name={name=value}".
 * What the lab or an option of the adapter's sets is refused, and what RocksDB does not know RocksDB refuses.
 */
#include <dirent.h>

#include "family.h"
#include "words.h"

#define OF_THE_ADAPTER "the adapter, which relies on it,"

static const taken_word taken[] = {
    {"write_buffer_size", "the lab's write_buffer"},
    {"db_write_buffer_size", "the lab's write_buffer"},
    {"write_buffer_manager", "the lab's write_buffer"},
    {"block_cache", "the lab's cache"},
    {"no_block_cache", "the lab's cache"},
    {"block_cache_compressed", "the lab's cache"},
    {"persistent_cache", "the lab's cache"},
    {"row_cache", "the lab's cache"},
    {"blob_cache", "the lab's cache"},
    {"compression", "the lab's compression"},
    {"compression_per_level", "the lab's compression"},
    {"bottommost_compression", "the lab's compression"},
    {"blob_compression_type", "the lab's compression"},
    {"manual_wal_flush", "the lab's durability"},
    {"wal_compression", "the lab's compression"},
    {"compression_manager", "the lab's compression"},
    {"compression_size_percent", "the lab's compression"},
    {"enable_index_compression", "the lab's compression"},
    {"max_compressed_bytes_per_kb", "the lab's compression"}, /* 0: nothing is compressed */
    {"wal_recovery_mode", "the lab's durability"},
    {"best_efforts_recovery", "the lab's durability"},
    {"wal_dir", "the lab's folder"},
    {"db_log_dir", "the lab's folder"},
    {"db_paths", "the lab's folder"},
    {"cf_paths", "the lab's folder"},
    {"create_if_missing", OF_THE_ADAPTER},
    {"error_if_exists", OF_THE_ADAPTER},
    {"comparator", OF_THE_ADAPTER},
    {"merge_operator", OF_THE_ADAPTER},
    {"compaction_filter", OF_THE_ADAPTER},
    {"compaction_filter_factory", OF_THE_ADAPTER},
    {"checksum", OF_THE_ADAPTER},
    {"disable_auto_compactions", OF_THE_ADAPTER}, /* what is pending would never come to rest */
    {"inplace_update_support", OF_THE_ADAPTER},   /* there would be no snapshots */
    {"prefix_extractor", "option prefix_extractor"},
    {"memtable", "option memtable"},
    {"memtable_factory", "option memtable"},
    {"table_factory", "option table"},
    {"plain_table_factory", "option table"},
    {"index_type", "option index"},
    {"block_size", "option block_size"},
    {"filter_policy", "option bloom_bits"},
    {"cache_index_and_filter_blocks", "option cache_index_and_filter_blocks"},
    {"compaction_style", "option compaction_style"},
    {"memtable_prefix_bloom_size_ratio", "option memtable_prefix_bloom_size_ratio"},
    {"statistics", "option statistics"},
    {"use_direct_io_for_compaction_reads", "option direct_io_flush_compaction"},
    {NULL, NULL},
};

/* They would replace a plain table. */
static const taken_word taken_by_plain[] = {
    {"block_based_table_factory", "option table"},
    {NULL, NULL},
};

static own_words words_of(const kvdyno_config *config)
{
    return (own_words){.option = "options", .text = config->options[OWN_OPTIONS].text, .separators = ";"};
}

static bool are_there(const kvdyno_config *config)
{
    return config->options[OWN_OPTIONS].text[0];
}

/* The options that are one call are called as it is. */
static bool refuses_setters(const own_words *words, kvdyno_text *error)
{
    static const char call[] = "rocksdb_options_set_";
    char setting[64];
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *name = rdb_setter_name(i);
        if (!name)
            continue;
        snprintf(setting, sizeof setting, "option %s", rdb_options[i].name);
        const taken_word one[] = {{name + sizeof call - 1, setting}, {NULL, NULL}};
        if (refuses_words(words, one, error))
            return true;
    }
    return false;
}

/* `base` with the own words; NULL if RocksDB refuses them, and `problem`, which it allocated, says why. */
static lsm_options *with_own(const library_api *api, const lsm_options *base, const char *words, char **problem)
{
    lsm_options *both = api->options_create();
    *problem = NULL;
    api->get_options_from_string(base, words, both, problem);
    if (!*problem)
        return both;
    api->options_destroy(both);
    return NULL;
}

bool rdb_takes_own_options(const library_api *api, const kvdyno_config *config, kvdyno_text *error)
{
    own_words words = words_of(config);
    if (!are_there(config))
        return true;
    if (!api->get_options_from_string) {
        say(error, "options: this version of the library has no rocksdb_get_options_from_string");
        return false;
    }
    if (refuses_words(&words, taken, error) || refuses_setters(&words, error))
        return false;
    if (option_is(config, TABLE, "plain") && refuses_words(&words, taken_by_plain, error))
        return false;
    char *problem;
    lsm_options *base = api->options_create(), *both = with_own(api, base, words.text, &problem);
    if (!both)
        say(error, "options: %s", problem);
    else
        api->options_destroy(both);
    api->options_destroy(base);
    api->free(problem);
    return both;
}

/* They replace the options that are there, which they contain. */
kvdyno_status rdb_set_own_options(kvdyno_database *database, const kvdyno_config *config, kvdyno_text *error)
{
    if (!are_there(config))
        return KVDYNO_OK;
    char *problem;
    lsm_options *both = with_own(&database->api, database->options, words_of(config).text, &problem);
    if (!both)
        return family_explain(&database->api, "options", problem, error);
    database->api.options_destroy(database->options);
    database->options = both;
    return KVDYNO_OK;
}

/* ---- what they came to ---- */

/* The newest of the files in which RocksDB writes down all options whenever it opens a database. */
static FILE *open_options_file(const char *folder)
{
    static const char name[] = "OPTIONS-";
    char path[512];
    long long newest = -1;
    DIR *files = opendir(folder);
    for (struct dirent *file; files && (file = readdir(files));) {
        char *end = file->d_name;
        long long number = strncmp(file->d_name, name, sizeof name - 1) == 0
                               ? strtoll(file->d_name + sizeof name - 1, &end, 10)
                               : -1;
        if (number > newest && !*end)
            newest = number;
    }
    if (files)
        closedir(files);
    snprintf(path, sizeof path, "%s/%s%06lld", folder, name, newest);
    return newest < 0 ? NULL : fopen(path, "re");
}

static bool has_word(const own_words *words, const char *name, size_t length)
{
    for (own_word word = {0}; next_word(words, &word);) {
        if (is_word(&word, name, length))
            return true;
    }
    return false;
}

void rdb_keep_own_options(kvdyno_database *database, const kvdyno_config *config)
{
    own_words words = words_of(config);
    FILE *file = are_there(config) ? open_options_file(config->path) : NULL;
    size_t size = 0, capacity = 0;
    char *line = NULL;
    if (!file)
        return;
    FILE *kept = open_memstream(&database->own_options, &size);
    while (kept && getline(&line, &capacity, file) > 0) {
        const char *name = line + strspn(line, " ");
        if (has_word(&words, name, strcspn(name, "=\n")))
            fputs(name, kept);
    }
    if (kept)
        fclose(kept);
    free(line);
    fclose(file);
}

void rdb_say_own_options(const kvdyno_database *database, kvdyno_emit emit, void *context)
{
    for (const char *line = database->own_options; line && *line;) {
        char name[128], value[512];
        int end = 0;
        if (sscanf(line, "%127[^=\n]=%511[^\n]%n", name, value, &end) == 2)
            emit(context, "OPTIONS", name, value);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
}
