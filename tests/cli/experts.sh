#!/usr/bin/env bash
# Experts in formats whose blocks are patches of a matrix, each with buffers of its own one after the other in the files: tables and scales
# of a tensor, words along the columns, an index. What gemv_id makes of them is what gemv makes of each expert alone: the bits of the
# reference, and near to them on other targets; and on this machine's device, of cases drawn at random, near to double precision.
source "$(dirname "$0")/../lib.sh"
rows=32 cols=128 experts=3
export rows cols experts

# halves SEED COUNT: f16, normally distributed; leaves files where it is called.
halves() {
  "$vectors" normal "$1" "$2" >floats
  "$vectors" round f16 floats halves
  cat halves
}

# buffer KIND SEED BYTES: to standard output.
buffer() {
  case $1 in
    bytes) "$vectors" random "$2" "$3" ;;
    f32) "$vectors" normal "$2" $(($3 / 4)) ;;
    f16) halves "$2" $(($3 / 2)) ;;
  esac
}

# one FORMAT NAME:KIND:BYTES...: each buffer of one expert.
one() {
  local format=$1 target error e spec name kind bytes inputs=() own
  shift
  mkdir "$work/$format" && cd "$work/$format" || return
  for ((e = 0; e < experts; e++)); do
    own=()
    for spec; do
      IFS=: read -r name kind bytes <<<"$spec"
      buffer "$kind" $((e * 100 + ${#name} + bytes)) "$bytes" >"$name.$e"
      cat "$name.$e" >>"$name"
      own+=(--in "$name=$name.$e")
    done
    "$QKGEN" run dequant --format "$format" --target c --type f32 --rows $rows --cols $cols "${own[@]}" --out values.$e 2>log ||
      fail "an expert of $format" log
    cat values.$e >>values
  done
  for spec; do inputs+=(--in "${spec%%:*}=${spec%%:*}"); done
  "$vectors" normal 11 $((2 * cols)) >x
  "$vectors" u32 2 0 1 9 >ids
  "$vectors" experts values x ids $rows $cols expected
  local shape=(--type f32 --rows $rows --cols $cols --experts $experts --slots 2 --tokens 2 --ids ids --x x)
  for target in $targets; do
    "$QKGEN" run gemv_id --format "$format" --target "$target" "${shape[@]}" "${inputs[@]}" --class exact --out y >log 2>&1 ||
      fail "gemv_id of $format on $target" log
    error=$("$vectors" near 2e-6 y expected) && pass || fail "experts of $format on $target: error $error"
  done
  # Two sets of two, of which the second begins an expert further on: in order, in results and in weights.
  "$vectors" u32 1 0 1 9 >ids2
  head -c $((8 * rows * cols)) values >values0
  tail -c $((8 * rows * cols)) values >values1
  for e in 0 1; do "$vectors" experts values$e x ids2 $rows $cols expected$e; done
  { head -qc $((32 * rows)) expected0 expected1 && tail -qc $((32 * rows)) expected0 expected1; } >expected2
  shape=(--type f32 --rows $rows --cols $cols --experts 2 --slots 2 --tokens 2 --ids ids2 --x x --views sets=2,weights_set_stride=$rows)
  for target in $targets; do
    "$QKGEN" run gemv_id --format "$format" --target "$target" "${shape[@]}" "${inputs[@]}" --class exact --out y >log 2>&1 ||
      fail "sets of $format on $target" log
    error=$("$vectors" near 2e-6 y expected2) && pass || fail "sets of experts of $format on $target: error $error"
  done
  shape=(--type f32 --rows $rows --cols $cols --experts $experts --slots 2 --tokens 2 --ids ids --x x)
  if [[ $targets == *vulkan* ]] && "$QKGEN" run gemm_id --format "$format" --target vulkan "${shape[@]}" "${inputs[@]}" --out y >log 2>&1; then
    error=$("$vectors" near 2e-3 y expected) && pass || fail "tiles of experts of $format: error $error"
  fi
  name=${1%%:*}
  head -c -1 "$name" >short
  refuses "a buffer of $format that is too short" "short holds .* but 3 experts of 32 x 128 in $format have" \
    "$QKGEN" run gemv_id --format "$format" --target c "${shape[@]}" "${inputs[@]/#$name=$name/$name=short}" --out y
}
export -f halves buffer one

{
  echo one squeezellm_b4 qweight:bytes:2048 lookup_table:f32:2048
  echo one aqlm_2x8_g8 codes:bytes:1024 codebook0:f16:4096 codebook1:f16:4096 scales:f16:64
  echo one vptq_v8_k65536_256 packed:bytes:1536 centroids:f16:1048576 res_centroids:f16:4096 weight_scale:f16:256 weight_bias:f16:256
} | each

# Of whole patches too, and on this machine's device alone: results that end within a tile, and ids that are none.
if [[ $targets == *vulkan* ]]; then
  "$QKGEN" bench gemv_id --quick --samples 1 --format marlin_b4_g128,i2_s,iq4_ks --rows 128 --cols 512 --batch 3 \
    --experts 5 --slots 2 >"$work/bench.txt" 2>&1 || fail "patches" "$work/bench.txt"
  "$QKGEN" bench gemm,gemm_id --quick --samples 1 --format squeezellm_b3,iq2_kl --rows 40 --cols 512 --batch 9 \
    --experts 3 --slots 2 >>"$work/bench.txt" 2>&1 || fail "tiles of patches" "$work/bench.txt"
  check "all of them" test "$(grep -cE ' (gemv_id|gemm|gemm_id) ' "$work/bench.txt")" -eq 7
  case=(type=f32 rows=8 cols=512 experts=6 slots=3 batch=5 seed=7 offset=1 padding=32 weights=random parts=3)
  for more in 'format=iq3_ks family=gemv_id class=exact x=gaussian' 'format=squeezellm_b4 family=gemv_id class=exact x=infinite' \
    'format=iq4_kss family=gemm_id class=mma x=outliers epilogue=30' 'format=iq4_ks family=gemv_id class=int8 x=gaussian x_slots=3'; do
    check "by hand: $more" "$QKGEN" soak --case "${case[*]} $more"
  done
  # So short that a subgroup of eight lanes has several rows at once.
  check "short rows" "$QKGEN" soak --case \
    'format=q4_0 family=gemv_id class=exact type=f32 rows=11 cols=128 batch=4 experts=5 slots=2 seed=7 x=gaussian weights=random'
fi
finish
