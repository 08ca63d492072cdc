#!/bin/bash
# Runs an experiment in @PARTS@ parts with GNU parallel, one part at a time on each machine, and merges them.
#
#     kvdyno submit parallel FILE --parts @PARTS@ | bash -s -- --sshloginfile MACHINES
#
# Arguments are given to parallel. Without them, all parts run on this machine. The folder of the results is shared by
# all machines. KVDYNO is the program. KVDYNO_DIR is the folder of the databases on a local disk, the same path on every
# machine; without it the experiment's own folder is used, or that of the results.
set -uo pipefail
out=@OUT@
export kvdyno=${KVDYNO:-kvdyno} dir=${KVDYNO_DIR:-} PARALLEL_SHELL=$BASH
mkdir -p "$out"
part() {
    part=@OUT@/part-$1
    if [ -f "$part/experiment.toml" ]; then # It was ended, and this is run again.
        "$kvdyno" run --resume "$part" --quiet
    else
        "$kvdyno" run @FILE@ --part "$1/@PARTS@"@DEAL@ --out "$part" --quiet ${dir:+--dir "$dir"}
    fi
}
export -f part
seq @PARTS@ | parallel --jobs 1 --env part --env kvdyno --env dir "$@" part {}
failed=$?
measured=("$out"/part-*/experiment.toml) # Not of a part that did not begin.
"$kvdyno" merge "${measured[@]%/*}" --out "$out/all" && "$kvdyno" report "$out/all" || exit
exit $failed
