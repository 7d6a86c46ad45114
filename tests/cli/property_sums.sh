#!/usr/bin/env bash
# Random valid specifications as matrices: gemv and gemv_id of each target, against sums in double precision over the oracle's
# values. Random values are of any size and sign, and sums of them cancel, so that each error is taken relative to the sum of
# the magnitudes of the terms, and the root of the mean square of these is within the bound of the class. Specifications with
# several factors of the range of f32 are left out: in which order they are multiplied says whether a product overflows.
# A failure names the seed; `property_sums.sh SEED...` replays it. COUNT seeds from FIRST on otherwise, of which MSL takes the
# first 4: its compiler is slow.
. "$(dirname "$0")/../lib.sh"

mkdir -p "$work/none"
random_spec=$(dirname "$QKGEN")/tests/random_spec
oracle=$(dirname "$QKGEN")/tests/evaluate
bound=2e-6 # class exact
first=${FIRST:-1} count=${COUNT:-6}
export random_spec oracle bound first

# run SEED FAMILY OPTION...: each target against `expected`, whose terms have the magnitudes of `sizes`.
run() {
  local seed=$1 family=$2 folder=$work/$1 target log=$work/$1/log error
  shift 2
  for target in $targets; do
    [ "$target" != msl ] || [ $((seed - first)) -lt 4 ] || continue
    rm -f "$folder/y"
    if ! "$QKGEN" run "$family" --formats "$work/none" --spec "$folder/spec.quant" --format "random_$seed" \
      --target "$target" "$@" --x "$folder/x" --out "$folder/y" >"$log" 2>&1; then
      fail "seed $seed: $family on $target; replay with $0 $seed" "$log"
    elif error=$("$vectors" scaled "$bound" "$folder/y" "$folder/expected" "$folder/sizes"); then
      echo "$error $family $target $seed" >>"$work/errors"
      pass
    else
      fail "seed $seed: $family on $target has an error of $error; replay with $0 $seed"
    fi
  done
}

# vectors_of FOLDER SEED TYPE COUNT: right-hand sides, and what they are as f32, with and without signs.
vectors_of() {
  "$vectors" normal "$2" "$4" >"$1/x.f32"
  "$vectors" round "$3" "$1/x.f32" "$1/x"
  "$vectors" widen "$3" "$1/x" "$1/x.f32" 2>/dev/null || cp "$1/x" "$1/x.f32"
  "$vectors" absolute "$1/x.f32" "$1/x.abs"
}

# one SEED: a specification, its inputs of 36 blocks, the oracle's values, and their sums.
one() {
  local seed=$1 folder=$work/$1 number=0 name bytes elements rows blocks batch type=f32 inputs=() files=()
  mkdir -p "$folder"
  "$random_spec" "$seed" >"$folder/spec.quant"
  [ "$(sed -n 's/^# wide //p' "$folder/spec.quant")" -lt 2 ] || return 0
  while read -r name bytes; do
    number=$((number + 1))
    "$random_spec" $((seed * 7 + number)) $((bytes * 36)) >"$folder/$name"
    inputs+=(--in "$name=$folder/$name")
    files+=("$folder/$name")
  done < <(sed -n 's/^# buffer //p' "$folder/spec.quant")
  "$oracle" "$folder/spec.quant" "random_$seed" "$folder/values" "${files[@]}"
  "$vectors" absolute "$folder/values" "$folder/values.abs"
  elements=$(($(stat -c %s "$folder/values") / 4 / 36))
  [ $((seed % 3)) -ne 0 ] || type=f16
  blocks=$((1 << seed / 3 % 3)) # in a row: 1, 2, 4
  rows=$((36 / blocks)) batch=$((1 + seed % 8))
  vectors_of "$folder" "$seed" $type $((batch * blocks * elements))
  "$vectors" product "$folder/values" "$folder/x.f32" $((blocks * elements)) "$folder/expected"
  "$vectors" product "$folder/values.abs" "$folder/x.abs" $((blocks * elements)) "$folder/sizes"
  run "$seed" gemv --type $type --rows $rows --cols $((blocks * elements)) --batch $batch "${inputs[@]}"
  # Three experts of three rows, two slots for each of two tokens; an id is out of range.
  "$vectors" u32 2 $((seed % 3)) $((3 + seed)) 1 >"$folder/ids"
  vectors_of "$folder" $((seed + 1)) $type $((2 * 4 * elements))
  "$vectors" experts "$folder/values" "$folder/x.f32" "$folder/ids" 3 $((4 * elements)) "$folder/expected"
  "$vectors" experts "$folder/values.abs" "$folder/x.abs" "$folder/ids" 3 $((4 * elements)) "$folder/sizes"
  run "$seed" gemv_id --type $type --experts 3 --rows 3 --cols $((4 * elements)) --tokens 2 --slots 2 \
    --ids "$folder/ids" "${inputs[@]}"
  rm -rf "$folder"
}
export -f run vectors_of one

if [ $# -gt 0 ]; then printf 'one %s\n' "$@"; else seq -f 'one %.0f' "$first" $((first + count - 1)); fi | each
echo "largest errors: $(sort -g "$work/errors" | tail -3 | tr '\n' ';')"
finish
