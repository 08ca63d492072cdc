#!/bin/bash
# make test-slurm: a real Slurm of two nodes on this machine runs an experiment in eight parts, as `kvdyno submit slurm`
# says, while tasks are requeued and killed and the controller is restarted. What is merged must have every trial of one
# run of the whole, with its seed, once. It takes root, and Debian's slurm-wlm and munge.
#
# tests/slurm/run.sh KVDYNO ENGINES FOLDER [STRIKES]
set -euo pipefail

kvdyno=$1 engines=$2 folder=$3 strikes=${4:-20} experiment=${5:-}
parts=8
rm -rf "$folder"
mkdir -p "$folder"/{state,spool,log,run}
folder=$(cd "$folder" && pwd)
export KVDYNO_ENGINES=$engines SLURM_CONF=$folder/slurm.conf KVDYNO=$kvdyno
started=()

end() {
    for pid in "${started[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    wait 2>/dev/null || true
}
trap end EXIT

fail() {
    echo "test-slurm: $*" >&2
    tail -n 20 "$folder"/log/*.log >&2
    squeue -r -o '%i|%T|%r' >&2 || true
    sinfo -N -o '%N|%t|%E' >&2 || true
    exit 1
}

# NAME COMMAND…: a daemon in the foreground, as a child of this script; its process is in $daemon.
start() {
    local name=$1
    shift
    "$@" >>"$folder/log/$name.log" 2>&1 &
    daemon=$!
    started+=("$daemon")
}

# WHAT COMMAND…: waits until the command succeeds.
until_true() {
    local what=$1
    shift
    for _ in $(seq 600); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.2
    done
    fail "$what does not come"
}

# ---- two nodes

cat >"$SLURM_CONF" <<CONF
ClusterName=kvdyno
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.socket,cred_expire=10
SlurmctldPort=17100
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/%n.pid
ReturnToService=2
KillWait=2
SlurmdTimeout=20
MpiDefault=none
MailProg=/bin/true
NodeName=node[1-2] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=[17101-17102] CPUs=1 RealMemory=1000
PartitionName=main Nodes=ALL Default=YES State=UP MaxTime=INFINITE
CONF

dd if=/dev/urandom of="$folder/run/munge.key" bs=1024 count=1 status=none
chmod 400 "$folder/run/munge.key"
start munged munged --foreground --force --key-file="$folder/run/munge.key" --socket="$folder/run/munge.socket" \
    --pid-file="$folder/run/munged.pid" --seed-file="$folder/run/munged.seed" --log-file="$folder/log/munge.log"
until_true "munge" munge -s x --socket="$folder/run/munge.socket"

controller() {
    start slurmctld slurmctld -D "$@"
    controller=$daemon
}
controller -i # There is no state yet.
for node in node1 node2; do
    mkdir -p "$folder/spool/$node"
    start "$node" slurmd -D -N "$node"
done
idle() {
    [ "$(sinfo -h -N -o %t | sort -u)" = idle ]
}
until_true "a node" idle

# ---- the experiment, whole and in parts

if [ -n "$experiment" ]; then
    cp "$experiment" "$folder/experiment.toml"
else
    cat >"$folder/experiment.toml" <<EXPERIMENT
engines = ["lmdb", "leveldb"]
[data]
records = 20000
[lab]
repeat = 2
[[run]]
workload = "readrandom"
readers = [1, 2, 3, 4]
duration = "500ms"
warmup = "50ms"
[[run]]
workload = "readseq"
readers = [1, 2]
duration = "500ms"
warmup = "50ms"
[[run]]
workload = "readreverse"
readers = [1, 2]
duration = "500ms"
warmup = "50ms"
EXPERIMENT
fi
repeats=$(sed -n 's/^repeat = \([0-9]*\)$/\1/p' "$folder/experiment.toml")
[ -n "$repeats" ] || fail "the experiment has no line such as: repeat = 3"
cd "$folder"
begun=$SECONDS
"$kvdyno" run experiment.toml --out whole --quiet >/dev/null
patience=$((600 + 4 * (SECONDS - begun)))
"$kvdyno" submit slurm experiment.toml --parts "$parts" --out results >submit.sh
bash submit.sh --partition=main

# ---- strikes, while it runs

# A controller that was killed may not know what it sent last: it drains the node that tells it of a task twice, and
# holds a task that could not be launched. An administrator resumes and releases them.
administer() {
    local node held
    for node in $(sinfo -h -N -t drain,down -o %N 2>/dev/null); do
        scontrol update nodename="$node" state=resume || true
    done
    for held in $(squeue -h -r -t PENDING -o '%i %r' 2>/dev/null | sed -n 's/ .*held$//p'); do
        scontrol release "$held" || true
    done
}

struck=0
deadline=$((SECONDS + patience))
while sleep 2 && [ "$SECONDS" -lt "$deadline" ] && [ "$struck" -lt "$strikes" ] &&
    [ -n "$(squeue -h -n kvdyno 2>/dev/null || echo unknown)" ]; do
    administer
    running=$(squeue -h -r -n kvdyno -t RUNNING -o %i 2>/dev/null | shuf -n 1 || true)
    [ -n "$running" ] || continue
    strike=$((RANDOM % 3))
    case $strike in
    0) scontrol requeue "$running" || continue ;;
    1) # Its processes die, which Slurm counts as the end of the task.
        scancel --signal=KILL "$running" || continue
        sleep 1
        scontrol requeue "$running" || continue
        ;;
    2)
        kill -9 "$controller"
        wait "$controller" 2>/dev/null || true
        controller
        until_true "the controller" scontrol ping
        ;;
    esac
    struck=$((struck + 1))
    echo "strike $struck: $strike $running; $(squeue -h -r -o '%i|%T' | paste -sd ' ')"
done
ended() {
    local left
    left=$(squeue -h -n kvdyno) && [ -z "$left" ]
}
for _ in $(seq "$patience"); do
    if ended; then break; fi
    administer
    sleep 1
done
ended || fail "parts do not end"
merged() {
    local left
    left=$(squeue -h) && [ -z "$left" ]
}
until_true "the merge" merged
[ "$struck" -gt 0 ] || fail "nothing was struck"
"$kvdyno" status results/part-*/ results/all | tail -n 40 || true

# ---- nothing lost, nothing twice

# What was ordered: each trial with its seed.
trials() {
    python3 - "$1" "$repeats" <<'LIST'
import glob, json, sys
for file in sorted(glob.glob(sys.argv[1] + "/trials/*/result.json")):
    with open(file) as text:
        result = json.load(text)
    if result["trial"]["repeat"] <= int(sys.argv[2]):
        print(json.dumps([result["trial"], result["workload"]["seed"], result["outcome"]], sort_keys=True))
LIST
}
# A part whose last task was killed for good is gone on with, as its user would.
for part in results/part-*/; do
    "$kvdyno" run --resume "$part" --quiet >/dev/null || echo "test-slurm: $part has trials that failed"
done
measured=(results/part-*/)
"$kvdyno" merge "${measured[@]}" --out results/all
trials whole >whole.txt
trials results/all >merged.txt
[ -s whole.txt ] || fail "the whole has no trials"
diff whole.txt merged.txt || fail "merged results have other trials than the whole"

for name in whole results/all; do
    "$kvdyno" report "$name" --format json >"$(basename "$name").json"
done
python3 - whole.json all.json <<'VERDICTS' || fail "merged results reverse a verdict of the whole"
import json, sys
def decided(file):
    with open(file) as text:
        pairs = json.load(text)["verdicts"]
    decided = {}
    for pair in pairs:
        if pair["verdict"] in ("faster", "slower"):
            # A pair may be named in either order.
            winner, loser = (pair["one"], pair["other"])[:: 1 if pair["verdict"] == "faster" else -1]
            name = (pair["work"], *sorted((winner, loser)), pair["side"], pair["figure"])
            decided[name] = winner
    return decided
whole, merged = map(decided, sys.argv[1:])
both = whole.keys() & merged.keys()
reversed = [name for name in both if whole[name] != merged[name]]
print(f"test-slurm: {len(both)} verdicts decided in both, {len(whole)} in the whole; reversed: {reversed or 'none'}")
sys.exit(bool(reversed))
VERDICTS
echo "test-slurm: $parts parts on two nodes, $struck strikes: every trial once, with its seed"
