#!/usr/bin/env bash
# Files that are no specification: an error with exit status 1 within a second or so, and nothing written. What is wrong
# inside of a specification is in tests/errors.
source "$(dirname "$0")/../lib.sh"
good=$SOURCE/formats/q4_0.quant
mkdir "$work/in"
cd "$work/in"

# bad SENTENCE PATTERN FILE
bad() {
  local before after started
  before=$(ls -lA --time-style=full-iso)
  started=$(date +%s%N)
  refuses "check of $1" "$2" timeout 5 "$QKGEN" check "$3"
  check "check of $1 takes longer than two seconds" test $((($(date +%s%N) - started) / 1000000)) -lt 2000
  refuses "run with $1" "$2" timeout 5 "$QKGEN" run dequant --spec "$3" --format q4_0 --target c --type f32 \
    --in "$SOURCE/tests/vectors/ggml/q4_0.blocks" --out out
  refuses "emit with $1" "$2" timeout 5 "$QKGEN" emit --spec "$3" --format q4_0 --out tree
  after=$(ls -lA --time-style=full-iso)
  check "$1: something was written" test "$before" = "$after"
}

cp "$good" hole.quant
truncate -s 1G hole.quant
bad "1 GB of zeros after a specification" 'hole.quant(:[0-9:]+)?: error: ' hole.quant
{ printf '# '; head -c 1048576 /dev/zero | tr '\0' x; } >line.quant
bad "a line of a megabyte" 'line.quant(:[0-9:]+)?: error: ' line.quant
sed 's/4 @ 0/4 @\x00 0/' "$good" >nul.quant
bad "a NUL byte" 'nul.quant:[0-9]+:[0-9]+: error: ' nul.quant
: >empty.quant
bad "an empty file" 'empty.quant:1:1: error: ' empty.quant
head -c 100000 "$QKGEN" >program.quant
bad "a program" 'program.quant:[0-9]+:[0-9]+: error: ' program.quant
bad "/dev/null" '/dev/null(:[0-9:]+)?: error: ' /dev/null
bad "a folder" 'in: error: |folder|directory' "$work/in"
bad "a missing file" 'missing.quant: error: ' missing.quant
ln -s loop.quant loop.quant
bad "a link to itself" 'loop.quant: error: ' loop.quant
if [ "$(id -u)" -ne 0 ]; then
  cp "$good" secret.quant
  chmod 0 secret.quant
  bad "an unreadable file" 'secret.quant: error: ' secret.quant
fi

# A line of one gigabyte without a hole takes too long to make; one that is read as it is made must stop the reader.
refuses "check of an endless line" 'error: ' timeout 5 sh -c 'yes x | tr -d "\n" | "$QKGEN" check /dev/stdin'

refuses "check of nothing" 'check needs a specification' "$QKGEN" check
refuses "one of two files is wrong" 'empty.quant:1:1: error: ' "$QKGEN" check "$good" empty.quant

# What a kernel calls its own things, at the top of its text, cannot be the name of a buffer: a specification that compiles in
# one schedule and not in another would be found late.
own_names() { # of functions; of constants and arrays
  sed -nE 's/^(void|u?int|float|vec[24]|ivec4|uvec[24]|f16vec2|accumulators) ([A-Za-z_0-9]+)\(.*/\2/p
    s/^(shared |const |layout\(constant_id.*\) const )?(uint|int|float|vec[24]|uvec[24]) ([A-Za-z_0-9]+)[[ ;=,].*/\3/p' \
    "$SOURCE"/out/q[46]_[0K]/*_gemv*.comp "$SOURCE"/templates/gemv*.comp "$SOURCE"/templates/*_{x,runs,slice,lanes}.glsl \
    "$SOURCE"/templates/mma_units.glsl | grep -vx 'main\|blocks_.*' | sort -u
}
own_names >names
check "kernels have names of their own" test "$(wc -l <names)" -gt 50
for name in $(<names); do
  printf 'format mine "one buffer"\nblock 32 {\n buffer %s { f: u8[16] }\n}\ncode q = f { 4 @ 0 (16:8, 2:4) }\nvalue = q - 8\n' "$name" \
    >mine.quant
  refuses "a buffer called $name" "mine.quant:3:[0-9]+: error: .*$name" "$QKGEN" check mine.quant
done

# A command that needs one format reads the files that may hold it, and not what is wrong beside them; where it is not found so, all.
mkdir "$work/beside"
cp "$good" "$work/beside/q4_0.quant"
sed 's/format q4_0/format other_name/' "$good" >"$work/beside/file.quant"
printf 'format nothing\n' >"$work/beside/wrong.quant"
check "a wrong file beside the format" "$QKGEN" --dump=layout --formats "$work/beside" --format q4_0
refuses "a wrong file, where all are read" 'wrong.quant:[0-9]+:[0-9]+: error: ' "$QKGEN" list --formats "$work/beside"
refuses "a wrong file, where the format is not found" 'wrong.quant:[0-9]+:[0-9]+: error: ' \
  "$QKGEN" --dump=layout --formats "$work/beside" --format other_name
rm "$work/beside/wrong.quant"
check "a format in a file of another name" "$QKGEN" --dump=layout --formats "$work/beside" --format other_name
refuses "a name twice" 'a format named q4_0 exists already' "$QKGEN" --dump=layout --spec "$good" --format q4_0

finish
