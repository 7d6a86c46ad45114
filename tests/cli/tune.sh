#!/usr/bin/env bash
# `qkgen tune` on this machine's device, and what `bench` and `run` do with the file: the same results, other constants.
source "$(dirname "$0")/../lib.sh"

"$QKGEN" tune gemv,dequant --format q4_0 --shape 8x256x1,4x256x2 --without local_size_x,split=8,split=4,rows=8,shared_fours --out "$work/t.txt" \
  >"$work/log" 2>&1 || fail "tune fails" "$work/log"
says "the head" '^qkgen-tuning 1$' "$work/t.txt"
says "the device" '^device .' "$work/t.txt"
says "a line for one vector" '^q4_0_gemv_f32 +8x256x1 [a-z]' "$work/t.txt"
says "a line for two" '^q4_0_gemv_f32 +4x256x2 [a-z]' "$work/t.txt"
says "a line for a decoder" '^q4_0_dequant_f32 +1x2048x1 default' "$work/t.txt"
check "and no more" test "$(grep -c '^q4_0' "$work/t.txt")" -eq 3
if grep -qE 'local_size_x|split=[48]' "$work/t.txt"; then fail "--without" "$work/t.txt"; else pass; fi
check "bench takes it" "$QKGEN" bench gemv,dequant --quick --samples 1 --format q4_0 --rows 8 --cols 256 --batch 1,2 --tuning "$work/t.txt"

# What takes more memory than workgroups share is passed over, and the search goes on.
check "tune over memory" "$QKGEN" tune gemv --format q4_0 --shape 8x256x1 \
  --without local_size_x,split,rows,schedule,shared_fours,workgroups --out "$work/m.txt"
says "a line" '^q4_0_gemv_f32 +8x256x1 ' "$work/m.txt"

# With any constants, results are the same up to the class.
elements=$((8 * 64))
reference q4_0 "$work/q4_0"
head -c $((elements / 32 * 18)) "$work/q4_0/blocks" >"$work/blocks"
head -c $((elements * 4)) "$work/q4_0/values.f32" >"$work/values"
"$vectors" normal 3 64 >"$work/x"
"$vectors" product "$work/values" "$work/x" 64 "$work/expected"
device=$(sed -n 's/^device //p' "$work/t.txt")
run=("$QKGEN" run gemv --format q4_0 --rows 8 --cols 64 --target vulkan --type f32 --in "$work/blocks" --x "$work/x" --out "$work/y")
{
  echo default
  printf 'rows=%s\n' 1 2 8
  echo "split=4 workgroups=1"
  echo "local_size_x=256 rows=1 split=8"
} | while read -r constants; do
  printf 'qkgen-tuning 1\ndevice %s\nq4_0_gemv_f32 1x1x1 %s\n' "$device" "$constants" >"$work/u.txt"
  check "run with $constants" "${run[@]}" --tuning "$work/u.txt"
  check "the result with $constants" "$vectors" near 2e-6 "$work/y" "$work/expected"
done

# Tables that a workgroup makes, x that is passed on, and turns: FORMAT, its block's elements and bytes, class and constants. Rows are
# of two blocks, for some formats are loaded 16 bytes at a time in pairs. Teams have three vectors.
while read -r format block bytes class constants; do
  reference "$format" "$work/$format"
  head -c $((8 * bytes)) "$work/$format/blocks" >"$work/own.blocks"
  head -c $((8 * block * 4)) "$work/$format/values.f32" >"$work/own.values"
  batch=1
  [[ $constants != schedule=5* ]] || batch=3
  "$vectors" normal 3 $((batch * 2 * block)) >"$work/own.x"
  "$vectors" product "$work/own.values" "$work/own.x" $((2 * block)) "$work/own.expected"
  kernel=${format}_gemv_${class}_f32
  [ "$class" != exact ] || kernel=${format}_gemv_f32
  printf 'qkgen-tuning 1\ndevice %s\n%s 1x1x%s %s\n' "$device" "$kernel" $batch "$constants" >"$work/u.txt"
  check "run $format with $constants" "$QKGEN" run gemv --format "$format" --class $class --rows 4 --cols $((2 * block)) \
    --target vulkan --type f32 --batch $batch \
    --in "$work/own.blocks" --x "$work/own.x" --out "$work/own.y" --tuning "$work/u.txt"
  check "the result of $format with $constants" "$vectors" near 2e-6 "$work/own.y" "$work/own.expected"
