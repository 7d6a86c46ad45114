#!/usr/bin/env bash
# What AMD's open compiler makes of our kernels, and of ggml's, for GPUs that are not here: docs/performance/amd.md.
#
#   bench/offline.sh --mesa FOLDER [--ggml FOLDER] [--out FILE]   the page, to FILE or stdout
#   bench/offline.sh --mesa FOLDER --gpu GPU ARGUMENT...          the counts of one kernel; ARGUMENT as bench/offline/offline.c has them
#
# --mesa   what `cmake/mesa.sh FOLDER trixie` made: a Mesa before 26, whose RADV compiles for a GPU that RADV_FORCE_FAMILY names
# --ggml   modules of ggml: what bench/offline/ggml.sh made of its sources
#
# Nothing is fetched, and nothing runs: these are a compiler's counts, no measurements. FORMATS, GPUS and BATCHES in the environment
# take the place of those here.
set -euo pipefail
export LC_ALL=C

die() {
  echo "offline.sh: error: $*" >&2
  exit 1
}

home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mesa='' ggml='' out='' gpu=''
while [ $# -gt 0 ] && [ -z "$gpu" ]; do
  case $1 in
  --mesa | --ggml | --out | --gpu) [ $# -gt 1 ] || die "$1 takes a value: see the top of $0" ;;
  *) die "there is no option '$1': see the top of $0" ;;
  esac
  case $1 in --mesa) mesa=$2 ;; --ggml) ggml=$2 ;; --out) out=$2 ;; --gpu) gpu=$2 ;; esac
  shift 2
done
[ -n "$mesa" ] || die "needs --mesa FOLDER: see the top of $0"
[ "$(cat "$mesa/complete" 2>/dev/null)" = trixie ] || die "$mesa has no Mesa of trixie: cmake/mesa.sh $mesa trixie makes one"
[ -z "$ggml" ] || [ -e "$ggml/commit" ] || die "$ggml has no modules of ggml: bench/offline/ggml.sh makes them"
build=${BUILD:-$home/build}
cmake --build "$build" --target offline >/dev/null || die "cannot build $build/offline"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# count GPU ARGUMENT...: a line of NAME=VALUE, to be taken by eval; nothing where the kernel is not compiled.
count() {
  local status=0
  RADV_FORCE_FAMILY=$1 QKGEN_MESA_DRIVER=radeon timeout 120 "$mesa/run" "$build/offline" --data "$home" "${@:2}" \
    >"$work/told" 2>"$work/said" || status=$?
  [ $status -eq 0 ] && awk -f "$home/bench/offline/loop.awk" "$work/told"
}

if [ -n "$gpu" ]; then
  count "$gpu" "$@" || { cat "$work/said" >&2; exit 1; }
  exit 0
fi

read -ra formats <<<"${FORMATS:-q4_0 q4_1 q5_K q8_0 q4_K q6_K q2_K q3_K iq4_xs mxfp4}"
read -ra gpus <<<"${GPUS:-navi21 navi31 gfx1201}"
read -ra batches <<<"${BATCHES:-1 8}"

# Weights of a thread in a turn of ggml's inner loop: of a row, and rows, as its backend sets them for GPUs of AMD that are no GCN.
theirs_of() {
  case $1 in
  q4_0 | q4_1) echo 32 2 ;;
  q8_0) echo 32 1 ;;
  iq4_xs | mxfp4) echo 32 4 ;;
  *_K) echo 16 2 ;;
  *) return 1 ;;
  esac
}

# cells WEIGHTS COUNTS: VALU and memory instructions for each weight, registers, waves, spills.
cells() {
  local valu vmem lds vgprs waves spilled all wmma scratch weights sgprs lds_bytes loop
  eval "$2"
  awk -v w="$1" -v valu="$valu" -v memory="$((vmem + scratch))" -v lds="$lds" -v vgprs="$vgprs" -v waves="$waves" -v spilled="$spilled" \
    'BEGIN { printf "%.2f | %.3f | %.3f | %d | %d | %s", valu / w, memory / w, lds / w, vgprs, waves, (spilled > 0 ? "yes" : "no") }'
}

# Rows of a table, each behind a number and a tab: the largest first.
worst_first() { sort -s -t "$(printf '\t')" -k 1,1gr | cut -f 2-; }

# ratio CELLS OTHER: of the first numbers in them; without, 0.
ratio() { awk -v a="${1%% |*}" -v b="${2%% |*}" 'BEGIN { print (a > 0 && b > 0 ? a / b : 0) }'; }

few() { # GPU BATCH
  local format class counts weights theirs rows weights_of_row other others own
  echo "| | exact: VALU | mem | LDS | regs | waves | spills | split: VALU | regs | waves | spills | int8: VALU | regs | waves | spills | ggml: VALU | mem | LDS | regs | waves | spills |"
  echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
  for format in "${formats[@]}"; do
    counts=$(count "$1" --format "$format" --batch "$2") || die "$format on $1: $(cat "$work/said")"
    weights=$(sed -E 's/.* weights=([0-9]+) .*/\1/' <<<"$counts")
    others=
    for class in split int8; do
      if other=$(count "$1" --format "$format" --class "$class" --batch "$2"); then
        other=$(cells "$(sed -E 's/.* weights=([0-9]+) .*/\1/' <<<"$other")" "$other" | cut -d'|' -f 1,4-6)
      else
        other='not compiled | - | - | -'
      fi
      others+=" | $other"
    done
    theirs='- | - | - | - | - | -'
    if [ -n "$ggml" ] && read -r weights_of_row rows < <(theirs_of "$format"); then
      theirs=$(count "$1" --module "$ggml/mul_mat_vec_${format,,}_f32_f32_subgroup.spv" --constant 0=64 --constant 1="$rows" \
        --constant 2="$2") || die "ggml's $format on $1: $(cat "$work/said")"
      theirs=$(cells $((weights_of_row * rows)) "$theirs")
    fi
    own=$(cells "$weights" "$counts")
    printf '%s\t| %s | %s%s | %s |\n' "$(ratio "$own" "$theirs")" "$format" "$own" "$others" "$theirs"
  done | worst_first
}

