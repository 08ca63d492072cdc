#!/bin/sh
# make test-exports: do other programs take what kvdyno exports? pandas reads each CSV, the spreadsheet and, if kvdyno
# was built for it, Parquet; LibreOffice opens CSV and spreadsheet; Prometheus's own parser reads the metrics. What they
# say is held against each other. The packages come through pip, pinned, into target/exports.
set -eu
cd "$(dirname "$0")/.."
kvdyno=$PWD/target/release/kvdyno
scripts=$PWD/scripts/exports
command -v soffice >/dev/null || { echo "there is no soffice (apt: libreoffice-calc)" >&2; exit 1; }
mkdir -p target/exports
cd target/exports

[ -x python/bin/python3 ] || python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check pandas==2.2.3 odfpy==1.4.1 prometheus-client==0.21.1 \
    pyarrow==18.1.0

rm -rf results opened tables
KVDYNO_ENGINES=$PWD/../release/engines "$kvdyno" compare null faulty lmdb --records 20k --readers 1,2 \
    --duration 300ms --warmup 50ms --workload readrandom,readwhilewriting --repeat 3 --dir . --out results \
    --metrics metrics.txt --format csv >printed.csv
"$kvdyno" report results --ods tables.ods --format csv >/dev/null
"$kvdyno" report results --parquet tables --format csv >/dev/null 2>no-parquet || {
    grep -q "built without Parquet" no-parquet || { cat no-parquet >&2; exit 1; }
    echo "exports: no Parquet: this kvdyno was built without"
}

# Fields by commas, in UTF-8, figures as they are and not as they are shown. A home of its own: another LibreOffice that
# is open takes the work and answers nothing.
fields='44,34,76,1,,0,false,false,false,false,false'
as_csv() {
    sheets=$1
    shift
    soffice "-env:UserInstallation=file://$PWD/office" --headless --infilter="$reader" \
        --convert-to "csv:Text - txt - csv (StarCalc):$fields$sheets" --outdir opened "$@" >office.log 2>&1 || {
        cat office.log >&2
        exit 1
    }
}
# Each sheet of the spreadsheet becomes a file of its own.
reader=calc8 as_csv ,-1 tables.ods
# As its dialogue proposes it: what only looks like a date or a time is text.
reader='Text - txt - csv (StarCalc):44,34,76,1,,1033,false,false' as_csv '' results/report/*.csv
python/bin/python3 "$scripts/check.py" .
