#!/bin/sh
# make test-package: installs the package into a system that has nothing else, compares two engines there, and removes
# it without a trace. Then makes it once more in another folder: the bytes must be the same. It takes root, debootstrap
# and a mirror of the distribution.
#
# MIRROR: where debootstrap fetches the system from.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
mirror=${MIRROR:-http://deb.debian.org/debian}
package=$root/target/package
folder=$(mktemp -d)
system=$folder/system

clean_up() {
    for mounted in proc dev; do
        if mountpoint -q "$system/$mounted"; then
            mount --make-rslave "$system/$mounted"
            umount -R "$system/$mounted"
        fi
    done
    rm -rf --one-file-system "$folder"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "test-package: $*" >&2
    exit 1
}

inside() {
    env -i ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        chroot "$system" "$@"
}

# All files but what apt and dpkg keep of their own work.
files() {
    inside find / -xdev \( -path /proc -o -path /dev -o -path /run -o -path /tmp -o -path /var/lib/apt \
        -o -path /var/lib/dpkg \
        -o -path /var/cache -o -path /var/log -o -path /etc/ld.so.cache \) -prune -o -print | sort
}

set -- "$package"/kvdyno_*.deb
[ $# = 1 ] && [ -f "$1" ] || fail "there is no package in $package, or more than one; make package makes it"
deb=$1
size=$(stat -c %s "$deb")
[ "$size" -lt 25000000 ] || fail "$(basename "$deb") has $size bytes, more than 25 MB"

# shellcheck disable=SC1091 # it is there
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
debootstrap --variant=minbase "$release" "$system" "$mirror" >"$folder/debootstrap.log" ||
    { tail "$folder/debootstrap.log"; fail "debootstrap failed"; }
mount -t proc proc "$system/proc"
mount --rbind /dev "$system/dev"
mount --make-rslave "$system/dev"
inside apt-get -qq update
files >"$folder/before"

cp "$deb" "$system/tmp/kvdyno.deb"
inside apt-get -qq install -y /tmp/kvdyno.deb >"$folder/install.log" 2>&1 ||
    { tail "$folder/install.log"; fail "it cannot be installed"; }
inside kvdyno --version
inside kvdyno compare lmdb leveldb --records 20k --readers 1 --duration 200ms --repeat 3 --out /tmp/results
page=$system/tmp/results/report/index.html
grep -q '<html' "$page" || fail "there is no page"
inside test -s /usr/share/man/man1/kvdyno.1.gz || fail "there is no manual page"
inside kvdyno engines new mine --lang c --dir /tmp

inside apt-get -qq purge -y --autoremove kvdyno >"$folder/purge.log" 2>&1 ||
    { tail "$folder/purge.log"; fail "it cannot be removed"; }
files >"$folder/after"
diff "$folder/before" "$folder/after" || fail "that is left of it"

OUT=$folder/again "$root/scripts/package.sh" >/dev/null
diff "$package/SHA256SUMS" "$folder/again/SHA256SUMS" || fail "another folder made other bytes"
echo "test-package: installs, compares, leaves nothing, and is the same from another folder ($size bytes)"
