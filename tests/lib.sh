# shellcheck shell=bash
# Sourced by the scripts of the tests and by the demo. Takes QKGEN, the command, SOURCE, the checkout, and BUILD, a
# folder to write to; without QKGEN it is that of build/, with the programs beside it. Every script ends with `finish`,
# which says how many checks passed and failed.
set -euo pipefail
export LC_ALL=C NO_COLOR=1

SOURCE=${SOURCE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
BUILD=${BUILD:-$(mktemp -d)}
if [ -z "${QKGEN:-}" ]; then
  QKGEN=$SOURCE/build/qkgen PACK=${PACK:-$SOURCE/build/tests/pack} MODEL_GGUF=${MODEL_GGUF:-$SOURCE/build/model_gguf}
  [ -x "$QKGEN" ] || { echo "$QKGEN is not there: build it, or name the command in QKGEN" >&2 && exit 2; }
  export PACK MODEL_GGUF
fi
QKGEN=$(realpath "$QKGEN")
work=$BUILD/work
logs=$BUILD/logs
rm -rf "$work" "$logs"
mkdir -p "$work" "$logs"
targets=${TARGETS:-c vulkan} # where decoded values are compared
export SOURCE BUILD QKGEN work logs targets
# What compiled kernels are kept in, by content: tests that need the same share them.
export XDG_CACHE_HOME=${QKGEN_TEST_CACHE:-$BUILD/cache}

# Results are lines of one file, so that checks may run at the same time.
pass() {
  echo pass >>"$work/results"
}

# fail SENTENCE [FILE]: the file holds the details.
fail() {
  {
    echo "FAIL: $1"
    [ $# -lt 2 ] || ! [ -r "$2" ] || head -n 20 "$2" | sed 's/^/    /'
  } | tee -a "$work/results"
}

# What the command of a check says is in a file for each process and depth of calls, as processes that make and remove one
# take longer than most commands.

# check SENTENCE COMMAND...: passes when the command succeeds.
check() {
  local sentence=$1 log=$logs/$BASHPID.${#FUNCNAME[@]}
  shift
  if "$@" >"$log" 2>&1; then pass; else fail "$sentence" "$log"; fi
}

# matches PATTERN FILE: whether a line of the file has the pattern. Messages are short, and take no process to look at.
matches() {
  local lines line
  if [ -f "$2" ] && mapfile -t -n 40 lines <"$2" && [ ${#lines[@]} -lt 40 ]; then
    for line in "${lines[@]}"; do
      if [[ $line =~ $1 ]]; then return; fi
    done
    return 1
  fi
  grep -qaE -- "$1" "$2"
}

# says SENTENCE PATTERN FILE: passes when the file has the pattern.
says() {
  if matches "$2" "$3"; then pass; else fail "$1: no '$2'" "$3"; fi
}

# refuses SENTENCE PATTERN COMMAND...: passes when the command exits with 1 and writes a line that has the pattern.
refuses() {
  local sentence=$1 pattern=$2 log=$logs/$BASHPID.${#FUNCNAME[@]} status=0
  shift 2
  "$@" >"$log" 2>&1 || status=$?
  if [ "$status" -ne 1 ]; then
    fail "$sentence: exit status $status, and not 1" "$log"
  elif ! matches "$pattern" "$log"; then
    fail "$sentence: no message with '$pattern'" "$log"
  else
    pass
  fi
}

# each: runs every line of standard input as a command, as many at once as there are processors. Functions need export -f.
each() {
  xargs -P "$(nproc)" -I {} bash -euo pipefail -c "{}"
}

# batches COUNT: the same, but a process takes so many lines, words between blanks, and then does what these left for later.
batches() {
  xargs -P "$(nproc)" -d '\n' -n "$1" bash -euo pipefail -c 'lines=() commands=(); for line; do $line; done; settle' batch
}

# What these leave: runs of `qkgen` that share a device, as making one takes longer than most runs.

# later ARGUMENT...: what stands behind `qkgen run`; `number` is that of the run.
later() {
  lines+=("$*")
  number=${#lines[@]}
}

# afterwards COMMAND...: is called when all runs are done.
afterwards() {
  local quoted
  printf -v quoted '%q ' "$@"
  commands+=("$quoted")
}

# settle: the runs, and then the commands. The runs end with 0, or with 1 where a line says why; of anything else a sanitizer may be the cause.
settle() {
  local command status=0
  list=$work/list.$BASHPID said=
  if [ ${#lines[@]} -gt 0 ]; then
    printf '%s\n' "${lines[@]}" >"$list"
    "$QKGEN" run --cases "$list" >"$list.said" 2>&1 || status=$?
    said=$(<"$list.said")
    if [ $status -gt 1 ] || { [ $status = 1 ] && ! [[ $said == *"$list:"+([0-9])": error: "* ]]; }; then
      tail -n 20 "$list.said" >"$list.why"
      fail "${#lines[@]} runs ended with status $status, the first is ${lines[0]}" "$list.why"
    fi
  fi
  for command in "${commands[@]}"; do eval "$command"; done
}

# ran NUMBER: whether that run is done, and nothing was wrong; `why` is a file that says what else.
ran() {
  [[ $said == *"$list:$1: "* && $said != *"$list:$1: error: "* ]] && return
  why=$list.why
  { sed -n "$1p" "$list" && grep -aF "$list:$1: " "$list.said" || tail -n 5 "$list.said"; } >"$why"
  return 1
}

# ran_well NUMBER SENTENCE: passes when it is so.
ran_well() {
  if ran "$1"; then pass; else fail "$2" "$why"; fi
}
export -f pass fail check matches says refuses later afterwards settle ran ran_well

finish() {
  local passed failed
  passed=$(grep -c '^pass$' "$work/results" || true)
  failed=$(grep -c '^FAIL: ' "$work/results" || true)
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

# The tool for raw arrays; see the top of its source.
vectors=$BUILD/vectors
if ! [ "$vectors" -nt "$SOURCE/tests/tools/vectors.c" ]; then
  "${CC:-cc}" -std=c11 -O2 -ffp-contract=off -Wall -Wextra -Wpedantic -Werror -o "$vectors" \
    "$SOURCE/tests/tools/vectors.c" -lm
fi
export vectors

# ---- the reference data ----

# reference FORMAT FOLDER: puts the data of a format into the folder: one file for each buffer, under the name of the
# buffer, or `blocks`, and `values.f32`. MLX's hand-made rows follow its others.
reference() {
  local data=$SOURCE/tests/vectors name set
  mkdir -p "$2"
  if [ -e "$data/ggml/$1.blocks" ]; then
    cp "$data/ggml/$1.blocks" "$2/blocks.$BASHPID" && mv "$2/blocks.$BASHPID" "$2/blocks" # another job may do the same
    cp "$data/ggml/$1.f32" "$2/values.$BASHPID" && mv "$2/values.$BASHPID" "$2/values.f32"
  else
    for name in "$data/mlx/$1"/*; do
      name=${name##*/}
      for set in mlx mlx-edge; do
        [ -e "$data/$set/$1" ] || continue
        if [ "$name" = values.f32.gz ]; then gzip -dc "$data/$set/$1/$name"; else cat "$data/$set/$1/$name"; fi
      done >"$2/${name%.gz}"
    done
  fi
}

# inputs FOLDER: the arguments that name its files.
inputs() {
  if [ -e "$1/blocks" ]; then
    echo --in "$1/blocks"
  else
    local name
    for name in weight scales biases absmax; do
      [ ! -e "$1/$name" ] || printf -- '--in %s ' "$name=$1/$name"
    done
  fi
}

formats() {
  local path
  for path in "$SOURCE"/tests/vectors/ggml/*.blocks "$SOURCE"/tests/vectors/mlx/*; do
    path=${path##*/}
    echo "${path%.blocks}"
  done
}

# more: the formats of tests/vectors/more, which one test takes through everything.
more() {
  ls "$SOURCE/tests/vectors/more"
}

# Those whose rows begin with a header: cli_headers takes them.
of_rows() {
  local path
  for path in "$SOURCE"/tests/vectors/rows/*.blocks; do basename "$path" .blocks; done
}

# buffers FORMAT OPTION...: the names and bytes of the buffers of a block, and the axes of those in a matrix.
buffers() {
  "$QKGEN" --dump=layout --format "$@" | buffers_in
}
buffers_in() {
  sed -nE "s/^buffer ([^,]*), ([0-9]+) bytes(, .* items of [0-9]+ bits( in (.*))?)?\$/\\1 \\2 \\5/p"
}
# layout FORMAT: sets `elements`, `names` and `sizes`: of a block, and of its buffers. What the command says of a format is kept.
layout() {
  local kept=$work/$1.layout line
  [ -e "$kept" ] || { "$QKGEN" --dump=layout --format "$1" >"$kept.$$" && mv "$kept.$$" "$kept"; }
  names=() sizes=()
  while read -r line && [[ $line != code\ * ]]; do
    if [[ $line =~ ^block\ of\ ([0-9]+)\ elements ]]; then elements=${BASH_REMATCH[1]}; fi
    if [[ $line =~ ^buffer\ ([^,]*),\ ([0-9]+)\ bytes ]]; then names+=("${BASH_REMATCH[1]}") sizes+=("${BASH_REMATCH[2]}"); fi
  done <"$kept"
}

export -f reference inputs buffers buffers_in layout
