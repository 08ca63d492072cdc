/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * shim.h: what Go cannot do itself: call the functions that the host hands over.
 */
#ifndef KVDYNO_GO_SHIM_H
#define KVDYNO_GO_SHIM_H

#include "kvdyno.h"

void kvdyno_go_emit(kvdyno_emit emit, void *context, const char *topic, const char *name, const char *value);
kvdyno_status kvdyno_go_read_modify_write(kvdyno_update_fn update, void *context, const void *old, size_t old_size,
                                          kvdyno_bytes *value);

#endif
