# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Builds libhyperleveldb.so from the source in the npm package, with the flags of the package's own build. With snappy
# if its header is there; otherwise the adapter refuses compression.
cd "$SOURCE"/deps/leveldb/leveldb-hyper-[0-9]*
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

version=$(sed -n 's/^AC_INIT(\[hyperleveldb\], \[\([^]]*\)\].*/\1/p' configure.ac)

flags="-O2 -g -DNDEBUG -std=gnu++11 -w -fPIC -fno-gnu-unique -fno-builtin-memcmp -pthread
       -I. -I../leveldb-hyper-conf/linux -DHAVE_CONFIG_H -DLEVELDB_PLATFORM_POSIX -DOS_LINUX"
echo "extern \"C\" const char *kvdyno_library_version() { return \"${version:?not found in configure.ac}\"; }" |
    c++ $flags -c -x c++ - -o "$objects/version.o"
libraries=-pthread
if echo '#include <snappy.h>' | c++ -fsyntax-only -x c++ - 2> /dev/null; then
    flags="$flags -DSNAPPY"
    libraries="$libraries -lsnappy"
fi
ls util/*.cc db/*.cc table/*.cc port/port_posix.cc | grep -v -e test -e bench -e leveldb_main |
    xargs -P "$JOBS" -I {} sh -euc 'c++ '"$(echo $flags)"' -c "$1" -o "$2/$(echo "$1" | tr / _).o"' sh {} "$objects"
c++ -shared -Wl,-Bsymbolic -Wl,-z,defs -Wl,-soname,libhyperleveldb.so \
    -o "$OUT/libhyperleveldb.so" "$objects"/*.o $libraries
