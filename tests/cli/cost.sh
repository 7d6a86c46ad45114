#!/usr/bin/env bash
# `list --cost`: the table, JSON, what is refused; and the line of the banners. The counts themselves, and that the SPIR-V has
# the same: cost_test.c.
source "$(dirname "$0")/../lib.sh"

# d * (q - 8) in 18 bytes for 32 weights; cost_test.c counts the tiles by hand: of 8 weights for dequant, 64 for gemv.
"$QKGEN" list --cost --format q4_0 >"$work/table"
says "a head with the classes" '\| +loads +bits +integer +float +conversions +lookups +total$' "$work/table"
says "dequant of 8 weights: 3 loads, 18, 13, 8, 9, no lookup" \
  '^q4_0 +dequant +0.5625 +0.75 +4 \| +0.375 +2.25 +1.625 +1 +1.125 +0 +6.375$' "$work/table"
says "gather of the same" '^q4_0 +gather +0.5625 +0.75 +4 \| +0.375 +2.25 +1.625 +1 +1.125 +0 +6.375$' "$work/table"
says "gemv of 64 weights: 3 loads, 55, 25, 132, 34, no lookup" \
  '^q4_0 +gemv +0.5625 +0.75 +0 \| +0.04688 +0.8594 +0.3906 +2.062 +0.5312 +0 +3.891$' "$work/table"
check "a line for each family but encode and set_rows" test "$(wc -l <"$work/table")" -eq $((0 + $("$QKGEN" list families | grep -c 'of each format')))

"$QKGEN" list --cost >"$work/all"
check "a line for each format" test "$(grep -c ' gemv ' "$work/all")" -eq "$("$QKGEN" list | wc -l)"
check "no experts where blocks are patches that are cut off" test "$(grep -c ' gemv_id ' "$work/all")" -lt "$(grep -c ' gemv ' "$work/all")"

"$QKGEN" list --cost --format q4_0 --family gemv --spirv >"$work/spirv"
says "the SPIR-V's own count beside it" '^q4_0 +gemv .*\|.*\| +0.04688 +0.8594 +[0-9.]+ +2.062 +0.5312 +0 ' "$work/spirv"
check "of one family" test "$(wc -l <"$work/spirv")" -eq 3

"$QKGEN" list --cost --format q4_0 --format q8_0 --family dequant --spirv --json >"$work/json"
says "JSON has the counts of a tile" '"ir": \{"loads": 3, "bits": 18, "integer": 13, "float": 8, "conversions": 9, "lookups": 0, "loaded_bytes": 6\}' "$work/json"
says "and those of the SPIR-V" '"spirv": \{"loads": 3, "bits": 18, ' "$work/json"
if command -v jq >/dev/null; then
  check "JSON is JSON" test "$(jq -r '[.[].format] | join(" ")' "$work/json")" = "q4_0 q8_0"
fi

cat >"$work/mine.quant" <<'SPEC'
format mine "bytes with a scale"
block 4 {
    d:  f32
    qs: u8[4]
}
code q = qs { 8 @ 0 (4:8) }
value = d * q
SPEC
# A tile is a block: d and a word of codes; base = block * 2 and + 1; 4 shifts, 4 masks; 4 conversions; 4 products.
"$QKGEN" list --cost --spec "$work/mine.quant" --format mine --family dequant --json >"$work/mine"
says "a specification of one's own" '"weights": 4,.*' "$work/mine"
says "and its counts" '"ir": \{"loads": 2, "bits": 8, "integer": 2, "float": 4, "conversions": 4, "lookups": 0, "loaded_bytes": 8\}' "$work/mine"

"$QKGEN" emit --format q4_0 --out "$work/out" >/dev/null
says "a kernel's banner" '^// For each weight 0.562 bytes read and 4 written, 6.38 operations: 0.375 loads, 2.25 bits, 1.62 integer, 1 float, 1.12 conversions\.$' \
  "$work/out/q4_0/q4_0_dequant_f32.comp"
says "the banner of results in f16" 'and 2 written, 7.06 operations: .* 2.06 conversions\.$' "$work/out/q4_0/q4_0_dequant_halves.comp"
says "a sum's banner" '^// For each weight 0.562 bytes read, 3.89 operations: ' "$work/out/q4_0/q4_0_gemv_wide.comp"
for file in q4_0.metal q4_0.c q4_0.h; do
  says "the families in $file" 'dequant, gather in f32: for each weight 0.562 bytes read and 4 written, ' "$work/out/q4_0/$file"
  says "the sums in $file" 'gemv(, gemv_id)? in f32: for each weight 0.562 bytes read, ' "$work/out/q4_0/$file"
done

refuses "an option without --cost" '--format, --family, --class, --spirv and --json belong to list --cost' "$QKGEN" list --spirv
refuses "what matrix units are given" '--spirv does not count what matrix units are given: take another class than mma' \
  "$QKGEN" list --cost --spirv --family gemv --class mma --format q4_0
says "operands of matrix units" '^q4_0 +gemv +0.5625 +0.75 +0 ' <("$QKGEN" list --cost --family gemv --class mma --format q4_0)
refuses "a format that is none" 'no format is named q4_k; did you mean q4_K\?' "$QKGEN" list --cost --format q4_k
refuses "a family that is none" 'no kernel family is named gemx' "$QKGEN" list --cost --family gemx
refuses "a family without format" 'qdq_init takes no format, and has no cost for each weight' "$QKGEN" list --cost --family qdq_init
refuses "a word" "list takes nothing, --cost, or .families., not 'families'" "$QKGEN" list --cost families
refuses "another word" "not 'gemv'" "$QKGEN" list --cost gemv
refuses "no templates for SPIR-V" 'cannot read template' "$QKGEN" list --cost --spirv --data "$work" --formats "$SOURCE/formats" --format q4_0
check "none are needed without" "$QKGEN" list --cost --data "$work" --formats "$SOURCE/formats" --format q4_0
# What no run shows, for a driver may give zeros for what is beyond a buffer: the last block is loaded word by word.
"$QKGEN" emit --format q4_0 --family gemv --out "$work/emitted" >"$work/log" 2>&1 || fail "emit fails" "$work/log"
sed -n '/^void fetch_last/,/^}/p' "$work/emitted/q4_0/q4_0_gemv_wide.comp" >"$work/last"
check "the last block: words, as far as it goes" grep -q 'blocks_to_end(' "$work/last"
if grep -q '_four\[' "$work/last"; then fail "the last block: 16 bytes at a time" "$work/last"; else pass; fi

finish
