#!/usr/bin/env bash
# Makes targets, each whatever became of those before it, and says at the end which failed and why:
#   stages.sh NAME… ["NAME!"…] ["NAME&"…]
# NAME! is needed by what follows: if it fails, nothing more is made. NAME& is made beside what follows. What each
# printed is in target/gate/NAME.log; one that leaves the names of failed and flaky tests in NAME.failed and NAME.flaky
# beside it is told by those. The last line begins with "green" or "red"; the status is 1 if it is red.
set -u
cd "$(dirname "$0")/.."
folder=target/gate
rm -rf "$folder"
mkdir -p "$folder"
passed=() failed=() unmade=() beside=() flaky=0 ended=

# Lines at the end of a log that are repeated for what failed.
tail_lines=40

# Makes one, and leaves its status and seconds beside its log, because it may run in the background.
make_stage() {
    local name=$1 start=$SECONDS status
    make --no-print-directory "$name" </dev/null 2>&1 | tee "$folder/$name.log"
    status=${PIPESTATUS[0]}
    echo "$status $((SECONDS - start))" >"$folder/$name.status"
}

# Tells how one ended; status 1 if it failed.
judge() {
    local name=$1 status seconds
    read -r status seconds <"$folder/$name.status"
    if [ -s "$folder/$name.flaky" ]; then flaky=$((flaky + $(wc -l <"$folder/$name.flaky"))); fi
    if [ "$status" = 0 ]; then
        passed+=("$name")
        echo "==== $name passed in $seconds s"
    else
        failed+=("$name")
        echo "==== $name failed after $seconds s"
        return 1
    fi
}

for stage in "$@"; do
    name=${stage%[&!]}
    if [ -n "$ended" ]; then
        unmade+=("$name")
    elif [ "$stage" = "$name&" ]; then
        echo "==== $name, beside what follows"
        make_stage "$name" >/dev/null &
        beside+=("$name")
    else
        echo "==== $name"
        make_stage "$name"
        judge "$name" || [ "$stage" = "$name" ] || ended=yes
    fi
done
wait
for name in "${beside[@]}"; do
    echo "==== $name, made beside the others"
    cat "$folder/$name.log"
    judge "$name"
done

for name in "${failed[@]}"; do
    echo
    echo "==== why $name failed; all of it is in $folder/$name.log"
    if [ -s "$folder/$name.failed" ]; then
        sed -n '/^---- failed: /,$p' "$folder/$name.log"
    else
        tail -n "$tail_lines" "$folder/$name.log"
        echo "    alone: make $name"
    fi
done
echo
took="$((SECONDS / 60)) min $((SECONDS % 60)) s"
names() { cut -f 1 "$folder"/*."$1" 2>/dev/null | paste -sd, | sed 's/,/, /g'; }
if [ ${#failed[@]} = 0 ]; then
    echo "green: ${#passed[@]} stages passed in $took; flaky tests: $flaky${flaky:+ $(names flaky)}"
else
    tests=$(names failed)
    echo "red after $took: failed: ${failed[*]}${tests:+ ($tests)}${unmade:+; not made: ${unmade[*]}}; passed:" \
        "${passed[*]:-none}"
    exit 1
fi
