#!/usr/bin/env bash
# Rows that are loaded ahead: kernels of every format that has them, on this machine's device, which says by itself that it would
# rather not; against the values of the specification.
source "$(dirname "$0")/../lib.sh"

check "emits sums of all formats" "$QKGEN" emit --family gemv --api vulkan --out "$work/out"

# having ENDING: the formats whose kernel of that ending can, with commas.
having() { (cd "$work/out" && ls ./*/*"_gemv_$1.comp") | sed -E 's|^\./([^/]*)/.*|\1|' | paste -sd,; }
floats=$(having ahead) integers=$(having int8_ahead)
check "scattered weights of each kind" test "$(tr , '\n' <<<"$integers" | grep -cxE 'q[1-6]_[0K]|tq2_0|iq[23]_s')" -ge 10
check "in floats those of four bits and more" test "$(tr , '\n' <<<"$floats" | grep -cxE 'q[4-8]_[01K]')" -ge 6

# half FORMATS: every second, and with ALL=1 each: a driver compiles for seconds.
half() { if [ -n "${ALL:-}" ]; then echo "$1"; else tr , '\n' <<<"$1" | awk 'NR % 2' | paste -sd,; fi; }

# bench NAME FORMATS CLASSES OPTION...: all of them are right.
bench() {
  local name=$1 formats=$2 classes=$3
  shift 3
  "$QKGEN" bench gemv --quick --samples 1 --format "$formats" --class "$classes" --constant schedule=3 "$@" >"$work/$name.txt" 2>&1 ||
    fail "$name" "$work/$name.txt"
  check "$name: a line for each" test "$(grep -c ' gemv ' "$work/$name.txt")" -eq $(($(tr , '\n' <<<"$formats" | wc -l) * $(tr , '\n' <<<"$classes" | wc -l)))
}
# Four subgroups of eight lanes share rows of 2048 elements; eight of those of a larger workgroup, which has two teams, rows whose
# last two slices are missing.
bench exact "$(half "$floats")" exact --rows 29 --cols 2048
bench split "$(half "$integers")" split --rows 29 --cols 2048
# Those of which one has segments in joined blocks, which no other schedule has.
bench int8 q3_K,tq1_0 int8 --rows 29 --cols 2048 --type f16
bench missing q6_K,q8_0 exact --rows 29 --cols 3072 --constant local_size_x=128 --workgroups 2

# Those kernels, and no others, are asked: one that is wrong there is found.
cp -r "$SOURCE/templates" "$SOURCE/formats" "$work/"
sed -i 's/finish(m, to, total);/finish(m, to, total * 1.0001);/' "$work/templates/gemv_ahead.comp"
check "kernels that are wrong" test "$(diff "$SOURCE/templates/gemv_ahead.comp" "$work/templates/gemv_ahead.comp" | grep -c '^>')" -eq 1
refuses "it is found" "1 of 1 results are wrong" \
  "$QKGEN" bench gemv --quick --samples 1 --data "$work" --format q4_0 --rows 29 --cols 2048 --constant schedule=3
check "it is not run where rows are not loaded ahead" \
  "$QKGEN" bench gemv --quick --samples 1 --data "$work" --format q4_0 --rows 29 --cols 2048 --constant schedule=2
finish
