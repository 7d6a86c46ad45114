#!/usr/bin/env bash
# Every f16 and every bf16 number read, and numbers at, between and beside all of them written: formats whose elements are
# plain numbers show nothing but the conversions. Only the payload of a NaN may differ.
source "$(dirname "$0")/../lib.sh"

# converts TYPE FILE EXPECTED_F32
converts() {
  local type=$1 file=$2 values=$3 to target
  cat >"$work/plain_$type.quant" <<END
format plain_$type "numbers as they are"
block 1 { x: $type }
value = x
END
  for to in f32 f16 bf16; do
    "$vectors" round $to "$values" "$work/expected"
    for target in $targets; do
      check "run $type to $to on $target" "$QKGEN" run dequant --spec "$work/plain_$type.quant" --format "plain_$type" \
        --target $target --type $to --in "$file" --out "$work/got"
      check "$type to $to on $target" "$vectors" same $to "$work/got" "$work/expected"
    done
  done
}

"$vectors" halves >"$work/halves"
"$vectors" ties >"$work/ties"
check "the number of ties" test "$(wc -c <"$work/ties")" -eq $((65536 * 8 * 4))
converts f32 "$work/ties" "$work/ties"
for type in f16 bf16; do
  "$vectors" widen $type "$work/halves" "$work/wide"
  converts $type "$work/halves" "$work/wide"
done
finish
