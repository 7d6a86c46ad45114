#!/usr/bin/env bash
# Judges and audits kernels with a bug each, and their right twins: mutants.txt. Prints a table, and fails where a
# mutant is not found by what should find it, or a twin is not clean.
#
#   run.sh [PATTERN]              mutants whose lines have the pattern
#   run.sh --markdown [PATTERN]   docs/mutants.md, with what other tools see: an NMSE test, validation layers, spirv-val
#
# GLSL names the tool that compiles shaders; without it, and in the columns for it, modules are not looked at.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
markdown=
if [ "${1:-}" = --markdown ]; then
  markdown=1
  shift
fi
pattern=${1:-.}
folder=$SOURCE/tests/mutants
layer=/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json
GLSL=${GLSL:-$(dirname "$QKGEN")/tests/glsl}
export markdown folder layer GLSL
# Metal is compiled for each of them; that is fast enough to be done with the least effort.
export QKGEN_MSL_O0=${QKGEN_MSL_O0-1}

# judged NAME FILE KERNEL FORMAT HARNESS MACRO [OPTION]...: NAME.json, NAME.text, NAME.status, NAME.seconds
judged() {
  local name=$1 file=$folder/kernels/$2 kernel=$3 format=$4 harness=$folder/harnesses/$5.harness macro=$6 status=0 from
  shift 6
  local options=("$@")
  if [ "${file##*.}" = c ]; then
    "${CC:-cc}" -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -shared -fPIC ${macro:+"-D$macro"} -o "$work/$name.so" \
      "$file" -lm
    file=$work/$name.so
  elif [ "$macro" ]; then
    options+=(-D "$macro")
  fi
  from=$(date +%s%N)
  "$QKGEN" judge "$file" --kernel "$kernel" --format "$format" --harness "$harness" --quick --data "$SOURCE" \
    --json "$work/$name.json" "${options[@]}" >"$work/$name.text" 2>&1 || status=$?
  echo "$status" >"$work/$name.status"
  awk -v ns=$(($(date +%s%N) - from)) 'BEGIN { printf "%.1f\n", ns / 1e9 }' >"$work/$name.seconds"
}

# findings NAME: lines of an evidence and what it finds wrong.
findings() {
  [ -e "$work/$1.json" ] || return 0
  awk -F '":\t' '/"evidence":\t"/ { evidence = $2 } /"severity":\t/ { wrong = /"wrong"/ }
    /"sentence":\t/ && wrong { gsub(/[",]/, "", evidence); print evidence ": " $2 }' "$work/$1.json"
}

# audited NAME FILE HARNESS MACRO: NAME.audit; of shaders alone.
audited() {
  local name=$1 file=$folder/kernels/$2 harness=$folder/harnesses/$3.harness push
  [ "${file##*.}" = comp ] && [ -x "$GLSL" ] || return 0
  # shellcheck disable=SC2086
  "$GLSL" "$file" "$work/$name.spv" $4
  push=$(sed -nE 's/^push //p' "$harness" | { grep -o u32 || true; } | wc -l)
  "$QKGEN" audit "$work/$name.spv" --push $((4 * push)) --notes >"$work/$name.audit" 2>&1 || true
  sed -nE "s/^(wrong|note) +[^:]*: /\\1 /p" "$work/$name.audit" >"$work/$name.notes"
  # Ids of modules are others in every one.
  sed -E 's/%[0-9]+//g; s/[0-9]+ (conversions|sums|operations)/\1/g' "$work/$name.notes" | sort -u >"$work/$name.known"
}

# layered NAME ...: NAME.layers, the messages of the validation layers while it runs
layered() {
  local name=$1 enable=VK_VALIDATION_FEATURE_ENABLE
  [ -e "$layer" ] && [ "${2##*.}" = comp ] || return 0
  cat >"$work/$name.settings" <<END
khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.report_flags = error,warn
khronos_validation.log_filename = $work/$name.log
khronos_validation.enables = ${enable}_GPU_ASSISTED_EXT,${enable}_SYNCHRONIZATION_VALIDATION_EXT
END
  shift
  VK_LAYER_SETTINGS_PATH=$work/$name.settings VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation judged "$name.layer" "$@"
  grep -oE '(VUID|UNASSIGNED|SYNC)-[-A-Za-z0-9_]+' "$work/$name.log" 2>&1 | sort -u >"$work/$name.layers" || true
}

# one NAME FILE KERNEL FORMAT HARNESS [MACRO]: all that is run of it.
one() {
  local macro=${6:-} more=()
  [ -z "$markdown" ] || more=(--nmse)
  judged "$1" "$2" "$3" "$4" "$5" "$macro" "${more[@]}"
  audited "$1" "$2" "$5" "$macro"
  [ -z "$markdown" ] || layered "$1" "$2" "$3" "$4" "$5" "$macro"
}
export -f judged audited layered one findings

# twin FILE KERNEL HARNESS: its name.
twin() {
  echo "right-${1//./-}-$2-$3"
}

# column_audit NAME TWIN: the worst that audit says of the mutant and not of its twin.
column_audit() {
  [ -e "$work/$1.known" ] || return 0
  local more
  more=$(comm -23 "$work/$1.known" "$work/$2.known")
  case $more in
    *wrong\ *) echo wrong ;;
    ?*) echo note ;;
    *) echo - ;;
  esac
}

