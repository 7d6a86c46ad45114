#!/usr/bin/env bash
# make.sh CHECKOUT OUT [TYPE...]: writes OUT/ggml-metal.metal, the Metal text of a checkout of ggml or llama.cpp in which products with
# vectors and rows of tables are our kernels, under the same names and with the same arguments. ggml loads it, without a rebuild, where
# the variable GGML_METAL_PATH_RESOURCES names OUT. Its own kernels stay, with `ggml_` before their names.
#
# TYPEs are formats, q4_K say; without any, all that ggml's text has and we have. QKGEN names the command, build/qkgen without.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=${SOURCE:-$(cd "$here/../.." && pwd)}
qkgen=${QKGEN:-$source/build/qkgen}

fail() {
  echo "make.sh: $*" >&2
  exit 1
}

[ $# -ge 2 ] || fail "usage: make.sh CHECKOUT OUT [TYPE...]"
out=$2
for checkout in "$1" "$1/ggml"; do [ ! -e "$checkout/src/ggml-metal/ggml-metal.metal" ] || break; done
text=$checkout/src/ggml-metal/ggml-metal.metal
[ -e "$text" ] || fail "$1 holds neither src/ggml-metal/ggml-metal.metal nor ggml/src/ggml-metal/ggml-metal.metal"
[ -x "$qkgen" ] || fail "there is no command $qkgen; build it, or name it by QKGEN"
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Our formats, with signatures of ggml's in the place of ours.
mkdir "$work/data"
cp -r "$source/formats" "$source/templates" "$work/data/"
cp "$here"/templates/*.metal "$work/data/templates/"

if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046
  set -- $(comm -12 <(sed -nE 's/.*host_name\("kernel_get_rows_([A-Za-z0-9_]+)"\).*/\1/p' "$text" | sort) \
    <("$qkgen" list | cut -d ' ' -f 1 | sort))
  [ $# -gt 0 ] || fail "$text has rows of no type that we know"
fi
formats=()
for type; do formats+=(--format "$type"); done
"$qkgen" emit --data "$work/data" --api metal --family gather --family gemv --family gemv_id "${formats[@]}" --out "$work/out" >/dev/null

# Ours of a type: those of f32 alone, for rows and simdgroups of ggml's own numbers.
ours() {
  local shared=0
  [ "$1" != q8_0 ] || shared=1 # ggml-metal-ops.cpp: where simdgroups share rows
  echo "#undef QKGEN_ROWS"
  echo "#undef QKGEN_SHARED"
  echo "#define QKGEN_ROWS N_R0_$(tr a-z A-Z <<<"$1")"
  echo "#define QKGEN_SHARED $shared"
  awk -v format="$1" '
    $0 ~ "^// " format "_[a-z_]+_b?f16: " { skip = 1 }
    $0 ~ "^// " format "_[a-z_]+_f32: " { skip = 0 }
    !skip { gsub(/blocks \[\[buffer\(0\)\]\]/, "blocks [[buffer(1)]]"); print }' "$work/out/$1/$1.metal"
}

names=()
for type; do names+=("kernel_mul_mv_${type}_f32" "kernel_mul_mv_id_${type}_f32" "kernel_get_rows_$type"); done
printf '%s\n' "${names[@]}" >"$work/names"
for name in "${names[@]}"; do
  grep -qE "\"$name\"|kernel void $name\(" "$text" || fail "$text has no kernel $name; leave its type out, or take another checkout"
done
for header in "$checkout/src/ggml-common.h" "$checkout/src/ggml-metal/ggml-metal-impl.h"; do
  [ -e "$header" ] || fail "there is no $header"
done
{
  # One file, as ggml's own embedded text: its headers stand in it.
  awk -v common="$checkout/src/ggml-common.h" -v impl="$checkout/src/ggml-metal/ggml-metal-impl.h" '
    function put(path, line) { while ((getline line < path) > 0) print line; close(path) }
    NR == FNR { names[$0]; next }
    /^__embed_ggml-common.h__/ { next }
    /^#include "ggml-common.h"/ { put(common); next }
    /^#include "ggml-metal-impl.h"/ { put(impl); next }
    {
      if (match($0, /host_name\("[A-Za-z0-9_]+"\)/)) {
        name = substr($0, RSTART + 11, RLENGTH - 13)
        if (name in names) sub("\"" name "\"", "\"ggml_" name "\"")
      } else if (match($0, /^kernel void [A-Za-z0-9_]+\(/)) {
        name = substr($0, 13, RLENGTH - 13)
        if (name in names && last !~ /host_name/) sub("kernel void ", "kernel void ggml_")
      }
      last = $0
      print
    }' "$work/names" "$text"
  echo
  echo "// ---- kernels of qkgen, instead of those above whose names begin with ggml_ ----"
  echo "#pragma METAL fp math_mode(safe)"
  for type; do ours "$type"; done
} >"$work/ggml-metal.metal"
mkdir -p "$out"
mv "$work/ggml-metal.metal" "$out/ggml-metal.metal"
echo "$out/ggml-metal.metal: ${#names[@]} kernels of $# types are ours; GGML_METAL_PATH_RESOURCES=$out"
