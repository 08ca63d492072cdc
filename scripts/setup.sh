#!/bin/sh
# Installs what building and testing need and the machine lacks, on Debian and Ubuntu. Elsewhere it says what to
# install, and goes on if everything is there already.
set -eu

cd "$(dirname "$0")/.."

# The one statement of it: the oldest that is promised to build everything, and what CI builds with.
least_rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
packages="gcc g++ make valgrind e2fsprogs xfsprogs btrfs-progs clang-format-19"
packages="$packages liblmdb-dev librocksdb-dev libleveldb-dev libdb5.3-dev libwiredtiger-dev libjemalloc2"
# It fetches the gate's tools (scripts/tools.sh).
python3 -m pip --version >/dev/null 2>&1 || packages="$packages python3-pip"

# WITH_CLIENTS=yes: also the package clients that `kvdyno engines install` calls, and what builds with them. A client
# that is there already, from wherever, stays.
if [ "${WITH_CLIENTS:-no}" = yes ]; then
    packages="$packages cmake"
    command -v npm >/dev/null 2>&1 || packages="$packages npm"
    command -v mvn >/dev/null 2>&1 || packages="$packages maven"
    command -v go >/dev/null 2>&1 || packages="$packages golang-go"
fi

# WITH_GUEST=yes: also what boots the machine of four NUMA nodes (tests/numa).
if [ "${WITH_GUEST:-no}" = yes ]; then
    packages="$packages qemu-system-x86 busybox-static cpio binutils"
fi

# WITH_BROWSER=yes: also what drives a browser over the page (tests/page).
if [ "${WITH_BROWSER:-no}" = yes ]; then
    command -v npm >/dev/null 2>&1 || packages="$packages npm"
    has_browser=no
    for browser in chromium chromium-browser google-chrome; do
        if command -v "$browser" >/dev/null 2>&1; then has_browser=yes; fi
    done
    [ "$has_browser" = yes ] || packages="$packages chromium"
fi

# WITH_OFFICE=yes: also what opens exports (scripts/exports.sh).
if [ "${WITH_OFFICE:-no}" = yes ]; then
    packages="$packages libreoffice-calc"
    python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || packages="$packages python3-venv"
fi

# WITH_SLURM=yes: also a scheduler of batches (tests/slurm).
if [ "${WITH_SLURM:-no}" = yes ]; then
    packages="$packages slurm-wlm munge python3"
fi

# WITH_PACKAGER=yes: also what makes and tries the Debian package (scripts/package.sh).
if [ "${WITH_PACKAGER:-no}" = yes ]; then
    packages="$packages dpkg-dev xz-utils git debootstrap"
fi

# WITH_IMAGES=yes: also what builds and runs images (scripts/test-image.sh).
if [ "${WITH_IMAGES:-no}" = yes ]; then
    packages="$packages podman buildah runc debootstrap"
fi

# WITH_READERS=yes: also what HdrHistogram's readers need (scripts/hlog.sh).
if [ "${WITH_READERS:-no}" = yes ]; then
    command -v npm >/dev/null 2>&1 || packages="$packages npm"
    command -v mvn >/dev/null 2>&1 || packages="$packages maven"
    command -v javac >/dev/null 2>&1 || packages="$packages default-jdk-headless"
    python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || packages="$packages python3-venv"
fi

has_rust() {
    command -v cargo >/dev/null 2>&1 || return 1
    version=$(cargo --version | cut -d ' ' -f 2)
    [ "$(printf '%s\n%s\n' "$least_rust" "$version" | sort -V | head -n 1)" = "$least_rust" ]
}

missing_packages() {
    for package in $packages; do
        status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
        [ "$status" = "install ok installed" ] || printf '%s ' "$package"
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    else
        echo "setup: please run as root: $*" >&2
        exit 1
    fi
}

install_packages() {
    missing=$(missing_packages)
    [ -n "$missing" ] || return 0
    echo "setup: installing $missing"
    as_root apt-get update -qq
    # shellcheck disable=SC2086 # a list of names
    as_root apt-get install -y -qq --no-install-recommends $missing
}

install_rust() {
    if has_rust; then
        return 0
    fi
    if ! command -v rustup >/dev/null 2>&1; then
        as_root apt-get update -qq
        # Debian 13 and Ubuntu 24.04 have it; before them there is only Rust's own installer.
        as_root apt-get install -y -qq --no-install-recommends rustup || {
            echo "setup: Rust $least_rust or newer is needed, and this system has no package of it." >&2
            echo "setup: install it as https://www.rust-lang.org/tools/install says, then come back." >&2
            exit 1
        }
    fi
    rustup toolchain install "$least_rust" --profile minimal --component clippy --component rustfmt
    rustup default "$least_rust"
}

if command -v apt-get >/dev/null 2>&1; then
    install_packages
    install_rust
else
    echo "setup: this is not Debian or Ubuntu. Needed: Rust $least_rust or newer with clippy and rustfmt, a C and a C++"
    echo "setup: compiler, make, valgrind, and libraries with headers of LMDB, Berkeley DB 5.3 and WiredTiger 3.2;"
    echo "setup: LevelDB and RocksDB are loaded when they are measured, and need no headers."
    has_rust || { echo "setup: there is no Rust $least_rust or newer here" >&2; exit 1; }
fi
