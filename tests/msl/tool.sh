#!/bin/sh
# qkgen-msl as a user calls it: the list, a run that is right, one that is wrong, and wrong requests.
set -eu
msl=${SOURCE:?}/tests/msl
cd "$BUILD"
fail() {
    echo "failed: $*"
    exit 1
}

"$QKGEN_MSL" "$msl/signature.metal" --list > list
grep -q '^scale_bf16 (line ' list || fail "an instantiation is listed by its host name"
grep -q '^    buffer(0) from: device const metal::bfloat = bf16, 2 bytes, any number$' list || fail "with the types of its arguments"
grep -q '^        +16 tokens: unsigned int = u32, 4 bytes$' list || fail "and the fields of its structs"
grep -q '^function constant 7: factor, ' list || fail "function constants are listed"

printf 'abcdefg' > seven
"$QKGEN_MSL" "$msl/faults.metal" --kernel copy_bytes --groups 1 --group 32 --buffer 0=seven --zeros 1=7 --u32 2=7 --out 1=copy
cmp seven copy || fail "copy_bytes copies"
[ "$("$QKGEN_MSL" "$msl/signature.metal" --kernel constants --constant 7=5 --constant 0=true --i32 0=11 --zeros 1=4 --print 1=i32)" = 111 ] || fail "function constants"
[ "$("$QKGEN_MSL" "$msl/signature.metal" --kernel scale_f32 --grid 3 --group 2 --f32 0=1,2,3 --zeros 1=12 --f32 2=0.5 --print 1=f32)" = "1.5 2 2.5" ] || fail "--grid"

status=0
"$QKGEN_MSL" "$msl/faults.metal" --kernel copy_bytes --groups 1 --group 32 --buffer 0=seven --zeros 1=6 --u32 2=7 --out 1=not 2> error || status=$?
[ $status = 1 ] || fail "a fault ends with 1, not $status"
grep -q 'faults.metal:[0-9]*: copy_bytes: write of 1 byte outside .*byte 6 of to (\[\[buffer(1)\]\]), which has 6 bytes' error || fail "$(cat error)"
[ ! -e not ] || fail "no output after a fault"
status=0
"$QKGEN_MSL" "$msl/faults.metal" --kernel none 2> error || status=$?
[ $status = 2 ] || fail "a wrong request ends with 2, not $status"
status=0
"$QKGEN_MSL" "$msl/faults.metal" --kernel divergent --group 64 --order random:3 --zeros 0=256 2> error || status=$?
[ $status = 1 ] || fail "a divergent barrier ends with 1, not $status"
echo "tool: all as expected"
