#!/bin/sh
# make test-hlog: do HdrHistogram's own readers take the latencies of a run? Those in Python, JavaScript and Java come
# through pip, npm and Maven, pinned, into target/hlog, and read each trial's log of a small comparison.
set -eu
cd "$(dirname "$0")/.."
kvdyno=$PWD/target/release/kvdyno
scripts=$PWD/scripts/hlog
mkdir -p target/hlog
cd target/hlog

[ -x python/bin/python3 ] || python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check hdrhistogram==0.10.8
npm install --silent --no-save --no-package-lock --prefix . hdr-histogram-js@3.0.1
for artifact in org.hdrhistogram:HdrHistogram:2.2.2 org.json:json:20240303; do
    mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
        -Dartifact="$artifact" -DoutputDirectory="$PWD/java"
done

rm -rf results
KVDYNO_ENGINES=$PWD/../release/engines "$kvdyno" compare null faulty --records 20k --readers 2 --duration 300ms \
    --warmup 50ms --workload readrandom,readwhilewriting --repeat 1 --dir . --out results --format csv >csv
python/bin/python3 "$scripts/read.py" results
NODE_PATH=$PWD/node_modules node "$scripts/read.js" results
java -cp "$PWD/java/*" "$scripts/Read.java" results
