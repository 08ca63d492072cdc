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
#define REAL(given, text) .type = KVDYNO_OPTION_REAL, .default_value = given, .help = text
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

/* Refusals: true if the setting cannot be honoured, and `error` says why. */

static inline bool refuses_durability(const kvdyno_config *config, kvdyno_text *error)
{
    if (config->durability <= KVDYNO_DURABILITY_COMMIT)
        return false;
    say(error, "durability: level %" PRIu32 " is not known", config->durability);
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
