#!/bin/sh
# Whether `kvdyno diff` finds a slow-down that is there, and passes without one: the engine `slow-lmdb`, a copy of
# LMDB's adapter, burns so many nanoseconds more in each get.
#
# scripts/diff-check.sh KVDYNO [NANOSECONDS]
set -eu

kvdyno=$1
burn=${2:-60}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# NAME EXPECTED ARGUMENTS…: runs a diff and holds its exit code against the expected one.
expect() {
	name=$1 expected=$2
	shift 2
	code=0
	"$kvdyno" diff slow-lmdb slow-lmdb "$@" --detect 3% --budget 2m --out "$folder/$name" || code=$?
	if [ "$code" -ne "$expected" ]; then
		echo "diff-check: $name: exit code $code, not $expected" >&2
		exit 1
	fi
}

expect slowed 3 --option "B.burn_ns=$burn"
expect unchanged 0
echo "diff-check: a slow-down of $burn ns a get is found, and nothing where there is none"
