#!/usr/bin/env bash
# Instructions for each weight of gemv on Metal, beside ggml's kernels and MLX's: the table of docs/performance/metal.md.
#
#   bench/metal.sh [--ggml CHECKOUT] [--mlx CHECKOUT] [FORMAT...]
#   bench/metal.sh --weighted [--ggml CHECKOUT] [--mlx CHECKOUT] [FORMAT...]
#   bench/metal.sh --gemm [--ggml CHECKOUT] [--mlx CHECKOUT] [FORMAT...]
#
# A row for each format and number of right-hand sides, 1 and 4. Ours; the kernel that ggml launches for that type and number, as
# its ggml-metal-ops.cpp chooses; MLX's of affine codes of as many bits in groups of 64, of x in f32. Counted as bench/instructions.sh
# counts, whose head says what these numbers are: none of them is of a GPU. Without a checkout its column is empty.
#
# --gemm: of gemm, for each weight and column, with 32 columns and 64; a product of matrix units is one instruction, and a load of an
# operand those of a lane's elements (QKM_COUNTED of tests/msl/include). Of ours without x becoming operands, once for all rows; ggml's
# and MLX's convert it for each tile. MLX has x and scales in halves.
#
# --weighted: of gemv, operations for each weight, each times what it costs on a GPU of Apple's (bench/metal-costs.txt, or COSTS). Three
# numbers of each kernel: cycles of all arithmetic, cycles of the busier of two pipelines that run at the same time, and bytes loaded.
#
# Environment: as for bench/instructions.sh; QKGEN (default: build/qkgen), which writes our kernels; VECTORS (default: 1 4; with --gemm 32 64).
set -euo pipefail
export LC_ALL=C

die() {
  echo "metal.sh: error: $*" >&2
  exit 1
}

home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
qkgen=${QKGEN:-$home/build/qkgen}
ggml='' mlx='' formats=() gemm='' weighted='' mode=--kernel
while [ $# -gt 0 ]; do
  case $1 in
  --ggml | --mlx)
    [ $# -ge 2 ] || die "$1 needs a checkout"
    [ -d "$2" ] || die "$2 is no folder"
    [ "$1" = --ggml ] && ggml=$2 || mlx=$2
    shift
    ;;
  --gemm) gemm=yes ;;
  --weighted) weighted=yes mode=--operations ;;
  -*) die "there is no $1: see the top of $0" ;;
  *) formats+=("$1") ;;
  esac
  shift
done
[ ${#formats[@]} -gt 0 ] || formats=(q4_0 q4_1 q5_K q8_0 q4_K q6_K q2_K q3_K iq4_xs mxfp4)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export KEEP=${KEEP:-$work}
mkdir -p "$KEEP"

# Bytes and elements of a block, bits of MLX's codes, ggml's rows and simdgroups (N_R0_, N_SG_ of its ggml-metal-impl.h).
facts() {
  case $1 in
  q4_0) echo 18 32 4 4 2 ;; q4_1) echo 20 32 4 4 2 ;; q8_0) echo 34 32 8 2 4 ;; mxfp4) echo 17 32 4 2 2 ;;
  q2_K) echo 84 256 2 4 2 ;; q3_K) echo 110 256 3 2 2 ;; q4_K) echo 144 256 4 2 2 ;; q5_K) echo 176 256 5 1 2 ;;
  q6_K) echo 210 256 6 2 2 ;; iq4_xs) echo 136 256 4 2 2 ;;
  *) die "of $1 it is not known how ggml launches it" ;;
  esac
}

count() { bash "$home/bench/instructions.sh" "$mode" "$@" 2>"$work/why" | weigh || { head -n 1 "$work/why" >&2; echo -; }; }

# Operations by kind, as cycles: of all, of the busier pipeline, and bytes.
weigh() {
  [ -n "$weighted" ] || { cat; return; }
  awk 'FNR == NR { if (!/^ *(#|$)/) { cost[$1] = $2; pipeline[$1] = $3 } next }
    $2 && !($1 in cost) && !/^(load_|store)/ { printf "metal.sh: %s of %s have no cost\n", $2, $1 >"/dev/stderr" }
    /^bytes/ { bytes += $2 }
    !/^bytes/ && $1 in cost { cycles[pipeline[$1]] += $2 * cost[$1] }
    END {
      if (!FNR || FNR == NR) exit 1
      simple = cycles["simple"]; complex = cycles["complex"]
      printf "%.2f/%.2f/%.2f\n", simple + complex, (simple > complex ? simple : complex), bytes
    }' "${COSTS:-$home/bench/metal-costs.txt}" -
}

