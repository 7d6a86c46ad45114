#!/usr/bin/env bash
# qkgen convert: the blocks of every tensor are those of `run encode`, of what `verify` decodes; what is kept is kept byte for byte;
# which tensors are converted; the same file by any number of threads, and by a device; and what is refused, with nothing left behind.
source "$(dirname "$0")/../lib.sh"
models=$SOURCE/tests/models
convert() { timeout 120 "$QKGEN" convert "$@"; }
export -f convert
[ -n "${MODEL_GGUF:-}" ] || { echo "convert.sh: MODEL_GGUF must name model_gguf, of the build" && exit 1; }
model=$work/small.gguf
"$MODEL_GGUF" small q8_0 "$model" "$SOURCE" 2>"$logs/model" || fail "a model" "$logs/model"

# value_of FILE TENSOR: its values, or those of its floats, as f32.
values_of() { "$QKGEN" verify "$1" --target c --tensor "$2" --out "$3" 2>"$logs/verify" || fail "$2 of $1" "$logs/verify"; }

# ---- values ----

# Of each format that is made, one with an encoder of each kind: what a tensor has is what `run encode` makes of the old one's values.
for format in q4_0 q4_K q6_K tq2_0 mxfp4; do
  check "to $format" convert "$model" --to "$format" --out "$work/$format.gguf"
  for tensor in blk.1.ffn_down.weight token_embd.weight; do
    values_of "$model" $tensor "$work/old.f32"
    "$QKGEN" run encode --format "$format" --target c --in "$work/old.f32" --out "$work/blocks" 2>"$logs/encode"
    "$QKGEN" run dequant --format "$format" --target c --type f32 --in "$work/blocks" --out "$work/expected.f32" 2>"$logs/dequant"
    values_of "$work/$format.gguf" $tensor "$work/new.f32"
    check "$tensor in $format" cmp "$work/expected.f32" "$work/new.f32"
  done
  values_of "$work/$format.gguf" output_norm.weight "$work/norm.f32"
  values_of "$model" output_norm.weight "$work/expected.f32"
  check "a norm beside $format" cmp "$work/norm.f32" "$work/expected.f32"
done
convert "$model" --to q8_0 --out "$work/q8_0.gguf" >"$work/log" 2>&1 || fail "to its own format" "$work/log"
says "its own format" '^kept +16 tensors, q8_0, .*: it has that format already' "$work/log"
check "its own format changes no tensor" cmp <(tail -c 6000000 "$model") <(tail -c 6000000 "$work/q8_0.gguf")

# Every quantised type that a file may have, to floats of 16 bits: the values that verify has of it.
check "all types to f16" convert "$models/all_types.gguf" --to f16 --out "$work/f16.gguf"
check "all types to bf16" convert "$models/all_types.gguf" --to bf16 --out "$work/bf16.gguf"
while read -r _ format; do
  for type in f16 bf16; do
    "$QKGEN" verify "$models/all_types.gguf" --target c --tensor "blk.0.$format.weight" --type $type --out "$work/old" 2>"$logs/verify"
    "$QKGEN" verify "$work/$type.gguf" --target c --tensor "blk.0.$format.weight" --type $type --out "$work/new" 2>"$logs/verify"
    check "$format as $type" cmp "$work/old" "$work/new"
  done
done <"$models/all_types.sha256"
# Floats of every type as sources: blocks of f16 and of the f32 that it is are the same.
check "f16 to f32" convert "$work/f16.gguf" --to f32 --out "$work/f32.gguf"
for type in f16 f32; do check "$type to q4_1" convert "$work/$type.gguf" --to q4_1 --out "$work/of_$type.gguf"; done
check "blocks of f16, and of f32" cmp "$work/of_f16.gguf" "$work/of_f32.gguf"
check "bf16 to q5_0" convert "$work/bf16.gguf" --to q5_0 --out "$work/q5_0.gguf"
check "bf16 to f32" convert "$work/bf16.gguf" --to f32 --out "$work/f32.gguf"
values_of "$work/f32.gguf" blk.0.q6_K.weight "$work/old.f32"
"$QKGEN" run encode --format q5_0 --target c --in "$work/old.f32" --out "$work/blocks" 2>"$logs/encode"
"$QKGEN" run dequant --format q5_0 --target c --type f32 --in "$work/blocks" --out "$work/expected.f32" 2>"$logs/dequant"
values_of "$work/q5_0.gguf" blk.0.q6_K.weight "$work/new.f32"
check "blocks of bf16" cmp "$work/expected.f32" "$work/new.f32"

