/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * syncer.h: durability level `periodic`, and other work that is done at intervals in the background.
 */
#ifndef KVDYNO_SYNCER_H
#define KVDYNO_SYNCER_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "process.h"

/* A thread that calls `sync` every interval until it is stopped. The first error it meets is kept for the stopper. */
typedef struct periodic_syncer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool running, stopping;
    const process_turn *turn; /* NULL, or whether this process is to do it */
    uint32_t sync_period_ms;
    int (*sync)(void *context); /* 0: done; anything else is kept */
    void *context;
    int first_error;
} periodic_syncer;

static inline void *periodic_syncer_main(void *argument)
{
    periodic_syncer *syncer = argument;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&syncer->lock);
    while (!syncer->stopping) {
        uint64_t ns = (uint64_t)next.tv_nsec + (uint64_t)syncer->sync_period_ms * 1000000u;
        next.tv_sec += (time_t)(ns / 1000000000u);
        next.tv_nsec = (long)(ns % 1000000000u);
        while (!syncer->stopping && pthread_cond_timedwait(&syncer->wake, &syncer->lock, &next) == 0)
            ;
        if (syncer->stopping)
            break;
        pthread_mutex_unlock(&syncer->lock);
        bool mine = !syncer->turn || process_turn_is_mine(syncer->turn);
        int failed = mine ? syncer->sync(syncer->context) : 0;
        pthread_mutex_lock(&syncer->lock);
        if (failed && !syncer->first_error)
            syncer->first_error = failed;
    }
    pthread_mutex_unlock(&syncer->lock);
    return NULL;
}

/* Returns 0, or the errno of pthread_create. `syncer` must be zeroed, but for `turn`. */
static inline int periodic_syncer_start(periodic_syncer *syncer, uint32_t sync_period_ms, int (*sync)(void *),
                                        void *context)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&syncer->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&syncer->lock, NULL);
    syncer->sync_period_ms = sync_period_ms ? sync_period_ms : 1;
    syncer->sync = sync;
    syncer->context = context;
    int failed = pthread_create(&syncer->thread, NULL, periodic_syncer_main, syncer);
    syncer->running = !failed;
    return failed;
}

/* Ends the thread, if it was started, and returns the first error that it met, or 0. */
static inline int periodic_syncer_stop(periodic_syncer *syncer)
{
    if (!syncer->running)
        return 0;
    pthread_mutex_lock(&syncer->lock);
    syncer->stopping = true;
    pthread_cond_signal(&syncer->wake);
    pthread_mutex_unlock(&syncer->lock);
    pthread_join(syncer->thread, NULL);
    pthread_cond_destroy(&syncer->wake);
    pthread_mutex_destroy(&syncer->lock);
    syncer->running = false;
    return syncer->first_error;
}

#endif