ours() { # FORMAT BYTES ELEMENTS VECTORS
  local file=$work/ours/$1/$1.metal tile
  [ -r "$file" ] || "$qkgen" emit --data "$home" --api metal --family gemv --type f32 --format "$1" --out "$work/ours" >/dev/null
  tile=$(sed -nE "s/^ *uint row_tiles; *\/\/ (tiles )?of ([0-9]+) elements.*/\\2/p" "$file" | head -n 1)
  count "$file" "$1_gemv_f32" --groups 1 --group 32 --zeros "0=\$((ROWS * COLS / $3 * $2))" --zeros "1=\$((COLS * 4 * $4))" \
    --zeros "2=\$((ROWS * 4 * $4))" --zeros 3=4 --zeros 4=4 --zeros 5=4 --zeros 6=4 \
    --u32 "7=\$((ROWS)),\$((COLS / $tile)),$4,0,\$((ROWS)),0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0" --constant "1=$4" --constant 30=0 --constant 31=0
}

# ggml's text as one file, with the templates that are asked for alone.
ggml_text() {
  [ -e "$work/ggml.metal" ] && return
  awk -v folder="$ggml/src" '
    function put(path, line) { while ((getline line < path) > 0) print line; close(path) }
    /^__embed_ggml-common.h__/ { next }
    /^#include "ggml-common.h"/ { put(folder "/ggml-common.h"); next }
    /^#include "ggml-metal-impl.h"/ { put(folder "/ggml-metal/ggml-metal-impl.h"); next }
    /^ *template \[\[host_name/ && !/mul_mv_ext_.*r1_4|mul_mm_[a-hj-z][a-z0-9_K]*_f32"|mul_mm_iq4_xs_f32"/ { left_out = !/;/; next }
    left_out { left_out = !/;/; next }
    { print }' "$ggml/src/ggml-metal/ggml-metal.metal" >"$work/ggml.metal"
}

theirs() { # FORMAT BYTES ELEMENTS VECTORS ROWS SIMDGROUPS
  local row="\$((COLS / $3 * $2))" all="\$((ROWS * COLS / $3 * $2))" step=$(($5 * $6)) words
  ggml_text
  words=(--zeros "1=$all" --zeros "2=\$((COLS * 4 * $4))" --zeros "3=\$((ROWS * 4 * $4))" --constant 602=1 --constant 603=1 --constant 604=1)
  # Eight bytes in words of four, the lower first; 0 where they would be beyond four.
  local strides="$2,0,$row,0,$all,0,$all,0" x="4,0,\$((COLS * 4)),0,\$((COLS * 4 * $4)),0,\$((COLS * 4 * $4)),0"
  if [ "$4" -gt 1 ] && [ "$1" != iq4_xs ]; then
    count "$work/ggml.metal" "kernel_mul_mv_ext_$1_f32_r1_4" "${words[@]}" --constant 600=2 --constant 601=8 --group 32,2 \
      --groups '$(((ROWS + 7) / 8)),1' \
      --u32 "0=\$((COLS)),\$((ROWS)),1,0,$strides,\$((COLS)),$4,1,0,$x,\$((ROWS)),$4,65537,0"
    return
  fi
  [ "$1" != q8_0 ] || step=$5
  count "$work/ggml.metal" "kernel_mul_mv_$1_f32" "${words[@]}" --constant "600=$6" --threadgroup 0=8192 --group "32,$6" \
    --groups "\$(((ROWS + $step - 1) / $step)),$4" \
    --u32 "0=\$((COLS)),\$((ROWS)),1,0,$strides,\$((COLS)),$4,1,0,$x,\$((ROWS)),$4,$5,65537"
}

# Of MLX's text, the functions that products with vectors are made of, and the kernels of each number of bits.
mlx_text() {
  [ -e "$work/mlx.metal" ] && return
  {
    printf '#include <metal_stdlib>\n#include <metal_simdgroup>\nusing namespace metal;\n#define METAL_FUNC inline\n'
    echo 'template <typename T, typename... A> inline void adjust_matrix_offsets(A...) {}' # of batches, which are not asked for
    awk '/^#|^using|^MLX_MTL/ { if (/define|MLX/) print; next }
      { part = part $0 "\n" }
      /^};?$|^[a-z].*;$/ {
        if (part !~ /Loader|mma|qmm|gemm|affine_quantize|elem_to_loc|qvm|gather|bfloat/) print part
        part = ""
      }' "$mlx/mlx/backend/metal/kernels/quantized_utils.h" "$mlx/mlx/backend/metal/kernels/quantized.h"
    for b in 2 3 4 5 6 8; do
      echo "template [[host_name(\"mlx_1_$b\")]] [[kernel]] decltype(affine_qmv_fast<float, 64, $b, false, false>)" \
        "affine_qmv_fast<float, 64, $b, false, false>;"
      echo "template [[host_name(\"mlx_4_$b\")]] [[kernel]] decltype(affine_qmv_wide<float, 64, $b, 4, 8, false>)" \
        "affine_qmv_wide<float, 64, $b, 4, 8, false>;"
    done
  } >"$work/mlx.metal"
}

mlx() { # BITS VECTORS
  mlx_text
  local grid="$2,\$((ROWS / 8))"
  [ "$2" = 1 ] || grid="1,\$((ROWS / 8))"
  count "$work/mlx.metal" "mlx_$2_$1" --groups "$grid" --group 32,2 --zeros "0=\$((ROWS * COLS * $1 / 8))" \
    --zeros '1=$((ROWS * COLS / 64 * 4))' --zeros '2=$((ROWS * COLS / 64 * 4))' --zeros "3=\$((COLS * 4 * $2))" \
    --zeros "4=\$((ROWS * 4 * $2))" --i32 '5=$((COLS))' --i32 '6=$((ROWS))' --i32 "7=$([ "$2" = 1 ] && echo 0 || echo "$2")" \
    --i32 "8=$2" --i32 9=0 --i32 10=0,0 --i32 11=0 --i32 12=0 --i32 13=0,0 --i32 14=0,0$([ "$2" = 1 ] || echo " --i32 15=0,0")
}

# ---- gemm ----

# of_columns COLUMNS COUNT: of eight weights, as --kernel is told of eighths of the rows.
of_columns() { [ "$2" = - ] && echo - || awk -v n="$1" -v count="$2" 'BEGIN { printf "%.3f\n", count / 8 / n }'; }

tiles() { # FORMAT BYTES ELEMENTS COLUMNS
  local file=$work/tiles/$1/$1.metal tile wide words
  [ -r "$file" ] || "$qkgen" emit --data "$home" --api metal --family gemm --format "$1" --out "$work/tiles" >/dev/null
  tile=$(sed -nE "s/^ *uint row_tiles; *\/\/ (tiles )?of ([0-9]+) elements.*/\\2/p" "$file" | head -n 1)
  wide=$(sed -nE 's/.*wide_tiles = row_tiles \/ ([0-9]+).*/\1/p' "$file" | head -n 1)
  words=$(sed -nE 's/^constant constexpr uint WORDS = ([0-9]+).*/\1/p' "$file")
  count "$file" "$1_gemm_mma_f32" --groups '$((ROWS / 8))' --group 128 --zeros "0=\$((8 * ROWS * COLS / $3 * $2))" --zeros 1=16 \
    --zeros "2=\$(($4 * 4 * (1 + 4 * $words * ((COLS / $tile / $wide + 3) / 4))))" --zeros "3=\$((8 * ROWS * 4 * $4))" --zeros 4=4 --zeros 5=4 \
    --zeros 6=4 --zeros 7=4 --u32 "8=\$((8 * ROWS)),\$((COLS / $tile)),$4,0,\$((8 * ROWS)),0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0" \
    --constant 20=8 --constant "24=$4" --constant 27=1 --constant 30=0 --constant 31=0
}

their_tiles() { # FORMAT BYTES ELEMENTS COLUMNS
  local row="\$((COLS / $3 * $2))" all="\$((8 * ROWS * COLS / $3 * $2))"
  ggml_text
  # Eight bytes in words of four; and what aligns them.
  count "$work/ggml.metal" "kernel_mul_mm_$1_f32" --groups "$(($4 / 32)),\$((ROWS / 8))" --group 128 --threadgroup 0=8192 \
    --zeros "1=$all" --zeros "2=\$((COLS * 4 * $4))" --zeros "3=\$((8 * ROWS * 4 * $4))" --constant 700=0 --constant 701=0 --constant 702=1 \
    --constant 703=1 --constant 704=1 --constant 705=1 \
    --u32 "0=\$((COLS)),1,$row,0,$all,0,$all,0,1,0,4,0,\$((COLS * 4)),0,\$((COLS * 4 * $4)),0,\$((COLS * 4 * $4)),0,\$((8 * ROWS)),$4,65537,0"
}

mlx_tiles_text() {
  [ -e "$work/mlx-tiles.metal" ] && return
  local kernels=$mlx/mlx/backend/metal/kernels file
  {
    printf '#include <metal_stdlib>\n#include <metal_simdgroup>\n#include <metal_simdgroup_matrix>\nusing namespace metal;\n'
    # Address spaces are no types to the executor.
    printf 'namespace metal {\ntemplate <class T> struct is_empty : bool_constant<__is_empty(T)> {};\n'
    printf 'template <class T> constant constexpr bool is_empty_v = is_empty<T>::value;\n'
    printf 'template <class T> struct is_static : bool_constant<is_empty<remove_cv_t<T>>::value> {};\n'
    printf 'template <class T> struct pointer_element {};\ntemplate <class T> struct pointer_element<T *> { using type = remove_cv_t<T>; };\n'
    printf 'template <class T> using pointer_element_t = typename pointer_element<remove_cv_t<T>>::type;\n'
    printf 'template <class T> using remove_addrspace_t = T;\n}\n'
    echo 'template <typename T, typename... A> inline void adjust_matrix_offsets(A...) {}' # of batches, which are not asked for
    for file in defines steel/defines steel/utils/integral_constant steel/utils steel/gemm/transforms steel/gemm/loader steel/gemm/params \
      steel/gemm/mma quantized_utils quantized; do
      awk '/^#include|^#pragma once/ { next }
        /^#/ && !/^#pragma/ || /^using|^MLX_MTL|^namespace|^}  ?\/\// { print part $0; part = ""; next }
        { part = part $0 "\n" }
        /^};?$|^[a-z].*;$/ {
          if (part !~ /complex64_t|affine_quantize|elem_to_loc|adjust_matrix_offsets\(\n|qvm|gather|ConditionalType|Limits/) print part
          part = ""
        }' "$kernels/$file.h"
    done
    for b in 2 3 4 5 6 8; do
      echo "template [[host_name(\"mlx_qmm_$b\")]] [[kernel]] decltype(affine_qmm_t<half, 64, $b, true, false>)" \
        "affine_qmm_t<half, 64, $b, true, false>;"
    done
  } >"$work/mlx-tiles.metal"
}

mlx_tiles() { # BITS COLUMNS
  mlx_tiles_text
  count "$work/mlx-tiles.metal" "mlx_qmm_$1" --groups "\$((8 * ROWS / 32)),$(($2 / 32))" --group 32,2,2 \
    --zeros "0=\$((8 * ROWS * COLS * $1 / 8))" --zeros '1=$((8 * ROWS * COLS / 64 * 2))' --zeros '2=$((8 * ROWS * COLS / 64 * 2))' \
    --zeros "3=\$((COLS * 2 * $2))" --zeros "4=\$((8 * ROWS * 2 * $2))" --i32 '5=$((COLS))' --i32 '6=$((8 * ROWS))' --i32 "7=$2" --i32 8=0 \
    --i32 9=0 --i32 10=0,0 --i32 11=0 --i32 12=0 --i32 13=0,0 --i32 14=0,0 --i32 15=0,0
}

if [ -n "$gemm" ]; then
  export QKGEN_MSL_DEFINE=QKM_COUNTED
  printf '%-8s %8s %8s %8s %8s\n' format columns ours ggml MLX
  for columns in ${VECTORS:-32 64}; do
    for format in "${formats[@]}"; do
      read -r bytes elements bits _ <<<"$(facts "$format")"
      a=$(tiles "$format" "$bytes" "$elements" "$columns")
      b=- c=-
      [ -z "$ggml" ] || b=$(their_tiles "$format" "$bytes" "$elements" "$columns")
      [ -z "$mlx" ] || c=$(mlx_tiles "$bits" "$columns")
      printf '%-8s %8s %8s %8s %8s\n' "$format" "$columns" "$(of_columns "$columns" "$a")" "$(of_columns "$columns" "$b")" \
        "$(of_columns "$columns" "$c")"
    done
  done
  exit 0
fi

wide=8
[ -z "$weighted" ] || wide=18
row() { printf "%-8s %8s %${wide}s %${wide}s %${wide}s\n" "$@"; }
row format vectors ours ggml MLX
for vectors in ${VECTORS:-1 4}; do
  for format in "${formats[@]}"; do
    read -r bytes elements bits rows simdgroups <<<"$(facts "$format")"
    a=$(ours "$format" "$bytes" "$elements" "$vectors")
    b=- c=-
    [ -z "$ggml" ] || b=$(theirs "$format" "$bytes" "$elements" "$vectors" "$rows" "$simdgroups")
    [ -z "$mlx" ] || c=$(mlx "$bits" "$vectors")
    row "$format" "$vectors" "$a" "$b" "$c"
  done
done
