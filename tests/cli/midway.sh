#!/usr/bin/env bash
# Blocks of an odd number of halves of a word, in rows of an odd number of blocks, so that rows, too, begin in the middle of a word: all
# schedules of larger tiles take them, and tiles of many columns and of experts; on this machine's device, each result checked.
source "$(dirname "$0")/../lib.sh"

# bench NAME LINES OPTION...: so many results, all of them right.
bench() {
  local name=$1 lines=$2
  shift 2
  "$QKGEN" bench "$@" --quick --samples 1 >"$work/$name.txt" 2>&1 || fail "$name" "$work/$name.txt"
  check "$name: a line for each" test "$(grep -cE ' (gemv|gemv_id|gemm|gemm_id) ' "$work/$name.txt")" -eq "$lines"
}
for schedule in 2 4 5; do
  batch=3
  [ "$schedule" = 2 ] && batch=1
  bench "schedule $schedule" 4 gemv --format q6_K,iq2_xs --class exact,int8 --rows 37 --cols 768 --batch "$batch" \
    --constant "schedule=$schedule"
done
bench experts 4 gemv_id --format q6_K,mxfp4 --class exact,int8 --rows 29 --cols 768 --experts 5 --slots 2 --tokens 3
bench "many columns" 2 gemm --format q6_K,mxfp4 --class mma --rows 37 --cols 768 --batch 19
bench "many tokens" 2 gemm_id --format q3_K,mxfp4 --class mma --rows 29 --cols 768 --experts 5 --slots 2 --tokens 9
finish
