#!/usr/bin/env bash
# `qkgen soak`: a fixed list of cases, all right; and the command itself: faults that are planted in templates are found, printed as a
# command that repeats them, and gone without the fault; a launch that hangs is one of them; the same seed gives the same cases.
source "$(dirname "$0")/../lib.sh"

# ---- all kinds of kernels ----

# Most of them with lavapipe of Mesa 26 where that is at hand (QKGEN_MESA, a folder that cmake/mesa.sh unpacks): its compiler takes two
# thirds of the time, and it has matrix units. The others, or all, with the device of all tests.
cases=${CASES:-160} newer=0 soon=${QKGEN_NEWER:-$QKGEN}
if [ -e "${QKGEN_MESA:-}/complete" ]; then newer=$((cases * 3 / 4)); fi
if [ "$newer" -gt 0 ]; then
  env -u VK_LOADER_DRIVERS_SELECT -u QKGEN_VALIDATION -u VK_ICD_FILENAMES \
    "$QKGEN_MESA/run" "$QKGEN" soak --seed 29 --cases "$newer" --jobs 2 >"$work/all" 2>&1 ||
    fail "there are failures with Mesa 26" "$work/all"
  says "cases of class mma" "^    class mma +[0-9]+ cases" "$work/all"
fi
"$QKGEN" soak --seed 29 --from "$newer" --cases $((cases - newer)) --jobs 2 >>"$work/all" 2>&1 || fail "there are failures" "$work/all"
check "no case fails" test "$(grep -cE '^[0-9]+ cases right, [0-9]+ refused for want of room or features, 0 failed, in' "$work/all")" \
  -eq $((newer > 0 ? 2 : 1))
# Which cases a seed has follows from the formats and the families: a new one has some of the others' cases, and leaves the rest.
# drawn NAME OPTION...: cases of it are in the list, or are right where they are asked for.
drawn() {
  local name=$1 list=$work/all
  shift
  if ! grep -qE "^    $name +[0-9]+ cases" "$list"; then
    list=$work/few
    "$soon" soak --seed 29 --cases 16 "$@" >"$list" 2>&1 || fail "there are failures of $name" "$list"
  fi
  says "cases of $name" "^    $name +[0-9]+ cases" "$list"
}
for name in dequant gather gemv gemv_id qdq_init; do drawn $name --family $name; done
for name in split half; do drawn "class $name" --family gemv --class $name; done
# These may have none.
for class in exact int8; do
  "$soon" soak --seed 29 --cases 24 --family gemv --class $class >"$work/$class" 2>&1 || fail "there are failures of $class" "$work/$class"
  says "no case of $class fails" '^[0-9]+ cases right, [0-9]+ refused for want of room or features, 0 failed, in' "$work/$class"
  says "cases of class $class" "^    class $class +[0-9]+ cases" "$work/$class"
done
# Columns that are no multiple of four, where x is loaded in runs of four: strides of x are drawn as dispatch takes them.
"$soon" soak --seed 5 --cases 24 --format 'vptq*' --family gemv_id >"$work/strides" 2>&1 || fail "strides of x" "$work/strides"
says "no stride of x is refused" '^24 cases right, 0 refused for want of room or features, 0 failed, in' "$work/strides"
right=$(awk '/^[0-9]+ cases right/ { right += $1 } END { print right + 0 }' "$work/all")
check "most cases are not refused" test "$right" -ge $((${CASES:-160} * 8 / 10))

"$QKGEN" soak --seed 1 --cases 80 --family encode,set_rows >"$work/encoders" 2>&1 || fail "encoders" "$work/encoders"
says "no case of encoders fails" '^[67][0-9] cases right, [0-9]+ refused for want of room or features, 0 failed, in' "$work/encoders"
for kind in 'sequences nf4_b*' 'rows iq2_bn,*_channel,bnb_int8' 'planes hqq_*'; do
  read -r name formats <<<"$kind"
  "$QKGEN" soak --seed 1 --cases 24 --family encode,set_rows --format "$formats" >"$work/$name" 2>&1 ||
    fail "$name" "$work/$name"
  says "no case of $name fails" '^24 cases right, 0 refused for want of room or features, 0 failed, in' "$work/$name"
done
for name in encode set_rows; do says "cases of $name" "^    $name +[0-9]+ cases" "$work/encoders"; done

