#!/bin/sh
# Writes docs/engines/settings.md and docs/engines/checks.md, which the program makes from the adapters themselves.
# Engines that are not here are left out, and the pages say so. Exit code 1: a check failed that is not known to; the
# page says which.
#
#   scripts/docs-tables.sh               every engine that has a folder, and every installed version
#   scripts/docs-tables.sh lmdb bdb      these
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
kvdyno=${KVDYNO:-$root/target/release/kvdyno}
pages=$root/docs/engines

if [ $# = 0 ]; then
    for folder in "$root"/engines/*/; do
        case $(basename "$folder") in
        common | faulty | go | slow) ;; # no engines to be measured
        bdb) set -- "$@" bdb bdb:snapshot ;;
        wiredtiger) set -- "$@" wiredtiger:btree wiredtiger:lsm ;;
        sqlite) set -- "$@" sqlite sqlite:rollback ;;
        rocksdb) set -- "$@" rocksdb rocksdb:pfx ;;
        *-family) ;; # sources that several adapters share
        *) set -- "$@" "$(basename "$folder")" ;;
        esac
    done
    # Installed versions beside the one that a plain name means.
    others='/^ [a-z]/ { of[$1] = $2 }
        END { for (name in of) if (split(name, at, "@") == 2 && of[at[1]] != "" && of[at[1]] != of[name]) print name }'
    # shellcheck disable=SC2046 # names have no blanks
    set -- "$@" $("$kvdyno" engines | awk "$others" | sort)
fi
mkdir -p "$pages"

{
    cat <<'END'
# What the lab's settings come to

Made by `make docs-tables`: for each setting that is the same for all engines, what is set in each, in its own words, or
why it is refused. `kvdyno engines settings` says it of the engines, versions and sizes that you use.

END
    "$kvdyno" engines settings "$@" --skip-missing --format md
} >"$pages/settings.md"
echo "docs-tables: wrote docs/engines/settings.md"

{
    cat <<'END'
# What each engine was checked for

Made by `make docs-tables`: the conformance suite, as `kvdyno engines check` runs it. A dash: the engine does not
declare what the check is about. Below the table: how checks failed, whether that is known of the engine, and where less
was tried than would have been.

END
    # Checks mostly wait.
    "$kvdyno" engines check "$@" --kills 30 --jobs $((2 * $(nproc))) --skip-missing --format md
} >"$pages/checks.md" || { echo "docs-tables: a check failed, see docs/engines/checks.md" >&2; exit 1; }
echo "docs-tables: wrote docs/engines/checks.md"
