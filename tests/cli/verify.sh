#!/usr/bin/env bash
# qkgen verify: the tables of whole model files, the values of every tensor whose format is known, what tells formats of
# the same shapes apart, and what is said of files and requests that are wrong.
source "$(dirname "$0")/../lib.sh"
models=$SOURCE/tests/models
target_options=()
for target in $targets; do target_options+=(--target "$target"); done
verify() { timeout 120 "$QKGEN" verify "$@"; }
export -f verify
export models

# ---- GGUF ----

check "a GGUF file" verify "$models/all_types.gguf" "${target_options[@]}"
verify "$models/all_types.gguf" "${target_options[@]}" >"$work/table" || true
while read -r sum format; do
  says "$format in the table" "^blk\\.0\\.$format\\.weight +$format +16x512 +8192 .* agree\$" "$work/table"
  check "extracting $format" verify "$models/all_types.gguf" --tensor "blk.0.$format.weight" --out "$work/$format.f32" \
    --target c
  check "the values of $format" sha256sum -c <(echo "$sum  $work/$format.f32")
done <"$models/all_types.sha256"
says "the last line" "^25 tensors: 25 decoded, 0 of them differ; 0 plain" "$work/table"

# Version 2 differs in its number alone.
cp "$models/all_types.gguf" "$work/two.gguf"
printf '\2' | dd of="$work/two.gguf" bs=1 seek=4 conv=notrunc status=none
check "GGUF 2" verify "$work/two.gguf" --target c

# ---- safetensors ----

check "a safetensors file" verify "$models/named.safetensors" "${target_options[@]}"
verify "$models/named.safetensors" "${target_options[@]}" >"$work/table" || true
says "a plain tensor" '^norm\.weight +bf16 +512 +512 .* plain$' "$work/table"
check "extracting a plain tensor" verify "$models/named.safetensors" --tensor norm.weight --type bf16 --out "$work/norm"
check "its size" test "$(stat -c %s "$work/norm")" -eq 1024
refuses "converting a plain tensor" 'only written as it is; use --type bf16' \
  verify "$models/named.safetensors" --tensor norm.weight --out "$work/norm"

# values FILE STEM FORMAT ARGUMENT...: the tensor has the values of the vectors.
values() {
  rm -f "$work/out"
  check "$2 as $3" verify "$1" --tensor "$2" --out "$work/out" --target c "${@:4}"
  check "the values of $2 as $3" cmp "$work/out" <(gzip -dc "$SOURCE/tests/vectors/mlx/$3/values.f32.gz")
}
for stem in b2_g32_float32 b3_g64_float16 b4_g64_bfloat16 b5_g128_float16 b6_g32_bfloat16 b8_g128_float32 \
  b4_g128_float16; do
  format=affine_${stem/bfloat/bf}
  format=${format/float/f}
  says "$stem" "^affine_$stem\\.weight +$format +8x512 +4096 .* agree\$" "$work/table"
  values "$models/named.safetensors" "affine_$stem" "$format"
done

# Shapes that several formats have: config.json tells them apart, or --set, or the user is asked.
model=$models/configured/model.safetensors
check "a model with a configuration" verify "$model" --target c
values "$model" model.layers.0.self_attn.q_proj affine_b4_g64_f16
values "$model" model.layers.0.mlp.down_proj affine_b8_g32_f16
values "$model" model.layers.0.mlp.up_proj affine_b2_g128_f16
values "$model" lm_head.weight affine_b5_g64_bf16
mkdir "$work/alone"
cp "$model" "$work/alone/"
alone=$work/alone/model.safetensors
refuses "a model without one" 'q_proj.weight may be affine_.* or affine_.*--set bits=' verify "$alone" --target c
check "what is clear is decoded" verify "$alone" --target c --tensor lm_head
values "$alone" model.layers.0.mlp.down_proj affine_b8_g32_f16 --set bits=8
values "$alone" model.layers.0.mlp.down_proj affine_b8_g32_f16 --set group=32
echo '{"quantization": ' >"$work/alone/config.json"
refuses "a bad configuration" 'config.json: byte [0-9]+: no valid JSON' verify "$alone" --target c
rm "$work/alone/config.json"

# ---- rules ----

printf 'gguf 2 nothing_known # comes first\n\n' >"$work/rules"
verify "$models/all_types.gguf" --target c --rules "$work/rules" >"$work/table"
says "a rule that comes first" '^blk\.0\.q4_0\.weight +nothing_known .* format not known$' "$work/table"
says "the last line, with a format that is not known" '^25 tensors: 24 decoded, 0 of them differ; 0 plain' "$work/table"
refuses "extracting what is not known" 'of the format nothing_known, which no specification describes' \
  verify "$models/all_types.gguf" --tensor blk.0.q4_0.weight --out "$work/out" --target c --rules "$work/rules"
printf 'gguf 2\n' >"$work/rules"
refuses "a wrong rule" 'rules:1: a line of a container' verify "$models/all_types.gguf" --rules "$work/rules"

# ---- disagreement ----

# A C compiler that gets one element wrong.
cat >"$work/wrong-cc" <<'END'
#!/bin/sh
for last; do :; done
sed -i 's/dst\[i\] = value_at(weights, i)/dst[i] = i == 17 ? 1e9f : value_at(weights, i)/' "$last"
exec cc "$@"
END
chmod +x "$work/wrong-cc"
if [[ $targets == *vulkan* ]]; then
  export CC=$work/wrong-cc
  refuses "targets that differ" 'q4_0.weight: 1 .*element 17: 0x4E6E6B28 on c' \
    verify "$models/all_types.gguf" --tensor blk.0.q4_0.weight
  rm -f "$work/out"
  refuses "targets that differ, with --out" 'element 17' \
    verify "$models/all_types.gguf" --tensor blk.0.q4_0.weight --target c --target vulkan --out "$work/out"
  check "nothing is written then" test ! -e "$work/out"
  unset CC
fi

# ---- wrong files and requests ----

bad() { refuses "$1" "error: .*$2" timeout 20 "$QKGEN" verify "${@:3}"; }
head -c 1000 "$models/all_types.gguf" >"$work/cut.gguf"
bad "a GGUF file cut short" 'cut.gguf: byte [0-9]+: .*fetch it again' "$work/cut.gguf"
head -c 60000 "$models/all_types.gguf" >"$work/cut.gguf"
bad "a GGUF file without all its data" 'cut.gguf: byte [0-9]+: .*after the end' "$work/cut.gguf"
head -c 20000 "$models/named.safetensors" >"$work/cut.safetensors"
bad "a safetensors file cut short" 'byte [0-9]+: .*, after the [0-9]+ bytes that the file has' "$work/cut.safetensors"
: >"$work/empty"
bad "an empty file" 'byte 0: neither GGUF nor safetensors' "$work/empty"
bad "something else" 'neither GGUF nor safetensors' "$SOURCE/README.md"
bad "no file" 'verify needs one file'
bad "a missing file" 'missing: No such file' "$work/missing"
bad "a folder" 'not a regular file' "$work"
bad "a missing tensor" 'no tensor named nothing' "$models/all_types.gguf" --tensor nothing
bad "--out alone" 'needs --tensor' "$models/all_types.gguf" --out "$work/out"
bad "a wrong target" 'must be c, vulkan or msl' "$models/all_types.gguf" --target cuda
bad "a target twice" 'given twice' "$models/all_types.gguf" --target c --target c
bad "a wrong type" '--type must be' "$models/all_types.gguf" --type f64
bad "a wrong --set" 'PARAMETER=VALUE' "$models/all_types.gguf" --set bits
finish
