#!/usr/bin/env bash
# For `ctest -L quick`: a format of each kind through dequant, gather and gemv, in C and on Vulkan, against the values of the
# libraries; and their kernels in out/. Other scripts do all of that with every format and target.
source "$(dirname "$0")/../lib.sh"

# one FORMAT CLASS BOUND...: five rows of three blocks, or more of them.
one() {
  local format=$1 sum=$2 data=$work/$1 elements cols name size target class
  shift 2
  elements=$("$QKGEN" --dump=layout --format "$format" | sed -nE 's/^block of ([0-9]+) elements.*/\1/p')
  cols=$((3 * elements))
  reference "$format" "$data"
  while read -r name size _; do truncate -s $((size * 15)) "$data/$name"; done < <(buffers "$format")
  truncate -s $((5 * cols * 4)) "$data/values.f32"
  "$vectors" u32 4 0 5 2 2 >"$data/indices"
  "$vectors" round f16 "$data/values.f32" "$data/rounded"
  "$vectors" rows $((cols * 2)) "$data/rounded" "$data/indices" "$data/gathered"
  "$vectors" normal 5 "$cols" >"$data/x"
  "$vectors" product "$data/values.f32" "$data/x" "$cols" "$data/product"
  for target in c vulkan; do
    # shellcheck disable=SC2046
    run() { "$QKGEN" run "$1" --format "$format" --target $target $(inputs "$data") --out "$data/out" "${@:2}"; }
    check "dequant $format on $target" run dequant --type f32
    check "dequant $format on $target: other values" "$vectors" same f32 "$data/out" "$data/values.f32"
    check "gather $format on $target" run gather --type f16 --rows 5 --cols $cols --indices "$data/indices"
    check "gather $format on $target: other values" "$vectors" same f16 "$data/out" "$data/gathered"
    class=exact
    [ $target = c ] || class=$sum
    check "gemv $format on $target" run gemv --type f32 --rows 5 --cols $cols --x "$data/x" --class $class
    check "gemv $format on $target: outside of the bound" "$vectors" "$@" "$data/out" "$data/product"
  done
}
export -f one
each <<'END'
one q4_0 split near_random 1e-4
one q6_K exact near 2e-6
one iq2_xxs exact near 2e-6
one affine_b3_g64_bf16 int8 near_random 1e-2
END
check "kernels in out/" "$QKGEN" emit --check --format q4_0 --format q6_K --format affine_b3_g64_bf16 --out "$SOURCE/out"
finish
