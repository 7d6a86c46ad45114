#!/usr/bin/env bash
# The kernels with trainable scales and biases, on every target, against a program that shares nothing with them: groups of
# every size and kind, bit for bit; sums within their class, the same bits each time, and on Vulkan and MSL; what is refused.
source "$(dirname "$0")/../lib.sh"
qdq=$BUILD/qdq
if ! [ "$qdq" -nt "$SOURCE/tests/tools/qdq.c" ]; then
  "${CC:-cc}" -std=c11 -O2 -ffp-contract=off -Wall -Wextra -Wpedantic -Werror -o "$qdq" "$SOURCE/tests/tools/qdq.c" -lm
fi
export qdq

# run FOLDER FAMILY ARG...: standard error goes to FOLDER/log.
run() {
  local folder=$1
  shift
  "$QKGEN" run "$@" 2>"$folder/log" || { fail "qkgen run $*" "$folder/log"; return 1; }
}

# one GROUP BINS GROUPS: the four kernels, one after the other, with each target.
one() {
  local group=$1 bins=$2 groups=$3 data=$work/$1-$2-$3 target t
  mkdir -p "$data"
  "$qdq" weights "$group" "$bins" "$groups" $((group + bins)) "$data/w"
  "$qdq" numbers $((group * groups)) 7 "$data/dy"
  for target in $targets; do
    t=$data/$target
    mkdir "$t"
    run "$data" qdq_init --target "$target" --group "$group" --bins "$bins" --in "$data/w" --out scales="$t/s" \
      --out biases="$t/b" --out q="$t/q" || continue
    check "qdq_init, $groups groups of $group, $bins bins, on $target" \
      "$qdq" init "$group" "$bins" "$data/w" "$t/s" "$t/b" "$t/q"
    run "$data" qdq_forward --target "$target" --group "$group" --in q="$t/q" --in scales="$t/s" --in biases="$t/b" \
      --out "$t/y" || continue
    check "qdq_forward, $groups groups of $group, $bins bins, on $target" \
      "$qdq" forward "$group" "$t/q" "$t/s" "$t/b" "$t/y"
    run "$data" qdq_backward_scales --target "$target" --group "$group" --in q="$t/q" --in dy="$data/dy" \
      --out "$t/ds" || continue
    check "qdq_backward_scales, $groups groups of $group, $bins bins, on $target" \
      "$qdq" scales "$group" "$t/q" "$data/dy" "$t/ds"
    run "$data" qdq_backward_biases --target "$target" --group "$group" --in dy="$data/dy" --out d_biases="$t/db" ||
      continue
    check "qdq_backward_biases, $groups groups of $group, on $target" "$qdq" biases "$group" "$data/dy" "$t/db"
    run "$data" qdq_backward_scales --target "$target" --group "$group" --in q="$t/q" --in dy="$data/dy" --out "$t/again" ||
      continue
    check "qdq_backward_scales gives the same bits again, groups of $group, on $target" cmp "$t/ds" "$t/again"
    # Threads add in the same order on all devices.
    [ "$target" = c ] || [ ! -e "$data/first" ] || for sums in ds db; do
      check "$sums on $target has the bits of the device before, groups of $group" cmp "$data/first/$sums" "$t/$sums"
    done
    [ "$target" = c ] || ln -sfn "$t" "$data/first"
  done
  rm -r "$data"
}
export -f run one

for group in 4 12 32 64 100 128 1000 1024 4096; do
  for bins in 2 3 16 256; do echo "one $group $bins 66"; done
  echo "one $group 16 1"
  echo "one $group 16 0"
done | each
printf '%s\n' "one 4 16 4411" "one 36 7 1100" "one 260 255 330" "one 2052 64 88" "one 4092 17 44" | each

