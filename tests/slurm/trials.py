"""trials.py FOLDER REPEATS: a line for each trial of the first repeats of a plan, with its key, seed and outcome.

An engine may fail by itself in one run and not in another: that is told, and no difference.
"""
import glob
import json
import sys

folder, repeats = sys.argv[1], int(sys.argv[2])
for file in sorted(glob.glob(folder + "/trials/*/result.json")):
    with open(file) as text:
        result = json.load(text)
    outcome = result["outcome"]
    if outcome.get("kind") == "engine-error":
        print(f"test-slurm: {file}: {outcome['reason']}", file=sys.stderr)
        outcome = {"state": "finished"}
    if result["trial"]["repeat"] <= repeats:
        print(json.dumps([result["trial"], result["workload"]["seed"], outcome], sort_keys=True))
