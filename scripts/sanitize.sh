#!/bin/sh
# Runs the conformance suite on the C adapters under AddressSanitizer (with its leak checker and
# UndefinedBehaviorSanitizer) and under ThreadSanitizer.
#
#   scripts/sanitize.sh               every C adapter
#   scripts/sanitize.sh lmdb bdb      these
#   scripts/sanitize.sh --planted     only the proof that bugs are found
#
# Only the adapters are built for it. Program and engines' libraries are as they always are, so a sanitizer's runtime is
# loaded before everything else: it sees every allocation, lock and thread, but only what an adapter itself reads and
# writes. UndefinedBehaviorSanitizer, which cannot be told where to report, ends the process: the check fails with its
# words. First bugs are planted in copies of the skeleton. If one of them is not found, a clean run says nothing.
#
#   KVDYNO   the program: target/release/kvdyno
#   CHECKS   some of the checks, as for kvdyno engines check --only: all of them
#   TIMEOUT  what a check may take: 5m
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
kvdyno=${KVDYNO:-$root/target/release/kvdyno}
out=$root/target/sanitize
logs=$out/logs
cc=${CC:-cc}
planted=$out/planted

for command in "$kvdyno" "$cc" setarch; do
    command -v "$command" >/dev/null || { echo "sanitize: there is no $command" >&2; exit 1; }
done

runtime() { # the sanitizer's library, and C++'s, whose exceptions it has to know
    echo "$("$cc" -print-file-name="lib$1.so") $("$cc" -print-file-name=libstdc++.so.6) $out/keep.so"
}

flags() {
    case $1 in
    address) echo "-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined" ;;
    thread) echo "-O1 -g -fno-omit-frame-pointer -fsanitize=thread" ;;
    esac
}

# check SANITIZER NAME ADAPTER CHECKS: the suite on an adapter; reports are left in $logs/NAME.SANITIZER.*. The small
# quarantine lets checks of leaks see the memory of the process come to rest. Addresses are not randomized, for a
# runtime that is loaded so can find its place taken.
check() {
    report=$logs/$2.$1
    rm -f "$report".*
    set -- "$1" "$2" "$3" $skip_missing ${4:+--only "$4"}
    sanitizer=$1 adapter=$3
    shift 3
    case $sanitizer in
    address) set -- "LD_PRELOAD=$(runtime asan)" \
        "ASAN_OPTIONS=log_path=$report:quarantine_size_mb=1:thread_local_quarantine_size_kib=64:$stacks" \
        "LSAN_OPTIONS=suppressions=$root/scripts/sanitize/leaks.txt:print_suppressions=0" \
        "UBSAN_OPTIONS=halt_on_error=1" \
        "$kvdyno" engines check "$adapter" --timeout "${TIMEOUT:-5m}" "$@" ;;
    thread) set -- "LD_PRELOAD=$(runtime tsan)" \
        "TSAN_OPTIONS=log_path=$report:ignore_noninstrumented_modules=1:suppressions=$root/scripts/sanitize/races.txt" \
        "$kvdyno" engines check "$adapter" --timeout "${TIMEOUT:-5m}" "$@" ;;
    esac
    setarch -R env "$@" >"$report.suite" 2>&1
}

reports() { # those of the sanitizer itself, beside the suite's
    find "$logs" -name "$2.$1.*" ! -name '*.suite' -exec cat {} + 2>/dev/null
}

build() { # build SANITIZER NAME
    make -s -C "$root/engines" OUT="$out/$1" CC="$cc" CFLAGS="$(flags "$1")" "$out/$1/libkvdyno_$2.so"
}

