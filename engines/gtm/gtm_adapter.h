/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * gtm_adapter.h: what the files of the GT.M adapter share. See gtm.c for what the adapter is, and docs/engines/gtm.md
 * for how it behaves.
 */
#ifndef KVDYNO_GTM_ADAPTER_H
#define KVDYNO_GTM_ADAPTER_H

#include <signal.h>

#include "adapter.h"

/* ---- what libgtmshr.so offers to C: the part of gtmxc_types.h that is used here ---- */

typedef struct gt_bytes {
    long length; /* going in: of the bytes, or of the memory for an answer; coming out: of the answer */
    char *address;
} gt_bytes;

typedef struct gt_name {
    gt_bytes name;
    void *handle;
} gt_name;

/* clang-format off */
#define GT_FUNCTIONS(X)                                                                                                \
    X(int, gtm_jinit, (void)) X(int, gtm_cip, (gt_name *name, ...)) X(int, gtm_exit, (void))                           \
    X(void, gtm_zstatus, (char *text, int size))
/* clang-format on */

typedef struct gt_api {
    GT_FUNCTIONS(API_MEMBER)
} gt_api;

/* The entries of the call-in table: name, and signature. The routine is in routine.c. */
/* clang-format off */
#define GT_CALLS(X)                                                                          \
    X(start, "void start^kvdyno()")                                                          \
    X(get, "void get^kvdyno(I:gtm_string_t*,O:gtm_string_t*)")                               \
    X(put, "void put^kvdyno(I:gtm_string_t*,I:gtm_string_t*)")                               \
    X(putnow, "void putnow^kvdyno(I:gtm_string_t*,I:gtm_string_t*)")                         \
    X(remove, "void remove^kvdyno(I:gtm_string_t*)")                                         \
    X(removenow, "void removenow^kvdyno(I:gtm_string_t*)")                                   \
    X(forward, "void forward^kvdyno(I:gtm_string_t*,O:gtm_string_t*,O:gtm_string_t*)")       \
    X(backward, "void backward^kvdyno(I:gtm_string_t*,O:gtm_string_t*,O:gtm_string_t*)")     \
    X(next, "void next^kvdyno(I:gtm_string_t*,O:gtm_string_t*,O:gtm_string_t*)")             \
    X(previous, "void previous^kvdyno(I:gtm_string_t*,O:gtm_string_t*,O:gtm_string_t*)")     \
    X(write, "void write^kvdyno(I:gtm_string_t*)")                                           \
    X(readmodifywrite, "void readmodifywrite^kvdyno(I:gtm_string_t*,I:gtm_string_t*)")       \
    X(transact, "gtm_int_t* transact^kvdyno(I:gtm_string_t*)")                               \
    X(flush, "void flush^kvdyno()")                                                          \
    X(statistics, "void statistics^kvdyno(O:gtm_string_t*)")
/* clang-format on */

typedef struct gt_calls {
#define CALL_MEMBER(call, signature) gt_name call;
    GT_CALLS(CALL_MEMBER)
} gt_calls;

/* ---- limits ---- */

/* A key is stored with a letter before it, so that M takes none for a number. A zero or one byte takes two bytes in
 * GT.M's own form of a key, which takes 1019. */
#define GT_LETTER 'k'
#define GT_MAX_KEY 506
#define GT_MAX_VALUE (1 << 20)
#define GT_ANSWER_BYTES (GT_MAX_VALUE + 1) /* an answer that is still so long was never given */

/* ---- options ---- */

enum { ACCESS_METHOD, BLOCK_SIZE, ALLOCATION, EXTENSION, EPOCH_INTERVAL, SYNC_IO, OPTION_COUNT };
extern const kvdyno_option gt_options[OPTION_COUNT];

