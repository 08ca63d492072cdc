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

/* The option that has them, their text, and what stands between two. A name goes up to that, a space, a bracket, or
 * what begins its value. `flat`: a bracket begins a value, and there are no names within. */
typedef struct own_words {
    const char *option, *text, *separators;
    bool flat;
} own_words;

/* One name of them, at any depth of brackets. */
typedef struct own_word {
    const char *name;
    size_t length;
    const char *rest; /* where the next is looked for; NULL: at the beginning */
} own_word;

#define SPACES " \t\n\r\f\v"
#define BRACKETS "{}()[]"

static inline bool is_one_of(char character, const char *all)
{
    return character && strchr(all, character);
}

/* Goes to the next name, and past its value, unless that has names of its own. False after the last. */
static inline bool next_word(const own_words *words, own_word *word)
{
    const char *here = word->rest ? word->rest : words->text, *nested = words->flat ? "" : BRACKETS;
    while (is_one_of(*here, SPACES) || is_one_of(*here, nested) || is_one_of(*here, words->separators))
        here++;
    word->name = here;
    while (*here && !is_one_of(*here, "=:" SPACES BRACKETS) && !is_one_of(*here, words->separators))
        here++;
    word->length = (size_t)(here - word->name);
    while (*here && !is_one_of(*here, nested) && !is_one_of(*here, words->separators))
        here++;
    word->rest = here;
    return *word->name;
}

/* Whether a name, or a part of one with dots such as `table.cache`, is `sought`, in either case. */
static inline bool is_word(const own_word *word, const char *sought, size_t length)
{
    for (const char *part = word->name, *end = part + word->length; part < end;) {
        const char *dot = memchr(part, '.', (size_t)(end - part));
        size_t size = (size_t)((dot ? dot : end) - part);
        if (size == length && strncasecmp(part, sought, length) == 0)
            return true;
        part = dot ? dot + 1 : end;
    }
    return false;
}

/* True if a word is taken, and `error` says by what. The list ends with a NULL. */
static inline bool refuses_word(const own_words *words, const own_word *word, const taken_word *taken,
                                kvdyno_text *error)
{
    for (const taken_word *one = taken; one->word; one++) {
        if (!is_word(word, one->word, strlen(one->word)))
            continue;
        say(error, "%s: %s, at character %zu, is for %s to set", words->option, one->word,
            (size_t)(word->name - words->text) + 1, one->setting);
        return true;
    }
    return false;
}

/* The same of all words, where the engine knows no quotes. */
static inline bool refuses_words(const own_words *words, const taken_word *taken, kvdyno_text *error)
{
    const char *quote = strchr(words->text, '"');
    if (quote) {
        say(error, "%s: the quote at character %zu has no meaning there", words->option,
            (size_t)(quote - words->text) + 1);
        return true;
    }
    for (own_word word = {0}; next_word(words, &word);) {
        if (refuses_word(words, &word, taken, error))
            return true;
    }
    return false;
}

#endif
