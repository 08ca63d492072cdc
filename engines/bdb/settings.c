/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * From kvdyno's settings to those of a Berkeley DB environment, and saying what they came to.
 */
#include <signal.h>

#include "bdb.h"

/* Berkeley DB adds a quarter to a cache below this, for its own book-keeping. */
#define CACHE_ENLARGED_BELOW (500 * MIB)
#define CACHE_REGION_MOST (4 * GIB)
#define LOG_BUFFER_DEFAULT (32 * KIB)
#define LOG_BUFFER_LEAST (4 * KIB)
#define LOG_BUFFER_MOST (64 * MIB)
#define LOG_FILE_DEFAULT (10 * MIB)
#define LOG_FILE_LEAST (1 * MIB) /* a record may hold the image of a page, and has to fit easily */
#define LOG_FILE_BUFFERS 4u      /* a log file holds at least so many log buffers, or Berkeley DB refuses to open */

#define BACKGROUND_THREADS 4u /* of a process: syncing, checkpoints, parking, and the one that opened */

/* ---- what the settings come to ---- */

uint64_t bdb_at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

static u_int32_t durability_flag(uint32_t durability)
{
    if (durability == KVDYNO_DURABILITY_NONE)
        return DB_TXN_NOSYNC;
    return durability == KVDYNO_DURABILITY_COMMIT ? 0 : DB_TXN_WRITE_NOSYNC;
}

static void plan_log(const kvdyno_config *config, bdb_plan *plan)
{
    uint64_t requested = (uint64_t)option_integer(config, BDB_LOG_BUFFER);
    uint64_t given = requested ? requested : config->write_buffer_bytes;
    uint64_t buffer = given ? given : LOG_BUFFER_DEFAULT;
    uint64_t file = (uint64_t)option_integer(config, BDB_LOG_FILE_SIZE);
    plan->log_buffer = bdb_at_most(buffer, LOG_BUFFER_MOST);
    if (file)
        plan->log_buffer = bdb_at_most(plan->log_buffer, file / LOG_FILE_BUFFERS);
    plan->log_file = file ? file : LOG_FILE_BUFFERS * plan->log_buffer;
    if (!file && plan->log_file < LOG_FILE_DEFAULT)
        plan->log_file = LOG_FILE_DEFAULT;
}

/* Locks for a batch of 1000 puts in every session at once, each on pages of its own, and some more. Versions of
 * pages keep the transactions that wrote them in the table until they are gone. */
static void plan_tables(const kvdyno_config *config, bdb_plan *plan)
{
    uint32_t processes = config_processes(config), sessions = config->sessions * processes;
    plan->lockers = 1000 + 8 * sessions;
    plan->locks = 20000 + 4000 * sessions;
    plan->transactions = 100 + 4 * sessions;
    if (option_integer(config, BDB_SNAPSHOT))
        plan->transactions += 10000;
    if (plan->shared)
        plan->threads = 64 + sessions + BACKGROUND_THREADS * processes;
}

/* Whether the regions are files that processes share. False, and why, if they are to share what is private. */
static bool plan_sharing(const kvdyno_config *config, bdb_plan *plan, kvdyno_text *error)
{
    const char *private = config->options[BDB_PRIVATE].text;
    uint32_t processes = config_processes(config);
    plan->shared = strcmp(private, "auto") == 0 ? processes > 1 : strcmp(private, "false") == 0;
    if (plan->shared || processes == 1)
        return true;
    say(error, "private: %u processes cannot share what one keeps in its own memory; auto or false lets them",
        processes);
    return false;
}

static bool refuses_log(const kvdyno_config *config, kvdyno_text *error)
{
    uint64_t file = (uint64_t)option_integer(config, BDB_LOG_FILE_SIZE);
    uint64_t buffer = (uint64_t)option_integer(config, BDB_LOG_BUFFER);
    if (file && file < LOG_FILE_LEAST)
        say(error, "log_file_size: %" PRIu64 " bytes are too few, it takes 1 MiB or 0", file);
    else if (buffer && buffer < LOG_BUFFER_LEAST)
        say(error, "log_buffer: %" PRIu64 " bytes are too few, it takes 4 KiB or 0", buffer);
    else if (file && file < LOG_FILE_BUFFERS * buffer)
        say(error,
            "log_file_size: %" PRIu64 " bytes are too few for a log_buffer of %" PRIu64 ", it takes four times "
            "that",
            file, buffer);
    else
        return false;
    return true;
}

