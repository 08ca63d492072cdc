"""trials.py FOLDER REPEATS: a line for each trial of the first repeats of a plan, with its key, seed and outcome."""
import glob
import json
import sys

folder, repeats = sys.argv[1], int(sys.argv[2])
for file in sorted(glob.glob(folder + "/trials/*/result.json")):
    with open(file) as text:
        result = json.load(text)
    if result["trial"]["repeat"] <= repeats:
        print(json.dumps([result["trial"], result["workload"]["seed"], result["outcome"]], sort_keys=True))
