#!/usr/bin/env bash
# qkgen verify on checkpoints of the kinds that other projects write: one file with every format, under the names and shapes
# that its writers give, against values that our packers computed; what configurations decide; and files that are wrong.
source "$(dirname "$0")/../lib.sh"
: "${PACK:?names the packers}"
target_options=()
for target in $targets; do target_options+=(--target "$target"); done
verdict=agree
[ ${#target_options[@]} -gt 2 ] || verdict=decoded
export verdict
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
  gptq_*_channel)
    bits=$(sed -nE 's/.*_b([0-9]+).*/\1/p' <<<"$format")
    gptq "$data" "$bits" "$cols" "$rows" "$cols" "$stem"
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
  ct_b8_*)
    echo "$stem.weight_packed I32 ${rows}x$((cols / 4)) $data/weight_packed.bin"
    echo "$stem.weight_scale BF16 ${rows}x$((cols / group)) $data/weight_scale.bin"
    ;;
  ct_*_channel) compressed "$data" "$cols" "$rows" "$cols" "$stem" ;;
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
  fp8_e5m2_tensor) bytes "$data" F8_E5M2 F32 1 "$rows" "$cols" "$stem" ;;
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
  [[ $format != ct_b4_channel ]] || echo "\"$2\": {\"bits\": 4},"
  [[ $format != ct_b8_* ]] || echo "\"$2\": {\"bits\": 8, \"group_size\": $group},"
  [[ $format != gptq_* ]] ||
    echo "\"$2\": {\"bits\": $bits, \"group_size\": ${group:--1}, \"desc_act\": $act, \"checkpoint_format\": \"$version\"},"
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

if verify "$every/model.safetensors" "${target_options[@]}" >"$work/table" 2>&1; then
  pass
else
  fail "every format" "$work/table"
fi
says "the last line" "^$count tensors: $count decoded, 0 of them differ; 0 plain, 0 of formats not known\$" "$work/table"

# one FORMAT STEM SHAPE DATA
one() {
  local shape=$3 suffix='[.][a-zA-Z_]+'
  if [ "$1" = mx_fp4 ]; then
    suffix=_blocks
    shape="[12]x[0-9]+x${3#*x}"
  fi
  says "$1" "^${2//./[.]}$suffix +$1 +$shape +$((${3%x*} * ${3#*x})) .* $verdict\$" "$work/table"
  check "extracting $1, $3" verify "$every/model.safetensors" --tensor "$2" --target c --out "$4/out"
  check "the values of $1, $3" "$vectors" same f32 "$4/out" "$4/values.f32"
}
export -f one
export every
while read -r line; do echo "one $line"; done <"$work/weights" | each

# ---- what shapes leave open ----

# model NAME FORMAT ROWS COLS SEED: a checkpoint of one weight, x, in a folder of its own, without a configuration.
model() {
  mkdir "$work/$1"
  "$PACK" "$2" "$3" "$4" "$5" "$work/$1/data"
  tensors "$2" "$3" "$4" x "$work/$1/data" >"$work/$1/list"
  save "$work/$1/model.safetensors" "$work/$1/list"
}

# edit NAME SED-SCRIPT: changes the list of tensors, and writes the file again.
edit() {
  sed -i "$2" "$work/$1/list"
  save "$work/$1/model.safetensors" "$work/$1/list"
}

# configure NAME TEXT: the object quantization_config of the model's configuration.
configure() { echo "{\"quantization_config\": {$2}}" >"$work/$1/config.json"; }

# decodes NAME FORMAT SHAPE OPTION...: as this format, of this shape, with the values that were packed.
decodes() {
  local file=$work/$1/model.safetensors
  rm -f "$work/out"
  verify "$file" --target c "${@:4}" >"$work/table" 2>&1 || true
  says "$1 as $2" "^x[._a-zA-Z]* +$2 +$3 .* decoded\$" "$work/table"
  check "extracting $1 as $2" verify "$file" --tensor x --target c --out "$work/out" "${@:4}"
  check "the values of $1 as $2" "$vectors" same f32 "$work/out" "$work/$1/data/values.f32"
}

# refuses_model NAME PATTERN OPTION...: and writes nothing.
refuses_model() {
  local file=$work/$1/model.safetensors
  refuses "$1" "error: x[._a-zA-Z]* $2" verify "$file" --target c "${@:3}"
  rm -f "$work/out"
  refuses "$1, extracted" "error: x[._a-zA-Z]* $2" verify "$file" --target c --tensor x --out "$work/out" "${@:3}"
  check "$1: nothing is written" test ! -e "$work/out"
}

