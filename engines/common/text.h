/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * text.h: texts for the host: errors, and settings and statistics, which are emitted one by one.
 */
#ifndef KVDYNO_TEXT_H
#define KVDYNO_TEXT_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "kvdyno.h"

/* Writes a formatted text, cut to its capacity. */
__attribute__((format(printf, 2, 3))) static inline void say(kvdyno_text *text, const char *format, ...)
{
    if (!text || !text->data || text->capacity == 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text->data, text->capacity, format, arguments);
    va_end(arguments);
}

/* Emits one entry whose value is formatted. */
__attribute__((format(printf, 5, 6))) static inline void emitf(kvdyno_emit emit, void *context, const char *topic,
                                                               const char *name, const char *format, ...)
{
    char value[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    emit(context, topic, name, value);
}

/* Emits the value of an option under a name, as a user would spell it; sizes in bytes. */
static inline void emit_value(const kvdyno_option *option, kvdyno_value value, const char *name, kvdyno_emit emit,
                              void *context)
{
    if (option->type == KVDYNO_OPTION_BOOL)
        emit(context, "options", name, value.integer ? "true" : "false");
    else if (option->type == KVDYNO_OPTION_REAL)
        emitf(emit, context, "options", name, "%g", value.real);
    else if (option->type == KVDYNO_OPTION_CHOICE || option->type == KVDYNO_OPTION_TEXT)
        emit(context, "options", name, value.text[0] ? value.text : "none");
    else
        emitf(emit, context, "options", name, "%" PRId64, value.integer);
}

/* The same under the option's own name. */
static inline void emit_option(const kvdyno_option *option, kvdyno_value value, kvdyno_emit emit, void *context)
{
    emit_value(option, value, option->name, emit, context);
}

/* Figures of an engine's statistics. */
typedef struct figure {
    const char *name;
    uint64_t value;
} figure;

static inline void emit_figures(const char *topic, const figure *figures, size_t count, kvdyno_emit emit, void *context)
{
    for (size_t i = 0; i < count; i++)
        emitf(emit, context, topic, figures[i].name, "%" PRIu64, figures[i].value);
}

/* For a figure that the engine calls "group: name": the name, and the group, if there is one, instead of the text in
 * `topic`. */
static inline const char *split_legend(const char *legend, char topic[64])
{
    const char *colon = strstr(legend, ": ");
    if (!colon || colon - legend >= 64)
        return legend;
    snprintf(topic, 64, "%.*s", (int)(colon - legend), legend);
    return colon + 2;
}

#endif
