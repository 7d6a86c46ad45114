#!/usr/bin/env bash
# How many files an addition touches: those of the tables of CONTRIBUTING.md, which exist, and are no more than they may be. And that
# the tables are true: what schedules, epilogues and targets are called stands in no other source, so that a new one need not be told
# there; and that nothing but its row says how a family is called. Comments do not count. Ends with what it finds in a copy with planted
# names.
set -euo pipefail
cd "${SOURCE:-$(dirname "$0")/..}"

# files SECTION: the first column of its table.
files() {
  awk -v section="## $1" '$0 == section { on = 1; next } /^## / { on = 0 }
    on && /^\| `/ { split($0, cells, "|"); gsub(/[` ]/, "", cells[2]); print cells[2] }' CONTRIBUTING.md
}

# names FILE MACRO COLUMN: that column of the rows of a table.
names() {
  sed -nE "s/^ *$2\(([^\"]*),.*/\1/p" "$1" | cut -d, -f"$3" | tr -d ' '
}

problems=0
complain() {
  printf 'additions: %s\n' "$1"
  problems=$((problems + 1))
}

# counted SECTION MOST
counted() {
  local count file
  count=$(files "$1" | wc -l)
  [ "$count" -gt 0 ] || complain "CONTRIBUTING.md has no table '$1'"
  [ "$count" -le "$2" ] || complain "'$1' has $count files, and may have $2"
  while read -r file; do
    case $file in *NAME* | *ENDING*) continue ;; esac
    [ -e "$file" ] || complain "'$1' of CONTRIBUTING.md has $file, which is not there"
  done < <(files "$1")
}

# alone ROOT SECTION PATTERN [FOLDER]: the pattern stands in the files of that table alone, of that folder, or all with sources.
alone() {
  local file
  while read -r file; do
    files "$2" | sed 's/NAME/*/; s/ENDING/*/' | while read -r listed; do
      # shellcheck disable=SC2254
      case $file in $listed) echo listed ;; esac
    done | grep -q listed || complain "$file names what '$2' of CONTRIBUTING.md does not have there: $3"
  done < <(cd "$1" && grep -rlE --include='*.[ch]' --include='*.def' --include='*.glsl' --include='*.comp' --include='*.metal' "$3" \
    ${4:-gen runtime templates bench} | while read -r found; do
    sed -E 's,/\*.*,,; s,^ \*.*,,; s,//.*,,' "$found" | grep -qE "$3" && echo "$found"
  done)
}

one_of() { paste -sd '|' -; }

# Plain rows are what all others are measured against, and operands are those of gemm.
schedules=$(grep -vE ', (ROWS|OPERANDS), ' runtime/include/qkgen/schedule.def | names /dev/stdin S 2 | one_of)
epilogues=$(names runtime/include/qkgen/epilogue.def E 2 | one_of)
bindings=$(names runtime/include/qkgen/epilogue.def E 4 | grep _ | one_of)
families=$(sed -nE 's/^F\([A-Z_]+, "([a-z_]+)",.*/\1/p' gen/build/family.def | one_of)
targets=$(sed -nE 's/^T\([A-Z0-9_]+, ([a-z0-9_]+),.*/\1/p' gen/spec/target.def | grep -vxE 'glsl|msl|c' | one_of)
for found in "$families" "$schedules" "$epilogues" "$bindings" "$targets"; do
  [ -n "$found" ] || complain "a table has no row"
done

check() {
  alone "$1" "Add a family" "\bqk_dispatch_($families)(_matrix|_views|_with)?\(|\bcase QG_FAMILY_(${families^^})\b" gen
  alone "$1" "Add a schedule" "\bQK_SCHEDULE_($schedules)\b"
  alone "$1" "Add an epilogue" "\b(QK_ROLE|QG_EPILOGUE)_($epilogues)\b|\b($bindings)\b"
  alone "$1" "Add a target" "\bqg_target_($targets)\b|\bQG_(${targets^^})\b"
}

counted "Add a family" 6
counted "Add a schedule" 6
counted "Add an epilogue" 8
counted "Add a target" 6
check .
[ "$problems" -eq 0 ] || exit 1

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/runtime" "$copy/templates" "$copy/bench" "$copy/gen"
echo "int s = QK_SCHEDULE_${schedules%%|*};" >"$copy/gen/schedule.c"
echo "int r = QK_ROLE_${epilogues%%|*};" >"$copy/gen/epilogue.c"
echo "int f = qk_dispatch_${families%%|*}();" >"$copy/gen/family.c"
echo "case QG_FAMILY_$(echo "${families%%|*}" | tr a-z A-Z):" >"$copy/gen/case.c"
echo "int t = qg_target_${targets%%|*}.column;" >"$copy/gen/target.c"
echo "/* QK_SCHEDULE_${schedules%%|*} */" >"$copy/gen/comment.c"
check "$copy" >"$copy/found"
problems=$(grep -c '^additions: gen/' "$copy/found" || true)
if [ "$problems" -ne 5 ]; then
  printf 'additions: of 5 planted names it finds %s\n' "$problems" && cat "$copy/found" && exit 1
fi
echo "additions: a family has $(files "Add a family" | wc -l), a schedule $(files "Add a schedule" | wc -l), an epilogue $(files "Add an epilogue" | wc -l), a target $(files "Add a target" | wc -l); 5 planted names are found"
