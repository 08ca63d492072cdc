#!/bin/bash
# Runs an experiment in @PARTS@ parts with GNU parallel, one part at a time on each machine, and merges them.
#
#     kvdyno submit parallel FILE --parts @PARTS@ | bash -s -- --sshloginfile MACHINES
#
# Arguments are given to parallel. Without them, all parts run on this machine. The folder of the results is shared by
# all machines; KVDYNO_DIR is the folder of the databases on a local disk, the same path on every machine.
set -uo pipefail
kvdyno=${KVDYNO:-kvdyno} out=@OUT@
mkdir -p "$out"
export kvdyno out dir=${KVDYNO_DIR:-/tmp} PARALLEL_SHELL=$BASH
part() {
    if [ -f "$out/part-$1/experiment.toml" ]; then
        "$kvdyno" run --resume "$out/part-$1" --quiet
    else
        rm -rf "$out/part-$1"
        "$kvdyno" run @FILE@ --part "$1/@PARTS@" --out "$out/part-$1" --dir "$dir" --quiet
    fi
}
export -f part
seq @PARTS@ | parallel --jobs 1 --env part --env kvdyno --env out --env dir "$@" part {}
"$kvdyno" merge "$out"/part-*/ --out "$out/all" && "$kvdyno" report "$out/all"
