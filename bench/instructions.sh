#!/usr/bin/env bash
# Instructions for each weight, of Metal kernels that the same clang compiled with the same flags for this machine.
#
#   bench/instructions.sh FOLDER                              ours beside the hand-written kernels in FOLDER
#   bench/instructions.sh --kernel FILE.metal NAME ARGUMENT...  any kernel; two of them make a comparison
#   bench/instructions.sh --operations FILE.metal NAME ARGUMENT...  the same, by kinds of LLVM's operations: a line KIND COUNT for each
#
# ARGUMENT: what qkgen-msl takes after --kernel NAME to run it for a matrix of ROWS x COLS weights. It may hold ROWS, COLS and
# arithmetic of them, in single quotes:
#
#   bench/instructions.sh --kernel mine.metal gemv --groups '$((ROWS))' --group 32 --zeros '0=$((COLS * 4))' \
#       --zeros '1=$((ROWS * COLS / 2))' --zeros '2=$((ROWS * 4))' --u32 '3=$((ROWS)),$((COLS))'
#
# Method. qkgen-msl makes C++ of the text (tests/msl/README.md), unchanged; clang compiles that at -O2, one thread of the
# kernel at a time, all calls inlined, without vectors, as a GPU's threads are scalar. Valgrind counts the instructions that the
# compiled file executes, at two numbers of rows and two of columns. With I(rows, columns) that is
#
#   (I(16, 2048) - I(16, 1024) - I(8, 2048) + I(8, 1024)) / (8 * 1024)
#
# so that only what is done for each weight is left: the body of the inner loop, as it runs, with its share of what groups of
# weights have in common. What is done once for a row, for a column of x or for a launch drops out, and so does what is
# executed outside of the file. These are instructions of a processor: it has fewer registers than a GPU, so it loads x from
# memory where a GPU holds it, and no arithmetic in bf16, which takes several instructions for each operation of `bfloat`. Look
# at the ratio of two kernels, and not even at that where one of them computes in bf16.
#
# --operations counts without Valgrind, and before clang knows what machine it is for: in LLVM's text of the optimised kernel each
# block adds what it executes to a table (bench/operations.awk). x that stays in values is not loaded again, however many there are.
#
# Environment: QKGEN_MSL (default: build/tests/msl/qkgen-msl), CLANG (default: the clang++ that it was built for), OUT (the
# folder of our kernels, default: out, which lacks some: `qkgen emit --out DIR` writes all), MATH (safe, contract or fast;
# default: contract), KEEP (a folder for what is compiled).
set -euo pipefail
export LC_ALL=C

die() {
  echo "instructions.sh: error: $*" >&2
  exit 1
}

home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
msl=${QKGEN_MSL:-$home/build/tests/msl/qkgen-msl}
clang=${CLANG:-clang++-16}
out=${OUT:-$home/out}
flags="-O2 -fno-vectorize -fno-slp-vectorize -mllvm -inline-threshold=100000"

[ $# -gt 0 ] || die "needs a folder of kernels, or --kernel FILE NAME ARGUMENT...: see the top of $0"
[ -x "$msl" ] || die "$msl is not there: build the repository with clang-16 and libclang-16-dev installed, or set QKGEN_MSL"
command -v "$clang" >/dev/null || die "there is no $clang: install clang-16, or set CLANG to the clang++ that qkgen-msl was built for"
[ "$1" = --operations ] || command -v valgrind >/dev/null || die "there is no valgrind, which counts: install valgrind"

work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work/compiled-kernels"

# A compiler for qkgen-msl that leaves out what it adds to check a kernel, and optimises. The first of the two files that it
# compiles, the header, stays as it is, because libclang reads it, too.
cat >"$work/clang" <<EOF
#!/usr/bin/env bash
set -e
case " \$* " in
*" -include-pch "*" -c "*) ;;
*) exec $(command -v "$clang") "\$@" ;;
esac
words=() before= include= to= counts=\${QKM_COUNTS_OPERATIONS:-}
for word in "\$@"; do
  [ "\$before" != -isystem ] || include=\$word
  [ "\$before" != -o ] || to=\$word
  case \$before,\$word in
  -include-pch,* | *,-include-pch | *,-ftrivial-auto-var-init=* | *,-gline-tables-only) ;;
  *,-O1) words+=($flags) ;;
  *) words+=("\$word") ;;
  esac
  before=\$word
done
words=(-include "\$include/metal_stdlib" "\${words[@]}")
[ -n "\$counts" ] || exec $(command -v "$clang") "\${words[@]}"
$(command -v "$clang") "\${words[@]}" -S -emit-llvm -o "\$to.ll"
awk -f "$home/bench/operations.awk" "\$to.ll" >"\$to.counting.ll"
$(command -v "$clang") -w -O0 -fPIC -c "\$to.counting.ll" -o "\$to.counting"
$(command -v "$clang") -r -nostdlib -o "\$to" "\$to.counting" "\$counts"
EOF
chmod +x "$work/clang"
export QKGEN_MSL_CLANG=$work/clang QKGEN_MSL_CACHE=$work/compiled-kernels

