#!/usr/bin/env bash
# Random valid specifications, decoded from random bytes by every target and by the oracle, which reads the layout bit by bit
# and shares nothing with the generator's planning and printing: all equal. A failure names the seed; `property.sh SEED...`
# replays it. COUNT seeds from FIRST on otherwise; of these MSL, whose compiler takes most of the time, has every third, and with
# ALL=1 each.
. "$(dirname "$0")/../lib.sh"

mkdir -p "$work/none"
random_spec=$(dirname "$QKGEN")/tests/random_spec
oracle=$(dirname "$QKGEN")/tests/evaluate
export random_spec oracle

# one SEED: a specification, its inputs, the oracle's values, and each target's.
one() {
  local seed=$1 folder=$work/$1 number=0 name bytes inputs=() files=() type log
  mkdir -p "$folder"
  log=$folder/log
  "$random_spec" "$seed" >"$folder/spec.quant"
  while read -r name bytes; do
    number=$((number + 1))
    "$random_spec" $((seed * 7 + number)) $((bytes * 37)) >"$folder/$name"
    inputs+=(--in "$name=$folder/$name")
    files+=("$folder/$name")
  done < <(sed -n 's/^# buffer //p' "$folder/spec.quant")
  if ! "$oracle" "$folder/spec.quant" "random_$seed" "$folder/oracle" "${files[@]}" >"$log" 2>&1; then
    fail "seed $seed: the specification is refused" "$log"
    return
  fi
  for target in $targets; do
    case $target-$((seed % 3))${every:-} in msl-[12]) continue ;; esac
    if "$QKGEN" run dequant --formats "$work/none" --spec "$folder/spec.quant" --format "random_$seed" --target "$target" \
      --type f32 "${inputs[@]}" --out "$folder/$target" >"$log" 2>&1 &&
      "$vectors" same f32 "$folder/oracle" "$folder/$target" >"$log" 2>&1; then
      pass
    else
      fail "seed $seed: $target differs from the oracle; replay with $0 $seed" "$log"
    fi
  done
  rm -rf "$folder"
}
export -f one

first=${FIRST:-1} count=${COUNT:-100}
every=${ALL:-}${1:-} # all targets
export every
if [ $# -gt 0 ]; then printf 'one %s\n' "$@"; else seq -f 'one %.0f' "$first" $((first + count - 1)); fi | each
finish
