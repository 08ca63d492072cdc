#!/bin/sh
# make package: the program and what belongs to it, built from the last commit, as a Debian package and as a tarball;
# debug symbols are a tarball of their own. The same commit and the same compilers make the same bytes in any folder:
# what is built knows no folder's name, and every file has the commit's time.
#
# OUT: the folder for them, with the build below it.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
out=${OUT:-$root/target/package}
umask 022
mkdir -p "$out"
out=$(CDPATH='' cd -- "$out" && pwd)
source=$out/source
# make, which runs this, is run again.
unset MAKEFLAGS MFLAGS MAKELEVEL

say() {
    echo "package: $*" >&2
}

# ---- build

[ -d "$source" ] || git clone -q --no-hardlinks "$root" "$source"
git -C "$source" fetch -q "$root" HEAD
git -C "$source" checkout -q --detach FETCH_HEAD
commit=$(git -C "$source" rev-parse --short=12 HEAD)
SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' "$source/Cargo.toml")
version=$version+$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d).$commit

crates=${CARGO_HOME:-$HOME/.cargo}
RUSTFLAGS="--remap-path-prefix=$source=. --remap-path-prefix=$crates=cargo" \
    CFLAGS="-O2 -g -ffile-prefix-map=$source=. -ffile-prefix-map=$crates=cargo" \
    CARGO_TARGET_DIR="$source/target" make -s -C "$source" build

# ---- lay out

stage=$out/stage debug=$out/debug
rm -rf "$stage" "$debug"
make -s -C "$source" install PREFIX=/usr DESTDIR="$stage"
for file in "$stage"/usr/bin/kvdyno "$stage"/usr/lib/kvdyno/engines/*.so; do
    symbols=$debug/${file#"$stage"/}.debug
    mkdir -p "$(dirname "$symbols")"
    objcopy --only-keep-debug "$file" "$symbols"
    chmod 644 "$symbols"
    strip --strip-unneeded "$file"
    objcopy --add-gnu-debuglink="$symbols" "$file"
done
chmod 644 "$stage"/usr/lib/kvdyno/engines/*.so
find "$stage" -name '*.1' -exec gzip -n9 {} +
find "$stage" "$debug" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

# ---- tarballs

# TARBALL FOLDER: what is in the folder, below a folder that has the tarball's name.
pack() {
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$2" \
        --transform "s,^\.,$1,SH" -I 'xz -T1' -cf "$out/$1.tar.xz" .
}

machine=$(uname -m)
rm -f "$out"/kvdyno*.tar.xz "$out"/kvdyno*.deb
pack "kvdyno-$version-$machine" "$stage/usr"
pack "kvdyno-debug-$version-$machine" "$debug/usr"

# ---- Debian package

if command -v dpkg-shlibdeps >/dev/null 2>&1; then
    # It looks for a package's sources in the folder that it is in.
    mkdir -p "$out/shlibdeps/debian"
    printf 'Source: kvdyno\n\nPackage: kvdyno\nArchitecture: any\n' >"$out/shlibdeps/debian/control"
    (cd "$out/shlibdeps" &&
        dpkg-shlibdeps -O "$stage/usr/bin/kvdyno" "$stage"/usr/lib/kvdyno/engines/*.so >"$out/shlibdeps/depends")
    depends=$(sed -n 's/^shlibs:Depends=//p' "$out/shlibdeps/depends")
    # The engines' libraries that the distribution has, as the recipes say; the adapters load them at run time. GT.M is
    # a whole database server.
    recommends=$(sed -n '/client = "apt"/,/^$/s/^package = "\(.*\)"/\1/p' "$source"/engines/*/recipe.toml |
        grep -v gtm | sort -u |
        paste -sd , | sed 's/,/, /g')
    mkdir -m 755 "$stage/DEBIAN"
    cat >"$stage/DEBIAN/control" <<CONTROL
Package: kvdyno
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: kvdyno contributors
Installed-Size: $(find "$stage/usr" -type f -printf '%s\n' | awk '{ kib += int(($1 + 1023) / 1024) } END { print kib }')
Depends: $depends
Recommends: $recommends
Suggests: gcc, make, cargo, golang-go, maven, npm, python3-pip
Section: database
Priority: optional
Description: dynamometer for key-value storage engines
 kvdyno runs one workload on the same records in each engine, verifies what
 is read, and reports throughput, latency, resource use and scaling, with
 confidence intervals. "kvdyno engines install" brings engines that the
 distribution does not have, with their package clients.
CONTROL
    deb=$out/kvdyno_${version}_$(dpkg --print-architecture).deb
    dpkg-deb --root-owner-group --threads-max=1 -Zxz --build "$stage" "$deb" >/dev/null
    rm -r "$stage/DEBIAN" "$out/shlibdeps"
else
    say "no Debian package: there is no dpkg-shlibdeps (Debian's package dpkg-dev)"
fi
(cd "$out" && sha256sum kvdyno*."tar.xz" kvdyno*.deb 2>/dev/null | tee SHA256SUMS)