# plant BUG SANITIZER CHECKS WORDS FILE SED: the bug in a copy of the skeleton must be reported in these words.
plant() {
    rm -rf "$planted"
    cp -r "$root/engines/skeleton" "$planted"
    sed -i "$6" "$planted/$5"
    ! cmp -s "$planted/$5" "$root/engines/skeleton/$5" || { echo "sanitize: no place for: $1" >&2; exit 1; }
    # shellcheck disable=SC2046 # a list of words
    "$cc" $(flags "$2") -std=gnu11 -w -I"$root/crates/abi/include" -fPIC -shared -o "$planted/libplanted.so" \
        "$planted/skeleton.c" -pthread
    check "$2" planted "$planted/libplanted.so" "$3" || true
    if { reports "$2" planted; cat "$logs/planted.$2.suite"; } | grep -q "$4"; then
        echo "planted, and found by $2: $1"
    else
        echo "sanitize: planted, and NOT found by $2: $1" >&2
        exit 1
    fi
}

plant_all() {
    plant "a value that is read after it was freed" address get-after-put heap-use-after-free skeleton.c \
        's/^    \*value = (kvdyno_bytes){session->found/    free(session->found);\n&/'
    plant "a record that is a byte too short" address get-after-put heap-buffer-overflow toy.h \
        's/malloc(sizeof \*made + key.size + value.size)/malloc(sizeof *made + key.size + value.size - 1)/'
    plant "a session that leaks what it found" address get-after-put 'detected memory leaks' skeleton.c \
        's/^    free(session->found);$//'
    plant "a shift beyond the width" address get-after-put 'shift exponent' skeleton.c \
        's/^    toy \*map = session->map;/    volatile int far = 40; far = 1 << far;\n&/'
    plant "a write without the lock" thread many-sessions,same-key 'data race' toy.h \
        '/^static int toy_write/,/^}/ s/pthread_rwlock_[a-z]*(&map->lock);//'
}

# look_again NAME: a leak's stack ends where code without frame pointers begins, so the suppressions cannot be held
# against it. What leaked is run once more, eight times slower, with whole stacks.
look_again() {
    leaking=$(sed -n 's/^  \([a-z-]*\) *FAILED: at the end of the process.*/\1/p' "$logs/$1.address.suite" |
        paste -sd ,)
    ! reports address "$1" | grep -q 'ERROR: AddressSanitizer' || return 1
    ! sed '/FAILED: at the end of the process/d' "$logs/$1.address.suite" | grep -q FAILED || return 1
    stacks=fast_unwind_on_malloc=0
    check address "$1" "$out/address/libkvdyno_$1.so" "$leaking"
}

# sanitize SANITIZER NAME: whether the adapter is clean.
sanitize() {
    build "$1" "$2"
    passed=true stacks=$usual_stacks
    check "$1" "$2" "$out/$1/libkvdyno_$2.so" "${CHECKS:-}" || passed=false
    suite=$(grep -E '^[0-9]+ passed' "$logs/$2.$1.suite" || true)
    if [ "$1" = address ] && reports "$1" "$2" | grep -q 'ERROR: LeakSanitizer'; then
        look_again "$2" && passed=true || passed=false
        suite="$suite; of what leaked, again with whole stacks: $(grep -E '^[0-9]+ passed' "$logs/$2.$1.suite" || true)"
    fi
    echo "$2 under $1: ${suite:-$(tail -n 3 "$logs/$2.$1.suite")}"
    grep FAILED "$logs/$2.$1.suite" || true
    reports "$1" "$2" | head -n 60 | tee "$out/report"
    $passed && ! [ -s "$out/report" ]
}

skip_missing= usual_stacks=fast_unwind_on_malloc=1
stacks=$usual_stacks
mkdir -p "$logs"
"$cc" -shared -fPIC -o "$out/keep.so" "$root/scripts/sanitize/keep.c"
plant_all
[ "${1:-}" != --planted ] || exit 0
if [ $# = 0 ]; then
    skip_missing=--skip-missing # an engine whose library is not here
    # shellcheck disable=SC2046 # a list of words
    set -- $(cd "$root/engines" && for folder in */; do [ ! -f "$folder${folder%/}.c" ] || echo "${folder%/}"; done)
fi
unclean=
for name in "$@"; do
    for sanitizer in address thread; do
        sanitize "$sanitizer" "$name" || unclean="$unclean $name ($sanitizer)"
    done
done
[ -z "$unclean" ] || { echo "sanitize: not clean:$unclean; the reports are in $logs" >&2; exit 1; }
