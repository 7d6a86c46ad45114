#!/usr/bin/env bash
# qkgen verify on checkpoints of the kinds that other projects write: one file with every format, under the names and shapes
# that its writers give, against values that our packers computed; what configurations decide; and files that are wrong.
source "$(dirname "$0")/../lib.sh"
: "${PACK:?names the packers}"
target_options=()
for target in $targets; do target_options+=(--target "$target"); done
verify() { timeout 300 "$QKGEN" verify "$@"; }
export -f verify

# ---- making files ----

# save FILE LIST: a safetensors file of the list's tensors: NAME TYPE SHAPE DATA in each line, of which the shape is AxB, or
# - for a scalar.
save() {
  local header='{' at=0 name type shape data bytes
  while read -r name type shape data; do
    bytes=$(stat -c %s "$data")
    shape=${shape#-}
    header+="\"$name\":{\"dtype\":\"$type\",\"shape\":[${shape//x/,}],\"data_offsets\":[$at,$((at + bytes))]},"
    at=$((at + bytes))
  done <"$2"
  header=${header%,}\}
  while [ $((${#header} % 8)) -ne 0 ]; do header+=' '; done
  {
    for at in 0 8 16 24 32 40 48 56; do printf "\\x$(printf %02x $(((${#header} >> at) & 255)))"; done
    printf %s "$header"
    cut -d ' ' -f 4 "$2" | xargs cat
  } >"$1"
}

# i64 NUMBER... and i32 NUMBER: little-endian, to standard output.
i64() {
  local number
  for number; do "$vectors" u32 "$number" 0; done
}
i32() { "$vectors" u32 "$1"; }

up() { echo $((($1 + $2 - 1) / $2)); }

# gptq FOLDER BITS GROUP ROWS COLS STEM
gptq() {
  local groups
  groups=$(up "$5" "$3")
  echo "$6.qweight I32 $(($5 * $2 / 32))x$4 $1/qweight.bin"
  echo "$6.qzeros I32 ${groups}x$(($4 * $2 / 32)) $1/qzeros.bin"
  echo "$6.scales F16 ${groups}x$4 $1/scales.bin"
}

# in_order GROUP COLS: a g_idx without act-order.
in_order() {
  local k all=()
  for ((k = 0; k < $2; ++k)); do all+=($((k / $1))); done
  "$vectors" u32 "${all[@]}"
}

# bitsandbytes FOLDER KIND GROUP ROWS COLS STEM
bitsandbytes() {
  local elements=$(($4 * $5))
  echo "$6.weight U8 $(up $elements 2)x1 $1/weight.bin"
  echo "$6.weight.absmax F32 $(up $elements "$3") $1/absmax.bin"
  head -c 64 /dev/zero >"$1/map"
  echo "$6.weight.quant_map F32 16 $1/map"
  printf '{"quant_type": "%s", "blocksize": %d, "dtype": "bfloat16", "shape": [%d, %d]}' "$2" "$3" "$4" "$5" >"$1/state"
  echo "$6.weight.quant_state.bitsandbytes__$2 U8 $(stat -c %s "$1/state") $1/state"
}

# hqq FOLDER BITS GROUP ROWS COLS STEM
hqq() {
  local lines=$(($4 * $5 / $3))
  if [ "$2" -eq 3 ]; then
    echo "$6.W_q I32 $(up $lines 10)x$3 $1/W_q.bin"
  else
    echo "$6.W_q U8 $((lines * $2 / 8))x$3 $1/W_q.bin"
  fi
  echo "$6.scale F16 ${lines}x1 $1/scale.bin"
  echo "$6.zero F16 ${lines}x1 $1/zero.bin"
  i64 "$4" "$5" >"$1/shape"
  i32 "$2" >"$1/nbits"
  i32 "$3" >"$1/group_size"
  i32 1 >"$1/axis"
  printf '%dbit_u8' "$2" >"$1/packing"
  echo "$6.shape I64 2 $1/shape"
  for name in nbits group_size axis; do echo "$6.$name I32 - $1/$name"; done
  echo "$6.packing U8 7 $1/packing"
}

# compressed FOLDER GROUP ROWS COLS STEM
compressed() {
  echo "$5.weight_packed I32 $3x$(($4 / 8)) $1/weight_packed.bin"
  echo "$5.weight_scale BF16 $3x$(($4 / $2)) $1/weight_scale.bin"
  if [ -e "$1/weight_zero_point.bin" ]; then
    echo "$5.weight_zero_point I32 $(up "$3" 8)x$(($4 / $2)) $1/weight_zero_point.bin"
  fi
  i64 "$3" "$4" >"$1/shape"
  echo "$5.weight_shape I64 2 $1/shape"
}

# microscaling FOLDER BITS TYPE ROWS COLS STEM
microscaling() {
  echo "$6.weight $3 $4x$(($5 * $2 / 8)) $1/blocks.bin"
  echo "$6.weight_scale U8 $4x$(($5 / 32)) $1/scales.bin"
}

# bytes FOLDER TYPE SCALE SHAPE ROWS COLS STEM: SHAPE is that of the scales, which are called weight_scale or otherwise.
bytes() {
  local scale
  scale=$(basename "$1"/weight_scale*.bin .bin)
  echo "$7.weight $2 $5x$6 $1/weight.bin"
  echo "$7.$scale $3 $4 $1/$scale.bin"
}

# tensors FORMAT ROWS COLS STEM FOLDER: the list of a checkpoint that `pack` wrote.
tensors() {
  local format=$1 rows=$2 cols=$3 stem=$4 data=$5 bits group experts=1
  bits=$(sed -nE 's/.*_b([0-9]+).*/\1/p' <<<"$format")
  group=$(sed -nE 's/.*_g([0-9]+).*/\1/p' <<<"$format")
  case $format in
  gptq_*_act)
    gptq "$data" "$bits" "$group" "$rows" "$cols" "$stem"
    echo "$stem.g_idx I32 $cols $data/g_idx.bin"
    ;;
  gptq_v1_*) gptq "$data" "$bits" "$group" "$rows" "$cols" "$stem" ;;
  gptq_v2_*)
    gptq "$data" "$bits" "$group" "$rows" "$cols" "$stem"
    in_order "$group" "$cols" >"$data/g_idx"
    echo "$stem.g_idx I32 $cols $data/g_idx"
    ;;
  awq_*)
    echo "$stem.qweight I32 ${cols}x$((rows / 8)) $data/qweight.bin"
    echo "$stem.qzeros I32 $((cols / group))x$((rows / 8)) $data/qzeros.bin"
    echo "$stem.scales F16 $((cols / group))x$rows $data/scales.bin"
    ;;
  nf4_* | fp4_*) bitsandbytes "$data" "${format%_*}" "$bits" "$rows" "$cols" "$stem" ;;
  hqq_*) hqq "$data" "$bits" "$group" "$rows" "$cols" "$stem" ;;
  ct_*) compressed "$data" "$group" "$rows" "$cols" "$stem" ;;
  mx_fp4)
    [ $((rows % 2)) -ne 0 ] || experts=2
    echo "${stem}_blocks U8 ${experts}x$((rows / experts))x$((cols / 32))x16 $data/blocks.bin"
    echo "${stem}_scales U8 ${experts}x$((rows / experts))x$((cols / 32)) $data/scales.bin"
    ;;
  mx_fp6_*) microscaling "$data" 6 U8 "$rows" "$cols" "$stem" ;;
  mx_fp8_e4m3) microscaling "$data" 8 F8_E4M3 "$rows" "$cols" "$stem" ;;
  mx_fp8_e5m2) microscaling "$data" 8 F8_E5M2 "$rows" "$cols" "$stem" ;;
  nvfp4_ckpt)
    echo "$stem.weight U8 ${rows}x$((cols / 2)) $data/weight.bin"
    echo "$stem.weight_scale F8_E4M3 ${rows}x$((cols / 16)) $data/weight_scale.bin"
    echo "$stem.weight_scale_2 F32 - $data/weight_scale_2.bin"
    echo "$stem.input_scale F32 - $data/weight_scale_2.bin"
    ;;
  fp8_block) bytes "$data" F8_E4M3 F32 "$(up "$rows" 128)x$(up "$cols" 128)" "$rows" "$cols" "$stem" ;;
  fp8_channel) bytes "$data" F8_E4M3 F32 "${rows}x1" "$rows" "$cols" "$stem" ;;
  fp8_tensor) bytes "$data" F8_E4M3 F32 1 "$rows" "$cols" "$stem" ;;
  int8_channel) bytes "$data" I8 BF16 "${rows}x1" "$rows" "$cols" "$stem" ;;
  *) echo "no layout of $format is known here" >&2 && return 1 ;;
  esac
}

