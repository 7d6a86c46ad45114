#!/usr/bin/env bash
# `qkgen bench --model`: models as files of shapes, the figures of their matrices on this machine's device, what a token takes, and the worst
# lines beside a peer.
source "$(dirname "$0")/../lib.sh"

cat >"$work/tiny.txt" <<'END'
# A model of few rows; o has the shape of q.
q 16 256 3
k,v 8 256 4 # 2 layers
o 16 256 2

experts.up 8 256 5 4 2
odd 8 288 7
END
cat >"$work/other.txt" <<'END'
q 16 256 1
END

# ---- a run ----

"$QKGEN" bench --model "$work/tiny.txt,$work/other.txt" --format q4_0,q4_K --batch 1,3 --quick --json "$work/m.json" \
  --markdown "$work/m.md" >"$work/m.txt" 2>&1 || fail "bench --model fails" "$work/m.txt"
# Distinct shapes are measured once: four of them, but for one that blocks of 256 do not divide, with two numbers of vectors.
check "a figure for each shape" test "$(grep -c '"format": ' "$work/m.json")" -eq $((2 * 4 + 2 * 3))
check "a line for each matrix of each model" test "$(grep -cE '^\| q4_[0K] \| exact \| [13] \| (tiny|other) \|' "$work/m.md")" -eq \
  $((2 * (4 + 1) + 2 * (3 + 1)))
says "matrices of one shape" '^q4_0 +exact +3 +tiny +q,o +16x256 +gemv +5 ' "$work/m.txt"
says "experts" '^q4_0 +exact +1 +tiny +experts.up +8x256, 2 of 4 +gemv_id +5 ' "$work/m.txt"
says "columns that do not fit" '^q4_K: tiny odd, 8 x 288: its blocks of 1 x 256 do not divide it$' "$work/m.txt"
says "no sum without them" '^tiny +q4_K +exact +1 +- +odd$' "$work/m.txt"

# More than eight vectors are tiles, where there are some.
"$QKGEN" bench --model "$work/tiny.txt" --format q4_0 --class mma --batch 9 --quick --samples 2 --json "$work/many.json" \
  >"$work/many.txt" 2>&1 || fail "bench --model of many vectors fails" "$work/many.txt"
check "gemm" test "$(grep -c '"family": "gemm",' "$work/many.json")" -eq 2
says "columns that gemm does not take" '^q4_0: gemm of 288 columns, which must be a multiple of 64$' "$work/many.txt"
check "gemm_id" test "$(grep -c '"family": "gemm_id",' "$work/many.json")" -eq 1
"$QKGEN" bench --model "$work/tiny.txt" --format q4_0 --class exact --batch 1,9 --quick --samples 2 >"$work/many.txt" 2>&1 ||
  fail "bench --model without the class of many vectors fails" "$work/many.txt"
says "a class that gemm has not" '^q4_0 +exact +9 +tiny +q,o +16x256 +gemv +5 ' "$work/many.txt"
# With matrix units, gemv takes up to 16 vectors of few rows, as qk_plan_product says, and a class that has none goes on with gemv. Neither
# the number of vectors nor the device alone decides.
printf "q 16 512 1\nlong 16 16384 1\n" >"$work/few.txt"
refuses "a class that nothing has" 'has a kernel: nf4_b64: gemv has no class int8$' \
  "$QKGEN" bench --model "$work/few.txt" --format nf4_b64 --class int8
if [ -e "${QKGEN_MESA:-}/complete" ]; then
  env -u VK_LOADER_DRIVERS_SELECT -u QKGEN_VALIDATION -u VK_ICD_FILENAMES "$QKGEN_MESA/run" \
    "$QKGEN" bench --model "$work/few.txt" --format q4_0 --class exact,mma --batch 12,17 --quick --samples 1 \
    --json "$work/few.json" >"$work/few" 2>&1 || fail "few rows" "$work/few"
  says "matrix units, few rows" '^q4_0 +mma +12 +few +q +16x512 +gemv ' "$work/few"
  says "more vectors" '^q4_0 +mma +17 +few +q +16x512 +gemm ' "$work/few"
  says "long rows" '^q4_0 +mma +12 +few +long +16x16384 +gemm ' "$work/few"
  says "no such class of gemm" '^q4_0 +exact +17 +few +q +16x512 +gemv ' "$work/few"
  check "tiles are chosen" test "$(grep -c '"family": "gemm".*"class": "mma".*"batch": 17,.*"chosen": true' "$work/few.json")" -eq 2
  check "one of each is chosen" test "$(grep -c '"chosen": true' "$work/few.json")" -eq 4
