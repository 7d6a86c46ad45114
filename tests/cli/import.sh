#!/usr/bin/env bash
# C structs: `qkgen import` makes the block of a specification of one, `qkgen check --struct` proves that the two agree. The
# headers are in tests/import: blocks.h is written as engines write theirs; in wrong.h each struct differs in one thing.
source "$(dirname "$0")/../lib.sh"
cd "$SOURCE/tests/import"

"$QKGEN" import blocks.h block_q4_0 >"$work/log" 2>&1 || true
if grep -q 'built without libclang' "$work/log"; then
  echo "skipped: this qkgen was built without libclang (package libclang-dev)"
  exit 77
fi

in_c=(-- -D BLOCKS_DECL_C)
in_cpp=(-- -DBLOCKS_DECL_CPP -x c++)

# block FORMAT: import gives the golden text in C and in C++, which gives a good specification when it replaces the block of
# ours; and the struct agrees with both.
block() {
  local name=$1 spec=$SOURCE/formats/$1.quant elements
  awk -v name="block_$1" '/^#/ { on = $2 == name } on' blocks.golden >"$work/golden"
  check "$name: a golden text" test -s "$work/golden"
  "$QKGEN" import blocks.h "block_$name" "${in_c[@]}" >"$work/block" || fail "import of $name"
  check "import of $name" diff "$work/golden" "$work/block"
  "$QKGEN" import blocks.h "block_$name" "${in_cpp[@]}" >"$work/block" || fail "import of $name in C++"
  check "import of $name in C++" diff "$work/golden" "$work/block"

  # What is not the block of our specification, and the imported block.
  { awk '/^block/ { inside = 1 } !inside { print } /^}/ { inside = 0 }' "$spec"; cat "$work/block"; } >"$work/$name.quant"
  "$QKGEN" check "$work/$name.quant" >"$work/out" 2>"$work/err" && fail "$name without a number of elements is good"
  says "$name without a number of elements" "error: 'ELEMENTS' is not a parameter" "$work/err"
  check "$name: one error" test "$(grep -c 'error: ' "$work/err")" -eq 1
  elements=$(sed -nE 's/^block ([0-9]+) .*/\1/p' "$spec")
  sed -i "s/^block ELEMENTS/block $elements/" "$work/$name.quant"
  check "$name imported" "$QKGEN" check "$work/$name.quant" --struct "blocks.h:block_$name" "${in_c[@]}"
  check "$name" "$QKGEN" check --struct "blocks.h:block_$name" "$spec" "${in_c[@]}"
  check "$name in C++" "$QKGEN" check --struct="$PWD/blocks.h:::block_$name" "$spec" "${in_cpp[@]}"
}
for name in q4_0 q5_1 q8_0 iq4_nl q4_K q5_K q6_K; do block $name; done
says "what agrees" "^q6_K: block_q6_K of blocks.h has the same 210 bytes, and its 4 fields$" \
  <("$QKGEN" check --struct blocks.h:block_q6_K "$SOURCE/formats/q6_K.quant" "${in_c[@]}")

# differs STRUCT FORMAT ERRORS PATTERN...: the places, of an error in the specification and of its note in the header.
differs() {
  local name=$1 spec=$SOURCE/formats/$2.quant errors=$3 status=0 pattern
  shift 3
  "$QKGEN" check "$spec" --struct "wrong.h:$name" >"$work/out" 2>"$work/err" || status=$?
  check "$name: exit status $status" test $status -eq 1
  check "$name: $errors errors" test "$(grep -c ' error: ' "$work/err")" -eq "$errors"
  check "$name: a note for each" test "$(grep -c '^wrong.h:[0-9]*:[0-9]*: note: ' "$work/err")" -eq "$errors"
  for pattern; do says "$name" "$pattern" "$work/err"; done
}
line() { grep -nF "$2" "$1" | head -n 1 | cut -d : -f 1; }

differs moved q4_K 2 "q4_K.quant:7:5: error: field 'scales' begins at byte 4, but in moved at byte 132" \
  "q4_K.quant:8:5: error: field 'qs' begins at byte 16, but in moved at byte 4" \
  "wrong.h:$(line wrong.h '_t qs[128]'):13: note: 'qs' is here, of type uint8_t.128."
differs wrong_float q4_K 1 "q4_K.quant:6:5: error: field 'dmin' is of type f16, but in wrong_float of type i16"
differs wrong_sign q6_K 1 "q6_K.quant:7:5: error: field 'scales' is of type i8, but in wrong_sign of type u8"
differs wrong_count q4_0 2 "q4_0.quant:6:5: error: field 'qs' has 16 bytes, but in wrong_count 12" \
  "q4_0.quant:4:1: error: no field is named 'more', a member of wrong_count: add the field at byte 14"
differs wrong_width q5_1 1 "q5_1.quant:6:5: error: field 'm' is of type f16, but in wrong_width of type u8"
differs missing q4_K 2 "q4_K.quant:4:1: error: a block of q4_K has 144 bytes, but missing has 16" \
  "q4_K.quant:8:5: error: missing has no member 'qs'"
differs renamed q4_K 1 "q4_K.quant:8:5: error: renamed has no member 'qs'.*--rename qs=MEMBER" \
  "note: 'quants' has the bytes of field 'qs'"
