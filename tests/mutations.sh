#!/usr/bin/env bash
# Takes the rules of the numeric and the safety contract out of a copy of the sources, one at a time, and runs the test that
# must fail then. Prints a table of them; the status is 0 when every mutation applies, builds, and is found. Not a part of
# ctest, for it builds again and again; that all of them apply is.
#
#   mutations.sh [PATTERN]     those whose line has the pattern; FOLDER=... keeps the copy and its build for another time
#   mutations.sh --apply       whether each changes its file, and nothing else: builds nothing, and changes nothing
set -uo pipefail
export LC_ALL=C
source_tree=$(cd "$(dirname "$0")/.." && pwd)
pattern=${1:-.}
problems=0 number=0
declare -A sound

# copy: sources to change, and what they were.
copy() {
  folder=${FOLDER:-$(mktemp -d)}
  tree=$folder/tree
  mkdir -p "$tree" "$folder/logs"
  (cd "$source_tree" && tar -c --exclude=./build --exclude=./.git --exclude=./out --exclude=./shared .) | tar -x -m -C "$tree" # now is later than any object here
  cd "$tree" || exit 1
  # A compiler of GLSL that was built there takes minutes, and some tests are there with a new one alone.
  [ -e build/glslang ] || ! [ -e "$source_tree/build/glslang" ] || { mkdir -p build && cp -r "$source_tree/build/glslang" build; }
  # What changes is restored with its contents alone, so the copy that is compared with is elsewhere.
  rm -rf "$folder/was" && cp -r "$tree" "$folder/was" && rm -rf "$folder/was/build"
  cmake --preset default >"$folder/logs/configure" 2>&1 || { cat "$folder/logs/configure" && exit 1; }
}
if [ "$pattern" = --apply ]; then cd "$source_tree" || exit 1; else copy; fi

build() { cmake --build build --target "$@"; }

# run_test unit NAME | script NAME TARGETS LINE...
run_test() {
  local kind=$1 name=$2
  if [ "$kind" = unit ]; then
    SOURCE=$PWD timeout 300 "build/tests/$name"
    return
  fi
  mkdir -p "$folder/scratch"
  QKGEN=$PWD/build/qkgen PACK=$PWD/build/tests/pack MODEL_GGUF=$PWD/build/model_gguf QKGEN_MSL=$PWD/build/tests/msl/qkgen-msl SOURCE=$PWD BUILD=$folder/scratch TARGETS=$3 \
    timeout 300 bash "tests/cli/$name.sh" "${@:4}"
}

build_for() {
  if [ "$1" = unit ]; then build "$2"; else build qkgen pack random_spec evaluate model_gguf qkgen-msl; fi
}

report() { printf '| %s | `%s` | %s | %s |\n' "$@"; }

# how LOG: the first line that says what is wrong.
how() {
  grep -m 1 -aE 'FAIL:|rror:|\[  ERROR' "$1" | sed -E 's/^.*(FAIL:|ERROR[^-]*---) *//; s/\[ +LINE +\] --- //; s/\|/\//g' |
    sed "s,$tree/,,g" | cut -c 1-110
}

# mutate LINE FILE SED-SCRIPT TEST...: the test as run_test takes it.
mutate() {
  local line=$1 file=$2 change=$3 log key
  shift 3
  if [ "$pattern" = --apply ]; then
    number=$((number + 1))
    if ! [ -e "$file" ] || sed -E "$change" "$file" | cmp -s - "$file"; then
      echo "FAIL: $line: the mutation does not apply to $file"
      problems=$((problems + 1))
    fi
    return 0
  fi
  grep -qiE "$pattern" <<<"$line $file" || return 0
  number=$((number + 1))
  log=$folder/logs/$number
  key="$*"
  local test="$2${4:+ ($3: $4)}"
  if [ -z "${sound[$key]:-}" ]; then
    if ! { build_for "$@" && run_test "$@"; } >"$log" 2>&1; then
      report "$line" "$file" "$test" "**the test fails without a mutation**"
      problems=$((problems + 1))
      return
    fi
    sound[$key]=yes
  fi
  sed -i -E "$change" "$file"
  if cmp -s "$file" "$folder/was/$file"; then
    report "$line" "$file" "$test" "**the mutation does not apply**"
    problems=$((problems + 1))
    return
  fi
  if ! build_for "$@" >"$log" 2>&1; then
    report "$line" "$file" "$test" "**does not build:** $(how "$log")"
    problems=$((problems + 1))
  elif run_test "$@" >"$log" 2>&1; then
    report "$line" "$file" "$test" "**survives**"
    problems=$((problems + 1))
  else
    report "$line" "$file" "$test" "fails: $(how "$log")"
  fi
  cp "$folder/was/$file" "$file"
}

printf '| contract line | mutation in | test | what it says |\n|---|---|---|---|\n'
headers=runtime/include/qkgen
check=$headers/dispatch_check.h choose=$headers/dispatch_choose.h share=$headers/dispatch_share.h facts=$headers/dispatch_facts.h limits=$headers/dispatch_limits.h tune=$headers/dispatch_tune.h launch=$headers/dispatch_launch.h decode=$headers/dispatch_decode.h sums=$headers/dispatch_sums.h pick=$headers/dispatch_pick.h

# ---- ids and indices that are out of range ----
mutate "an id out of range is found, Vulkan" templates/gemv_id_wide.comp 's/found = expert < experts/found = true/' unit gemv_test
mutate "its results are zeros, Vulkan" templates/gemv_id_wide.comp 's/(sum\[r\] = )0\.0/\1found ? 0.0 : 1.0/' unit gemv_test
mutate "the status word counts it, Vulkan" templates/gemv_id_wide.comp 's/atomicAdd\(out_of_range, 1u\)/;/' unit gemv_test
mutate "it is counted once, Vulkan" templates/gemv_id_wide.comp 's/ \&\& first == 0u \&\& expert_first == 0u/ \&\& expert_first == 0u/' unit gemv_test
mutate "experts of another launch are left alone" templates/gemv_id_wide.comp \
  's/if \(VIEWS != 3u \&\& !here\) continue;//' unit gemv_test
mutate "an id out of range is found, MSL" templates/gemv_id.metal 's/found = expert < push.experts/found = true/' \
  script gemv msl "experts q4_0 f32"
mutate "its results are zeros, MSL" templates/gemv_id.metal 's/(float sum\[ROWS\]\[1\] = )\{\}/\1{{found ? 0.0f : 1.0f}}/' \
  script gemv msl "experts q4_0 f32"
mutate "the status word counts it, MSL" templates/gemv_id.metal 's/atomic_fetch_add_explicit\(status[^;]*;/;/' \
  script gemv msl "experts q4_0 f32"
mutate "an id out of range is found, C" templates/gemv_id.c 's/expert < experts \&\& k/k/' script gemv c "experts q4_0 f32"
mutate "the status word counts it, C" templates/gemv_id.c 's/out_of_range \+= .*;/;/' script gemv c "experts q4_0 f32"
mutate "an index out of range is found, Vulkan" templates/gather.comp 's/ \&\& row < row_end//' \
  script gather vulkan "one q4_0 5 96"
mutate "an index out of range is found, two tiles at once" templates/gather.comp \
  's/missing = row\[n\] == NO_ROW \&\& row_first == 0u/missing = false/' script gather vulkan "one q8_0 5 96"
mutate "rows of another launch are left alone, two tiles at once" templates/gather.comp \
  's/bound = row\[n\] >= row_first \&\& /bound = /' unit gemv_test
mutate "rows of another launch are left alone" templates/gather.comp 's/bound = row >= row_first \&\& /bound = /' unit gemv_test
mutate "a second tile may be one too many" templates/gather.comp 's/at\[n\] >= tokens \|\| //' unit gemv_test
mutate "its row is zeros, two tiles at once" templates/gather.comp 's/(v\[n\]\[r\] = @\{vec\})\(0\.0\)/\1(1.0)/' \
  script gather vulkan "one q8_0 5 96"
mutate "its row is zeros, Vulkan" templates/gather.comp 's/(v\[r\] = @\{vec\})\(0\.0\)/\1(1.0)/' \
  script gather vulkan "one q4_0 5 96"
mutate "the status word counts it, gather" templates/gather.comp 's/atomicAdd\(out_of_range, 1u\)/;/' \
  script gather vulkan "one q4_0 5 96"
mutate "an index out of range is found, MSL" templates/gather.metal 's/ \&\& row < push.row_end//' \
  script gather msl "one q4_0 5 96"
mutate "an index out of range is found, patches, Vulkan" templates/gather_matrix.comp 's/found = index < table_rows/found = true/' \
  script checkpoints vulkan "one fp8_tensor 53x211 yes weight weight_scale"
mutate "an index out of range is found, patches, MSL" templates/gather_matrix.metal \
  's/found = index < push.table_rows/found = true/' script checkpoints msl "one fp8_tensor 53x211 yes weight weight_scale"
mutate "an index out of range is found, C" templates/gather.c 's/row >= rows/row > rows/' script gather c "one q4_0 5 96"

# ---- encoding ----
mutate "NaN counts as 0 where codes are bounded, MSL" templates/encode_functions.metal 's/qk_is_nan\(v\) \? 0\.0f : v/v/' \
  script encode "c msl" "one q4_0"
mutate "quotients are rounded, Vulkan" templates/quotient.glsl 's/ \+ \(up \? 1u : 0u\)//' unit encode_functions_test
mutate "quotients are rounded, MSL" templates/quotient.metal 's/ \+ \(up \? 1u : 0u\)//' unit encode_functions_test
mutate "a guess of a quotient is mended, Vulkan" templates/quotient.glsl 's/for \(; rest < 0; rest [^;]*;//' unit encode_functions_test
mutate "a guess of a quotient is mended, MSL" templates/quotient.metal 's/for \(; rest >= int[^;]*; rest [^;]*;//' unit encode_functions_test
mutate "NaN counts as 0 where codes are bounded, Vulkan" templates/encode.glsl 's/qk_is_nan\(v\) \? 0\.0 : v/v/' unit encode_functions_test
mutate "a NaN is stored without a sign, Vulkan" templates/encode.glsl 's/qk_is_nan\(v\) \? 0x7FC00000u : //' unit encode_functions_test
mutate "roots are rounded, Vulkan" templates/encode.glsl 's/if \(rest != 0u\) root .*//' script encode "c vulkan" "one q4_K"
mutate "ties are rounded away from 0, Vulkan" templates/encode.glsl 's/rest >= 0\.5/rest > 0.5/' script encode "c vulkan" "one q8_0"
mutate "a search keeps the better candidate" gen/text/encode.c 's/if \(%s == 0 \|\| %s\)/if (%s == 0 \&\& %s)/' \
  script encode c "one iq4_nl"
mutate "a team adds in the order of the elements" gen/text/encode_looks.c 's/"if \(%s > 0\) %s = %s;"/"if (%s < 0) %s = %s;"/' \
  script encode "c vulkan" "one q1_0"
mutate "a team finds what the others found" gen/text/encode_looks.c 's/\* %uu \+ uint\(%s\)/* %uu + 0u * uint(%s)/' \
  script encode "c vulkan" "one tq2_0"
mutate "codes that a guess leaves open are made again" gen/text/encode.c 's/if \(qg_encoder_guesses\(p, i\)\) qg_encoder_mend/if (0) qg_encoder_mend/' \
  script encode "c vulkan" "one affine_b4_g64_bf16"
mutate "a guess near to two integers is left open" templates/encode.glsl 's/ \+ abs\(guess\) \* 9\.5367431640625e-7//' unit encode_functions_test
mutate "a guess near to two integers is left open, within bounds" templates/encode.glsl 's/room = 0\.5 - float.*;/room = 0.5;/' \
  unit encode_functions_test
mutate "quotients by whole numbers are rounded" templates/encode.glsl 's/\(a - high \* b\) - low \* b/0.0 * (high * b + low * b)/' \
  unit encode_functions_test
mutate "quotients by whole numbers have few bits" templates/encode.glsl 's/abs\(b\) <= 2047\.0/abs(b) <= 1e9/' unit encode_functions_test
mutate "codes far behind a block's begin are no sums" gen/text/encode_store.c 's/\.bytes <= 4 \* MOST_SUMS/.bytes > 0/' \
  script encode "c vulkan" far
mutate "guesses are lowered again" gen/text/encode_store.c 's/if \(raised\) more\[at \/ 32\] -=/if (raised) more[at \/ 32] +=/' \
  script encode "c vulkan" "one affine_b4_g64_bf16"
mutate "signed codes borrow of nobody" gen/text/encode_store.c 's/if \(with_sign\) signs/if (with_sign \&\& i) signs/' \
  script encode "c vulkan" "one q8_0"
mutate "bits are taken out before a code is made again" gen/text/encode_store.c 's/if \(p->mends\) drop_bits\(p, slice, "qk_at >> 5"/if (0) drop_bits(p, slice, "qk_at >> 5"/' \
  script encode "c vulkan" "one affine_b4_g64_bf16"
mutate "digits of a base become a fraction rounded up" gen/text/encode_store.c 's/\(\(\(qk_v << %u\) \+ %uu\)/(((qk_v << %u) + 0 * %uu)/' \
  script encode c "one tq1_0"

mutate "a row that there is not is not set, Vulkan" templates/set_rows.comp \
  's/row = row_of\(token\)/row = indices[token]/;s/ \|\| row >= row_end//' \
  script encode "c vulkan" "sets q4_0"
mutate "a row that there is not is not set, MSL" templates/set_rows.metal 's/ \|\| row >= push.row_end//' \
  script encode "c msl" "sets q4_0"
mutate "a row that there is not is not set, C" templates/set_rows.c 's/indices\[t\] >= rows/indices[t] > rows/' \
  script encode c "sets q4_0"
mutate "it is counted, Vulkan" templates/rows_push.glsl 's/return row < rows \? row : NO_ROW;/return row;/' \
  script encode "c vulkan" "sets q4_0"
mutate "it is counted once, Vulkan" templates/set_rows.comp 's/ \&\& tile == 0u//' script encode "c vulkan" "sets q4_0"
mutate "it is counted, MSL" templates/set_rows.metal 's/atomic_fetch_add_explicit\(status[^;]*;/;/' \
  script encode "c msl" "sets q4_0"

mutate "transcode: tiles are where they belong among the values, Vulkan and MSL" gen/text/transcode.c 's/plan->runs\[r\] \+ l/plan->runs[0] + l/' \
  script transcode "c vulkan" "one q4_K q8_0 c vulkan"
mutate "transcode: a kernel must write" $decode 's/read == 0 \|\| read == kernel->binding_count/0/' unit dispatch_test
mutate "transcode: each block has values of its own, Vulkan" templates/transcode.comp 's/j \* @\{to_elements\}u\)/0u)/' \
  script transcode "c vulkan" "one q4_K q8_0 c vulkan"
mutate "transcode: each block has values of its own, MSL" templates/transcode.metal 's/qk_kept \+ j \* @\{to_elements\}/qk_kept/' \
  script transcode "c msl" "one q4_K q8_0 c msl"
mutate "transcode: each block has values of its own, C" templates/transcode.c 's/kept \+ j \* @\{to_elements\}/kept/' \
  script transcode c "one q4_K q8_0 c"
mutate "transcode: all blocks of a workgroup that has too few are made, Vulkan" templates/transcode.comp \
  's/if \(i < tiles\) qk_make/if (i + 1u < tiles) qk_make/' script transcode "c vulkan" "one q8_0 q4_0 c vulkan"
mutate "bench transcode: its blocks are compared" gen/cli/run_bench_transcode.c 's/type == QG_F32 && !check/type == QG_SCALAR_COUNT \&\& !check/' \
  script bench "c vulkan"
mutate "transcode: blocks of both formats divide" gen/build/transcode.c 's/kernel->to \? larger\(/0 ? larger(/' \
  script transcode c "one q8_0 q4_K c"

# ---- model files that are converted ----
plan=gen/cli/run_convert_plan.c convert=gen/cli/run_convert.c write=gen/files/gguf_write.c
mutate "gallery: the page of a checkout has no specifications again" gen/cli/gallery.c 's/if \(g->shown\) \{/if (0) {/' script gallery c
mutate "rows must be whole blocks" $plan 's/to->layout \&\& row % to->layout->elements/0/' script convert c
mutate "what has one dimension stays" $plan 's/w->n_dims < 2/0/' script convert c
mutate "rules keep tensors" $plan 's/return why \? why : qg_rules_keep\(.*/return why;/' script convert c
mutate "a tensor that is named must be converted" $plan 's/if \(named \&\& why\)/if (0)/' script convert c
mutate "a pattern must name a tensor" $plan 's/if \(c->used\) continue;/continue;/' script convert c
mutate "a format must say how blocks are made" $plan 's/kind->layout \&\& !kind->layout->encode/0/' script convert c
mutate "data of tensors are aligned" $write 's/\(tensors\[i\]\.bytes \+ alignment - 1\) \& ~\(alignment - 1\)/tensors[i].bytes/' \
  script convert c
mutate "a key is there once" $write 's/first = !is_named\(.*/first = true;/' script convert c
mutate "keys are counted" $write 's/pairs \+= !numbers\[n\]\.leaves_out;//' script convert c
mutate "what is written is removed when the command ends" $convert 's/if \(temporary\) unlink/if (0) unlink/' script convert c
mutate "the file that is read is not overwritten" $convert 's/if (\(same_file\(.*\))$/if (0 \&\& \1)/' script convert c
mutate "halves are rounded where they are subnormal" gen/cli/run_floats.c 's/lifted \+= 0\.5f/lifted += 0.25f/' script convert c
mutate "halves are rounded to even" gen/cli/run_floats.c 's/0xFFFu \+ /0x1000u + /' script convert c
mutate "floats come before their blocks, on a device" gen/cli/run_convert_vulkan.c \
  's/if \(!c->from\.layout\) qg_floats_of/if (0) qg_floats_of/' script convert "c vulkan"

# ---- sizes ----
mutate "zero sizes launch nothing" $sums 's/, empty = rows == 0 \|\| cols == 0 \|\| batch == 0;/, empty = 0;/' unit dispatch_sums_test
mutate "zero tokens launch nothing" $decode 's/(status != QK_OK) \|\| tokens == 0\)/\1)/' unit dispatch_sums_test
mutate "K of one block" templates/gemv_rows.comp 's/\(row_tiles \+ slice - 1u\) \/ slice/row_tiles \/ slice/' unit gemv_test
mutate "experts: short rows are several of a subgroup" $headers/dispatch_gemv_id.h 's/ \* \(qk_lanes_\(limits\) \/ width\)//' unit dispatch_sums_test
mutate "rows of half a joined block" $facts 's/block == 0 \|\| \(cols % block == 0 \&\& /block == 0 || (/' unit dispatch_sums_test
mutate "16 bytes are not loaded beyond the last block" gen/text/sums.c 's/to_end >> load.ref & 1/to_end >> 31/' script cost ''
mutate "the last block of all takes the place of what was not loaded" templates/gemv_wide_tile.glsl 's/end \? sum_at_end\[i % BATCH\] :/end ? sum[i] :/' \
  unit gemv_test
