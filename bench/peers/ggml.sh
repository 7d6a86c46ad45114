#!/usr/bin/env bash
# Figures of ggml beside ours: `bench/peers/ggml.sh NAME TEST_BACKEND_OPS GGML_H [-b BACKEND]...` lets ggml's own
# `test-backend-ops perf` measure the shapes that `qkgen bench` measures, and writes a file of peers to standard output.
# NAME is what it is called there: ggml-vulkan, say. What follows is passed on. See README.md.
#
# SHAPES names others (FAMILY ROWS COLS BATCH [EXPERTS SLOTS] in each line); FORMATS a pattern of formats (extended, of grep).
# MODELS names models of bench/models, or files like those, with commas between them: the shapes are then the distinct ones of
# their matrices (and those of SHAPES, where it is set) with each of BATCHES vectors or tokens, 1,2,3,4,5,8 when it is not set.
# `bench/peers/ggml.sh NAME --shapes` only prints them, `bench/peers/ggml.sh NAME --cases GGML_H` the lines for a --test-file, and
# `bench/peers/ggml.sh NAME --parse FILE` reads the output of a run that was made before, of its own perf cases, too. Of a case that
# was measured several times it says the median.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")/../.." && pwd)
name=${1:?is the name of the peer}

die() {
  echo "ggml.sh: error: $1" >&2
  exit 1
}

# Lines of SHAPES from the files of models: each distinct matrix once for each batch.
shapes_of_models() {
  local model path batches=${BATCHES:-1,2,3,4,5,8} files=()
  [[ $batches =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || die "BATCHES: '$batches' must be whole numbers from 1, with commas between them"
  for model in ${MODELS//,/ }; do
    path=$model
    [[ $model == */* ]] || path=$here/bench/models/$model.txt
    [ -r "$path" ] || die "MODELS: cannot read $path; name a file, or one of: $(cd "$here/bench/models" && printf '%s ' *.txt)"
    files+=("$path")
  done
  awk -v batches="$batches" '
    { sub(/#.*/, "") }
    NF == 0 { next }
    NF != 4 && NF != 6 {
      printf "ggml.sh: error: %s:%d: a line is NAME ROWS COLS COUNT [EXPERTS USED]\n", FILENAME, FNR >"/dev/stderr"
      exit 1
    }
    !seen[$2, $3, $5, $6]++ {
      count = split(batches, batch, ",")
      for (i = 1; i <= count; i++)
        print NF == 6 ? "gemv_id " $2 " " $3 " " batch[i] " " $5 " " $6 : "gemv " $2 " " $3 " " batch[i]
    }' "${files[@]}"
}

shapes=${SHAPES:-}
if [ -n "${MODELS:-}" ]; then
  of_models=$(shapes_of_models)
  shapes=${shapes:+$shapes$'\n'}$of_models
fi
shapes=${shapes:-"gemv 57344 8192 1
gemv 57344 8192 8
gather 16384 8192 1
gemv_id 768 2048 1 128 8
gemv_id 768 2048 8 128 8"}

# The number of an enumerator in ggml.h: how many of its enumeration stand before it.
number() {
  awk -v want="$1" -v first="$2" '
    { sub(/\/\/.*/, "") }
    index($0, first) { on = 1; n = 0 }
    on && match($0, /GGML_[A-Z0-9_]+/) {
      it = substr($0, RSTART, RLENGTH)
      if (match($0, /= *[0-9]+/)) { n = substr($0, RSTART + 1, RLENGTH - 1) + 0 }
      if (it == want) { print n; exit }
      n += 1
    }
    on && /}/ { on = 0 }' "$header"
}

operation() {
  local found
  found=$(number "GGML_OP_$1" GGML_OP_NONE)
  [ -n "$found" ] || die "$header has no GGML_OP_$1; name ggml's include/ggml.h"
  echo "$found"
}

# One line for each format and shape, as `test-backend-ops --test-file` reads them: the operation, the type and extents of its
# result, its parameters, its sources (strides of 0 are those of dense arrays), and a name.
list_cases() {
  local f32 i32 rule type format block family rows cols batch experts slots op
  f32=$(number GGML_TYPE_F32 GGML_TYPE_F32) i32=$(number GGML_TYPE_I32 GGML_TYPE_F32)
  [ -n "$i32" ] || die "$header has no GGML_TYPE_I32; name ggml's include/ggml.h"
  local dense="0 0 0 0"
  while read -r rule type format; do
    [ "$rule" = gguf ] && [ -e "$here/formats/$format.quant" ] || continue
    [[ $format =~ ^(${FORMATS:-.*})$ ]] || continue
    block=$(sed -n 's/^block \([0-9]*\).*/\1/p' "$here/formats/$format.quant")
    while read -r family rows cols batch experts slots; do
      local tag=$family:$format:$rows:$cols:$batch
      if [ $((cols % block)) -ne 0 ]; then
        echo "ggml.sh: $format: left out $family $rows $cols $batch: columns must be a multiple of $block" >&2
        continue
      fi
      case $family in
        gemv) op=MUL_MAT ;; gemv_id) op=MUL_MAT_ID ;; gather) op=GET_ROWS ;; encode) op=CPY ;; set_rows) op=SET_ROWS ;;
        *) die "SHAPES: '$family' is none of gemv, gather, gemv_id, encode, set_rows" ;;
      esac
      op=$(operation $op)
      case $family in
        gemv) echo "$op $f32 $rows $batch 1 1 0 2 $type $cols $rows 1 1 $dense $f32 $cols $batch 1 1 $dense $tag" ;;
        gather) echo "$op $f32 $cols $rows 1 1 0 2 $type $cols $rows 1 1 $dense $i32 $rows 1 1 1 $dense $tag" ;;
        gemv_id)
          echo "$op $f32 $rows $slots $batch 1 0 3 $type $cols $rows $experts 1 $dense" \
            "$f32 $cols 1 $batch 1 $dense $i32 $slots $batch 1 1 $dense $tag"
          ;;
        encode) echo "$op $type $cols $rows 1 1 0 2 $f32 $cols $rows 1 1 $dense $type $cols $rows 1 1 $dense $tag" ;;
        set_rows)
          echo "$op $type $cols $rows 1 1 0 2 $f32 $cols $rows 1 1 $dense $i32 $rows 1 1 1 $dense $tag"
          ;;
      esac
    done <<<"$shapes"
  done <"$here/formats/containers.txt"
}

