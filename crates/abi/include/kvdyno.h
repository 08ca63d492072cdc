/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * kvdyno.h: the engine ABI, version 2.
 *
 * An adapter is a shared library that puts one storage engine behind this header. It needs nothing else of kvdyno: no
 * other header, no symbol of the host, no rebuilding. It exports one function,
 *
 *     const kvdyno_engine *kvdyno_engine_v2(void);
 *
 * and kvdyno measures it:
 *
 *     cc -shared -fPIC -O2 -o libmine.so mine.c && kvdyno compare ./libmine.so lmdb
 *
 * The lab owns the loop, the keys, the values and the clock; an adapter only carries one call to its engine. It keeps
 * no statistics of its own, retries nothing that the engine did not promise to retry, and turns no error into a miss.
 * engines/skeleton/skeleton.c is a whole adapter with a comment at each step.
 *
 * How the ABI grows: every struct that crosses the border begins with its own size. A newer host reads an older
 * adapter's struct up to the size that the adapter gives and takes the rest as absent; new members are only ever added
 * at the end. KVDYNO_ABI_VERSION changes only when that is not enough, and a host refuses a version that it does not
 * speak before it reads anything else.
 *
 * Threads: calls on a database may come from any thread at any time between open and close. Calls on a session, and on
 * the cursors of that session, come from one thread at a time. A session is opened and closed on the thread that uses
 * it. `close` comes after every session was closed. Calls of several sessions run side by side and do not disturb one
 * another. A session that rests keeps nobody waiting, whatever it was lent: a value, a cursor's record, a snapshot.
 *
 * What a call took it gives back: `close` what `open` took, `session_close` what `session_open` took, `cursor_close`
 * what `cursor_open` took, be it memory, a thread or a file descriptor. Reads take no more and more memory.
 *
 * Nothing but these functions crosses the border. An exception of C++ is caught in the adapter and answered as
 * KVDYNO_ERROR with its text; no call ends the process, or changes its signals, working folder or environment.
 *
 * `kvdyno engines check` holds an adapter against this file: for what fails it names the sentence.
 */
#ifndef KVDYNO_H
#define KVDYNO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVDYNO_ABI_VERSION 2u

/* ---- answers -------------------------------------------------------------------------------------------------- */

/* Hit, miss and error are three answers. A miss is never an error, and an error is never a miss. A write that failed is
 * an error and never OK: what was answered with OK is there, and is read. After an error the session goes on: its next
 * call may fail again, with a text again. */
typedef int32_t kvdyno_status;

#define KVDYNO_OK 0       /* done; for a read: a hit */
#define KVDYNO_MISS 1     /* the key, or a next record, is not there */
#define KVDYNO_CONFLICT 2 /* the transaction was rolled back by the engine and may be tried again from its begin */
#define KVDYNO_EXISTS 3   /* of `insert_if_absent` alone: the key is there */
#define KVDYNO_ERROR (-1) /* the engine reported an error */
#define KVDYNO_UNSUPPORTED (-2) /* the engine cannot do this, or cannot honour this setting */
#define KVDYNO_NO_SPACE (-3)    /* the storage, or a fixed map, is full */
#define KVDYNO_NO_LIBRARY (-4)  /* the engine's own library was not found, or is not the right one */

/* Bytes that somebody else owns. Every key and value of the host's lies where it can be read, an empty one too: its
 * address is never NULL and is no mark of anything. What the host does not give, such as the value of a delete, the
 * key of a seek from the end or a bound, is NULL with a size of 0. An adapter's `data` may be anything where the size
 * is 0, but for the `old` of an update. */
typedef struct kvdyno_bytes {
    const void *data;
    size_t size;
} kvdyno_bytes;

/* A buffer for a text that the adapter writes: at most `capacity` bytes, the terminating zero included; what does not
 * fit is cut. */
typedef struct kvdyno_text {
    char *data;
    size_t capacity;
} kvdyno_text;

