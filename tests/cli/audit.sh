#!/usr/bin/env bash
# `qkgen audit`: our kernels of all formats of ggml have no finding that is wrong; modules that are broken on purpose have the
# sentence that says so, word for word; two sets are compared. A template that is broken on purpose is found beside its
# descriptor, which shows that nothing found is not nothing looked at.
source "$(dirname "$0")/../lib.sh"

# ends STATUS SENTENCE COMMAND...: the command ends with that status; what it says is in $work/said.
# Numbers of ids and instructions are the compiler's: N stands for them.
ends() {
  local expected=$1 sentence=$2 status=0
  shift 2
  "$@" >"$work/raw" 2>&1 || status=$?
  sed -E 's/%[0-9]+/%N/g; s/instruction [0-9]+/instruction N/g' "$work/raw" >"$work/said"
  if [ $status -eq "$expected" ]; then pass; else fail "$sentence: exit status $status, and not $expected" "$work/said"; fi
}

# line TEXT: what was said has exactly this line.
line() {
  if grep -qxF -- "$1" "$work/said"; then pass; else fail "no line: $1" "$work/said"; fi
}

# ---- ours ----

ends 0 "kernels of the formats of ggml" "$QKGEN" audit --from 'ggml (llama.cpp), ggml-common.h' --format tq1_0 --json "$work/ours.json"
cp "$work/said" "$work/ours"
says "every barrier in uniform flow" '^([0-9]+) modules: ([1-9][0-9]*) of \2 barriers in uniform flow, ([1-9][0-9]*) of \3 shifts below' "$work/ours"
says "every load proven" '^loads of weights: [1-9][0-9]* proven to be in their block, 0 guarded' "$work/ours"
says "every bit of a code is read" '^bits of blocks: ([1-9][0-9]*) of \1 that belong to codes are read, in [1-9][0-9]* modules all' "$work/ours"
says "nothing is wrong" '^0 wrong, [0-9]+ notes$' "$work/ours"
check "hundreds of modules" test "$(grep -c ' 0 .*[0-9]r ' "$work/ours")" -gt 300
# A share of them, for each copy of what a schedule adds has its own.
check "shared indices are proven for all legal values of constants, but of words that pass through arrays" \
  test "$(sed -nE 's/.* ([0-9]+) of ([0-9]+) shared indices inside$/\1 \2/p' "$work/ours" | awk '{print 100 * ($2 - $1) <= 29 * $2}')" = 1
# An array that is too small for some of them is not proven.
mkdir "$work/small"
cp -r "$SOURCE/templates" "$SOURCE/formats" "$work/small/"
sed -i 's/1u : STAGED + STAGED/1u : STAGED \/ 4u + STAGED/' "$work/small/templates/staged_x.glsl"
for data in "$SOURCE 1/3" "$work/small 0/3"; do
  "$QKGEN" audit --format q4_0 --family gemv --class exact --data "${data% *}" >"$work/staged" 2>&1
  says "indices of x that is staged, ${data#* } proven" "^q4_0_gemv_wide .* ${data#* } " "$work/staged"
done
tail -n 5 "$work/ours"

# Those of formats/shown.txt, whose text is in out/: of every kind that there is.
shown=$(sed -nE 's/^([a-z][A-Za-z0-9_]+).*/\1/p' "$SOURCE/formats/shown.txt" | paste -sd ,)
ends 0 "kernels of out/" "$QKGEN" audit --format "$shown"
says "every barrier in uniform flow there" '^([0-9]+) modules: ([1-9][0-9]*) of \2 barriers in uniform flow' "$work/said"
says "every bit there" '^bits of blocks: ([1-9][0-9]*) of \1 that belong' "$work/said"
says "nothing is wrong there" '^0 wrong, [0-9]+ notes$' "$work/said"
tail -n 5 "$work/said"

# Matrix units are guarded, too: dispatch looks for them.
ends 0 "matrix units" "$QKGEN" audit --format q4_K --class mma --notes
says "nothing is wrong with them" '^0 wrong, [0-9]+ notes$' "$work/said"
if grep -q '^q4_K_gemm' "$work/said"; then
  says "their guard" '^note   q4_K_gemm_mma_tiles: main: its capability CooperativeMatrixKHR is guarded at run time by dispatch' "$work/said"
