#!/bin/sh
# Runs experiments on the engines that are here, fitted to this machine and a budget, and writes their results into
# their pages in docs/experiments, between the marks.
#
#   scripts/experiment-results.sh 10m ycsb transfer      measures each for ten minutes
#   scripts/experiment-results.sh FOLDER ycsb            takes the results of a run that has ended
set -eu

[ $# -ge 2 ] || { echo "usage: $0 BUDGET|FOLDER NAME..." >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
kvdyno=${KVDYNO:-$root/target/release/kvdyno}
from=$1
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Rates of all kinds of operations together. Engines are in the order of the first column.
table='
function fields(line, to,    n, i, c, quoted, field) {
    n = 0
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"") quoted = !quoted
        else if (c == "," && !quoted) { to[++n] = field; field = "" }
        else field = field c
    }
    to[++n] = field
    return n
}
function thousands(per_s) { return sprintf(per_s + 0 < 20000 ? "%.1f" : "%.0f", per_s / 1000) }
function shown(value) { return value == "" ? "–" : value }
NR == 1 { n = fields($0, name); for (i = 1; i <= n; i++) at[name[i]] = i; next }
{
    fields($0, f)
    if (f[at["phase"]] != "run") next
    column = f[at["variant"]] == "" ? f[at["workload"]] : f[at["variant"]]
    clients = f[at["readers"]] + f[at["writers"]]
    engine = f[at["engine"]]
    if (f[at["records"]] != records) { records = f[at["records"]]; sizes++ }
    if (!(column in known)) { known[column] = 1; columns[++n_columns] = column }
    if (!(clients in counted)) { counted[clients] = 1; counts[++n_counts] = clients }
    if (!(engine in seen)) { seen[engine] = 1; engines[++n_engines] = engine }
    per_s = f[at["operations_per_s"]]
    if (per_s == "") next
    rate[engine, column, clients] = thousands(per_s)
    if (column == columns[1] && (first[engine] == "" || clients == counts[1])) first[engine] = per_s
}
END {
    for (i = 2; i <= n_engines; i++)
        for (j = i; j > 1 && first[engines[j]] + 0 > first[engines[j - 1]] + 0; j--) {
            swap = engines[j]; engines[j] = engines[j - 1]; engines[j - 1] = swap
        }
    list = counts[1]
    for (k = 2; k <= n_counts; k++) list = list (k == n_counts ? " and " : ", ") counts[k]
    many = n_counts > 1 || counts[1] + 0 > 1
    method = "[method](README.md#how-to-read-the-results)"
    printf "%s%s (%s).\n", date, (sizes == 1 ? ", " records " records" : ""), method
    printf "Thousands of operations a second with %s client%s:\n\n| engine |", list, (many ? "s" : "")
    for (c = 1; c <= n_columns; c++) printf " %s |", columns[c]
    printf "\n| --- |"
    for (c = 1; c <= n_columns; c++) printf " ---: |"
    for (i = 1; i <= n_engines; i++) {
        printf "\n| %s |", engines[i]
        for (c = 1; c <= n_columns; c++) {
            cell = ""
            for (k = 1; k <= n_counts; k++)
                cell = cell (k > 1 ? " / " : "") shown(rate[engines[i], columns[c], counts[k]])
            printf " %s |", cell
        }
    }
    printf "\n"
}'

for name; do
    page=$root/docs/experiments/$name.md
    grep -q '^<!-- results: begin' "$page" || { echo "$0: $page has no mark for results" >&2; exit 2; }
    if [ -d "$from" ]; then
        "$kvdyno" report "$from" --format csv >"$work/csv" 2>"$work/log"
        date=$(date -u -r "$from/plan.json" +%F)
    else
        "$kvdyno" run "$name" --fit --budget "$from" --out "$work/$name" --format csv >"$work/csv" 2>"$work/log" || {
            code=$?
            # 1: some trials failed, and have no figure.
            [ $code = 1 ] || { cat "$work/log" >&2; exit $code; }
        }
        date=$(date -u +%F)
    fi
    {
        sed '/^<!-- results: begin/q' "$page"
        printf '\n'
        awk -v date="$date" "$table" "$work/csv"
        printf '\n'
        sed -n '/^<!-- results: end/,$p' "$page"
    } >"$work/page"
    cp "$work/page" "$page"
    echo "experiment-results: wrote docs/experiments/$name.md"
done