kvdyno_status bdb_make_plan(const kvdyno_config *config, bdb_plan *plan, kvdyno_text *error)
{
    memset(plan, 0, sizeof *plan);
    if (refuses_durability(config, error) || refuses_log(config, error) || bdb_refuses_db_config(config, error))
        return KVDYNO_UNSUPPORTED;
    if (config->compression != KVDYNO_COMPRESSION_NONE) {
        say(error, "compression: this adapter offers none; Berkeley DB only compresses common prefixes of keys");
        return KVDYNO_UNSUPPORTED;
    }
    if (!plan_sharing(config, plan, error))
        return KVDYNO_UNSUPPORTED;
    plan->durability = durability_flag(config->durability);
    plan->cache = config->cache_bytes < CACHE_ENLARGED_BELOW ? config->cache_bytes / 5 * 4 : config->cache_bytes;
    plan->cache_regions = (int)((plan->cache + CACHE_REGION_MOST - 1) / CACHE_REGION_MOST);
    if (plan->cache_regions < 1)
        plan->cache_regions = 1;
    plan_log(config, plan);
    plan_tables(config, plan);
    return KVDYNO_OK;
}

/* ---- setting it ---- */

static int set_memory(DB_ENV *env, const bdb_plan *plan)
{
    int code = env->set_cachesize(env, (u_int32_t)(plan->cache / GIB), (u_int32_t)(plan->cache % GIB),
                                  plan->cache_regions);
    if (code == 0)
        code = env->set_lg_max(env, (u_int32_t)plan->log_file);
    return code ? code : env->set_lg_bsize(env, (u_int32_t)plan->log_buffer);
}

static int set_tables(DB_ENV *env, const kvdyno_config *config, const bdb_plan *plan)
{
    int code = env->set_lk_detect(env, DB_LOCK_DEFAULT);
    if (code == 0)
        code = env->set_lk_max_lockers(env, plan->lockers);
    if (code == 0)
        code = env->set_lk_max_locks(env, plan->locks);
    if (code == 0)
        code = env->set_lk_max_objects(env, plan->locks);
    if (code == 0 && option_integer(config, BDB_LOCK_PARTITIONS))
        code = env->set_lk_partitions(env, (u_int32_t)option_integer(config, BDB_LOCK_PARTITIONS));
    return code ? code : env->set_tx_max(env, plan->transactions);
}

/* The caller of Berkeley DB: needed at each call, and so had without a system call. A process has one environment at a
 * time. */
static pid_t own_process;

static void identify(DB_ENV *env, pid_t *process, db_threadid_t *thread)
{
    (void)env;
    if (process)
        *process = own_process;
    if (thread)
        *thread = pthread_self();
}

static int is_alive(DB_ENV *env, pid_t process, db_threadid_t thread, u_int32_t flags)
{
    (void)env, (void)thread, (void)flags;
    return kill(process, 0) == 0 || errno == EPERM;
}

/* For DB_ENV->failchk, which gives back what processes held that died. */
static int watch_processes(DB_ENV *env, const bdb_plan *plan)
{
    own_process = getpid();
    int code = env->set_thread_count(env, plan->threads);
    if (code == 0)
        code = env->set_thread_id(env, identify);
    return code ? code : env->set_isalive(env, is_alive);
}

static int set_flags(DB_ENV *env, const kvdyno_config *config, const bdb_plan *plan)
{
    int code = plan->durability ? env->set_flags(env, plan->durability, 1) : 0;
    if (code == 0 && option_integer(config, BDB_DIRECT_IO))
        code = env->set_flags(env, DB_DIRECT_DB, 1);
    if (code == 0 && option_integer(config, BDB_LOG_AUTO_REMOVE))
        code = env->log_set_config(env, DB_LOG_AUTO_REMOVE, 1);
    if (code == 0 && option_integer(config, BDB_LOG_ZERO))
        code = env->log_set_config(env, DB_LOG_ZERO, 1);
    if (code == 0 && option_integer(config, BDB_LOG_DSYNC))
        code = env->log_set_config(env, DB_LOG_DSYNC, 1);
    return code;
}