# What is refused, before anything is written.
"$qdq" weights 64 16 3 1 "$work/w"
"$qdq" numbers 64 1 "$work/dy"
head -c 191 "$work/w" >"$work/q"
head -c 12 "$work/w" >"$work/s"
wrong() {
  local sentence=$1 pattern=$2
  shift 2
  refuses "$sentence" "$pattern" "$QKGEN" run "$@"
}
outs=(--out scales="$work/out_s" --out biases="$work/out_b" --out q="$work/out_q")
wrong "no group" '--group is 0, and must be a multiple of 4 from 4 to 4096' qdq_init --target c --in "$work/w" "${outs[@]}"
wrong "a group of 6" '--group is 6, and must' qdq_init --target c --group 6 --bins 16 --in "$work/w" "${outs[@]}"
wrong "a group of 4100" '--group is 4100, and must' qdq_init --target c --group 4100 --bins 16 --in "$work/w" "${outs[@]}"
wrong "no bins" '--bins is 0, and must be from 2 to 256' qdq_init --target c --group 64 --in "$work/w" "${outs[@]}"
wrong "257 bins" '--bins is 257, and' qdq_init --target c --group 64 --bins 257 --in "$work/w" "${outs[@]}"
wrong "bins of the gradient" 'qdq_backward_biases takes no --bins' qdq_backward_biases --target c --group 64 --bins 4 \
  --in "$work/dy" --out "$work/out_b"
wrong "half a group" 'w holds 768 bytes, which is no multiple of the 400 bytes that a group of 100 has in w' \
  qdq_init --target c --group 100 --bins 16 --in "$work/w" "${outs[@]}"
wrong "an output that is not named" 'qdq_init needs --out q=FILE' qdq_init --target c --group 64 --bins 16 \
  --in "$work/w" --out scales="$work/out_s" --out biases="$work/out_b"
wrong "an input too many" 'qdq_init takes --in 1 times, and it was given 2 times' qdq_init --target c --group 64 \
  --bins 16 --in "$work/w" --in "$work/dy" "${outs[@]}"
wrong "an input that is not named" 'qdq_forward needs --in biases=FILE' qdq_forward --target c --group 64 \
  --in q="$work/q" --in scales="$work/s" --in "$work/s" --out "$work/out_q"
wrong "codes that are cut off" 'q holds 191 bytes, which is no multiple of the 64 bytes' qdq_backward_scales --target c \
  --group 64 --in q="$work/q" --in dy="$work/dy" --out "$work/out_s"
head -c 192 "$work/w" >"$work/q"
wrong "arrays of different lengths" 'dy holds 1 groups of 64, but .*q holds 3' qdq_backward_scales --target c \
  --group 64 --in q="$work/q" --in dy="$work/dy" --out "$work/out_s"
wrong "no target" "--target must be c, vulkan or msl, not ''" qdq_backward_biases --group 64 --in "$work/dy" --out "$work/out_b"
wrong "a file that is not there" 'cannot read .*none' qdq_backward_biases --target c --group 64 --in "$work/none" \
  --out "$work/out_b"
wrong "two outputs in one file" 'cannot write .*out_s: File exists' qdq_init --target c --group 64 --bins 16 \
  --in "$work/w" --out scales="$work/out_s" --out biases="$work/out_s" --out q="$work/out_q"
mkdir "$work/folder"
wrong "an output that is a folder" 'cannot write .*folder' qdq_init --target c --group 64 --bins 16 \
  --in "$work/w" --out scales="$work/out_s" --out biases="$work/out_b" --out q="$work/folder"
check "nothing was written" bash -c "! ls -d '$work'/out_* '$work'/*.part"
refuses "a family without format, with a format" 'qdq_init takes no format: emit it without --format' \
  "$QKGEN" emit --format q4_0 --family qdq_init --out "$work/tree"

# The set alone, as a pair that needs nothing.
check "emit --embed of the set" "$QKGEN" emit --embed --family qdq --out "$work/pair"
check "the pair and nothing else" diff <(printf '%s\n' qdq.{c,h}) <(ls "$work/pair")
check "qdq.c compiles alone" "${CC:-cc}" -std=c11 -O1 -Wall -Wextra -Wpedantic -Werror -c -o /dev/null "$work/pair/qdq.c"
check "qdq.h is C++, too" "${CXX:-c++}" -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ "$work/pair/qdq.h"
"$QKGEN" list families >"$work/families"
says "list families" '^qdq_backward_scales +without format' "$work/families"
says "list families" '^gather +of each format' "$work/families"
finish
