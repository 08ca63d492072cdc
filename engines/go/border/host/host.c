/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * host.c: a host that is not kvdyno, to see what an adapter in Go does at the border. It knows kvdyno.h alone.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kvdyno.h"

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);                                            \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static char words[200];
static kvdyno_text text = {words, sizeof words};

static kvdyno_status get(const kvdyno_engine *engine, kvdyno_session *session, const char *key, kvdyno_bytes *value)
{
    kvdyno_status status = engine->get(session, key, strlen(key), value);
    words[0] = '\0';
    if (status < 0)
        engine->session_error(session, &text);
    return status;
}

static double crossing = -1;

static void emit(void *context, const char *topic, const char *name, const char *value)
{
    (void)context;
    if (strcmp(topic, "crossing") == 0 && strcmp(name, "ns_per_call") == 0)
        crossing = atof(value);
}

/* What is asked for wrongly is an error with a text, and the session goes on. */
static void errors(const kvdyno_engine *engine, kvdyno_session *session)
{
    kvdyno_bytes value;
    EXPECT(engine->put(session, "k", 1, "value", 5) == KVDYNO_OK);
    EXPECT(get(engine, session, "missing", &value) == KVDYNO_MISS);
    EXPECT(engine->commit(session) == KVDYNO_ERROR);
    char little[4];
    engine->session_error(session, &(kvdyno_text){little, sizeof little});
    EXPECT(strcmp(little, "no ") == 0);
    EXPECT(engine->begin(session, KVDYNO_READ_WRITE) == KVDYNO_UNSUPPORTED);
    EXPECT(engine->begin(session, KVDYNO_READ_ONLY) == KVDYNO_OK);
    EXPECT(engine->begin(session, KVDYNO_READ_ONLY) == KVDYNO_ERROR);
    EXPECT(engine->put(session, "k", 1, "other", 5) == KVDYNO_UNSUPPORTED);
    EXPECT(engine->abort(session) == KVDYNO_OK);
}

/* What is lent outlives what it was copied from, and the collector. */
static void lending(const kvdyno_engine *engine, kvdyno_session *session)
{
    kvdyno_bytes value;
    EXPECT(get(engine, session, "k", &value) == KVDYNO_OK && value.size == 5 && memcmp(value.data, "value", 5) == 0);
    char *large = calloc(1, 1 << 20);
    large[(1 << 20) - 1] = 'z';
    EXPECT(engine->put(session, "k", 1, large, 1 << 20) == KVDYNO_OK);
    EXPECT(get(engine, session, "k", &value) == KVDYNO_OK && value.size == 1 << 20);
    EXPECT(memcmp(value.data, large, 1 << 20) == 0);
    free(large);
    EXPECT(engine->put(session, "k", 1, NULL, 0) == KVDYNO_OK);
    EXPECT(get(engine, session, "k", &value) == KVDYNO_OK && value.size == 0 && value.data);
}

static kvdyno_config config(const char *mood)
{
    static kvdyno_value option[2];
    option[0].text = mood;
    return (kvdyno_config){
        .size = sizeof(kvdyno_config), .create = 1, .path = "/", .options = option, .option_count = 2};
}

/* What an option takes back, and nothing else. */
static void effective(const kvdyno_engine *engine)
{
    kvdyno_config good = config("good");
    kvdyno_capabilities declared = {.size = sizeof declared,
                                    .durabilities = engine->durabilities,
                                    .capabilities = engine->capabilities,
                                    .compressions = engine->compressions};
    kvdyno_capabilities with_good = declared, with_bad = declared;
    engine->effective_capabilities(&good, &with_good);
    EXPECT(memcmp(&with_good, &declared, sizeof declared) == 0);
    kvdyno_config bad = config("bad"); /* They share their options. */
    engine->effective_capabilities(&bad, &with_bad);
    EXPECT(with_bad.capabilities == KVDYNO_CAN_MULTI_GET && with_bad.durabilities == 0);
    EXPECT(with_bad.compressions == declared.compressions);
}

/* After a panic everything is an error that tells it, in every session, and so is the close, which asks the engine no
 * more: its own would say something else. */
static void panics(const kvdyno_engine *engine, const char *key, const char *said)
{
    kvdyno_config good = config("good");
    kvdyno_database *database;
    kvdyno_session *session, *other, *later;
    kvdyno_bytes value;
    EXPECT(engine->open(&good, &database, &text) == KVDYNO_OK);
    EXPECT(engine->session_open(database, NULL, &session, &text) == KVDYNO_OK);
    EXPECT(engine->session_open(database, NULL, &other, &text) == KVDYNO_OK);
    EXPECT(engine->put(session, "k", 1, "value", 5) == KVDYNO_OK);
    EXPECT(get(engine, session, key, &value) == KVDYNO_ERROR && strstr(words, said));
    EXPECT(get(engine, other, "missing", &value) == KVDYNO_ERROR && strstr(words, said));
    EXPECT(engine->put(session, "k", 1, "value", 5) == KVDYNO_ERROR);
    EXPECT(engine->begin(other, KVDYNO_READ_ONLY) == KVDYNO_ERROR);
    kvdyno_bytes keys[] = {{"k", 1}}, values[1];
    kvdyno_status statuses[1];
    EXPECT(engine->multi_get(session, keys, 1, values, statuses) == KVDYNO_ERROR);
    EXPECT(engine->flush(database, &text) == KVDYNO_ERROR && engine->statistics(database, emit, NULL) == KVDYNO_ERROR);
    EXPECT(engine->session_open(database, NULL, &later, &text) == KVDYNO_ERROR);
    engine->session_close(session);
    engine->session_close(other);
    EXPECT(engine->close(database, &text) == KVDYNO_ERROR && strstr(words, said) && !strstr(words, "bang"));
}

int main(int count, char **arguments)
{
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    EXPECT(library);
    const kvdyno_engine *(*table)(void) = (const kvdyno_engine *(*)(void))dlsym(library, "kvdyno_engine_v2");
    EXPECT(table);
    const kvdyno_engine *engine = table();
    EXPECT(engine == table() && strcmp(engine->name, "wayward") == 0 && engine->option_count == 2);
    EXPECT(engine->remove == NULL && engine->read_modify_write == NULL);
    EXPECT(engine->cursor_open == NULL && engine->compact == NULL);
    EXPECT(engine->multi_get && engine->begin && engine->statistics);

    effective(engine);
    kvdyno_config good = config("good");
    EXPECT(engine->settings(&good, emit, NULL, &text) == KVDYNO_OK);
    kvdyno_database *database;
    kvdyno_session *session;
    EXPECT(engine->open(&good, &database, &text) == KVDYNO_OK);
    EXPECT(engine->session_open(database, NULL, &session, &text) == KVDYNO_OK);
    if (count > 2)
        *(volatile int *)0 = 1; /* the host's own fault, with the runtime of Go loaded and used */
    errors(engine, session);
    panics(engine, "index", "index out of range");
    panics(engine, "nil", "nil pointer");
    panics(engine, "fatal", "no way on");
    lending(engine, session);
    EXPECT(engine->statistics(database, emit, NULL) == KVDYNO_OK && crossing > 1);
    engine->session_close(session);
    EXPECT(engine->close(database, &text) == KVDYNO_ERROR && strstr(words, "closed with a bang"));
    kvdyno_config bad = config("bad");
    EXPECT(engine->settings(&bad, emit, NULL, &text) == KVDYNO_ERROR && strstr(words, "in a bad mood"));
    return 0;
}
