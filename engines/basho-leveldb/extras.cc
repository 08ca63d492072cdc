/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * extras.cc: what the C API of Basho's LevelDB lacks for the adapter. build.sh builds it into libbasholeveldb.so, and
 * says with VERSION which version that is.
 */
#include <pthread.h>

#include <set>

#include "leveldb/c.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"

extern "C" const char *kvdyno_library_version()
{
    return VERSION;
}

/* The C API's type is a class of its own that adds its state behind a FilterPolicy, and is used and deleted as one. */
extern "C" leveldb_filterpolicy_t *kvdyno_filterpolicy_create_bloom2(int bits_per_key)
{
    return reinterpret_cast<leveldb_filterpolicy_t *>(
        const_cast<leveldb::FilterPolicy *>(leveldb::NewBloomFilterPolicy2(bits_per_key)));
}

struct markers {
    pthread_mutex_t lock;
    pthread_cond_t all_met;
    size_t ahead;
};

static void meet(void *context)
{
    markers *met = static_cast<markers *>(context);
    pthread_mutex_lock(&met->lock);
    if (--met->ahead == 0)
        pthread_cond_signal(&met->all_met);
    pthread_mutex_unlock(&met->lock);
}

/* Waits until the files that the library closes in the background are closed. There are five environments, which
 * Env::Default deals out in turn, each with a queue (number 4) for that: a marker is sent down each. */
extern "C" void kvdyno_finish_closing()
{
    const int turns = 25, closing = 4;
    std::set<leveldb::Env *> environments;
    for (int turn = 0; turn < turns; turn++)
        environments.insert(leveldb::Env::Default());
    markers sent = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, environments.size()};
    for (std::set<leveldb::Env *>::iterator each = environments.begin(); each != environments.end(); ++each)
        (*each)->Schedule(meet, &sent, closing);
    pthread_mutex_lock(&sent.lock);
    while (sent.ahead)
        pthread_cond_wait(&sent.all_met, &sent.lock);
    pthread_mutex_unlock(&sent.lock);
}
