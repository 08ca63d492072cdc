/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * library.h: finding an engine's own library at run time.
 */
#ifndef KVDYNO_LIBRARY_H
#define KVDYNO_LIBRARY_H

#include <dlfcn.h>

#include "config.h"

/* A library as the system knows it. */
typedef struct library_source {
    const char *title;        /* of the engine: "LMDB" */
    const char *package;      /* the one that has the library */
    const char *const *names; /* of its files, ended by NULL */
} library_source;

/* One function to look up: the address of the pointer to it, its name, and whether the adapter can do without. */
typedef struct library_symbol {
    void **address;
    const char *name;
    bool optional;
} library_symbol;

/* For lists of functions, X(type, name, arguments): the members of a struct of pointers, and their symbols. */
#define API_MEMBER(type, name, arguments) type(*name) arguments;
#define REQUIRED_SYMBOL(type, name, arguments) {(void **)&api->name, #name, false},
#define OPTIONAL_SYMBOL(type, name, arguments) {(void **)&api->name, #name, true},
#define LAST_SYMBOL {NULL, NULL, false}

/* Opens `chosen` if the user named a library, otherwise the first of its names that the system has. On failure says
 * what was looked for. */
static inline void *open_library(const library_source *source, const char *chosen, kvdyno_text *error)
{
    if (chosen) {
        void *library = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            say(error, "cannot load the library %s: %s", chosen, dlerror());
        return library;
    }
    for (const char *const *name = source->names; *name; name++) {
        void *library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    say(error, "%s is not installed; %s has it", source->names[0], source->package);
    return NULL;
}

/* Opens the library and fills in the addresses of `symbols` (ended by a NULL name). NULL, and why, if there is none or
 * a needed function is missing. */
static inline void *load_library(const library_source *source, const char *chosen, const library_symbol *symbols,
                                 kvdyno_text *error)
{
    void *library = open_library(source, chosen, error);
    for (const library_symbol *symbol = symbols; library && symbol->name; symbol++) {
        *symbol->address = dlsym(library, symbol->name);
        if (*symbol->address || symbol->optional)
            continue;
        say(error, "the library is not %s, or too old: it has no %s", source->title, symbol->name);
        dlclose(library);
        library = NULL;
    }
    return library;
}

/* A release as libraries tell it. */
typedef struct library_release {
    int major, minor, patch;
} library_release;

static inline void say_release(library_release is, kvdyno_text *version)
{
    say(version, "%d.%d.%d", is.major, is.minor, is.patch);
}

/* For libraries whose handles are structs full of functions, which each release lays out anew: whether the library is
 * of the release that the adapter was built for, at least in its first two numbers. */
static inline bool same_release(const char *title, library_release is, library_release built, kvdyno_text *error)
{
    if (is.major == built.major && is.minor == built.minor)
        return true;
    say(error,
        "the library is %s %d.%d.%d, this adapter was built for %d.%d, whose handles are laid out differently: "
        "build it with the header of %d.%d",
        title, is.major, is.minor, is.patch, built.major, built.minor, is.major, is.minor);
    return false;
}

#endif
