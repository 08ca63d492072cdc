# A Slurm of two nodes on this machine, in $folder. Read by run.sh, which says what it tests.
# shellcheck shell=bash

export SLURM_CONF=$folder/slurm.conf
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

# SECONDS WHAT COMMAND…: waits until the command succeeds, and helps Slurm meanwhile.
await() {
    local deadline=$((SECONDS + $1)) what=$2
    shift 2
    while [ "$SECONDS" -lt "$deadline" ]; do
        if "$@" >/dev/null 2>&1; then return; fi
        administer
        sleep 0.5
    done
    fail "$what does not come"
}

start_controller() {
    start slurmctld slurmctld -D "$@"
    controller=$daemon
}

restart_controller() {
    kill -9 "$controller"
    wait "$controller" 2>/dev/null || true
    start_controller
    await 120 "the controller" scontrol ping
}

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

all_nodes_are_idle() {
    [ "$(sinfo -h -N -o %t | sort -u)" = idle ]
}

# [NAME]: whether no job, or none of this name, is left. A controller that is away does not know.
no_job_is_left() {
    local left
    left=$(squeue -h ${1:+-n "$1"}) && [ -z "$left" ]
}

start_cluster() {
    mkdir -p "$folder"/{state,spool/node1,spool/node2,log,run}
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
    await 120 "munge" munge -s x --socket="$folder/run/munge.socket"
    start_controller -i # There is no state yet.
    for node in node1 node2; do
        start "$node" slurmd -D -N "$node"
    done
    await 120 "a node" all_nodes_are_idle
}

# One of: a task is queued again, its processes die, the controller is killed. Fails if nothing runs.
strike() {
    local task strike=$((RANDOM % 3))
    task=$(squeue -h -r -n kvdyno -t RUNNING -o %i 2>/dev/null | shuf -n 1)
    [ -n "$task" ] || return
    case $strike in
    0) scontrol requeue "$task" || return ;;
    1) # Slurm counts that as the end of the task.
        scancel --signal=KILL "$task" || return
        sleep 1
        scontrol requeue "$task" || return
        ;;
    2) restart_controller ;;
    esac
    echo "strike $strike: $task; $(squeue -h -r -o '%i|%T' | paste -sd ' ')"
}
