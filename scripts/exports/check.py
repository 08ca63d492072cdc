"""Holds against each other what pandas, LibreOffice and Prometheus's parser read of one run's exports: `check.py
FOLDER` with what scripts/exports.sh has put there."""

import csv
import math
import sys
from pathlib import Path

import pandas
from prometheus_client.openmetrics.parser import text_string_to_metric_families

# An engine is named `null`, which pandas takes for nothing unless it is told that only an empty field is.
EMPTY = {"na_values": [""], "keep_default_na": False}

# Sheets of the spreadsheet that are a file, too.
SHEETS = {"cells": "cells", "verdicts": "verdicts", "loads": "load", "runs": "run"}


def rows(path):
    """The fields of a file, without what stands at the end of a row and is empty."""
    with open(path, newline="", encoding="utf-8") as file:
        return [trimmed(row) for row in csv.reader(file)]


def trimmed(row):
    while row and row[-1] == "":
        row = row[:-1]
    return row


def number(field):
    try:
        return float(field)
    except ValueError:
        return None


def same(one, other):
    """Of two fields: whether they are one number, or one text. Programs write yes and no in their own way."""
    a, b = number(one), number(other)
    if a is not None and b is not None:
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    # Before what a spreadsheet would reckon there is a sign that it is text, which some keep to themselves.
    return one.lower().lstrip("'") == other.lower().lstrip("'")


def alike(name, ours, theirs):
    assert len(ours) == len(theirs), (name, len(ours), len(theirs))
    compared = 0
    for nth, (own, other) in enumerate(zip(ours, theirs)):
        width = max(len(own), len(other))
        for column in range(width):
            one, two = (row[column] if column < len(row) else "" for row in (own, other))
            assert same(one, two), (name, nth, ours[0][column], one, two)
            compared += 1
    assert compared > len(ours), (name, compared)
    return compared


def as_rows(frame):
    """A frame's head and values as the fields that they were read from."""
    fields = lambda row: ["" if value is None or value != value else str(value) for value in row]
    return [list(map(str, frame.columns))] + [trimmed(fields(row)) for row in frame.itertuples(index=False)]


def pandas_reads_csv(folder):
    for path in sorted((folder / "results/report").glob("*.csv")):
        frame = pandas.read_csv(path, **EMPTY)
        assert len(frame) > 0 and len(frame) == len(rows(path)) - 1, path
        alike(path.name, rows(path), as_rows(frame))
    cells = pandas.read_csv(folder / "printed.csv", **EMPTY)
    for column in ("reads_per_s", "reads_per_s_low", "reads_per_s_high", "read_p99_ns", "db_kib"):
        assert pandas.api.types.is_numeric_dtype(cells[column]), column
    of_runs = cells[cells["phase"] == "run"].dropna(subset=["reads_per_s_low"])
    low, rate, high = (of_runs[column] for column in ("reads_per_s_low", "reads_per_s", "reads_per_s_high"))
    assert len(of_runs) > 0 and (low.le(rate) & rate.le(high)).all(), of_runs
    print(f"exports: pandas read {len(list((folder / 'results/report').glob('*.csv')))} files of CSV")


def pandas_reads_the_spreadsheet(folder):
    sheets = pandas.read_excel(folder / "tables.ods", sheet_name=None, engine="odf", **EMPTY)
    for sheet, file in SHEETS.items():
        alike(f"sheet {sheet}", rows(folder / f"results/report/{file}.csv"), as_rows(sheets[sheet]))
    charts = [name for name, frame in sheets.items() if list(frame.columns[:3]) == ["chart", "figure", "series"]]
    assert charts and all(sheets[name]["figure"].notna().all() for name in charts), charts
    print(f"exports: pandas read {len(sheets)} sheets, {len(charts)} of charts")


def libreoffice_opens_both(folder):
    compared = 0
    for sheet, file in SHEETS.items():
        own = rows(folder / f"results/report/{file}.csv")
        compared += alike(f"sheet {sheet}", own, rows(folder / f"opened/tables-{sheet}.csv"))
        compared += alike(f"{file}.csv", own, rows(folder / f"opened/{file}.csv"))
    print(f"exports: LibreOffice has {compared} cells as they were written")


def pandas_reads_parquet(folder):
    if not (folder / "tables").is_dir():
        return
    cells, series = (pandas.read_parquet(folder / f"tables/{name}.parquet") for name in ("cells", "series"))
    own = pandas.read_csv(folder / "printed.csv", **EMPTY)
    assert sorted(cells.columns) == sorted(own.columns) and len(cells) == len(own)
    alike("cells.parquet", as_rows(own), as_rows(cells[own.columns]))
    assert len(series) > 0
    print(f"exports: pandas read {len(cells)} rows and {len(series)} points of Parquet")


def prometheus_reads_the_metrics(folder):
    families = {family.name: family for family in text_string_to_metric_families((folder / "metrics.txt").read_text())}
    ended = {sample.labels["outcome"]: sample.value for sample in families["kvdyno_trials"].samples}
    planned = families["kvdyno_trials_planned"].samples[0].value
    assert ended["finished"] == planned > 0 and ended["failed"] == 0, (ended, planned)
    told = families["kvdyno_cell_reads_per_second"].samples
    assert {sample.labels["engine"] for sample in told} == {"null", "faulty", "lmdb"}, told
    print(f"exports: Prometheus's parser read {len(families)} families")


folder = Path(sys.argv[1])
pandas_reads_csv(folder)
pandas_reads_the_spreadsheet(folder)
libreoffice_opens_both(folder)
pandas_reads_parquet(folder)
prometheus_reads_the_metrics(folder)
