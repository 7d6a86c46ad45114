#!/usr/bin/env bash
# Formats of checkpoints, against packers that were written from each format's description and know nothing of ours: whole
# tensors of several shapes, ragged ones too, and rows of them, with every target. Of the shapes of a format, verify_checkpoints.sh
# decodes all to f32 with every target, but for the formats that it leaves to their models' configurations; so one is taken here, and
# of GPTQ's formats that differ in the group alone, one. With ALL=1 all are.
source "$(dirname "$0")/../lib.sh"
: "${PACK:?names the packers}"

# inputs_of FOLDER BUFFER...: the arguments that name the files. A tensor that is called blocks has another name with us.
inputs_of() {
  local folder=$1 name
  shift
  for name; do printf -- '--in %s ' "${name/blocks/codes}=$folder/$name.bin"; done
  echo
}

# targets_of FORMAT: Metal, whose compiler takes most of the time, has every third, and with ALL=1 each.
targets_of() {
  local targets=$targets
  [ -n "${ALL:-}" ] || [ $(($(cksum <<<"$1" | cut -d' ' -f1) % 3)) = 0 ] || targets=${targets/msl/}
  echo "$targets"
}
export -f targets_of

# whole FORMAT ROWS COLS TYPE DATA INPUT...
whole() {
  local format=$1 rows=$2 cols=$3 type=$4 data=$5 target
  shift 5
  "$vectors" round "$type" "$data/values.f32" "$data/expected"
  for target in $chosen; do
    check "$format, $rows x $cols, to $type on $target: the run failed" "$QKGEN" run dequant --format "$format" \
      --rows "$rows" --cols "$cols" --target "$target" --type "$type" "$@" --out "$data/out"
    check "$format, $rows x $cols, to $type on $target" "$vectors" same "$type" "$data/out" "$data/expected"
  done
}

# rows_of FORMAT ROWS COLS TYPE DATA INPUT...: some of the rows, two of which do not exist.
rows_of() {
  local format=$1 rows=$2 cols=$3 type=$4 data=$5 target bytes=2
  shift 5
  [ "$type" != f32 ] || bytes=4
  "$vectors" u32 0 $((rows - 1)) 5 5 "$rows" 1 0xFFFFFFFF $((rows / 2)) 3 >"$data/indices"
  "$vectors" round "$type" "$data/values.f32" "$data/rounded"
  "$vectors" rows $((cols * bytes)) "$data/rounded" "$data/indices" "$data/expected"
  for target in $chosen; do
    check "$format, rows of $rows x $cols, to $type on $target: the run failed" "$QKGEN" run gather \
      --format "$format" --rows "$rows" --cols "$cols" --indices "$data/indices" --target "$target" --type "$type" \
      "$@" --out "$data/out"
    check "$format, rows of $rows x $cols, to $type on $target" "$vectors" same "$type" "$data/out" "$data/expected"
  done
}
export -f inputs_of whole rows_of

# one FORMAT SHAPE yes|no BUFFER...: with yes, rows of the tensor and the narrow types, too.
one() {
  local format=$1 rows=${2%x*} cols=${2#*x} all=$3 data=$work/$1-$2 inputs chosen
  chosen=$(targets_of "$1")
  shift 3
  mkdir "$data"
  "$PACK" "$format" "$rows" "$cols" 7 "$data"
  read -ra inputs < <(inputs_of "$data" "$@")
  whole "$format" "$rows" "$cols" f32 "$data" "${inputs[@]}"
  if [ "$all" = yes ]; then
    whole "$format" "$rows" "$cols" f16 "$data" "${inputs[@]}"
    rows_of "$format" "$rows" "$cols" bf16 "$data" "${inputs[@]}"
  fi
  rm -r "$data"
}
export -f one

everything() {
  "$PACK" list | while IFS=$'\t' read -r format buffers shapes; do
    for shape in $shapes; do
      all=no
      [ "$shape" != "${shapes##* }" ] || all=yes
      case $all-${ALL:-}$format in
        no-1* | yes-1* | no-mx_fp6_*) ;;
        yes-gptq_v1_b4_g32 | yes-gptq_v1_b3_g128_act | yes-gptq_v2_b8_g32_act | yes-gptq_v2_b2_g128) ;;
        no-* | yes-gptq_*_g32* | yes-gptq_*_g128*) continue ;;
      esac
      echo "one $format $shape $all $buffers"
    done
  done
}
# checkpoints.sh LINE...: some of these lines alone.
if [ $# -gt 0 ]; then printf '%s\n' "$@"; else everything; fi | each
finish
