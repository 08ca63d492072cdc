"""Reads every latency.hlog of a results folder by HdrHistogram's reader in Python and holds what it says against
result.json beside it: of each kind of operation the count, and mean and greatest to the three digits that both have.
Percentiles are not compared: readers round the rank differently, which shows where values are few."""

import json
import sys
from pathlib import Path

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

LONGEST_NS = 3_600_000_000_000


def histograms(log):
    """By tag; the reader ends at the first line that it does not take."""
    reader = HistogramLogReader(str(log), HdrHistogram(1, LONGEST_NS, 3))
    while (histogram := reader.get_next_interval_histogram()) is not None:
        yield histogram.get_tag(), histogram


def near(a, b):
    # Means are whole numbers in results.
    return abs(a - b) <= max(a, b) / 500 + 1


checked = 0
for log in sorted(Path(sys.argv[1]).glob("trials/*/latency.hlog")):
    read = dict(histograms(log))
    result = json.loads(log.with_name("result.json").read_text())
    for operation in result["operations"]:
        kind, histogram = operation["kind"], read.pop(operation["kind"])
        assert histogram.get_total_count() == operation["operations"], (log, kind, histogram.get_total_count())
        for value, name in ((histogram.get_mean_value(), "mean_ns"), (histogram.get_max_value(), "max_ns")):
            assert near(value, operation["latency"][name]), (log, kind, name, value, operation["latency"][name])
        checked += 1
    assert not read, (log, read.keys())
assert checked > 0, "there are no operations"
print(f"hlog: Python read {checked} histograms")
