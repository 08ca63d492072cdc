#!/bin/bash
# make test-slurm: the five commands of docs/cluster.md, on a real Slurm of two nodes on this machine, while tasks are
# requeued and killed and the controller is restarted. What is merged must have every trial of one run of the whole,
# with its seed, once, and reverse none of its verdicts. It takes root, and Debian's slurm-wlm and munge.
#
# tests/slurm/run.sh KVDYNO ENGINES FOLDER STRIKES EXPERIMENT BUDGET
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=$3 strikes=$4 experiment=$(realpath "$5") budget=$6
rm -rf "$folder"
mkdir -p "$folder"/{bin,local}
folder=$(cd "$folder" && pwd)
ln -s "$1" "$folder/bin/kvdyno"
export KVDYNO_ENGINES=$2 PATH=$folder/bin:$PATH
# shellcheck source-path=SCRIPTDIR
. "$here/cluster.sh"

# ---- the commands of the document, with the names of this machine

mapfile -t commands < <(awk '/^```sh$/ { inside = 1; next } /^```$/ && inside { exit } inside' \
    "$here/../../docs/cluster.md" |
    sed "s|FILE|$experiment|; s|--budget 2h|--budget $budget|; s|/local|$folder/local|; s|NAME|main|")
[ "${#commands[@]}" = 5 ] || fail "docs/cluster.md has ${#commands[@]} commands, not 5"
parts=$(sed -n 's/.*--parts \([0-9]*\).*/\1/p' <<<"${commands[1]}")

# NUMBER: does that command.
do_command() {
    echo "$ ${commands[$1 - 1]}"
    eval "${commands[$1 - 1]}"
}

start_cluster
cd "$folder"
do_command 1
repeats=$(sed -n 's/^repeat = \([0-9]*\)$/\1/p' plan.toml)
[ -n "$repeats" ] || fail "the plan has no line such as: repeat = 3"
begun=$SECONDS
kvdyno run plan.toml --out whole --quiet >/dev/null || echo "test-slurm: the whole has trials that failed"
patience=$((600 + 4 * (SECONDS - begun)))
do_command 2
do_command 3

# ---- strikes, while it runs

struck=0
deadline=$((SECONDS + patience))
while [ "$struck" -lt "$strikes" ] && [ "$SECONDS" -lt "$deadline" ] && ! no_job_is_left kvdyno; do
    sleep 2
    administer
    if strike; then struck=$((struck + 1)); fi
done
[ "$struck" -gt 0 ] || fail "nothing was struck"
await "$patience" "the end of the parts" no_job_is_left kvdyno
await "$patience" "the merge" no_job_is_left
do_command 4

# ---- nothing lost, nothing twice, no verdict reversed

# A part whose last task was killed for good is gone on with, as its user would.
for part in results/plan/part-*/; do
    kvdyno run --resume "$part" --quiet >/dev/null || echo "test-slurm: $part has trials that failed"
done
measured=(results/plan/part-*/)
kvdyno merge "${measured[@]}" --out results/plan/all
python3 "$here/trials.py" whole "$repeats" >whole.txt
python3 "$here/trials.py" results/plan/all "$repeats" >all.txt
[ -s whole.txt ] || fail "the whole has no trials"
diff whole.txt all.txt || fail "merged results have other trials than the whole"
do_command 5
kvdyno report whole --format json >whole.json
kvdyno report results/plan/all --format json >all.json
python3 "$here/verdicts.py" whole.json all.json || fail "merged results reverse a verdict of the whole"
echo "test-slurm: $(wc -l <all.txt) trials in $parts parts on two nodes, $struck strikes: each once, with its seed"
