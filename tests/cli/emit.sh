#!/usr/bin/env bash
# The emitted tree: it is the same every time, a second run touches nothing, --check notices every kind of difference and
# writes nothing; and what is emitted compiles, as C and as C++, alone and together. The whole tree is the one in out/: the test
# of that name generates all of it, and finds nothing that differs.
source "$(dirname "$0")/../lib.sh"
cc="${CC:-cc} -std=c11 -O1 -Wall -Wextra -Wpedantic -Werror"
cxx="${CXX:-c++} -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++"

# state FOLDER: names, contents and times of all files.
state() {
  (cd "$1" && find . -type f -printf '%p %T@ ' -exec sha256sum {} \; | sort)
}

# ---- what --check notices, in a tree of two formats ----

mkdir "$work/few"
cp "$SOURCE"/formats/{q4_0,q6_K}.quant "$work/few"
few=(--formats "$work/few" --out "$work/tree")
check "emit of two formats" "$QKGEN" emit "${few[@]}"
check "what is emitted is what is in out/, where SPIR-V is not kept" diff -r --exclude=q6_K_code.c "$SOURCE/out/q6_K" "$work/tree/q6_K"
state "$work/tree" >"$work/before"
check "emit over what is there" "$QKGEN" emit "${few[@]}"
state "$work/tree" >"$work/after"
check "a second run changed files" diff "$work/before" "$work/after"
check "--check of a fresh tree" "$QKGEN" emit --check "${few[@]}"

# noticed SENTENCE PATTERN: --check fails with that line, and leaves everything as it is.
noticed() {
  state "$work/tree" >"$work/before"
  refuses "--check with $1" "$2" "$QKGEN" emit --check "${few[@]}"
  state "$work/tree" >"$work/after"
  check "--check with $1 wrote something" diff "$work/before" "$work/after"
}

file=q6_K/q6_K_gather_bf16.comp
cp "$work/tree/$file" "$work/kept"
line=$(grep -n 'void main' "$work/kept" | cut -d: -f1)
sed "${line}s/main/moin/" "$work/kept" >"$work/tree/$file"
check "the change is one byte" test "$(cmp -l "$work/kept" "$work/tree/$file" | wc -l)" = 1
noticed "one changed byte" "/$file:$line: error: differs "
head -c -1 "$work/kept" >"$work/tree/$file"
noticed "one byte less" "/$file:[0-9]+: error: differs "
{ cat "$work/kept"; echo; } >"$work/tree/$file"
noticed "one byte more" "/$file:[0-9]+: error: differs "
rm "$work/tree/$file"
noticed "a missing file" "/$file: error: missing"
check "emit repairs it" "$QKGEN" emit "${few[@]}"
check "the repaired file" cmp "$work/kept" "$work/tree/$file"
touch "$work/tree/q6_K/q6_K_dequant_f64.comp"
noticed "an orphan" "/q6_K/q6_K_dequant_f64.comp: error: nothing generates this file"
mkdir "$work/tree/q9_Z"
touch "$work/tree/q9_Z/q9_Z.h"
noticed "an orphan in a folder of its own" "/q9_Z/q9_Z.h: error: nothing generates this file"
check "emit removes orphans" "$QKGEN" emit "${few[@]}"
check "--check after that" "$QKGEN" emit --check "${few[@]}"
check "an empty folder stayed" test ! -e "$work/tree/q9_Z"
sed -i 's/"bytes": 210/"bytes": 211/' "$work/tree/manifest.json"
noticed "another manifest" "/manifest.json:[0-9]+: error: differs"
refuses "--check of nothing" 'error: missing' "$QKGEN" emit --check --formats "$work/few" --out "$work/nothing"
check "--check made a folder" test ! -e "$work/nothing"

# One format with a wrong specification beside it: nothing is written.
mkdir "$work/formats"
cp "$SOURCE/formats/q4_0.quant" "$work/formats"
sed 's/16:8/16:9/; s/q4_0/wrong/' "$SOURCE/formats/q4_0.quant" >"$work/formats/wrong.quant"
refuses "emit with a wrong specification" 'wrong.quant:[0-9]+:[0-9]+: error:' \
  "$QKGEN" emit --formats "$work/formats" --out "$work/none"