# ---- the same file, whoever makes it ----

for jobs in 1 5; do
  convert "$model" --to q4_K --out "$work/jobs.gguf" --jobs $jobs >"$work/log" 2>&1 || fail "$jobs threads" "$work/log"
  check "the file of $jobs threads" cmp "$work/jobs.gguf" "$work/q4_K.gguf"
done
if [[ $targets == *vulkan* ]]; then
  for format in q4_K mxfp4; do
    check "$format on a device" convert "$model" --to $format --target vulkan --out "$work/device.gguf"
    check "the file of a device, $format" cmp "$work/device.gguf" "$work/$format.gguf"
  done
  check "f32 to blocks on a device" convert "$work/f32.gguf" --to q4_1 --target vulkan --out "$work/device.gguf"
  check "f32 to blocks" convert "$work/f32.gguf" --to q4_1 --out "$work/expected.gguf"
  check "the file of a device, of floats" cmp "$work/device.gguf" "$work/expected.gguf"
  check "blocks to f16 on a device" convert "$models/all_types.gguf" --to f16 --target vulkan --out "$work/device.gguf"
  check "the file of a device, to floats" cmp "$work/device.gguf" "$work/f16.gguf"
fi

# ---- the head ----

check "all tensors kept" convert "$model" --tensor '*=keep' --out "$work/kept.gguf"
check "a file that is kept" cmp "$model" "$work/kept.gguf"
check "all types kept" convert "$models/all_types.gguf" --tensor '*=keep' --out "$work/kept.gguf"
check "all types, kept" cmp "$models/all_types.gguf" "$work/kept.gguf"

