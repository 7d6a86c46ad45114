#!/usr/bin/env bash
# `qkgen run --cases`: a list writes what its lines write as commands of their own, with every target and kind of family; a line that
# fails is named, and the others are done.
source "$(dirname "$0")/../lib.sh"
reference q4_0 "$work/q4_0"
reference q8_0 "$work/q8_0"
"$vectors" u32 3 0 9 >"$work/rows"
"$vectors" normal 3 1024 >"$work/floats"
blocks=$work/q4_0/blocks table="--rows 8 --cols $(($(stat -c %s "$work/q4_0/values.f32") / 32))"

# lines TARGET FOLDER: runs that write to the folder. A kernel that two runs have in the same place is one of each.
lines() {
  local t="--target $1" format
  for format in q4_0 q8_0 q4_0; do
    echo "dequant $t --format $format --type f32 --in $work/$format/blocks --out $2/$format"
    echo "encode $t --format $format --in $work/floats --out $2/$format-encoded"
  done
  echo "gather $t --format q4_0 --type f16 $table --in $blocks --indices $work/rows --out $2/gathered"
  echo "transcode $t --from q4_0 --to q8_0 --in $blocks --out $2/transcoded"
  echo "qdq_init $t --group 32 --bins 15 --in $work/floats --out scales=$2/scales --out biases=$2/biases --out q=$2/q"
  echo "dequant $t --format q4_0 --type f16 --in $2/q4_0-encoded --out $2/again" # what a line before it wrote
}

for target in $targets; do
  mkdir "$work/$target" "$work/$target-alone"
  lines "$target" "$work/$target" | sed '3s/ /\t /g; 4s/$/\r/; 2s/^/ # \n\n \t\n  /' >"$work/list"
  check "a list on $target" "$QKGEN" run --cases "$work/list"
  while read -r line; do
    # shellcheck disable=SC2086
    check "$line" "$QKGEN" run $line
  done < <(lines "$target" "$work/$target-alone")
  check "files of a list on $target" diff -r "$work/$target" "$work/$target-alone"
  check "they are not empty" test "$(find "$work/$target" -size +0 | wc -l)" = 11
done

# A line says which it is, and no more lines are printed than runs have something to say.
"$QKGEN" run --cases="$work/list" 2>"$work/said"
check "lines of what is said" diff <(printf "$work/list:%s:\n" 1 {5..10} {10..13}) <(cut -d ' ' -f 1 "$work/said")
says "a warning" "list:10: warning: 1 of 3 indices" "$work/said"

# What else is on the command line is for all lines.
last=${targets##* } out=$work/shared
mkdir "$out"
printf '%s\n' "--type f16 --out $out/half" "--type f32 --out $out/whole" >"$work/list"
check "options of all lines" "$QKGEN" run dequant --format q4_0 --cases "$work/list" --target "$last" --in "$blocks"
check "what they make" cmp "$out/whole" "$work/q4_0/values.f32"
check "of each line" test "$(stat -c %s "$out/half")" = "$(($(stat -c %s "$out/whole") / 2))"

# wrong LINE PATTERN: a list with that line in its midst, on a device where there is one.
target=c
[[ " $targets " != *" vulkan "* ]] || target=vulkan
wrong() {
  local good="dequant --format q4_0 --type f32 --target $target --in $blocks"
  rm -f "$out"/*
  printf '%s\n' "$good --out $out/before" "$1" "$good --out $out/behind" >"$work/list"
  refuses "a list with $1" "^$work/list:2: $2" "$QKGEN" run --cases "$work/list"
  for name in before behind; do check "what is $name $1" cmp "$out/$name" "$work/q4_0/values.f32"; done
  check "no more than that" test "$(ls "$out")" = "$(printf 'before\nbehind')"
}
one="--format q4_0 --type f32 --in $blocks --out $out/none"
wrong "nonsense $one --target c" 'error: no kernel family is named nonsense'
wrong "dequant --frmat q4_0" 'error: unknown option --frmat; did you mean --format'
wrong "dequant --format q4_0 --rows many" "error: --rows must be a whole number, not 'many'"
wrong "dequant $one --target c --out" 'error: --out needs a value'
wrong "dequant $one --target c --in $work/none" 'error: q4_0 has 1 buffers, but --in was given 2 times'
wrong "dequant --format q4_0 --type f32 --in $work/none --target c --out $out/none" "error: cannot read $work/none: No such file"
wrong "dequant $one --target nowhere" 'error: --target must be c, vulkan or msl'
wrong "dequant $one --target c --out $work/none/none" "error: cannot write $work/none/none"
wrong "encode --format q4_0 --in $work/rows --target c --out $out/none" "error: $work/rows holds 12 bytes"
wrong "transcode --from q4_0 --to none --in $work/rows --target c --out $out/none" 'error: no format is named none'
wrong "qdq_init --target c --group 3 --in $work/rows" 'error: --group is 3'
wrong "--cases $work/list" 'error: a line of --cases has no --cases'
echo 'format broken {' >"$work/broken.quant"
wrong "dequant $one --target c --spec $work/broken.quant" "$work/broken.quant:[0-9]+:[0-9]+: error: "
# Behind it the default is opened again.
[ $target = c ] || wrong "dequant $one --target vulkan --device none-has-this-name" 'error: device is "none-has-this-name", must be'

: >"$work/list"
check "an empty list" "$QKGEN" run --cases "$work/list"
printf '# nothing\n' >"$work/list"
check "a list of comments" test -z "$("$QKGEN" run --cases "$work/list" 2>&1)"
printf 'a\0b\n' >"$work/list"
refuses "a list that is no text" "^qkgen: error: $work/list is no text" "$QKGEN" run --cases "$work/list"
refuses "a list that is missing" "^qkgen: error: cannot open '$work/none': No such file" "$QKGEN" run --cases "$work/none"
refuses "a list without a name" '--cases needs a value' "$QKGEN" run --cases
finish