/* How an adapter lists things: it calls `emit` once for each. The texts need to live only as long as the call. */
typedef void (*kvdyno_emit)(void *context, const char *topic, const char *name, const char *value);

/* ---- what the lab asks for --------------------------------------------------------------------------------------- */

/* Durability: one scale for all engines. When is a write acknowledged? A process that dies leaves each write whole or
 * not at all. */
#define KVDYNO_DURABILITY_NONE 0u     /* at once: no log, or nothing need reach the OS before close */
#define KVDYNO_DURABILITY_PROCESS 1u  /* when it would survive the death of the process: written to the OS */
#define KVDYNO_DURABILITY_PERIODIC 2u /* as PROCESS, and the log is synced in the background every sync_period_ms */
#define KVDYNO_DURABILITY_COMMIT 3u   /* when it would survive a loss of power: synced first */

/* Compression of stored blocks. */
#define KVDYNO_COMPRESSION_NONE 0u
#define KVDYNO_COMPRESSION_SNAPPY 1u
#define KVDYNO_COMPRESSION_LZ4 2u
#define KVDYNO_COMPRESSION_ZSTD 3u
#define KVDYNO_COMPRESSION_ZLIB 4u

/* Types of an engine's own options. */
#define KVDYNO_OPTION_BOOL 0u    /* integer: 0 or 1; spelled true or false */
#define KVDYNO_OPTION_INTEGER 1u /* integer, between minimum and maximum */
#define KVDYNO_OPTION_SIZE 2u    /* integer: bytes, between minimum and maximum; spelled 64MiB and the like */
#define KVDYNO_OPTION_REAL 3u    /* real */
#define KVDYNO_OPTION_TEXT 4u    /* text: settings in the engine's own words */
#define KVDYNO_OPTION_CHOICE 5u  /* text: one of `choices` */

/* Flags of an option. */
#define KVDYNO_OPTION_SCALES                                                                                           \
    1u /* a SIZE that shapes the database's files or levels, such as that of a table file: a smaller database that
          stands for a larger one has a smaller one. One whose bounds are equal cannot be set, and is only told */

/* One option of the engine's own. The host parses and checks what the user wrote, so an adapter gets a value of the
 * declared type, within the declared bounds. */
typedef struct kvdyno_option {
    const char *name;          /* lower case, words joined by _ */
    uint32_t type;             /* KVDYNO_OPTION_... */
    uint32_t flags;            /* KVDYNO_OPTION_SCALES or 0 */
    const char *default_value; /* spelled as a user would spell it */
    const char *choices;       /* CHOICE: "a|b|c", otherwise NULL */
    int64_t minimum;           /* INTEGER and SIZE, inclusive */
    int64_t maximum;           /* INTEGER and SIZE, inclusive */
    const char *help;          /* one sentence: what it does */
} kvdyno_option;

typedef union kvdyno_value {
    int64_t integer;
    double real;
    const char *text;
} kvdyno_value;

/* A named set of option values: `rocksdb:pfx` is preset `pfx` of engine `rocksdb`. */
typedef struct kvdyno_preset {
    const char *name;
    const char *options; /* "name=value,name=value" */
    const char *help;
} kvdyno_preset;

/* The settings that a database is opened with. Everything but `options` is the same for every engine in a comparison:
 * an adapter maps it to the engine's words, or refuses it in `settings`; it ignores nothing in silence. `open` refuses
 * what `settings` refuses, and levels and compressions that are not declared. */