mutate "loads go beyond the weights only where their range does" $launch 's/constants\[c\] = 1;/constants[c] = 0;/' unit dispatch_sums_test
mutate "what lies behind the weights is bound" $launch 's/ranges\[i\]\.size \+= QK_PADDING/ranges[i].size += 0/' unit dispatch_sums_test
mutate "the last block ends where its number says" gen/text/glsl.c 's/\(block \+ 1u\) \* %uu/block * %uu/' unit gemv_test
mutate "halves of two words: those of one scale" gen/ir/dot_bytes.c 's/ \|\| !same_place\(&s->p.items\[k\], &s->p.items\[first\]\)\)$/)/' unit dot_bytes_test
mutate "halves of two words: all of a product" gen/ir/dot_bytes.c 's/if \(lanes != 0 && lanes != LANES\) return false/(void)lanes/' unit dot_bytes_test
mutate "halves of two words: where they go" gen/ir/dot_bytes.c 's/upper = stays \? apply/upper = !stays ? apply/' unit dot_bytes_test
mutate "pairs: upper halves of the same word" gen/ir/dot_bytes.c 's/nibbles\[k\].word != nibbles\[i\].word/false/' unit dot_bytes_test
mutate "pairs: which halves are side by side" gen/ir/dot_bytes.c 's/l < 2 \? lower : upper/l % 2 ? upper : lower/' unit dot_bytes_test
mutate "pairs: the table is there before it is used" gen/text/lookups.c 's/"barrier\(\);"/""/' script tune vulkan
mutate "pairs: every thread has its copy" gen/text/lookups.c 's/0xFFu\) \* COPIES \+ copy\] \|/0xFFu) + copy] |/' script tune vulkan
mutate "pairs as halves: that of the lower half first" gen/ir/halves.c 's/codes.shift \/ 4\)/1 - codes.shift \/ 4)/' unit bytes_test
mutate "two, MSL: the lower half of a byte first" gen/ir/halves.c 's/f->shift\[i\] % 8 \/ 4\)/1 - f->shift[i] % 8 \/ 4)/' unit rules_test
mutate "two, MSL: what is made" gen/text/msl.c 's/\$t\[codes >> 4\]/$t[codes >> 3 \& 15]/' script gemv msl "blocks mxfp4 5 8 3 f32"
mutate "two, MSL: it is there before it is used" templates/gemv.metal '/make_two/,/switch/s/threadgroup_barrier\(.*//' \
  script gemv msl "blocks mxfp4 5 8 3 f32"
mutate "bytes, MSL: their sign" gen/ir/halves.c 's/load_byte\(ir, f->word, f->shift\[i\], f->biased\)/load_byte(ir, f->word, f->shift[i], false)/' \
  unit rules_test
mutate "bytes, MSL: of words that are loaded" gen/ir/halves.c 's/word->op != QG_LOAD \|\| word->integer != 32 \|\| //' unit rules_test
mutate "in place, MSL: which half" gen/ir/halves.c \
  's/return qg_lane\(ir, pair, shift >= HALF_BITS\);/return qg_lane(ir, pair, 0);/' unit rules_test
mutate "in place, MSL: digits of a half alone" gen/ir/halves.c 's/\|\| width > HALF_DIGITS\) return false;/) return false;/' unit rules_test
mutate "scales, MSL: pieces in one half" gen/ir/halves.c 's/!high \|\| other != half/!high/' unit rules_test
mutate "scales, MSL: each piece in its place" gen/ir/halves.c 's/\(int32_t\)up - \(int32_t\)at\)/(int32_t)up)/' unit rules_test
mutate "midway: words are put together of two halves" gen/build/lower_words.c \
  's/QG_SELECT, midway, odd \? high : both, odd \? both : low/QG_SELECT, midway, odd ? high : low, odd ? both : low/' script midway vulkan
mutate "midway: also those that begin in the middle of the block's words" gen/build/lower_words.c \
  's/QG_SELECT, midway, odd \? high : both, odd \? both : low/QG_SELECT, midway, odd ? both : both, odd ? both : low/' script midway vulkan
mutate "midway: nothing is loaded from beyond the block" gen/build/lower_words.c 's/\(odd && !within\)/(odd \&\& false)/' unit program_test
mutate "midway: nor where it is not needed" gen/build/lower_words.c 's/const bool wanted = odd/const bool wanted = true/' unit program_test
mutate "midway: halves are loaded of a block's own" gen/build/verify.c 's/rest \+ at_once \* unit <= last/rest + at_once * unit <= 2 * last/' unit program_test
mutate "midway: blocks are not joined for it" gen/build/plan.c 's/aim\.midway \? 2 : 4/4/' unit wide_test
mutate "midway: tiles of many bytes are joined in teams and units" gen/build/family.c 's/bytes <= QG_DEVICE_MIDWAY_BYTES/bytes <= 2 * QG_DEVICE_MIDWAY_BYTES/' unit wide_test
mutate "midway: short blocks are joined" gen/build/family.c 's/layout->elements >= QG_DEVICE_MIDWAY_ELEMENTS && small/small/' unit wide_test
mutate "midway: but of experts" gen/build/family.c 's/return family->experts \|\| \(layout/return family->experts \&\& (layout/' unit wide_test
mutate "midway: on units, not what is looked up" gen/build/family.c 's/ && !\(mma && looks_up_afar\(rows\)\)//' unit wide_test
mutate "midway: halves in memory are asked for" gen/build/describe.c 's/if \(kernel->wide && qg_is_midway/if (!kernel->wide \&\& qg_is_midway/' script audit ''
mutate "midway: scales by themselves are" gen/build/plan.c 's/aim\.midway &= layout->n_buffers == 1;//' unit cost_test
mutate "midway: matrix units that do not fit are the last" runtime/include/qkgen/choice.def 's/(QK_CHOICE_UNFIT) 8/\1 0/' unit choose_test
mutate "midway: teams have blocks of their own" $choose \
  's/QK_SCHEDULE_TEAMS\) && qk_fits_teams_/QK_SCHEDULE_TEAMS) \&\& qk_fits_wide_/' unit dispatch_sums_test
mutate "two words, MSL: what moves is left" gen/build/lower_words.c \
  's/qg_index_constant\(phase->constant - rest.constant\)/qg_index_constant(phase->constant)/' \
  script gemv msl "blocks q3_K 5 4 3 f32"
mutate "merged twice, MSL: the third bits of both runs" gen/ir/halves.c 's/moved\(ir, thirds, 2\)/moved(ir, thirds, 1)/' unit rules_test
mutate "merged twice, MSL: of the four codes alone" gen/ir/halves.c 's/qg_uint\(ir, 15 \* EVERY_BYTE\)/qg_uint(ir, UINT32_MAX)/' unit rules_test
mutate "pieces, MSL: in blocks that begin at a half" gen/build/lower_code.c 's/block \* bits % 32 != 16/true/' unit wide_test
mutate "pieces, MSL: words of such a block" gen/build/lower_code.c 's/start\.constant \+= 16;//' script gemv msl "blocks q3_K 5 4 3 f32"
mutate "begin, MSL: x summed up has its coefficient" gen/ir/dot.c 's/negative \? -factor : factor\)/negative ? -factor : 1)/' unit rules_test
mutate "begin, MSL: powers of two" gen/ir/dot.c 's/ == 0\.5f\) of_x/ <= 1.0f) of_x/' unit rules_test
mutate "walk, MSL: x of each slice" templates/gemv_wide.metal 's/if \(!ONE\) load_large_x/if (c == own) load_large_x/' \
  script gemv msl "blocks q4_0 1 2048 4 f16"
mutate "neighbours, MSL: in the place of planes of some bits" gen/build/plan.c 's/(!within_word.*digit.weight\)\) return) false;/\1 true;/' unit wide_test
mutate "pairs as halves: every byte" gen/ir/halves.c 's/-8 \* \(int32_t\)i/0/' unit bytes_test
mutate "bytes as halves: no carry from byte to byte" gen/ir/halves.c 's/QG_XOR, f->word, qg_uint\(ir, 128/QG_ADD, f->word, qg_uint(ir, 128/' unit bytes_test
mutate "bytes as halves: from zero on" gen/ir/halves.c 's/\(128 - lowest\)/(127 - lowest)/' unit bytes_test
mutate "bytes as halves: not of tables whose values may be small" gen/ir/halves.c 's/lowest == 128 \&\& is_of_table/0 \&\& is_of_table/' unit bytes_test
mutate "what is masked where it goes: shifts up" gen/ir/bytes.c 's/by < bits \? apply\(ir, QG_SHL/by < bits ? apply(ir, QG_SHR/' unit bytes_test
mutate "what is masked where it goes: shifts down" gen/ir/bytes.c 's/\(uint32_t\)by - bits\)/(uint32_t)by)/' unit bytes_test
mutate "what is masked where it goes: products" gen/ir/bytes.c 's/\(uint32_t\)by << bits\)\);/(uint32_t)by));/' unit bytes_test
mutate "what is masked where it goes: the mask" gen/ir/bytes.c 's/moved \? masked\(ir, moved, \(uint32_t\)mask\)/moved ? masked(ir, moved, (uint32_t)(mask >> bits))/' unit bytes_test
mutate "what is masked where it goes: not what has a name" gen/ir/bytes.c 's/\&\& !word->arg\[0\]->name \?/?/' unit bytes_test
mutate "bytes as halves: not one by one" gen/ir/bytes.c 's/return !at_once \&\& pack/return pack/' unit rules_test
mutate "more threads where words come with their neighbours" $share 's/s\.own \&\& neighbours \&\& !few_bits/0/' unit dispatch_sums_test
mutate "words one by one, where fours fill registers" gen/build/device.def 's/(FOURS_PERCENT, +)146/\1346/' unit wide_test
mutate "large grids have no copies beside floats" gen/build/device.def 's/(COPIED_WITH_F32, )2048/\14096/' unit wide_test
mutate "copies of tables: every thread has its own" gen/text/lookups.c 's/copy = gl_LocalInvocationID.x %% COPIES/copy = gl_LocalInvocationID.x/' script tune vulkan
mutate "copies of tables: rows stay together" gen/text/lookups.c 's/COPIES \+ copy \* %uu \+ i %% %uu", row, row, row/COPIES + copy + i %% %uu", row, row/' script tune vulkan
mutate "staged x: each part is taken by who needs it" templates/stage_x.glsl 's/ - staged_from < STAGED\) load/ < STAGED) load/' unit gemv_test
mutate "encode: a team writes no block beyond the last" \
  templates/encode.comp 's/i < tiles \? i \/ @\{team\}u : QK_NONE/i \/ @{team}u/' unit rows_test
mutate "encode: no block is written beyond the last" templates/encode.comp 's/if \(i < tiles\) qk_encode\(i, /qk_encode(i, /; s/else qk_made.*//' unit rows_test
mutate "staged x: all of a row" gen/text/glsl.c 's/\(end \+ %uu\)%s", tiles - 1/(end - %uu)%s", tiles/' unit gemv_test
mutate "staged x: small tiles share a gap" gen/text/glsl.c 's/runs > 8 \? runs : 8\)/runs)/' unit shared_memory_test
mutate "staged x: memory beside the sums" $limits 's/EACH_RUN_ = 18/EACH_RUN_ = 14/' unit dispatch_sums_test
mutate "K of 65,536" templates/gemv_wide_tile.glsl 's/c0 != held/held == ~0u/' unit gemv_test
mutate "N ragged: no row is written beyond the last" templates/gemv_shared.comp 's/row \+ lane < rows \&\& //' \
  script gemv vulkan "blocks q4_0 5001 1 3 f32"
mutate "N ragged, rows shared out" templates/gemv_rows.comp 's/if \(first \+ i < rows\) finish/finish/' unit gemv_test
mutate "N ragged, MSL: no row is read beyond the last" templates/gemv_rows.metal \
  's/at.weights_begin \+ min\((first \+ team \* ROWS \+ r), shape.rows - 1\)/at.weights_begin + \1/' script gemv msl "blocks q4_0 19 3 1 f32"
mutate "M ragged: no vector is written beyond the last" templates/gemv_shared.comp 's/ \&\& m < batch\) finish/) finish/' unit gemv_test
mutate "several vectors: sums of all slices" templates/finish.glsl 's/if \(!first \|\| \(does \& ADDS_TO_Y\) != 0u\) sum \+= y_before\(at \+ y_skip\);//' \
  script gemv vulkan "blocks q4_0 1 2048 4 f16"
packed=runtime/include/qkgen/dispatch_packed.h
mutate "x as integers: made once" $packed 's/p->packed = 1;/(void)p;/' unit gemv_test
mutate "x as integers: what is there is not made again" $packed 's/if \(!p->packed\)/if (1)/' unit gemv_test
mutate "x as integers: products wait for it" $packed \
  '/QK_PACK_X_THREADS, constants/,/p->packed = 1/ s/outer->barrier\(outer->context, error\)/QK_OK/' unit gemv_test
mutate "x as integers: too little memory is refused" $packed 's/scratch.size < bytes/scratch.size + 1 < bytes/' unit gemv_test
mutate "x as integers: of every vector" templates/share_slice.glsl \
  's/packed_y\[\(m \* X_FOURS/packed_y[(0u * X_FOURS/' unit gemv_test
mutate "x as integers: from where a slice begins" templates/share_slice.glsl 's/\+ begin \+ i % count\]/+ i % count]/' unit gemv_test
mutate "several vectors: each has its own x" templates/share_slice.glsl 's/load_x\(m, begin/load_x(0u, begin/' unit gemv_test
mutate "several vectors: x is there before it is read" templates/share_slice.glsl \
  '/load_x\(m, begin/,/^}/ s/barrier\(\);/;/' unit gemv_test
mutate "several vectors: x stays while it is read" templates/share_slice.glsl '/void share_slice/,/barrier/ s/barrier\(\);/;/' \
  script gemv vulkan "blocks q4_0 300 98 4 f32"
mutate "several vectors: tiles of a slice lie apart" templates/share_slice.glsl 's/SLICE \+ t\] = x/SLICE] = x/' unit gemv_test
mutate "several vectors: the last block of all" templates/gemv_shared.comp 's/fetch_last\(min\(row \+ i % ROWS, end - 1u\)/fetch_last(min(row, end - 1u)/' \
  script gemv vulkan "blocks q8_0 6 4 3 f32"
