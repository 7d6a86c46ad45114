#!/usr/bin/env bash
# Bad files, bad requests, a full disk, no device: a message that says what is wrong, exit status 1, and nothing under the
# final name, nor any trace beside it.
source "$(dirname "$0")/../lib.sh"

folder=$work/results.d # where outputs go; empty but for what a test puts there
mkdir "$folder"
reference q4_0 "$work/q4_0"
reference affine_b4_g64_f16 "$work/affine"
blocks=$work/q4_0/blocks

# expect_left FILE...: what the folder holds now; then empties it.
expect_left() {
  check "$last left something else in the folder than '$*'" test "$(ls -A "$folder" | xargs)" = "$*"
  rm -rf "${folder:?}"/*
}

# bad SENTENCE PATTERN ARGUMENT...: a run that must fail and leave nothing.
bad() {
  last=$1
  refuses "$1" "error: .*$2" timeout 20 "$QKGEN" run "${@:3}"
  expect_left
}

# Both targets. Arguments: SENTENCE PATTERN ARGUMENT...; the output is added.
bad_dequant() {
  local target
  for target in c vulkan; do
    bad "$1, $target" "$2" dequant --target $target --type f32 --out "$folder/out" "${@:3}"
  done
}

# ---- input ----

head -c 100 "$blocks" >"$work/cut"
bad_dequant "no multiple of the block" 'cut holds 100 bytes, .* multiple of the 18 bytes' --format q4_0 --in "$work/cut"
bad_dequant "a missing file" 'missing: No such file' --format q4_0 --in "$work/missing"
bad_dequant "a folder as input" 'not a regular file' --format q4_0 --in "$work"
bad_dequant "a device as input" 'not a regular file' --format q4_0 --in /dev/null
bad_dequant "no input" 'needs --in' --format q4_0
bad_dequant "two inputs for one buffer" 'has 1 buffers?, but --in was given 2' --format q4_0 --in "$blocks" --in "$blocks"
if [ "$(id -u)" -ne 0 ]; then
  cp "$blocks" "$work/secret"
  chmod 0 "$work/secret"
  bad_dequant "an unreadable file" 'secret: Permission denied' --format q4_0 --in "$work/secret"
fi

planar=(--format affine_b4_g64_f16 --in "weight=$work/affine/weight" --in "scales=$work/affine/scales")
bad_dequant "a buffer missing" 'buffers, but --in was given 2|needs --in biases=' "${planar[@]}"
bad_dequant "a buffer twice" 'needs --in biases=' "${planar[@]}" --in "scales=$work/affine/scales"
bad_dequant "a buffer of another name" 'needs --in biases=' "${planar[@]}" --in "zeros=$work/affine/biases"
head -c 8 "$work/affine/biases" >"$work/short"
bad_dequant "buffers of different lengths" 'short holds 4 blocks of .*, but .*weight holds 160' "${planar[@]}" \
  --in "biases=$work/short"
head -c 7 "$work/affine/biases" >"$work/shorter"
bad_dequant "a buffer cut short" 'shorter holds 7 bytes' "${planar[@]}" --in "biases=$work/shorter"

: >"$work/empty"
for target in c vulkan; do
  last="an empty file, $target"
  check "$last" "$QKGEN" run dequant --format q4_0 --target $target --type f16 --in "$work/empty" --out "$folder/out"
  check "$last gives an empty file" cmp "$work/empty" "$folder/out"
  expect_left out
done

# ---- request ----

bad_dequant "an unknown format" 'no format is named q4_k; did you mean q4_K\?' --format q4_k --in "$blocks"
bad_dequant "a very unknown format" 'no format is named xyzzy' --format xyzzy --in "$blocks"
bad "an unknown type" '--type must be f32, f16 or bf16' dequant --format q4_0 --target c --type f64 --in "$blocks" \
  --out "$folder/out"
bad "no type" '--type must be' dequant --format q4_0 --target c --in "$blocks" --out "$folder/out"
bad "an unknown target" '--target must be c' dequant --format q4_0 --target cuda --type f32 --in "$blocks" \
  --out "$folder/out"
bad "an unknown family" 'no kernel family is named dequantise' dequantise --format q4_0 --target c --type f32 \
  --in "$blocks" --out "$folder/out"
bad "an unknown option" 'unknown option --fromat' dequant --fromat q4_0
bad "an option without its value" '--out needs a value' dequant --format q4_0 --target c --type f32 --in "$blocks" --out
bad "no output" 'needs --out' dequant --format q4_0 --target c --type f32 --in "$blocks"
bad_dequant "a missing specification" 'missing.quant' --spec "$work/missing.quant" --format q4_0 --in "$blocks"
bad_dequant "a missing data folder" 'cannot open the folder' --data "$work/missing" --format q4_0 --in "$blocks"

"$vectors" u32 0 1 2 >"$work/indices"
bad_gather() {
  local target
  for target in c vulkan; do
    bad "$1, $target" "$2" gather --format q4_0 --in "$blocks" --target $target --type f32 --out "$folder/out" "${@:3}"
  done
}
bad_gather "columns that are no whole blocks" '--cols is 48, .* multiple of the 32' --rows 4 --cols 48 \
  --indices "$work/indices"
bad_gather "another shape" 'holds? 512 elements, .*--rows 4 times --cols 64' --rows 4 --cols 64 --indices "$work/indices"
bad_gather "a shape that overflows" '512 elements' --rows 18446744073709551615 --cols 64 --indices "$work/indices"
bad_gather "a shape that overflows to the right one" '512 elements' --rows 576460752303423504 --cols 32 \
  --indices "$work/indices"
bad_gather "no rows" '--rows' --rows 0 --cols 32 --indices "$work/indices"
bad_gather "rows that are no number" '--rows must be a whole number' --rows -4 --cols 32 --indices "$work/indices"
bad_gather "no indices" 'needs --indices' --rows 16 --cols 32
bad_gather "missing indices" 'missing: No such file' --rows 16 --cols 32 --indices "$work/missing"
head -c 7 "$work/indices" >"$work/indices7"
bad_gather "indices cut short" 'indices7 holds 7 bytes' --rows 16 --cols 32 --indices "$work/indices7"

# ---- output ----

last="a missing folder for the output"
for target in c vulkan; do
  refuses "$last" 'cannot write .*No such file' "$QKGEN" run dequant --format q4_0 --target $target --type f32 \
    --in "$blocks" --out "$folder/none/out"
  refuses "a folder as output" 'cannot write .*[Dd]irectory' "$QKGEN" run dequant --format q4_0 --target $target \
    --type f32 --in "$blocks" --out "$folder"
done
expect_left
check "a trace of a failed run" test -z "$(find "$work" -name '*.part')"

# A limit on the size of files is an early end of the disk. The run makes 2 MiB; the cache is full already.
for _ in $(seq 1024); do cat "$blocks"; done >"$work/many"
limited() {
  (ulimit -f 512 && exec "$QKGEN" run dequant --format q4_0 --target "$1" --type f32 --in "$work/many" --out "$folder/out")
}
for target in c vulkan; do
  "$QKGEN" run dequant --format q4_0 --target $target --type f32 --in "$work/many" --out "$work/whole" 2>/dev/null ||
    fail "a large run, $target"
  last="an output that does not fit, $target"
  refuses "$last" 'cannot write .*out: File too large' limited $target
  expect_left
  echo precious >"$folder/out"
  refuses "$last, over another" 'cannot write .*out: File too large' limited $target
  check "$last destroyed the older output" test "$(cat "$folder/out")" = precious
  expect_left out
done

# A full disk, where we may mount one.
disk=$work/disk
mkdir "$disk"
if mount -t tmpfs -o size=256k none "$disk" 2>/dev/null; then
  trap 'umount "$disk"' EXIT
  for target in c vulkan; do
    echo precious >"$disk/out"
    refuses "a full disk, $target" 'cannot write .*out: No space left' "$QKGEN" run dequant --format q4_0 \
      --target $target --type f32 --in "$work/many" --out "$disk/out"
    check "a full disk destroyed the older output" test "$(cat "$disk/out")" = precious
    check "a full disk: a trace is left" test "$(ls -A "$disk")" = out
  done
  refuses "emit to a full disk" 'cannot write: .*No space left' "$QKGEN" emit --format q4_K --format q6_K --out "$disk/tree"
  check "emit to a full disk: a trace is left" test -z "$(find "$disk" -name '*.tmp*')"
fi

# ---- devices ----

without_device() {
  env VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent QKGEN_VALIDATION=0 "$@"
}
last="no device"
refuses "$last" 'mesa-vulkan-drivers' without_device "$QKGEN" run dequant --format q4_0 --target vulkan --type f32 \
  --in "$blocks" --out "$folder/out"
expect_left
refuses "devices without any" 'mesa-vulkan-drivers' without_device "$QKGEN" devices
check "the C target without a device" without_device "$QKGEN" run dequant --format q4_0 --target c --type f32 \
  --in "$blocks" --out "$folder/out"
check "its output" cmp "$folder/out" "$work/q4_0/values.f32"
expect_left out
bad "an unknown device" "nonsense" dequant --device nonsense --format q4_0 --target vulkan --type f32 --in "$blocks" \
  --out "$folder/out"
bad "a device number too high" "99" dequant --device 99 --format q4_0 --target vulkan --type f32 --in "$blocks" \
  --out "$folder/out"
finish