done <<'END'
iq4_nl 32 18 int24 copies=1
iq4_nl 32 18 int24 copies=8 local_size_x=256
iq4_nl 32 18 int24 copies=4 staged=512
iq4_xs 256 136 int24 copies=16 rows=1
iq3_xxs 256 98 int24 table_copies=2 rows=2
iq2_xxs 256 66 int24 table_copies=8 local_size_x=256
iq1_s 256 50 int24 table_copies=1
q3_K 256 110 exact schedule=2 turns=4
iq4_xs 256 136 exact schedule=2 turns=4 copies=16
q5_K 256 176 exact schedule=2 turns=4 rows=2
q6_K 256 210 exact schedule=2 turns=4 local_size_x=256
q4_0 32 18 exact schedule=5 turns=4 rows=2
q4_1 32 20 exact schedule=5 turns=4 rows=1
q8_0 32 34 exact schedule=5 turns=4
mxfp4 32 17 exact schedule=5 turns=4 rows=2
q2_K 256 84 exact schedule=5 turns=4 rows=2
q4_K 256 144 exact schedule=5 turns=4 split=8
q5_K 256 176 exact schedule=5 turns=4 rows=2
q6_K 256 210 exact schedule=5 turns=4 rows=2
iq4_xs 256 136 exact schedule=5 turns=4
q4_0 32 18 int24 schedule=5 turns=4 rows=2
q4_1 32 20 int24 schedule=5 turns=4 rows=1
q8_0 32 34 int24 schedule=5 turns=4
mxfp4 32 17 int24 schedule=5 turns=4 rows=2
q2_K 256 84 int24 schedule=5 turns=4 rows=2
q4_K 256 144 int24 schedule=5 turns=4 split=8
q5_K 256 176 int24 schedule=5 turns=4 rows=2
q6_K 256 210 int24 schedule=5 turns=4 rows=2
q3_K 256 110 int24 schedule=5 turns=4
iq4_xs 256 136 int24 schedule=5 turns=4
END

for file in "$SOURCE"/bench/tuning/*.txt; do
  sed "s/^device .*/device $device/" "$file" >"$work/u.txt"
  check "$(basename "$file") is a tuning" "$QKGEN" bench dequant --quick --samples 1 --format q8_0 --rows 1 --cols 32 --tuning "$work/u.txt"
done

# ---- what it refuses ----

rm -f "$work/y"
printf 'qkgen-tuning 1\ndevice Some GPU\n' >"$work/u.txt"
refuses "another device" "u.txt:2: measured on 'Some GPU', but this device is '" "${run[@]}" --tuning "$work/u.txt"
refuses "another device, of bench" "u.txt:2: measured on 'Some GPU'" \
  "$QKGEN" bench gemv --format q4_0 --rows 8 --cols 256 --tuning "$work/u.txt"
printf 'qkgen-tuning 1\ndevice %s\nq4_0_gemv_f32 1x1x1 rows=3\n' "$device" >"$work/u.txt"
refuses "a value" "line 3 of the tuning sets rows to 3, which is none of its legal values" "${run[@]}" --tuning "$work/u.txt"
refuses "a file that is not there" "cannot read .*none.txt" "${run[@]}" --tuning "$work/none.txt"
refuses "a target without constants" "tuning is for --target vulkan" "${run[@]}" --target c --tuning "$work/u.txt"
check "nothing is written" test ! -e "$work/y"
refuses "no shape" "tune needs kernel families, --format, --shape and --out" "$QKGEN" tune gemv --format q4_0 --out "$work/n"
refuses "a wrong shape" "--shape must be ROWSxCOLS or ROWSxCOLSxBATCH" "$QKGEN" tune gemv --format q4_0 --shape 8 --out "$work/n"
refuses "a shape that does not fit" "q4_0 has no tensor of 8x33; its blocks are 1 x 32" \
  "$QKGEN" tune gemv --format q4_0 --shape 8x33 --out "$work/n"
check "nothing is written by tune" test ! -e "$work/n"
finish