fi

# Patches of a matrix lie where the shape of the tensor says.
ends 0 "kernels of patches" "$QKGEN" audit --format 'gptq_v1_b4_g128_act' --family gather
says "loads that dispatch guards" '^loads of weights: 0 proven to be in their block, [1-9][0-9]* guarded at run time by dispatch' "$work/said"

# ---- ours, broken ----

# broken NAME SED: dequant of a format, whose template, and the frame of it, a command of sed has changed.
broken() {
  rm -rf "$work/data"
  mkdir "$work/data"
  cp -r "$SOURCE/templates" "$SOURCE/formats" "$work/data"
  sed -i "$2" "$work/data/templates/dequant.kernel" "$work/data/templates/kernel.comp"
  if diff -rq "$SOURCE/templates" "$work/data/templates" >"$work/log"; then fail "$1: sed changes nothing"; fi
  ends 1 "$1" "$QKGEN" audit --data "$work/data" --format q4_0 --family dequant
}
broken "results that are read, too" 's/) writeonly buffer Dst/) buffer Dst/; s/^for (uint i = @{thread}/dst[@{thread}] += dst[0];\n&/'
line "wrong  q4_0_dequant_f32: main: binding 1 (dst) is read and written, and the descriptor of q4_0_dequant_f32 says that it is written; say so there, or take the load out"
broken "more push constants" 's/^uint tiles;.*/&\nuint from;/; s/^for (uint i = /&from + /'
line "wrong  q4_0_dequant_f32: main: it reads 8 bytes of push constants, and the descriptor of q4_0_dequant_f32 declares 4; declare 8, or read less"
broken "a constant of one's own" 's/^layout(push_constant)/layout(constant_id = 99) const uint FROM = 0;\n&/; s/^for (uint i = /&FROM + /'
line "wrong  q4_0_dequant_f32: main: its specialisation constant 99 is not in the descriptor of q4_0_dequant_f32; list it there, or make it a constant"
broken "another binding" 's/@{binding_dst}/7/'
line "wrong  q4_0_dequant_f32: main: it uses binding 7 of set 0, which the descriptor of q4_0_dequant_f32 does not have; add it, or take it out of the module"

# ---- of others ----

cd "$SOURCE/tests/audit"
ends 1 "shaders that are broken on purpose" "$QKGEN" audit barrier.comp push.comp right.comp shared.comp shift.comp tail.comp --push 12
line "wrong  barrier.comp: main: the barrier at instruction N is not reached by all threads of a workgroup, for some leave before it where gl_LocalInvocationID.x >= 32 (instruction N); let them skip the work, and not the barrier"
line "wrong  push.comp: main: it reads 16 bytes of push constants, and the host declares 12; declare a range of 16, or read less"
line "wrong  shared.comp: main: %N takes element 127 of the shared array %N, which has 64; make the array larger, or keep the index below 64"
line "wrong  shift.comp: main: %N shifts 32 bits by 32, which is not defined; shift by less than 32, or choose the value without a shift"
line "wrong  tail.comp: main: the barrier at instruction N is not reached by all threads of the last workgroup, for some leave before it where gl_GlobalInvocationID.x >= the push constant at byte 0 (instruction N), unless that is a multiple of 64; let them skip the work, and not the barrier"
line "6 modules: 3 of 5 barriers in uniform flow, 2 of 3 shifts below the width, 7 of 9 shared indices inside"
line "5 wrong, 1 notes"
ends 0 "a range that is large enough" "$QKGEN" audit push.comp --push 16
ends 0 "a shader with none of these faults" "$QKGEN" audit right.comp --notes
says "what it does with its buffers" '^right.comp .* 0r 1w$' "$work/said"
says "what is not decided is a note" '^note   right.comp: main: of 3 indices of the shared array ' "$work/said"

# ---- two sets ----

