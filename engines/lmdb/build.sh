#!/bin/sh
# LMDB's own makefile, with its own flags. It has an entry for each object, so it may run them at once.
cd "$SOURCE/lmdb/libraries/liblmdb"
make -j "$JOBS" CC=cc liblmdb.so
cp liblmdb.so "$OUT/"
cp lmdb.h "$HEADERS/"
