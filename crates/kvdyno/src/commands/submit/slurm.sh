#!/bin/bash
# Submits an experiment in @PARTS@ parts to Slurm, each on a node of its own, and a job that merges what they measured.
#
#     kvdyno submit slurm FILE --parts @PARTS@ | bash -s -- --partition=NAME --constraint=NAME
#
# Arguments are given to sbatch, among them --time if the partition's is too short. The same script goes on with parts
# that were ended. KVDYNO is the program. KVDYNO_DIR is the folder of the databases on a local disk, the
# same path on every node; without it the experiment's own folder is used, or that of the results.
set -euo pipefail
out=@OUT@
mkdir -p "$out"
parts=$(sbatch --parsable --job-name=kvdyno --array=1-@PARTS@ --exclusive --mem=0 --requeue \
    --output="$out/part-%a.log" "$@" <<'JOB'
#!/bin/bash
set -euo pipefail
kvdyno=${KVDYNO:-kvdyno} part=@OUT@/part-$SLURM_ARRAY_TASK_ID
if [ -f "$part/experiment.toml" ]; then # It was requeued.
    exec srun --nodes=1 --ntasks=1 --cpu-bind=none "$kvdyno" run --resume "$part" --quiet
fi
exec srun --nodes=1 --ntasks=1 --cpu-bind=none "$kvdyno" run @FILE@ --part "$SLURM_ARRAY_TASK_ID/@PARTS@"@DEAL@ \
    --out "$part" --quiet ${KVDYNO_DIR:+--dir "$KVDYNO_DIR"}
JOB
)
merge=$(sbatch --parsable --job-name=kvdyno-merge --dependency="afterany:${parts%%;*}" \
    --output="$out/merge.log" "$@" <<'JOB'
#!/bin/bash
set -euo pipefail
kvdyno=${KVDYNO:-kvdyno} out=@OUT@
measured=("$out"/part-*/experiment.toml) # Not of a part that did not begin.
"$kvdyno" merge "${measured[@]%/*}" --out "$out/all"
"$kvdyno" report "$out/all"
JOB
)
echo "parts: job $parts; merged into $out/all by job $merge; kvdyno status $out/part-*/ shows how far they are"
