# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Builds libsqlite3 from the one file that its authors release. Every option is left as they set it; what is defined is
# what their configure script finds on Linux, and no choice.
set -eu

"${CC:-cc}" -O2 -fPIC -shared -w -Wl,-soname,libsqlite3.so.0 \
    -DHAVE_FDATASYNC=1 -DHAVE_USLEEP=1 -DHAVE_GMTIME_R=1 -DHAVE_LOCALTIME_R=1 -DHAVE_STRCHRNUL=1 -DHAVE_ISNAN=1 \
    -DHAVE_MALLOC_H=1 -DHAVE_MALLOC_USABLE_SIZE=1 \
    -o "$OUT/libsqlite3.so" "$SOURCE/sqlite3/sqlite3.c" -ldl -lm -pthread
