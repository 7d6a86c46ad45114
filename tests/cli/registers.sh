#!/usr/bin/env bash
# What the text of sums does for the registers of threads: a compiler must not need more than it says (docs/performance/amd.md).
source "$(dirname "$0")/../lib.sh"

emits() { # FOLDER OPTION...
  local folder=$1
  shift
  "$QKGEN" emit --data "$SOURCE" --family gemv --type f32 --api vulkan --out "$work/$folder" "$@" >"$work/log" 2>&1 ||
    fail "$folder" "$work/log"
}

# ---- loops that index what a thread keeps: not all compilers unroll those that do not begin and end at numbers ----

emits loops --format q5_K --class split
grep -hoE 'unroll\]\] for \(uint r = [^;]*; r < [^;&]*' "$work"/loops/q5_K/*.comp | sort -u >"$work/bounds"
says "there are such loops" 'r = 0u; r < 8u$' "$work/bounds"
grep -vE 'r = [0-9]+u; r < ([0-9]+u|ROWS) ?$' "$work/bounds" >"$work/log" && fail "their bounds are numbers" "$work/log"

# ---- sums of x: one for each set of runs; dot products begin with those that nothing else wants ----

emits products --format iq1_s --format q3_K --class exact
says "those that another scale has, too, have no factor" 'x_sum\[BATCH\]\[8\];' "$work/products/iq1_s/iq1_s_gemv_wide.comp"
says "dot products begin with the others" 'dot_add\(x_sum\[k\]\[7\], x\[k\]\[14\]' "$work/products/q3_K/q3_K_gemv_wide.comp"
says "which have their factor" 'x_sum\[k\]\[7\] = dot\(run\[14\] \+ run\[15\], vec4\(-4\.0\)\)' "$work/products/q3_K/q3_K_gemv_wide.comp"

# ---- turns: a tile's words are loaded in each; few words are loaded at once ----

emits turns --format q3_K --format q6_K --format q4_0 --format iq4_xs --class exact
says "values that are looked up in pairs have, too" 'uint TURNS = 1;' "$work/turns/iq4_xs/iq4_xs_gemv_wide.comp"
says "there are turns" 'layout\(constant_id = 43\) const uint TURNS = 1;' "$work/turns/q6_K/q6_K_gemv_wide.comp"
says "each has terms of its own" 'if \(turns\.w\) total = total \+ d_sc3 \* dots15' "$work/turns/q6_K/q6_K_gemv_wide.comp"
grep TURNS "$work"/turns/*/*_{rows,shared}.comp "$work"/turns/q4_0/*_wide.comp >"$work/log" && fail "no others have turns" "$work/log"
teams=$work/turns/q4_0/q4_0_gemv_teams.comp
says "chains of teams are cut where a turn begins" 'dots2 = dot_add\(TURNS > 1u \? 0\.0 : dots1, x\[k\]\[2\]' "$teams"
says "pieces have the scale of their chain" 'if \(turns\.y\) sum = sum \+ d0 \* dots3' "$teams"
says "in one turn, nothing is another" 'sum \+= d0 \* dots3 \+ d1 \* dots7' "$teams"
says "a turn has its own runs of x" 'if \(turns\[i / 2u\]\) x\[0\]\[i\]' "$teams"
says "and sums of x" 'if \(turns\.z\) x_sum\[0\]\[1\] = shared_x\[\(m \* X_FOURS \+ 8u\) \* SLICE \+ t\]\.y' "$teams"
says "many terms are added up first" 'if \(turns\.w\) sum \+= d_sc6 \* dots6 \+ d_sc7 \* dots7' "$work/turns/q3_K/q3_K_gemv_teams.comp"

# ---- and of integers, a step of x in each ----

emits integers --format q4_K --format q6_K --class int8
teams=$work/integers/q4_K/q4_K_gemv_int8_teams.comp
says "integers have turns" 'layout\(constant_id = 43\) const uint TURNS = 1;' "$teams"
says "each has a part of the sum" 'if \(TURNS > 1u && turns\.y\) sum \+= d \* \(x_step\(k, 1u\) \* dots1\) - dmin' "$teams"
says "in one turn, nothing is another" 'if \(TURNS == 1u\) sum \+= d \* \(DIGITS > 1u \? x_step\(k, 0u\) \* dots0 :' "$teams"
says "steps are one in one turn alone" 'if \(DIGITS > 1u && TURNS == 1u\) most\[0\]' "$teams"
says "a turn makes its own words of x" 'return i < DIGITS \* 16u \? i % 16u / 8u : i % 2u;' "$teams"
says "of several sums, too" 'behind < 2u \? behind : \(behind - 2u\) % 8u / 4u;' "$work/integers/q6_K/q6_K_gemv_int8_teams.comp"
says "with many scales each turn loads for itself" 'after\(sum\[0\]\[r - 1u\]\)' "$work/integers/q6_K/q6_K_gemv_int8_teams.comp"
grep "uint after" "$teams" >"$work/log" && fail "and with few they share words" "$work/log"
grep TURNS "$work"/integers/*/*_{rows,shared,wide,ahead}.comp >"$work/log" && fail "teams alone" "$work/log"

