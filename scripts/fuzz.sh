#!/usr/bin/env bash
# Runs each fuzz target for so many seconds, or makes the corpus that is kept anew:
#
#     fuzz.sh SECONDS [TARGET…]
#     fuzz.sh merge [TARGET…]
#
# Coverage is counted by the compiler's own pass, so that it works with the Rust that everything is built with; there
# are no sanitizers. The project's own code asserts what it can; what others wrote is as users have it, where a sum that
# overflows wraps. An input that brings a target down is left in target/fuzz/found, and its path printed.
#
# A run begins with the project's own files in tests/inputs and with tests/corpus/TARGET.tar.gz, and what it draws
# follows from SEED, 1 unless it says otherwise: the next run draws the same. SEED=new draws a seed, prints it, and goes
# on from what all such runs found. `merge` keeps of that, in tests/corpus, what is needed to reach what all of it does.
set -eu
cd "$(dirname "$0")/.."
what=${1:?seconds, or merge}
shift
targets=${*:-"experiment result plan latency-log series resources value-sizes"}
host=$(rustc -vV | sed -n 's/^host: //p')
out=target/fuzz
# A reader that needs more has no bound; one that takes longer hangs.
memory_mib=512
patience=10
longest=65536
# Of what is kept: the larger inputs of a target are left out beyond this.
kept_kib=144

RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1" \
    cargo build --release --locked -p kvdyno-fuzz --features libfuzzer --target "$host" --target-dir "$out" \
    --config 'profile.release.opt-level=1' \
    --config 'profile.release.debug=0' \
    --config 'profile.release.debug-assertions=true' \
    --config 'profile.release.package."*".debug-assertions=false'

# TARGET FOLDER: the inputs that a run begins with.
begin() {
    mkdir -p "$2" "$out/found"
    cp tests/inputs/"$1"/* "$2/"
    [ "$1" != experiment ] || cp experiments/*.toml "$2/"
    [ ! -f "tests/corpus/$1.tar.gz" ] || tar -xzf "tests/corpus/$1.tar.gz" -C "$2"
}

# TARGET FOLDER… ARGUMENTS: what all ways to run one have in common.
fuzz() {
    target=$1
    shift
    "$out/$host/release/fuzz-$target" -rss_limit_mb="$memory_mib" -timeout="$patience" -max_len="$longest" \
        -artifact_prefix="$out/found/$target-" -verbosity=0 "$@"
}

merge() {
    all="$out/all/$1" least="$out/least/$1"
    rm -rf "$all" "$least"
    begin "$1" "$all"
    mkdir -p "$least" tests/corpus "$out/corpus/$1"
    cp tests/inputs/"$1"/* "$least/"
    [ "$1" != experiment ] || cp experiments/*.toml "$least/"
    fuzz "$1" -merge=1 "$least" "$all" "$out/corpus/$1"
    # What tests/inputs and experiments have is there already; the others bear their SHA-1 as a name.
    (cd "$least" && find . -type f -regextype posix-extended -regex '\./[0-9a-f]{40}' -printf '%s %f\n') | sort -n |
        awk -v most="$((kept_kib * 1024))" '{ sum += $1; if (sum > most) exit; print $2 }' |
        tar -C "$least" --files-from=- --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -cf - |
        gzip -9n >"tests/corpus/$1.tar.gz"
    echo "fuzz: $1: $(tar -tzf "tests/corpus/$1.tar.gz" | wc -l) inputs, $(wc -c <"tests/corpus/$1.tar.gz") bytes"
}

seed=${SEED:-1}

# TARGET: what was asked for, of one.
work() {
    case "$what:$seed" in
    merge:*) merge "$1" ;;
    *:new)
        drawn=$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')
        begin "$1" "$out/corpus/$1"
        echo "fuzz: $1 for $what s, SEED=$drawn"
        fuzz "$1" -max_total_time="$what" -seed="$drawn" -print_final_stats=1 "$out/corpus/$1"
        ;;
    *)
        rm -rf "$out/begun/$1" "$out/new/$1"
        begin "$1" "$out/begun/$1"
        mkdir -p "$out/new/$1"
        echo "fuzz: $1 for $what s, SEED=$seed"
        fuzz "$1" -max_total_time="$what" -seed="$seed" -print_final_stats=1 "$out/new/$1" "$out/begun/$1"
        ;;
    esac
}

# As many side by side as there are processors.
running=0
for target in $targets; do
    [ "$running" -lt "$(nproc)" ] || wait -n || :
    rm -f "$out/$target.sound"
    { work "$target" >"$out/$target.log" 2>&1; : >"$out/$target.sound"; } &
    running=$((running + 1))
done
wait

failed=''
for target in $targets; do
    cat "$out/$target.log"
    [ -e "$out/$target.sound" ] || failed="$failed $target"
done
[ -z "$failed" ] || {
    echo "fuzz: brought down:$failed"
    exit 1
}