# Valgrind's table, by object: the sum of what the functions of the compiled kernel executed themselves. Names stand where
# they are first used, and numbers afterwards.
sum='
  function named(line,  id) {
    match(line, /\([0-9]+\)/)
    id = substr(line, RSTART, RLENGTH)
    if (length(line) > RSTART + RLENGTH) names[id] = substr(line, RSTART + RLENGTH + 1)
    return names[id]
  }
  /^ob=/ { inside = index(named($0), "compiled-kernels") > 0; next }
  /^cob=/ { named($0); next }
  /^calls=/ { getline; next }
  /^[0-9+*-]/ && inside { sum += $2 }
  END { print sum + 0 }'

# executed ROWS COLS FILE KERNEL ARGUMENT...: how many instructions.
executed() {
  local ROWS=$1 COLS=$2 file=$3 kernel=$4 words=() word
  shift 4
  for word in "$@"; do
    [[ $word =~ ^[-A-Za-z0-9_.:,=/\$\(\)\ +*%]*$ ]] || die "an argument is '$word'; it may hold words, numbers and \$((...))"
    words+=("$(eval "printf %s \"$word\"")")
  done
  local run=("$msl" "$file" --kernel "$kernel" "${words[@]}" --math "${MATH:-contract}"
    --skip access --skip race --skip uninitialised --skip undefined)
  if [ -n "${QKM_KINDS:-}" ]; then
    "${run[@]}" >"$work/log" 2>&1 || die "$kernel does not run: $(head -n 3 "$work/log")"
    return
  fi
  if [ "$ROWS,$COLS" = 8,1024 ]; then # compiles it, too
    "${run[@]}" >"$work/log" 2>&1 || die "$kernel does not run: $(head -n 3 "$work/log")"
  fi
  valgrind --tool=callgrind --keep-debuginfo=yes --callgrind-out-file="$work/counts" "${run[@]}" >"$work/log" 2>&1 ||
    die "valgrind cannot run $kernel: $(tail -n 3 "$work/log")"
  awk "$sum" "$work/counts"
}

# per_weight FILE KERNEL ARGUMENT...
per_weight() {
  local a b c d
  [ -r "$1" ] || die "$1 is not there, or not to be read"
  a=$(executed 8 1024 "$@") && b=$(executed 8 2048 "$@") && c=$(executed 16 1024 "$@") && d=$(executed 16 2048 "$@") || exit 1
  [ "$a" -gt 0 ] || die "nothing was counted of $2"
  awk -v a="$a" -v b="$b" -v c="$c" -v d="$d" 'BEGIN { printf "%.2f\n", (d - c - b + a) / 8192 }'
}

# The table of kinds, and what writes it when the kernel is unloaded.
make_table() {
  local kinds
  kinds=$(awk -v names=yes -f "$home/bench/operations.awk" </dev/null | wc -l)
  cat >"$work/table.c" <<EOF
unsigned long qkm_kinds[$kinds];
extern char *getenv(const char *);
extern void *fopen(const char *, const char *);
extern int fprintf(void *, const char *, ...), fclose(void *);
static __attribute__((destructor)) void write_kinds(void) {
    void *file = fopen(getenv("QKM_KINDS"), "w");
    for (int i = 0; file && i < $kinds; ++i) fprintf(file, "%lu\\n", qkm_kinds[i]);
    if (file) fclose(file);
}
EOF
  "$clang" -x c -w -O1 -fPIC -c "$work/table.c" -o "$work/table.o"
  export QKM_COUNTS_OPERATIONS=$work/table.o QKGEN_MSL_CACHE=$work/compiled-kernels/operations
  mkdir -p "$QKGEN_MSL_CACHE"
}

# operations FILE KERNEL ARGUMENT...
operations() {
  local shape
  [ -r "$1" ] || die "$1 is not there, or not to be read"
  make_table
  for shape in 8,1024 8,2048 16,1024 16,2048; do
    QKM_KINDS=$work/kinds.$shape executed "${shape%,*}" "${shape#*,}" "$@" || exit 1
  done
  awk -v names=yes -f "$home/bench/operations.awk" </dev/null |
    paste -d ' ' - "$work/kinds.16,2048" "$work/kinds.16,1024" "$work/kinds.8,2048" "$work/kinds.8,1024" |
    awk '{ printf "%s %.4f\n", $1, ($2 - $3 - $4 + $5) / 8192 }'
}

# ---- ours ----

# The elements of a tile, as a push constant's comment in the text says.
tile_of() {
  local tile
  tile=$(sed -nE "s/^ *uint $2; *\/\/ (tiles )?of ([0-9]+) elements.*/\\2/p" "$1" | head -n 1)
  [ -n "$tile" ] || die "$1 does not say how many elements a tile has"
  echo "$tile"
}