# A device that takes subnormal numbers for 0, as lavapipe of Mesa 26 does, may do so with scales, makes other blocks of such floats, and no
# others. One that keeps them must: so does that of all tests. Neither says so.
subnormal="format=mlx_nvfp4 family=encode type=bf16 rows=8 cols=2048 seed=4595425 x=subnormal weights=random"
scales="format=mx_fp4 family=gather type=f32 rows=18 cols=4096 batch=18 seed=10250941 x=gaussian weights=any"
"$QKGEN" soak --case "$subnormal" >"$work/kept" 2>&1 || fail "subnormal floats" "$work/kept"
says "subnormal floats are compared where they are kept" '^right' "$work/kept"
if [ "$newer" -gt 0 ]; then
  flushed() {
    env -u VK_LOADER_DRIVERS_SELECT -u QKGEN_VALIDATION -u VK_ICD_FILENAMES \
      "$QKGEN_MESA/run" "$QKGEN" soak --case "$1" >"$work/flushed" 2>&1 ||
      fail "$2 that are flushed" "$work/flushed"
    says "$2 that are flushed" "$3" "$work/flushed"
  }
  flushed "$subnormal" "subnormal floats" '^refused: the device has no modes that keep NaNs and subnormals of f32'
  flushed "${subnormal/subnormal/infinite}" "infinite floats beside some" '^right'
  flushed "$scales" "scales" '^right'
fi

# Scratch memory of several products, their x, or that of experts may be larger than a binding: no kernel is wrong then. One product is.
binding() { # SENTENCE SAID CASE...
  "$QKGEN" soak --case "type=f32 seed=7 x=gaussian weights=random format=q4_0 ${*:3}" >"$work/binding" 2>&1 || fail "$1" "$work/binding"
  says "$1" "$2" "$work/binding"
}
views=batches=2:2,x_stride=512,y_stride=33,x_strides=5120:10240,y_strides=330:660
binding "a binding that takes all" '^right' family=gemm class=mma rows=33 cols=512 batch=10 range=100000 \
  views=$views,weights_batches=1:1,weights_strides=33:33
binding "x of products that share weights" '^refused: .*: x takes 81920 bytes, must be at most 70000, the device.s storage range$' \
  family=gemm class=mma rows=33 cols=512 batch=10 range=70000 views=$views,weights_batches=1:1,weights_strides=33:33
binding "scratch memory" '^refused: .*: scratch takes [0-9]+ bytes, must be at most 32768, the device.s storage range$' \
  family=gemm class=mma rows=33 cols=512 batch=10 range=32768 views=$views,weights_batches=2:2,weights_strides=33:66
binding "scratch memory of one product" '^refused: .*: scratch takes [0-9]+ bytes, must be at most 8192,' \
  family=gemm class=mma rows=33 cols=512 batch=1 range=8192
binding "x of experts" '^refused: .*: x takes 36864 bytes, must be at most 32768, the device.s storage range$' \
  family=gemv_id class=exact rows=33 cols=512 batch=18 experts=4 slots=2 range=32768
refuses "x of one product" ': x takes 2048 bytes, must be at most 1024' "$QKGEN" soak --case \
  'format=q4_0 family=gemv class=exact type=f32 rows=9 cols=512 batch=1 seed=7 range=1024 x=gaussian weights=random'

refuses "a class that a family has not" 'q4_0 has no sums of class exact' "$QKGEN" soak --case \
  'format=q4_0 family=gemm class=exact type=f32 rows=9 cols=512 batch=10 seed=7 x=gaussian weights=random'
# Whole blocks of a ragged format, more than one, and a buffer that is one item for all of them.
for shape in 'rows=4 cols=16384 batch=1' 'rows=3 cols=32768 batch=8'; do
  check "an item of the whole tensor, $shape" "$QKGEN" soak --case \
    "format=nf4_dq_b64 family=gemv class=exact type=f32 $shape seed=7 x=gaussian weights=random"
done

# So many rows that a driver which ends long loops would leave some of them out.
check "many rows, several vectors" "$QKGEN" soak --case \
  'format=affine_b2_g32_f16 family=gemv class=exact type=f32 rows=262144 cols=1024 batch=5 seed=6 x=gaussian weights=random'

# ---- planted faults ----

