#!/usr/bin/env bash
# Rows of every format, to each type, with each target, in shapes that are convenient to
# nobody, against rows of the libraries' values. Indices repeat, and some are out of range: zeros, and a warning counts. Of the
# members of a family that differ in the group or the type of the scales, one goes to all types and targets, and the others to f32 and
# not to MSL; with ALL=1 each goes to all.
source "$(dirname "$0")/../lib.sh"

# cut FORMAT FOLDER ROWS COLS: the first rows of a table of that shape.
cut_table() {
  local format=$1 data=$2 elements names sizes i
  reference "$format" "$data"
  layout "$format"
  for i in "${!names[@]}"; do truncate -s $(($3 * $4 / elements * sizes[i])) "$data/${names[i]}"; done
  truncate -s $(($3 * $4 * 4)) "$data/values.f32"
}
export -f cut_table

# gather FORMAT DATA TARGET TYPE ROWS COLS INPUT...: with DATA/indices; 2> DATA/log. Leaves DATA/out.
gather() {
  "$QKGEN" run gather --format "$1" --target "$3" --type "$4" --rows "$5" --cols "$6" "${@:7}" \
    --indices "$2/indices" --out "$2/out" 2>"$2/log"
}

# silent FILE: nothing in it warns.
silent() {
  local text
  IFS= read -r -d '' text <"$1" || true
  [[ ${text,,} != *warning* ]] || { echo "$text"; return 1; }
}

# expect FORMAT DATA ROWS COLS COUNT OUTSIDE: gathers COUNT indices, of which OUTSIDE are not rows.
expect() {
  local format=$1 data=$2 rows=$3 cols=$4 count=$5 outside=$6 target type bytes types="f32 f16 bf16" targets=$targets in
  read -ra in < <(inputs "$data" && echo)
  if [ -z "${every:-}" ]; then
    case $format in affine_*_f16 | affine_*_f32 | affine_*_g32_* | affine_*_g128_*) types=f32 targets=${targets/msl/} ;; esac
  fi
  for type in $types; do
    bytes=2
    [ $type != f32 ] || bytes=4
    "$vectors" round $type "$data/values.f32" "$data/rounded"
    "$vectors" rows $((cols * bytes)) "$data/rounded" "$data/indices" "$data/expected"
    for target in $targets; do
      if ! gather "$format" "$data" $target $type "$rows" "$cols" "${in[@]}"; then
        fail "$format, $rows x $cols, to $type on $target: the run failed" "$data/log"
        continue
      fi
      check "$format, $rows x $cols, $count rows to $type on $target" "$vectors" same $type "$data/out" "$data/expected"
      if [ "$outside" -eq 0 ]; then
        check "$format to $type on $target warns of nothing" silent "$data/log"
      else
        says "$format to $type on $target counts $outside of $count out of range" \
          "warning: $outside of $count indices are not below --rows $rows;" "$data/log"
      fi
    done
  done
}
export -f gather silent expect

one() {
  local format=$1 rows=$2 cols=$3 data=$work/$1-$3 index indices outside=0
  cut_table "$format" "$data" "$rows" "$cols"
  indices="0 $((rows - 1)) 3 3 $rows 2 $((rows / 2)) 0xFFFFFFFF 1 $((rows - 1)) 7 0x80000000 2 $((rows + 1)) 4 0 11 6 19"
  for index in $indices; do
    if [ $((index)) -ge "$rows" ]; then outside=$((outside + 1)); fi
  done
  # shellcheck disable=SC2086
  "$vectors" u32 $indices >"$data/indices"
  expect "$format" "$data" "$rows" "$cols" 19 "$outside"
  rm -r "$data"
}

# Numbers of tokens: none, one, one that is no row.
few() {
  local format=$1 rows=$2 cols=$3 data=$work/few-$1
  cut_table "$format" "$data" "$rows" "$cols"
  : >"$data/indices"
  expect "$format" "$data" "$rows" "$cols" 0 0
  "$vectors" u32 $((rows - 1)) >"$data/indices"
  expect "$format" "$data" "$rows" "$cols" 1 0
  "$vectors" u32 "$rows" >"$data/indices"
  expect "$format" "$data" "$rows" "$cols" 1 1
  rm -r "$data"
}
export -f one few

# Seven groups of 32, five of 64, three of 128; ROWS * COLS are at most the 10240 elements of the data.
everything() {
  for format in $(formats); do
    case $format in
      *_g32_*) echo "one $format 37 224" ;;
      *_g64_*) echo "one $format 31 320" ;;
      *_g128_*) echo "one $format 23 384" ;;
      *) layout "$format" && echo "one $format 5 $((3 * elements))" ;; # 16 blocks, if not more: three in each of five rows
    esac
  done
  printf '%s\n' "one q4_K 7 512" "one q4_K 5 768" "one q6_K 7 512" "one q6_K 5 768" "few affine_b3_g64_bf16 31 320" \
    "few affine_b5_g128_f32 23 384" "few q6_K 7 512"
}
# gather.sh LINE...: some of these lines alone.
every=${ALL:-}${1:-}
export every
if [ $# -gt 0 ]; then printf '%s\n' "$@"; else everything; fi | each
finish
