# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Builds WiredTiger as a shared library, with the compressors whose headers are here built in, and the adapter with its
# header. A release build as WiredTiger's own CMake files make it; no language bindings, tools or tests.

# has HEADER LIBRARY: whether a program that uses them can be built.
has() {
    printf '#include <stddef.h>\n#include <stdio.h>\n#include <%s>\nint main(void) { return 0; }\n' "$1" |
        cc -x c - -o has-header -l"$2" 2>/dev/null
}

compressors=
compressions='1u << KVDYNO_COMPRESSION_NONE'
compressor() {
    if has "$2" "$3"; then
        compressors="$compressors -DHAVE_BUILTIN_EXTENSION_$1=ON"
        compressions="$compressions | 1u << KVDYNO_COMPRESSION_$1"
    else
        echo "wiredtiger: built without $1, for there is no $2 to build with" >&2
    fi
}

build=$SOURCE/kvdyno-build
mkdir -p "$build"
cd "$build"
compressor LZ4 lz4.h lz4
compressor SNAPPY snappy-c.h snappy
compressor ZLIB zlib.h z
compressor ZSTD zstd.h zstd

# ENABLE_LZ4 and the like would build the same compressors as extensions.
# shellcheck disable=SC2086 # a list of words
cmake "$SOURCE" -G 'Unix Makefiles' -DCMAKE_BUILD_TYPE=Release -DENABLE_SHARED=ON -DENABLE_STATIC=OFF \
    -DENABLE_PYTHON=OFF -DENABLE_STRICT=OFF -DENABLE_CPPSUITE=OFF -DENABLE_MODEL=OFF -DENABLE_COLORIZE_OUTPUT=OFF \
    -DENABLE_LZ4=OFF -DENABLE_SNAPPY=OFF -DENABLE_ZLIB=OFF -DENABLE_ZSTD=OFF $compressors
nice -n 5 make -j "$JOBS" wiredtiger_shared
cp -L libwiredtiger.so "$OUT/libwiredtiger.so"

# The library's own name has its version in it; the adapter asks for libwiredtiger.so and finds the one beside it first.
cc -O2 -g -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror -Iinclude -I"$INCLUDE" \
    -DWT_COMPRESSIONS="($compressions)" -fPIC -fvisibility=hidden -shared -Wl,--enable-new-dtags,-rpath,'$ORIGIN' \
    -o "$OUT/libkvdyno_wiredtiger.so" "$ADAPTER"/*.c -ldl -pthread
