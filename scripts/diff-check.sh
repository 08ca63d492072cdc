#!/bin/sh
# Whether `kvdyno diff` finds a slow-down that is there, and passes without one: the engine `slow-lmdb`, a copy of
# LMDB's adapter, burns so many nanoseconds more in each get. A verdict claims to be wrong in one of twenty at the most,
# so a check that is made in every run of CI takes two wrong ones in a row for an error.
#
# scripts/diff-check.sh KVDYNO [NANOSECONDS]
set -eu

kvdyno=$1
burn=${2:-100}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# NAME EXPECTED ARGUMENTS…: runs a diff and holds its exit code against the expected one.
expect() {
	name=$1 expected=$2
	shift 2
	for try in 1 2; do
		code=0
		"$kvdyno" diff slow-lmdb slow-lmdb "$@" --database shared --detect 3% --budget 2m \
			--out "$folder/$name-$try" || code=$?
		[ "$code" -ne "$expected" ] || return 0
		echo "diff-check: $name, try $try: exit code $code, not $expected" >&2
	done
	exit 1
}

expect slowed 3 --option "B.burn_ns=$burn"
expect unchanged 0
echo "diff-check: a slow-down of $burn ns a get is found, and nothing where there is none"
