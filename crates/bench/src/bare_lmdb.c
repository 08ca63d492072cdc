/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * LMDB as somebody would call it who wants nothing else: no driver, no histogram, no verification. It asks for the same
 * keys as kvdyno with the same seed, and reads every byte of every record that it is given.
 *
 *     bare_lmdb FOLDER SEED RECORDS COUNT each|one|scan|put [BATCH]
 *
 * `each`: gets, a read-only transaction for each, renewed and reset, so that each get sees the newest state; `one`:
 * gets in one transaction; `scan`: steps of a cursor through all records, again and again; `put`: puts of values that
 * lie there already, BATCH of them in a transaction. Prints nanoseconds for each of COUNT, and the sum of what was
 * read.
 */
#include <inttypes.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* xoshiro256++ and the seeding of it that kvdyno uses (SplitMix64). */
static uint64_t state[4];

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static void seed_stream(uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = (seed += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        state[i] = z ^ (z >> 31);
    }
}

static inline uint64_t next_bits(void)
{
    uint64_t result = rotate(state[0] + state[3], 23) + state[0], t = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= t;
    state[3] = rotate(state[3], 45);
    return result;
}

static char digits[65536][4];

static inline void spell(uint64_t id, char *key)
{
    memcpy(key, digits[id >> 48], 4);
    memcpy(key + 4, digits[(id >> 32) & 0xffff], 4);
    memcpy(key + 8, digits[(id >> 16) & 0xffff], 4);
    memcpy(key + 12, digits[id & 0xffff], 4);
}

static inline uint64_t read_all(const MDB_val *value)
{
    const char *bytes = value->mv_data;
    size_t size = value->mv_size, at = 0;
    uint64_t sum = 0;
    for (uint64_t word; at + 8 <= size; at += 8) {
        memcpy(&word, bytes + at, 8);
        sum += word;
    }
    for (; at < size; at++)
        sum += (unsigned char)bytes[at];
    return sum;
}

static void must(int status, const char *what)
{
    if (status) {
        fprintf(stderr, "bare_lmdb: %s: %s\n", what, mdb_strerror(status));
        exit(1);
    }
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static MDB_env *env;
static MDB_dbi dbi;
static uint64_t records;

static inline MDB_val next_key(char *bytes)
{
    spell((uint64_t)(((unsigned __int128)next_bits() * records) >> 64), bytes);
    return (MDB_val){16, bytes};
}

static MDB_txn *begin(unsigned flags)
{
    MDB_txn *txn;
    must(mdb_txn_begin(env, NULL, flags, &txn), "mdb_txn_begin");
    return txn;
}

static uint64_t get(uint64_t gets, int each)
{
    uint64_t sum = 0;
    MDB_txn *txn = begin(MDB_RDONLY);
    if (each)
        mdb_txn_reset(txn);
    for (uint64_t i = 0; i < gets; i++) {
        char bytes[16];
        MDB_val key = next_key(bytes), value;
        if (each)
            must(mdb_txn_renew(txn), "mdb_txn_renew");
        must(mdb_get(txn, dbi, &key, &value), "mdb_get");
        sum += read_all(&value);
        if (each)
            mdb_txn_reset(txn);
    }
    mdb_txn_abort(txn);
    return sum;
}

static uint64_t scan(uint64_t steps)
{
    uint64_t sum = 0;
    MDB_txn *txn = begin(MDB_RDONLY);
    MDB_cursor *cursor;
    MDB_val key, value;
    must(mdb_cursor_open(txn, dbi, &cursor), "mdb_cursor_open");
    for (uint64_t i = 0; i < steps; i++) {
        int status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
        if (status == MDB_NOTFOUND)
            status = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
        must(status, "mdb_cursor_get");
        sum += read_all(&key) + read_all(&value);
    }
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    return sum;
}

static uint64_t put(uint64_t puts, uint64_t at_once)
{
    static char bytes[100];
    for (uint64_t done = 0; done < puts;) {
        MDB_txn *txn = begin(0);
        for (uint64_t i = 0; i < at_once && done < puts; i++, done++) {
            char spelled[16];
            MDB_val key = next_key(spelled), value = {sizeof bytes, bytes};
            must(mdb_put(txn, dbi, &key, &value, 0), "mdb_put");
        }
        must(mdb_txn_commit(txn), "mdb_txn_commit");
    }
    return 0;
}

static const char *what;
static uint64_t count, batch;

static void *work(void *unused)
{
    uint64_t sum;
    double from = now_ns();
    if (!strcmp(what, "scan"))
        sum = scan(count);
    else if (!strcmp(what, "put"))
        sum = put(count, batch);
    else
        sum = get(count, !strcmp(what, "each"));
    printf("%.3f %" PRIu64 "\n", (now_ns() - from) / (double)(count ? count : 1), sum);
    return unused;
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fprintf(stderr, "usage: bare_lmdb FOLDER SEED RECORDS COUNT each|one|scan|put [BATCH]\n");
        return 2;
    }
    count = strtoull(argv[4], NULL, 10);
    what = argv[5];
    batch = argc > 6 ? strtoull(argv[6], NULL, 10) : 1;
    records = strtoull(argv[3], NULL, 10);
    for (int i = 0; i < 65536; i++) {
        char text[8];
        snprintf(text, sizeof text, "%04x", i);
        memcpy(digits[i], text, 4);
    }
    seed_stream(strtoull(argv[2], NULL, 10));

    must(mdb_env_create(&env), "mdb_env_create");
    must(mdb_env_set_mapsize(env, (size_t)4 << 30), "mdb_env_set_mapsize");
    must(mdb_env_open(env, argv[1], MDB_NOSYNC | MDB_NOTLS, 0644), "mdb_env_open");
    MDB_txn *opening = begin(0);
    must(mdb_dbi_open(opening, NULL, 0, &dbi), "mdb_dbi_open");
    must(mdb_txn_commit(opening), "mdb_txn_commit");

    /* A thread, as every benchmark has them: what libc does around a call like pwrite costs more in such a process. */
    pthread_t thread;
    must(pthread_create(&thread, NULL, work, NULL), "pthread_create");
    must(pthread_join(thread, NULL), "pthread_join");
    mdb_env_close(env);
    return 0;
}
