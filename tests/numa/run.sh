#!/bin/sh
# Boots a machine of four NUMA nodes in QEMU, lets kvdyno set every environment in it, and leaves the results in OUT.
# Usage: run.sh KVDYNO ENGINES OUT, where KVDYNO is the program and ENGINES the folder of adapters.
# ACCEL=kvm: with the processor's help instead of an emulated one. PATIENCE: seconds until it is given up.
set -eu

kvdyno=$1
engines=$2
out=$3
here=$(cd "$(dirname "$0")" && pwd)
accel=${ACCEL:-tcg}
patience=${PATIENCE:-900}

say() { echo "test-numa: $*" >&2; }
fail() { say "$*"; exit 1; }

[ "$(uname -m)" = x86_64 ] || fail "the guest is an x86-64, and so must this machine be"
for tool in qemu-system-x86_64 busybox cpio dpkg apt-get; do
    command -v "$tool" >/dev/null || fail "$tool is not here (WITH_GUEST=yes scripts/setup.sh installs it)"
done

# Debian's kernel for virtual machines, unpacked and not installed.
bring_kernel() {
    ls "$out"/kernel/boot/vmlinuz-* >/dev/null 2>&1 && return 0
    package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' |
        head -n 1)
    [ -n "$package" ] || fail "apt knows no linux-image-cloud-amd64: this needs Debian's packages"
    say "fetching $package"
    mkdir -p "$out/package"
    chmod 777 "$out/package"    # apt fetches as a user of its own
    (cd "$out/package" && apt-get download -qq "$package")
    dpkg -x "$out"/package/*.deb "$out/kernel"
    rm -r "$out/package"
}

# A library to the path where this machine has it.
put() {
    mkdir -p "$root$(dirname "$1")"
    [ -e "$root$1" ] || cp -L "$1" "$root$1"
}

# What a program or library is linked against, and what loads it.
put_needed() {
    for library in $(ldd "$1" | grep -o '/[^ ]*' | grep -v :); do
        put "$library"
    done
}

make_root() {
    root=$out/root
    rm -rf "$root"
    mkdir -p "$root/bin" "$root/engines"
    cp "$(command -v busybox)" "$root/bin/busybox"
    strip -o "$root/bin/kvdyno" "$kvdyno"
    put_needed "$kvdyno"
    for engine in lmdb bdb; do
        cp "$engines/libkvdyno_$engine.so" "$root/engines/"
        put_needed "$engines/libkvdyno_$engine.so"
    done
    # Libraries that adapters load when they are needed.
    for library in liblmdb.so.0 libdb-5.3.so; do
        path=$(/sbin/ldconfig -p | sed -n "s|.*$library .*=> ||p" | head -n 1)
        [ -n "$path" ] || fail "$library is not here: make setup installs it"
        put "$path"
        put_needed "$path"
    done
    cp "$here/environments.toml" "$here/limited.toml" "$root/"
    install -m 755 "$here/init" "$root/init"
    install -m 755 "$here/systemd-run" "$root/bin/systemd-run"
    (cd "$root" && find . | cpio --quiet -o -H newc -R 0:0 | gzip -1) > "$out/initramfs"
}

# Four sockets of one core with two threads, 256 MiB each, at distances of 10, 16 and 22 as a ring has them.
nodes() {
    for node in 0 1 2 3; do
        echo "-object memory-backend-ram,id=memory$node,size=256M"
        echo "-numa node,nodeid=$node,cpus=$((2 * node))-$((2 * node + 1)),memdev=memory$node"
    done
    for node in 0 1 2 3; do
        for other in 0 1 2 3; do
            case $(((node - other + 4) % 4)) in
                0) distance=10 ;;
                2) distance=22 ;;
                *) distance=16 ;;
            esac
            echo "-numa dist,src=$node,dst=$other,val=$distance"
        done
    done
}

# Nehalem: an Intel, whose cores can have two threads. The timer's check fails where the emulator is starved. Without
# huge pages, 2 MiB at once, so that little memory is spread as evenly as much.
boot() {
    say "booting (it takes some minutes without KVM); what it prints is in $out/console"
    # shellcheck disable=SC2046 # a list of options
    timeout "$patience" qemu-system-x86_64 -accel "$accel" -cpu Nehalem -m 1G -smp 8,sockets=4,cores=1,threads=2 \
        $(nodes) \
        -kernel "$out"/kernel/boot/vmlinuz-* -initrd "$out/initramfs" \
        -append 'console=ttyS0 quiet panic=-1 no_timer_check transparent_hugepage=never' -no-reboot \
        -nodefaults -display none -monitor none \
        -serial "file:$out/console" -serial "file:$out/results.tar" ||
        { tail -n 20 "$out/console" >&2; fail "QEMU ended with an error, or took more than $patience s"; }
}

mkdir -p "$out"
bring_kernel
make_root
rm -rf "$out/results" "$out/results.tar"
boot
mkdir "$out/results"
tar -x -C "$out/results" -f "$out/results.tar" || { tail -n 20 "$out/console" >&2; fail "the guest sent no results"; }
say "its results are in $out/results"