int bdb_set_all(DB_ENV *env, const kvdyno_config *config, const bdb_plan *plan)
{
    int code = set_memory(env, plan);
    if (code == 0)
        code = set_tables(env, config, plan);
    if (code == 0 && plan->threads)
        code = watch_processes(env, plan);
    return code ? code : set_flags(env, config, plan);
}

int bdb_make_environment(const bdb_library *library, engine_message *message, DB_ENV **env)
{
    int code = library->db_env_create(env, 0);
    if (code != 0) {
        *env = NULL;
        return code;
    }
    (*env)->app_private = message;
    (*env)->set_errcall(*env, keep_message);
    return 0;
}

/* ---- saying it ---- */

static const char *durability_meaning(uint32_t durability)
{
    switch (durability) {
    case KVDYNO_DURABILITY_NONE:
        return "DB_TXN_NOSYNC: a commit leaves its records in the log buffer, which is written when it is full, at a "
               "checkpoint and at close";
    case KVDYNO_DURABILITY_PROCESS:
        return "DB_TXN_WRITE_NOSYNC: a commit writes the log to the operating system and does not sync it";
    case KVDYNO_DURABILITY_PERIODIC:
        return "DB_TXN_WRITE_NOSYNC, and a thread calls DB_ENV->log_flush, which syncs the log";
    default:
        return "the default: a commit writes and syncs the log; commits that wait together share a sync";
    }
}

static void say_durability(const kvdyno_config *config, kvdyno_emit emit, void *context)
{
    long long checkpoint_kib = option_integer(config, BDB_CHECKPOINT_KIB);
    emit(context, "durability", "commit", durability_meaning(config->durability));
    for (uint32_t level = 0; level < DURABILITY_LEVELS; level++) {
        if (asks_for_durability(config, level))
            emit(context, "durability", "commit of sessions",
                 level == KVDYNO_DURABILITY_COMMIT ? "DB_TXN_SYNC: a commit writes and syncs the log"
                                                   : durability_meaning(level));
    }
    if (config->durability == KVDYNO_DURABILITY_PERIODIC)
        emitf(emit, context, "durability", "log_flush", "every %u ms%s", config->sync_period_ms,
              config_processes(config) > 1 ? ", by one of the processes" : "");
    if (checkpoint_kib)
        emitf(emit, context, "durability", "txn_checkpoint",
              "in the background after %lld KiB of log, and at close; it writes and syncs at every durability level",
              checkpoint_kib);
    else
        emit(context, "durability", "txn_checkpoint", "at close only");
    if (option_integer(config, BDB_LOG_DSYNC) && config->durability == KVDYNO_DURABILITY_NONE)
        emit(context, "tainted", "DB_LOG_DSYNC with DB_TXN_NOSYNC",
             "the log is synced whenever it is written, but no commit waits for that: what is in the log buffer is "
             "lost with the process");
}

static void say_memory(DB_ENV *env, const kvdyno_config *config, const bdb_plan *plan, kvdyno_emit emit, void *context)
{
    u_int32_t gbytes = 0, bytes = 0;
    int regions = 0;
    env->get_cachesize(env, &gbytes, &bytes, &regions);
    uint64_t total = gbytes * GIB + bytes;
    emitf(emit, context, "cache", "set_cachesize", "%" PRIu64 " bytes, regions: %d", plan->cache, plan->cache_regions);
    emitf(emit, context, "cache", "buffer pool", "%" PRIu64 " bytes in all%s", total,
          total > plan->cache ? ", with what Berkeley DB adds for its own book-keeping" : "");
    uint64_t requested = (uint64_t)option_integer(config, BDB_LOG_BUFFER);
    bool cut = plan->log_buffer < (requested ? requested : config->write_buffer_bytes);
    emitf(emit, context, "write_buffer", "set_lg_bsize", "%" PRIu64 " bytes of log%s; changed pages wait in the cache",
          plan->log_buffer, cut ? ", the most this adapter sets: 64 MiB, and a quarter of a log file" : "");
    emitf(emit, context, "write_buffer", "set_lg_max", "%" PRIu64 " bytes a log file", plan->log_file);
    emit(context, "compression", "set_bt_compress", "not set");
    emit(context, "checksums", "DB_CHKSUM", "not set, Berkeley DB's default: pages have none, only records of the log");
    emit(context, "files", "log", "log.*");
}

