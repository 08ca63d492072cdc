/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * config.h: options as an adapter declares them, and refusals of settings that several engines cannot honour.
 */
#ifndef KVDYNO_CONFIG_H
#define KVDYNO_CONFIG_H

#include <stdbool.h>
#include <string.h>

#include "kvdyno.h"
#include "text.h"

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

/* An option behind its name: {"name", SIZE("4KiB", KIB, GIB, "What it does.")}. */
#define BOOL(given, text) .type = KVDYNO_OPTION_BOOL, .default_value = given, .help = text
#define INTEGER(given, least, most, text)                                                                              \
    .type = KVDYNO_OPTION_INTEGER, .default_value = given, .minimum = least, .maximum = most, .help = text
#define SIZE(given, least, most, text)                                                                                 \
    .type = KVDYNO_OPTION_SIZE, .default_value = given, .minimum = least, .maximum = most, .help = text
/* A size that shapes the files or levels of a database, and goes with that of the database. */
#define SCALED_SIZE(given, least, most, text) SIZE(given, least, most, text), .flags = KVDYNO_OPTION_SCALES
#define REAL(given, text) .type = KVDYNO_OPTION_REAL, .default_value = given, .help = text
/* Words of the engine's own, none by default. */
#define WORDS(text) .type = KVDYNO_OPTION_TEXT, .default_value = "", .help = text
#define CHOICE(given, all, text) .type = KVDYNO_OPTION_CHOICE, .default_value = given, .choices = all, .help = text

static inline int64_t option_integer(const kvdyno_config *config, int option)
{
    return config->options[option].integer;
}

/* Whether a CHOICE is `choice`. */
static inline bool option_is(const kvdyno_config *config, int option, const char *choice)
{
    return strcmp(config->options[option].text, choice) == 0;
}

/* Processes that will have the database open at once. A host that is older than the member means one. */
static inline uint32_t config_processes(const kvdyno_config *config)
{
    bool known = config->size >= offsetof(kvdyno_config, processes) + sizeof config->processes;
    return known && config->processes > 1 ? config->processes : 1;
}

/* ---- durability of sessions ---- */

#define DURABILITY_LEVELS (KVDYNO_DURABILITY_COMMIT + 1)

/* Whether sessions will ask for a level. A host that is older than the member has 0 there. */
static inline bool asks_for_durability(const kvdyno_config *config, uint32_t level)
{
    return config->session_durabilities >> level & 1u;
}

/* The lowest level at which anything will be written: what the close has to put on the storage goes by it. */
static inline uint32_t weakest_durability(const kvdyno_config *config)
{
    for (uint32_t level = 0; level < config->durability; level++) {
        if (asks_for_durability(config, level))
            return level;
    }
    return config->durability;
}

/* Who syncs in the background does so for a database. */
static inline bool lacks_durability(uint32_t level, uint32_t of_database)
{
    return level >= DURABILITY_LEVELS || (level == KVDYNO_DURABILITY_PERIODIC && of_database != level);
}
#define LACKS_DURABILITY                                                                                               \
    "durability: a session at periodic needs a database at periodic, which is synced in the background"

/* Refusals: true if the setting cannot be honoured, and `error` says why. */

static inline bool refuses_durability(const kvdyno_config *config, kvdyno_text *error)
{
    if (config->durability > KVDYNO_DURABILITY_COMMIT)
        say(error, "durability: level %" PRIu32 " is not known", config->durability);
    else if (asks_for_durability(config, KVDYNO_DURABILITY_PERIODIC) &&
             lacks_durability(KVDYNO_DURABILITY_PERIODIC, config->durability))
        say(error, "%s", LACKS_DURABILITY);
    else
        return false;
    return true;
}

/* For an engine that stores everything as it is. */
static inline bool refuses_compression(const kvdyno_config *config, const char *title, kvdyno_text *error)
{
    if (config->compression == KVDYNO_COMPRESSION_NONE)
        return false;
    say(error, "compression: %s has none", title);
    return true;
}

#endif