typedef struct kvdyno_config {
    uint32_t size;               /* sizeof(kvdyno_config) in the host */
    uint32_t create;             /* 1: `path` is an empty folder, make a database in it; 0: it holds one, open it */
    const char *path;            /* a folder that exists; NULL in `settings` */
    const char *library;         /* the engine's own library to load, or NULL: the system's */
    uint32_t durability;         /* KVDYNO_DURABILITY_... */
    uint32_t sync_period_ms;     /* for DURABILITY_PERIODIC */
    uint32_t compression;        /* KVDYNO_COMPRESSION_... */
    uint32_t sessions;           /* the most sessions that will be open at once */
    uint64_t cache_bytes;        /* what the engine may cache of its data, in its own memory */
    uint64_t write_buffer_bytes; /* what it may gather of new writes before it writes them out */
    uint64_t records;            /* hint: records there will be */
    uint64_t key_size;           /* hint: bytes of a key */
    uint64_t value_size;         /* hint: bytes of a value */
    const kvdyno_value *options; /* one for each declared option, in that order */
    size_t option_count;
    uint64_t prefix_size;          /* hint: leading bytes of a key that a group of keys has in common, or 0 */
    uint32_t processes;            /* processes that will have the database open at once; more than 1 only with
                                    KVDYNO_CAN_SHARE_PROCESSES. `sessions` counts those of this process alone */
    uint32_t session_durabilities; /* bit N set: sessions will ask for level N by `set_durability`; what cannot be had
                                      beside `durability` is refused by `settings`. 0: none will */
} kvdyno_config;

/* ---- what an engine can do --------------------------------------------------------------------------------------- */

#define KVDYNO_CAN_SCAN (1ull << 0)         /* cursors, in key order */
#define KVDYNO_CAN_SCAN_REVERSE (1ull << 1) /* cursors, backward too */
#define KVDYNO_CAN_DELETE (1ull << 2)
#define KVDYNO_CAN_BATCH (1ull << 3) /* `write` is all or nothing, also after a crash where there is a log */
#define KVDYNO_CAN_MULTI_GET (1ull << 4)
#define KVDYNO_CAN_TRANSACT (1ull << 5)          /* begin, commit, abort for reading and writing */
#define KVDYNO_CAN_SNAPSHOT (1ull << 6)          /* begin with KVDYNO_READ_ONLY: reads until commit see one state */
#define KVDYNO_CAN_READ_MODIFY_WRITE (1ull << 7) /* `read_modify_write` is one atomic step */
#define KVDYNO_CAN_WRITE_CONCURRENTLY                                                                                  \
    (1ull << 8) /* writers of several sessions make progress side by side: while one
                                                     is within a transaction or `update`, others write other keys */
#define KVDYNO_CAN_SHARE_PROCESSES                                                                                     \
    (1ull << 9)                            /* several processes may open one database at once: what one was
                                                     answered with OK, the next call of any other sees; one that dies
                                                     between two calls stops nobody */
#define KVDYNO_CAN_RAW_DEVICE (1ull << 10) /* `path` may be a block device */
#define KVDYNO_CAN_COMPARE (1ull << 11)    /* keys in an order that the user chooses */
#define KVDYNO_CAN_PARTITION (1ull << 12)
#define KVDYNO_CAN_PREFIX (1ull << 13)  /* uses a known prefix of the keys */
#define KVDYNO_IS_MAPPED (1ull << 14)   /* the database is mapped: its pages count as resident memory of the process */
#define KVDYNO_IS_VOLATILE (1ull << 15) /* keeps nothing: reads are answered from the host's `recall` */
#define KVDYNO_IS_SINGLE                                                                                               \
    (1ull << 16) /* no threads: one session a process, and every call from the thread that opened the
                    database. More workers are more processes */
#define KVDYNO_IS_BOUND (1ull << 17) /* to its folder. Without: a copy of a closed database is a database, too */
#define KVDYNO_CAN_SET_DURABILITY (1ull << 18) /* `set_durability` */
#define KVDYNO_CAN_SCAN_PREFIX (1ull << 19)    /* cursors that show the keys with one prefix */
#define KVDYNO_CAN_COUNT (1ull << 24)          /* `counters` */
/* How transactions for reading and writing are kept from each other. Neither: read committed. */
#define KVDYNO_READS_REPEAT                                                                                            \
    (1ull << 25) /* what one of them has read stays as it is until its end: snapshot isolation, or better; of two that
                    change what both have read, one is answered with KVDYNO_CONFLICT, or waits */
