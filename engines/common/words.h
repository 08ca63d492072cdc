/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * words.h: options in an engine's own words, a text of names with values such as "a=1;b={c=2}", in which what the lab
 * or another option sets is refused by name.
 */
#ifndef KVDYNO_WORDS_H
#define KVDYNO_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "text.h"

/* A word that something else sets: a setting of the lab, or an option. */
typedef struct taken_word {
    const char *word, *setting;
} taken_word;

/* The option that has them, their text, and what stands between two: a name goes up to that, a space, a bracket, a
 * quote, or what begins its value. */
typedef struct own_words {
    const char *option, *text, *separators;
} own_words;

static inline bool is_one_of(char character, const char *all)
{
    return character && strchr(all, character);
}

#define BESIDE_NAMES " \t\n\"{}()[]"

/* Finds the next name at or after `*at`, at any depth of brackets, and goes past its value. NULL after the last. */
static inline const char *next_word(const own_words *words, const char **at, size_t *length)
{
    const char *here = *at;
    while (*here && (is_one_of(*here, BESIDE_NAMES) || is_one_of(*here, words->separators)))
        here++;
    if (!*here)
        return NULL;
    const char *name = here;
    while (*here && !is_one_of(*here, "=:" BESIDE_NAMES) && !is_one_of(*here, words->separators))
        here++;
    *length = (size_t)(here - name);
    here += *here == '"';
    /* The value, unless it is in brackets, which have names of their own. */
    while (*here && !is_one_of(*here, "{}()[]") && !is_one_of(*here, words->separators)) {
        const char *quote = *here == '"' ? strchr(here + 1, '"') : NULL;
        here = quote ? quote + 1 : here + 1;
    }
    *at = here;
    return name;
}

/* Some engines take either case. */
static inline bool is_word(const char *name, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(name, word, length) == 0;
}

/* True if a word is taken, and `error` says by what. The list ends with a NULL. */
static inline bool refuses_words(const own_words *words, const taken_word *taken, kvdyno_text *error)
{
    size_t length;
    const char *at = words->text, *name;
    while ((name = next_word(words, &at, &length))) {
        for (const taken_word *one = taken; one->word; one++) {
            if (!is_word(name, length, one->word))
                continue;
            say(error, "%s: %s, at character %zu, is for %s to set", words->option, one->word,
                (size_t)(name - words->text) + 1, one->setting);
            return true;
        }
    }
    return false;
}

#endif
