#!/usr/bin/env bash
# Plants faults in a copy of the sources, one at a time, and lets `qkgen soak` look for them: it is told no more than a family, and
# at times a class. Prints a table of what it said and how long that took; the status is 0 when every fault applies and is found, and
# each case that was printed fails again, and is right without the fault. Not a part of ctest, for it takes as long as that takes.
#
#   faults.sh [PATTERN]     those whose line has the pattern; FOLDER=... keeps the copy and its build for another time;
#                           QKGEN=... is the command without faults (default: build/qkgen); MINUTES=... for each fault (default: 5)
#   faults.sh --apply       whether each changes its file, and nothing else: builds nothing, and changes nothing
set -uo pipefail
export LC_ALL=C NO_COLOR=1 GALLIVM_PERF=${GALLIVM_PERF:-nopt} # the CPU's Vulkan driver compiles in two thirds of the time
source_tree=$(cd "$(dirname "$0")/.." && pwd)
pattern=${1:-.}
minutes=${MINUTES:-5}
problems=0 number=0 configured=

copy() {
  folder=${FOLDER:-$(mktemp -d)}
  good=$(realpath "${QKGEN:-$source_tree/build/qkgen}") || exit 1
  tree=$folder/tree
  mkdir -p "$tree" "$folder/logs"
  (cd "$source_tree" && tar -c --exclude=./build --exclude=./.git --exclude=./out --exclude=./shared .) | tar -x -m -C "$tree"
  cd "$tree" || exit 1
  rm -rf "$folder/was" && cp -r "$tree" "$folder/was" && rm -rf "$folder/was/build"
}
if [ "$pattern" = --apply ]; then cd "$source_tree" || exit 1; else copy; fi

# What is in templates/ is read when kernels are made; all else is built.
build() {
  if [ -z "$configured" ]; then
    # A compiler of GLSL that was built there takes minutes.
    [ -e build/glslang ] || ! [ -e "$source_tree/build/glslang" ] || { mkdir -p build && cp -r "$source_tree/build/glslang" build; }
    cmake --preset default && cmake --build build --target qkgen || return 1
    configured=yes
  fi
  cmake --build build --target qkgen
}

# row NAME FILE SAID SECONDS CASES
row() { printf '| %s | `%s` | %s | %s | %s |\n' "$@"; }

# problem NAME FILE SENTENCE
problem() {
  row "$1" "$2" "**$3**" - -
  problems=$((problems + 1))
}

# Of what soak prints: the sentence of the first failure, its seconds, and all cases until then.
said() { sed -nE '0,/^FAILED/ s/^FAILED after [0-9.]+ s, case [0-9]+: //p' "$1" | sed 's/|/\//g' | cut -c 1-120; }
seconds() { sed -nE '0,/^FAILED/ s/^FAILED after ([0-9.]+) s.*/\1/p' "$1"; }
cases() { sed -nE 's/^([0-9]+) cases right, ([0-9]+) refused .*, ([0-9]+) failed.*/\1 \2 \3/p' "$1" | awk '{ print $1 + $2 + $3 }'; }
the_case() { sed -nE "0,/ --case / s/^ +qkgen soak.* --case '(.*)'\$/\1/p" "$1"; }

