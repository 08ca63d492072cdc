#!/bin/sh
# Makes docs/gallery: for each table in published/ the charts of measured and printed figures, and a list of them. The
# list also names the tables without a chart, with the reason.
#
#   scripts/gallery.sh measure FOLDER [BUDGET [REPEATS [NAME…]]]   runs the experiments into FOLDER/NAME: all of them,
#                                                                  10m and 3 repeats each
#   scripts/gallery.sh FOLDER…                                     draws the gallery from their results folders
#
# GALLERY=FOLDER writes it elsewhere, KVDYNO=PATH names the program.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
kvdyno=${KVDYNO:-$root/target/release/kvdyno}
gallery=${GALLERY:-$root/docs/gallery}
# A page of many charts is opened on telephones too.
most_bytes=150000
experiments="inmem-numa ondisk storage 3n1 dbbench-smt"

# The experiment that a published table is of.
experiment_of() {
    case $1 in
    symas-2014-inmem-*) echo inmem-numa ;;
    symas-2018-optane-*) echo storage ;;
    anderson-2011-*) echo 3n1 ;;
    callaghan-2023-*) echo dbbench-smt ;;
    *) echo "gallery: published/$1.csv belongs to no experiment that is known here" >&2; return 1 ;;
    esac
}

# One repeat tells no interval, so the experiments are run with more of them than they ask for.
measure() {
    folder=${1:?gallery: measure into which folder?} budget=${2:-10m} repeats=${3:-3}
    if [ $# -gt 3 ]; then shift 3; else set -- $experiments; fi
    mkdir -p "$folder"
    for name; do
        sed "s/^\[lab\]/[lab]\nrepeat = $repeats/" "$root/experiments/$name.toml" >"$folder/$name.toml"
        "$kvdyno" run "$folder/$name.toml" --fit --budget "$budget" --out "$folder/$name" >"$folder/$name.txt" 2>&1 ||
            echo "gallery: $name ended with exit code $?; see $folder/$name.txt" >&2
    done
}

# `inmem-numa`, as the results in a folder call themselves.
name_of() {
    sed -n 's/^name = "\(.*\)"$/\1/p' "$1/experiment.toml" | head -n 1
}

# The page of a results folder, into the folder of its experiment.
draw() {
    folder=$1 name=$2
    set -- report "$folder" --out "$pages/$name"
    [ "$name" = ondisk ] || set -- "$@" --against "$name"
    "$kvdyno" "$@" >"$pages/$name.txt" 2>&1 || { cat "$pages/$name.txt" >&2; return 1; }
}

# Sentences in lines that are not too wide.
lines() {
    fold -s -w 119 | sed 's/ *$//'
}

# Keeps a chart under a name that does not change with the page, and writes its entry. The text of the image is the
# drawing's label up to the first colon; the caption is the label without what the head of the list says of all charts.
entry() {
    chart=$1 to=$2
    bytes=$(wc -c <"$chart")
    if [ "$bytes" -gt "$most_bytes" ]; then
        echo "gallery: $to has $bytes bytes; more than $most_bytes are too many for a page of many charts" >&2
        return 1
    fi
    cp "$chart" "$gallery/$to"
    words=$(sed -n '1s/.*aria-label="\([^"]*\)".*/\1/p' "$chart")
    printf '![%s](%s)\n\n' "${words%%:*}" "$to"
    printf '%s.\n\n' "$words" | sed 's/, measured beside published, a row for each entry of [^;.]*//' | lines
}

# When and where the results were measured, as the page says it.
ran() {
    sed -n 's/.*<p class="lead">\(.*\)<\/p>.*/\1/p' "$pages/$name/index.html" | head -n 1 | lines
    echo
}

# The first lines of a section.
head_of() {
    printf '## %s\n\n%s Experiment: [%s](../experiments/%s.md).\n\n' "$1" "$2" "$name" "$name" | lines
}

# The charts of a published table, or why there is none.
table() {
    table=$1 name=$(experiment_of "$1")
    head_of "$table" "Table: [published/$table.csv](../../published/$table.csv)."
    if [ ! -d "$pages/$name" ]; then
        printf 'No chart: there were no results of `%s`.\n\n' "$name"
        return
    fi
    ran
    found=
    for chart in "$pages/$name"/charts/*-published-"$table"-*.svg; do
        [ -e "$chart" ] || continue
        found=yes
        entry "$chart" "$(basename "$chart" | sed 's/^[0-9]*-published-//')"
    done
    [ -n "$found" ] || printf 'No chart: `%s` measured nothing that this table has.\n\n' "$name"
}

# The report that printed no table.
ondisk() {
    name=ondisk
    head_of ondisk 'The report printed charts only.'
    if [ ! -d "$pages/ondisk" ]; then
        printf 'No chart: there were no results of `ondisk`.\n\n'
        return
    fi
    ran
    for chart in "$pages"/ondisk/charts/*-reads-a-second*.svg "$pages"/ondisk/charts/*-writes-a-second*.svg; do
        [ -e "$chart" ] || continue
        entry "$chart" "ondisk-$(basename "$chart" | sed 's/^[0-9]*-//')"
    done
}

list() {
    cat <<'END'
# Published figures, measured again

`scripts/gallery.sh` makes this page: for each table in [published](../../published/README.md) the charts of `kvdyno
report --against`, with a row for each entry of the table. Round marks are measured, with 95 % intervals over the
repeats; they are hollow if there was one. Hollow squares are printed in the report. A row without a round mark was not
measured. Machines and sizes differ greatly, so compare ratios between rows; the axes are logarithmic.

To measure one again: `scripts/gallery.sh measure FOLDER 10m 3 EXPERIMENT`, then `scripts/gallery.sh FOLDER/*`.

END
    for file in "$root"/published/*.csv; do table "$(basename "$file" .csv)"; done
    ondisk
}

if [ "${1:-}" = measure ]; then
    shift
    measure "$@"
    exit
fi
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
for folder in "$@"; do
    # `measure` leaves files beside the folders.
    [ -f "$folder" ] && continue
    if [ ! -f "$folder/experiment.toml" ]; then
        echo "gallery: $folder has no experiment.toml: it is no results folder" >&2
        exit 1
    fi
    name=$(name_of "$folder")
    case " $experiments " in
    *" $name "*) draw "$folder" "$name" ;;
    *) echo "gallery: $folder has results of \`$name\`; those of $experiments have charts here" >&2; exit 1 ;;
    esac
done
mkdir -p "$gallery"
rm -f "$gallery"/*.svg
list | sed '$d' >"$gallery/README.md"
echo "gallery: wrote $(ls "$gallery" | grep -c '\.svg$' || true) charts and README.md into $gallery"
