#!/usr/bin/env bash
# --decode-math: values of which each operation is rounded to f16 or bf16. Random specifications and all formats with
# reference data against the oracle, which rounds anew; sums of such values against sums in double precision.
source "$(dirname "$0")/../lib.sh"

mkdir -p "$work/none"
random_spec=$(dirname "$QKGEN")/tests/random_spec
oracle=$(dirname "$QKGEN")/tests/evaluate
export random_spec oracle

# one SEED MATH: a random specification.
one() {
  local seed=$1 math=$2 folder=$work/$1-$2 number=0 name bytes inputs=() files=() log target
  mkdir -p "$folder"
  log=$folder/log
  "$random_spec" "$seed" >"$folder/spec.quant"
  while read -r name bytes; do
    number=$((number + 1))
    "$random_spec" $((seed * 7 + number)) $((bytes * 37)) >"$folder/$name"
    inputs+=(--in "$name=$folder/$name")
    files+=("$folder/$name")
  done < <(sed -n 's/^# buffer //p' "$folder/spec.quant")
  EVALUATE_MATH=$math "$oracle" "$folder/spec.quant" "random_$seed" "$folder/oracle" "${files[@]}"
  for target in $targets; do
    if "$QKGEN" run dequant --formats "$work/none" --spec "$folder/spec.quant" --format "random_$seed" --target "$target" \
      --type f32 --decode-math "$math" "${inputs[@]}" --out "$folder/$target" >"$log" 2>&1 &&
      "$vectors" same f32 "$folder/oracle" "$folder/$target" >"$log" 2>&1; then
      pass
    else
      fail "seed $seed in $math: $target differs from the oracle" "$log"
    fi
  done
  rm -rf "$folder"
}

# known FORMAT MATH: the reference data of a format; values, and sums of 4 rows, or of 2 experts with 2 rows.
known() {
  local format=$1 math=$2 data=$work/$1-$2 spec name files=() target error elements cols
  reference "$format" "$data"
  spec=$SOURCE/formats/${format/affine_*/affine}.quant
  while read -r name _; do files+=("$data/$name"); done < <(buffers "$format")
  EVALUATE_MATH=$math "$oracle" "$spec" "$format" "$data/expected" "${files[@]}"
  if "$vectors" same f32 "$data/expected" "$data/values.f32" >"$data/log" 2>&1; then
    echo "$format $math" >>"$work/same"
  fi
  elements=$("$QKGEN" --dump=layout --format "$format" | sed -nE 's/^block of ([0-9]+) elements.*/\1/p')
  cols=$(($(stat -c %s "$data/expected") / 16 / elements * elements))
  "$vectors" normal 3 $((2 * cols)) >"$data/x"
  "$vectors" product "$data/expected" "$data/x" $cols "$data/sums"
  "$vectors" u32 1 0 >"$data/ids"
  for target in $targets; do
    # shellcheck disable=SC2046
    check "$format in $math on $target" "$QKGEN" run dequant --format "$format" --target "$target" --type f32 \
      --decode-math "$math" $(inputs "$data") --out "$data/got"
    check "$format in $math on $target: all bits" "$vectors" same f32 "$data/got" "$data/expected"
    [ $((cols * 16)) -eq "$(stat -c %s "$data/expected")" ] || continue
    case ${ALL:-}$target-$format in 1* | c-* | *-q4_K | *-mxfp4 | *-affine_b3_g32_f16) ;; *) continue ;; esac # a driver compiles for seconds
    # shellcheck disable=SC2046
    check "gemv $format in $math on $target" "$QKGEN" run gemv --format "$format" --target "$target" --type f32 \
      --decode-math "$math" --rows 4 --cols $cols --batch 2 $(inputs "$data") --x "$data/x" --out "$data/y"
    check "gemv $format in $math on $target: within 2e-6" "$vectors" near 2e-6 "$data/y" "$data/sums"
    "$vectors" experts "$data/expected" "$data/x" "$data/ids" 2 $cols "$data/chosen"
    # shellcheck disable=SC2046
    check "gemv_id $format in $math on $target" "$QKGEN" run gemv_id --format "$format" --target "$target" --type f32 \
      --decode-math "$math" --experts 2 --rows 2 --cols $cols --tokens 2 --slots 1 $(inputs "$data") --x "$data/x" \
      --ids "$data/ids" --out "$data/y"
    check "gemv_id $format in $math on $target: within 2e-6" "$vectors" near 2e-6 "$data/y" "$data/chosen"
  done
  rm -r "$data"
}
export -f one known

for math in f16 bf16; do
  for seed in $(seq 1 "${COUNT:-6}"); do echo "one $seed $math"; done
  for format in q4_0 q4_K q6_K iq2_xs iq4_nl mxfp4 affine_b4_g64_bf16 affine_b6_g64_bf16 affine_b3_g32_f16; do
    case $math-${ALL:-}$format in f16-q4_0 | f16-q6_K | f16-iq2_xs | f16-affine_b[46]*) continue ;; esac # as in bf16
    case ${ALL:-}$format in q6_K | affine_b4_*) continue ;; esac # as q4_K and affine_b6 are
    [ ! -e "$SOURCE/tests/vectors/ggml/$format.blocks" ] && [ ! -e "$SOURCE/tests/vectors/mlx/$format" ] ||
      echo "known $format $math"
  done
done | each
# Its values are powers of two times small integers.
check "rounding shows in all formats but mxfp4" test "$(sort -u "$work/same")" = $'mxfp4 bf16\nmxfp4 f16'

# The kernels of both stand side by side in one program.
for math in f32 bf16; do
  check "emit in $math" "$QKGEN" emit --embed --format q4_0 --decode-math $math --out "$work/both"
done
says "the descriptor tells them apart" 'decode_math = QK_MATH_BF16' "$work/both/q4_0_decode_bf16.c"
check "f32 is what is emitted without the option" "$QKGEN" emit --embed --format q4_0 --out "$work/both" --check
check "both in one library" "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -shared -fPIC -o "$work/both.so" \
  "$work/both/q4_0.c" "$work/both/q4_0_decode_bf16.c"
refuses "another type" "--decode-math must be f32, bf16 or f16, not 'f64'" "$QKGEN" emit --decode-math f64 --out "$work/no"
refuses "another type" "--decode-math must be f32, bf16 or f16, not 'u8'" "$QKGEN" run dequant --format q4_0 --target c \
  --type f32 --decode-math u8 --in /dev/null --out "$work/no"
refuses "a family without format" "unknown option --decode-math" "$QKGEN" run qdq_forward --decode-math bf16
finish