mutate "teams: each vector has its sums" templates/gemv_teams.comp 's/m = i % each \/ ROWS/m = 0u * i/' unit gemv_test
mutate "teams: each slice of x is shared" templates/gemv_teams.comp 's/slice < tiles \|\| first/first/' unit gemv_test
mutate "teams: each lane has a tile of its own" templates/gemv_teams.comp 's/from \+ min\(lane, count - 1u\)/from/' unit gemv_test
mutate "teams: no row is written beyond the last" templates/gemv_teams.comp 's/n < rows \&\& m < batch/m < batch/' unit gemv_test
mutate "runs of x: neighbours swap" templates/load_runs.glsl 's/v\[i\] = odd \? other : v\[i\]/v[i] = v[i]/' unit gemv_test
mutate "runs of x: those of the neighbour are loaded" templates/load_runs.glsl 's/ 4u \* 4u \+ i\)/ 4u * 4u)/' unit gemv_test
mutate "teams: no second round of workgroups" $share 's/qk_processors_\(limits\) \/ 2\)/qk_processors_(limits))/' unit dispatch_sums_test
mutate "teams: two vectors of large tiles of integers" $choose 's/s->kept == 2 \&\& kernel->teams_tile/s->kept == 4 \&\& kernel->teams_tile/' unit dispatch_sums_test
mutate "whole blocks: an item of the tensor is one for all" gen/spec/join.c 's/if \(layout->view == QG_VIEW_SEQUENCE \|\| row_of_blocks\) \{/if (layout->view == QG_VIEW_SEQUENCE) whole->view = QG_VIEW_BLOCKS;\n    if (row_of_blocks) {/' unit value_test
mutate "the choice of a class: no larger error" $pick 's/<= allowed\)/<= 2 * allowed)/' unit choose_test
mutate "the choice of a class: what the device can launch" $pick 's|qk_missing_features_\(kernels\[i\], limits\) != 0|0|' unit choose_test
mutate "the choice of a class: few rows are counted for each processor" $pick 's/QK_CHOICE_FEW \* processors/QK_CHOICE_FEW * 100u/' unit choose_test
mutate "teams: few rows get more workgroups" $choose 's/qk_ceil_\(rows, 4 \* s->rows/qk_ceil_(64 * rows, 4 * s->rows/' unit dispatch_sums_test
mutate "gather: a thread steps to its next tile" templates/gather.comp 's/t -= row_tiles;//' script bench vulkan
mutate "matrix units: sums of all passes over x" templates/gemv_mma.comp 's/finish\(m, n, total, whole \|\| begin == 0u, .*\)/finish(m, n, total)/' unit mma_test
mutate "what y holds stays" templates/finish.glsl 's/!first \|\| \(does \& ADDS_TO_Y\) != 0u/!first/' unit gemv_test
mutate "earlier parts stay" templates/finish.glsl 's/!first \|\| (\(does \& ADDS_TO_Y)/\1/' unit gemv_test
mutate "what y holds stays, MSL" templates/finish.metal 's/!first \|\| \(to.epilogue & ADDS_TO_Y\) != 0/!first/' script gemv msl "residual q4_0"
mutate "a bias is of its row, in parts" templates/finish.glsl 's/row = y_first % y_rows \+ n,/row = n,/' unit gemv_test
mutate "a bias is added once" templates/finish.glsl 's/first \&\& \(does \& ADDS_BIAS/(does \& ADDS_BIAS/' unit gemv_test
mutate "a bias is of its expert" templates/finish.glsl 's/row = \(set \* experts \+ expert\) \* rows \+ n/row = n/' unit gemv_test
mutate "an expert that is not there has no bias, MSL" templates/gemv_id.metal 's/found \? push.epilogue : .*;/push.epilogue;/' script gemv msl expert_bias
mutate "a bias, MSL" templates/finish.metal 's/sum \+= to.bias\[r.row\]/sum += to.bias[0]/' script gemv msl expert_bias
mutate "a scale of rows" templates/finish.glsl 's/SCALES_ROWS\) != 0u \? row/SCALES_ROWS) != 0u ? 0u/' unit gemv_test
mutate "a scale of vectors, in eights" templates/finish.glsl 's/\? number : 0u/? m : 0u/' unit gemv_test
mutate "a scale of slots" templates/finish.glsl 's/\? set \* batch \* slots \+ pair :/? 0u :/' unit gemv_test
mutate "a scale of experts" templates/finish.glsl 's/: set \* experts \+ expert\]/: 0u]/' unit gemv_test
mutate "a scale of experts, MSL" templates/finish.metal 's/: r.tensor\]/: 0]/' script gemv msl expert_bias
mutate "a gate is of the whole sum" templates/finish.glsl 's/last \&\& \(does \& GATES/(does \& GATES/' unit gemv_test
mutate "a gate is silu" templates/finish.glsl 's/exp\(-result_gate/exp(result_gate/' unit gemv_test
mutate "a gate is of its result, MSL" templates/finish.metal 's/to.gate\[r.at\]/to.gate[0]/' script gemv msl "residual q4_0"
mutate "a residual is added once" templates/finish.glsl 's/last \&\& \(does \& ADDS_RESIDUAL/(does \& ADDS_RESIDUAL/' unit gemv_test
mutate "a residual, MSL" templates/finish.metal 's/sum \+= to.residual\[r.at\]/sum += 0.0f/' script gemv msl "residual q4_0"
mutate "a gate is not for what y holds" runtime/include/qkgen/dispatch_epilogue.h 's/e.gate != NULL \&\& e.adds != 0/0/' unit dispatch_sums_test
mutate "what scales are for is checked" runtime/include/qkgen/dispatch_epilogue.h 's/> QK_PER_VECTOR\)/> 99)/' unit dispatch_sums_test
mutate "a pipeline has what is asked for" runtime/include/qkgen/dispatch_epilogue.h 's/constants\[i\] = bits;/constants[i] = bits * 0;/' unit gemv_test
mutate "a bias is checked" runtime/include/qkgen/dispatch_epilogue.h 's/many == QK_PER_ROW \? r->rows \* 4 : 4/0 ? r->rows * 4 : 4/' unit dispatch_sums_test
mutate "what was there is not added" $sums 's/push\[5\] = g->epilogue/push[5] = 1/' unit dispatch_sums_test
views=$headers/dispatch_views.h
mutate "views: products divide" $views 's/p->counts\[d\] % weights != 0/0/' unit views_dispatch_test
mutate "views: results do not overlap" $views 's/d->count > 1 \&\& d->stride < reach/0/' unit views_dispatch_test
mutate "views: x begins where runs are loaded" $views 's/if \(stride % 4 == 0\)/if (1)/' unit views_dispatch_test
mutate "views: patches have one matrix" $views 's/weights > 1 \&\& kernel->view != QK_VIEW_BLOCKS/0/' unit views_dispatch_test
mutate "views: the type of y is checked" $views 's/\(uint32_t\)type <= QK_Y_BF16/1/' unit views_dispatch_test
mutate "views: where the device cannot bind x" $views 's/views \&\& own < device \? own/views ? 1/' unit views_dispatch_test
mutate "views: a word has two results" $headers/dispatch_epilogue.h 's/unit == r->bytes \|\| /1 || /' unit views_dispatch_test
mutate "views: bindings begin where the device has them" $views 's/range.offset = begin - extra;/range.offset = begin;/' unit views_dispatch_test
mutate "views: what comes before is not counted" $views 's/\*skip = extra \/ bytes;/*skip = 0;/' unit views_dispatch_test
mutate "views: all of x fits into a binding, or a product's" $sums 's/p->apart \|= !qk_fits_binding_\(call, i, limit\);/;/' unit views_dispatch_test
mutate "views: a launch has no more workgroups than there may be" $sums 's/qk_max_\(1, qk_min_\(s->products, most .*;$/s->products;/' unit views_dispatch_test
mutate "views: a product's weights" $views 's/(number \/ p->counts\[0\] \/ p->sharing\[1\] \* )p->weights_at\[1\]/\10/' unit views_dispatch_test
mutate "views: operands of other products are read before they go" $headers/dispatch_gemm.h 's/if \(s.product > 0\) .*/if (0)/' unit views_dispatch_test
mutate "views: no sum in parts is rounded" $sums 's/if \(p->y_type != QK_Y_F32\)/if (0)/' unit views_dispatch_test
mutate "views: ragged rows begin anywhere in plain rows" $sums 's/if \(p->on \&\& p->uneven\)/if (0)/' unit views_dispatch_test
mutate "views: what is off costs nothing" $views 's/p->on = p->in_parts \|\| /p->on = 1 || /' unit views_dispatch_test
mutate "views: experts apart" $headers/dispatch_expert_views.h 's/p->weights < rows\)/0)/' unit views_dispatch_test
mutate "views: a matrix's rows" templates/views.glsl 's/return weights_begin \+ n/return n/' script views vulkan
mutate "views: a stride of x" templates/views.glsl 's/x_begin \+ vector \* x_stride\) \//x_begin + vector * 256u) \//' script views vulkan
mutate "views: a stride of y" templates/finish.glsl 's/vector \* y_stride \+ row, does/vector * y_rows + row, does/' script views vulkan
mutate "views: elements before y" templates/finish.glsl 's/store_y\(at \+ y_skip/store_y(at/' script views vulkan
mutate "views: an expert's ids" templates/views.glsl 's/pair \/ slots \* ids_inner/pair \/ slots * slots/' script views vulkan
mutate "views: operands of each product" templates/gemm_operands.glsl 's/return matrix \* end_of_operands/return 0u * end_of_operands/' script views vulkan
mutate "views: a neighbour's half stays" templates/finish.glsl 's/atomicAnd\(y_halves\[at \/ 2u\], .*\);/y_halves[at \/ 2u] = 0u;/' script views vulkan
mutate "views: halves are rounded to even" templates/finish.glsl 's/0x37FFF001u \+ \(magnitude >> 13 \& 1u\)/0x37FFF000u/' script views vulkan
mutate "views: a matrix's rows, MSL" templates/gemv_rows.metal 's/at.weights_begin \+ min/min/' script views msl
mutate "views: a stride of y, MSL" templates/finish.metal 's/vector \* shape.y_stride/vector * shape.y_rows/' script views msl
mutate "views: elements before y, MSL" templates/finish.metal 's/r.at \+ r.skip/r.at/' script views msl
mutate "sets: results do not overlap" $headers/dispatch_expert_views.h 's/p->gated != 0 \? 1 : p->sets, p->y_set\}/1, p->y_set}/' unit views_dispatch_test
mutate "sets: there are so many results at most" $headers/dispatch_expert_views.h 's/p->sets > UINT32_MAX \/ 2 \/ rows \/ pairs\)/0)/' unit views_dispatch_test
mutate "sets: patches are whole experts apart" $headers/dispatch_expert_views.h 's/p->weights_set % rows != 0/0/' unit dispatch_sums_test
mutate "sets: where they do not fit together" $headers/dispatch_gemv_id.h 's/g->apart \|= call->arguments\[i\]\.need > limit;/;/' unit views_dispatch_test
mutate "sets: rows that are bound before one" $headers/dispatch_gemv_id.h 's/s->sets\.weights_first = .*;/s->sets.weights_first = 0;/' unit views_dispatch_test
mutate "sets: a scale for each expert of each" $headers/dispatch_gemv_id.h 's/qk_product_\(g->planes\.sets, g->experts\),/g->experts,/' unit views_dispatch_test
mutate "sets: tiles are of one" $headers/dispatch_gemm_id.h 's/views->sets < 2/1/' unit views_dispatch_test
mutate "sets: the weights of the next" templates/views.glsl 's/before \* weights_outer;/0u;/' script views vulkan
mutate "sets: the experts of the next" templates/views.glsl 's/: weights_begin \+ n \* weights_inner/: n * weights_inner/' script views vulkan
norm=templates/norm_x.glsl
mutate "norms: weights" $norm 's/if \(NORM != 0u\) run .*//' script views vulkan
mutate "norms: weights of the next vector" $norm 's/at - x_row/at % 512u/' script views vulkan
mutate "norms: squares of all runs" $norm 's/at \+= 8u \* step/at += 16u * step/' script views vulkan
mutate "norms: squares of each run once" $norm 's/at \+ i \* step < runs \?/true ?/' script views vulkan
mutate "norms: squares of all subgroups" templates/finish.glsl 's/i < gl_NumSubgroups \* BATCH/i < BATCH/' script views vulkan
mutate "norms: squares of each vector" templates/finish.glsl 's/uint i = m;/uint i = 0u;/' script views vulkan
mutate "norms: squares behind sums" $norm 's/partial\[SQUARES \+ gl/partial[gl/' script views vulkan
mutate "norms: their mean" templates/finish.glsl 's/all \/ float\(.*\) \+/all +/' script views vulkan
mutate "norms: what is added to it" templates/finish.glsl 's/ \+ uintBitsToFloat\(NORM\)//' script views vulkan
mutate "norms: a barrier where none follows" $norm 's/if \(SPLIT == 1u\) barrier\(\);//' script views vulkan
mutate "norms: results" templates/finish.glsl 's/sum \*= inversesqrt\(.*//' script views vulkan
mutate "norms: for kernels that have it" $views 's/qk_bits_of_\(epsilon\) == 0 \|\| qk_takes_norm_/1 || qk_takes_norm_/' unit views_dispatch_test
mutate "norms: a finite number" $views 's/if \(qk_bits_of_\(epsilon\) >= 0x7F800000u\)/if (0)/' unit views_dispatch_test
mutate "norms: no scale" $headers/dispatch_epilogue.h 's/e\.scale != NULL \&\& r->norm != NULL/0/' unit views_dispatch_test
mutate "norms: a weight for each column" $headers/dispatch_epilogue.h 's/range, r->cols, 4, error/range, 1, 4, error/' unit views_dispatch_test
mutate "norms: where x is kept" $headers/dispatch_sums.h 's/ \|\| p->epsilon > 0;/;/' unit views_dispatch_test
mutate "norms: memory" $headers/dispatch_limits.h 's/QK_CONSTANT_NORM, 0\) != 0 \? threads \* kept : 0/QK_CONSTANT_NORM, 0) != 0 ? 0 : 0/' unit views_dispatch_test
mutate "norms: lanes for all vectors" $headers/dispatch_choose.h 's/while \(norm != 0 \&\&/while (0 \&\&/' script views vulkan
mutate "norms: a tuning that does not fit" $headers/dispatch_tune.h 's/QK_CONSTANT_NORM, 0\) != 0/QK_CONSTANT_NORM, 0) == 9/' unit views_dispatch_test
mutate "norms: no integers of x for others" $headers/dispatch_packed.h 's/p\.epsilon > 0 \|\| //' unit tensors_test
mutate "norms: kernels that do" $headers/tensors.h 's/!\(p->epsilon > 0\) \|\| qk_norms_product_/1 || qk_norms_product_/' unit tensors_test
mutate "norms: not of x that others have as it is" $headers/tensors.h 's/ \&\& !\(p->epsilon \+ next->epsilon > 0\)//' unit tensors_test
mutate "norms: pipelines" $headers/pipelines.h 's/if \(p\.epsilon > 0\)/if (0)/' unit pipelines_test
mutate "norms: a product is known by it" $headers/launcher.hpp 's/product\.add\(qk_bits_of_\(p\.epsilon\)\);//' unit ggml_test
mutate "gated: rows are of both matrices" templates/views.glsl 's/(row_within.*) \* weights_outer/\1 * 0u/' script views vulkan
mutate "gated: rows are of both sets" templates/views.glsl 's/(row_of_weights.*) \* weights_outer/\1 * 0u/' script views vulkan
mutate "gated: an expert begins where two rows do" templates/views.glsl 's/VIEWS == 2u \? 2u : 1u/1u/' script views vulkan
mutate "gated: rows that are loaded ahead" templates/gemv_ahead.comp 's/row_within\(min\(r, rows - 1u\)\)/min(r, rows - 1u)/' script views vulkan
mutate "gated: the lane of the gate" templates/gate_rows.glsl 's/n % 2u != y_outer/n % 2u != 0u/' script views vulkan
mutate "gated: by silu" templates/gate_rows.glsl 's/exp\(-sum\)/exp(sum)/' script views vulkan
mutate "gated: a result of two rows" templates/gate_rows.glsl 's/, n \/= 2u//' script views vulkan
mutate "gated: for kernels that have it" $views 's/gated == 0 \|\| qk_kinds_of_views_\(kernel\) > 2/1/' unit views_dispatch_test
mutate "gated: of one vector" $views 's/ \|\| p->batch != 1\)/)/' unit views_dispatch_test
mutate "gated: of the same x" $views 's/p->x_at\[d\] != 0 \|\| //' unit views_dispatch_test
mutate "gated: of two matrices" $views 's/p->sharing\[d\] != 1 \|\| //' unit views_dispatch_test
mutate "gated: which of them is the gate" $views 's/p->y_at\[1\] = p->gated - 1/p->y_at[1] = 0/' unit views_dispatch_test
mutate "gated: which of the sets is the gate" $headers/dispatch_expert_views.h 's/p->y_set = p->gated - 1/p->y_set = 0/' unit views_dispatch_test
mutate "gated: not with an epilogue" $sums 's/gated == 0 \|\| epilogue == 0/1/' unit views_dispatch_test
mutate "gated: both fit into a binding" $headers/dispatch_gemv_id.h 's/p->gated != 0 \&\& \(g->apart \|\|/0 \&\& (g->apart ||/' unit views_dispatch_test
mutate "gated: rows come in pairs" $headers/dispatch_choose.h 's/QK_CONSTANT_ROWS, 1\) % 2 == 0/QK_CONSTANT_ROWS, 1) > 0/' unit views_dispatch_test
mutate "gated: where neighbours have both" $headers/dispatch_choose.h 's/list\[i\]\.value = QK_SCHEDULE_WIDE/list[i].value = QK_SCHEDULE_TEAMS/' unit views_dispatch_test
mutate "gated: a tuning that does not fit" $headers/dispatch_tune.h 's/\(views > 1 \|\| /(/' unit views_dispatch_test
mutate "gated: up before the gate" $headers/tensors.h 's/p->gated = behind \? 1 : 2/p->gated = 1/' unit tensors_test
mutate "gated: results are where they are asked for" $headers/tensors.h 's/!qk_same_tensor_\(\&p->y, \&there\) \|\| //' unit tensors_test
slots=templates/gemv_id_wide.comp
mutate "slots: each is in the sum" $slots 's/slots_before \+= at_once/slots_before += 2u * at_once/' script views vulkan
mutate "slots: those before it stay" $slots 's/sum\[r\] = before\[r\] \+ sum/sum[r] = sum/' script views vulkan
mutate "slots: times their factors" $slots 's/sum\[r\] \* scale;/sum[r];/' script views vulkan
mutate "slots: one that is not there is counted once" $slots 's/gl_SubgroupID == slot % at_once \* split/true/' script views vulkan
mutate "slots: each subgroup begins with its own" $slots 's/gl_SubgroupID % joint \/ split : 0u/0u : 0u/' script views vulkan
mutate "slots: teams of a subgroup have places of their own" $slots 's/ \* own \+ place_of_team/ * ROWS + lane/' script views vulkan
mutate "slots: places lie as far apart as teams need" $slots 's/place \+ s \* own/place + s * ROWS/' script views vulkan
mutate "slots: no more teams than there is memory for" $slots 's/\(VIEWS == 3u \? max\(ROWS, 4u\) : ROWS\)/ROWS/' script views vulkan
mutate "slots: a result for each token" $slots 's/batch \* slots \/ added \* parts/batch * slots * parts/' script views vulkan
mutate "slots: each takes its own of what is staged" templates/stage_x.glsl 's/ \+ done - mine \* each;/ + done;/' script views vulkan
mutate "slots: x of each is staged" templates/stage_x.glsl 's/vector \+ \(done \+ i\) \/ each/vector/' script views vulkan
mutate "slots: x of all at once is staged" $headers/dispatch_gemv_id.h 's/g->x_slots > 1 \? qk_slots_at_once_\(kernel, limits, constants, g\) : 1, runs/1, runs/' unit views_dispatch_test
mutate "slots: as far as there is memory" $headers/dispatch_gemv_id.h 's/bytes <= room/bytes + room > 0/' unit views_dispatch_test
mutate "slots: beside other workgroups" $headers/dispatch_gemv_id.h 's/: 16384u\) \/ beside/: 16384u) \/ (beside != 0)/' unit views_dispatch_test
mutate "slots: no more threads than they want" $headers/dispatch_gemv_id.h 's/while \(threads > QK_SLOTS_THREADS \&\&/while (0 \&\&/' unit views_dispatch_test
mutate "slots: for kernels that have them" $headers/dispatch_expert_views.h 's/qk_kinds_of_views_\(kernel\) > 3/1/' unit views_dispatch_test
mutate "slots: of one set" $headers/dispatch_expert_views.h 's/p->sets != 1 \|\| p->gated != 0/0/' unit views_dispatch_test
mutate "slots: tokens lie as the view says" $views 's/p->y = v->y_stride != 0 \? v->y_stride : rows;/p->y = rows;/' unit views_dispatch_test
mutate "slots: threads keep x" $headers/dispatch_gemv_id.h 's/return qk_walks_own_\(kernel, limits, rows, g->cols, 0, constants\);/return 1;/;s/(if \()!qk_own_constants_\(kernel, limits, 1, rows, g->cols, 0, 0, constants\)\)/\1!qk_own_constants_(kernel, limits, 1, rows, g->cols, 0, 0, constants) \&\& 0)/' unit views_dispatch_test
mutate "slots: with experts in one binding" $headers/dispatch_gemv_id.h 's/p->adds_slots \&\& g->chunk < g->experts/0/' unit views_dispatch_test
mutate "slots: without a bias" $headers/dispatch_gemv_id.h 's/p->adds_slots \&\& \(epilogue/p->adds_slots > 1 \&\& (epilogue/' unit views_dispatch_test
mutate "slots: of few tokens" $headers/tensors.h 's/from\[2\] > QK_GEMV_MAX_BATCH \|\| //' unit tensors_test
mutate "slots: a residual of the shape of y" $headers/tensors.h 's/!(qk_same_tensor_\(y, \&same\))/\1 > 1/' unit tensors_test
mutate "slots: no epilogue but factors before" $headers/tensors.h 's/!plain \|\|/plain > 1 ||/' unit tensors_test
mutate "sets: one that is launched by itself" templates/views.glsl 's/set = set_first \+ before/set = before/' script views vulkan
mutate "sets: the results of the next" templates/finish.glsl 's/set \* y_outer \+ //' script views vulkan
mutate "sets: a bias of the next" templates/finish.glsl 's/row = \(set \* experts \+ expert\)/row = expert/' script views vulkan
mutate "sets: a scale of a pair of the next" templates/finish.glsl 's/set \* batch \* slots \+ pair :/pair :/' script views vulkan
mutate "sets: the weights of the next, MSL" templates/gemv_id.metal 's/n = weights_begin \+ /n = /' script views msl
mutate "sets: stacked experts of the next, MSL" templates/gemv_id.metal 's/ \+ weights_begin \/ push\.rows//' script experts msl
mutate "sets: the results of the next, MSL" templates/gemv_id.metal 's/y_set = set \* push\.y_outer/y_set = 0/' script views msl
mutate "views: halves, MSL" templates/finish.metal 's/as_type<ushort>\(half\(sum\)\)/f32_to_bf16(sum)/' script views msl
glue=integrations/ggml/ggml-vulkan-qkgen.cpp
tensors=$headers/tensors.h
mutate "ggml: operands are kept for this x alone" $glue 's/held = keeps \&\& ctx->prealloc_y_last_tensor_used == x \&\&/held = keeps \&\&/' unit ggml_test
mutate "ggml: operands are those of each matrix of a batch" $glue 's/ids != nullptr \|\| ggml_nrows\(x\) == x->ne\[1\];/true;/' unit ggml_test
mutate "launcher: operands of a copy are not kept" $headers/launcher.hpp 's/p.packed = p.copy_bytes == 0 \&\& /p.packed = /' unit ggml_test
mutate "ggml: others may still read what is copied over" $glue 's/if \(ctx->prealloc_y_need_sync\) \{ barrier/if (false) { barrier/' unit ggml_test
mutate "ggml: an addition in place" $tensors 's/\*added\[i\] = NULL;/(void)0;/' unit ggml_test
mutate "ggml: an addition of each result in place" $tensors 's/\{&epilogue->bias, &epilogue->residual\}/{\&epilogue->bias, \&epilogue->bias}/' unit ggml_test
mutate "ggml: rows of views that begin elsewhere are not promised" $glue 's/t->view_offs, UINT64_MAX/0, UINT64_MAX/' unit ggml_test
mutate "tensors: factors of experts are no addition" $tensors 's/\(factors \? &epilogue->scale : /(0 ? \&epilogue->scale : /' unit ggml_test
mutate "tensors: what is added to each result is no vector" $tensors 's/rows \? &epilogue->bias : &epilogue->residual/\&epilogue->bias/' unit ggml_test
mutate "tensors: a vector has an element for each row" $tensors 's/rows = n\[0\] == m\[0\] \&\& /rows = /' unit ggml_test
mutate "tensors: what is added lies as results do" $tensors 's/!qk_same_tensor_\(t, \&packed\) \|\| //' unit ggml_test
mutate "tensors: factors are those of all tokens and slots" $tensors 's/n\[0\] == 1 \&\& each/n[0] == 1 || each/' unit ggml_test
mutate "ggml: results have the shape of the product" $glue 's/!ggml_can_fuse\(graph, at, .*\)\) \{/false) {/' unit ggml_test
mutate "ggml: a bias of other experts is not theirs" $glue 's/ids \&\& !factors \&\& mul->src\[2\] != dst->src\[2\]/false/' unit ggml_test
mutate "ggml: sums lie over no x that others read" $glue 's/ \|\| over\(mul->src\[1\], false\)//' unit ggml_test
mutate "ggml: sums lie over all of what is added or nothing" $glue 's/over\(t, true\) \|\| //' unit ggml_test
mutate "ggml: products of other experts are a launch each" $glue 's/ \&\& t->src\[2\] == mul->src\[2\]//' unit ggml_test
mutate "ggml: what is behind a product that is not ours is not, either" $glue 's/if \(!ours \&\& ctx->num_additional_fused_ops != 0\)/if (false)/' unit ggml_test
mutate "ggml: what was fused waits for a product that is not ours" $glue 's/ctx->unsynced_nodes_written.push_back\(norms.*;/;/' unit ggml_test
mutate "ggml: a norm that others read is in no launch" $glue 's/ \&\& ggml_node_get_use_count\(.*;/;/' unit ggml_test
mutate "ggml: nor one that is asked for" $glue 's/\(normed->flags \& GGML_TENSOR_FLAG_OUTPUT\) == 0 \&\& //' unit ggml_test
mutate "ggml: nor one with sums of additions" $glue 's/ \|\| ctx->do_add_rms_partials_offset_calculation//' unit ggml_test
mutate "ggml: nor one without weights" $glue 's/ctx->fused_rms_norm_mode != RMS_NORM_MUL/false/' unit ggml_test
mutate "ggml: nor one before a single product" $glue 's/count > 0 \&\& all/all/' unit ggml_test
mutate "ggml: a norm's launch reads what is normed" $glue 's/node\.p\.x\.range = .*;/;/' unit ggml_test
mutate "ggml: a norm that no kernel takes is ggml's, with its weights" $glue 's/norms \? 1 : 0;/0;/' unit ggml_test
mutate "ggml: and it is what is written then" $glue 's/graph->nodes\[begin \+ 1\] : mul/graph->nodes[begin] : mul/' unit ggml_test
mutate "ggml: views may come between a norm and its products" $glue 's/while \(first < graph->n_nodes/while (first < 0/' unit ggml_test
mutate "ggml: slots are added in their order" $glue 's/ \|\| next->src\[1\] != slot\)/)/' unit ggml_test
mutate "ggml: slots are not added over what is read" $glue 's/ggml_vk_tensors_overlap\(read, dst, read == t\)/false/' unit ggml_test
mutate "ggml: what slots are added of keeps its memory" $glue 's/s < 4 \&\& last != 0/s < 3 \&\& last != 0/' unit ggml_test
mutate "ggml: tokens of other ids are sorted anew" $glue 's/last->src\[2\] == ids \&\& last->src/last->src/' unit ggml_test
mutate "ggml: tokens are sorted anew for tiles of other rows" $glue 's/ \&\& ggml_are_same_shape\(last->src\[0\], w\);/;/' unit ggml_test
mutate "ggml: x begins where nothing can be copied" $glue 's/if \(get_misalign_bytes\(ctx, x\) != 0\)/if (false)/' unit ggml_test
mutate "ggml: products of experts are a launch each" $glue 's/same\(\) \&\& mul->op == GGML_OP_MUL_MAT\) /same()) /' unit ggml_test
mutate "ggml: without fusions each product is a launch" $glue 's/!ctx->device->disable_fusion \&\& //' unit ggml_test
mutate "a call without a status word takes that of the backend" $headers/dispatch_check.h 's/range = qk_status_word_\(call->backend, range\);/;/' unit tensors_test
mutate "a call without indices and status word takes that of the backend" $headers/dispatch_rows.h 's/qk_status_word_\(backend, status_word\)/status_word/' unit tensors_test
mutate "pipelines: loads that may pass the end of weights" $headers/pipelines.h 's/qk_somewhere_\(\&p.weights.range, 2, 1\)/qk_somewhere_(\&p.weights.range, 2, 0)/' unit pipelines_test
mutate "pipelines: tensors that begin elsewhere" $headers/pipelines.h 's/    range->buffer = qk_no_buffer_\(number\);/\&range->offset = 0;/' unit pipelines_test
mutate "pipelines: epilogues" $headers/pipelines.h 's/p.epilogue = \&epilogue;/p.epilogue = NULL;/' unit pipelines_test
mutate "pipelines: with x that others share" $headers/pipelines.h 's/p.shares = shares;/p.shares = 0 * shares;/' unit pipelines_test
mutate "pipelines: each number of vectors" $headers/pipelines.h 's/n <= most; n\+\+/n <= most; n += 2/' unit pipelines_test
mutate "pipelines: the module of a schedule" $headers/pipelines.h 's/one.code = qk_code_of\(kernel, launch->constants\)/one.code = kernel->code/' unit pipelines_test
mutate "pipelines: each once" $headers/pipelines.h 's/if \(qk_same_pipeline_\(.*$/if (0)/' unit pipelines_test
mutate "pipelines: a key has the ids of constants" $headers/pipelines.h 's/hash = qk_hash_number_\(hash, kernel->spec_constants\[i\].id\);//' unit pipelines_test
mutate "epilogues of one vector have one pipeline" $headers/dispatch_sums.h 's/if \(mma \|\| s->vectors > 1 \|\| .*/if (1)/' unit pipelines_test
mutate "epilogues in bytes have one each" $headers/dispatch_sums.h 's/ \|\| qk_constant_\(kernel, NULL, QK_CONSTANT_DIGITS, 0\) == 1\)$/)/' unit pipelines_test
mutate "epilogues of several vectors have one each" $headers/dispatch_sums.h 's/if \(mma \|\| s->vectors > 1 \|\| /if (mma || /' unit pipelines_test
mutate "tensors: scratch lies behind the copy" $tensors 's/p->scratch.offset \+= p->copy_bytes;/;/' unit tensors_test
mutate "tensors: dimension 0 of ids is 1 of values" $tensors 's/view->index_step\[0\] = 1;/view->index_step[0] = 2;/' unit tensors_test
mutate "tensors: rows of weights with a stride are refused" $tensors 's/p->weights.counts\[1\] > 1 \&\& w\[0\] != 1/0/' unit tensors_test
mutate "tensors: a step is whole elements, and not 0" $tensors 's/t->steps\[i\] == 0 \|\| t->steps/t->steps/' unit tensors_test
mutate "tensors: products that share weights count together" $tensors 's/vectors = planes.batch;/;/' unit tensors_test
mutate "tensors: tiles take whole blocks" $tensors 's/\(kernel->wide_block == 0 \|\| /(kernel != NULL \|\| /' unit tensors_test
mutate "tensors: operands that are there are not made again" $tensors 's/schedule == QK_SCHEDULE_PACK \|\|/schedule == QK_SCHEDULE_NONE ||/' unit tensors_test
mutate "tensors: pairs that are sorted are not sorted again" $tensors 's/schedule == QK_SCHEDULE_SCATTER\)/schedule == QK_SCHEDULE_NONE)/' unit tensors_test
mutate "tensors: parts of rows wait for those before" $tensors 's/packed->waits \&\& qk_constant_/0 \&\& qk_constant_/' unit tensors_test
mutate "tensors: matrices that join are whole rows apart" $tensors 's/\(next->range.offset - t->range.offset\) % unit == 0/1/' unit ggml_test
mutate "tensors: matrices that join lie behind each other" $tensors 's/qk_tensor_reach_\(t, inner\)/qk_min_(1, qk_tensor_reach_(t, inner))/' unit ggml_test
mutate "tensors: experts that join lie behind all of a set" $tensors 's/inner \+= \(t->counts\[d\] - 1\)/inner += 0/' unit ggml_test
mutate "tensors: more than eight tokens do not join" $tensors 's/p->y.counts\[2\] <= QK_GEMV_MAX_BATCH \&\& w/w/' unit ggml_test
mutate "tensors: tokens of other ids do not join" $tensors 's/qk_same_tensor_\(\&p->ids, \&next->ids\)/1/' unit ggml_test
mutate "tensors: sets of experts are all there" $tensors 's/expert_views.sets = p->weights.counts\[3\]/expert_views.sets = 1/' unit tensors_test
mutate "tensors: products of several vectors do not join" $tensors 's/x\[1\] \* x\[2\] \* x\[3\] \* w/qk_min_(1, x[1] * x[2] * x[3]) * w/' unit ggml_test
mutate "tensors: products whose x is copied do not join" $tensors 's/qk_tensor_is_loaded\(\&same\) \&\& qk_same/qk_same/' unit ggml_test
mutate "tensors: products with an epilogue do not join" $tensors 's/ \+ qk_epilogue_bits_\(next->epilogue\)//' unit tensors_test
mutate "tensors: products of other types do not join" $tensors 's/p->types == next->types \&\& //' unit tensors_test
mutate "tensors: parts of joined matrices begin where they lie" $tensors 's/parts\[n\]\.weights \+= .*;/;/' unit tensors_test
mutate "tensors: and their results" $tensors 's/parts\[n\]\.y \+= .*;/;/' unit tensors_test
mutate "tensors: results of joined matrices are apart" $tensors 's/qk_max_\(parts\[n\]\.y, other\) - qk_min_\(parts\[n\]\.y, other\) < reach/reach == 0/' unit tensors_test
mutate "tensors: rows of joined matrices are whole products" $tensors 's/return a;\n\}/X/; s/each = qk_common_rows_\(rows, next->weights.counts\[1\]\)/each = rows/' unit tensors_test
mutate "tensors: so many products are joined at most" $tensors 's/all > QK_MOST_JOINED/0/' unit tensors_test
mutate "tensors: joined matrices have the same columns" $tensors 's/p->weights.counts\[0\] == next->weights.counts\[0\]/1/' unit tensors_test
mutate "tensors: joined matrices are chosen for as one" $tensors 's/p->parts\[0\]\.products != 0 \? w\[1\] \* w\[2\] : w\[1\];/w[1];/' unit tensors_test
mutate "sums: joined matrices are shared out as one" $headers/dispatch_sums.h 's/joined \? s->count \* s->products : s->count/s->count/' unit tensors_test
mutate "epilogue: an argument may lie between results in parts" $headers/dispatch_epilogue.h 's/r->parts != NULL \? qk_check_parts_overlap_\(call, to, r, error\) : //' unit tensors_test
mutate "epilogue: but not in them" $headers/dispatch_epilogue.h 's/status = qk_check_overlap_\(call, error\);/(void)qk_check_overlap_(call, error);/' unit tensors_test
mutate "views: parts have no epilogue but adds" $headers/dispatch_epilogue.h 's/r->parts != NULL && \(qk/0 \&\& (qk/' unit views_dispatch_test
mutate "views: results of parts are apart" $headers/dispatch_views.h 's/if \(apart < reach\)/if (0)/' unit views_dispatch_test
mutate "views: parts end where one has no products" $headers/dispatch_views.h 's/QK_MOST_PARTS \&\& parts\[i\]\.products != 0;/QK_MOST_PARTS;/' unit views_dispatch_test
mutate "views: parts are of whole blocks" $headers/dispatch_views.h 's/if \(p->gated != 0 \|\| kernel->view != QK_VIEW_BLOCKS\)/if (0)/' unit views_dispatch_test
mutate "views: parts have all products" $headers/dispatch_views.h 's/if \(products == p->counts\[0\] && /if (/' unit views_dispatch_test
mutate "views: a part begins where it says" $headers/dispatch_views.h 's/parts\[i\]\.weights - qk_weights_of_\(p, number\)/parts[i].weights/' unit views_dispatch_test
mutate "views: results of the first part, too" $headers/dispatch_sums.h 's/at\.y = skip - y_one \+ p->y_first/at.y = skip - y_one/' unit views_dispatch_test
mutate "views: weights of the first part, too" $headers/dispatch_sums.h 's/at = \{p->weights_first, 0, 0\}/at = {0, 0, 0}/' unit views_dispatch_test
mutate "views: parts reach as far as they lie" $headers/dispatch_views.h 's/qk_max_\(p->weights_extent, qk_sum_\(parts\[i\]\.weights, weights\)\)/weights/' unit views_dispatch_test
mutate "launcher: parts of a product are known apart" $headers/launcher.hpp 's/product\.add\(part\.(weights|y)\);/product.add(0);/' unit ggml_test
mutate "ggml: all products of the same x behind one are its" $glue 's/graph->nodes\[at \+ count \+ 1\]/graph->nodes[at + 1]/' unit ggml_test
mutate "tensors: all products of a dimension have the same x" $tensors 's/vectors.counts\[2 \+ d\] < p->x.counts\[2 \+ d\] \? QK_SAME_X : //' unit tensors_test
mutate "views: behind the same x lies the next" $headers/dispatch_views.h 's/count > 1 \&\& stride != 0 \?/count > 1 ?/' unit views_dispatch_test
mutate "views: a dimension in which all have the same x" $headers/dispatch_views.h 's/v->x_strides\[d\] == QK_SAME_X \? 0 : //' unit views_dispatch_test
mutate "tensors: vectors begin in runs of four" $tensors 's/bits % \(4 \* \(uint64_t\)x->bytes\) == 0/1/' unit tensors_test
mutate "launcher: pipelines have constants of their own" $headers/launcher.hpp 's/pipelines.find\(key\)/pipelines.lower_bound(pipeline_key(code->data, std::vector<uint32_t>()))/' \
  unit ggml_test