check "emit with a wrong specification wrote something" test ! -e "$work/none"

# ---- the tree compiles ----

compiles() {
  check "$1.c" $cc -I "$SOURCE/runtime/include" -c -o /dev/null "$SOURCE/out/$1/$1.c"
  check "$1.h as C++" $cxx -I "$SOURCE/runtime/include" "$SOURCE/out/$1/$1.h"
}
export -f compiles
export cc cxx
"$QKGEN" list | awk '{print "compiles", $1}' | each

# ---- drop-in pairs: they need nothing, and know nothing of each other ----

check "emit --embed" "$QKGEN" emit --embed --out "$work/pairs" --format q4_K --format q8_0 --format affine_b3_g64_f16
check "emit --embed again" "$QKGEN" emit --embed --out "$work/again" --format q4_K --format q8_0 --format affine_b3_g64_f16
check "two runs wrote different pairs, SPIR-V and all" diff -r "$work/pairs" "$work/again"
check "pairs and nothing else" diff <(printf '%s\n' {affine_b3_g64_f16,q4_K,q8_0}.{c,h}) <(LC_ALL=C ls "$work/pairs")
{
  echo '#include <stdio.h>'
  for name in q4_K affine_b3_g64_f16 q8_0; do echo "#include \"$name.h\""; done
  echo 'int main(void) {'
  echo '    int bad = 0;'
  for name in q4_K affine_b3_g64_f16 q8_0; do
    grep -o "extern const qk_kernel [a-z0-9_A-Z]*" "$work/pairs/$name.h" | awk '{print $4}' | while read -r kernel; do
      echo "    bad += !$kernel.name[0] || $kernel.code->bytes < 100;"
    done
  done
  echo '    printf("%d wrong\n", bad);'
  echo '    return bad;'
  echo '}'
} >"$work/pairs/program.c"
for name in q4_K affine_b3_g64_f16 q8_0 program; do
  check "$name.c alone" $cc -c -o "$work/pairs/$name.o" "$work/pairs/$name.c"
  [ $name = program ] || check "$name.h alone as C++" $cxx "$work/pairs/$name.h"
done
check "the pairs link in one program" "${CC:-cc}" -o "$work/pairs/program" "$work/pairs"/*.o
check "the program has kernels" grep -q 'bad +=' "$work/pairs/program.c"
check "the program runs" "$work/pairs/program"

# ---- matrix units: kernels, or a warning from a build whose glslang is too old ----

for format in q4_0 q4_K mxfp4 iq2_xs affine_b3_g64_bf16; do
  "$QKGEN" emit --format $format --class mma --family gemv --out "$work/units" >"$work/log" 2>&1 || fail "$format on matrix units" "$work/log"
done
for kernel in q4_0_gemv_mma_f32 q4_0_gemv_mma_f16; do
  says "Metal has its kernels" "max_total_threads_per_threadgroup\(256\)\]\] void $kernel\(" "$work/units/q4_0/q4_0.metal"
  says "and descriptors that ask for what is needed" "^const qk_kernel qk_${kernel}_metal = " "$work/units/q4_0/q4_0.c"
done
check "what is emitted compiles" $cc -c -I"$SOURCE/runtime/include" -I"$work/units" -o "$work/units/q4_0.o" "$work/units/q4_0/q4_0.c"
check "with its code" $cc -c -I"$SOURCE/runtime/include" -I"$work/units" -o "$work/units/q4_0_code.o" "$work/units/q4_0/q4_0_code.c"
says "the stub has the class's name" 'qk_q4_0_gemv_mma_f32\(' "$work/units/q4_0/q4_0.h"
if grep -q "2 kernels for Vulkan are left out: class mma needs glslang 13 or newer" "$work/log"; then
  check "nothing of them is written" test ! -e "$work/units/q4_0/q4_0_gemv_mma_f32.comp"
else
  says "operands go where the unit has them" 'ORDER_A >> 21 & 7u' "$work/units/q4_0/q4_0_gemv_mma_f32.comp"
  says "the descriptor asks for what is needed" '"order_bc"' "$work/units/q4_0/q4_0.c"
fi
finish
