/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * LMDB gets as somebody would write them who wants nothing else: no driver, no histogram, no verification. It asks for
 * the same keys as kvdyno's readrandom with the same seed, and reads every byte of every value.
 *
 *     bare_lmdb FOLDER SEED RECORDS GETS each|one
 *
 * `each`: a read-only transaction for each get, renewed and reset, so that each get sees the newest state; `one`: one
 * transaction for all. Prints nanoseconds for a get, and the sum of what was read.
 */
#include <inttypes.h>
#include <lmdb.h>
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

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: bare_lmdb FOLDER SEED RECORDS GETS each|one\n");
        return 2;
    }
    uint64_t records = strtoull(argv[3], NULL, 10), gets = strtoull(argv[4], NULL, 10);
    int each = strcmp(argv[5], "each") == 0;
    for (int i = 0; i < 65536; i++) {
        char text[8];
        snprintf(text, sizeof text, "%04x", i);
        memcpy(digits[i], text, 4);
    }
    seed_stream(strtoull(argv[2], NULL, 10));

    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    must(mdb_env_create(&env), "mdb_env_create");
    must(mdb_env_set_mapsize(env, (size_t)4 << 30), "mdb_env_set_mapsize");
    must(mdb_env_open(env, argv[1], MDB_NOSYNC | MDB_NOTLS, 0644), "mdb_env_open");
    must(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), "mdb_txn_begin");
    must(mdb_dbi_open(txn, NULL, 0, &dbi), "mdb_dbi_open");
    if (each)
        mdb_txn_reset(txn);

    uint64_t sum = 0;
    double begin = now_ns();
    for (uint64_t i = 0; i < gets; i++) {
        char bytes[16];
        spell((uint64_t)(((unsigned __int128)next_bits() * records) >> 64), bytes);
        MDB_val key = {sizeof bytes, bytes}, value;
        if (each)
            must(mdb_txn_renew(txn), "mdb_txn_renew");
        must(mdb_get(txn, dbi, &key, &value), "mdb_get");
        sum += read_all(&value);
        if (each)
            mdb_txn_reset(txn);
    }
    printf("%.3f %" PRIu64 "\n", (now_ns() - begin) / (double)(gets ? gets : 1), sum);
    mdb_txn_abort(txn);
    mdb_env_close(env);
    return 0;
}