mutate "launcher: products of other tensors are planned anew" $headers/launcher.hpp 's/tensors\[\] = \{&p.weights, /tensors[] = {/' unit ggml_test
mutate "launcher: what an epilogue reads is part of a launch" $headers/launcher.hpp 's/p.epilogue->field != nullptr \? \*p.epilogue->field/false ? *p.epilogue->field/' unit ggml_test
mutate "launcher: products are known apart where others share x" $headers/launcher.hpp 's/product.add\(\(uint64_t\)p.shares\);//' unit ggml_test
mutate "launcher: products are known in their scratch alone" $headers/launcher.hpp 's/a.offset == b.offset \&\& //' unit ggml_test
mutate "launcher: memory that is another holds no operands" $headers/launcher.hpp 's/same\(memory, before\)/(same(memory, before) || true)/' unit ggml_test
mutate "launcher: a tensor ends with its last row" $headers/launcher.hpp 's/t.range.size \+= \(t.counts\[d\] - 1\)/t.range.size += t.counts[d]/' unit ggml_test
mutate "launcher: operands are taken by the kernel that made them" $headers/launcher.hpp 's/packed = uses \&\& p.kernel == r.kernel;/packed = uses;/' unit ggml_test
mutate "launcher: launches that are repeated wait as they did" $headers/launcher.hpp 's/if \(s.waits\)/if (false)/' unit ggml_test
mutate "launcher: repeated products do not write what others read" $headers/launcher.hpp '0,/if \(uses \&\& !packed\)/s//if (false)/' unit ggml_test
mutate "launcher: many tokens of experts are tiles" $headers/launcher.hpp 's/p\.y\.counts\[2\] > most/p.y.counts[2] > 1000u/' unit ggml_test
mutate "launcher: but for who asks, where no tiles take them" $headers/launcher.hpp 's/\|\| !tiles_alone \|\|/||/' unit ggml_test
mutate "ggml: nobody asks by default" $glue 's/!routing.names_operations\(\)/false/' unit ggml_test
mutate "launcher: pipelines of a list have its constants" $headers/launcher.hpp 's/list.items\[i\].constants/nullptr/' unit ggml_test
mutate "launcher: a call without a status word has another" $headers/launcher.hpp 's/return engine.range_of\(spare\);/return qk_range();/' unit ggml_test
mutate "launcher: shapes of matrices are asked for by their type" $headers/launcher.hpp 's/shape.type = QK_MATRIX_OFFER_TYPE;/shape.type = 0;/' unit ggml_test
mutate "launcher: matrices are asked for in memory apart" $headers/launcher.hpp 's/engine.range_of\(from\), engine.range_of\(to\)/engine.range_of(to), engine.range_of(to)/' unit ggml_test
mutate "routing: operations are those that somebody names" $headers/routing.hpp 's/if \(asked == "1"\)/if (asked != "0")/' unit ggml_test
mutate "routing: names may be in small letters" $headers/routing.hpp 's/std::toupper\(c\)/c/' unit ggml_test
mutate "routing: kernels are exact enough" $headers/routing.hpp 's/numeric <= most/numeric <= 100/' unit ggml_test
mutate "launcher: a pipeline is made once" $headers/launcher.hpp 's/if \(found == pipelines.end\(\)\)/pipelines.erase(key);/' unit ggml_test
mutate "a device that loses subnormal halves has no matrices" $headers/matrix_order.h 's/!= \(float\)shape\[2\] \/ 16777216.0f/< 0.0f/' unit matrix_order_test
mutate "all threads hold matrices alike" $headers/matrix_order.h 's/thread < 32; thread\+\+\)$/thread < 1; thread++)/' unit matrix_order_test
mutate "matrix units: x beyond a row is zero" templates/gemv_mma.comp 's/wide_x\[k\]\[p\] = uvec2\(0u\)/;/' unit mma_test
mutate "matrix units: the last row is not loaded 16 bytes at a time" templates/gemv_mma.comp 's/walk_rows\(end, rows\);/if (end == 0u) walk_rows(end, rows);/' unit mma_test
mutate "matrix units: rows that are not whole wide tiles" gen/text/sums.c 's/if \(layout->joined\) (return qg_format\(arena, "%srow_tiles)/if (false) \1/' unit mma_test
mutate "matrix units: what a thread keeps of x is its own" templates/gemv_mma.comp 's/\* 8u \+ g, min/* 8u, min/' unit mma_test
mutate "matrix units: each group has x of its own" templates/gemv_mma.comp 's/load_wide_x\(k \/ KEPT \* 8u/load_wide_x(0u/' unit mma_test
mutate "matrix units: each group has results of its own" templates/gemv_mma.comp 's/m = i \/ 128u % GROUPS \* 8u/m = 0u/' unit mma_test
mutate "matrix units: subgroups that share rows add up" templates/gemv_mma.comp 's/s < split; \+\+s\) total/s < 1u; ++s) total/' unit mma_test
mutate "matrix units: the power of two of a row is made up for" templates/gemv_mma.comp 's/vec4\(low_unit, low_unit, high_unit/vec4(low_unit, low_unit, low_unit/' unit mma_test
mutate "matrix units: halves do not overflow" gen/text/fragments.c 's/factor \* o->scales\[i\].most\)/factor)/' unit mma_test
mutate "matrix units: what is added has its bias" gen/ir/operands.c 's/if \(bias != 0\) offset/if (false) offset/' unit mma_test
mutate "matrix units: a word has both its elements" gen/ir/operands.c 's/word->element\[half\] = element/word->element[0] = element/' unit mma_test
gemm_id=runtime/include/qkgen/dispatch_gemm_id.h
mutate "experts times many: those that are not there have zeros" templates/gemm_tiles.comp 's/(i % count), 0\.0, /\1, 1.0, /' script gemm_id vulkan files
mutate "experts times many: they are counted" templates/gemm_offsets.comp 's/atomicAdd\(out_of_range, missed\)/missed/' script gemm_id vulkan files
mutate "experts times many: x of a slot" templates/gemm_tiles.comp 's/x_slots == 1u \? pair \/ slots : pair/pair \/ slots/' script gemm_id vulkan files
mutate "experts times many: few pairs seldom have a second tile" $headers/dispatch_gemm.h 's/return full >= 64 \? /return 1 ? /' unit gemm_id_dispatch_test
mutate "experts times many: pairs of an expert, not of all" templates/gemm_offsets.comp 's/COLS\[size\], beyond\)/COLS[size], all_pairs())/' script gemm_id vulkan
mutate "experts times many: pairs that larger tiles leave" templates/gemm_offsets.comp 's/size == FULL \? (number - tiles_of\[expert\]\[size\]) : .*;/\1;/' script gemm_id vulkan
mutate "experts times many: pairs of a larger tile" templates/gemm_offsets.comp 's/begin \+ COLS\[size\], /begin + TILE_COLS, /' script gemm_id vulkan
mutate "experts times many: what larger tiles leave has one that takes it" templates/gemm_offsets.comp 's/while \(COLS\[size\] < left\) --size;/;/' script gemm_id vulkan
mutate "experts times many: the smallest tiles lie behind the others" templates/gemm_tiles.comp 's/size < SIZE; \+\+size/size < min(SIZE, 1u); ++size/' script gemm_id vulkan
mutate "experts times many: middle tiles lie behind the largest" templates/gemm_tiles.comp 's/\(uint size = 0u; size < SIZE;/(uint size = SIZE % 2u; size < SIZE;/' script gemm_id vulkan
mutate "experts times many: larger tiles are another launch's" templates/gemm_tiles.comp 's/TILE_COLS == LARGE_COLS \? 1u : 2u/2u/' script gemm_id vulkan
mutate "experts times many: the largest tiles are a third launch's" templates/gemm_tiles.comp 's/TILE_COLS == LARGEST_COLS \? 0u : //' script gemm_id vulkan
mutate "experts times many: each column has its pair's scale" templates/gemm_tiles.comp 's/scale_of_pair\(pair_of\[c\], tile_expert\)/scale_of_pair(pair_of[0], tile_expert)/' script gemm_id vulkan
mutate "experts times many: scales take the place of numbers of x" templates/gemm_tiles.comp 's/\(EPILOGUE & SCALES\) != 0u && c < TILE_COLS/false/' script gemm_id vulkan
mutate "experts times many: a tile's rows are those of its expert" templates/gemm_tiles.comp 's/tile_expert = expert;/tile_expert = 0u;/' script gemm_id vulkan
mutate "experts times many: workgroups for each of the largest" $gemm_id 's/: last \+ \(pairs - .*;/: last;/' unit gemm_id_dispatch_test
mutate "experts times many: no more for what these leave than experts" $gemm_id 's/i < size \? qk_max_/i > size ? qk_max_/' unit gemm_id_dispatch_test
mutate "experts times many: no more than have enough pairs" $gemm_id 's/pairs \/ least\);/pairs);/' unit gemm_id_dispatch_test
mutate "experts times many: three sizes where tokens can fill them" $gemm_id 's/tokens \/ QK_LARGEST_FILLED/tokens/' unit gemm_id_dispatch_test
mutate "experts times many: the largest are much larger" $gemm_id 's/QK_LARGEST_TIMES \* (\(uint64_t\)large)/\1/' unit gemm_id_dispatch_test
mutate "experts times many: the largest are for long rows" $gemm_id 's/cols >= QK_LARGEST_ROW_COLS/cols >= 1/' unit gemm_id_dispatch_test
mutate "experts times many: the largest are not too large" $gemm_id 's/qk_min_\(most, QK_LARGEST_MOST_COLS\)/qk_min_(most, QK_TILE_MOST_COLS)/' unit gemm_id_dispatch_test
mutate "experts times many: a third size that is no larger is none" $gemm_id 's/if \(largest\.cols > large\.cols\)/if (largest.cols != 0)/' unit gemm_id_dispatch_test
mutate "experts times many: all know the sizes" $gemm_id 's/(\{QK_CONSTANT_LARGE)ST(_COLS, QK_CONSTANT_LARGE)_/\1\2ST_/' unit gemm_id_dispatch_test
mutate "experts times many: two sizes from so many pairs on" $gemm_id 's/mean < QK_TWO_SIZES_PAIRS/mean <= QK_TWO_SIZES_PAIRS/' unit gemm_id_dispatch_test
mutate "experts times many: one size where rows are cut" $gemm_id 's/qk_smallest_tiles_\(g\)->parts > 1 \|\| //' unit gemm_id_dispatch_test
mutate "experts times many: smaller tiles are not nearly as large" $gemm_id 's/2 \* \(uint64_t\)large\.cols \/ 3/(uint64_t)large.cols/' unit gemm_id_dispatch_test
mutate "experts times many: barriers between sorting" $gemm_id 's/status = outer->barrier\(outer->context, error\);/(void)outer;/' unit gemm_id_dispatch_test
mutate "experts times many: no more than are sorted" $gemm_id 's/g->shape.experts > QK_GEMM_ID_EXPERTS\)/0)/' unit gemm_id_dispatch_test
mutate "experts times many: scratch has room for what is sorted" $gemm_id 's/sums \+ 4 \* qk_sorted_words_\(g\)/sums/' unit gemm_id_dispatch_test
mutate "x_slots is 1 or slots" runtime/include/qkgen/dispatch_check.h 's/x_slots != 1 \&\& x_slots != slots/0/' unit dispatch_sums_test
mutate "experts: sums of short rows are of their own lanes" templates/gemv_id_wide.comp 's/sum_of_lanes\(sum, width\)/sum_of_lanes(sum, gl_SubgroupSize)/' script experts vulkan
mutate "experts, x of a slot, Vulkan" templates/gemv_id_wide.comp 's/x_slots == 1u \? pair \/ slots : pair/pair \/ slots/' unit gemv_test
gemm=runtime/include/qkgen/dispatch_gemm.h
mutate "matrix units of few lanes: 32 threads decode together" $gemm 's/qk_tile_threads_\(t\) \/ t->slices % 32 == 0/1/' unit gemm_dispatch_test
mutate "slices: threads of all of them" $gemm 's/\* t->lanes \* t->slices;/* t->lanes;/' unit gemm_dispatch_test
mutate "slices: memory of all of them" $gemm 's/return t->slices \* \(qk_tile_operand_bytes_/return 1 * (qk_tile_operand_bytes_/' unit gemm_dispatch_test
mutate "slices: those of a tuning without tiles" $gemm 's/t.slices = slices != 0 \? slices : \(slices_\);/t.slices = (slices_); /' unit gemm_dispatch_test
mutate "together: memory of what is loaded" $gemm 's/ \+ qk_tile_threads_\(t\) \* t->held//' unit gemm_dispatch_test
mutate "the choice of a class: bytes that teams share are the first" $pick 's/^( +)rank = 0;/\1rank += 0;/' unit choose_test
mutate "the choice of a class: no teams of small subgroups" $choose 's/ limits->subgroup_size >= 32 && qk_busy/ qk_busy/' unit choose_test
mutate "the choice of a class: a grid is no table of pairs" $pick 's/\? 3 : 1/? 1 : 1/' unit choose_test
mutate "together: where choice.def says so" $gemm 's/together != 0 \|\| \(together_\) == 1/1/' unit gemm_dispatch_test
mutate "together: where words are few" $gemm 's/span <= QK_TILE_FEW_WORDS/1/' unit gemm_dispatch_test
mutate "together: where tiles are few" $gemm 's/ <= few && / <= few + 9 \&\& /' unit gemm_dispatch_test
mutate "together: where there is one tile of few columns" $gemm 's/QK_TILE_FEW : 1,/QK_TILE_FEW : QK_TILE_FEW,/' unit gemm_dispatch_test
mutate "together: where there is memory for it" $gemm 's/qk_tiles_fit_\(kernel, limits, &held\)/qk_tiles_fit_(kernel, limits, t)/' unit gemm_dispatch_test
mutate "slices: a short row has whole steps" $gemm 's/whole = qk_ceil_\(cols, steps\) \* steps/whole = cols + 0 * steps/' unit gemm_dispatch_test
mutate "together: the constant says it" $gemm 's/constants\[i\] = t->held != 0;/constants[i] = 0;/' unit gemm_dispatch_test
mutate "matrix units of other shapes: sums fit into registers" $gemm 's/t->own_rows \* t->own_cols <= sums \* t->lanes/1/' unit gemm_dispatch_test
mutate "matrix units of other shapes: memory of results is counted" $gemm 's/ \+ qk_tile_subgroups_\(t\) \* t->result \* 4//' unit gemm_dispatch_test
mutate "matrix units of other shapes: the device's is taken" $limits 's/return limits->matrix_depth != 0 \? limits->matrix_depth : 16/return 16/' unit gemm_dispatch_test
mutate "a processor: teams share several vectors" $choose 's/return s->kept > 1 \&\& !integers \&\&/return 0 \&\& !integers \&\&/' unit dispatch_sums_test
mutate "a processor: of integers not" $choose 's/s->kept > 1 \&\& !integers \&\&/s->kept > 1 \&\&/' unit dispatch_sums_test
mutate "a processor: lanes of teams have tiles" $choose 's/2 \* qk_team_fours_\(kernel, limits\) >=/UINT32_MAX >=/' unit dispatch_sums_test
mutate "a processor: few rows have small workgroups" $share \
  's/s->threads > QK_SMALL_SUBGROUP_THREADS \?/s->threads > QK_SMALL_TEAM_THREADS ?/' unit dispatch_sums_test