# number FILE KEY: the u32 of a key; nothing where the file has none.
number() {
  local at
  at=$(grep -abo "$2" "$1" | head -n 1 | cut -d: -f1)
  [ -z "$at" ] || od -An -tu4 -j $((at + ${#2})) -N 8 "$1" | tr -s ' '
}
check "file_type" test "$(number "$work/q4_K.gguf" general.file_type)" = " 4 14"
check "quantization_version" test "$(number "$work/q4_K.gguf" general.quantization_version)" = " 4 2"
check "the alignment" test "$(number "$work/q4_K.gguf" general.alignment)" = " 4 32"
check "f16 has no quantization_version of ours" test "$(number "$work/f16.gguf" general.file_type)" = " 4 1"
# But for the number of keys, and the type of the file, all is the same up to where tensors are described.
end=$(grep -abo token_embd.weight "$model" | head -n 1 | cut -d: -f1)
type_at=$(($(grep -abo general.file_type "$model" | cut -d: -f1) + 17 + 4 + 1))
check "metadata byte for byte" test "$(cmp -l -n $((end - 8)) "$model" "$work/q4_K.gguf" | awk '{ print $1 }' | tr '\n' ' ')" = "17 $type_at "
check "one key more" test "$(od -An -tu8 -j 16 -N 8 "$work/q4_K.gguf" | tr -d ' ')" -eq $(($(od -An -tu8 -j 16 -N 8 "$model" | tr -d ' ') + 1))
check "once more" convert "$work/q4_K.gguf" --to q4_0 --out "$work/again.gguf"
check "quantization_version is there once" test "$(grep -abo general.quantization_version "$work/again.gguf" | wc -l)" -eq 1
check "file_type after two times" test "$(number "$work/again.gguf" general.file_type)" = " 4 2"

# ---- GGUF by hand: u32, u64, a text, a key of u32, a tensor ----

u32() { printf "\\x$(printf %02x $(($1 & 255)))\\x$(printf %02x $(($1 >> 8 & 255)))\\x$(printf %02x $(($1 >> 16 & 255)))\\x$(printf %02x $(($1 >> 24 & 255)))"; }
u64() { u32 $(($1 & 0xFFFFFFFF)) && u32 $(($1 >> 32)); }
text() { u64 ${#1} && printf %s "$1"; }
# tensor NAME TYPE OFFSET DIM...: innermost first
tensor() { text "$1" && u32 $(($# - 3)) && for dim in "${@:4}"; do u64 "$dim"; done && u32 "$2" && u64 "$3"; }
# Alignment 64; a file type twice; rows of 96, one dimension, a name that rules keep, i32, a type that nobody knows, nothing at all.
{
  printf GGUF && u32 3 && u64 7 && u64 4
  text general.file_type && u32 4 && u32 0
  text general.alignment && u32 4 && u32 64
  text odd.name && u32 8 && text $'a\xff\x01b'
  text general.file_type && u32 4 && u32 7
  tensor rows.weight 0 0 96 2
  tensor one.weight 0 768 64
  tensor blk.0.ssm_conv1d.weight 0 1024 32 4
  tensor numbers.weight 26 1536 32 2
  tensor strange.weight 77 1792 32 2
  tensor matrix.weight 0 1856 32 3
  tensor none.weight 0 2240 32 0
} >"$work/head"
{
  cat "$work/head" && head -c $((-$(stat -c %s "$work/head") & 63)) /dev/zero
  seq 1 1000 | head -c 2240
} >"$work/hand.gguf"
convert "$work/hand.gguf" --to q8_0 --out "$work/hand8.gguf" >"$work/log" 2>&1 || fail "a file by hand" "$work/log"
says "rows that divide" '^converted +3 tensors, f32 to q8_0, 1.2 to 0.3' <(sed 's/ 0.0 to 0.0 MB/ 1.2 to 0.3/' "$work/log")
says "one dimension" '^kept +1 tensor,  f32, 0.0 MB: it has one dimension \(one.weight\)' "$work/log"
says "a name" '^kept +1 tensor, .*: the rule `keep \*ssm_conv1d\*` \(blk.0.ssm_conv1d.weight\)' "$work/log"
says "integers" '^kept .*: i32 is neither a format with a specification nor f32, f16 or bf16 \(numbers.weight\)' "$work/log"
says "a type that nobody knows" '^kept .*: type 77 is neither a format .* \(strange.weight\)' "$work/log"
says "the last line" '^0.0 MB became 0.0 MB in [0-9.]+ s, on the C reference.*; peak memory [0-9]+ MB$' "$work/log"
check "file_type is there once" test "$(grep -abo general.file_type "$work/hand8.gguf" | wc -l)" -eq 1
check "bytes that are no text" grep -aq $'a\xff\x01b' "$work/hand8.gguf"
values_of "$work/hand.gguf" one.weight "$work/old.f32"
values_of "$work/hand8.gguf" one.weight "$work/new.f32"
check "a tensor behind others, alignment 64" cmp "$work/old.f32" "$work/new.f32"
convert "$work/hand.gguf" --to q4_K --out "$work/hand4.gguf" >"$work/log" 2>&1 || fail "blocks of 256" "$work/log"
says "rows that do not divide" '^kept .*: its rows of 96 do not divide by the 256 of a block of q4_K \(rows.weight\)' "$work/log"
check "nothing converted: no version of quantisation" test -z "$(number "$work/hand4.gguf" general.quantization_version)"

# Zeros, subnormal and large numbers, infinities and NaNs, as f32, to f16 and bf16, and back.
floats=$BUILD/floats
if ! [ "$floats" -nt "$SOURCE/tests/tools/floats.c" ]; then
  "${CC:-cc}" -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -o "$floats" "$SOURCE/tests/tools/floats.c" -lm
fi
{ printf GGUF && u32 3 && u64 1 && u64 0 && tensor hostile.weight 0 0 256 160; } >"$work/head"
"$floats" hostile 40960 3 >"$work/hostile.f32"
{ cat "$work/head" && head -c $((-$(stat -c %s "$work/head") & 31)) /dev/zero && cat "$work/hostile.f32"; } >"$work/hostile.gguf"
for type in f16 bf16; do
  check "hostile floats to $type" convert "$work/hostile.gguf" --to $type --out "$work/hostile.$type.gguf"
  "$QKGEN" verify "$work/hostile.$type.gguf" --target c --tensor hostile.weight --type $type --out "$work/rounded" 2>"$logs/verify"
  "$vectors" round $type "$work/hostile.f32" "$work/expected"
  check "hostile floats, rounded to $type" "$vectors" same $type "$work/rounded" "$work/expected"
  check "hostile $type to f32" convert "$work/hostile.$type.gguf" --to f32 --out "$work/wide.gguf"
  check "hostile f32 to $type" convert "$work/wide.gguf" --to $type --out "$work/narrow.gguf"
  "$QKGEN" verify "$work/narrow.gguf" --target c --tensor hostile.weight --type $type --out "$work/again" 2>"$logs/verify"
  check "hostile $type, wide and narrow again" "$vectors" same $type "$work/again" "$work/rounded"
done

# No tensors, and an alignment of 2^31: nothing is padded.
{ printf GGUF && u32 3 && u64 0 && u64 1 && text general.alignment && u32 4 && u32 2147483648; } >"$work/empty.gguf"
check "a file without tensors, by default" convert "$work/empty.gguf" --to q4_K --out "$work/empty4.gguf"
check "its length" test "$(stat -c %s "$work/empty4.gguf")" -lt 200

# ---- rows with a header: each tensor of tests/vectors/rows, and one that is longer than a piece ----

rows=$SOURCE/tests/vectors/rows offset=0 count=1
number_of() { sed -n "s/^gguf \([0-9]*\) $1\$/\1/p" "$SOURCE/formats/containers.txt"; }
pad() { head -c $((-$1 & 31)) /dev/zero; }
for ((i = 0; i < 700; i++)); do cat "$rows/iq4_kss.blocks"; done >"$work/long.blocks"
for ((i = 0; i < 700; i++)); do cat "$rows/iq4_kss.f32"; done >"$work/long.f32"
for path in "$rows"/*.blocks; do count=$((count + 1)); done
{
  printf GGUF && u32 3 && u64 $count && u64 0
  for path in "$rows"/*.blocks; do
    format=${path##*/} format=${format%.blocks}
    tensor "$format.weight" "$(number_of "$format")" $offset 512 3
    offset=$((offset + ($(stat -c %s "$path") + 31) / 32 * 32))
  done
  tensor long.weight "$(number_of iq4_kss)" $offset 512 2100
} >"$work/head"
{
  cat "$work/head" && pad "$(stat -c %s "$work/head")"
  for path in "$rows"/*.blocks; do cat "$path" && pad "$(stat -c %s "$path")"; done
  cat "$work/long.blocks" && pad "$(stat -c %s "$work/long.blocks")"
} >"$work/rows.gguf"
check "rows with a header" "$QKGEN" verify "$work/rows.gguf" --target c
"$QKGEN" verify "$work/rows.gguf" --target c >"$work/log" 2>&1
says "all of them" "^$count tensors: $count decoded, 0 of them differ" "$work/log"
for target in c $([[ $targets == *vulkan* ]] && echo vulkan); do
  check "rows with a header to f32, $target" convert "$work/rows.gguf" --to f32 --target "$target" --out "$work/rows32.gguf"
  check "rows with a header to q8_0, $target" convert "$work/rows.gguf" --to q8_0 --target "$target" --out "$work/rows8.$target.gguf"
  for path in "$rows"/*.f32 "$work/long.f32"; do
    format=${path##*/} format=${format%.f32}
    values_of "$work/rows.gguf" "$format.weight" "$work/old.f32"
    check "the values of rows of $format" cmp "$work/old.f32" "$path"
    "$QKGEN" verify "$work/rows32.gguf" --target c --type f32 --tensor "$format.weight" --out "$work/new.f32" 2>"$logs/verify"
    check "$format as f32, $target" cmp "$work/new.f32" "$path"
  done
done
"$QKGEN" run encode --format q8_0 --target c --in "$work/long.f32" --out "$work/blocks" 2>"$logs/encode"
check "blocks made of rows with a header" cmp "$work/blocks" <(tail -c "$(stat -c %s "$work/blocks")" "$work/rows8.c.gguf")
for path in "$work"/rows8.*.gguf; do check "the same, of every target" cmp "$path" "$work/rows8.c.gguf"; done
check "rows with a header, kept" convert "$work/rows.gguf" --tensor '*=keep' --out "$work/kept.gguf"
check "the same file" cmp "$work/rows.gguf" "$work/kept.gguf"
head -c -32 "$work/rows.gguf" >"$work/short.gguf"
refuses "a row that is cut off" "the tensor 'long.weight' has 1075200 elements of type iq4_kss, which do not fit in" \
  "$QKGEN" convert "$work/short.gguf" --to f32 --out "$work/x.gguf"
{ printf GGUF && u32 3 && u64 1 && u64 0 && tensor rows.weight "$(number_of iq4_kss)" 0 500 3; } >"$work/head"
{ cat "$work/head" && head -c 1000 /dev/zero; } >"$work/part.gguf"
refuses "rows of part of a block" 'rows of 500 elements, and blocks of iq4_kss hold 256' \
  "$QKGEN" verify "$work/part.gguf" --target c

# ---- --tensor and --rules ----

convert "$model" --to q4_0 --tensor 'blk.0.attn_?.weight' --out "$work/some.gguf" >"$work/log" 2>&1 || fail "--tensor" "$work/log"
says "some tensors" '^converted +3 tensors, q8_0 to q4_0' "$work/log"
says "the others" '^kept +13 tensors, q8_0, .*: --tensor does not name it' "$work/log"
check "the type of the file stays" test "$(number "$work/some.gguf" general.file_type)" = "$(number "$model" general.file_type)"
convert "$model" --to q4_0 --tensor 'output.weight=q6_K' --tensor '*attn_v*=keep' --tensor 'output_norm.weight=q8_0' \
  --out "$work/mixed.gguf" >"$work/log" 2>&1 || fail "formats of their own" "$work/log"
says "the usual format" '^converted +13 tensors, q8_0 to q4_0' "$work/log"
says "a format of its own" '^converted +1 tensor,  q8_0 to q6_K' "$work/log"
says "a norm that was named" '^converted +1 tensor,  f32 to q8_0' "$work/log"
says "kept by name" '^kept +2 tensors, q8_0, .*: --tensor says so' "$work/log"
check "verify reads it" "$QKGEN" verify "$work/mixed.gguf" --target c
printf 'keep *attn_q.weight\nfile-type 77 q4_0\ngguf 99 q5_1\n' >"$work/rules"
convert "$model" --to q4_0 --rules "$work/rules" --out "$work/ruled.gguf" >"$work/log" 2>&1 || fail "--rules" "$work/log"
says "a rule of one's own" '^kept +2 tensors, .*: the rule `keep \*attn_q.weight`' "$work/log"
check "its number" test "$(number "$work/ruled.gguf" general.file_type)" = " 4 77"
printf 'gguf x q4_0\n' >"$work/rules"
refuses "a number that is none" 'rules:1: GGUF has numbers of at most 32 bits' \
  "$QKGEN" convert "$model" --to q4_0 --rules "$work/rules" --out "$work/x.gguf"

# ---- what is refused, with nothing left behind ----

bad() { refuses "$1" "error: .*$2" timeout 60 "$QKGEN" convert "${@:3}" --out "$work/bad.gguf"; }
bad "no --to" 'needs --to FORMAT' "$model"
refuses "no --out" 'needs --out FILE' "$QKGEN" convert "$model" --to q4_0
bad "no file" 'convert needs one file' --to q4_0
bad "two files" 'convert needs one file' "$model" "$model" --to q4_0
bad "a missing file" 'missing: No such file' "$work/missing" --to q4_0
bad "an unknown format" 'no format is named q4_9; did you mean' "$model" --to q4_9
bad "a format without encode" "iq2_s does not say how its blocks are made: its specification needs 'encode'" "$model" --to iq2_s
bad "a format that GGUF has not" 'GGUF has no type for affine_b4_g64_f16' "$model" --to affine_b4_g64_f16
bad "safetensors" 'convert reads GGUF, and this is safetensors; convert it to GGUF first' "$models/named.safetensors" --to q4_0
bad "something else" 'byte 0: neither GGUF nor safetensors' "$SOURCE/README.md" --to q4_0
bad "a pattern of nothing" "no tensor is named blk.0.attn_k.weigth; did you mean blk.0.attn_k.weight" "$model" --to q4_0 --tensor blk.0.attn_k.weigth
bad "a pattern of nothing like it" "no tensor is named \*zzz\*; .*lists them" "$model" --to q4_0 --tensor '*zzz*'
bad "a pattern behind another" '--tensor output.weight: earlier patterns have taken' "$model" --to q4_0 --tensor '*' --tensor output.weight
bad "--tensor alone" "--tensor output.weight needs --to FORMAT, or its own: --tensor 'output.weight=FORMAT'" "$model" --tensor output.weight
bad "a wrong format of a tensor" 'no format is named q4_9' "$model" --tensor output.weight=q4_9
bad "a tensor whose rows do not divide" \
  "byte [0-9]+: the tensor 'rows.weight' cannot become q4_K: its rows of 96 do not divide by the 256 of a block of q4_K; leave it out" \
  "$work/hand.gguf" --tensor rows.weight=q4_K
bad "a tensor of integers" "'numbers.weight' cannot become q8_0: i32 is neither a format" "$work/hand.gguf" --tensor numbers.weight=q8_0
bad "a tensor of no known type" "'strange.weight' cannot become q8_0: type 77 is neither a format" \
  "$work/hand.gguf" --tensor strange.weight=q8_0
bad "a wrong target" '--target must be c or vulkan' "$model" --to q4_0 --target msl
bad "too many threads" '--jobs must be at most 64, not 65' "$model" --to q4_0 --jobs 65
bad "threads of a device" '--jobs is for --target c' "$model" --to q4_0 --target vulkan --jobs 2
bad "a device for C" '--device is for --target vulkan' "$model" --to q4_0 --device 0
for length in 3 23 500 1500 100000; do
  head -c $length "$model" >"$work/cut.gguf"
  bad "a file of $length bytes" 'cut.gguf: byte [0-9]+: ' "$work/cut.gguf" --to q4_0
done
refuses "no such folder" 'cannot write .*/none/x.gguf: No such file' "$QKGEN" convert "$model" --to q4_0 --out "$work/none/x.gguf"
cp "$model" "$work/same.gguf"
refuses "the same file" 'is the file that is read' "$QKGEN" convert "$work/same.gguf" --to q4_0 --out "$work/./same.gguf"
check "it is as it was" cmp "$model" "$work/same.gguf"
refuses "a limit of files" 'cannot write .*bad.gguf: File too large' \
  bash -c "ulimit -f 100; exec timeout 60 '$QKGEN' convert '$model' --to q4_0 --out '$work/bad.gguf'"
CC=false refuses "no compiler" 'the C compiler failed on' env XDG_CACHE_HOME="$work/none-cached" "$QKGEN" convert "$model" --to q4_0 --out "$work/bad.gguf"
check "nothing is left behind" test -z "$(find "$work" -name 'bad.gguf*')"

# A command that is ended removes what it has written.
"$QKGEN" convert "$model" --to q4_K --jobs 1 --out "$work/ended.gguf" >"$work/log" 2>&1 &
process=$!
for _ in $(seq 500); do
  if compgen -G "$work/ended.gguf.*" >"$work/part"; then break; fi
  sleep 0.01
done
check "it is written elsewhere first" test -s "$work/part"
kill -TERM $process
status=0
wait $process || status=$?
check "it was ended" test $status -eq $((128 + 15))
check "nothing of it is left" test -z "$(find "$work" -name 'ended.gguf*')"
finish
