#!/usr/bin/env bash
# The rooms of gen/: a folder each, in the order of the list below. A file includes its own room and those before it, never
# one after it; gen/files, which reads model files, of the others base and spec alone, and gen/judge all but files. Files must not include each other in
# a circle, lines of C must not go beyond 120 columns, and functions not beyond so many lines.
#
#   tests/rooms.sh           checks, says on its last line how much there is, and that it finds what is planted in a copy
#   tests/rooms.sh --graph   prints how many includes lead from room to room, and the longest functions
set -euo pipefail
cd "${SOURCE:-$(dirname "$0")/..}"

graph=$([ "${1:-}" = --graph ] && echo 1 || echo 0)

# check ROOT: the rooms of ROOT/gen.
check() {
  (cd "$1" && awk -v graph="$graph" "$program" </dev/null)
}

program='
BEGIN {
    n_rooms = split("base spec ir build text emit files judge cli", rooms, " ")
    for (i = 1; i <= n_rooms; i++) rank[rooms[i]] = i
    only["files"] = " files base spec "
    only["judge"] = " judge base spec ir build text emit "
    columns = 120
    lines = 80 # of a function
    while (("find gen -name \"*.[ch]\" -o -name \"*.def\" | LC_ALL=C sort" | getline path) > 0) {
        sub(/^gen\//, "", path)
        files[++n_files] = path
        known[path] = 1
    }
    for (i = 1; i <= n_files; i++) read_file(files[i])
    for (i = 1; i <= n_files; i++) walk(files[i], files[i])
    if (n_includes == 0) complain("gen", 0, "no include found: is this the root of the sources?")
    if (graph) print_graph()
    if (n_errors) exit 1
    printf "rooms: %d files in %d rooms, %d includes, none goes up; the longest function has %d of %d lines\n",
        n_files, n_rooms, n_includes, longest, lines
}
function complain(file, line, text) {
    printf "gen/%s%s: %s\n", file, line ? ":" line : "", text
    n_errors++
}
function room_of(file) { return file ~ /\// ? substr(file, 1, index(file, "/") - 1) : "" }
function read_file(file,    text, number, begun, code) {
    if (!(room_of(file) in rank)) complain(file, 0, "is in no room; the rooms are " join())
    while ((getline text < ("gen/" file)) > 0) {
        number++
        if (width(text) > columns)
            complain(file, number, "has " width(text) " columns; break it at " columns)
        if (text ~ /^#include "/) include(file, number, text)
        # A function: from the line that begins with a letter and leads to { to the } in the first column.
        if (text ~ /^[A-Za-z]/) begun = number
        if (begun && text ~ /^}/) { is_function = 1 } else is_function = 0
        if (text ~ /^[A-Za-z].*\(/) { name = text; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); named = number }
        if (is_function && text == "}" && named == begun) ends(file, begun, number, name)
        if (text ~ /^}/) begun = 0
    }
    close("gen/" file)
}
function ends(file, from, to, name,    length_) {
    length_ = to - from + 1
    functions[++n_functions] = sprintf("%4d lines: gen/%s:%d: %s", length_, file, from, name)
    if (length_ > longest) longest = length_
    if (length_ > lines) complain(file, from, name " has " length_ " lines; a function has at most " lines)
}
function width(text) { return length(text) } # the files are ASCII, or nearly
function include(file, number, text,    to, from_room, to_room) {
    to = text
    sub(/^#include "/, "", to)
    sub(/".*/, "", to)
    if (!(to in known)) {
        if (to != "msl/executor.h") complain(file, number, "includes " to ", which is no file of gen/; write ROOM/FILE")
        return
    }
    n_includes++
    edges[file] = edges[file] " " to
    where[file, to] = number
    from_room = room_of(file); to_room = room_of(to)
    count[from_room, to_room]++
    if (rank[to_room] > rank[from_room] || (from_room in only && index(only[from_room], " " to_room " ") == 0))
        complain(file, number, "includes " to ": " from_room " knows nothing of " to_room)
}
# Depth first; a file that is met again on the way to itself closes a circle.
function walk(file, trail,    next_, parts, k, n) {
    if (state[file] == 2) return
    state[file] = 1
    n = split(edges[file], parts, " ")
    for (k = 1; k <= n; k++) {
        next_ = parts[k]
        if (state[next_] == 1) complain(file, where[file, next_], "closes a circle of includes: " trail " -> " next_)
        else walk(next_, trail " -> " next_)
    }
    state[file] = 2
}
function join(    i, text) {
    for (i = 1; i <= n_rooms; i++) text = text (i > 1 ? ", " : "") rooms[i]
    return text
}
function print_graph(    i, j, sorter) {
    for (i = n_rooms; i >= 1; i--)
        for (j = i - 1; j >= 1; j--)
            if (count[rooms[i], rooms[j]])
                printf "%s -> %s: %d includes\n", rooms[i], rooms[j], count[rooms[i], rooms[j]]
    print "the longest functions:"
    fflush()
    sorter = "sort -rn | head -n 10"
    for (i = 1; i <= n_functions; i++) print functions[i] | sorter
    close(sorter)
}
'

check .
[ "$graph" = 0 ] || exit 0

# ---- what is planted is found ----
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
planted=0
# plant FILE TEXT EXPECTED: the text at the end of a file of a copy makes the check fail, and say so.
plant() {
  local said
  rm -rf "$copy/gen"
  cp -r gen "$copy/gen"
  printf '%b\n' "$2" >>"$copy/gen/$1"
  if said=$(check "$copy"); then
    echo "rooms: nothing is found where gen/$1 has: $2"
    exit 1
  elif ! grep -qE -- "$3" <<<"$said"; then
    echo "rooms: where gen/$1 has $2, it says something else than '$3': $said"
    exit 1
  fi
  planted=$((planted + 1))
}
plant ir/ir.c '#include "build/plan.h"' 'gen/ir/ir.c:[0-9]+: includes build/plan.h: ir knows nothing of build'
plant files/gguf.c '#include "text/text.h"' 'files knows nothing of text'
plant judge/judge.c '#include "files/container.h"' 'judge knows nothing of files'
plant base/base.h '#include "spec/spec.h"' 'closes a circle of includes: .*base/base.h'
plant text/text.h '#include "text/plain.h"' 'closes a circle of includes: .*text/plain.h'
plant cli/run.h '#include "spec.h"' 'includes spec.h, which is no file of gen/'
plant more.c '' 'gen/more.c: is in no room'
plant base/diag.c "/* $(printf '%0120d' 0) */" 'has 126 columns'
plant base/diag.c "int qg_long(void) {\n$(yes '    a();\n' | head -n 80 | tr -d '\n')}" 'qg_long has 82 lines'
echo "rooms: $planted planted faults are found"