# ---- matrix units: scales of a part are made there alone; where words are too many, they are loaded again ----

emits units --format iq1_m --format q4_0 --format q4_K --format iq4_xs --class mma
if [ -e "$work/units/iq1_m/iq1_m_gemv_mma.comp" ]; then
  sed -n '/^void operands(/,/part == 0u/p' "$work/units/iq1_m/iq1_m_gemv_mma.comp" >"$work/before"
  says "there are parts" 'part == 0u' "$work/before"
  grep float16_t "$work/before" >"$work/log" && fail "no part has to wait for scales of others" "$work/log"
  says "many words are loaded again" 'fetch_wide\(row_8, not_before\(row_8, part' "$work/units/iq1_m/iq1_m_gemv_mma.comp"
  grep not_before "$work/units/q4_0/q4_0_gemv_mma.comp" >"$work/log" && fail "few are kept" "$work/log"

  # ---- and texts are as short as they can be ----

  short=$work/units/q4_K/q4_K_gemv_mma.comp
  says "operands of x are made in a loop" 'unroll\]\] for \(uint i = 0u; i < 16u; \+\+i\)$' "$short"
  grep 'i < 16u; ++i)$' "$work/units/iq4_xs/iq4_xs_gemv_mma.comp" >"$work/log" && fail "in no loop where their order is another" "$work/log"
  says "a factor is two halves, once" 'const f16vec2 mul0 = f16vec2\(float16_t.*, mul1 = ' "$short"
  says "factors are neighbours" 'precise float d_sc0 = d \* float\(sc0\), d_sc1 = ' "$short"
  says "the last row is walked in floats where loads of 16 bytes go beyond its end" walk_rows "$work/units/q4_0/q4_0_gemv_mma.comp"
  grep walk_rows "$short" >"$work/log" && fail "and nowhere else" "$work/log"
  check "lines of q4_K" test "$(wc -l <"$short")" -le 400
fi
emits lines --format q4_K --class int8 --class exact
for text in "$work"/lines/q4_K/*_gemv_*.comp; do check "lines of $(basename "$text")" test "$(wc -l <"$text")" -le 300; done

# ---- norms have no array of their own: rows that are held were slower beside one, even where it has no use ----

says "rows are held" 'shared uint held' "$work/lines/q4_K/q4_K_gemv_int8_ahead.comp"
says "squares lie behind sums" 'shared float partial\[SQUARES \+ \(NORM == 0u \? 0u' "$work/lines/q4_K/q4_K_gemv_int8_ahead.comp"
grep -hE '^shared ' "$work"/lines/q4_K/*_ahead.comp | grep -vE '^shared (float partial|uint held)\[' >"$work/log" &&
  fail "sums and rows alone share memory" "$work/log"
finish