mkdir -p "$work/old" "$work/new"
cp right.comp push.comp "$work/old"
cp right.comp shift.comp "$work/new"
sed 's/<< (gl_WorkGroupID.x & 31u)/+ x[0]/' right.comp >"$work/new/right.comp"
ends 1 "a set with a new fault" "$QKGEN" audit --diff "$work/old" "$work/new"
says "what changed" '^changed right.comp$' "$work/said"
says "how long it is" '^  bytes: [0-9]+ -> [0-9]+ \([+-][0-9.]+%\)$' "$work/said"
says "what is new" '^added shift.comp: [0-9]+ bytes, [0-9]+ operations$' "$work/said"
line "  new wrong: shift.comp: main: %N shifts 32 bits by 32, which is not defined; shift by less than 32, or choose the value without a shift"
says "what is gone" '^removed push.comp: [0-9]+ bytes$' "$work/said"
line "1 added, 1 removed, 1 changed, 0 as they were; 1 wrong that were not"
ends 0 "a set and itself" "$QKGEN" audit --diff "$work/old" "$work/old"
line "0 added, 0 removed, 0 changed, 2 as they were; 0 wrong that were not"
ends 0 "a set in which a fault is gone" "$QKGEN" audit --diff "$work/new" "$work/old"

# ---- two states of the generator ----

"$QKGEN" audit --format q4_0 --family dequant --json "$work/before.json" >"$work/log"
broken "results that are read, too" 's/) writeonly buffer Dst/) buffer Dst/; s/^for (uint i = @{thread}/dst[@{thread}] += dst[0];\n&/'
"$QKGEN" audit --data "$work/data" --format q4_0 --family dequant --json "$work/after.json" >"$work/log" || true
ends 1 "two files of JSON" "$QKGEN" audit --diff "$work/before.json" "$work/after.json"
line "changed q4_0_dequant_f32"
line "  binding 1: written -> read and written"
line "  new wrong: q4_0_dequant_f32: main: binding 1 (dst) is read and written, and the descriptor of q4_0_dequant_f32 says that it is written; say so there, or take the load out"
line "0 added, 0 removed, 2 changed, 0 as they were; 2 wrong that were not"
sed 's/"operations_per_weight": [0-9.]*/"operations_per_weight": 9/' "$work/before.json" >"$work/costly.json"
ends 0 "more operations" "$QKGEN" audit --diff "$work/before.json" "$work/costly.json"
line "  operations for a weight: 6.375 -> 9 (+41.2%)"
echo '{}' >"$work/other.json"
ends 2 "JSON of something else" "$QKGEN" audit --diff "$work/before.json" "$work/other.json"
says "what it lacks" 'other.json: it is not what `qkgen audit --json` writes: no list of modules' "$work/said"
ends 0 "families without a format" "$QKGEN" audit --family qdq
says "their modules" '^qdq_forward .* 0 ' "$work/said"

# ---- what cannot be audited ----

head -c 64 /dev/urandom >"$work/none.spv"
ends 2 "no SPIR-V" "$QKGEN" audit "$work/none.spv"
says "the cause" "^failed .*none.spv: it is no SPIR-V: it does not begin with SPIR-V's number 0x07230203$" "$work/said"
says "the count" '^0 wrong, 0 notes, 1 could not be audited$' "$work/said"
echo 'void main() {' >"$work/none.comp"
ends 2 "no GLSL" "$QKGEN" audit "$work/none.comp"
says "the compiler's words" '^failed .*none.comp: .*error' "$work/said"
ends 2 "no file" "$QKGEN" audit "$work/nowhere"
says "which" '^qkgen: error: there is no file or folder .*nowhere' "$work/said"
mkdir "$work/empty"
ends 2 "an empty folder" "$QKGEN" audit "$work/empty"
ends 2 "nothing" "$QKGEN" audit
ends 2 "files and formats" "$QKGEN" audit right.comp --format q4_0
says "what to do" 'audit takes files, or formats, not both' "$work/said"
ends 2 "one set" "$QKGEN" audit --diff "$work/old"
ends 2 "a format that is none" "$QKGEN" audit --format q4_k
says "the nearest" 'no format is named q4_k; did you mean q4_K' "$work/said"

# ---- JSON ----

if command -v jq >/dev/null; then
  check "JSON is JSON" test "$(jq -r '.wrong' "$work/ours.json")" = 0
  check "JSON has every module" test "$(jq '.modules | length' "$work/ours.json")" -gt 300
elif command -v python3 >/dev/null; then
  check "JSON is JSON" python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["wrong"] == 0' "$work/ours.json"
fi
finish