mutate "a processor: teams have eight lanes" $share 's/4 \* QK_SMALL_TEAM_ROWS \/ qk_lanes_\(limits\)/4/' unit dispatch_sums_test
mutate "subgroups of 64 lanes take few rows" $facts 's/return limits->subgroup_size == QK_LARGE_SUBGROUP/return 0/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: of rows ahead one" $share 's/digits == 0 \|\| s->ahead \|\|/digits == 0 ||/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: small workgroups" $share 's/s->threads > QK_LARGE_SUBGROUP_THREADS/0/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: which hold all of x" $share 's/s->threads \/ 2 \* QK_KEPT_VALUES >= cols/1/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: little of x on its way" $share \
  's/QK_LARGE_SUBGROUP_STAGED \* s->threads :/UINT32_MAX :/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: little of x shared" $facts 's/left > most \? most : left/left > most ? left : left/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: turns" $choose 's/c->id == QK_CONSTANT_TURNS \&\& \(/c->id == QK_CONSTANT_NONE \&\& (/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: turns of one right-hand side, or teams" $choose 's/\(s\.kept == 1 \|\| s\.teams\) \&\& qk_has/qk_has/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: turns of teams" $choose 's/\(s\.kept == 1 \|\| s\.teams\)/s.kept == 1/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: large workgroups of teams" $share 's/\? QK_LARGE_SUBGROUP_TEAMS : QK/? QK_TEAM_THREADS : QK/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: of floats, or with turns" $share 's/\(floats \|\| turns\)/(floats || turns || 1)/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: of integers with turns" $share 's/\(floats \|\| turns\)/(floats || (turns \&\& 0))/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: teams share little" $share 's/left >= QK_LARGE_SUBGROUP_TEAM_FOURS \* QK_EACH_FOUR_/left == 1/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: what there is room for" $share 's/left >= QK_LARGE_SUBGROUP_TEAM_FOURS \* QK_EACH_FOUR_/left != 1/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: but a tile for each lane" $share 's/kernel->teams_tile \* s->kept \* tiles <=/0 * kernel->teams_tile * s->kept * tiles <=/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: no others share as little" $share 's/constant->legal\[i\] != QK_LARGE_SUBGROUP_TEAM_FOURS/1/' unit dispatch_sums_test
mutate "turns: also where pairs are looked up" gen/build/turns.c 's/ \|\| kernel->wide->pairs;/;/' script registers vulkan
mutate "turns: chains are cut" gen/text/print.c 's/qg_begins_turn\(ir, node\) \?/0 ?/' script tune vulkan
mutate "turns: each piece of a chain is added" gen/ir/turns.c 's/if \(begins \|\| first\)/if (first)/' script tune vulkan
mutate "turns: sums of x are taken where they are wanted" gen/ir/turns.c 's/\|= 1u << part\.turn/|= 1u/' script tune vulkan
mutate "turns: each has terms of its own" gen/text/sums.c 's/"xyzw"\[turn\]/"xxxx"[turn]/' script tune vulkan
mutate "turns of integers: parts of a sum" gen/ir/turns.c 's/if \(turns == 1u << turn\) return node;/if (turns) return node;/' unit turns_test
mutate "turns of integers: what cannot be taken apart" gen/ir/turns.c 's/\*whole = false;/(void)whole;/' unit turns_test
mutate "turns of integers: each has as many words" gen/ir/turns.c 's/if \(turns\[i\] != 1u/if (false \&\& turns[i] != 1u/' unit turns_test
mutate "turns of integers: each makes its own words of x" templates/share_slice.glsl 's/turn_of\(4u \* f \+ w\) == turn/turn_of(4u * f + w) == 0u/' script tune vulkan
mutate "turns of integers: vectors that are there" templates/gemv_teams.comp 's/m > 0u \&\& m >= batch/m > 0u/' script tune vulkan
mutate "turns of integers: sums of steps stay apart" gen/text/sums.c 's/in_turns \? " \&\& TURNS == 1u" : ""/""/' script tune vulkan
mutate "norms that are off have no array of their own" templates/sums_shared.glsl 's/^shared float partial.SQUARES/shared float squares[4]; &/' script registers vulkan
mutate "turns of integers: and steps" gen/text/digits.c 's/1u \&\& TURNS == 1u"/1u"/' script registers vulkan
mutate "turns of integers: each loads for itself, with many scales" gen/build/turns.c 's/kernel->apart = /kernel->apart = false \&\& /' script registers vulkan
mutate "turns of integers: the same where x is packed" runtime/include/qkgen/dispatch_packed.h 's/qk_has_large_subgroups_\(limits\) \? QK_LARGE_SUBGROUP_TURNS : 1/qk_has_large_subgroups_(limits) ? launch->constants[0] : launch->constants[0]/' unit dispatch_sums_test
mutate "subgroups of 64 lanes: no floats ahead" $share 's/int holds = !qk_has_large_subgroups_\(limits\) \|\| .*;/int holds = 1;/' unit dispatch_sums_test
mutate "matrix units: operands of x are made in a loop" gen/text/fragments.c 's/runs_apart\(o, plan, x->at_once\) : 0/0 * runs_apart(o, plan, x->at_once) : 0/' script registers vulkan
mutate "matrix units: factors are neighbours" gen/build/lower.c 's/l\.ir->gathers = true;/l.ir->gathers = false;/' script registers vulkan
mutate "matrix units: what crowds registers is loaded again" gen/build/family.c 's/\+ 2 \* of_row/+ 0 * of_row/' script registers vulkan
mutate "matrix units: scales of a part are made there" gen/text/fragments.c \
  's/part = i \/ \(2 \* o->part\);/part = QG_ALL_PARTS;/' script registers vulkan
mutate "x in integers: bounds of loops are numbers" gen/text/digits.c \
  's/(for \(uint r = )(0u; r < %uu; \+\+r\)", deep)/\10u * s + \2/' script registers vulkan
mutate "begin: sums that another scale has stay as they are" gen/ir/dot.c \
  's/\(!(p->ir->masked \&\& is_summed_twice)/(\1/' script registers vulkan
mutate "begin: of masked codes in words, too" gen/ir/dot.c 's/return p->ir->masked \|\| \(.*/return p->ir->masked;/' unit cost_test
mutate "begin: x summed up has its coefficient" gen/text/sums.c \
  '/^static void add_floats_of_x/,/^}/s/ir->x_sum_factors\[i\]/1/' unit gemv_test
# These run where there is a Mesa 26 alone (cmake/mesa.sh); QKGEN_MESA names its folder.
if [ -e "${QKGEN_MESA:=$source_tree/build/mesa}/complete" ]; then
  export QKGEN_MESA MMA_TEST=$PWD/build/tests/mma_test
  [ "$pattern" = --apply ] || build mma_test >"$folder/logs/mma_test" 2>&1
  mutate "8x8x8: subgroups of a team wait for each other" templates/mma_units.glsl 's/if \(SPLIT_TEAMS\) barrier\(\); else/if (SPLIT_TEAMS) ; else/' script units vulkan
  mutate "matrix units: atomic operations have their scope" runtime/vulkan_device.c 's/(DeviceScope) = VK_TRUE/\1 = VK_FALSE/' script units vulkan
  mutate "8x8x8: each half of the rows" templates/mma_units.glsl 's/left_at \+ 32u, c.high/left_at, c.high/' script units vulkan
  mutate "8x8x8: each group has x of its own" templates/mma_units.glsl 's/wide_x\[v \* KEPT \+ k\]\[first \+ p\], c\[v\]/wide_x[k][first + p], c[v]/' script units vulkan
  mutate "operands: pairs of a table are as large as its values" gen/ir/halves.c 's/out->most = \(float\)\(codes.*/out->most = 1;/' script units vulkan
  mutate "8x8x8: all of the depth" templates/mma_units.glsl 's/k < 16u \/ UNIT_DEPTH/k < 1u/' script units vulkan
  mutate "8x8x8 tiles: rows that grow are scaled" templates/gemm_units.glsl 's/(sums_shared\[sums_at\(slice\) \+ e\]) \*= /\1 *= 1.0; float unused = /' script units vulkan
  mutate "8x8x8 tiles: a slice that has four tiles less waits" templates/gemm_tiles.comp 's/return K_SLICES == 1u \|\| four < end_four;/return true;/' script units vulkan
  mutate "8x8x8 tiles: slices have powers of two of their own" templates/gemm_tiles.comp 's/\* row_factor\[s \* TILE_ROWS \+ row\]/* row_factor[row]/' script units vulkan
  mutate "8x8x8 tiles: all slices scale their rows, or none" templates/gemm_tiles.comp 's/\(K_SLICES > 1u \|\| four \+ 1u < end_four\)/four + 1u < end_four/' script units vulkan
  mutate "8x8x8 tiles, together: each takes its own tile" templates/gemm_tiles.comp 's/take\(at, tile_of\(four\) - four \* 4u,/take(at, t ^ 1u,/' script units vulkan
  mutate "8x8x8 tiles, together: each takes its own row" templates/gemm_tiles.comp 's/\(slice \* TEAMS \+ team\) \* 8u \+ g\) \* STRIDE/(slice * TEAMS + team) * 8u) * STRIDE/' script units vulkan
  mutate "8x8x8 tiles, together: what is left of a row" templates/gemm_tiles.comp 's/STRIDE \+ RUNS \* 16u \+ lane % LEFT;/STRIDE + RUNS * 16u;/' script units vulkan
  mutate "8x8x8 tiles: columns 8 and on" templates/gemm_units.glsl 's/x_columns\[word \+ 32u\] = words.zw/x_columns[word + 32u] = words.xy/' script units vulkan
fi
tiles=templates/gemm_tiles.metal
mutate "tiles: fewer sums beside many loads" runtime/include/qkgen/dispatch_gemm.h 's/wide_loads >= QK_TILE_MANY_LOADS/wide_loads > 4096/' unit gemm_dispatch_test
mutate "tiles, MSL: lanes are found, and not known" $tiles 's/return uint\(numbers.*;/return ((shared.lane \/ 4 \& 4) + shared.lane \/ 2 % 4) * 8 + (shared.lane \/ 4 \& 2) * 2 + shared.lane % 2 * 2;/' \
  unit metal_tiles_test
mutate "tiles, MSL: x beyond a row is zero" $tiles 's/to\[w \* stride\] = half2\(0.0h\)/;/' unit metal_tiles_test
mutate "tiles, MSL: the power of two of a row is made up for" $tiles 's/\) \* row_unit;/);/' unit metal_tiles_test
mutate "tiles, MSL: weights are there before they are multiplied" $tiles 's/^            threadgroup_barrier\(.*//' unit metal_tiles_test
mutate "tiles, MSL: parts of rows are added" templates/gemm_dense.metal 's/part < k_parts; \+\+part\) sum/part < 1; ++part) sum/' unit metal_tiles_test
mutate "tiles, MSL: operands of each product" templates/gemm_dense.metal 's/scratch \+ matrix \* end_of_operands\(shape\);/scratch + 0 * end_of_operands(shape);/' \
  unit metal_tiles_test
mutate "tiles, MSL: pairs of an expert, not of all" templates/gemm_experts.metal 's/min\(begin \+ cols, .*\);/min(begin + cols, s.all);/' unit metal_tiles_test
mutate "tiles, MSL: ids that are none are counted" templates/gemm_experts.metal 's/atomic_fetch_add_explicit\(status, missed/atomic_fetch_add_explicit(status, 0u/' \
  unit metal_tiles_test
mutate "tiles, MSL: an expert that is not there has no bias" templates/gemm_experts.metal 's/to.epilogue \&= .*;/;/' unit metal_tiles_test
units=templates/gemv_mma_rows.metal
mutate "matrix units, MSL: lanes are found, and not known" $units \
  's/uint\(numbers\.thread_elements\(\)\[0\]\)/((at.lane \/ 4 \& 4) + at.lane \/ 2 % 4) * 8 + (at.lane \/ 4 \& 2) * 2 + at.lane % 2 * 2/' unit mma_test
mutate "matrix units, MSL: x goes to the lanes that multiply it" $units 's/half2\(first\.y, second\.y\)/half2(first.x, second.x)/' \
  script gemv msl "blocks q4_0 19 98 3 f32"
mutate "matrix units, MSL: x beyond a row is zero" $units 's/wide_x\[k\]\[w\] = half2\(0\.0h\)/;/' script gemv msl "blocks q4_0 19 98 3 f32"
mutate "matrix units, MSL: simdgroups that share rows add up" $units 's/s < split; \+\+s\) total/s < 1; ++s) total/' \
  script gemv msl "blocks q4_0 19 98 3 f32"
mutate "matrix units, MSL: the last row is not loaded 16 bytes at a time" gen/text/sums.c 's/"%srows - 1u" : "%srows"/"%srows" : "%srows"/' \
  script gemv msl "blocks q4_0 19 98 3 f32"
