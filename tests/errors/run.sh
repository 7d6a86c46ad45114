#!/bin/sh
# Checks every wrong specification of this folder against the diagnostics that are expected of it.
#   run.sh [QKGEN]
# Each NAME.quant must make `QKGEN check NAME.quant` exit with 1 and write exactly NAME.err to standard error. Without
# an argument, the environment's QKGEN is the command.
qkgen=${1:-$QKGEN}
if [ -z "$qkgen" ]; then
    echo "usage: run.sh QKGEN" >&2
    exit 2
fi
case $qkgen in
    */*) qkgen=$(cd "$(dirname "$qkgen")" && pwd)/$(basename "$qkgen") ;;
esac
cd "$(dirname "$0")" || exit 2

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

passed=0
failed=0
for spec in *.quant; do
    name=${spec%.quant}
    NO_COLOR=1 "$qkgen" check "$spec" >"$work/out" 2>"$work/err"
    status=$?
    if [ $status -ne 1 ]; then
        echo "$spec: exit status $status, expected 1"
        cat "$work/err"
        failed=$((failed + 1))
    elif ! diff -u "$name.err" "$work/err" >"$work/diff" 2>&1; then
        echo "$spec: other diagnostics than expected"
        cat "$work/diff"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
