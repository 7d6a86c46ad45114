#!/usr/bin/env bash
# Times of ggml's own kernels and of qkgen's, from one test-backend-ops, as a table.
#
#   measure.sh PROGRAM [TYPES [SHAPES [COLUMNS]]]
#
# PROGRAM  test-backend-ops that apply.sh built
# TYPES    such as "q4_0 q4_K"; SHAPES: rows x columns, such as "4096x4096"; COLUMNS: how many vectors, such as "1 8 512". With "own" in
#          the place of SHAPES, ggml's own cases of MUL_MAT and MUL_MAT_ID of these types
#
# Prints microseconds of each case, ggml's and ours, and what ours gain, the worst first; then the geometric mean for each number of
# columns. GGML_VK_QKGEN_CLASS and others are passed on. QK_PERF_MS is how long each case runs (50), see bench/peers/README.md.
# CASES=FILE: writes the cases there, and does not run them.
set -euo pipefail
export LC_ALL=C QK_PERF_MS=${QK_PERF_MS:-50} QK_WARMUP_MS=${QK_WARMUP_MS:-1000}

if [ $# -lt 1 ] || [ $# -gt 4 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
  [ $# -ge 1 ] && [ $# -le 4 ] && exit 0
  exit 1
fi
program=$1
types=${2:-q4_0 q4_K q6_K q8_0 mxfp4}
shapes=${3:-4096x4096 14336x4096 4096x14336 1024x4096}
columns=${4:-1 2 4 8 16 64 512}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What test-backend-ops reads with --test-file: operation, type and shape of the result, parameters, sources, a name. The numbers of
# MUL_MAT and of types are those of ggml.h.
cases() {
  local type shape n id block bytes
  for type in $types; do
    case $type in
    q4_0) id=2 block=32 bytes=18 ;;
    q4_1) id=3 block=32 bytes=20 ;;
    q5_0) id=6 block=32 bytes=22 ;;
    q5_1) id=7 block=32 bytes=24 ;;
    q8_0) id=8 block=32 bytes=34 ;;
    q2_K) id=10 block=256 bytes=84 ;;
    q3_K) id=11 block=256 bytes=110 ;;
    q4_K) id=12 block=256 bytes=144 ;;
    q5_K) id=13 block=256 bytes=176 ;;
    q6_K) id=14 block=256 bytes=210 ;;
    iq4_nl) id=20 block=32 bytes=18 ;;
    iq4_xs) id=23 block=256 bytes=136 ;;
    mxfp4) id=39 block=32 bytes=17 ;;
    *) echo "measure.sh: error: the type $type is not in its list" >&2; exit 2 ;;
    esac
    for shape in $shapes; do
      for n in $columns; do
        local m=${shape%x*} k=${shape#*x} row
        row=$((k / block * bytes))
        echo "29 0 $m $n 1 1 0 2 $id $k $m 1 1 $bytes $row $((row * m)) $((row * m))" \
          "0 $k $n 1 1 4 $((4 * k)) $((4 * k * n)) $((4 * k * n)) $type:$m:$k:$n"
      done
    done
  done
}

# Lines `NAME MICROSECONDS`, the last of each name.
times() {
  grep -a 'us/run' | sed -nE 's/^ *(MUL_MAT[A-Z_]*)\((.*)\): .* - +([0-9.]+) us\/run.*/\1 \2 \3/p' |
    sed -E 's/^MUL_MAT name=([^,]*),[^ ]*/\1/; s/^(MUL_MAT[A-Z_]*) type_a=([^,]*),type_b=f32,/\1:\2:/' |
    awk '!($1 in last) { names[++count] = $1 } { last[$1] = $2 } END { for (i = 1; i <= count; i++) print names[i], last[names[i]] }'
}
run() {
  if [ "$shapes" = own ]; then
    local any=${types// /|}
    GGML_VK_QKGEN=$1 "$program" perf -b Vulkan0 -o MUL_MAT -p "type_a=($any),type_b=f32"
    GGML_VK_QKGEN=$1 "$program" perf -b Vulkan0 -o MUL_MAT_ID -p "type_a=($any),type_b=f32"
  else
    GGML_VK_QKGEN=$1 "$program" perf -b Vulkan0 --test-file "$work/twice"
  fi 2>"$work/errors" || { tail -n 5 "$work/errors" >&2; echo "measure.sh: error: $program failed" >&2; exit 1; }
}

[ "$shapes" = own ] || cases >"$work/cases"
if [ -n "${CASES:-}" ]; then
  cp "$work/cases" "$CASES"
  exit 0
fi
# While a pipeline is made the device has nothing to do, and its clocks fall for up to a second: all cases run once before they count.
[ "$shapes" = own ] || cat "$work/cases" "$work/cases" >"$work/twice"
run 0 | times >"$work/ggml"
run 1 | times >"$work/qkgen"
awk '
  NR == FNR { ggml[$1] = $2; next }
  $1 in ggml { printf "%.2f %s %s %s\n", ggml[$1] / $2, $1, ggml[$1], $2 }' "$work/ggml" "$work/qkgen" | sort -g >"$work/table"
echo "gain case ggml_us qkgen_us"
cat "$work/table"
awk '
  { n = $2; if (match(n, /n=[0-9]+/)) n = substr(n, RSTART + 2, RLENGTH - 2); else sub(/.*:/, "", n)
    sum[n] += log($1); count[n]++; if ($1 < 1) below[n]++ }
  END { for (n in sum) printf "columns %s: mean gain %.2f of %d, %d below 1\n", n, exp(sum[n] / count[n]), count[n], below[n] }' \
  "$work/table" | sort -k2 -n