mutate "floats of few bits: the sign" gen/ir/halves.c 's/QG_AND, sign, qg_uint\(ir, 0x80008000\)/QG_AND, sign, qg_uint(ir, 0)/' script gemv vulkan "blocks mxfp4 19 3 1 f32"
mutate "integers have a step for 32 elements" gen/ir/dot_bytes.c 's/return one->run \/ STEP_RUNS/return 0 * one->run/' unit dot_bytes_test
mutate "chains of products end" gen/ir/dot.c 's/links\+\+ == CHAIN/links++ > 99/' unit rules_test
mutate "N ragged, experts: no row is written beyond the last" templates/gemv_id_wide.comp 's/ROWS \|\| n >= rows/ROWS/' unit gemv_test
mutate "experts: a result is written once" templates/gemv_id_wide.comp 's/gl_SubgroupID % joint > 0u \|\| //' unit gemv_test
mutate "experts: x is the token's" templates/gemv_id_wide.comp 's/first_vector == held_vector/true/' unit gemv_test
mutate "experts: staged x is the token's" templates/stage_x.glsl 's/runs = x_from\(vector,/runs = x_from(0u,/' unit gemv_test
mutate "experts: every part is some workgroup's" templates/gemv_id_wide.comp 's/ \+ uint\(gl_WorkGroupID.x < more\)//' unit gemv_test
mutate "a tuning keeps to the memory that workgroups share" $tune 's/most != 0 \&\& bytes > most/0/' unit tuning_test
mutate "M ragged, MSL: no vector is written beyond the last" templates/rows_sums.metal 's/ \&\& m < shape.batch\) finish/) finish/' \
  script gemv msl "blocks q4_0 5 3 3 f32"
mutate "M ragged, MSL: no vector is read beyond the last" gen/text/sums.c 's/min\(vector%s, %s - 1%s\)/max(vector%s, (%s - 1%s) * 0)/' \
  script gemv msl "blocks q4_0 5 3 3 f32"
mutate "K ragged: values beyond a row are left out" gen/text/cut.c 's/to = min\(row_cols - place, %u%s\)/to = max(row_cols * 0, %u%s)/' \
  script gemv vulkan "checkpoint fp8_tensor 19x17 8 f16 weight weight_scale"
mutate "K ragged, MSL: no x is read beyond the last" gen/text/cut.c 's/to = min\(row_cols - place, %u%s\)/to = max(row_cols * 0, %u%s)/' \
  script gemv msl "checkpoint fp8_tensor 19x17 8 f16 weight weight_scale"
mutate "K ragged, MSL: no weight is read beyond the last" gen/build/place.c 's/(return p->layout->ragged) (\&\& p->units > 1)/\1 \&\& false \2/' \
  script gemv msl "checkpoint fp8_tensor 19x17 8 f16 weight weight_scale"
mutate "K ragged: a row begins within a tile" gen/text/cut.c 's/max\(first, start\) - start/0 * max(first, start)/' \
  script gemv "c vulkan" "checkpoint nf4_b64 37x300 2 f16 weight absmax"
mutate "K ragged, MSL: the last block is cut off" gen/build/place.c 's/(return p->layout->ragged) (\&\& p->units > 1)/\1 \&\& false \2/' \
  script checkpoints msl "one nf4_b64 37x300 no weight absmax"

# ---- beyond 4 GiB and 2^32 elements ----
mutate "offsets of 64 bits" $launch 's/(range.offset = .*)first \* argument->unit/\1(uint32_t)(first * argument->unit)/' unit dispatch_sums_test
mutate "bindings of a launch are below 4 GiB" $launch 's/qk_min_\(call->backend->limits.storage_range, UINT32_MAX\)/call->backend->limits.storage_range/' \
  unit dispatch_sums_test
mutate "tiles of a launch are below 2^32" $sums 's/most_tiles \/ g->row_tiles/most_tiles/' unit dispatch_sums_test
mutate "tiles of the experts of a launch are below 2^32" $headers/dispatch_gemv_id.h 's/most = most_rows \/ qk_max_\(p->weights, g->rows\);/most = UINT64_MAX;/' unit dispatch_sums_test
mutate "products that overflow are errors" $check 's/if \(b != 0 \&\& a > UINT64_MAX \/ b\)/if (0)/' unit dispatch_sums_test
mutate "elements of a matrix are below 2^32" $check 's/if \(rows > UINT32_MAX \/ cols\)/if (0)/' unit dispatch_sums_test
mutate "elements of a gather are below 2^32" $decode 's/UINT32_MAX \/ cols; \/\* rows/UINT64_MAX; \/* rows/' unit dispatch_test
mutate "all launches together cover the rows" $sums 's/(\? qk_part_\(\&call->arguments\[i\], )s->first/\10/' unit gemv_test

# ---- what a stub checks ----
mutate "sizes of buffers" $check 's/if \(range.size < a->need\)/if (0)/' unit dispatch_sums_test
mutate "K is a multiple of the block" $check 's/value != 0 \&\& value % kernel->block_elements == 0/value != 0/' unit dispatch_sums_test
mutate "rows and columns are multiples of the block" $check 's/by_rows \|\| cols % kernel->block_cols != 0/0 \&\& by_rows/' unit dispatch_sums_test
mutate "offsets are aligned" $check 's/if \(range.offset % a->alignment != 0\)/if (0)/' unit dispatch_sums_test
mutate "offsets are aligned to an element" $check 's/alignment < element \? element : alignment/alignment/' unit dispatch_sums_test
mutate "parts begin at aligned offsets" $launch 's/units - units % step/units/' unit dispatch_sums_test
mutate "nothing written overlaps" $check 's/(i == j \|\| !a->written)/1 || \1/' unit dispatch_sums_test
mutate "no buffer is NULL" $check 's/if \(range.buffer == NULL\)/if (0)/' unit dispatch_sums_test
mutate "features of the device" $check 's/if \(missing == 0\)/if (1)/' unit dispatch_sums_test
mutate "workgroups of the device" $check 's/kernel->workgroup_size == 0 \|\| kernel->workgroup_size > limits->workgroup_size/0/' \
  unit dispatch_test
mutate "push constants of the device" $check 's/if \(kernel->push_bytes > limits->push_bytes\)/if (0)/' unit dispatch_sums_test
mutate "storage range of the device" $decode 's/if \(a->need > limit\)/if (0)/' unit dispatch_sums_test
mutate "right-hand sides are counted in 32 bits" $headers/dispatch_views.h 's/if \(g->batch > UINT32_MAX\)/if (0)/' unit dispatch_sums_test
mutate "a launch takes eight right-hand sides" $sums 's/qk_min_\(g->batch - s.vector, most\)/most != 0 ? g->batch - s.vector : 0/' unit dispatch_sums_test
mutate "sixteen right-hand sides: all of x fits" $sums 's/cols <= QK_UNITS_COLS/cols != 0/' unit mma_test
mutate "sixteen right-hand sides: of few rows" $sums 's/qk_ceil_\(rows, QK_MMA_ROWS\) <= tiles/rows != 0 \&\& tiles != 0/' unit mma_test
mutate "experts: few tokens are not sorted" runtime/include/qkgen/tensors.h 's/qk_product_\(each, w\[2\]\) \/ slots/qk_product_(each, 0) \/ slots/' unit tensors_test
mutate "sixteen right-hand sides: tiles begin behind them" runtime/include/qkgen/tensors.h 's/vectors > most \&\&/vectors > (most != 0 ? QK_GEMV_MAX_BATCH : 0) \&\&/' unit tensors_test
mutate "operands: both codes of a byte at once" gen/build/family.c 's/(QG_PAIR\)\)) kernel->wide = near/\1 kernel->wide = wide/' script gemm vulkan
mutate "choose: copies of pairs beside a staged x" $share 's/few \? 1 : QK_COPIES_BESIDE_X/1/' unit dispatch_sums_test
mutate "choose: few copies of pairs for several vectors of bytes" $share 's/s->kept > 2 \&\& few/s->kept > 2/' unit dispatch_sums_test
mutate "choose: few copies of pairs for eight vectors" $share 's/ \|\| s->kept > 4 \|\| / || /' unit dispatch_sums_test
mutate "choose: short rows of experts that look pairs up" $pick 's/2 \* cols <= qk_lanes_\(limits\)/cols <= qk_lanes_(limits)/' unit choose_test
mutate "choose: floats that look up in pairs" runtime/include/qkgen/dispatch_pick.h 's/return 2;/return 1;/' unit choose_test
mutate "x of a later launch" $sums 's/(qk_part_\(\&call->arguments\[weights\]), s->vector/\1, 0/' unit dispatch_sums_test
mutate "y of a later launch" $sums 's/s->vector \* g->rows \+ s->first/s->first/' unit dispatch_sums_test
mutate "x of a later launch begins at an aligned offset" $sums 's/(alignment != 0) \&\& bytes % alignment != 0/0/' unit dispatch_sums_test
mutate "columns are walked where a matrix is whole blocks" $facts 's/matrix_rows % kernel->block_rows == 0 \&\& cols/matrix_rows != 0 \&\& cols/' unit dispatch_sums_test
mutate "as many threads share out a row as the bound counts on" $choose 's/return threads >= qk_constant_(.*) \* qk_least_parts_/return threads >= qk_constant_\1 * 0 * qk_least_parts_/' \
  unit dispatch_sums_test
mutate "sums of eight rows fit into memory" $choose 's/most = qk_min_\(limits->workgroup_size, room/most = qk_min_(limits->workgroup_size, 64 * room/' unit dispatch_sums_test
mutate "sums of several vectors take registers" $choose 's/threads = kept == 1( *)\?/threads = kept != 0\1?/' unit dispatch_sums_test
mutate "parts of a row are added" templates/gemv_columns.comp 's/apart = parts \/ 2u/apart = parts \/ 4u/' script columns ''
mutate "a weight that is NaN makes its sum NaN" gen/ir/dot.c 's/qg_uint\(ir, 0x7FC00000\), qg_uint\(ir, 0\)/qg_uint(ir, 0), qg_uint(ir, 0)/' unit rules_test
mutate "NaN is looked for in whole words" gen/ir/halves.c 's/!f->specials \|\| \(lanes/1 || (lanes/' unit rules_test
mutate "x takes factors that all rows have" gen/ir/dot.c 's/if \(!is_like\(/if (rows == 0 \&\& !is_like(/' unit rules_test
mutate "a row has one factor" gen/ir/dot.c 's/if \(factor != 0 \&\& halves\.factor\[l\] != factor\) return 0;//' unit rules_test
mutate "codes lie alike in their words" gen/ir/halves.c 's/own_shift != shift \|\| own_width/own_width/' unit rules_test
mutate "a module knows how x is stored" gen/build/constants.c 's/QG_F32 \? 0 : kernel->type == QG_F16 \? 1/QG_F32 ? 0 : kernel->type == QG_F16 ? 0/' script gemv vulkan "blocks q4_0 1 2048 4 f16"
mutate "as many subgroups share a row as have slices of x" $choose 's/slices > least \? slices : least/slices > least ? least : least/' \
  unit dispatch_sums_test
mutate "slices are of what threads keep" $choose 's/kernel->kept_elements != 0 \?/kernel->kept_elements == 1 ?/' unit dispatch_sums_test
mutate "eight rows at a time where registers hold them" gen/build/family.c 's/kernel->rows_at_once = 4;/kernel->rows_at_once = 0;/' unit wide_test
mutate "bounds are checked of several right-hand sides" $choose 's/(QK_CONSTANT_CHECKED \&\& s\.kept > )1/\12/' unit dispatch_sums_test
mutate "bounds of one right-hand side are as the descriptor says" $choose 's/(QK_CONSTANT_CHECKED) \&\& s\.kept > 1/\1/' unit dispatch_sums_test
mutate "exact does not check bounds" gen/build/constants.c 's/digits != 0 \&\& \(digits == 1/(digits <= 1/' unit wide_test
mutate "few rows are not loaded ahead" $share 's/\(\(!s->staged \&\& !s->apart\) \|\| /(1 || /' unit dispatch_sums_test
mutate "a processor does not load ahead" $share 's/(return limits->subgroup_size >= )32( \&\& !shared)/\18\2/' unit dispatch_sums_test
mutate "workgroups ahead of some rows are small" $share 's/if \(s->kept == 1 && qk_is_small_ahead_/if (0 \&\& qk_is_small_ahead_/' unit dispatch_sums_test
mutate "rows go ahead of a round that has little to do" $share 's/is_large \|\| is_idle/is_large || (is_idle \&\& 0)/' unit dispatch_sums_test
mutate "of bytes, of the second" $share 's/\(bytes \? 1 : 0\)/(bytes ? 0 : 0)/' unit dispatch_sums_test
mutate "bytes ahead for their loads are of large workgroups" $share 's/!\(bytes && /!(bytes > 1 \&\& /' unit dispatch_sums_test
mutate "rows ahead of small workgroups are short" $share 's/cols <= QK_AHEAD_COLS && *$/cols != 0 \&\&/' unit dispatch_sums_test
mutate "rows ahead of small workgroups are not many" $share 's/rows <= QK_CHOICE_MEDIUM \*/rows != QK_CHOICE_MEDIUM */' unit dispatch_sums_test
mutate "lookups do not wait for x of long rows" $facts 's/\(pairs && digits != 0\)/0/' unit dispatch_sums_test
mutate "large tiles do not wait for x of long rows" $facts 's/0\) \|\| kernel->kept_elements > QK_KEPT_VALUES/0)/' unit dispatch_sums_test
mutate "threads load their own x where a round has little to do" $facts 's/\(digits != 1 && qk_rounds_with/(0 \&\& qk_rounds_with/' unit dispatch_sums_test
mutate "of more rows than one workgroup for each processor" $facts 's/rows <= 8 \* qk_processors_\(limits\)\)/rows == 0)/' unit dispatch_sums_test
mutate "eight of few rows" $facts 's/eight && eights \*/eight > 1 \&\& eights */' unit dispatch_sums_test
mutate "eight rows of two bytes, in small workgroups" $facts 's/\(digits == 1 \|\| eights/(1 || eights/' unit dispatch_sums_test
mutate "workgroups of bytes are larger sooner" $share 's/bytes \? 7 : 8/bytes ? 8 : 8/' unit dispatch_sums_test
mutate "teams: smaller workgroups before fewer rows" $share 's/else if \(two && /else if (two > 1 \&\& /' unit dispatch_sums_test
mutate "teams: of one vector, no pairs" $choose \
  's/!qk_looks_up_pairs_\(kernel\) && limits->subgroup_size >= 32 && qk_busy/limits->subgroup_size >= 32 \&\& qk_busy/' unit dispatch_sums_test
mutate "integers once: beside units, where others share them" runtime/include/qkgen/tensors.h 's/if \(!p->shares \|\| /if (/' unit pipelines_test
mutate "integers once: beside units, of few vectors where weights are looked up" runtime/include/qkgen/tensors.h \
  's/ \|\| vectors <= QK_PACK_X_LOOKUPS/ || vectors != 0/' unit pipelines_test
mutate "as many vectors are kept as there are" $choose 's/    qk_keep_as_many_\(kernel, batch, constants\);//' unit pipelines_test
mutate "teams: memory is for as many vectors as there are" $share 's/teams_tile \* qk_min_\(vectors/teams_tile * qk_max_(vectors/' \
  unit pipelines_test
mutate "ahead: two rows of floats from memory" $share 's/floats \&\& many \&\& !qk_has/floats > 1 \&\& many \&\& !qk_has/' unit dispatch_sums_test
mutate "ahead: not of many loads" $share 's/many \&\& !qk_has_many_loads_\(kernel\) \?/many ?/' unit dispatch_sums_test
mutate "ahead: from so many weights on" $share 's/rows \* cols >= QK_AHEAD_MANY/rows * cols > QK_AHEAD_MANY/' unit dispatch_sums_test
mutate "ahead: rows of bytes that are many" $share 's/rows > QK_AHEAD_BYTES_ROWS \*/rows >= QK_AHEAD_BYTES_ROWS */' unit dispatch_sums_test
mutate "short rows of floats by two" $share 's/qk_ceil_\(rows, at_once\) < qk_busy/qk_ceil_(rows, at_once) <= qk_busy/' unit dispatch_sums_test
mutate "short rows of experts stay" $share 's/== 1 \&\& !qk_takes_experts_\(kernel\) \&\&$/== 1 \&\&/' unit dispatch_sums_test
mutate "teams: registers of four rows" $share 's/QK_TEAM_REGISTERS 100u/QK_TEAM_REGISTERS 99u/' unit dispatch_sums_test
mutate "many lanes: ahead of large tiles alone" $share 's/\(integers \&\& is_large\)/integers/' unit dispatch_sums_test
mutate "many lanes: one row of two bytes beside many loads" $share 's/\(digits == 2 \&\& qk_has_many/(digits > 2 \&\& qk_has_many/' unit dispatch_sums_test
mutate "many lanes: teams, whatever is multiplied" $choose 's/int smaller = qk_has_large_subgroups_\(limits\) \|\|/int smaller =/' unit dispatch_sums_test
mutate "many lanes: no x of several for each thread" $choose 's/>= 32 \&\& !qk_has_large_subgroups_\(limits\) \&\&$/>= 32 \&\&/' unit dispatch_sums_test
mutate "teams: of large blocks, whole words" $choose 's/ && bytes % 4 == 0 &&/ \&\&/' unit pipelines_test
mutate "teams: of large blocks, few bits" $choose 's/vectors == 3 \|\| 8 \* bytes/1 || 8 * bytes/' unit pipelines_test
mutate "teams: of large blocks, three of more bits" $choose 's/vectors == 3 \|\| 8 \* bytes/8 * bytes/' unit pipelines_test
mutate "teams: of large blocks, not of many weights" $choose 's/rows \* cols <= QK_TEAMS_MOST_WEIGHTS \*/rows * cols \/ 9 <= QK_TEAMS_MOST_WEIGHTS */' \
  unit pipelines_test
mutate "Metal has a case for each power of two of vectors" gen/build/constants.c 's/(QK_CONSTANT_BATCH) && described->api == QK_API_METAL/\1 \&\& 0/' \
  unit program_test
