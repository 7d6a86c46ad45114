#!/usr/bin/env bash
# Random valid specifications whose blocks are patches of a matrix, or a sequence that rows cut anywhere, decoded from random
# bytes by every target: whole tensors and rows of them bit for bit as the oracle has them, and gemv within the bound of its
# class of sums in double precision, each relative to the sum of the magnitudes of its terms. A failure names the seed;
# `property_patches.sh SEED...` replays it. COUNT seeds from FIRST on otherwise, of which MSL takes the first 10, and gemv every second.
. "$(dirname "$0")/../lib.sh"

mkdir -p "$work/none"
random_spec=$(dirname "$QKGEN")/tests/random_spec
random_patches=$(dirname "$QKGEN")/tests/random_patches
oracle=$(dirname "$QKGEN")/tests/evaluate
bound=2e-6 # class exact
first=${FIRST:-1} count=${COUNT:-24}
export random_spec random_patches oracle bound first

# run SEED FAMILY TARGET OPTION...: leaves `out`.
run() {
  local seed=$1 family=$2 target=$3 folder=$work/$1
  rm -f "$folder/out"
  "$QKGEN" run "$family" --formats "$work/none" --spec "$folder/spec.quant" --format "patches_$seed" --target "$target" \
    --type f32 --out "$folder/out" "${@:4}" >"$folder/log" 2>&1 && return
  fail "seed $seed: $family on $target; replay with $0 $seed" "$folder/log"
  return 1
}

# same SEED FAMILY TARGET EXPECTED
same() {
  if "$vectors" same f32 "$work/$1/out" "$4" >"$work/$1/log" 2>&1; then pass; else
    fail "seed $1: $2 on $3 differs from the oracle; replay with $0 $1" "$work/$1/log"
  fi
}

one() {
  local seed=$1 folder=$work/$1 number=0 name bytes rows cols batch target error inputs=() files=()
  mkdir -p "$folder"
  "$random_patches" "$seed" >"$folder/spec.quant"
  read -r rows cols < <(sed -n 's/^# shape //p' "$folder/spec.quant")
  while read -r name bytes; do
    number=$((number + 1))
    "$random_spec" $((seed * 7 + number)) "$bytes" >"$folder/$name"
    # Half of the indices are groups that most tensors have.
    [ "$name" != g_idx ] || [ $((seed % 2)) -eq 0 ] || tr '\000-\377' '\000-\003' <"$folder/$name" >"$folder/low"
    [ ! -e "$folder/low" ] || mv "$folder/low" "$folder/$name"
    inputs+=(--in "$name=$folder/$name")
    files+=("$folder/$name")
  done < <(sed -n 's/^# buffer //p' "$folder/spec.quant")
  if ! EVALUATE_SHAPE=${rows}x$cols "$oracle" "$folder/spec.quant" "patches_$seed" "$folder/values" "${files[@]}" \
    >"$folder/log" 2>&1; then
    fail "seed $seed: the oracle refuses it" "$folder/log"
    return
  fi
  inputs+=(--rows "$rows" --cols "$cols")
  "$vectors" u32 $((rows - 1)) 0 "$rows" $((rows / 2)) 0xFFFFFFFF >"$folder/indices"
  "$vectors" rows $((4 * cols)) "$folder/values" "$folder/indices" "$folder/gathered"
  batch=$((1 + seed % 8))
  "$vectors" normal "$seed" $((batch * cols)) >"$folder/x"
  "$vectors" absolute "$folder/values" "$folder/values.abs"
  "$vectors" absolute "$folder/x" "$folder/x.abs"
  "$vectors" product "$folder/values" "$folder/x" "$cols" "$folder/expected"
  "$vectors" product "$folder/values.abs" "$folder/x.abs" "$cols" "$folder/sizes"
  for target in $targets; do
    [ "$target" != msl ] || [ $((seed - first)) -lt 10 ] || continue
    ! run "$seed" dequant "$target" "${inputs[@]}" || same "$seed" dequant "$target" "$folder/values"
    ! run "$seed" gather "$target" "${inputs[@]}" --indices "$folder/indices" ||
      same "$seed" gather "$target" "$folder/gathered"
    [ $((seed % 2)) = 0 ] || [ -n "${every:-}" ] || continue
    run "$seed" gemv "$target" "${inputs[@]}" --batch $batch --x "$folder/x" || continue
    if error=$("$vectors" scaled "$bound" "$folder/out" "$folder/expected" "$folder/sizes"); then pass; else
      fail "seed $seed: gemv on $target has an error of $error; replay with $0 $seed"
    fi
    echo "$error gemv $target $seed" >>"$work/errors"
  done
  rm -rf "$folder"
}
export -f run same one
every=${ALL:-}${1:-} # gemv, too
export every

if [ $# -gt 0 ]; then printf 'one %s\n' "$@"; else seq -f 'one %.0f' "$first" $((first + count - 1)); fi | each
echo "largest errors: $(sort -g "$work/errors" | tail -3 | tr '\n' ';')"
finish
