#!/bin/sh
# make test-outside: is kvdyno.h really all that an adapter needs? An adapter in C and one in Go are copied into an
# empty folder with nothing of kvdyno beside them but that header, built there with one command each, those that
# docs/engine-abi.md gives, checked and measured. Then the program is installed, and what it writes for an author in
# each language is built as it says, and checked by it.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
kvdyno=${KVDYNO:-$root/target/release/kvdyno}
[ -x "$kvdyno" ] || { echo "outside: there is no $kvdyno; make build makes it" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"
# The compilers must not find the header elsewhere, nor kvdyno its own adapters.
unset CPATH C_INCLUDE_PATH CGO_CFLAGS CGO_CPPFLAGS KVDYNO_ENGINES
# make, which runs this, is run again.
unset MAKEFLAGS MFLAGS MAKELEVEL

cp "$root/crates/abi/include/kvdyno.h" .
cp "$root/engines/skeleton/skeleton.c" "$root/engines/skeleton/toy.h" .
mkdir mine
cp -R "$root/engines/go/go.mod" "$root/engines/go/go.sum" "$root/engines/go/adapter" "$root/engines/go/bbolt" mine

run() {
    echo "\$ $*"
    "$@"
}

run cc -shared -fPIC -O2 -I. -o libskeleton.so skeleton.c -pthread
run env CGO_CFLAGS="-I$PWD" go build -C mine -buildmode=c-shared -o "$PWD/libbbolt.so" ./bbolt
rm -r kvdyno.h skeleton.c toy.h mine

for adapter in ./libskeleton.so ./libbbolt.so; do
    run "$kvdyno" engines check "$adapter"
done
run "$kvdyno" compare ./libskeleton.so ./libbbolt.so --records 20k --readers 1,2 --duration 1s --warmup 100ms \
    --out results --format md >table.md
cat table.md

# What calls into the one in Go pay stands beneath its tables, and under those of the other nothing.
[ "$(grep -c '^### ' table.md)" -gt 2 ] || { echo "outside: there are no tables" >&2; exit 1; }
grep -q 'crosses from C to Go and back, included in all figures: .*bbolt.* [0-9]* ns' table.md || {
    echo "outside: the tables do not say what a call into Go pays" >&2
    exit 1
}
echo "outside: both adapters were built, checked and measured with kvdyno.h alone"

make -s -C "$root" install DESTDIR="$folder/installed" PREFIX=/usr >install.log
PATH="$folder/installed/usr/bin:$PATH"
for language in c c++ rust go; do
    name=mine_$(echo "$language" | tr + p)
    run kvdyno engines new "$name" --lang "$language" >told
    # The line that it prints builds the adapter and checks it.
    command=$(sed -n 's/^  \(cd .*\)/\1/p' told)
    run sh -c "$command" >built 2>&1 || { cat built >&2; exit 1; }
    grep ' 0 failed' built || { cat built >&2; exit 1; }
done
echo "outside: the installed program's adapters in four languages were built and checked"