# fault NAME FILE SED-SCRIPT OPTION...: those of soak. EXPECTED=... is a pattern that its sentence must have.
fault() {
  local name=$1 file=$2 change=$3 log qkgen=${good:-} status=0 text
  shift 3
  if [ "$pattern" = --apply ]; then
    number=$((number + 1))
    ! sed -E "$change" "$file" | cmp -s - "$file" || problem "$name" "$file" "the fault does not apply"
    return 0
  fi
  grep -qiE -- "$pattern" <<<"$name $file" || return 0
  number=$((number + 1))
  log=$folder/logs/$number
  sed -i -E "$change" "$file"
  if cmp -s "$file" "$folder/was/$file"; then
    problem "$name" "$file" "the fault does not apply"
    return
  fi
  case $file in
    templates/*) ;;
    *) if build >"$log" 2>&1; then qkgen=$tree/build/qkgen; else status=1; fi ;;
  esac
  if [ $status -ne 0 ]; then
    problem "$name" "$file" "does not build: $(grep -m 1 -a 'rror:' "$log")"
  else
    "$qkgen" soak --data "$tree" --seed 1 --failures 1 --minutes "$minutes" "$@" >"$log" 2>&1
    text=$(said "$log") found=$(the_case "$log")
    if [ -z "$text" ]; then
      problem "$name" "$file" "not found: $(cases "$log") cases in $minutes minutes"
    elif grep -qE 'does not compile|ERROR: ' <<<"$text"; then
      problem "$name" "$file" "is no kernel: $text"
    elif ! grep -qE -- "${EXPECTED:-.}" <<<"$text"; then
      problem "$name" "$file" "says something else than '$EXPECTED': $text"
    elif "$qkgen" soak --data "$tree" --case "$found" --limit 20 >>"$log" 2>&1; then
      problem "$name" "$file" "the printed case does not repeat it: $text"
    elif ! "$good" soak --data "$folder/was" --case "$found" 2>>"$log" | tee -a "$log" | grep -q '^right'; then
      problem "$name" "$file" "what was found is not right without the fault: $text"
    else
      row "$name" "$file" "$text" "$(seconds "$log")" "$(cases "$log")"
    fi
  fi
  cp "$folder/was/$file" "$file"
}

printf '| fault | in | what soak says | seconds | cases |\n|---|---|---|---|---|\n'
rows=templates/gemv_rows.comp wide=templates/gemv_wide.comp shared=templates/gemv_shared.comp teams=templates/gemv_teams.comp
experts=templates/gemv_id_wide.comp slice=templates/share_slice.glsl
launch=runtime/include/qkgen/dispatch_launch.h sums=runtime/include/qkgen/dispatch_sums.h

# ---- launches that do not come back ----
# The CPU's driver leaves a loop after 65,535 rounds: it is one that has much in it, and gives the same results each time.
EXPECTED='did not come back within' \
  fault "a loop over rows does not go on from the last" $wide \
  's/first \+= (group_count\(\) \* teams \* ROWS)\)/first += first + \1 < rows ? \1 : 0u)/' --family gemv --class exact --limit 10

# ---- barriers ----
fault "no barrier before sums of several subgroups are added" $rows \
  '/if \(split == 1u\) continue;/ { n; s/barrier\(\);/;/ }' --family gemv --class exact
fault "no barrier before they are written again" $rows '/finish\(m, row, total\);$/ { n; n; s/barrier\(\);/;/ }' --family gemv --class exact
fault "x is read before it is there" $slice '/load_x\(m, begin/,/^}/ s/barrier\(\);/;/' --family gemv --class exact
fault "sums of teams are added before they are there" $teams '0,/barrier\(\);/ s/barrier\(\);/;/' --family gemv --class exact

# ---- rows and tiles ----
fault "the tail of a row is left out" $wide 's/\(tiles \+ slice - 1u\) \/ slice/max(1u, tiles \/ slice)/' --family gemv --class exact
fault "the last tile of a row is left out" $rows 's/if \(j >= row_tiles\) continue/if (j + 1u >= row_tiles) continue/' --family gemv --class exact
fault "the last row is the one before it" templates/gemv_wide_tile.glsl 's/min\(row \+ r, end - 1u\)/min(row + r, max(end, 2u) - 2u)/g' --family gemv --class exact
fault "rows are missing: the grid's step is too large" $shared \
  's/(step = group_count\(\) \* gl_NumSubgroups \* tall);/\1 + tall;/' --family gemv --class exact
fault "rows are written behind the last" $shared 's/lane < ROWS \&\& row \+ lane < rows/lane < ROWS/' --family gemv --class exact
fault "tiles are missing: the grid's step is too large" templates/dequant.kernel 's/i \+= threads/i += threads + 1u/' --family dequant

# ---- vectors, tokens, experts ----
fault "all vectors are the first" $shared 's/take_x\(m, t\)/take_x(0u, t)/' --family gemv --class exact
fault "sums are added to what was there" templates/finish.glsl 's/if \((!first \|\| )?\(does \& ADDS_TO_Y\) != 0u\) sum/sum/' --family gemv --class exact
fault "x of another token" $experts 's/pair \/ slots : pair/pair % batch : pair/g' --family gemv_id
fault "the expert behind the last is read" $experts 's/found = expert < experts/found = expert <= experts/g' --family gemv_id
fault "an expert out of range is not counted" $experts 's/atomicAdd\(out_of_range, 1u\)/;/g' --family gemv_id
fault "an expert out of range is counted for each part" $experts 's/slot < added && first == 0u &&/slot < added \&\&/g' --family gemv_id
fault "a row of another launch is zeros" templates/gather.comp 's/ && row_first == 0u//g' --family gather
fault "the last bit depends on what other workgroups did" $experts \
  's/expert_of_all, n, total,/expert_of_all, n, total * (1.0 + float(out_of_range \& 1u) * 1.2e-7),/g' --family gemv_id

# ---- indices ----
fault "an index of 16 bits" templates/gather.comp 's/i = values_of\(token\) \+ t/i = values_of(token) + t \& 0xFFFFu/' --family gather
fault "an offset of a part of the weights is cut to 16 bits" $launch \
  's/(range\.offset = argument->range\.offset \+ )first \* argument->unit/\1(uint16_t)(first * argument->unit)/' --family gemv --class exact
fault "results of a part are written at the first rows" $sums 's/(push\[3\] = \(uint32_t\)\(s->vector \* g->rows \+ )s->first/\10/' --family gemv --class exact
fault "the last part is as long as the others" $sums 's/s.count = qk_min_\(g->row_chunk, g->rows - first\)/s.count = g->row_chunk/' --family gemv --class exact

# ---- memory that a workgroup shares ----
fault "one tile more than there is room for" $shared 's/min\(SLICE, tiles - begin\)/min(SLICE + 1u, tiles - begin)/' --family gemv --class exact
fault "too little room for sums of several vectors" $rows \
  's/partial\[gl_WorkGroupSize\.x \/ 4u \* ROWS \* BATCH\]/partial[gl_WorkGroupSize.x \/ 4u * ROWS]/' --family gemv --class exact

# ---- numbers ----
fault "a minimum is forgotten" gen/text/sums.c 's/%s%s_sum%s\[%u\] = /%s%s_sum%s[%u] = 0.0 * /' --family gemv --class exact
fault "halves between two are rounded up" templates/prelude.glsl 's/ \+ \(\((magnitude|most) >> 13\) & 1u\)/ + 1u/g' --family dequant,gather
fault "bfloat16 between two is rounded up" templates/prelude.glsl 's/ \+ \(\(bits >> 16\) & 1u\)/ + 1u/g' --family dequant,gather
fault "a NaN in x is lost" templates/products.glsl 's/any\(isnan\(all\)\) \|\| isinf\(largest\)/false/' --family gemv --class int8

# ---- families without a format ----
fault "codes leave one group further on" templates/qdq_init.comp \
  's/place = thread \/ lanes \* quads \+ lane/place = thread \/ lanes * lanes + lane/' --family qdq_init

echo
echo "$number faults, $problems of them not as they must be"
[ "$pattern" = --apply ] || [ -n "${FOLDER:-}" ] || rm -rf "$folder"
[ "$problems" -eq 0 ] && [ "$number" -gt 0 ]
