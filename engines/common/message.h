/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * message.h: the words that an engine has beside its error codes.
 */
#ifndef KVDYNO_MESSAGE_H
#define KVDYNO_MESSAGE_H

#include <pthread.h>
#include <stdio.h>

/* The last message of an engine that reports through a callback, from whatever thread it came. */
typedef struct engine_message {
    pthread_mutex_t lock;
    char text[400];
} engine_message;

static inline void engine_message_init(engine_message *message)
{
    pthread_mutex_init(&message->lock, NULL);
    message->text[0] = '\0';
}

static inline void engine_message_keep(engine_message *message, const char *text)
{
    pthread_mutex_lock(&message->lock);
    snprintf(message->text, sizeof message->text, "%s", text ? text : "");
    pthread_mutex_unlock(&message->lock);
}

/* Moves the message to `text`, which is empty if there was none since the last call. */
static inline void engine_message_take(engine_message *message, char *text, size_t capacity)
{
    pthread_mutex_lock(&message->lock);
    snprintf(text, capacity, "%s", message->text);
    message->text[0] = '\0';
    pthread_mutex_unlock(&message->lock);
}

#endif
