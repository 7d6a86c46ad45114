#!/usr/bin/env bash
# Our kernels under the names and with the arguments of ggml's Metal backend (integrations/ggml-metal), written into a stand-in for its
# text (tests/ggml_metal) and judged there. With GGML, a checkout, the same with all of ggml's own text.
source "$(dirname "$0")/../lib.sh"
make=$SOURCE/integrations/ggml-metal/make.sh
stand_in=$SOURCE/tests/ggml_metal

check "writes the text" "$make" "$stand_in" "$work/text"
text=$work/text/ggml-metal.metal
for name in mul_mv_q4_K_f32 mul_mv_q8_0_f32 mul_mv_id_q4_K_f32 mul_mv_id_q8_0_f32 get_rows_q4_K get_rows_q8_0; do
  check "kernel_$name is ours" test "$(grep -c "host_name(\"kernel_$name\")" "$text")" = 1
  says "ggml's own kernel_$name has another name" "(host_name\(\"|kernel void )ggml_kernel_$name\b" "$text"
done
says "the headers stand in it" '^struct ggml_metal_kargs_get_rows' "$text"
check "and are not included" bash -c "! grep -q '#include \"' '$text'"
check "one type" "$make" "$stand_in" "$work/one" q8_0
check "the other stays" bash -c "! grep -q ggml_kernel_get_rows_q4_K '$work/one/ggml-metal.metal'"

refuses "no checkout" 'holds neither src/ggml-metal/ggml-metal.metal nor' "$make" "$work" "$work/none"
refuses "a type that is not there" 'has no kernel kernel_mul_mv_q4_0_f32; leave its type out' "$make" "$stand_in" "$work/none" q4_0
check "nothing is left of that" test ! -e "$work/none"

case $targets in
*msl*)
  judge=$SOURCE/integrations/ggml-metal/judge.sh
  check "our kernels are right" env QUICK=1 "$judge" "$text" q4_K
  check "simdgroups share rows" env QUICK=1 ONLY=mul_mv "$judge" "$text" q8_0
  # What the judge says of kernels that compute nothing, or the wrong thing.
  check "ggml's names are judged, too" bash -c "! QUICK=1 ONLY=get_rows '$judge' '$text' --theirs q8_0"
  sed 's/args.nb01/(args.nb01 + args.nb10)/' "$text" >"$work/wrong.metal"
  check "a stride that is wrong is found" bash -c "! QUICK=1 ONLY=get_rows '$judge' '$work/wrong.metal' q4_K"
  ;;
*) echo "left out: judging; there is no executor of Metal text" ;;
esac
if [ -n "${GGML:-}" ]; then
  check "writes all of ggml's text" "$make" "$GGML" "$work/ggml"
  check "all of our kernels are right" env QUICK=1 "$SOURCE/integrations/ggml-metal/judge.sh" "$work/ggml/ggml-metal.metal"
fi
finish
