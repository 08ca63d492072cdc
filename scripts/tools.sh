#!/bin/sh
# Brings the gate's tools, as scripts/tools.txt pins them, into a folder: tools.sh target/tools. They are unpacked, not
# installed, because Debian's pip refuses to install outside of its own packages.
set -eu
cd "$(dirname "$0")/.."
folder=${1:?a folder}
pins=scripts/tools.txt
cmp -s "$pins" "$folder/tools.txt" && exit 0

wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
    --dest "$wheels" --requirement "$pins"
mkdir -p "$folder"
for wheel in "$wheels"/*.whl; do
    python3 -m zipfile -e "$wheel" "$wheels/unpacked"
done
for tool in "$wheels"/unpacked/*/scripts/*; do
    install -m 755 "$tool" "$folder/$(basename "$tool")"
done
cp "$pins" "$folder/tools.txt"
