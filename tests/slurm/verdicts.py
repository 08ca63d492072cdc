"""verdicts.py ONE OTHER: fails if a verdict of one report, as JSON, is the reverse of the other's."""
import json
import sys


def winners(file):
    """The faster setup of each decided pair, which may be named in either order."""
    with open(file) as text:
        pairs = json.load(text)["verdicts"]
    decided = {}
    for pair in pairs:
        if pair["verdict"] in ("faster", "slower"):
            winner, loser = (pair["one"], pair["other"])[:: 1 if pair["verdict"] == "faster" else -1]
            decided[(pair["work"], *sorted((winner, loser)), pair["side"], pair["figure"])] = winner
    return decided


one, other = map(winners, sys.argv[1:])
both = one.keys() & other.keys()
reverse = [pair for pair in both if one[pair] != other[pair]]
print(f"test-slurm: {len(one)} and {len(other)} verdicts decided, {len(both)} in both; reversed: {reverse or 'none'}")
sys.exit(bool(reverse))