model v1 gptq_v1_b4_g128 64 256 1
decodes v1 gptq_v1_b4_g128 64x256
configure v1 '"bits": 4, "group_size": 128, "desc_act": false, "checkpoint_format": "gptq"'
decodes v1 gptq_v1_b4_g128 64x256
configure v1 '"bits": 4, "group_size": 128, "desc_act": true'
refuses_model v1 'fits no known format of gptq_v1.* \(where checkpoint_format=gptq, act_order=false\)'
rm "$work/v1/config.json"
in_order 128 256 >"$work/v1/data/g_idx"
echo "x.g_idx I32 256 $work/v1/data/g_idx" >>"$work/v1/list"
edit v1 ''
decodes v1 gptq_v1_b4_g128_act 64x256 # its groups are in order

model v2 gptq_v2_b4_g64 64 256 2
decodes v2 gptq_v2_b4_g64 64x256 --set checkpoint_format=gptq_v2
configure v2 '"bits": 4, "group_size": 64, "desc_act": false, "checkpoint_format": "gptq_v2"'
decodes v2 gptq_v2_b4_g64 64x256
configure v2 '"bits": 4, "group_size": 64, "desc_act": true, "checkpoint_format": "gptq_v2"'
decodes v2 gptq_v2_b4_g64_act 64x256

model short gptq_v1_b4_g128 32 32 3 # one group, cut off: of any size
refuses_model short 'may be gptq_v1_b4_g32, gptq_v1_b4_g64 or gptq_v1_b4_g128; choose with --set group=32'
decodes short gptq_v1_b4_g128 32x32 --set group=128
configure short '"group_size": 128'
decodes short gptq_v1_b4_g128 32x32

for code in e2m3 e3m2; do
  model quark_$code mx_fp6_$code 37 288 4
  refuses_model quark_$code 'may be mx_fp6_e2m3 or mx_fp6_e3m2; choose with --set code=e2m3'
  decodes quark_$code mx_fp6_$code 37x288 --set code=$code
  configure quark_$code "\"quant_method\": \"quark\", \"global_quant_config\": {\"weight\": {\"dtype\": \"fp6_$code\"}}"
  decodes quark_$code mx_fp6_$code 37x288
done
model quark_fp4 mx_fp4 37 288 5
edit quark_fp4 's/x_blocks U8 .*x37x9x16/x.weight U8 37x144/; s/x_scales U8 1x/x.weight_scale F8_E8M0 /'
decodes quark_fp4 mx_fp4 37x288
configure quark_fp4 '"global_quant_config": {"weight": {"dtype": "int4"}}'
refuses_model quark_fp4 'fits no known format of mx_fp4 \(where dtype=fp4\)'

model nested nf4_b64 53 211 6
decodes nested nf4_b64 53x211
edit nested '/quant_state/d'
refuses_model nested 'fits no known format of nf4_b\{group\} \(where kind=nf4\) or fp4_b\{group\} \(where kind=fp4\)'
decodes nested nf4_b64 53x211 --set kind=nf4 --set shape=53x211
configure nested '"bnb_4bit_quant_type": "nf4"'
verify "$work/nested/model.safetensors" --target c >"$work/table"
says "a shape that nothing tells" '^x.weight +nf4_b64 +11184 ' "$work/table" # 53 * 211, and the rest of a byte

model planes hqq_b3_g64 64 208 7
decodes planes hqq_b3_g64 64x208
edit planes '/x.shape/d'
decodes planes hqq_b3_g64 13312
i32 0 >"$work/planes/data/axis"
edit planes ''
refuses_model planes 'fits no known format of hqq_b\{bits\}_g\{group\} \(where axis=1\)'

model packed ct_b4_g128 40 384 8
configure packed '"config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 128}}}'
decodes packed ct_b4_g128 40x384
configure packed '"config_groups": {"group_0": {"weights": {"num_bits": 8, "group_size": 64}}}'
refuses_model packed 'fits no known format of ct_b8_g\{group\} .*, ct_b4_channel .* or ct_b4_g\{group\} \(where bits=4\)'
rm "$work/packed/config.json"
echo "x.weight_zero_point I8 40x3 $work/packed/data/shape" >>"$work/packed/list"
head -c 120 /dev/zero >"$work/packed/data/zeros"
edit packed 's,\(x.weight_zero_point .*\) .*,\1 '"$work/packed/data/zeros,"
check "a tensor that must not be there" verify "$work/packed/model.safetensors" --target c
verify "$work/packed/model.safetensors" --target c >"$work/table"
says "a tensor that must not be there" '^x.weight_packed +i32 .* format not known$' "$work/table"

# ---- tensors that are wrong ----