# The configuration of one module.
module() {
  local format=$1 bits group version=gptq act=false
  bits=$(sed -nE 's/.*_b([0-9]+).*/\1/p' <<<"$format")
  group=$(sed -nE 's/.*_g([0-9]+).*/\1/p' <<<"$format")
  [[ $format != gptq_v2_* ]] || version=gptq_v2
  [[ $format != *_act ]] || act=true
  [[ $format != gptq_* ]] ||
    echo "\"$2\": {\"bits\": $bits, \"group_size\": $group, \"desc_act\": $act, \"checkpoint_format\": \"$version\"},"
}

# ---- one file with every format ----

every=$work/every
mkdir "$every"
count=0
: >"$work/list"
: >"$work/modules"
: >"$work/weights"
"$PACK" list >"$work/packers"
while IFS=$'\t' read -r format _ shapes; do
  for shape in $shapes; do
    [[ $format != mx_fp6_* ]] || continue # told apart by the whole model's configuration
    rows=${shape%x*} cols=${shape#*x} stem=model.layers.$count.mlp.down_proj data=$work/$format-$shape
    "$PACK" "$format" "$rows" "$cols" 11 "$data"
    tensors "$format" "$rows" "$cols" "$stem" "$data" >>"$work/list"
    module "$format" "$stem" >>"$work/modules"
    echo "$format $stem $shape $data" >>"$work/weights"
    count=$((count + 1))
  done
done <"$work/packers"
save "$every/model.safetensors" "$work/list"
printf '{"model_type": "x", "quantization_config": {%s "quant_method": "gptq"}}\n' "$(cat "$work/modules")" \
  >"$every/config.json"

check "every format" verify "$every/model.safetensors" "${target_options[@]}"
verify "$every/model.safetensors" "${target_options[@]}" >"$work/table" || true
says "the last line" "^$count tensors: $count decoded, 0 of them differ; 0 plain, 0 of formats not known\$" "$work/table"

# one FORMAT STEM SHAPE DATA
one() {
  local shape=$3 suffix='[.][a-zA-Z_]+'
  if [ "$1" = mx_fp4 ]; then
    suffix=_blocks
    shape="[12]x[0-9]+x${3#*x}"
  fi
  says "$1" "^${2//./[.]}$suffix +$1 +$shape +$((${3%x*} * ${3#*x})) .* agree\$" "$work/table"
  check "extracting $1, $3" verify "$every/model.safetensors" --tensor "$2" --target c --out "$4/out"
  check "the values of $1, $3" "$vectors" same f32 "$4/out" "$4/values.f32"
}
export -f one
export every
while read -r line; do echo "one $line"; done <"$work/weights" | each
finish