# plant FILE SED-SCRIPT: makes a folder of data whose template has a fault.
data=$work/data
plant() {
  rm -rf "$data"
  mkdir -p "$data/bench"
  cp -r "$SOURCE/formats" "$SOURCE/templates" "$data"
  cp -r "$SOURCE/bench/models" "$data/bench"
  sed -i -E "$2" "$data/templates/$1"
  if cmp -s "$data/templates/$1" "$SOURCE/templates/$1"; then fail "the fault in $1 does not apply"; fi
}
with_fault() { QKGEN_DATA_DIR=$data "$QKGEN" "$@"; }
# cases_of FILE: the printed commands, in an order of their own, for workers take turns.
cases_of() { grep "^    qkgen soak --case" "$1" | sort; }

plant gather.comp 's/atomicAdd\(out_of_range, 1u\)/;/'
status=0
with_fault soak --family gather --seed 1 --failures 1 --cases 400 >"$work/found" 2>&1 || status=$?
check "the exit status with a fault" test "$status" -eq 1
says "the fault is found" '^FAILED after [0-9.]+ s, case [0-9]+: the status word is [0-9]+, must be [0-9]+$' "$work/found"
command=$(cases_of "$work/found" | head -n 1)
said=$(sed -nE 's/^FAILED after .*, case [0-9]+: //p' "$work/found" | head -n 1)
mkdir "$work/bin" && ln -s "$QKGEN" "$work/bin/qkgen"
printed() { PATH=$work/bin:$PATH bash -euo pipefail -c "$command"; }
export -f printed
refuses "the printed command repeats it" "^qkgen: error: $said\$" env QKGEN_DATA_DIR="$data" command="$command" bash -c printed
printed >"$work/once" 2>&1 || fail "the printed command without the fault" "$work/once"
check "it is right without the fault" grep -qx right "$work/once"

# A row that there is not, whose blocks have the numbers of others in 32 bits; and a block that is not what C makes.
plant set_rows.comp 's/row = row_of\(token\)/row = indices[token]/;s/ \|\| row >= row_end//'
with_fault soak --family set_rows --format 'q?_?' --seed 1 --failures 12 --cases 400 >"$work/found" 2>&1 &&
  fail "a row that there is not is set"
says "a block that was written" '^FAILED after .*: launch [12]: byte [0-9]+ of block [0-9]+ of [a-z]+ is 0x.*, must be 0x' "$work/found"
plant encode.glsl 's/QK_ZERO \+ low, QK_ZERO \+ high/QK_ZERO + low, QK_ZERO + high - 1/'
with_fault soak --family encode --format 'q?_?' --seed 1 --failures 1 --cases 400 >"$work/found" 2>&1 && fail "another code is not found"
says "a block that is another" '^FAILED after .*: launch [12]: byte [0-9]+ of block' "$work/found"

# A case that goes wrong in nearly all shapes shows which cases there are.
plant qdq_forward.comp 's/value = product \+ /value = product + 1.0 + /'
with_fault soak --case "$subnormal" >"$work/kept" 2>&1 || fail "subnormal floats beside a fault" "$work/kept"
says "a fault is not taken for a device that flushes" '^right' "$work/kept"
forward() { with_fault soak --family qdq_forward --failures 0 "$@"; }
for run in first second; do forward --seed 5 --cases 24 --jobs 3 >"$work/$run" 2>&1 && fail "$run: a fault is not found"; done
cases_of "$work/first" >"$work/cases"
check "cases fail" test "$(wc -l <"$work/cases")" -ge 16
check "the same seed, the same cases" diff "$work/cases" <(cases_of "$work/second")
forward --seed 5 --cases 24 --jobs 1 >"$work/second" 2>&1 && fail "a fault is not found"
check "the same cases in one process" diff "$work/cases" <(cases_of "$work/second")
forward --seed 5 --from 8 --cases 8 >"$work/second" 2>&1 && fail "a fault is not found"
check "some of them" test -z "$(comm -13 "$work/cases" <(cases_of "$work/second"))"
check "some of them, and not all" test "$(cases_of "$work/second" | wc -l)" -le 8
forward --seed 6 --cases 24 >"$work/second" 2>&1 && fail "a fault is not found"
check "another seed, other cases" test -z "$(comm -12 "$work/cases" <(cases_of "$work/second"))"
forward --seed 5 --cases 24 --failures 2 >"$work/second" 2>&1 && fail "a fault is not found"
check "--failures stops it" test "$(cases_of "$work/second" | wc -l)" -lt "$(wc -l <"$work/cases")"
forward --seed 5 --cases 80 --jobs 2 >"$work/second" 2>&1 && fail "a fault is not found"
cases_of "$work/second" >"$work/cases"
forward --seed 5 --cases 80 --family set_rows >"$work/second" 2>&1 && fail "a fault is not found"
says "another family beside it" "^    set_rows +[0-9]+ cases" "$work/second"
check "has some of its cases" test "$(cases_of "$work/second" | wc -l)" -lt "$(wc -l <"$work/cases")"
check "not all of them" test "$(cases_of "$work/second" | wc -l)" -ge 8
check "and leaves the others" test -z "$(comm -13 "$work/cases" <(cases_of "$work/second"))"