# share COUNTS: of matrix products among all instructions, and among those of vectors.
share() {
  local valu vmem lds vgprs waves spilled all wmma scratch weights sgprs lds_bytes loop
  eval "$1"
  awk -v all="$all" -v valu="$valu" -v wmma="$wmma" -v vgprs="$vgprs" -v waves="$waves" -v spilled="$spilled" \
    'BEGIN { printf "%d | %d | %.1f%% | %.1f%% | %d | %d | %s", wmma, all, 100 * wmma / all, 100 * wmma / valu, vgprs, waves, (spilled > 0 ? "yes" : "no") }'
}

# part_of_all CELLS: the number of the third.
part_of_all() { cut -d '|' -f 3 <<<"$1" | tr -d ' %'; }

many() { # GPU FAMILY BATCH
  local format counts theirs own
  echo "| | ours: WMMA | all | of all | of vector | regs | waves | spills | ggml: WMMA | all | of all | of vector | regs | waves | spills |"
  echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
  for format in "${formats[@]}"; do
    counts=$(count "$1" --family "$2" --class mma --format "$format" --batch "$3" --unit 16x16x16) || counts=''
    theirs='- | - | - | - | - | - | -'
    if [ "$2" = gemm ] && [ -n "$ggml" ] && [ -e "$ggml/matmul_${format,,}_f32_cm1.spv" ]; then
      # Its large tile for AMD: 128 x 128, of 32 of a row, four subgroups of 64.
      theirs=$(count "$1" --module "$ggml/matmul_${format,,}_f32_cm1.spv" --subgroup 64 --constant 0=256 --constant 1=128 --constant 2=128 \
        --constant 3=32 --constant 4=64 --constant 5=64 --constant 6=2 --constant 7=16 --constant 8=16 --constant 9=16 --constant 10=64 \
        --constant 11=1) && theirs=$(share "$theirs")
    fi
    own=$([ -n "$counts" ] && share "$counts" || echo 'none | - | - | - | - | - | -')
    printf '%s\t| %s | %s | %s |\n' "$(ratio "$(part_of_all "$theirs")" "$(part_of_all "$own")")" "$format" "$own" "$theirs"
  done | worst_first
}

# Whether all kernels of a family compile with units, and which of them spill.
all_formats() { # GPU FAMILY BATCH
  local format counts compiled=0 failed='' spilling=''
  while read -r format; do
    counts=$(count "$1" --family "$2" --class mma --format "$format" --batch "$3" --unit 16x16x16) || {
      grep -q 'it has no such kernel' "$work/said" || failed+=" $format"
      continue
    }
    compiled=$((compiled + 1))
    grep -q ' spilled=0 ' <<<"$counts" || spilling+=" $format"
  done < <("$build/qkgen" list | awk '{ print $1 }')
  echo "\`$2\` with 16x16x16 units, all formats: $compiled compile; not compiled:${failed:- none}; with spills:${spilling:- none}."
}

page() {
  local gpu n
  sed 's/^|//' <<'TEXT'
|# AMD, without a GPU of AMD
|
|What ACO, the compiler of RADV, makes of our kernels and of ggml's. It is a compiler's count, and no measurement: nothing of this has
|run on a GPU of AMD. `bench/offline.sh` makes this page; [how](#how). Formats that are behind ggml the most, or ahead of it the least, come
|first.
|
TEXT
  for n in "${batches[@]}"; do
    for gpu in "${gpus[@]}"; do
      printf '## `gemv`, %s, %s\n\n' "$([ "$n" -eq 1 ] && echo one vector || echo "$n vectors")" "$(tr a-z A-Z <<<"$gpu")"
      few "$gpu" "$n"
      echo
    done
  done
  echo "## Matrix units: \`gemm\`, 512 columns, NAVI31"
  echo
  many navi31 gemm 512
  echo
  all_formats navi31 gemm 512
  echo
  echo "## Matrix units: \`gemv\`, eight vectors, class \`mma\`, NAVI31"
  echo
  many navi31 gemv 8
  echo
  all_formats navi31 gemv 8
  echo
  cat "$home/bench/offline/notes.md"
  if [ -n "$ggml" ]; then printf '\nggml: commit %s. ' "$(cat "$ggml/commit")"; else echo; fi
  printf '%s.\n' "$(strings -a "$mesa/usr/lib/x86_64-linux-gnu/libvulkan_radeon.so" | grep -oE -m 1 '^(Mesa )?2[0-9]\.[0-9]+\.[0-9]+[-+a-z0-9]*' | head -n 1 | sed -E 's/^(Mesa )?/Mesa: /')"
}

if [ -n "$out" ]; then
  page >"$work/page"
  mv "$work/page" "$out"
else
  page
fi
