#!/usr/bin/env bash
# Judges the kernels of ggml's Vulkan backend: dequant_*, get_rows_*, mul_mat_vec_* and mul_mat_vec_id_* of all
# quantised types.
#
#   ggml.sh [--jobs N] [--only PATTERN] [--report FOLDER] MODULES [OPTION...]
#
# MODULES is a folder of SPIR-V modules under ggml's own names; its build makes one, vulkan-shaders.spv. --jobs: judgements at
# the same time (1 without). --only: a pattern of names, as a shell has them, such as '*_q4_k*'. --report: where the
# full answers go; without, a folder for the time of the run. OPTION: what qkgen judge takes, such as --quick.
#
# The exit status is 0 when nothing is wrong, 1 when something is, 2 when something could not be judged. QKGEN: the
# program; without, build/qkgen, else the one in PATH.
set -euo pipefail
export LC_ALL=C

die() {
  echo "ggml.sh: error: $*" >&2
  exit 2
}

home=$(cd "$(dirname "$0")/../.." && pwd)
harnesses=$home/integrations/judge
[ -f "$harnesses/ggml-vulkan-dequant.harness" ] || die "there are no harnesses in $harnesses"
jobs=1 only='*' report=
while [ $# -gt 0 ]; do
  case $1 in
  --jobs | --only | --report)
    [ $# -ge 2 ] || die "$1 needs a value"
    case $1 in
    --jobs) jobs=$2 ;;
    --only) only=$2 ;;
    --report) report=$2 ;;
    esac
    shift 2
    ;;
  -h | --help)
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
    exit 0
    ;;
  *) break ;;
  esac
done
[ $# -ge 1 ] || die "needs a folder of modules: see the top of $0"
modules=$1
shift
qkgen=${QKGEN:-$home/build/qkgen}
[ -x "$qkgen" ] || qkgen=$(command -v qkgen) || die "there is no qkgen: build it, or set QKGEN"
case $jobs in '' | *[!0-9]* | 0) die "--jobs is a number from 1, not '$jobs'" ;; esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
report=${report:-$work/report}
mkdir -p "$report"
[ -d "$modules" ] || die "$modules is no folder"

# What ggml chooses for a type: rows of a workgroup, as on most GPUs, and the fewest lanes of a subgroup.
of_type() {
  rows_each=2 least=1
  case $1 in
  q8_0) rows_each=1 ;;
  q?_k | tq2_0) least=16 ;;
  iq* | mxfp4 | nvfp4) rows_each=4 least=16 ;;
  esac
}

# The specification of a type of ggml's.
format_of() {
  case $1 in
  q?_k) echo "${1%k}K" ;;
  *) echo "$1" ;;
  esac
}

# Of a module: harness, type and values; nothing for those that are not judged.
plan() {
  local name=$1 type=
  case $name in
  mul_mat_vec_id_*_f32_f32*)
    type=${name#mul_mat_vec_id_}
    type=${type%%_f32_f32*}
    of_type "$type"
    case $name in
    *_ocp* | *_q8_1_*) return ;;
    *_no_shmem) echo "ggml-vulkan-mul-mat-vec-id-f32-subgroup $type --set rows_each=$rows_each --set least=$least" ;;
    *) echo "ggml-vulkan-mul-mat-vec-id-f32 $type --set rows_each=$rows_each" ;;
    esac
    ;;
  *_id_* | *_q8_1_* | *_transpose | *_back_* | *_ocp* | mul_mat_vec_p021_* | mul_mat_vec_nc_*) return ;;
  mul_mat_vec_*_f16_f32* | mul_mat_vec_*_f32_f32*)
    type=${name#mul_mat_vec_}
    type=${type%%_f[13][62]_f32*}
    of_type "$type"
    local x=${name#mul_mat_vec_"${type}"_}
    x=${x%%_*}
    case $name in
    *_no_shmem) echo "ggml-vulkan-mul-mat-vec-$x-subgroup $type --set rows_each=$rows_each --set least=$least" ;;
    *) echo "ggml-vulkan-mul-mat-vec-$x $type --set rows_each=$rows_each" ;;
    esac
    ;;
  get_rows_*_f32) echo "ggml-vulkan-get-rows-f32 $(type=${name#get_rows_}; echo "${type%_f32}")" ;;
  get_rows_*) echo "ggml-vulkan-get-rows-f16 ${name#get_rows_}" ;;
  dequant_*) echo "ggml-vulkan-dequant ${name#dequant_}" ;;
  esac
}

judge() {
  local file=$1 name words status=0 start=$SECONDS
  shift
  name=$(basename "$file" .spv)
  read -ra words <<<"$(plan "$name")"
  # 16 lanes, where the driver of the CPU asks: else kernels of 16 threads would be left out.
  case $name in *_no_shmem) export LP_NATIVE_VECTOR_WIDTH=${LP_NATIVE_VECTOR_WIDTH:-512} ;; esac
  "$qkgen" judge "$file" --format "$(format_of "${words[1]}")" --harness "$harnesses/${words[0]}.harness" \
    "${words[@]:2}" "$@" >"$report/$name.txt" 2>&1 || status=$?
  case $status in
  0) verdict=clean ;;
  1) verdict=WRONG ;;
  *) verdict=unjudged ;;
  esac
  printf '%-44s %-9s %4d s  %s\n' "$name" "$verdict" $((SECONDS - start)) \
    "$(grep -m 1 -E '^wrong |error:' "$report/$name.txt" | cut -c1-200 || true)"
}

running=0
for file in "$modules"/*.spv; do
  name=$(basename "$file" .spv)
  # shellcheck disable=SC2053 # a pattern
  [[ $name == $only ]] || continue
  case $name in *_f32_f32_f32* | *_f16_f16_f32* | *_f32_f16_f32* | *_f16_f32_f32*) continue ;; esac
  case $name in dequant_f32 | get_rows_f32 | get_rows_f16 | get_rows_i32 | *bf16*) continue ;; esac
  case $name in get_rows_f32_f32 | get_rows_f16_f32) continue ;; esac
  [ -n "$(plan "$name")" ] || continue
  if [ $running -ge "$jobs" ]; then
    wait -n
  else
    running=$((running + 1))
  fi
  judge "$file" "$@" | tee "$report/$name.line" &
done
wait
[ $running -gt 0 ] || die "$modules has no module dequant_*.spv, get_rows_*.spv or mul_mat_vec_*.spv"

count() { cat "$report"/*.line | grep -c " $1 " || true; }
echo "$(count clean) clean, $(count WRONG) wrong, $(count unjudged) not judged"
[ "$(count unjudged)" = 0 ] || exit 2
[ "$(count WRONG)" = 0 ] || exit 1
