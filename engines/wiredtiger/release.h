/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What differs between releases of WiredTiger. The adapter is built once for each that is to be measured, with that
 * release's header, since each lays its handles out differently. Before 10.0 that is Debian's package, whose
 * compressors are extensions; after that a library that build.sh leaves beside the adapter, with those compressors
 * built in that build.sh found and names in WT_COMPRESSIONS.
 */
#ifndef KVDYNO_WT_RELEASE_H
#define KVDYNO_WT_RELEASE_H

#include <wiredtiger.h>

#include "kvdyno.h"

#define WT_TEXT(number) #number
#define WT_DOTTED(major, minor, patch) WT_TEXT(major) "." WT_TEXT(minor) "." WT_TEXT(patch)
#define WT_RELEASE WT_DOTTED(WIREDTIGER_VERSION_MAJOR, WIREDTIGER_VERSION_MINOR, WIREDTIGER_VERSION_PATCH)

#if WIREDTIGER_VERSION_MAJOR < 10
#define WT_ORIGIN "Debian package libwiredtiger0"
#define WT_LIBRARIES "libwiredtiger.so.0", "libwiredtiger.so"
#define WT_COMPRESSIONS                                                                                                \
    (1u << KVDYNO_COMPRESSION_NONE | 1u << KVDYNO_COMPRESSION_SNAPPY | 1u << KVDYNO_COMPRESSION_ZLIB)
#define WT_NO_COMPRESSOR "Debian's WiredTiger has extensions for snappy and zlib only"
#define WT_CHECKSUM                                                                                                    \
    "uncompressed, WiredTiger's default: that of every block read; of a compressed one, of its head only"
#define WT_COMPACT "timeout=0"
#define WT_SEARCHES_HELD_PAGE 0
#define WT_TREES "Btree or LSM tree"
#define WT_LSM_WORKS 1
#else
#define WT_ORIGIN "kvdyno engines install wiredtiger@" WT_RELEASE
#define WT_LIBRARIES "libwiredtiger.so"
#define WT_NO_COMPRESSOR "the library was built without it, for want of the compressor's header"
#define WT_CHECKSUM "on, WiredTiger's default: that of every block that a read takes from a file"
#define WT_COMPACT "timeout=0,free_space_target=1MB" /* the least; by default it would not bother for under 20 MB */
#define WT_SEARCHES_HELD_PAGE 1
#define WT_TREES "Btree"
#define WT_LSM_WORKS 0
#endif

#endif
