#!/bin/sh
# Builds the pinned cargo-deny into a folder: deny.sh target/tools
set -eu
version=0.20.2
"${1:?a folder}/bin/cargo-deny" --version 2>/dev/null | grep -qx "cargo-deny $version" ||
    cargo install cargo-deny --version "$version" --locked --root "$1"
touch "$1/bin/cargo-deny"