bool gt_is_mapped(const kvdyno_config *config);
/* Writes and before-images go to a journal: at every level but `none`. */
bool gt_is_journaled(const kvdyno_config *config);
uint64_t gt_global_buffers(const kvdyno_config *config);
/* In GT.M's blocks of 512 bytes. */
uint64_t gt_journal_buffer(const kvdyno_config *config);
/* Blocks by which the database grows. */
int64_t gt_extension(const kvdyno_config *config);
/* Whether GT.M can do what `config` asks for; if not, why. */
bool gt_acceptable(const kvdyno_config *config, kvdyno_text *error);

/* ---- where GT.M is, and its programs: installation.c, tools.c ---- */

typedef struct gt_installation {
    char dist[PATH_MAX];    /* $gtm_dist */
    char library[PATH_MAX]; /* libgtmshr.so in it */
    int held;               /* what its programs keep open as long as they run, or -1 */
} gt_installation;

bool gt_find(const char *chosen, gt_installation *installation, kvdyno_text *error);
/* `folder`/`name`. */
void gt_path(char path[PATH_MAX], const char *folder, const char *name);
/* Whether its programs are there too. */
bool gt_is_complete(const gt_installation *installation, kvdyno_text *error);
/* The environment for GT.M to work on the database in `folder`: the host's own without what speaks to GT.M, and what
 * this adapter tells it. `preload`: a library to load before its own, or NULL. One block: free() it. NULL: out of
 * memory. */
char **gt_environment(const gt_installation *installation, const char *folder, const char *preload);
#define GT_SAID 4096

/* Runs a program of $gtm_dist with these arguments (NULL-terminated, without its name) and waits for it. `input` is a
 * file, or NULL. What it says goes to `said`. Whether it succeeded by its own word. */
bool gt_run(const gt_installation *installation, const char *folder, const char *program, const char *const *arguments,
            const char *input, char said[GT_SAID]);
/* The same for a program that has no other process to wait for: it hardly sleeps. */
bool gt_run_alone(const gt_installation *installation, const char *folder, const char *program,
                  const char *const *arguments, char said[GT_SAID]);
/* Its main line: the first that reports an error, or a warning, or else the first of all. Cuts `said`. */
const char *gt_gist(char *said);
/* The file of this adapter. */
bool gt_own_file(char path[PATH_MAX]);
/* The same, without waiting: returns the process, or -1. It reads from the file `input`. */
pid_t gt_start(const gt_installation *installation, const char *folder, const char *program,
               const char *const *arguments, int input);
/* Waits for it. */
bool gt_ended_well(pid_t child);

/* ---- who is at a database: lock.c ---- */

/* Openers, who come one at a time; users; programs that work beside a user and end soon after him. */
enum { GT_OPENERS, GT_USERS, GT_HELPERS };

/* Waits until one may be in that company, alone or with others. Returns a file that is to be closed afterwards. */
int gt_meet(const char *folder, int company, bool alone, kvdyno_text *error);
/* Becomes a user. The first one is alone until he lets others join. */
int gt_join_users(const char *folder, bool *first, kvdyno_text *error);
void gt_let_others_join(int users);

/* ---- the library, as a guest in this process: library.c, heap.c ---- */

typedef struct gt_library {
    void *handle;
    gt_api api;
    gt_calls calls;
    struct sigaction host[NSIG]; /* what the host does with signals */
} gt_library;

/* Loads GT.M's library without starting anything. */
bool gt_load(const gt_installation *installation, gt_library *library, kvdyno_text *error);
void gt_unload(gt_library *library);
/* Starts GT.M in this process for the database in `folder`, and opens that. */
bool gt_enter(gt_library *library, const gt_installation *installation, const char *folder, kvdyno_text *error);
/* Ends it. Afterwards GT.M can be loaded anew. */
bool gt_leave(gt_library *library, kvdyno_text *error);
/* The error of the last call, in GT.M's words. */
kvdyno_status gt_explain(const gt_library *library, const char *what, kvdyno_text *error);
/* The same, as the error of a session. */
kvdyno_status session_fail(kvdyno_session *session, const char *what);
/* NO_SPACE if GT.M says that the storage or the database is full. */
kvdyno_status gt_status_of(const char *message);