# ours FORMAT FAMILY BUFFER...: the bytes of each buffer.
ours() {
  local file=$out/$1/$1.metal family=$2 format=$1 words=() n=0 tile
  shift 2
  [ -r "$file" ] || die "$file is not there: run qkgen emit --format $1 --out DIR, and set OUT to DIR"
  for bytes in "$@"; do words+=(--zeros "$((n++))=\$(($bytes))"); done
  case $family in
  dequant)
    tile=$(tile_of "$file" tiles)
    per_weight "$file" "${format}_dequant_f16" "${words[@]}" --groups 2 --group 64 --zeros "$n=\$((ROWS * COLS * 2))" \
      --u32 "$((n + 1))=\$((ROWS * COLS / $tile))"
    ;;
  gemv)
    tile=$(tile_of "$file" row_tiles)
    per_weight "$file" "${format}_gemv_f32" "${words[@]}" --groups 1 --group 32 --zeros "$n=\$((COLS * 4))" \
      --zeros "$((n + 1))=\$((ROWS * 4))" --u32 "$((n + 2))=\$((ROWS)),\$((COLS / $tile)),1,0,\$((ROWS))" --constant 1=1
    ;;
  gemv_id)
    tile=$(tile_of "$file" row_tiles)
    per_weight "$file" "${format}_gemv_id_f32" "${words[@]}" --groups 1 --group 32 --zeros "$n=\$((COLS * 4))" \
      --u32 "$((n + 1))=0" --zeros "$((n + 2))=\$((ROWS * 4))" --zeros "$((n + 3))=4" \
      --u32 "$((n + 4))=\$((ROWS)),\$((COLS / $tile)),1,1,1,0,1"
    ;;
  esac
}

# row WHAT KERNEL THEIRS OURS: numbers, or `none`.
row() {
  local ratio=
  [ "$3" = none ] || ratio=$(awk -v a="$3" -v b="$4" 'BEGIN { printf "%.2f", b / a }')
  printf '%-26s %-34s %8s %8s %8s\n' "$1" "$2" "$3" "$4" "$ratio"
}

beside() {
  local folder=$1 file a b
  [ -d "$folder" ] || die "$folder is no folder"
  for file in gemv_q4_k quantized_matmul_id dequant_to_f16; do
    [ -r "$folder/$file.metal" ] || die "$folder has no $file.metal"
  done
  echo "Instructions for each weight; $("$clang" --version | head -n 1), $(uname -m), $flags, --math ${MATH:-contract}"
  printf '%-26s %-34s %8s %8s %8s\n' "" "theirs" "theirs" "ours" "of theirs"
  a=$(per_weight "$folder/gemv_q4_k.metal" gemv_f32a_q4kw --groups '$((ROWS))' --group 32 --zeros '0=$((COLS * 4))' \
    --zeros '1=$((ROWS * COLS / 256 * 144))' --zeros '2=$((ROWS * 4))' --i32 '3=$((ROWS)),$((COLS))')
  b=$(ours q4_K gemv 'ROWS * COLS / 256 * 144')
  row "q4_K gemv" gemv_f32a_q4kw "$a" "$b"
  a=$(per_weight "$folder/quantized_matmul_id.metal" quantized_matmul_id --grid '$((ROWS)),1' --group 32 \
    --zeros '0=$((COLS * 4))' --zeros '1=$((ROWS * COLS / 2))' --zeros '2=$((ROWS * COLS / 64 * 2))' \
    --zeros '3=$((ROWS * COLS / 64 * 2))' --u32 4=0 --zeros '5=$((ROWS * 4))' \
    --u32 '6=1,$((COLS)),$((ROWS)),64,4,1,1,$((ROWS * COLS / 2)),$((ROWS * COLS / 64)),$((ROWS * COLS / 64))')
  b=$(ours affine_b4_g64_bf16 gemv_id 'ROWS * COLS / 2' 'ROWS * COLS / 64 * 2' 'ROWS * COLS / 64 * 2')
  row "affine 4-bit, g64 gemv_id" "quantized_matmul_id, in bf16" "$a" "$b"
  for format in q6_K:210 q4_K:144; do
    a=$(per_weight "$folder/dequant_to_f16.metal" "hf2q_dequant_${format%:*}_to_f16" --grid '$((ROWS * COLS / 16))' --group 64 \
      --u32 '0=$((ROWS * COLS / 16))' --zeros "1=\$((ROWS * COLS / 256 * ${format#*:}))" --zeros '2=$((ROWS * COLS * 2))')
    b=$(ours "${format%:*}" dequant "ROWS * COLS / 256 * ${format#*:}")
    row "${format%:*} dequant, to f16" "hf2q_dequant_${format%:*}_to_f16" "$a" "$b"
  done
  b=$(ours q6_K gemv 'ROWS * COLS / 256 * 210')
  row "q6_K gemv" "(there is none)" none "$b"
}

if [ "$1" = --kernel ] || [ "$1" = --operations ]; then
  [ $# -ge 3 ] || die "$1 needs FILE.metal, the kernel's name, and its arguments"
  [ "$1" = --kernel ] && count=per_weight || count=operations
  shift
  "$count" "$@"
else
  [ $# -eq 1 ] || die "takes one folder, or --kernel FILE NAME ARGUMENT..."
  beside "$1"
fi