static void say_options(const kvdyno_config *config, const bdb_plan *plan, kvdyno_emit emit, void *context)
{
    static const struct {
        const char *name;
        int option;
    } flags[] = {
        {"DB_LOG_AUTO_REMOVE", BDB_LOG_AUTO_REMOVE},
        {"DB_LOG_ZERO", BDB_LOG_ZERO},
        {"DB_LOG_DSYNC", BDB_LOG_DSYNC},
        {"DB_DIRECT_DB", BDB_DIRECT_IO},
    };
    long long partitions = option_integer(config, BDB_LOCK_PARTITIONS);
    bool versions = option_integer(config, BDB_SNAPSHOT);
    bdb_say_table(config, emit, context);
    emit(context, "options", "isolation",
         versions ? "DB_MULTIVERSION; reads and cursors with DB_TXN_SNAPSHOT" : "page locks");
    emit(context, "options", "regions", plan->shared ? "DB_REGISTER: mapped files in the folder" : "DB_PRIVATE: heap");
    if (plan->shared)
        emitf(emit, context, "options", "failchk", "every %u ms; set_thread_count %u", BDB_POLL_MS, plan->threads);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        emit(context, "options", flags[i].name, option_integer(config, flags[i].option) ? "on" : "off");
    emit(context, "options", "set_lk_detect", "DB_LOCK_DEFAULT");
    emitf(emit, context, "options", "set_lk_max_lockers", "%u", plan->lockers);
    emitf(emit, context, "options", "set_lk_max_locks, set_lk_max_objects", "%u", plan->locks);
    emitf(emit, context, "options", "set_tx_max", "%u", plan->transactions);
    emit(context, "options", "DB_CONFIG", bdb_has_db_config(config) ? config->options[BDB_DB_CONFIG].text : "none");
    if (partitions)
        emitf(emit, context, "options", "set_lk_partitions", "%lld", partitions);
    else
        emit(context, "options", "set_lk_partitions", "not set: Berkeley DB's choice");
}

/* ---- settings ---- */

/* Tells an environment all of it without opening one, so that Berkeley DB itself refuses what it cannot do. */
static int try_settings(DB_ENV *env, const bdb_library *library, const kvdyno_config *config, const bdb_plan *plan)
{
    DB *db;
    int code = bdb_set_all(env, config, plan);
    if (code == 0)
        code = library->db_create(&db, env, 0);
    if (code != 0)
        return code;
    code = bdb_set_table(db, config);
    int closed = db->close(db, 0);
    return code ? code : closed;
}

/* What Berkeley DB says of them stays as it is, for it names the line. */
static kvdyno_status try_own_words(const bdb_library *library, const kvdyno_config *config, kvdyno_text *error)
{
    engine_message message;
    engine_message_init(&message);
    int code = bdb_try_db_config(config, library, &message);
    if (code == 0)
        return KVDYNO_OK;
    bdb_explain_with(library, &message, "db_config", code, error);
    return KVDYNO_UNSUPPORTED;
}

kvdyno_status adapter_settings(const kvdyno_config *config, kvdyno_emit emit, void *context, kvdyno_text *error)
{
    bdb_plan plan;
    bdb_library library;
    engine_message message;
    DB_ENV *env;
    kvdyno_status status = bdb_make_plan(config, &plan, error);
    if (status == KVDYNO_OK)
        status = bdb_library_open(config->library, &library, error);
    if (status != KVDYNO_OK)
        return status;
    status = try_own_words(&library, config, error);
    if (status != KVDYNO_OK) {
        bdb_library_close(&library);
        return status;
    }
    engine_message_init(&message);
    int code = bdb_make_environment(&library, &message, &env);
    if (code == 0)
        code = try_settings(env, &library, config, &plan);
    if (code == 0) {
        say_durability(config, emit, context);
        say_memory(env, config, &plan, emit, context);
        say_options(config, &plan, emit, context);
    } else {
        bdb_explain_with(&library, &message, "Berkeley DB refuses a setting", code, error);
        status = KVDYNO_UNSUPPORTED;
    }
    if (env)
        env->close(env, 0);
    bdb_library_close(&library);
    return status;
}