mutate "lists of a file: those that differ are there" gen/text/c.c 's/ && strcmp\(lists->all\[i\].items, items\) == 0//' unit program_test
mutate "lists of a file: those that are alike once" gen/text/c.c 's/strcmp\(lists->all\[i\].what, what\) == 0 &&/false \&\&/' unit program_test
mutate "rows ahead: all words of four are held" templates/gemv_ahead.comp 's/(held\[at \+ 3u\]) = four.w/\1 = four.z/' unit gemv_test
mutate "sums side by side are of a power of two" $choose 's/vectors != QK_VECTORS_FEW_ &&/vectors != 99 \&\&/' unit pipelines_test
mutate "integers once: not of large tiles" runtime/include/qkgen/tensors.h 's/\(small \|\| !bytes\)/(small || bytes)/' unit pipelines_test
mutate "integers once: of as many values as pay for a launch" runtime/include/qkgen/choice.def 's/(QK_PACK_X_VALUES) 36864/\1 49152/' unit pipelines_test
mutate "no more subgroups share a row ahead than have slices of it" $share 's/while \(!ahead \&\& s.split/while (s.split/' unit dispatch_sums_test
mutate "teams: the sum of the last block goes on" templates/gemv_teams.comp 's/part = m \* ROWS \+ r == i \? sum\[m\]\[r\] : part/part = 0.0/' unit gemv_test
mutate "long rows of floats are not loaded ahead" $share 's/is_long = integers \&\& /is_long = /' unit dispatch_sums_test
mutate "rows ahead of two vectors of two bytes are many" $facts 's/digits != 2 \|\| rows >=/digits != 9 || rows >=/' unit dispatch_sums_test
mutate "rows ahead of three vectors of floats have no registers" $facts 's/kept == 2 \&\& ahead \&\& elements/kept \&\& ahead \&\& elements/' unit dispatch_sums_test
mutate "rows ahead are whole loads" $share 's/qk_block_bytes_\(kernel\) % 16 == 0/1/' unit dispatch_sums_test
mutate "rows ahead are whole blocks" $share 's/ \|\| cols % kernel->ahead_block != 0//' unit dispatch_sums_test
mutate "rows ahead fit into the memory of a workgroup" $choose 's/qk_shared_bytes_\(kernel, constants\) <= room/room > 0/' unit dispatch_sums_test
mutate "all of x is kept where rows are loaded ahead" $choose 's/held >= cols/held >= 1/' unit dispatch_sums_test
mutate "a device without subgroups takes schedules that need none" $check 's/tile != QK_TILE_OPERANDS_ &&/tile == QK_TILE_OPERANDS_ \&\&/' unit dispatch_sums_test
mutate "and no other" $check 's|kernel->features & ~limits->features\) == 0|kernel->features \& ~limits->features \& 0) == 0|' unit dispatch_sums_test
mutate "where blocks are cut off there is none" $choose 's/\(!uneven && qk_is_whole_/(!uneven || qk_is_whole_/' unit dispatch_sums_test
mutate "what was measured does not force rows ahead" $choose 's/return id == QK_CONSTANT_SCHEDULE \|\|$/return/' unit gemv_test
mutate "slices ahead are shared out, whatever was measured" $choose 's/id == QK_CONSTANT_SPLIT \|\| id == QK_CONSTANT_STAGED/id == QK_CONSTANT_STAGED/' unit gemv_test
mutate "x ahead is staged by nobody, whatever was measured" $choose 's/id == QK_CONSTANT_SPLIT \|\| id == QK_CONSTANT_STAGED/id == QK_CONSTANT_SPLIT/' unit gemv_test
mutate "nor where a descriptor says so" $choose 's/^( +)constants\[i\] = 1;$/\1constants[i] += 0;/' unit gemv_test
mutate "x for experts of many tokens" $share 's/\(!many \|\|/(1 ||/' unit dispatch_sums_test
mutate "x for experts of many tokens, as floats" $share 's/digits && !tables && qk_takes/!tables \&\& qk_takes/' unit dispatch_sums_test
mutate "x for experts beside copies of tables" $share 's/digits && !tables && qk_takes/digits \&\& qk_takes/' unit dispatch_sums_test
mutate "x of many rows without experts" $share 's/ && qk_takes_experts_\(kernel\)\)/)/' unit dispatch_sums_test
mutate "bytes of x for experts" $share 's/many && digits == 1 && s\.rows/many \&\& s.rows/' unit dispatch_sums_test
mutate "workgroups for experts of many tokens" $share 's/if \(subgroups >= 8 \* busy\)/if (subgroups == 0)/' unit dispatch_sums_test
mutate "room for workgroups with rows ahead" $choose 's/walking \* 3, 4/walking * 4, 4/' unit dispatch_sums_test
mutate "room beside one row" $choose 's/QK_CONSTANT_ROWS, 1\) > 1/QK_CONSTANT_ROWS, 1) > 0/' unit dispatch_sums_test
mutate "room for many bits" $share 's/> 11 \* \(uint64_t\)kernel/> 10 * (uint64_t)kernel/' unit dispatch_sums_test
mutate "room beside x of two bytes" $share 's/(qk_constant_\(kernel, NULL, QK_CONSTANT_DIGITS, 0\)) == 2/\1 > 0/' unit dispatch_sums_test
mutate "the slice of a lane ahead" $choose 's/kept = kernel->ahead_kept/kept = 2 * kernel->ahead_kept/' unit dispatch_sums_test
mutate "lookups are not loaded ahead" gen/build/device.def 's/(SCATTERED_LOOKUPS, +)250/\1100/' unit wide_test
mutate "few bits are not loaded ahead beside floats" gen/build/device.def 's/(SCATTERED_BITS, +)2/\11/' unit wide_test
mutate "rows ahead of floats" gen/build/family.c 's/digits == 1 \|\| digits > 2 \? 1 : 2/digits != 2 ? 1 : 2/' unit wide_test
mutate "tiles of many bytes are not loaded ahead" gen/build/device.def 's/(AHEAD_BYTES, +)64/\1128/' unit wide_test
mutate "a constant that is a divisor is not 0" $check 's/if \(c->value == 0 \&\& /if (0 \&\& /' unit dispatch_sums_test
mutate "large tiles beside copies of tables have registers" $share 's/ \|\| kernel->kept_elements > QK_KEPT_VALUES//' unit dispatch_sums_test
mutate "workgroups follow from the rows of the launch" $headers/dispatch_gemv_id.h 's/qk_constant_\(kernel, constants, QK_CONSTANT_ROWS/qk_constant_(kernel, NULL, QK_CONSTANT_ROWS/' \
  unit dispatch_sums_test
mutate "the group is a multiple of 4" runtime/include/qkgen/dispatch_qdq.h 's/c->group % 4 != 0/0/' unit qdq_test

# ---- numbers ----
mutate "the same bits each time" $choose 's/^( +)(constants\[i\] = )s\.split;/\1{ static uint32_t turn; \2turn++ % 2 ? 1 : s.split; }/' unit gemv_test
mutate "a slice ahead that a row cuts" templates/gemv_ahead.comp 's/if \(j >= tiles\) sum\[r \* BATCH \+ m\] = 0\.0;//' unit gemv_test
mutate "a slice ahead that begins within a load" templates/gemv_ahead.comp 's/phase = slice \* SLICE_WORDS % 4u/phase = 0u/' unit gemv_test
mutate "rows ahead are those of the subgroup's team" templates/gemv_ahead.comp 's/min\(next \+ team \* ROWS, last\)/min(next, last)/' unit gemv_test
mutate "threads keep several: each in a place of its own" gen/text/shared.c 's/"k \* BATCH \+ m" : "m"/"k * BATCH + m" : "0u"/' unit gemv_test
mutate "threads keep several: of x that is staged, too" templates/stage_x.glsl 's/vector, j, m\)/vector, j, 0u)/' unit gemv_test
mutate "threads keep several: no x is staged that there is none of" templates/gemv_wide.comp 's/stage_x\(min\(m, batch - 1u\)/stage_x(m/' unit gemv_test
mutate "threads keep several: those that there are none of are not stored" templates/gemv_wide.comp 's/ \|\| m >= batch\) continue/) continue/' unit gemv_test
mutate "threads keep several: where sums of rows ahead are" templates/gemv_ahead.comp 's/SUMS \+ lane\] = all/ROWS + lane] = all/' unit gemv_test
mutate "threads keep several: rounds of sums" templates/add_rounds.glsl 's/i % SUMS \/ BATCH/i % ROWS/' unit gemv_test
mutate "threads keep several: where registers hold them" $facts 's/elements \/ 4 <= QK_OWN_REGISTERS/elements \/ 8 <= QK_OWN_REGISTERS/' unit dispatch_sums_test
mutate "threads keep several: where few subgroups are idle" $choose 's/4 \* cols < 3 \* held/0/' unit dispatch_sums_test
mutate "threads keep several: of many rows" $choose 's/parts >= \(sooner \? 4 : 8\) \*/parts >= 0 */' unit dispatch_sums_test
mutate "the last rows ahead" templates/gemv_ahead.comp 's/to = min\(row, last\) \+ lane/to = row + lane/' unit gemv_test
mutate "narrow tables hold what values have more than the least" gen/ir/stored.c 's/table->values\[i\] - offset/table->values[i] - 0 * offset/' unit wide_test
mutate "narrow tables: the least is added" gen/build/lower.c 's/offset < 0 \? -offset : offset/0/' script gemv vulkan "blocks iq1_s 19 3 1 f32"
mutate "narrow tables: 16 values" gen/ir/stored.c 's/greatest - \*least < 1 << NARROW_BITS;$/greatest - *least <= 1 << NARROW_BITS;/' unit wide_test
mutate "tiles with whole words of narrow tables" gen/build/plan.c 's/ \? 8$/ ? 4/' unit wide_test
mutate "bytes do not cross words" gen/ir/index.c 's/divisor - common_power\(a, divisor\) \+ 1/divisor - 0 * common_power(a, divisor)/' unit wide_test
mutate "rounds that are added up at once: all of their rows" templates/add_rounds.glsl 's/i < rounds \* teams \* SUMS/i < teams * SUMS/' unit gemv_test
mutate "rounds that are added up at once: no more than there is memory for" templates/gemv_wide.comp 's/round \+ 1u < rounds \&\& //' unit gemv_test
mutate "rounds ahead that are added up at once: no more than there is memory for" templates/gemv_ahead.comp 's/round \+ 1u < LANES \/ 4u \&\& //' unit gemv_test
mutate "rounds that are added up at once: where each has its rows" templates/add_rounds.glsl 's/first - \(rounds - 1u - round\) \* step/first/' unit gemv_test
mutate "the bound of class split: digits below the highest have a sign" templates/products.glsl 's/digit == 0u \? 0u : 0x80808080u/0u/' \
  script gemv vulkan "blocks q4_K 19 3 1 f32"
mutate "the bound of class split: what is carried from digit to digit" templates/products.glsl 's/0x4B400080/0x4B400000/' \
  script gemv vulkan "blocks q4_K 19 3 1 f32"
mutate "the bound of class int8: to the nearest integer" templates/products.glsl 's/ : 0x4B400000;/ : 0x4B000000;/' \
  script gemv vulkan "blocks q4_K 19 3 1 f32"
mutate "the bound of class int24: more bits than a float has" templates/products.glsl 's/DIGITS == 3u \? ivec4/DIGITS == 4u ? ivec4/' \
  script gemv vulkan "blocks q4_K 19 3 1 f32"
mutate "sums of x in integers: without what these are moved by" gen/text/digits.c 's/ - %u \* BIAS\)/ - %u)/' \
  script gemv vulkan "blocks q4_K 19 3 1 f32"
mutate "sums of digits: of the set and no others" gen/text/digits.c 's/fits \&= left/fits |= left/' \
  script gemv vulkan "blocks q6_K 19 3 1 f32"
mutate "the bound of class int24: digits are bytes with a sign" templates/products.glsl 's/8355708\.0/8388607.0/' \
  script gemv vulkan "blocks q4_K 19 3 1 f32"
mutate "the bound of class split: two digits" gen/build/class.def 's/(INT8, )2(, SPLIT_SUM)/\11\2/' \
  script gemv vulkan "blocks q4_K 19 3 1 f32"
mutate "the bound of class half: x in steps of its largest" templates/products.glsl 's/0\.001953125/64.0/' \
  script gemv vulkan "blocks q4_K 19 3 1 f32"
mutate "a NaN in x is not lost in integers" templates/products.glsl 's/any\(isnan\(all\)\) \|\| isinf\(largest\)/false/' \
  script gemv vulkan "not_finite q8_0"
mutate "the bound of sums" gen/text/sums.c 's/%ssum%s%s \+= /%ssum%s%s += 1.00001 * /' \
  script gemv vulkan "blocks q4_0 19 3 1 f32"
mutate "views of rows: the outer dimension" templates/rows_push.glsl 's/batch \/ batches \* value_outer/0u * value_outer/' unit rows_test
mutate "views of rows: an index of 64 bits" templates/rows_push.glsl 's/index_words == 2u \&\& indices\[at \+ 1u\] != 0u/false/' unit rows_test
mutate "views of rows: batches with the same indices" templates/rows_push.glsl 's/inner % index_batches \* index_batch/inner * index_batch/' unit rows_test
mutate "views of rows: rows of the table have a step" templates/rows_push.glsl 's/index \* row_step \+ inner/index + inner/' unit rows_test
mutate "views of rows: a row that there is not, in blocks" templates/rows_push.glsl 's/return index < rows \? index \* row_step/return true ? index * row_step/' unit rows_test
mutate "views of rows, MSL: the outer dimension" templates/rows_view.metal 's/outer \* push.value_outer/0 * push.value_outer/' unit rows_test
mutate "views of rows, MSL: the table begins later than what is bound" templates/gather.metal 's/push.table_first \+ //' unit rows_test
mutate "views of rows, MSL: blocks that are made, too" templates/set_rows.metal 's/push.table_first \+ //' unit rows_test
mutate "views of rows, MSL: indices and values, too" templates/rows_view.metal 's/push.index_first \+ //' unit rows_test
mutate "views of rows: the table begins later than what is bound" templates/rows_push.glsl 's/table_first \+ //' unit rows_test
mutate "views of rows: indices, too" templates/rows_push.glsl 's/index_first \+ //' unit rows_test
mutate "views of rows: values, too" templates/rows_push.glsl 's/value_first \+ //' unit rows_test
mutate "views of rows: all buffers of a table as many blocks later" $headers/dispatch_rows.h 's/bound == weights \&\& i </i </; s/if \(bound == weights\)/if (bound != 0)/' unit rows_test
mutate "views of rows: bindings hold what comes before" $headers/dispatch_rows.h 's/most > before \? most - before : 0/most/' unit rows_test
mutate "views of rows: values begin with a tile" $headers/dispatch_rows.h 's/extra % unit != 0/unit == 0/' unit rows_test
mutate "views of rows, MSL: an index of 64 bits" templates/rows_view.metal 's/push.index_words == 2 \&\& indices\[at \+ 1\] != 0/false/' unit rows_test
mutate "views of rows: results are apart" runtime/include/qkgen/dispatch_rows.h 's/if \(step\[least\] < span\)/if (0)/' unit rows_test
mutate "views of rows: parts of the table" runtime/include/qkgen/dispatch_rows.h 's/push\[1\] = \(uint32_t\)row;/push[1] = 0;/' unit rows_test
mutate "encoders read halves" templates/encode_block.glsl 's/at % 2u \* 16u/0u/; s/unpackHalf2x16\(pairs.x\)/unpackHalf2x16(pairs.y)/' unit rows_test
mutate "encoders keep NaNs, signs of zeros and subnormals" runtime/vulkan_rounding.c 's/if \(qk_encodes\(kernel\)\)/if (0)/' unit rounding_test
mutate "f16 is rounded to even, Vulkan" templates/prelude.glsl 's/ \+ \(\((magnitude|most) >> 13\) \& 1u\)//g' script rounding vulkan
mutate "bf16 is rounded to even, MSL" templates/prelude.metal 's/0x7FFFu \+ \(\(bits >> 16\) \& 1u\)/0x7FFFu/' script rounding msl
mutate "f16 is rounded to even, C" templates/prelude.c 's/& 1u?\)/\& 0)/' script rounding c
mutate "digits of a base: two at a time" gen/ir/bytes.c 's/down\(ir, even, BYTE\), EVERY_OTHER_BYTE/down(ir, even, BYTE), 0x00FF00FEu/' unit bytes_test
mutate "digits of a base: what is above is moved out" gen/ir/bytes.c 's/(pairs = apply\(ir, QG_MUL, masked\(ir, pairs, EVERY_OTHER_BYTE\), power\));/(void)power;/' unit bytes_test
mutate "digits of a base: products have 16 bits" gen/ir/bytes.c 's/power->max > 256/power->max > 512/' unit bytes_test
mutate "segments of joined blocks: where the block begins" gen/build/lower_code.c 's/qg_index_scale\(l->joined, bits\)/qg_index_scale(l->joined, bits - 8)/' \
  script ahead
mutate "segments of joined blocks: instances of their own block" gen/build/lower_code.c 's/(instances\[i\] = qg_index_)mod(\(l->ir, instances\[i\], own\))/\1div\2/' \
  script ahead
mutate "segments: a digit leads through all of them" gen/build/plan.c 's/if \(aim\.sums \&\& grid < own\)/if (aim.sums \&\& grid > own)/' unit wide_test
mutate "segments: such a digit is a thread's as a whole" gen/build/plan.c 's/have \* extent > aim\.most/extent > part/' unit wide_test
mutate "experts: small tiles" gen/build/family.c 's/return loads \|\| \(ir/return loads \&\& (ir/' unit wide_test
mutate "digits of a base, decoded: two at a time" gen/build/lower_code.c 's/qg_uint\(ir, 24\), qg_uint\(ir, 24\)/qg_uint(ir, 24), qg_uint(ir, 16)/' \
  script gather vulkan "one tq1_0 5 768"
mutate "powers of a base: a byte for each" gen/build/lower_code.c 's/to_the_power\(radix, i\) << 8 \* i/to_the_power(radix, i) << 7 * i/' \
  script gather vulkan "one tq1_0 5 768"
mutate "powers of a base: the last one" gen/build/lower_code.c 's/\*last = qg_uint\(ir, to_the_power\(radix, 4\)\)/*last = qg_uint(ir, to_the_power(radix, 3))/' \
  script gather vulkan "one tq1_0 5 768"
mutate "codes leave side by side, Vulkan" templates/qdq_init.comp 's/place = thread \/ lanes \* quads \+ lane/place = thread \/ lanes * lanes + lane/' unit qdq_test
mutate "groups that are no powers of two, Vulkan" templates/qdq.glsl 's/other < left; other \+= step/other < 2u * step; other += step/' unit qdq_test
mutate "quads that no power of two divides, Vulkan" templates/qdq_init.comp 's/i < held; \+\+i\) \{$/i < held - 1u; ++i) {/' unit qdq_test

# ---- shared memory ----
mutate "arrays that a launch does not use take shared memory, too" $limits 's/QK_UNUSED_SHARED_BYTES 96u/QK_UNUSED_SHARED_BYTES 0u/' \
  unit shared_memory_test
mutate "the runtime refuses what takes more than the device has" runtime/vulkan_pipeline.c 's/ \|\| bytes <= vk->info.shared_bytes\)/ || bytes > 0)/' \
  unit gemv_test
mutate "several vectors: x is not shared where no tile fits" $choose 's/fours >= kernel->shared_tile \* batch/fours >= 0 * kernel->shared_tile * batch/' unit dispatch_sums_test
mutate "a schedule has as many lanes as it takes rows" $choose 's/if \(lanes < rows \*/if (2 * lanes < rows */' unit dispatch_sums_test
mutate "larger tiles have a block before the last" $facts 's/!overruns \|\| matrix_rows > 1/!overruns || matrix_rows > 0/' unit dispatch_sums_test
mutate "a launch takes the module of its schedule" runtime/include/qkgen/kernel.h 's/return kernel->schedules\[schedule\];/return kernel->schedules[1];/' unit gemv_test

# ---- the bound of sums ----
mutate "a byte has 127 steps" gen/build/error.c 's/\{0, 127, /{0, 6350, /' unit bound_test
mutate "two bytes have 32639 steps" gen/build/error.c 's/127, 32639/127, 1631950/' unit bound_test
mutate "a step is that of all its elements" gen/build/error.c 's/described->x_reach = reach/described->x_reach = 1/' unit bound_test
mutate "a step of bytes is of 32 elements" gen/build/error.c 's/\? plan->n_runs : in_step/? plan->n_runs : 1/' unit bound_test
mutate "halves lose digits" gen/build/error.c 's/HALF_ROUNDING = 1 << 13/HALF_ROUNDING = 1 << 6/' unit bound_test
mutate "tiles add up" runtime/include/qkgen/kernel.h 's/sum_roundings \+ 3 \* tiles/sum_roundings + 0 * tiles/' unit bound_test
mutate "a window of the largest reaches back" gen/cli/run_bound.c 's/k \+ 1 - reach : 0/k : 0/' unit bound_test
mutate "a kept module that has changed is made again" gen/emit/spirv_cache.c 's/ \&\& !memcmp\(words \+ \*bytes \/ 4, sealed, SEAL_BYTES\)//' unit spirv_test
mutate "nothing forbids a driver to inline" gen/emit/spirv_shrink.c 's/~\(uint32_t\)DONT_INLINE/~0u/' unit spirv_test
mutate "functions that are called once go into their call" gen/emit/spirv_shrink.c 's/f->calls > 1/f->calls > 0/' unit spirv_test
mutate "functions that reach into registers go into their calls, where lanes shuffle" gen/emit/spirv_shrink.c 's/\(f->reaches \|\| gives\)/gives/' unit spirv_test
mutate "and those that return something" gen/emit/spirv_shrink.c 's/\|\| gives\)/|| (0 \&\& gives))/' unit spirv_test
mutate "others stay there" gen/emit/spirv_shrink.c 's/\(f->reaches \|\| gives\)/(1 || gives)/' unit spirv_test
mutate "what neighbours share is of one block" gen/spec/value.c 's/memory->block \+= 1/memory->block += 0/' unit value_test
mutate "what neighbours share is forgotten from block to block of a row" gen/spec/value.c 's/qg_memory_clear\(memory\);/;/' unit value_test
mutate "what neighbours share is of one run" gen/spec/value.c 's/ \|\| e->index - s->from >= term->per\)/)/' unit value_test
mutate "patches that are kept: another row of blocks has others" gen/spec/value.c 's/if \(p->expert != s->expert \|\| p->block_row != s->block_row\) memset/if (p->expert != s->expert) memset/' unit value_test
mutate "patches that are kept: another expert has others" gen/spec/value.c 's/if \(p->expert != s->expert \|\| p->block_row/if (p->block_row/' unit value_test
mutate "integers with a sign have a bias" gen/spec/value.c 's/size - 2 \*/size - 0 */' unit bound_test
mutate "a choice is one value and a bit times more" gen/spec/value.c 's/2 \* first \+ second/first/' unit bound_test
mutate "templates: what is left out stays out" gen/text/template.c 's/taken = last->around \&\& !last->taken/taken = !last->taken/' unit template_test
mutate "templates: an @if needs its @end" gen/text/template.c 's/if \(!at->n_regions\) return true;/return true;/' unit template_test
mutate "templates: an @end needs its @if" gen/text/template.c 's/return fail\(at, "@end without @if"\)/return true/' unit template_test
mutate "templates: an @if has one @else" gen/text/template.c 's/last->otherwise = true/last->otherwise = false/' unit template_test
mutate "templates: included text is indented" gen/text/template.c 's/line\.text, line\.indent\)/line.text, 0)/' unit template_test
mutate "a difference adds up" gen/spec/value.c 's/(magnitude\(e, least, term->arg\[0\]\)) \+ magnitude\(e, least, term->arg\[1\]\);/fabs(\1 - magnitude(e, least, term->arg[1]));/' \
  unit bound_test

