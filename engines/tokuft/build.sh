# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Builds the adapter against the PerconaFT in $PREFIX: include/db.h, which PerconaFT's own build has generated, and
# lib/libtokufractaltree.so with lib/libtokuportability.so beside it. The library is loaded from there at run time.
set -eu

prefix=$(cd "$PREFIX" && pwd)
for file in include/db.h lib/libtokufractaltree.so lib/libtokuportability.so; do
    [ -f "$prefix/$file" ] || { echo "there is no $prefix/$file: see docs/engines/tokuft.md" >&2; exit 1; }
done
# Berkeley DB has a db.h too.
grep -q toku "$prefix/include/db.h" || { echo "$prefix/include/db.h is not PerconaFT's" >&2; exit 1; }

"${CC:-cc}" -std=gnu11 -O2 -g -Wall -Wextra -Wshadow -Wstrict-prototypes -fPIC -fvisibility=hidden -shared \
    -DTOKUFT_LIBRARY="\"$prefix/lib/libtokufractaltree.so\"" -I"$INCLUDE" -I"$ADAPTER/../bdb-family" \
    -isystem "$prefix/include" -o "$OUT/libkvdyno_tokuft.so" "$ADAPTER"/*.c -ldl -pthread
