#!/bin/sh
# make test-image: builds the image of the Containerfile, on a base that debootstrap makes, and compares two engines in
# a container of it. It takes root, debootstrap, podman and a mirror of the distribution; all of its images are removed.
#
# MIRROR: where debootstrap fetches the base from. RUNTIME: the runtime of containers, such as runc, where podman's own
# choice does not work. RUN_FLAGS: flags of `podman run`, such as --ulimit where it may not raise limits.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
mirror=${MIRROR:-http://deb.debian.org/debian}
folder=$(mktemp -d)

own_podman() {
    podman ${RUNTIME:+--runtime "$RUNTIME"} --root "$folder/storage" --runroot "$folder/run" "$@"
}

clean_up() {
    own_podman rmi --all --force >/dev/null 2>&1 || true
    if mountpoint -q "$folder/storage/overlay"; then umount "$folder/storage/overlay"; fi
    rm -rf --one-file-system "$folder"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "test-image: $*" >&2
    exit 1
}

# shellcheck disable=SC1091 # it is there
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
debootstrap --variant=minbase "$release" "$folder/base" "$mirror" >"$folder/debootstrap.log" ||
    { tail "$folder/debootstrap.log"; fail "debootstrap failed"; }
tar -C "$folder/base" -c . | own_podman import --quiet - kvdyno-base >/dev/null
own_podman build --network host --build-arg BASE=localhost/kvdyno-base --tag kvdyno "$root" >"$folder/build.log" 2>&1 ||
    { tail "$folder/build.log" >&2; fail "the image cannot be built"; }

mkdir "$folder/work"
in_container() {
    # shellcheck disable=SC2086 # they are several
    own_podman run --rm --network none ${RUN_FLAGS:-} --volume "$folder/work":/work kvdyno "$@"
}
in_container --version
in_container compare lmdb leveldb --records 20k --readers 1 --duration 200ms --repeat 3 --out results
grep -q '<html' "$folder/work/results/report/index.html" || fail "there is no page"
echo "test-image: it is built, compares, and leaves its results in the volume"