# Lines such as
#   MUL_MAT(name=gemv:q4_0:57344:8192:1,type=f32,...):     852 runs -  1183.54 us/run -   258048 kB/run -  210.11 GB/s
#   MUL_MAT(type_a=q4_0,type_b=f32,m=4096,n=1,k=14336,bs=[1,1],nr=[1,1],...):  852 runs -  1183.54 us/run - 117.44 MFLOP/run - 99.23 GFLOPS
# to a file of peers. ggml writes names of types as qkgen does.
parse() {
  awk -v peer="$name" '
    function value(key, at, text) {
      at = match(vars, "(^|,)" key "=[^,]*")
      if (!at) return ""
      text = substr(vars, RSTART, RLENGTH)
      sub(/^,?[^=]*=/, "", text)
      return text
    }
    function say(family, format, rows, cols, batch,    key, i) {
      key = family " " format " " rows " " cols " " batch
      if (!times[key]) order[++count] = key
      for (i = ++times[key]; i > 1 && time[key, i - 1] + 0 > us + 0; i--) time[key, i] = time[key, i - 1]
      time[key, i] = us
    }
    function median(key,    n) {
      n = times[key]
      if (n % 2) return time[key, (n + 1) / 2]
      return sprintf("%.2f", (time[key, n / 2] + time[key, n / 2 + 1]) / 2)
    }
    { gsub(/\033\[[0-9;]*m/, "") }
    match($0, /[0-9.]+ us\/run/) {
      us = substr($0, RSTART, RLENGTH - 7)
      line = $0
      sub(/^ */, "", line)
      op = line
      sub(/\(.*/, "", op)
      vars = substr(line, length(op) + 2)
      sub(/\): .*/, "", vars)
      split(value("name"), part, ":")
      # ("name=" holds no comma; its parts are ours)
      if (part[5] != "") { say(part[1], part[2], part[3], part[4], part[5]); next }
      if (value("bs") != "" && (vars !~ /bs=\[1,1\]/ || vars !~ /nr=\[1,1\]/)) next
      if (op == "MUL_MAT" && value("type_b") == "f32") say("gemv", value("type_a"), value("m"), value("k"), value("n"))
      if (op == "GET_ROWS" && value("be1") == "1") say("gather", value("type"), value("r"), value("n"), 1)
    }
    END {
      for (i = 1; i <= count; i++) print peer, order[i], median(order[i]), "us"
      if (!count) exit 1
    }' || die "there is no line with 'us/run' in the output: was it that of test-backend-ops perf?"
}

if [ "${2:-}" = --shapes ]; then
  echo "$shapes"
  exit
fi
if [ "${2:-}" = --parse ]; then
  [ -r "${3:-}" ] || die "cannot read '${3:-}'"
  parse <"$3"
  exit
fi
if [ "${2:-}" = --cases ]; then
  header=${3:?is the path of include/ggml.h}
  [ -r "$header" ] || die "cannot read $header; name include/ggml.h of ggml"
  list_cases
  exit
fi
program=${2:?is the path of test-backend-ops}
header=${3:?is the path of include/ggml.h of the same ggml}
[ -x "$program" ] || die "$program is no program; build ggml with -DGGML_BUILD_TESTS=ON"
[ -r "$header" ] || die "cannot read $header; name include/ggml.h of the ggml that $program was built from"
cases=$(mktemp)
trap 'rm -f "$cases" "$cases.out"' EXIT
list_cases >"$cases"
[ -s "$cases" ] || die "no format of ggml matches '${FORMATS:-}'"
"$program" perf --test-file "$cases" "${@:4}" >"$cases.out" || die "$program perf failed: $(tail -n 1 "$cases.out")"
echo "# $name: $(basename "$program") perf, $(date -u +%F); $(uname -sm)"
echo "# PEER FAMILY FORMAT ROWS COLS BATCH NUMBER us|GB/s"
parse <"$cases.out"