fi
"$QKGEN" bench --model "$work/few.txt" --format q4_0 --class exact,mma --batch 8,12 --quick --samples 1 >"$work/few" 2>&1 ||
  fail "no matrix units" "$work/few"
says "tiles without matrix units" '^q4_0 +mma +12 +few +q +16x512 +gemm ' "$work/few"
says "few vectors without them" '^q4_0: no kernel of class mma is for 8 vectors on this device$' "$work/few"
says "what was measured" 'each launch reads the same weights' "$work/m.txt"
if grep -qi wrong "$work/m.txt"; then fail "a result is wrong" "$work/m.txt"; else pass; fi

# A token is the sum over its matrices, of medians as the JSON has them.
sum_of() { # FORMAT BATCH: of the first model
  sed -nE "s/.*\"format\": \"$1\", \"family\": \"([a-z_]*)\".*\"rows\": ([0-9]+), \"cols\": ([0-9]+), \"batch\": $2,.*\"seconds\": \[[^,]*, ([^,]*),.*/\1 \2 \3 \4/p" \
    "$work/m.json" | awk '
      { count["gemv 16 256"] = 5; count["gemv 8 256"] = 4; count["gemv_id 8 256"] = 5; count["gemv 8 288"] = 7
        us += 1e6 * count[$1 " " $2 " " $3] * $4; lines += 1 }
      END { if (lines != 4) exit 1; printf "%.1f", us }'
}
for n in 1 3; do
  sum=$(sum_of q4_0 $n)
  check "a token of $n" grep -qE "^\| tiny \| q4_0 \| exact \| $n \| $sum \|" "$work/m.md"
done

# What --json wrote is what --read reads.
"$QKGEN" bench --read "$work/m.json" --json "$work/r.json" --markdown "$work/r.md" >"$work/r.txt"
for name in md json; do check "the same $name from the file" cmp "$work/m.$name" "$work/r.$name"; done
check "the same text from the file" diff <(grep -v '^qkgen: ' "$work/m.txt") "$work/r.txt"
"$QKGEN" bench --read "$work/m.json" --model "$work/other.txt" >"$work/r.txt"
check "another model of the same figures" test "$(grep -c '^other ' "$work/r.txt")" -eq 4
if grep -q tiny "$work/r.txt"; then fail "the first model is still there" "$work/r.txt"; else pass; fi

# Figures of several runs, one for each format, are as those of one.
for format in q4_0 q4_K; do
  sed "/\"format\": /{/\"format\": \"$format\"/!d}" "$work/m.json" | sed -z 's/},\n\]/}\n]/' >"$work/of_$format.json"
done
"$QKGEN" bench --read "$work/of_q4_0.json,$work/of_q4_K.json" --json "$work/r.json" >/dev/null
check "two files are as one" cmp "$work/m.json" "$work/r.json"
sed 's/"device": "/&another /' "$work/m.json" >"$work/r.json"
refuses "files of two devices" "r.json is of another .* read them apart" "$QKGEN" bench --read "$work/m.json,$work/r.json"
refuses "a file twice" "m.json: result 1 is of the same case" "$QKGEN" bench --read "$work/m.json,$work/m.json"
sed 's/"cpu"/"cold": 4194304, &/' "$work/m.json" >"$work/r.json"
refuses "files of cold and warm weights" "differ in --cold or --cache" "$QKGEN" bench --read "$work/m.json,$work/r.json"

# Weights that launches take turns over, of a format with several buffers, too. What is checked is the first copy.
"$QKGEN" bench --model "$work/tiny.txt" --format affine_b4_g32_f16 --class exact --batch 1 --samples 2 --cold --cache 1 --quick \
  --json "$work/c.json" >"$work/c.txt" 2>&1 || fail "bench --cold fails" "$work/c.txt"
