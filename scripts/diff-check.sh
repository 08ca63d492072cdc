#!/bin/sh
# Whether `kvdyno diff` finds a slow-down that is there, and passes without one: the engine `slow-lmdb`, a copy of
# LMDB's adapter, burns so many nanoseconds more in each get. A verdict claims to be wrong in one of twenty at the most,
# so two wrong ones in a row are an error. "Cannot tell" (exit code 4) is no wrong one: beside other work a verdict
# takes longer, and gets up to four times the budget.
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
	wrong=0
	for minutes in 2 4 8; do
		code=0
		"$kvdyno" diff slow-lmdb slow-lmdb "$@" --database shared --detect 3% --budget "${minutes}m" \
			--out "$folder/$name-$minutes" || code=$?
		[ "$code" -ne "$expected" ] || return 0
		echo "diff-check: $name, budget of $minutes min: exit code $code, not $expected" >&2
		[ "$code" -eq 4 ] || wrong=$((wrong + 1))
		[ "$wrong" -lt 2 ] || exit 1
	done
	exit 1
}

expect slowed 3 --option "B.burn_ns=$burn"
expect unchanged 0
echo "diff-check: a slow-down of $burn ns a get is found, and nothing where there is none"
