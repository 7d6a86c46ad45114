#!/usr/bin/env bash
# The matrices of tests/vectors/more, which code of other projects wrote or a model of ours from their words (its README says which): f32
# byte for byte with every target, f16 rounded once, rows by index, and sums. Of formats that differ in the group or the type of the scales,
# one is taken through all of that on Vulkan, and the others are decoded; Metal, whose compiler takes seconds, decodes each width. With
# ALL=1 each does everything.
source "$(dirname "$0")/../lib.sh"

# one FORMAT: the folder has a file for each buffer, which may be packed, or `blocks`; `values.f32.gz`; and `shape`, rows and columns.
one() {
  local format=$1 data=$SOURCE/tests/vectors/more/$1 out=$work/$1 rows cols path name inputs=() target all at runs=0
  mkdir "$out"
  read -r rows cols <"$data/shape"
  for path in "$data"/*; do
    case ${path##*/} in
      blocks) inputs=(--in "$path") ;;
      values.f32.gz | shape) ;;
      *.gz) # a large table, of which little is used
        name=${path##*/} name=${name%.gz}
        gzip -dc "$path" >"$out/$name"
        inputs+=(--in "$name=$out/$name")
        ;;
      *) inputs+=(--in "${path##*/}=$path") ;;
    esac
  done
  gzip -dc "$data/values.f32.gz" >"$out/values.f32"
  # run FAMILY OPTION...: later, and then that it was good; `at` is what it writes.
  run() {
    at=$out/$target-$((++runs))
    later "$1" --format "$format" --target "$target" --rows "$rows" --cols "$cols" "${inputs[@]}" --out "$at" "${@:2}"
    afterwards ran_well "$number" "$format on $target: ${*:1:3} failed"
  }
  "$vectors" round f16 "$out/values.f32" "$out/rounded"
  "$vectors" u32 $((rows - 1)) 0 1 1 "$rows" >"$out/indices"
  "$vectors" rows $((cols * 2)) "$out/rounded" "$out/indices" "$out/gathered"
  "$vectors" normal 5 "$cols" >"$out/x"
  "$vectors" product "$out/values.f32" "$out/x" "$cols" "$out/product"
  for target in $targets; do
    all=yes
    case ${ALL:-}$target-$format in
      1* | c-*) ;;
      msl-*) all=no ;; # a compiler for seconds each; the decoder is the same text
      *-onnx_b4_g32_f16 | *-onnx_b2_g128_zp | *-onnx_b4_g32_fzp | *-i4_g64_f32) ;;
      *-onnx_* | *-i4_g*) all=no ;;
      *-q[56]_k_r4 | *-iq[35]_k_r4 | *-iq2_xs_r4 | *-iq3_xxs_r4 | *-coreml_lut[68]* | *-nunchaku_*_bf16) all=no ;; # as their siblings
    esac
    case ${ALL:-}$target-$format in msl-onnx_*_g16_* | msl-onnx_*_g64_* | msl-onnx_*_g128_f* | msl-i4_g32_* | msl-i4_g128_*) continue ;; esac
    run dequant --type f32
    afterwards check "$format on $target: other bytes" cmp "$at" "$out/values.f32"
    [ "$all" = yes ] || continue
    run dequant --type f16
    afterwards check "$format on $target: other f16" "$vectors" same f16 "$at" "$out/rounded"
    run gather --type f16 --indices "$out/indices"
    afterwards check "$format on $target: other rows" "$vectors" same f16 "$at" "$out/gathered"
    run gemv --type f32 --x "$out/x" --class exact
    afterwards check "$format on $target: sums outside of the bound" "$vectors" near 2e-6 "$at" "$out/product"
  done
  afterwards rm -r "$out"
}
export -f one

# more_formats.sh FORMAT...: these alone.
if [ $# -gt 0 ]; then printf 'one %s\n' "$@"; else more | sed 's/^/one /'; fi | batches 8
finish