# A launch that does not come back, of large tensors alone. The CPU's driver leaves a loop after 65,535 rounds, which take a minute.
plant qdq_forward.comp \
  's/first \+= (gl_NumWorkGroups.x \* 4u \* threads)/first += first + \1 < all_quads || all_quads < 57000u ? \1 : 0u/'
forward --seed 4 --cases 16 --limit 5 >"$work/hangs" 2>&1 && fail "no launch hangs"
says "a launch that hangs is a failure" '^FAILED after [0-9.]+ s, case [0-9]+: did not come back within 5 s$' "$work/hangs"
check "it is printed" test "$(cases_of "$work/hangs" | wc -l)" -ge 1
says "the others go on" '^1[0-5] cases right, 0 refused .* [1-6] failed' "$work/hangs"

# A template that is no GLSL.
plant kernel.comp "s/void main/void man/"
with_fault soak --family dequant --failures 1 --cases 80 >"$work/broken" 2>&1 && fail "a kernel that does not compile is no failure"
says "a kernel that does not compile is a failure" '^FAILED after .*: [A-Za-z0-9_]+: ERROR: .*entry point' "$work/broken"

# ---- models ----

printf 'q 16 256 1\nexperts.up 8 256 1 4 2\n' >"$work/tiny.txt"
"$QKGEN" soak --model "$work/tiny.txt" --format q4_0 --class exact >"$work/model" 2>&1 || fail "--model fails" "$work/model"
says "each matrix with one to eight vectors" '^16 cases right, 0 refused .* 0 failed' "$work/model"
says "a matrix" '^    gemv +8 cases$' "$work/model"
says "experts" '^    gemv_id +8 cases$' "$work/model"
"$QKGEN" soak --model "$work/tiny.txt" --format q4_0 --class exact --largest 1 >"$work/model" 2>&1 || fail "--largest fails" "$work/model"
says "the largest matrix" '^8 cases right' "$work/model"
says "the largest are all experts" '^    gemv_id +8 cases$' "$work/model"

# ---- what is no case, and no option ----

good=${command#*\'} good=${good%\'}
refuses "no case" "'nonsense' is no NAME=VALUE of a case.* is what .qkgen soak. printed" "$QKGEN" soak --case nonsense
refuses "a value that is none" "'rows=-1' is no NAME=VALUE" "$QKGEN" soak --case "$good rows=-1"
refuses "no such x" "'x=strange' is no" "$QKGEN" soak --case "$good x=strange"
refuses "no family" "names no family" "$QKGEN" soak --case rows=1
refuses "no format" "names no format" "$QKGEN" soak --case "family=gather type=f32 rows=1 cols=32"
refuses "no class" "names no class" "$QKGEN" soak --case "format=q4_0 family=gemv type=f32 rows=1 cols=32 batch=1"
refuses "an unknown class" "no class of sums is named sloppy; there are exact, " "$QKGEN" soak --class sloppy
refuses "an unknown family" "no kernel family is named gem; .qkgen list families. shows them" "$QKGEN" soak --family gem
refuses "an unknown format" "q4_9" "$QKGEN" soak --format q4_9
refuses "a family that has no classes" "no case was tried: nothing matches" "$QKGEN" soak --family dequant --class exact --cases 8
refuses "too many processes" "--jobs must be at most 64, not 1000" "$QKGEN" soak --jobs 1000
refuses "--largest alone" "--largest and --one-of-each belong to --model" "$QKGEN" soak --largest 2
refuses "no such model" "none.txt" "$QKGEN" soak --model "$work/none.txt"
refuses "no such device" "device" "$QKGEN" soak --device 'no such device'
refuses "a word" "soak takes no 'word'" "$QKGEN" soak word
finish
