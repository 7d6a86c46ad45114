#!/usr/bin/env bash
# judge.sh TEXT [--theirs] [TYPE...]: judges the kernels of a ggml-metal.metal that make.sh wrote, ours of each type, or ggml's own
# beside them, each in a line. Without types all that are there. QKGEN names the command, ONLY a family: get_rows, mul_mv, mul_mv_id;
# QUICK=1 tries less. ggml's own text compiles for some minutes, once; then a type takes one.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
qkgen=${QKGEN:-$here/../../build/qkgen}
[ -r "${1:-}" ] || { echo "usage: judge.sh TEXT [--theirs] [TYPE...]" >&2 && exit 1; }
text=$1 prefix=
shift
[ "${1:-}" != --theirs ] || { prefix=ggml_ && shift; }
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(sed -nE 's/.*"ggml_kernel_get_rows_([A-Za-z0-9_]+)".*/\1/p' "$text")

# number NAME_TYPE: of ggml-metal-impl.h, which stands in the text.
number() {
  sed -nE "s/^#define +$1_$(tr a-z A-Z <<<"$2") +([0-9]+).*/\1/p" "$text"
}
status=0
for type; do
  sets=(--set rows_each="$(number N_R0 "$type")" --set simdgroups="$(number N_SG "$type")")
  [ "$type" != q8_0 ] || sets+=(--set groups_share=1)
  for run in "get_rows_$type ggml-metal-get-rows" "mul_mv_${type}_f32 ggml-metal-mul-mv" "mul_mv_id_${type}_f32 ggml-metal-mul-mv-id"; do
    case ${ONLY:-$run} in get_rows) [[ $run = get_rows_* ]] || continue ;; mul_mv_id) [[ $run = mul_mv_id_* ]] || continue ;;
    mul_mv) [[ $run = "mul_mv_${type}_f32 "* ]] || continue ;; esac
    name=kernel_${run% *} harness=${run#* } log=$(mktemp)
    [ "$harness" != ggml-metal-get-rows ] || sets_of=()
    [ "$harness" = ggml-metal-get-rows ] || sets_of=("${sets[@]}")
    if "$qkgen" judge "$text" --kernel "$prefix$name" --format "$type" --harness "$harness" "${sets_of[@]}" \
      --time-limit 200 ${QUICK:+--quick} >"$log" 2>&1; then
      echo "$prefix$name: clean"
    else
      status=1
      echo "$prefix$name: $(grep -m 1 -E '^ *(wrong|error)|rror:' "$log" || tail -n 1 "$log")"
    fi
    rm -f "$log"
  done
done
exit $status