# wrong NAME FORMAT SED-SCRIPT PATTERN: data of other lengths is taken from a file of zeros.
head -c 65536 /dev/zero >"$work/zeros"
wrong() {
  model "$1" "$2" 64 256 9
  edit "$1" "$3"
  refuses_model "$1" "$4"
}
none='fits no known format of'
no() { head -c "$1" "$work/zeros" >"$work/zeros.$1" && echo "$work/zeros.$1"; } # so many bytes that are 0
wrong rows_of_scales awq_b4_g64 "s,scales F16 .*,scales F16 3x64 $(no 384)," "$none .*awq.*\\.scales F16\\[3x64\\]"
wrong groups_of_zeros gptq_v1_b4_g64 "s,qzeros I32 .*,qzeros I32 5x8 $(no 160)," "$none gptq.*\\.qzeros I32\\[5x8\\]"
wrong length_of_index gptq_v1_b4_g64_act "s,g_idx I32 .*,g_idx I32 200 $(no 800)," "$none .*\\.g_idx I32\\[200\\]"
wrong turned gptq_v1_b4_g64 's/scales F16 4x64/scales F16 64x4/' "$none"
wrong blocks_of_scales nf4_b64 "s,absmax F32 .*,absmax F32 255 $(no 1020)," "$none nf4"
wrong lines_of_zeros hqq_b4_g64 "s,zero F16 .*,zero F16 255x1 $(no 510)," "$none hqq"
wrong another_shape hqq_b4_g64 "s,shape I64 2 .*,shape I64 2 $(no 16)," "$none hqq.*says that its shape is 0x0"
wrong shape_of_packed ct_b4_zp_g32 "s,zero_point I32 .*,zero_point I32 9x8 $(no 288)," "$none ct_b4_zp"
wrong tiles fp8_block "s,scale_inv F32 .*,scale_inv F32 1x3 $(no 12)," "$none fp8_block"
wrong two_scales nvfp4_ckpt "s,scale_2 F32 .*,scale_2 F32 2 $(no 8)," "$none nvfp4_ckpt"
wrong experts mx_fp4 's/_scales U8 2x32x8/_scales U8 1x64x8/' "$none mx_fp4"
wrong no_scales gptq_v1_b4_g64 '/^x.scales/d' 'has no x\.scales beside it, which gptq_v1_b\{bits\}_g\{group\} needs'
wrong no_global_scale nvfp4_ckpt '/^x.weight_scale_2/d' 'has no x\.weight_scale_2 beside it'
model control nf4_b64 64 256 10
printf '{"quant_type": "nf4", "blocksize": 64, "shape": "\\u001b[2J"}' >"$work/control/data/state"
edit control "s/\\(bitsandbytes__nf4 U8\\) [0-9]*/\\1 $(stat -c %s "$work/control/data/state")/"
refuses_model control "$none nf4.*says that its shape is \\\\x1B\\[2J"
model text nf4_b64 64 256 10
cp "$work/zeros.16" "$work/text/data/state"
edit text 's/\(quant_state.bitsandbytes__nf4 U8\) [0-9]*/\1 16/'
refuses "a text that is none" "byte [0-9]+: the tensor 'x.weight.quant_state.*' must be the text of a JSON object" \
  verify "$work/text/model.safetensors" --target c

# One tensor of a rule alone says nothing.
model alone fp8_tensor 64 256 10
edit alone '/^x.weight_scale/d'
check "codes alone" verify "$work/alone/model.safetensors" --target c
verify "$work/alone/model.safetensors" --target c >"$work/table"
says "codes alone" '^x.weight +e4m3 +64x256 .* plain$' "$work/table"
refuses "extracting codes alone" 'x.weight is plain e4m3, which verify does not write' \
  verify "$work/alone/model.safetensors" --tensor x.weight --out "$work/out"

# 2^32 elements, in a file with holes.
mkdir "$work/large"
truncate -s 4294967296 "$work/large/data"
header='{"x.weight":{"dtype":"F8_E4M3","shape":[65536,65536],"data_offsets":[4,4294967300]},'
header+='"x.weight_scale":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}'
printf "\\x$(printf %x ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "$header" >"$work/large/model.safetensors"
truncate -s $((8 + ${#header} + 4294967300)) "$work/large/model.safetensors"
refuses_model large 'fits no known format of fp8.*a matrix has less than 2\^32 elements'
rm -r "$work/large"

# ---- rules ----

# bad_rule LINE PATTERN
bad_rule() {
  echo "$1" >"$work/rules"
  refuses "the rule '$1'" "rules:1: .*$2" verify "$work/v2/model.safetensors" --target c --rules "$work/rules"
}
bad_rule 'tensors a b' 'a buffer is written as NAME:TYPE'
bad_rule 'tensors a x=1' 'at least one buffer'
bad_rule 'tensors a b:U8 !1 !2 !3 !4 !5 !6 !7 !8 !9' 'too many words of one kind'
bad_rule 'beside .a' 'beside needs SUFFIX:TYPE'
bad_rule 'beside .a:U8 b c=d' 'beside takes one PARAMETER'
bad_rule 'besides .a:U8' 'a line starts with .*beside'
finish
