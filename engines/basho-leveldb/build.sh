# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Builds libbasholeveldb.so from the source in the npm package, with the flags of the source's own build. With snappy if
# its header is there; otherwise the adapter refuses compression.
cd "$SOURCE/deps/leveldb/leveldb-basho"
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

# The source does not say its version, only that of the LevelDB which it comes from. So it is told by its content: these
# are the files of Basho's release 1.4.2 (the package has its own port/port.h).
number() { sed -n "s/.* k$1Version = \([0-9]*\);/\1/p" include/leveldb/db.h; }
content=$(find db include table util -name '*.cc' -o -name '*.h' | LC_ALL=C sort | xargs cat | sha256sum)
case $content in
37f203224abff86f5ab4b77cf094ba2a51fe885f94873dad629cdcff7d6c9794*) version=1.4.2 ;;
*) version="of LevelDB $(number Major).$(number Minor)" ;;
esac

flags="-O2 -g -DNDEBUG -std=gnu++11 -w -fPIC -fno-gnu-unique -fno-builtin-memcmp -pthread -I. -Iinclude
       -DLEVELDB_PLATFORM_POSIX -DOS_LINUX"
c++ $flags -DVERSION="\"$version\"" -c "$ADAPTER/extras.cc" -o "$objects/extras.o"
libraries="-pthread -lrt"
if echo '#include <snappy.h>' | c++ -fsyntax-only -x c++ - 2> /dev/null; then
    flags="$flags -DSNAPPY"
    libraries="$libraries -lsnappy"
fi
ls util/*.cc db/*.cc table/*.cc port/port_posix.cc | grep -v -e test -e bench |
    xargs -P "$JOBS" -I {} sh -euc 'c++ '"$(echo $flags)"' -c "$1" -o "$2/$(echo "$1" | tr / _).o"' sh {} "$objects"
c++ -shared -Wl,-Bsymbolic -Wl,-z,defs -Wl,-soname,libbasholeveldb.so \
    -o "$OUT/libbasholeveldb.so" "$objects"/*.o $libraries