#define KVDYNO_IS_SERIALIZABLE                                                                                         \
    (1ull << 26) /* READS_REPEAT, and what they leave is as if they had come one after the other */
#define KVDYNO_CAN_DELETE_RANGE (1ull << 27)
#define KVDYNO_CAN_CONTAIN (1ull << 28) /* `contains` */
#define KVDYNO_CAN_INSERT_IF_ABSENT (1ull << 29)
#define KVDYNO_CAN_BOUND (1ull << 30)     /* cursors that keep within bounds */
#define KVDYNO_CAN_SCAN_KEYS (1ull << 31) /* cursors that bring no values */

/* Opaque to the host. */
typedef struct kvdyno_database kvdyno_database;
typedef struct kvdyno_session kvdyno_session;
typedef struct kvdyno_cursor kvdyno_cursor;

/* The host's functions for a session. Valid as long as the session. */
typedef struct kvdyno_host {
    uint32_t size; /* sizeof(kvdyno_host) in the host */
    uint32_t reserved;
    void *context;
    /* The value that the lab last stored under a key, for an engine that stores nothing (KVDYNO_IS_VOLATILE). The bytes
     * are good until the session's next call. Only on the session's thread. */
    kvdyno_status (*recall)(void *context, const void *key, size_t key_size, kvdyno_bytes *value);
} kvdyno_host;

/* One entry of a batch. */
#define KVDYNO_PUT 0u
#define KVDYNO_DELETE 1u
typedef struct kvdyno_batch_entry {
    uint32_t kind; /* KVDYNO_PUT or KVDYNO_DELETE */
    uint32_t reserved;
    kvdyno_bytes key;
    kvdyno_bytes value; /* of a put */
} kvdyno_batch_entry;

/* The function that `read_modify_write` calls: `old` is the present value, or has data == NULL where there is none;
 * `value`, set by the function, is good until it is called again. Anything but KVDYNO_OK gives the change up, and is
 * returned by `read_modify_write`. */
typedef kvdyno_status (*kvdyno_update_fn)(void *context, kvdyno_bytes old, kvdyno_bytes *value);

/* Kinds of transaction. */
#define KVDYNO_READ_WRITE 0u
#define KVDYNO_READ_ONLY 1u

/* Directions of a cursor. */
#define KVDYNO_FORWARD 0u  /* seek: the first key at or after the given one; without one, the very first */
#define KVDYNO_BACKWARD 1u /* seek: the last key at or before the given one; without one, the very last */

/* What a cursor can leave alone, for `cursor_open_with`. The keys of the bounds live as long as that call. */
typedef struct kvdyno_cursor_options {
    uint32_t size;      /* sizeof(kvdyno_cursor_options) in the host */
    uint32_t keys_only; /* CAN_SCAN_KEYS. 1: no value is asked for, and each comes as one of 0 bytes */
    /* CAN_BOUND. For the cursor there is no key before `from`, and neither `to` nor any key after it. One of 0 bytes is
     * no bound. */
    kvdyno_bytes from;
    kvdyno_bytes to;
    /* CAN_SCAN_PREFIX. The cursor shows the keys that begin with `prefix`, which has `prefix_size` bytes, in order, and
     * then answers MISS: the host seeks forward without a key and goes forward alone, and gives no bounds beside it.
     * One of 0 bytes is no prefix. */
    kvdyno_bytes prefix;
} kvdyno_cursor_options;

/* The part of what an engine declares that depends on its options, for `effective_capabilities` to take from. */
typedef struct kvdyno_capabilities {
    uint32_t size;         /* sizeof(kvdyno_capabilities) in the host */
    uint32_t durabilities; /* these three as in kvdyno_engine */
    uint64_t capabilities;
    uint32_t compressions;
    uint32_t reserved; /* 0 */
} kvdyno_capabilities;