# found BY SENTENCE NAME TWIN
found() {
  local wrong # no pipe into grep -q, which ends before it has read all
  wrong=$(findings "$3")
  case $1 in
    none) [ -z "$wrong" ] ;;
    refused) grep -qF -- "$2" "$work/$3.text" && [ "$(cat "$work/$3.status")" = 2 ] ;;
    audit) [ "$(column_audit "$3" "$4")" = wrong ] && grep -qF -- "$2" "$work/$3.notes" ;;
    audit-note) grep -qF -- "$2" "$work/$3.notes" ;;
    *) grep -qF -- "$2" <<<"$(grep "^$1: " <<<"$wrong")" && [ "$(cat "$work/$3.status")" = 1 ] ;;
  esac
}

# Three lines for each mutant.
names=() heads=() threads=() bugs=() bys=() sentences=()
while read -r head; do
  read -r second
  read -r third
  grep -qE -- "$pattern" <<<"$head $second $third" || continue
  names+=("${head%% *}")
  heads+=("${head#* }")
  threads+=("${second%%: *}")
  bugs+=("${second#*: }")
  bys+=("${third%%: *}")
  sentences+=("${third#*: }")
done < <(grep -vE '^(#|$)' "$folder/mutants.txt")

for ((i = 0; i < ${#names[@]}; ++i)); do
  read -r file kernel format harness <<<"${heads[i]}"
  echo "one $(twin "$file" "$kernel" "${harness#*/}") $file $kernel $format ${harness#*/}"
done | sort -u >"$work/jobs"
twins=$(wc -l <"$work/jobs")
for ((i = 0; i < ${#names[@]}; ++i)); do
  read -r file kernel format harness <<<"${heads[i]}"
  macro=${names[i]^^}
  echo "one ${names[i]} $file $kernel $format ${harness%/*} ${macro//-/_}"
done >>"$work/jobs"
each <"$work/jobs" >&2

# ---- what came out ----

while read -r _ name _; do
  if [ "$(cat "$work/$name.status")" = 0 ]; then pass; else fail "$name is not clean" "$work/$name.text" >&2; fi
  if [ ! -e "$work/$name.notes" ] || ! grep -q '^wrong' "$work/$name.notes"; then
    pass
  else
    fail "audit says that $name is wrong" "$work/$name.audit" >&2
  fi
done < <(head -n "$twins" "$work/jobs")

# other_tools NAME TWIN: the columns of the others.
other_tools() {
  local nmse layers=n/a valid=n/a
  nmse=$(sed -nE 's/^nmse of .*: ([^,]*), which .* (passes|refuses)$/\1 \2/p' "$work/$1.text")
  case $nmse in
    *refuses) nmse="**${nmse% *}**" ;;
    *) nmse=${nmse:+passes (${nmse% *})} ;;
  esac
  if [ -e "$work/$1.layers" ]; then
    layers=$(comm -23 "$work/$1.layers" "$work/$2.layers" | wc -l)
    [ "$layers" != 0 ] || layers=-
  fi
  if [ -e "$work/$1.spv" ] && command -v spirv-val >"$work/spirv-val.path"; then
    valid=-
    spirv-val --target-env vulkan1.1 "$work/$1.spv" >"$work/$1.val" 2>&1 || valid=refuses
  fi
  echo "${nmse:-n/a} | $layers | $valid"
}

rows=$work/rows missed=0
for ((i = 0; i < ${#names[@]}; ++i)); do
  name=${names[i]}
  read -r file kernel format harness <<<"${heads[i]}"
  right=$(twin "$file" "$kernel" "${harness#*/}")
  if found "${bys[i]}" "${sentences[i]}" "$name" "$right"; then
    pass
  else
    fail "$name is not found: no '${bys[i]}: ${sentences[i]}'" "$work/$name.text" >&2
  fi
  judge=$(findings "$name" | sed 's/:.*//' | uniq | paste -sd, | sed 's/,/, /g')
  [ "${bys[i]}" != refused ] || judge=refused
  audit=$(column_audit "$name" "$right")
  [ "${bys[i]}" != audit-note ] || audit='note, as of the twin'
  [ "$judge" ] || [ "${audit:--}" != - ] || missed=$((missed + 1))
  if [ "$markdown" ]; then
    echo "| $name | ${threads[i]} | ${bugs[i]} | ${judge:--} | ${audit:-n/a} | $(other_tools "$name" "$right")" \
      "| $(cat "$work/$name.seconds") |"
  else
    printf '%-28s %-20s %-28s %-8s %6s s\n' "$name" "${threads[i]}" "${judge:--}" "${audit:-n/a}" \
      "$(cat "$work/$name.seconds")"
  fi
done >"$rows"

if [ "$markdown" ]; then
  {
    cat "$folder/head.md"
    cat "$rows"
    printf '\n%s mutants of %s kernels; found by neither judge nor audit: %s.' "${#names[@]}" "$twins" "$missed"
    printf ' An NMSE test at 5e-4 passes %s of them.\n' "$(grep -c 'passes (' "$rows" || true)"
  } >"$SOURCE/docs/mutants.md"
else
  cat "$rows"
fi
finish