# ---- instances that share bits, experts in matrices of patches, rows with a header in files ----
mutate "bits that instances share are claimed once" gen/spec/layout.c 's/if \(\(slice->same >> d \& 1\) != 0 \&\& /if (0 \&\& /' script bad_specification c
mutate "an expert begins in each buffer, Vulkan" gen/build/place.c 's/if \(!ir->layout->each\) return at;/return at;/' script experts vulkan
mutate "an expert begins in each buffer, Metal" gen/text/msl.c 's/ulong\(matrix\) \*/0 */' script experts msl
mutate "an expert begins in each buffer, C" gen/text/c.c 's/ \+ of \* \(%s\),"/ + 0 * (%s),"/' script experts c
mutate "experts of patches fit into their buffers" $check 's/weights\[i\], matrices, qk_matrix_bytes_/weights[i], matrices != 0, qk_matrix_bytes_/' \
  unit dispatch_sums_test
mutate "patches that are cut off have no experts" $check 's/if \(kernel->view != QK_VIEW_MATRIX \|\| kernel->ragged\)/if (0)/' unit dispatch_sums_test
mutate "a row of a file has one header" gen/files/map.c 's/row_bytes = header \+ /row_bytes = /' script convert c
mutate "pieces of a file are whole rows" gen/cli/run_convert.h 's/return kind->row \? kind->row : /return /' script convert c
mutate "a struct is without the row's header" gen/spec/import.c 's/return f->offset - p->header;/return f->offset;/' script import c

# ---- what readers of a sum see ----
mutate "four codes: of bytes" gen/ir/gather.c 's/if \(down->arg\[1\]->integer != BYTE\) return NULL;/;/' unit rules_test
mutate "four codes: of one word" gen/ir/gather.c 's/ \|\| down->arg\[0\] != even->arg\[0\]//' unit rules_test
mutate "four codes: the function takes the next byte" gen/text/sums.c 's/\(word >> 8\) \& mask/(word >> 4) \& mask/' unit gemv_test

# ---- encoders: streams, few operations, rows ----
mutate "encode: whole words of blocks that follow each other" templates/follow.glsl 's/qk_made\[slot \+ i\] == qk_made\[slot\] \+ i/true/' \
  script encode "c vulkan" "narrow q8_0 32"
mutate "encode: whole words where they begin" templates/follow.glsl 's/ \&\& qk_made\[slot\] % count == 0u//' \
  script encode "c vulkan" "narrow q8_0 32"
mutate "encode: a block leaves the bytes of the one before" gen/text/glsl_encode.c 's/ \& others \| qk_first/ | qk_first/' unit rows_test
mutate "encode: what a block has of the word before waits" templates/write_made.glsl '/@\{join_streams\}/d' script encode "c vulkan" "one q8_0"
mutate "encode: just below half way is down" templates/encode.glsl 's/0x3EFFFFFFu/0x3F000000u/' unit encode_functions_test
mutate "encode: few integers, at their edges" gen/text/encode_terms.c 's/open \? "" : "="/open ? "=" : ""/' script encode "c vulkan" "one tq2_0"
mutate "encode: quotients of usual size are rounded" templates/encode.glsl 's/rest != 0 \? 1u : quotient >> 1/1u/' unit encode_functions_test
mutate "encode: groups that were guessed wrong are made again" gen/text/encode_terms.c 's/%s = %s \&\& !%s;", p->clear, p->clear, condition/%s = %s || %s;", p->clear, p->clear, condition/' \
  script encode "c vulkan" "one nvfp4"
mutate "encode: blocks of several rows do not follow each other" templates/set_rows.comp 's/qk_write_made\(gl_LocalInvocationIndex <= tile.*;/qk_write_made(true);/' \
  script encode "c vulkan" "narrow q8_0 32"
mutate "encode: teams of several rows do not follow each other" \
  templates/set_rows.comp 's/qk_write_made\(in_one_row\)/qk_write_made(true)/' \
  script encode "c vulkan" "narrow q2_0 64"
mutate "encode: teams write words where these begin" gen/text/glsl_encode.c 's/first %% %uu == 0u \&\& %s/first != QK_NONE + 0u * %uu \&\& %s/' \
  script encode "c vulkan" "narrow q2_0 4160"
mutate "encode: a word is of two blocks where one ends in it" gen/text/glsl_encode.c 's/slot = \(u \* %uu \+ i\)/slot = (u * %uu)/' \
  script encode "c vulkan" "one q2_0"
mutate "encode: of zeros with signs, the first" gen/text/encode_looks.c 's/return p->run < p->share/return p->run > p->share/' \
  script encode "c vulkan" "zeros"
mutate "encode: threads of a team know which elements they have" gen/text/encode.c 's/p.share - p.run/p.share/' \
  script encode "c vulkan" "one tq2_0"
mutate "encode: words that several have are joined" gen/build/encode_run.c 's/\*before != owner\)/*before > MOST_SPAN)/' \
  script encode "c vulkan" "one affine_b4_g64_bf16"
mutate "encode: teams of several rows do not follow each other, whole words" templates/set_rows.comp 's/qk_write_made\(in_one_row\)/qk_write_made(true)/' \
  script encode "c vulkan" "narrow nvfp4 64"
mutate "encode: digits that are not there are 0" gen/text/encode_store.c 's/(qk_from%s\] : )0u/\11u/' script encode "c vulkan" "one tq1_0"
mutate "encode: a sequence has blocks in all of its buffers" gen/spec/encode_rows.c 's/work->buffers\[i\].n_axes != 2/work->buffers[i].n_axes > 2/' \
  script bad_specification c
mutate "encode: codes of NF4, as bitsandbytes compares" formats/nf4.quant 's/0\.6427869200706482/0.64278/' script encode c "one nf4_b64"
mutate "small floats: a quotient next to the middle of two is made again" templates/encode.glsl \
  's/5\.9602e-8/5.97e-8/' unit encode_functions_test
mutate "small floats: ties to even, Vulkan" templates/encode.glsl \
  '/^int qk_small/,/^}/s/magic = e \+ \(int\(23u/magic = e + 1 + (int(23u/' \
  unit encode_functions_test
mutate "small floats: what is below has the digits of the least, MSL" templates/encode_functions.metal \
  's/max\(within & 0x7F800000, least\)/within \& 0x7F800000/' \
  unit encode_functions_test
mutate "small floats: and C" templates/encode_functions.c \
  's/exponent < least \? least : exponent/exponent/' script encode c "small mx_fp4 e2m1"
mutate "small floats: the largest of a type with infinities" gen/spec/small.c \
  's/codes - digits - 1/codes - digits/' unit encode_functions_test
mutate "small floats: a code's largest is known" gen/spec/small.c 's/codes - 2;/codes - 1;/' unit encode_functions_test
mutate "small floats: quotients alone are guesses" gen/text/encode_terms.c \
  's/QG_CALL_SMALL && a->op == QG_CALL && a->call == QG_CALL_DIVIDE/QG_CALL_SMALL/' \
  script encode "c vulkan" "one mlx_mxfp8"
mutate "rows: all of a row is looked at" templates/encode_row.glsl 's/min\(first \+ share, row_blocks\)/min(first + 1u, row_blocks)/' \
  script encode_rows "c vulkan" "one far 32"
mutate "rows: all of a row is looked at, words in turn" templates/encode_row.glsl '0,/b \+= most/s//b += row_blocks/' \
  script encode_rows "c vulkan" "one bnb_int8 32"
mutate "rows: the first of equals" templates/encode_row.glsl \
  's|uint step = 1u; step < gl_WorkGroupSize.x; step \*= 2u|uint step = gl_WorkGroupSize.x / 2u; step > 0u; step /= 2u|; s/% \(2u \* step\) == 0u/< step/' \
  script encode_rows "c vulkan" "one ends 32"
mutate "rows: a short one has fewer threads" $decode 's/c->legal\[k\] >= row_tiles/c->legal[k] >= 999u/' unit dispatch_test
mutate "rows: and no fewer than it has tiles" $decode 's/c->legal\[k\] >= row_tiles/c->legal[k] > 0/' unit dispatch_test
mutate "rows: parts of a block have words of their own" gen/text/encode_rows.c 's/all = n \* p->parts;/all = n;/' \
  script encode_rows "c vulkan" "one iq2_bn 64"
mutate "rows: with a header that is not theirs" gen/text/encode_rows.c 's/\(n - header\) \* p->parts/n - header/' \
  script encode_rows "c vulkan" "one iq2_bn 64"
mutate "rows: a thread with several blocks loads them again" templates/encode_row.glsl 's/share > 1u/share > 9u/' \
  script encode_rows "c vulkan" "one far 32"
mutate "rows: and with several words" templates/encode_row.glsl 's/parts > most/parts > 9999u/' \
  script encode_rows "c vulkan" "one bnb_int8 32"
mutate "rows: words in turn, where it does not matter which float is the first" gen/build/encode_spread.c \
  's/return term->call == QG_CALL_MAX .*/return true;/' script encode_rows "c vulkan" "one far 32"
mutate "rows: a word has neighbours that the first digit counts" gen/text/encode_rows.c \
  's/word %% %uu \* %uu \+ i/word %% %uu * %uu * 2u + i/' \
  script encode_rows "c vulkan" "one iq2_bn 64"
mutate "rows: words in turn are as far apart as there are threads" gen/text/encode_rows.c \
  's/qk_t \+ qk_j \* qk_n\]/qk_t + qk_j * (qk_n + 1u)]/' \
  script encode_rows "c vulkan" "one iq2_bn 64"
mutate "rows: what is the row's own is the first thread's of the first block" gen/text/encode_rows.c \
  's/qk_col \+ qk_t == 0/qk_col + qk_t == 1/' \
  script encode_rows "c vulkan" "one i4_channel 32"
mutate "rows: what chooses is one for the block" gen/text/encode_store.c \
  's/arg\[0\]->per != p->layout->elements \* p->parts/arg[0]->per == 1/' script encode_rows "c vulkan" "one pieces 32"
mutate "rows: a choice of 0 is the first or the second" gen/text/encode.c \
  's/"if \(!\(%s\)\) \{" : "if \(%s\) \{"/"if (%s) {" : "if (!(%s)) {"/' \
  script encode_rows "c vulkan" "one i4_channel 32"
mutate "rows: sums of codes with a sign are made good" gen/text/encode_store.c \
  's/raised \|\| with_sign\); \+\+i/raised || with_sign) \&\& !p->encode->rows; ++i/' \
  script encode_rows "c vulkan" "one bnb_int8 32"
mutate "rows: a code that is not certain is made again" gen/text/encode_store.c 's/if \(qk_j == qk_at >> 5\)/if (qk_j < 0)/' \
  script encode_rows "c vulkan" "one i4_channel 32"
mutate "rows: blocks stand behind the header" gen/text/encode_rows.c 's/begin, n - header, u\);/begin, n, u);/' \
  script encode_rows c "one iq2_bn 64"
mutate "rows: an index that is no row, Vulkan" templates/set_rows_matrix.comp 's/row >= rows/row > rows/' \
  script encode_rows "c vulkan" "one iq2_bn 64"
mutate "rows: an index that is no row, MSL" templates/set_rows_matrix.metal 's/if \(row >= push.rows\)/if (row > push.rows)/' \
  script encode_rows "c msl" "one iq2_bn 64"
mutate "rows: pieces of a file are whole rows, made" gen/cli/run_convert_plan.c \
  's/n_header > 0\) c->to.row/n_header > 99) c->to.row/' script encode_rows c model

mutate "planes: what fills up the last one stays 0" gen/text/encode_planes.c 's/if \(many\) qg_encoder_line\(p, glsl \? "if/if (!many) qg_encoder_line(p, glsl ? "if/' \
  script encode_planes "c" "back nibbles 16 -8 7"
mutate "planes: groups are as far apart as there are blocks" gen/text/encode_planes.c 's/%s \* %s \+ qk_block;", word/%s + %s * 0u + qk_block;", word/' \
  script encode_planes "c" "numbers 4 64"
mutate "planes: and their floats, in C" templates/encode_planes.c 's/group \* @\{group\} \+ e %/(b * @{planes} + e \/ @{group}) * @{group} + e %/' \
  script encode_planes "c" "numbers 4 64"
mutate "planes: a row for each group" gen/text/encode_store.c 's/\? "qk_group" : "qk_block"/? "qk_block" : "qk_block"/' script encode_planes "c" "numbers 4 64"
mutate "planes: rows begin anywhere" gen/build/encode_team.c 's/buffer->bytes \/ rows \|/buffer->bytes \/ (0 * rows + 1) |/' script encode_planes "c vulkan" "numbers 3 64"
mutate "planes: codes that leave a word do not split" gen/build/encode_planes.c 's/ \|\| at % WORD \+ slice->width > WORD\)/)/' \
  script encode_planes "c" "back leaving 6 -16 15"
mutate "planes: codes whose word is the plane's do not split" gen/build/encode_planes.c 's/at \/ WORD != \(own/at > 99999 + (own/' \
  script encode_planes "c" "back nibbles 16 -8 7"
mutate "planes: digits of a base are those of the block" gen/build/encode_planes.c \
  's/slice->radix \|\| slice->first \|\|/slice->first ||/' \
  script encode_planes "c" "back digits 8 -1 1"
mutate "planes: i counts on through the block" gen/text/encode_terms.c 's/return p->planes \? qg_encoder_in_planes/return !p->planes ? qg_encoder_in_planes/' script encode_planes "c" "placed"
mutate "planes: a launch is of their blocks" runtime/include/qkgen/dispatch_decode.h 's/apart \? matrix.grid_rows :/apart ? matrix.rows :/' \
  script encode_planes "c vulkan" "numbers 4 64"
mutate "planes: a team leaves what has no group" gen/text/encode_planes.c 's/"if \(qk_there\) \{"/"if (qk_block < blocks) {"/' \
  script encode_planes "c vulkan" "numbers 4 64"
mutate "planes: a team stores numbers of groups alone" gen/text/encode_planes.c 's/"if \(qk_there \&\& qk_t/"if (qk_t/' unit rows_test
mutate "planes: a team writes no block beyond the last" templates/encode_planes.comp \
  's/block < blocks \? block : QK_NONE/block/' unit rows_test
mutate "planes: floats on their way are those of the next one" gen/text/encode_planes.c \
  's/qk_begin\(qk_block, qk_group \+ blocks/qk_begin(qk_block, qk_group/' \
  script encode_planes "c vulkan" "numbers 3 64"
mutate "planes: a launch has all threads of their teams" runtime/include/qkgen/dispatch_decode.h \
  's/each \* \(kernel->block_cols \/ kernel->tile_elements\)/each/' \
  unit rows_test
mutate "planes: each of a team sets numbers of a group" gen/text/encode_planes.c \
  's/"if \(qk_plane %% %u == qk_t\) \{"/"if (qk_plane %% %u == 0) {"/' \
  script encode_planes "c vulkan" "numbers 4 64"
mutate "planes: numbers that are needed are set at once" gen/text/encode_planes.c \
  's/return !qg_encoder_is_used\(p, number\) \&\& /return /' \
  script encode_planes "c vulkan" "any placing 64"
mutate "planes: numbers of floats in hand are set at once" gen/text/encode_planes.c 's/!qg_encoder_sees_x\(p, e->value\);/e->is_code;/' \
  script encode_planes "c vulkan" "any direct 64"
mutate "planes: bits are counted from where planes have their first" gen/text/encode_planes.c 's/low->bit -= low->bit % WORD;//' \
  script encode_planes "c vulkan" "numbers 2 128"
mutate "planes: a team has groups without smaller ones" gen/build/encode_team.c \
  's/ \&\& !largest_group\(layout\); share \/= 2/; share \/= 2/' \
  script encode_planes "c vulkan" "any halved 64"
mutate "planes: an equation is of a group" gen/spec/encode_planes.c 's/view == QG_VIEW_GROUPS \? work->block_cols : work/view == QG_VIEW_GROUPS ? work->elements : work/' \
  script encode_planes c "refused"
mutate "planes: buffers are of blocks or groups" gen/spec/encode_planes.c 's/b->entries == 0 \&\& whole/b->entries == 0 || whole/' script encode_planes c "refused"
mutate "planes: codes are of a group" gen/spec/encode_planes.c 's/work->block_cols % code->per == 0/true/' script encode_planes c "refused"
mutate "planes: a group's bits are in its row" gen/spec/encode_planes.c 's/(qg_slice_address\(slice, j\) == first \+ .*);/(\1 || first + row_bits > 0);/' script encode_planes c "refused"
mutate "planes: no row is made alone" gen/build/family.c 's/ \&\& !qg_spreads_rows\(family, layout\)//' script encode_planes c "refused"
mutate "planes: no file has them" gen/cli/run_convert_plan.c 's/kind->layout->view == QG_VIEW_GROUPS/false/' script encode_planes c "refused"
mutate "functions that are called by those are there, too" gen/text/called.c 's/called\[i\] \|= called\[k\]/called[i] |= false \&\& called[k]/' \
  script encode_planes "c msl" "numbers 4 64"

# ---- packed words ----
mutate "packed: a carry reaches bytes that wait" runtime/include/qkgen/unpack.h 's/p->first \+ carry\)/p->first)/' unit pack_test
mutate "packed: there is room" runtime/include/qkgen/unpack.h 's/if \(p->at < p->size\)/if (p->at <= p->size)/' unit pack_test

# ---- modules for MLX ----
mutate "MLX: small arrays are not in device memory" templates/mlx.py 's/if a.size >= 8:/if a.size >= 0:/' script mlx msl
mutate "MLX: numbers are a thread's own" gen/text/mlx.c 's/\? "thread const " : constant/? constant : constant/' script mlx msl
mutate "MLX: positions have three dimensions" gen/text/mlx.c 's/strcmp\(attribute, "threads_per_threadgroup"\) == 0/false/' script mlx msl
mutate "MLX: a launch takes eight vectors" templates/mlx.py 's/range\(0, vectors, 8\)/range(0, vectors, 16)/' script mlx msl
mutate "MLX: rows are whole blocks" templates/mlx.py 's/cols % BLOCK_ELEMENTS or rest/rest/' script mlx msl

echo
echo "$number mutations, $problems of them not as they must be"
[ "$pattern" = --apply ] || [ -n "${FOLDER:-}" ] || rm -rf "$folder"
[ "$problems" -eq 0 ] && [ "$number" -gt 0 ]
