/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The 3n+1 computation on Berkeley DB as somebody would write it who wants nothing else: no driver, no histogram, no
 * verification. The settings are those of kvdyno's adapter with the options that `cycles.rs` gives it.
 *
 *     bare_3n1 FOLDER STARTS THREADS
 *
 * Prints nanoseconds of a thread for an operation, operations, nanoseconds of CPU time for an operation (without
 * opening and closing), and the longest cycle.
 */
#include <db.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHUNK 1000u
#define MOST_THREADS 64
#define LONGEST 1000

static DB *db;
static uint64_t starts;
static atomic_uint_least64_t next_start;

typedef struct thread_result {
    uint64_t operations, longest;
    double ns;
} thread_result;

static void must(int status, const char *what)
{
    if (status) {
        fprintf(stderr, "bare_3n1: %s: %s\n", what, db_strerror(status));
        exit(1);
    }
}

static double ns_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static u_int32_t partition_of(DB *table, DBT *key)
{
    (void)table;
    const unsigned char *bytes = key->data;
    u_int32_t hash = 2166136261u;
    for (u_int32_t i = 0; i < key->size; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash ^ hash >> 16;
}

static int look_up(uint64_t number, uint64_t *length)
{
    uint64_t key_bytes = __builtin_bswap64(number), value_bytes;
    DBT key = {.data = &key_bytes, .size = sizeof key_bytes};
    DBT value = {.data = &value_bytes, .ulen = sizeof value_bytes, .flags = DB_DBT_USERMEM};
    int status;
    do
        status = db->get(db, NULL, &key, &value, 0);
    while (status == DB_LOCK_DEADLOCK);
    if (status == 0)
        *length = __builtin_bswap64(value_bytes);
    else if (status != DB_NOTFOUND)
        must(status, "get");
    return status == 0;
}

static void put(uint64_t number, uint64_t length)
{
    uint64_t key_bytes = __builtin_bswap64(number), value_bytes = __builtin_bswap64(length);
    DBT key = {.data = &key_bytes, .size = sizeof key_bytes},
        value = {.data = &value_bytes, .size = sizeof value_bytes};
    int status;
    do
        status = db->put(db, NULL, &key, &value, 0);
    while (status == DB_LOCK_DEADLOCK);
    must(status, "put");
}

static uint64_t cycle(uint64_t start, uint64_t *operations)
{
    uint64_t way[LONGEST], number = start, length = 1;
    size_t unknown = 0;
    while (number > 1) {
        ++*operations;
        if (look_up(number, &length))
            break;
        way[unknown++] = number;
        number = number % 2 ? 3 * number + 1 : number / 2;
    }
    *operations += unknown;
    while (unknown > 0)
        put(way[--unknown], ++length);
    return length;
}

static void *work(void *argument)
{
    thread_result *result = argument;
    double begin = ns_of(CLOCK_MONOTONIC);
    for (;;) {
        uint64_t first = atomic_fetch_add(&next_start, CHUNK) + 1;
        if (first > starts)
            break;
        for (uint64_t start = first; start < first + CHUNK && start <= starts; start++) {
            uint64_t length = cycle(start, &result->operations);
            if (length > result->longest)
                result->longest = length;
        }
    }
    result->ns = ns_of(CLOCK_MONOTONIC) - begin;
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: bare_3n1 FOLDER STARTS THREADS\n");
        return 2;
    }
    starts = strtoull(argv[2], NULL, 10);
    unsigned threads = (unsigned)strtoul(argv[3], NULL, 10);
    if (threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "bare_3n1: 1 to %d threads\n", MOST_THREADS);
        return 2;
    }
    DB_ENV *env;
    must(db_env_create(&env, 0), "db_env_create");
    must(env->set_cachesize(env, 0, 300000u << 10, 1), "set_cachesize");
    must(env->set_lg_max(env, 10u << 20), "set_lg_max");
    must(env->set_lg_bsize(env, 800u << 10), "set_lg_bsize");
    must(env->set_lk_detect(env, DB_LOCK_DEFAULT), "set_lk_detect");
    must(env->set_lk_max_lockers(env, 1000 + 8 * threads), "set_lk_max_lockers");
    must(env->set_lk_max_locks(env, 20000 + 4000 * threads), "set_lk_max_locks");
    must(env->set_lk_max_objects(env, 20000 + 4000 * threads), "set_lk_max_objects");
    must(env->set_tx_max(env, 100 + 4 * threads), "set_tx_max");
    must(env->set_flags(env, DB_TXN_NOSYNC, 1), "DB_TXN_NOSYNC");
    must(env->log_set_config(env, DB_LOG_AUTO_REMOVE, 1), "DB_LOG_AUTO_REMOVE");
    u_int32_t parts = DB_INIT_LOCK | DB_INIT_LOG | DB_INIT_MPOOL | DB_INIT_TXN;
    must(env->open(env, argv[1], DB_CREATE | DB_THREAD | DB_PRIVATE | parts, 0644), "DB_ENV->open");
    must(db_create(&db, env, 0), "db_create");
    must(db->set_partition(db, 8, NULL, partition_of), "set_partition");
    must(db->open(db, NULL, "data.bdb", NULL, DB_BTREE, DB_AUTO_COMMIT | DB_CREATE | DB_THREAD, 0644), "DB->open");

    pthread_t thread[MOST_THREADS];
    static thread_result results[MOST_THREADS];
    double cpu_ns = ns_of(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, work, &results[i]) != 0)
            return 1;
    thread_result all = {0};
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        all.operations += results[i].operations;
        all.ns += results[i].ns;
        if (results[i].longest > all.longest)
            all.longest = results[i].longest;
    }
    cpu_ns = ns_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
    double operations = (double)(all.operations ? all.operations : 1);
    printf("%.3f %" PRIu64 " %.3f %" PRIu64 "\n", all.ns / operations, all.operations, cpu_ns / operations,
           all.longest);
    must(db->close(db, 0), "DB->close");
    must(env->close(env, 0), "DB_ENV->close");
    return 0;
}