says "what was measured" 'launches take turns over 4 MiB of weights' "$work/c.txt"
"$QKGEN" bench --read "$work/c.json" | diff - "$work/c.txt" >"$work/c.diff" || fail "the same from the file" "$work/c.diff"

# ---- beside peers ----

cat >"$work/peers.txt" <<'END'
slow gemv q4_0 16 256 1 900000000 us
slow gemv q4_0 16 256 3 0.001 us
slow gemv q4_0 8 256 1 1 us
slow gemv q4_0 8 256 3 800000000 us
slow gemv_id q4_0 8 256 1 0.00001 us
slow gemv q4_0 8 288 1 700000000 us
slow gemv q4_0 999 256 1 1 us
END
"$QKGEN" bench --read "$work/m.json" --peers "$work/peers.txt" --markdown "$work/p.md" >"$work/p.txt"
awk '/^\*\*The worst/ { on = 1; print; next } on && /^\*\*/ { exit } on && /^\| q4/ { print }' "$work/p.md" |
  sed -E 's/^\| (q4_0) \| ([^|]*) \| ([^|]*) \| ([0-9]+) \|.*/\1 \2 \3 \4/' >"$work/worst"
cat >"$work/expected" <<'END'
**The worst 6 of 6 lines beside slow, exact (times: its time in ours)**
q4_0 tiny experts.up 8x256, 2 of 4 1
q4_0 tiny q,o 16x256 3
q4_0 tiny k,v 8x256 1
END
check "the worst lines, in order" diff "$work/expected" <(head -4 "$work/worst")
check "the worst lines come first" test "$(grep -m1 -n '^\*\*' "$work/p.md" | grep -c 'The worst')" -eq 1
check "a mean for each n" grep -qE '^\| exact \| [0-9.]+ \| [0-9.]+ \| 6 \|$' "$work/p.md"
# The peer has all matrices with one vector, and so a token; with three it lacks some.
peer=$(awk 'BEGIN { printf "%.1f", 5 * 9e8 + 4 * 1 + 5 * 0.00001 + 7 * 7e8 }')
says "a token of the peer" "^tiny +q4_0 +exact +1 +[0-9.]+ +$peer +[0-9.]+" "$work/p.txt"
says "no token of the peer" "^tiny +q4_0 +exact +3 +[0-9.]+ +- +-" "$work/p.txt"

# Of several classes one is chosen for each cell, and has a row beside the fastest. One class alone is no choice.
"$QKGEN" bench --model "$work/tiny.txt" --format q4_0 --class exact,split --batch 1,3 --quick --samples 2 --json "$work/two.json" \
  >"$work/two.txt" 2>&1 || fail "two classes fail" "$work/two.txt"
check "one class of each cell" test \
  "$(grep '"chosen": true' "$work/two.json" | sed -E 's/.*"family": "([a-z_]*)".*("rows".*"batch": [0-9]*),.*/\1 \2/' | sort -u | wc -l)" -eq 8
check "and no other" test "$(grep -c '"chosen": true' "$work/two.json")" -eq 8
"$QKGEN" bench --read "$work/two.json" --peers "$work/peers.txt" --markdown "$work/two.md" --json "$work/r.json" >/dev/null
check "what is chosen, from the file" cmp "$work/two.json" "$work/r.json"
check "a mean of what is chosen" grep -qE '^\| the chosen class of each \| [0-9.]+ \| [0-9.]+ \| 6 \|$' "$work/two.md"
says "the worst of it" '^\*\*The worst 6 of 6 lines beside slow, the chosen class of each ' "$work/two.md"
check "no choice of one class" test "$(grep -c 'the chosen class' "$work/p.md")" -eq 0

# A wrong result is shown as such, before all others, and counts in no mean and no token.
sed '/"rows": 8, "cols": 288, "batch": 1,/s/"wrong": false/"wrong": true/' "$work/m.json" >"$work/w.json"
refuses "a wrong result" "1 of 14 results are wrong" "$QKGEN" bench --read "$work/w.json" --peers "$work/peers.txt"
"$QKGEN" bench --read "$work/w.json" --peers "$work/peers.txt" >"$work/w.txt" 2>/dev/null || true
says "its line" '^q4_0 +exact +1 +tiny +odd .* wrong ' "$work/w.txt"
says "its token" '^tiny +q4_0 +exact +1 +wrong ' "$work/w.txt"
check "it is the worst" test "$(grep -A2 '^The worst' "$work/w.txt" | tail -1 | grep -c '^q4_0 .* odd .* wrong$')" -eq 1
says "it is in no mean" '^exact +[0-9.]+ +[0-9.]+ +5$' "$work/w.txt"