differs extra q4_0 2 "q4_0.quant:4:1: error: a block of q4_0 has 18 bytes, but extra has 20" \
  "q4_0.quant:4:1: error: no field is named 'extra', a member of extra: add the field at byte 18"
differs padded q4_0 2 "error: field 'qs' begins at byte 2, but in padded at byte 4"

q4_0=$SOURCE/formats/q4_0.quant
q4_K=$SOURCE/formats/q4_K.quant
# A struct of what follows a row's header, and one that has the header, too.
iq4_ks=$SOURCE/formats/iq4_ks.quant
check "a block behind a header" "$QKGEN" check "$iq4_ks" --struct rows.h:block
says "without the header" 'iq4_ks: block of rows.h has the same 136 bytes, and its 2 fields' \
  <("$QKGEN" check "$iq4_ks" --struct rows.h:block)
refuses "a struct with the header" "a block of iq4_ks has 136 bytes behind the row's header, but row has 140" \
  "$QKGEN" check "$iq4_ks" --struct rows.h:row
check "a renamed field" "$QKGEN" check "$q4_K" --struct wrong.h:renamed --rename qs=quants
refuses "a rename of no field" "q4_K.quant:4:1: error: --rename takes FIELD=MEMBER .*'qz=quants'" \
  "$QKGEN" check "$q4_K" --struct wrong.h:renamed --rename qz=quants
refuses "a bit-field" "^wrong.h:[0-9]+:13: error: 'low' is a bit-field" "$QKGEN" import wrong.h bits
refuses "check with a bit-field" "^wrong.h:[0-9]+:13: error: 'low' is a bit-field" \
  "$QKGEN" check "$q4_0" --struct wrong.h:bits
refuses "a pointer" "^wrong.h:[0-9]+:20: error: 'qs' is of type const uint8_t \*" "$QKGEN" import wrong.h pointer
refuses "a double" "^wrong.h:[0-9]+:12: error: 'wide' is of type double" "$QKGEN" import wrong.h wide
refuses "an array without size" "^wrong.h:[0-9]+:13: error: 'qs' has no size" "$QKGEN" import wrong.h flexible
refuses "a struct without definition" "^wrong.h:[0-9]+:8: error: declared is declared, but not defined" \
  "$QKGEN" import wrong.h declared
refuses "a missing struct" "^wrong.h: error: no struct is named nothing here: it has moved, " \
  "$QKGEN" import wrong.h nothing
refuses "check with a missing struct" "^wrong.h: error: no struct is named nothing here" \
  "$QKGEN" check "$q4_0" --struct wrong.h:nothing
refuses "a header that needs a macro" "^blocks.h: error: no struct .*-D after --" "$QKGEN" import blocks.h block_q4_0
refuses "a header that does not compile" "^broken.h:[0-9]+:5: error: clang: unknown type name 'unknown_half'" \
  "$QKGEN" import broken.h block
refuses "a static_assert that fails" "^broken.h:[0-9]+:[0-9]+: error: clang: static.assert" "$QKGEN" import broken.h block
refuses "a header that needs a folder" "^outer.h:[0-9]+:[0-9]+: error: clang: 'inner/half.h' file not found" \
  "$QKGEN" import outer.h outer
check "a header with a folder" "$QKGEN" check "$q4_0" --struct outer.h:outer -- -I include
refuses "an error in an included header" "^include/inner/half.h:[0-9]+:[0-9]+: error: clang: .*no half here" \
  "$QKGEN" import outer.h outer -- -Iinclude -DNO_HALF
refuses "a missing header" "^missing.h: error: " "$QKGEN" import missing.h block
refuses "a folder" "^\.: error: " "$QKGEN" import . block
refuses "arguments that clang does not know" "error: " "$QKGEN" import wrong.h moved -- -x nothing

refuses "import of nothing" "import needs a header and a struct" "$QKGEN" import wrong.h
refuses "--struct without a struct" "--struct takes HEADER:STRUCT" "$QKGEN" check "$q4_0" --struct wrong.h
refuses "--rename without a struct" "belong to --struct" "$QKGEN" check "$q4_0" --rename a=b
refuses "several formats" "a struct is one format, and 54 are given" \
  "$QKGEN" check "$SOURCE/formats/affine.quant" --struct wrong.h:moved
refuses "several buffers" "affine.quant:5:1: error: affine_b4_g64_f16 keeps its blocks in 3 buffers" \
  "$QKGEN" check "$SOURCE/formats/affine.quant" --format affine_b4_g64_f16 --struct wrong.h:moved
check "one format of several" "$QKGEN" check "$q4_0" "$q4_K" --format q4_0 --struct outer.h:outer -- -I include

# Everything that a struct can have: padding, nested structs, arrays of arrays, unions, names that are keywords.
for name in shapes engine::from_cpp names; do
  awk -v name="$name" '/^#/ { on = $2 == name } on' shapes.golden >"$work/golden"
  if [ $name = shapes ]; then language=c; else language=c++; fi
  "$QKGEN" import shapes.h $name -- -x $language >"$work/block" || fail "import of $name"
  check "import of $name" diff "$work/golden" "$work/block"
done
refuses "a base class" "^shapes.h:[0-9]+:[0-9]+: error: the struct has a base class" \
  "$QKGEN" import shapes.h derived -- -x c++
finish