/* From here on the library takes its memory from a heap that gt_heap_end gives back. */
bool gt_heap_begin(void *handle);
void gt_heap_end(void);

/* ---- the files in a database's folder: routine.c ---- */

#define GT_DATABASE "kvdyno.dat"
#define GT_JOURNAL "kvdyno.mjl"

/* Writes the routine, the tables of calls into it and out of it, and compiles it. */
bool gt_write_files(const gt_installation *installation, const char *folder, kvdyno_text *error);
bool gt_write_file(const char *folder, const char *name, const char *text, kvdyno_text *error);

/* ---- the database: database.c; its making, setting and mending: upkeep.c; its syncer: syncer.c ---- */

struct kvdyno_database {
    gt_installation installation;
    gt_library library;
    char folder[PATH_MAX];
    pthread_t thread;
    uint32_t durability, sync_period_ms;
    int users; /* the lock of a user */
    bool wrote;
    pid_t syncer;
    int syncer_end; /* where the syncer is told to end */
    kvdyno_session *session;
};

bool gt_create(const gt_installation *installation, const char *folder, const kvdyno_config *config,
               kvdyno_text *error);
/* After GT.M has ended in this process. */
void gt_give_back_entry(void);
/* After a process died: writes out what it left in shared memory, or recovers from the journal. */
bool gt_mend(const gt_installation *installation, const char *folder, kvdyno_text *error);
/* Sets global buffers and journaling. Nobody has the database open. */
bool gt_set(const gt_installation *installation, const char *folder, const kvdyno_config *config, kvdyno_text *error);
bool gt_start_syncer(kvdyno_database *database, kvdyno_text *error);
bool gt_stop_syncer(kvdyno_database *database, kvdyno_text *error);

/* ---- sessions and cursors: session.c, transaction.c, cursor.c ---- */

typedef struct gt_transaction gt_transaction;

struct kvdyno_session {
    gt_library *library;
    gt_name *put, *remove;             /* as the durability has it */
    gt_transaction *transaction;       /* the begun one; NULL: none */
    char key[GT_MAX_KEY + 1];          /* the last key that was given, after its letter */
    gt_bytes batch_id;                 /* TRANSACTIONID: BATCH commits without waiting for the journal */
    char *answer;                      /* the value handed out: GT_ANSWER_BYTES bytes */
    const kvdyno_batch_entry *entries; /* of the batch that is being written */
    size_t entry_count, entry_next;
    kvdyno_update_fn update; /* of the change that is being made */
    void *update_context;
    kvdyno_status update_status;
    void *stack; /* of transactions */
    SESSION_MEMBERS;
};

struct kvdyno_cursor {
    CURSOR_MEMBERS;
    size_t size; /* of the key where it stands, its letter included; 0: nowhere */
    char key[GT_MAX_KEY + 1];
};

/* The requests of a transaction; the routine knows them by number. */
enum { GT_ABORT, GT_COMMIT, GT_GET, GT_PUT, GT_REMOVE, GT_FORWARD, GT_BACKWARD, GT_NEXT, GT_PREVIOUS };

/* One request within the begun transaction, with a key and the value to be put. A read fills `value`, a cursor's move
 * `found` too. A miss leaves the transaction as it is; a conflict or an error ends it. */
kvdyno_status gt_ask(kvdyno_session *session, int request, gt_bytes key, gt_bytes given, gt_bytes *found,
                     gt_bytes *value);
void gt_end_stack(kvdyno_session *session);

/* The key as GT.M gets it. It must not be longer than GT_MAX_KEY. */
static inline gt_bytes gt_named(kvdyno_session *session, const void *key, size_t key_size)
{
    memcpy(session->key + 1, key, key_size);
    return (gt_bytes){(long)key_size + 1, session->key};
}

#endif
