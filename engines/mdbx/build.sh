# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Builds libmdbx.so from the source in the crate, with the options of libmdbx's own release build, after a look whether
# what the adapter declares of its interface is so.
cd "$SOURCE/libmdbx"
cc -std=gnu11 -fsyntax-only -I . -x c - <<END
#include "mdbx.h"
#include "$ADAPTER/api.h"
END
flags="-O2 -g -std=gnu11 -DNDEBUG -fPIC -fvisibility=hidden -pthread"
cc $flags -w -DLIBMDBX_EXPORTS -DMDBX_BUILD_SHARED_LIBRARY -DMDBX_BUILD_FLAGS="\"$flags\"" \
    -shared -Wl,-z,defs -Wl,-soname,libmdbx.so -o "$OUT/libmdbx.so" mdbx.c
