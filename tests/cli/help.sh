#!/usr/bin/env bash
# --help of each command: its options are those that it reads, and that the documents and the usage lines name; its example
# runs, in an empty folder that has the file of a model. Misspelt commands and options are told the nearest name.
source "$(dirname "$0")/../lib.sh"
"$QKGEN" --help >"$work/all"
mapfile -t commands < <(sed -nE 's/^  qkgen ([a-z-]+) .*/\1/p' "$work/all")
check "--help lists the commands" test ${#commands[@]} -ge 12
for way in -h help; do check "qkgen $way" diff "$work/all" <("$QKGEN" $way); done
refuses "no command" 'qkgen COMMAND --help' "$QKGEN"

# section NAME FILE: a part of a help, to the next blank line.
section() { sed -n "/^$1:\$/,/^\$/p" "$2"; }

# has OPTION NAME...: the help of one of these has the option.
declare -A known
has() {
  local name
  for name in "${@:2}"; do
    if [ -n "${known[$name $1]:-}" ]; then return; fi
  done
  return 1
}

# alike FILE FILE: the same text.
alike() {
  local text other
  IFS= read -r -d '' text <"$1" || true
  IFS= read -r -d '' other <"$2" || true
  [ -n "$text" ] && [ "$text" = "$other" ] || diff "$1" "$2"
}

# helped NAME ARGUMENT...: the help of a command, and what it says of wrong options. Leaves NAME.help, and NAME.options: each
# option, and what the help calls its value.
helped() {
  local name=$1 help=$work/$1.help command=${2%%=*} part option value doubled
  shift
  "$QKGEN" "$@" --help >"$help" 2>"$work/log" || fail "the exit status of --help of $name"
  check "help of $name says nothing on stderr" test ! -s "$work/log"
  "$QKGEN" "$@" -h >"$work/help" || true
  check "-h of $name" alike "$help" "$work/help"
  for part in "^qkgen $command: ." '^Usage:$' "^  qkgen $command" '^Options:$' '^  --help ' '^Example:$'; do
    says "help of $name" "$part" "$help"
  done
  section Options "$help" | sed -nE 's/^  (--[a-z-]+)( [^ ]+)?( .*)?$/\1\2/p' >"$work/$name.options"
  while read -r option value; do
    known[$name $option]=yes
    doubled=--${option:2:1}${option:2}
    refuses "$name $doubled" "unknown option $doubled; did you mean $option\\? .qkgen $command --help. lists them" \
      "$QKGEN" "$@" "$doubled"
    if [ "$option" = --help ]; then
      continue
    elif [ -n "$value" ]; then
      refuses "$name $option without its value" "$option needs a value: $option .*qkgen $command --help" \
        "$QKGEN" "$@" "$option"
      "$QKGEN" "$@" "$option" --help >"$work/help" || true
      check "$name $option --help" alike "$help" "$work/help"
    else
      refuses "$name $option with a value" "$option takes no value" "$QKGEN" "$@" "$option=1"
    fi
  done <"$work/$name.options"
  refuses "an option like none of $name" "unknown option --zqzqzqzq; .qkgen $command --help. lists them" \
    "$QKGEN" "$@" --zqzqzqzq
}

# Of families without a format, `run` reads other options.
mapfile -t plain < <("$QKGEN" list families | sed -nE 's/^([a-z_]+) +without format .*/\1/p')
plain+=(encode set_rows transcode) # and of these
for family in "${plain[@]}"; do helped "$family" run "$family"; done
for command in "${commands[@]}"; do
  if [ "$command" = --dump ]; then helped --dump --dump=spec; else helped "$command" "$command"; fi
  check "qkgen help $command" diff "$work/$command.help" <("$QKGEN" help "$command")
done

# What usage lines and documents name is in the help of its command; what any table has, in some help.
{
  cat "$SOURCE"/README.md "$SOURCE"/docs/*.md | grep -oE 'qkgen [^`]*'
  for command in "${commands[@]}"; do section Usage "$work/$command.help"; done
} | sed -nE 's/^ *qkgen (--dump=)?/\1/; s/^--dump=/--dump /; s/ -- .*//; p' >"$work/lines"
while read -r command line; do
  if [ -z "${known[$command --help]:-}" ]; then continue; fi
  others=()
  [ "$command" != run ] || others=("${plain[@]}")
  rest=$line
  while [[ $rest =~ (^|[ [])(--[a-z-]+)(.*) ]]; do
    option=${BASH_REMATCH[2]} rest=${BASH_REMATCH[3]}
    check "help of $command has $option: $line" has "$option" "$command" "${others[@]}"
  done
done <"$work/lines"
grep -ohE '"--[a-z-]+", QG_' "$SOURCE"/gen/cli/*.[ch] | cut -d '"' -f 2 | sort -u >"$work/read"
check "tables have options" test "$(wc -l <"$work/read")" -gt 20
while read -r option; do
  check "$option of a table is in some help" has "$option" "${commands[@]}" "${plain[@]}"
done <"$work/read"

# example COMMAND: runs what the help of a command shows.
example() {
  mkdir "$work/$1.example"
  cd "$work/$1.example"
  cp "$SOURCE/tests/models/all_types.gguf" model.gguf
  sed -n '/^Example:$/,$ { s/^  //p }' "$work/$1.help" >commands
  if ! [ -s commands ]; then
    fail "help of $1 has no example"
  elif PATH=$(dirname "$QKGEN"):$PATH timeout 300 bash -euo pipefail commands >log 2>&1; then
    pass
  elif grep -q 'built without libclang' log; then
    echo "skipped: the example of $1, for this qkgen was built without libclang (package libclang-dev)"
  else
    fail "the example of $1" log
  fi
}
export -f example
printf 'example %s\n' "${commands[@]}" | each

# ---- misspelt commands ----

for command in "${commands[@]}"; do
  letters=${command#--}
  doubled=${command%"$letters"}${letters:0:1}$letters
  refuses "$doubled" "unknown command '$doubled'; did you mean $command\\? .qkgen --help. lists them" "$QKGEN" "$doubled"
  refuses "help $doubled" "did you mean $command\\?" "$QKGEN" help "$doubled"
done
refuses "a command whose letters are in the wrong order" "unknown command 'rnu'; did you mean run\\?" "$QKGEN" rnu
refuses "a misspelt --version" 'did you mean --version\?' "$QKGEN" --verison
refuses "a command like none" "unknown command 'frobnicate'; .qkgen --help. lists them" "$QKGEN" frobnicate
finish
