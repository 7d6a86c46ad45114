#!/usr/bin/env bash
# The emitted tree: it is the same every time, a second run touches nothing, --check notices every kind of difference and
# writes nothing; and what is emitted compiles, as C and as C++, alone and together. The tree in out/ shows some formats: the test
# of that name generates all of them, and finds nothing that differs from their text or from the hashes of the others.
source "$(dirname "$0")/../lib.sh"
cc="${CC:-cc} -std=c11 -O1 -Wall -Wextra -Wpedantic -Werror"
cxx="${CXX:-c++} -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++"

# state FOLDER: names, contents and times of all files.
state() {
  (cd "$1" && find . -type f -printf '%p %T@\n' && find . -type f -exec sha256sum {} +) | sort
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

file=q6_K/q6_K_gather_halves.comp
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

# ---- a tree that shows one of the two ----

# hashes MANIFEST: the digits that it has, and the path of the file, on each line.
hashes() {
  awk -F'"' '/^[{]"name"/ { name = $4 } /^ "/ { print $4 "  " name "/" ($2 ~ /^[_.]/ ? name : "") $2 }' "$1"
}

echo 'q6_K # the one to read' >"$work/shown.txt"
check "emit after the check" "$QKGEN" emit "${few[@]}"
cp -r "$work/tree" "$work/every"
few+=(--shown "$work/shown.txt")
refuses "--check with a format that is not listed" "/q4_0/q4_0.h: error: .*shown.txt does not list its format; delete it" \
  "$QKGEN" emit --check "${few[@]}"
check "emit --shown" "$QKGEN" emit "${few[@]}"
check "the format that is not shown stayed" test ! -e "$work/tree/q4_0"
check "the format that is shown" diff -r "$work/every/q6_K" "$work/tree/q6_K"
check "sets without a format" diff -r "$work/every/qdq" "$work/tree/qdq"
check "the manifest is the same" cmp "$work/every/manifest.json" "$work/tree/manifest.json"
hashes "$work/tree/manifest.json" >"$work/sums"
check "each file but those of SPIR-V has a hash, once" \
  diff <(cd "$work/every" && find . -type f ! -name '*_code.c' ! -name manifest.json | cut -c3- | sort) <(awk '{print $2}' "$work/sums" | sort)
hashes_are_right() { (cd "$1" && awk '{ print $2 }' "$work/sums" | xargs sha256sum | sed -E 's/^(.{16}).{48}/\1/' | diff - "$work/sums"); }
check "the hashes are those of sha256sum" hashes_are_right "$work/every"
state "$work/tree" >"$work/before"
check "emit --shown over what is there" "$QKGEN" emit "${few[@]}"
state "$work/tree" >"$work/after"
check "a second run of emit --shown changed files" diff "$work/before" "$work/after"
check "--check --shown" "$QKGEN" emit --check "${few[@]}"

cp "$work/tree/manifest.json" "$work/kept"
# line FORMAT FILE: where its hash is.
line() { awk -v entry="{\"name\": \"$1\"," -v file=" \"$2\":" 'index($0, entry) == 1 { inside = 1 } inside && index($0, file) == 1 { print NR; exit }' "$work/kept"; }
line=$(line q4_0 _gemv_wide.comp)
sed -E "${line}s/: \"[0-9a-f]{8}/: \"00000000/" "$work/kept" >"$work/tree/manifest.json"
noticed "another hash" "/manifest.json:$line: error: q4_0/q4_0_gemv_wide.comp of format q4_0 is not .*qkgen emit --format q4_0 --out DIR"
sed "${line}d" "$work/kept" >"$work/tree/manifest.json"
noticed "a missing hash" "/manifest.json: error: has no hash of q4_0/q4_0_gemv_wide.comp; run .qkgen emit --shown "
line=$(line q6_K .h)
sed -E "${line}s/: \"[0-9a-f]{8}/: \"00000000/" "$work/kept" >"$work/tree/manifest.json"
noticed "another hash of a shown file" "/manifest.json:$line: error: this is not the hash of q6_K/q6_K.h; run "
rm "$work/tree/manifest.json"
noticed "no manifest" "/manifest.json: error: missing"
cp "$work/kept" "$work/tree/manifest.json"
sed -i '3s/$/ /' "$work/tree/q6_K/q6_K.h"
noticed "a changed file that is shown" "/q6_K/q6_K.h:3: error: differs .*qkgen emit --shown "
check "emit --shown repairs it" "$QKGEN" emit "${few[@]}"
check "the repaired tree" "$QKGEN" emit --check "${few[@]}"

# A template that changes shows in the hashes of all its files, and in those alone.
cp -r "$SOURCE/templates" "$work/templates"
mkdir "$work/data"
mv "$work/templates" "$work/data/templates"
echo '// the end' >>"$work/data/templates/gather.comp"
state "$work/tree" >"$work/before"
"$QKGEN" emit --check --data "$work/data" "${few[@]}" >"$work/log" 2>&1 && fail "--check with another template"
says "a hash of another kernel" "q4_0/q4_0_gather_f32.comp of format q4_0 is not what it was" "$work/log"
says "a shown file of another kernel" "/q6_K/q6_K_gather_f32.comp:[0-9]+: error: differs" "$work/log"
check "hashes of kernels that changed, and of no others" test "$(grep -c ' is not what it was' "$work/log")" = 2
state "$work/tree" >"$work/after"
check "--check with another template wrote something" diff "$work/before" "$work/after"
sed -i '/^@if body/,$d' "$work/data/templates/dequant.kernel"
refuses "a kernel of both languages without a body" 'template dequant.kernel has nothing for `@if body`' \
  "$QKGEN" emit --check --data "$work/data" "${few[@]}"

# list TEXT: emit with that list.
list() {
  printf "$1" >"$work/shown.txt"
  "$QKGEN" emit "${few[@]}"
}
refuses "a list with an unknown format" 'shown.txt:3:1: error: no format is named q6_k; did you mean q6_K' list '# two\nq4_0\nq6_k # no\n'
refuses "a list with a format like no other" 'shown.txt:1:3: error: no format is named unheard_of_name; .qkgen list. shows' list '  unheard_of_name'
refuses "a list with a format twice" 'shown.txt:3:1: error: q6_K is named in line 1 already' list 'q6_K\n\nq6_K\n'
refuses "a list with two names in a line" 'shown.txt:1:1: error: a line has one name' list 'q6_K q4_0\n'
refuses "a list without a format" 'shown.txt: error: names no format' list '# none\n'
rm "$work/shown.txt"
refuses "a list that is not there" "shown.txt: error: cannot open" "$QKGEN" emit "${few[@]}"
echo q6_K >"$work/shown.txt"
for option in "--format q4_0" "--decode-math bf16" --embed "--family qdq"; do
  # shellcheck disable=SC2086
  refuses "--shown with $option" "--shown is for the tree of all formats" "$QKGEN" emit "${few[@]}" $option
done
state "$work/tree" >"$work/after"
check "a wrong list wrote something" diff "$work/before" "$work/after"

# One format with a wrong specification beside it: nothing is written.
mkdir "$work/formats"
cp "$SOURCE/formats/q4_0.quant" "$work/formats"
sed 's/16:8/16:9/; s/q4_0/wrong/' "$SOURCE/formats/q4_0.quant" >"$work/formats/wrong.quant"
refuses "emit with a wrong specification" 'wrong.quant:[0-9]+:[0-9]+: error:' \
  "$QKGEN" emit --formats "$work/formats" --out "$work/none"
check "emit with a wrong specification wrote something" test ! -e "$work/none"

# ---- the tree compiles ----

check "emit of every format" "$QKGEN" emit --out "$work/all"
check "the manifest in out/ is that of the whole tree" cmp "$SOURCE/out/manifest.json" "$work/all/manifest.json"
hashes "$work/all/manifest.json" >"$work/sums"
check "the hashes of all files" hashes_are_right "$work/all"

# The headers of the runtime are most of what a compiler reads in a file, and makes of it. So it gets the files of several formats as one
# text, in which those static functions and tables that have the same name in several files are told apart.
cc_all="$cc -I $SOURCE/runtime/include -I $work/all"
mapfile -t all < <("$QKGEN" list | awk '{ print $1 }')
mapfile -t shown < <(awk '/^[^#]/ { print $1 }' "$SOURCE/formats/shown.txt")
printf '%s\n' "${all[@]}" | sed "s,.*,$work/all/&/&.c," | xargs grep -hE '^static .*[[(]' |
  sed -E 's/[[(].*//; s/.*[ *]//' | sort | uniq -d >"$work/alike"

# compiles OPTION FORMAT...: the C of these formats.
compiles() {
  local option=$1 text=$work/all/$2.together.c format
  shift
  {
    printf '#include <%s>\n' math.h string.h qkgen/dispatch.h
    for format; do
      sed "s/.*/#undef &\n#define & &_of_$format/" "$work/alike"
      echo "#include \"$format/$format.c\""
    done
  } >"$text"
  if $cc_all "$option" -c -o /dev/null "$text" >"$text.log" 2>&1; then
    for format; do pass; done
  else
    fail "C of $*, together" "$text.log"
    for format; do check "$format.c" $cc_all "$option" -c -o /dev/null "$work/all/$format/$format.c"; done
  fi
}
# alone FORMAT: one that is shown. Its texts have all that they need.
alone() {
  check "$1.c alone" $cc_all -fsyntax-only "$work/all/$1/$1.c"
  check "$1.h as C++" $cxx -I "$SOURCE/runtime/include" "$work/all/$1/$1.h"
}
export -f compiles alone
export cc_all cxx
# Of those that are not shown a compiler sees all, but makes nothing of it.
{
  echo "compiles -O1 ${shown[*]}"
  printf '%s\n' "${all[@]}" | grep -vxFf <(printf '%s\n' "${shown[@]}") | xargs -n 60 echo compiles -fsyntax-only
  printf 'alone %s\n' "${shown[@]}"
} | each

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
for name in q4_K affine_b3_g64_f16 q8_0 program; do # how fast it is, and what optimisers see in it, is of no interest here
  check "$name.c alone" $cc -O0 -c -o "$work/pairs/$name.o" "$work/pairs/$name.c"
  [ $name = program ] || check "$name.h alone as C++" $cxx "$work/pairs/$name.h"
done
sed 's/define QK_ABI_VERSION .*/define QK_ABI_VERSION 99/' "$work/pairs/q8_0.h" >"$work/other.h"
$cxx "$work/other.h" >"$work/log" 2>&1 && fail "a pair compiles with headers of another version"
says "headers of another version" 'error.*made for version [0-9]+ of qkgen/kernel.h.*generate it again' "$work/log"
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
  check "nothing of them is written" test ! -e "$work/units/q4_0/q4_0_gemv_mma.comp"
else
  says "operands go where the unit has them" 'ORDER_A >> 21 & 7u' "$work/units/q4_0/q4_0_gemv_mma.comp"
  says "the descriptor asks for what is needed" '"order_bc"' "$work/units/q4_0/q4_0.c"
fi
finish
