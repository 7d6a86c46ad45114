#!/usr/bin/env bash
# What the documents show. Of docs/format-language.md, every `quant` block is proven, and decodes random bytes to the same values with
# both targets; every `quant-error` block gives exactly the diagnostics of the block that follows it. In documents with
# `console` blocks, a block with `file=NAME` is that file, and every command behind a '$' runs, in the order of the document
# and in a folder of its own, and writes what follows it, where `...` stands for any text; of a block that `fails`, the last
# command ends with status 1.
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

# decodes SPEC FORMAT: 77 blocks of random bytes; in a matrix, 7 rows of 11, where a buffer may have one for each row or column,
# or a table of them.
decodes() {
  local spec=$1 format=$2 target in=() buffer size blocks axes shape header
  shape=$("$QKGEN" --dump=layout --format "$format" --spec "$spec" | sed -nE \
    's/^patches of .*, ([0-9]+) rows of ([0-9]+) columns.*/--rows $((7 * \1)) --cols $((11 * \2))/p')
  eval "in=($shape)"
  buffers "$format" --spec "$spec" >"$format.buffers"
  while read -r buffer size axes; do
    case $axes in
      none) blocks=1 ;;
      "[rows]") blocks=7 ;;
      "[cols]") blocks=11 ;;
      "[rows]["*" of "*) blocks=${axes##* } blocks=$((7 * ${blocks%]})) ;;
      "["*" of "*) blocks=${axes##* } blocks=${blocks%]} ;;
      *) blocks=77 ;;
    esac
    header=$("$QKGEN" --dump=layout --format "$format" --spec "$spec" | sed -nE 's/^buffer .*, ([0-9]+) bytes of header.*/\1/p')
    "$vectors" random "$size" $((blocks * size - 70 * ${header:-0})) >"$format.$buffer" # a header for each of 7 rows, not of 77 blocks
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

# ---- documents with commands ----

# as_regex: standard input as a regular expression; a line of three dots is any number of lines.
as_regex() {
  local line end=$'\n'
  while IFS= read -r line; do
    if [ "$line" = ... ]; then
      printf '%s' "([^$end]*$end)*"
    else
      printf '%s\n' "$line" | sed -E 's/[][\.*^$(){}?+|]/\\&/g; s/(\\\.){3}/[^\n]*/g'
    fi
  done
}

# step COMMAND EXPECTED STATUS
step() {
  local status=0 got regex
  # The x keeps the last newline.
  got=$(bash -c "$1" 2>&1 || status=$?; echo x; exit $status) || status=$?
  got=${got%x}
  regex=$(printf '%s' "$2" | as_regex && echo x)
  regex=${regex%x}
  if [ $status -ne "$3" ]; then
    printf '%s' "$got" >"$work/got"
    fail "$document: exit status $status, and not $3, of: $1" "$work/got"
  elif [[ $got =~ ^$regex$ ]]; then
    pass
  else
    diff <(printf '%s' "$2") <(printf '%s' "$got") >"$work/got" || true
    fail "$document shows another output of: $1" "$work/got"
  fi
  steps=$((steps + 1))
}

# walk FILE: a document; `steps` counts its commands.
walk() {
  local line inside='' command='' expected='' status=0
  while IFS= read -r line <&3; do
    if [ -z "$inside" ]; then
      if [[ $line =~ ^'```'[a-z]+' file='([A-Za-z0-9_.]+)$ ]]; then
        inside=${BASH_REMATCH[1]}
        : >"$inside"
      elif [[ $line =~ ^'```console'(' fails')?$ ]]; then
        inside=console status=0
        [ -z "${BASH_REMATCH[1]}" ] || status=1
      elif [[ $line == '```'* ]]; then
        inside=/dev/null
      fi
    elif [ "$line" = '```' ]; then
      [ -z "$command" ] || step "$command" "$expected" $status
      inside='' command='' expected=''
    elif [ $inside != console ]; then
      printf '%s\n' "$line" >>"$inside"
    elif [[ $line == '$ '* ]]; then
      [ -z "$command" ] || step "$command" "$expected" 0
      command=${line#'$ '} expected=''
    else
      expected+=$line$'\n'
    fi
  done 3<"$1"
  check "$document ends inside of a block" test -z "$inside"
}

"$QKGEN" import "$SOURCE/tests/import/wrong.h" moved >"$work/log" 2>&1 || true
if grep -q 'built without libclang' "$work/log"; then
  echo "skipped: commands of documents, for this qkgen was built without libclang (package libclang-dev)"
  finish
  exit
fi

# The package that a user has: what is installed, or what this build installs.
prefix=$(dirname "$QKGEN")/..
if [ -e "$(dirname "$QKGEN")/cmake_install.cmake" ]; then
  prefix=$work/prefix
  check "installs" cmake --install "$(dirname "$QKGEN")" --prefix "$prefix"
fi
export CMAKE_PREFIX_PATH=$prefix CMAKE_GENERATOR=${GENERATOR:-Ninja} PATH=$(dirname "$QKGEN"):$PATH COLUMNS=100
for path in $(grep -lE '^```console' "$SOURCE"/docs/*.md); do
  document=$(basename "$path") steps=0
  mkdir "$work/$document"
  cd "$work/$document"
  walk "$path"
  check "$document has commands" test $steps -gt 0
  echo "$document: $steps commands"
done
finish
