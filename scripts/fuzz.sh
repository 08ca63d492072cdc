#!/bin/sh
# Runs each fuzz target for so many seconds: fuzz.sh SECONDS [TARGET…]. Coverage is counted by the compiler's own pass,
# so that it works with the Rust that everything is built with; there are no sanitizers. The project's own code asserts
# what it can; what others wrote is as users have it, where a sum that overflows wraps. The corpus grows in
# target/fuzz; the seeds are the project's own files. An input that brings a target down is left there, and its path
# printed.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:?seconds}
shift
targets=${*:-"experiment result plan latency-log series resources value-sizes"}
host=$(rustc -vV | sed -n 's/^host: //p')
out=target/fuzz
# A reader that needs more has no bound; one that takes longer hangs.
memory_mib=512
patience=10

RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1" \
    cargo build --release --locked -p kvdyno-fuzz --target "$host" --target-dir "$out" \
    --config 'profile.release.debug-assertions=true' \
    --config 'profile.release.package."*".debug-assertions=false'

seed() {
    mkdir -p "$out/corpus/$1" "$out/found"
    cp -n tests/inputs/"$1"/* "$out/corpus/$1/"
}

seed experiment
cp -n experiments/*.toml "$out/corpus/experiment/"
for target in result plan latency-log series resources value-sizes; do seed "$target"; done
for target in $targets; do
    echo "fuzz: $target for $seconds s"
    "$out/$host/release/fuzz-$target" "$out/corpus/$target" -max_total_time="$seconds" -rss_limit_mb="$memory_mib" \
        -timeout="$patience" -max_len=65536 -artifact_prefix="$out/found/$target-" -verbosity=0 -print_final_stats=1
done
