#!/usr/bin/env bash
# The examples of docs/format-language.md: every `quant` block is proven, and decodes random bytes to the same values with
# both targets; every `quant-error` block gives exactly the diagnostics of the block that follows it.
source "$(dirname "$0")/../lib.sh"
mkdir "$work/examples"
cd "$work/examples"

# Each block goes to the file that its format is named after, what stands before a parameter counting as the name.
awk '
  function open_file(kind,   name) {
    getline
    if ($1 != "format") { print "a block of kind " kind " begins with: " $0; bad = 1; exit 1 }
    name = $2
    sub(/[{].*/, "", name)
    if (name in seen) { print "two examples are named " name; bad = 1; exit 1 }
    seen[name] = 1
    print name >> kind
    file = name ".quant"
    print > file
    return name
  }
  /^```quant$/ { open_file("good"); inside = 1; next }
  /^```quant-error$/ { wrong = open_file("wrong"); inside = 1; next }
  /^```$/ && wrong && !inside { file = wrong ".err"; wrong = ""; printf "" > file; inside = 1; next }
  /^```$/ && inside { close(file); inside = 0; next }
  /^```/ && !inside { inside = 1; file = "/dev/null"; next }
  inside { print > file }
  END { if (!bad && (wrong || inside)) { print "a block does not end, or its diagnostics are missing"; exit 1 } }
' "$SOURCE/docs/format-language.md" >"$work/log" || fail "the blocks of the document" "$work/log"

# canonical NAME: the canonical form of a specification parses, and is its own.
canonical() {
  local format
  format=$("$QKGEN" check "$1.quant" | sed -n '1s/:.*//p')
  "$QKGEN" --dump=spec --spec "$1.quant" --format "$format" >"$1.canonical.quant"
  mkdir -p none
  "$QKGEN" --dump=spec --formats none --spec "$1.canonical.quant" --format "$format" | diff "$1.canonical.quant" -
}

while read -r name; do
  check "the example $name" "$QKGEN" check "$name.quant"
  check "the canonical form of the example $name" canonical "$name"
done <good
says "the origin in the canonical form" '^from "an engine of ours' origin.canonical.quant

while read -r name; do
  refuses "the wrong example $name" . "$QKGEN" check "$name.quant"
  "$QKGEN" check "$name.quant" 2>"$name.got" || true
  check "the diagnostics of the example $name" diff "$name.err" "$name.got"
done <wrong

# decodes SPEC FORMAT: 77 blocks of random bytes.
decodes() {
  local spec=$1 format=$2 target in=() buffer size
  buffers "$format" --spec "$spec" >"$format.buffers"
  while read -r buffer size; do
    "$vectors" random "$size" $((77 * size)) >"$format.$buffer"
    in+=(--in "$buffer=$format.$buffer")
  done <"$format.buffers"
  for target in $targets; do
    check "$format on $target" "$QKGEN" run dequant --spec "$spec" --format "$format" --target $target --type f32 \
      "${in[@]}" --out "$format.$target"
  done
  check "$format: the targets differ" "$vectors" same f32 "$format.vulkan" "$format.c"
}
export -f decodes
while read -r name; do
  "$QKGEN" check "$name.quant" 2>/dev/null | sed -nE "s/^([A-Za-z0-9_]+): .*/decodes $name.quant \1/p" || true
done <good | each
finish
