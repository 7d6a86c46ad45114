#!/usr/bin/env bash
# What --dump shows of each stage: something for every format; and of sums over rows, what the rules made of them.
source "$(dirname "$0")/../lib.sh"

stages() {
  local stage
  for stage in spec layout plan ir dot; do
    "$QKGEN" --dump=$stage --format "$1" >"$work/$1.$stage" 2>&1 && [ -s "$work/$1.$stage" ] && pass ||
      fail "--dump=$stage of $1" "$work/$1.$stage"
  done
  says "what --dump=ir of $1 gives" '^output 0:' "$work/$1.ir"
  says "the sum of $1 has one result" '^output 0:' "$work/$1.dot"
  if grep -q '^output 1:' "$work/$1.dot"; then fail "the sum of $1 has a second result" "$work/$1.dot"; else pass; fi
}
export -f stages
"$QKGEN" list | awk '{ print "stages " $1 }' | each

# lacks SENTENCE PATTERN FILE
lacks() {
  if grep -qE -- "$2" "$3"; then fail "$1: '$2' is there" "$3"; else pass; fi
}

# Of d * (q - 8): before the rules each code is shifted into place, converted, lowered by 8 and multiplied with d; after
# them words are unpacked in pairs, and 8 and d are each applied once, to the sums of all runs.
ir=$work/q4_0.ir dot=$work/q4_0.dot
says "codes are converted before the rules" ' f32x4 float ' "$ir"
says "codes are lowered by 8 before the rules" ' i32x4 - .* 8$' "$ir"
says "codes are scaled before the rules" ' f32x4 \* .* d$' "$ir"
lacks "there are no halves before the rules" ' halves |x sum| dot ' "$ir"
says "halves: words are unpacked" ' f32x2 halves ' "$dot"
says "four codes of a word have a name, their pairs none" ' f32x4 vector .*-> values0$' "$dot"
lacks "four codes of a word have a name, their pairs none" ' halves .*->' "$dot"
lacks "halves: nothing is converted" ' float | int ' "$dot"
says "halves: x makes up for the places" '^x 0 times: 0x1p\+24 0x1p\+24 0x1p\+24 0x1p\+24$' "$dot"
lacks "distribute: no code is lowered by 8" ' i32x4 - ' "$dot"
says "distribute: the sum of x is 8 times" ' f32x1 \* 0x1p\+3 %' "$dot"
lacks "factor: no code is scaled" ' f32x4 \* ' "$dot"
says "factor: the sum is scaled, last of all" ' f32x1 \* d %' <(sed '/^output/,$d' "$dot" | tail -n 1)
check "collect: there is one factor d" test "$(grep -c ' \* d ' "$dot")" -eq 1
runs=$(grep -c ' f32x1 dot #' "$dot")
check "collect: one sum of x serves all runs" grep -qxE "x sum #0: runs$(seq -s ' ' -f ' %.0f' 0 $((runs - 1)) | tr -s ' ')" "$dot"
lacks "collect: there is no other sum of x" 'x sum #1' "$dot"
lacks "values of a table are no fields of a word" ' halves ' "$work/iq4_nl.dot"

refuses "a stage that is none" "--dump takes spec, layout, plan, ir, dot or program, not 'sum'" "$QKGEN" --dump=sum --format q4_0
refuses "--dump without a format" '--dump needs --format F' "$QKGEN" --dump=dot
finish