# ---- the models that are kept ----

cat >"$work/expected" <<'END'
llama-3.1-70b 69501714432
llama-3.1-8b 7504658432
qwen3-30b-a3b 3029073920
qwen3-8b 7568097280
END
for path in "$SOURCE"/bench/models/*.txt; do
  awk '{ sub(/#.*/, "") } NF { sum += $2 * $3 * $4 * (NF > 4 ? $6 : 1) } END { printf "%s %.0f\n", name, sum }' \
    name="$(basename "$path" .txt)" "$path"
done >"$work/weights"
check "weights that a token takes" diff "$work/expected" "$work/weights"
"$QKGEN" bench --read "$work/m.json" --model llama-3.1-8b,llama-3.1-70b,qwen3-8b,qwen3-30b-a3b --json "$work/all.json" >/dev/null
check "they are read" test "$(grep -c '{"name": "[^"]*", "matrices": \[$' "$work/all.json")" -eq 4

# ---- what it refuses ----

while IFS='|' read -r line message; do
  printf 'first 1 256 1\n%b\n' "$line" >"$work/wrong.txt"
  refuses "a model: $line" "wrong.txt:[23]: $message" "$QKGEN" bench --read "$work/m.json" --model "$work/wrong.txt"
done <<'END'
q 1 2|a line is NAME ROWS COLS COUNT .EXPERTS USED.
q 1 2 3 4|a line is NAME ROWS COLS COUNT .EXPERTS USED.
q 1 2 3 4 5 6 7|a line is NAME ROWS COLS COUNT .EXPERTS USED.
q 1 -2 3|rows, columns and count must be whole numbers from 1 to 10.9
q 1 2 1.5|rows, columns and count must be whole numbers from 1 to 10.9
q 99999999999 2 1|rows, columns and count must be whole numbers from 1 to 10.9
q 1 2 3 0 5|experts, and how many a token uses, must be whole numbers
q 1 2 3 4 5|a token must use at most as many experts as there are
# x\nfirst 2 256 1|first is the name of line 1, too
END
echo '# none' >"$work/wrong.txt"
refuses "an empty model" "wrong.txt:[12]: there is no matrix" "$QKGEN" bench --model "$work/wrong.txt" --format q4_0
refuses "no such file" "cannot read ./nowhere.txt: " "$QKGEN" bench --model ./nowhere.txt --format q4_0
refuses "no such model" "no model is named llama; .* has llama-3.1-70b, llama-3.1-8b, qwen3-30b-a3b, qwen3-8b" \
  "$QKGEN" bench --model llama --format q4_0
refuses "a model twice" "names tiny twice" "$QKGEN" bench --model "$work/tiny.txt,$work/tiny.txt" --format q4_0
refuses "families" "chooses the families by itself; leave gemv out" "$QKGEN" bench gemv --model "$work/tiny.txt" --format q4_0
refuses "a shape" "has the shapes: leave --rows" "$QKGEN" bench --model "$work/tiny.txt" --format q4_0 --rows 4
refuses "a picture" "not of models; take --markdown" "$QKGEN" bench --read "$work/m.json" --svg "$work/m.svg"
refuses "samples" "must be from 1 to 101" "$QKGEN" bench --model "$work/tiny.txt" --format q4_0 --samples 102
refuses "a cache alone" "is the size for --cold" "$QKGEN" bench --model "$work/tiny.txt" --format q4_0 --cache 50
printf 'odd 8 288 7\n' >"$work/odd.txt"
refuses "nothing that fits" "no matrix of these models has a kernel: q4_K: odd odd, 8 x 288: its blocks" \
  "$QKGEN" bench --model "$work/odd.txt" --format q4_K
sed 's/"name": "k,v", "rows": 8/"name": "k,v", "rows": 0/' "$work/m.json" >"$work/none.json"
refuses "a file of figures" "or another member is wrong" "$QKGEN" bench --read "$work/none.json"
finish
