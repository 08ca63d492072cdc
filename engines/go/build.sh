# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Builds the adapter named $1, of this folder, into $OUT: for the scripts of the engines' own folders. Modules come from
# the user's module proxy, at the versions and with the checksums of go.mod and go.sum.
cd "$ADAPTER/../go"
export CGO_CFLAGS="-O2 -g -I$INCLUDE"
go build -trimpath -buildvcs=false -mod=readonly -p "$JOBS" -buildmode=c-shared -o "$OUT/libkvdyno_$1.so" "./$1"
