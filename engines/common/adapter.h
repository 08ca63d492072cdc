/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * adapter.h: what the C adapters of this project share. A convenience, not part of the ABI: an adapter needs kvdyno.h
 * alone.
 *
 *   hooks.h         the prototypes of the hooks, and the table
 *   text.h          texts for the host
 *   config.h        options, and refusals of settings
 *   library.h       finding an engine's library at run time
 *   message.h       what an engine says beside its error codes
 *   memory.h        memory that grows, and records read ahead
 *   files.h         whether a database is there
 *   process.h       what one of several processes does for all
 *   syncer.h        work at intervals, such as that of durability level `periodic`
 *   session.h       what all sessions have
 *
 * Others are included once, behind the functions that they are made of: life.h and open.h (opening and closing),
 * transactions.h (writes and transactions), cursors.h.
 */
#ifndef KVDYNO_ADAPTER_H
#define KVDYNO_ADAPTER_H

#include "config.h"
#include "files.h"
#include "hooks.h"
#include "library.h"
#include "memory.h"
#include "message.h"
#include "process.h"
#include "session.h"
#include "syncer.h"
#include "text.h"

#endif