/* What an engine counts of its own work, from when the database was opened at the latest, for `counters` to fill in. */
#define KVDYNO_ABSENT UINT64_MAX /* what it does not count */
typedef struct kvdyno_counters {
    uint32_t size;            /* sizeof(kvdyno_counters) in the host: members beyond it are not there */
    uint32_t reserved;        /* 0 */
    uint64_t flushed_bytes;   /* bytes of new data that it wrote from its memory to the database's files; no logs */
    uint64_t compacted_bytes; /* bytes that it wrote anew to bring data that was in files into another form */
    uint64_t stalled_ns;      /* time that it held writers back, all together, because background work was behind */
} kvdyno_counters;

/* ---- the engine -------------------------------------------------------------------------------------------------- */

/* R: required. Others may be NULL; what a capability declares must be there. Keys and values are copied by the engine
 * or by the adapter before a call returns. */
typedef struct kvdyno_engine {
    uint32_t size;         /* sizeof(kvdyno_engine) in the adapter */
    uint32_t abi_version;  /* KVDYNO_ABI_VERSION */
    const char *name;      /* R lower case: "lmdb" */
    const char *summary;   /* R one line: what it is */
    const char *origin;    /* R where a person gets the engine's library: "Debian package liblmdb0"; "built in" */
    uint64_t capabilities; /* KVDYNO_CAN_... | KVDYNO_IS_... */
    uint32_t durabilities; /* bit N set: durability level N can be met */
    uint32_t compressions; /* bit N set: compression N can be had */
    /* Keys and values may have any bytes, and any size within these limits; beyond them they are refused with an error
     * and a text, and nothing is changed. An empty value is a value: a hit of 0 bytes. */
    uint64_t min_key_size;   /* bytes */
    uint64_t max_key_size;   /* bytes; 0: no limit of its own */
    uint64_t max_value_size; /* bytes; 0: no limit of its own */
    /* Each choice of an option and either truth value works, or is refused by `settings` with a reason; each preset
     * works. A TEXT with a word that the engine does not know is refused by `settings`, with a reason that names the
     * option. */
    const kvdyno_option *options;
    size_t option_count;
    size_t option_size; /* sizeof(kvdyno_option) in the adapter */
    const kvdyno_preset *presets;
    size_t preset_count;
    size_t preset_size; /* sizeof(kvdyno_preset) in the adapter */

    /* R Loads the engine's library, or finds that it is linked in, and writes the version it says it has: "0.9.24". No
     * database is touched. KVDYNO_NO_LIBRARY: `error` says what was looked for and which package has it. A `library`
     * that is not there, or is not the engine's, is refused with a text by `probe` and by `open`, and so is any where
     * the engine is built in. */
    kvdyno_status (*probe)(const char *library, kvdyno_text *version, kvdyno_text *error);

    /* R Lists what `config` comes to in the engine's own words, by the lab's settings as topics: "durability", "cache",
     * "write_buffer", "compression", "checksums", "options"; of the first four each has an entry at least, and each
     * entry a name and a value. "files", "log": the names of the files that are logs, patterns with spaces between them
     * in which * stands for any characters, or "none". It opens nothing. KVDYNO_UNSUPPORTED: `error` says which setting
     * cannot be honoured, and why. The host calls it before a run touches anything, and prints it beside figures. */
    kvdyno_status (*settings)(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error);

    /* R Opens or creates the database. On failure nothing stays open, and `error` says what failed; another may still
     * be opened elsewhere. Where there is none, opening one is an error. Several can be open at once, but for
     * KVDYNO_IS_SINGLE. */
    kvdyno_status (*open)(const kvdyno_config *config, kvdyno_database **database, kvdyno_text *error);
    /* R Closes it: whatever the durability level, what was acknowledged is on the storage when it returns OK, and is
     * there when it is opened again. A close that cannot write that is an error. The handle is gone in any case. */
    kvdyno_status (*close)(kvdyno_database *database, kvdyno_text *error);

    /* R One session for each thread; as many as `config.sessions` says can be open at once. What one session was
     * answered with OK, the next call of any other sees. */
    kvdyno_status (*session_open)(kvdyno_database *database, const kvdyno_host *host, kvdyno_session **session,
                                  kvdyno_text *error);
    /* R Its cursors were closed before. */
    void (*session_close)(kvdyno_session *session);
    /* R Why the session's last call did not return OK or MISS: a text, never an empty one. */
    void (*session_error)(kvdyno_session *session, kvdyno_text *error);

    /* R The value is borrowed: it stays readable and as it is until the next call on the session, whatever others do
     * meanwhile, so an engine that can should not copy it. */
    kvdyno_status (*get)(kvdyno_session *session, const void *key, size_t key_size, kvdyno_bytes *value);
    /* R Inserts or replaces. Of several writers of a key the last one's value stays, whole. */
    kvdyno_status (*put)(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                         size_t value_size);
    /* CAN_DELETE. OK whether the key was there or not; MISS is allowed where the engine knows that it was not. The key
     * is a miss then, until it is put again. */
    kvdyno_status (*remove)(kvdyno_session *session, const void *key, size_t key_size);
    /* R Applies the entries in order: the last one for a key counts. CAN_BATCH says that it is all or nothing, for
     * readers beside it too. */
    kvdyno_status (*write)(kvdyno_session *session, const kvdyno_batch_entry *entries, size_t count);
    /* CAN_MULTI_GET. One status and one value for each key; the values are borrowed as in `get`. Returns OK if every
     * status is OK or MISS. */
    kvdyno_status (*multi_get)(kvdyno_session *session, const kvdyno_bytes *keys, size_t count, kvdyno_bytes *values,
                               kvdyno_status *statuses);
    /* CAN_READ_MODIFY_WRITE. Reads, calls `update`, writes, as one atomic step. Given up, it changes nothing. */
    kvdyno_status (*read_modify_write)(kvdyno_session *session, const void *key, size_t key_size,
                                       kvdyno_update_fn update, void *context);

    /* CAN_TRANSACT for KVDYNO_READ_WRITE, CAN_SNAPSHOT for KVDYNO_READ_ONLY. While a transaction is open the session's
     * calls belong to it; in one that only reads, a write is refused with KVDYNO_UNSUPPORTED. `commit` and `abort` end
     * it, whatever they answer, and so does any call that answers KVDYNO_CONFLICT. A transaction reads what it wrote
     * itself; nobody else sees it before `commit`, everybody sees all of it after, and nothing of it is left by
     * `abort`. In a snapshot all reads and scans see the state at its begin. The host never nests them, never ends what
     * was not begun, closes no session within one, and uses a cursor only within the transaction in which it was
     * opened, or outside of any if it was opened there. */
    kvdyno_status (*begin)(kvdyno_session *session, uint32_t kind);
    kvdyno_status (*commit)(kvdyno_session *session);
    kvdyno_status (*abort)(kvdyno_session *session);

    /* CAN_SCAN. A cursor goes through the keys in the order of memcmp, each once, and sees a state no older than its
     * last seek: what comes and goes meanwhile it may show or not, all else it shows. Key and value are borrowed, and
     * stay as they are, until the next call on the cursor or on its session. `next` and `previous` answer MISS at the
     * end, and again when they are called again; turned round at the end, or called before the first seek, a cursor may
     * answer anything but a crash, and the host does neither. Between, `next` and `previous` go to the neighbours of
     * the record that the cursor stands on, even if that record is deleted. */
    kvdyno_status (*cursor_open)(kvdyno_session *session, kvdyno_cursor **cursor);
    void (*cursor_close)(kvdyno_cursor *cursor);
    kvdyno_status (*cursor_seek)(kvdyno_cursor *cursor, const void *key, size_t key_size, uint32_t direction,
                                 kvdyno_bytes *found, kvdyno_bytes *value); /* key == NULL: from the end */
    kvdyno_status (*cursor_next)(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);
    kvdyno_status (*cursor_previous)(kvdyno_cursor *cursor, kvdyno_bytes *found, kvdyno_bytes *value);

    /* Optional housekeeping: OK at any time, time and again, beside sessions that do nothing too. */
    kvdyno_status (*flush)(kvdyno_database *database, kvdyno_text *error);     /* all that was written is on storage */
    kvdyno_status (*compact)(kvdyno_database *database, kvdyno_text *error);   /* the whole key range, in full */
    kvdyno_status (*wait_idle)(kvdyno_database *database, kvdyno_text *error); /* background work has come to rest */
    /* Statistics of the engine's own, at any time: topic is a group, name and value as the engine says them; no name is
     * empty. */
    kvdyno_status (*statistics)(kvdyno_database *database, kvdyno_emit emit, void *context);
    /* Gives back what the engine keeps outside the folder (shared memory, semaphores), so that the folder can be
     * removed. No process has the database open; one may have died with it, and there may be nothing to give back. Only
     * `path` and `library` of `config` are set. */
    kvdyno_status (*destroy)(const kvdyno_config *config, kvdyno_text *error);
    /* Takes back what does not hold with these options or this library: clears bits of `declared`, which comes as the
     * table has it. Only `library` and `options` of `config` are set. NULL: all that is declared always holds. */
    void (*effective_capabilities)(const kvdyno_config *config, kvdyno_capabilities *declared);
    /* CAN_COUNT. Fills in what it counts, at any time, and leaves the rest as it comes, KVDYNO_ABSENT. What is counted
     * once is always counted, and never goes back while the database is open. `flushed_bytes` has something of what was
     * put as soon as that is more than memory may keep, and was flushed. */
    kvdyno_status (*counters)(kvdyno_database *database, kvdyno_counters *counters);

    /* CAN_DELETE_RANGE. Deletes every key from `from` on that comes before `to`, by a call of the engine's own and not
     * key by key, as one step: readers beside it, and who opens the database after a crash, find all of it done or
     * nothing. Neither key need be there; OK where there is nothing to delete, and where `to` does not come after
     * `from`. The keys are misses then, until they are put again. */
    kvdyno_status (*delete_range)(kvdyno_session *session, const void *from, size_t from_size, const void *to,
                                  size_t to_size);

    /* CAN_CONTAIN. Says whether a key is there, by a call of the engine's own that brings no value: OK or MISS, as
     * `get` would answer. */
    kvdyno_status (*contains)(kvdyno_session *session, const void *key, size_t key_size);
    /* CAN_INSERT_IF_ABSENT. Inserts where the key is not there, and otherwise answers KVDYNO_EXISTS and leaves its
     * value as it is, by a call of the engine's own and as one step: of several sessions that insert one key at once,
     * one is answered with OK. */
    kvdyno_status (*insert_if_absent)(kvdyno_session *session, const void *key, size_t key_size, const void *value,
                                      size_t value_size);

    /* CAN_BOUND, CAN_SCAN_KEYS, CAN_SCAN_PREFIX. Opens a cursor of which the engine itself knows what it need not do;
     * in all else it is one of `cursor_open`'s. It shows what such a one would show within the bounds: a seek beyond
     * them goes to their nearest end, and with bounds between which there is nothing it answers MISS. What is not
     * declared is not asked for. */
    kvdyno_status (*cursor_open_with)(kvdyno_session *session, const kvdyno_cursor_options *options,
                                      kvdyno_cursor **cursor);

    /* CAN_SET_DURABILITY. What the session writes from now on is acknowledged at this level, whatever that of the
     * database or of other sessions is: KVDYNO_DURABILITY_..., one of `session_durabilities`. Called outside of
     * transactions. Another level may be refused with KVDYNO_UNSUPPORTED, and then the one before stays. */
    kvdyno_status (*set_durability)(kvdyno_session *session, uint32_t level);
} kvdyno_engine;

/* The function that an adapter exports. The struct is static: it is never freed and never changes. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const kvdyno_engine *
kvdyno_engine_v2(void);

#ifdef __cplusplus
}
#endif

#endif
