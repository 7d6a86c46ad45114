#!/usr/bin/env bash
# `qkgen judge`: kernels of others, right and wrong; what it says of them word by word; what cannot be judged.
. "$(dirname "$0")/../lib.sh"

data=$SOURCE/tests/judge
cc -O1 -shared -fPIC -o "$work/q8_0.so" "$data/q8_0.c"

judge() { "$QKGEN" judge --quick "$@"; }

# clean SENTENCE ARG...: nothing wrong is found.
clean() {
  local sentence=$1
  shift
  check "$sentence" judge "$@"
}

# finds SENTENCE ARG...: exit status 1, and the sentence.
finds() {
  local sentence=$1 log=$logs/finds.$BASHPID status=0
  shift
  judge "$@" >"$log" 2>&1 || status=$?
  if [ "$status" = 1 ] && grep -qF -- "$sentence" "$log"; then pass; else fail "status $status, expected: $sentence" "$log"; fi
}

# unable SENTENCE ARG...: exit status 2, and the sentence.
unable() {
  local sentence=$1 log=$logs/unable.$BASHPID status=0
  shift
  judge "$@" >"$log" 2>&1 || status=$?
  if [ "$status" = 2 ] && grep -qF -- "$sentence" "$log"; then pass; else fail "status $status, expected: $sentence" "$log"; fi
}

# GLSL. What a mistake does to one code is one sentence; nothing more is said of what follows from it.
q4=("$data/q4_K.comp" --format q4_K --harness flat-dequant)
clean "a right kernel" "${q4[@]}"
finds "bits 0..3 of scales[8] (bits 0..3 of sc[4]) reach no element; they belong to 128..159; likewise for 3 others: sc[5..7]" \
  "${q4[@]}" -D WRONG_SCALE
finds "bits 0..3 of scales[4] (bits 0..3 of mn[0]) reach elements 128..159, too; they belong to 0..31 alone" "${q4[@]}" -D WRONG_SCALE
finds "1 kernel judged: 1 wrong (2 findings), 0 clean" "${q4[@]}" -D WRONG_SCALE
finds "where d is the smallest subnormal number (0x0001)" "${q4[@]}" -D FLUSH
finds "it writes behind the end of the results: byte 1024, of 1024" "${q4[@]}" -D NO_GUARD --set threads=32

# Bits that nobody sets are 0 in all evidence but one: what goes wrong through them is one sentence.
nvfp4=("$SOURCE/tests/mutants/kernels/nvfp4.comp" --format nvfp4 --harness flat-dequant)
clean "a right kernel with unused bits" "${nvfp4[@]}"
finds "1 kernel judged: 1 wrong (1 finding), 0 clean" "${nvfp4[@]}" -D NVFP4_TABLE_OF_128
finds "where bit 7 of sc is set, which the specification makes no use of, elements 0..63: wrong" "${nvfp4[@]}" -D NVFP4_TABLE_OF_128

# A C function between guards.
c=("$work/q8_0.so" --format q8_0 --harness "$data/c-values.harness")
clean "a right function" "${c[@]}" --kernel right
finds "with rows 1, cols 32: it touches byte 0 behind the end of the results, which has 128 bytes" "${c[@]}" --kernel one_more
finds "with rows 1, cols 32, 32 of 32 results are never written; the first is number 0" "${c[@]}" --kernel not_all
finds "with rows 1, cols 32: it touches memory that is nobody's" "${c[@]}" --kernel crash
finds "a launch took more than 1 seconds, and was ended" "${c[@]}" --kernel hang --time-limit 1
sums=("$work/q8_0.so" --format q8_0 --harness "$data/c-sums.harness")
clean "right sums" "${sums[@]}" --kernel right_sums
finds "so it is where cols is 96, 160, 224, 288, 480, 544, ..., and not where it is 32, 64, 128, 256, 512" "${sums[@]}" \
  --kernel wrong_width
finds "which is more than class exact allows" "${sums[@]}" --kernel in_halves
clean "what is too much for exact is right for half" "${sums[@]}" --kernel in_halves --class half

# What we emit ourselves.
for format in q4_0 q4_K q6_K tq1_0; do
  kernel=$SOURCE/out/$format/${format}_dequant_f32.comp
  tile=$(sed -n 's/.*of \([0-9]*\) elements, to decode.*/\1/p' "$kernel")
  clean "$format as emitted" "$kernel" --format $format --harness qkgen-dequant --set "tile=$tile"
done

clean "a gather as emitted, with indices that are no row" "$SOURCE/out/q4_K/q4_K_gather_f32.comp" --format q4_K --harness qkgen-gather
clean "products as emitted" "$SOURCE/out/q4_K/q4_K_gemv_rows.comp" --format q4_K --harness qkgen-gemv
clean "experts as emitted, with ids that are none" "$SOURCE/out/q4_K/q4_K_gemv_id_rows.comp" --format q4_K --harness qkgen-gemv-id

# Blocks that are patches of a matrix, or cut off, as emitted; a table in a buffer of its own.
clean "patches, their values" "$SOURCE/out/fp8_block/fp8_block_dequant_f32.comp" --format fp8_block --harness "$data/patch-dequant.harness"
clean "patches, their rows" "$SOURCE/out/fp8_block/fp8_block_gather_f32.comp" --format fp8_block --harness "$data/patch-gather.harness"
clean "patches, their sums" "$SOURCE/out/fp8_block/fp8_block_gemv_rows.comp" --format fp8_block --harness "$data/patch-gemv.harness"
for kernel in dequant_f32:dequant gather_f32:gather gemv_rows:gemv; do
  clean "a flat tensor, its ${kernel#*:}" "$SOURCE/out/nf4_b64/nf4_b64_${kernel%:*}.comp" --format nf4_b64 \
    --harness "$data/flat-${kernel#*:}-table.harness"
done
"$QKGEN" emit --format gptq_v1_b4_g128 --out "$work" >/dev/null
"$QKGEN" emit --format awq_b4_g128 --out "$work" >/dev/null
sed 's/weight$/qweight/; s/weight_scale_inv/qzeros/; s/^buffer 2.*/buffer 2 weights scales/; s/^push/buffer 3 y f32\n&/' \
  "$data/patch-dequant.harness" >"$work/packed.harness"
for format in gptq_v1_b4_g128 awq_b4_g128; do
  clean "$format as emitted" "$work/$format/${format}_dequant_f32.comp" --format $format --harness "$work/packed.harness"
done

# What becomes of ids that are no expert is tried where the harness says it.
experts=("$SOURCE/tests/mutants/kernels/gemv_id.comp" --format q8_0)
finds "where some ids are no expert" "${experts[@]}" --harness "$SOURCE/tests/mutants/harnesses/gemv_id.harness" -D GEMV_ID_NO_GUARD
grep -v '^outside' "$SOURCE/tests/mutants/harnesses/gemv_id.harness" >"$work/unsaid.harness"
clean "ids that are no expert, where nothing is said" "${experts[@]}" --harness "$work/unsaid.harness" -D GEMV_ID_NO_GUARD
sed 's/outside zeros/outside nothing/' "$SOURCE/tests/mutants/harnesses/gemv_id.harness" >"$work/nothing.harness"
finds "is 0, and should stay as it was" "${experts[@]}" --harness "$work/nothing.harness"

# Metal, where it can be run.
case " $targets " in *" msl "*)
  metal=("$data/affine.metal" --format affine_b4_g64_f16 --harness "$data/affine.harness")
  clean "a right Metal kernel" "${metal[@]}"
  body=("$data/body.metal" --format affine_b4_g64_f16 --harness mlx-metal-kernel-dequant -D T=float)
  clean "the body of a Metal kernel" "${body[@]}"
  finds "w[0] (all of q[0]) reach element 1; they belong to 0" "${body[@]}" -D SWAPPED
  grep -v '^called 3' "$SOURCE/integrations/judge/mlx-metal-kernel-dequant.harness" >"$work/uncalled.harness"
  unable "what is argument 3 called in the body? \`called 3 TYPE NAME\` says" "$data/body.metal" --format affine_b4_g64_f16 \
    --harness "$work/uncalled.harness"
  finds "w[0] (all of q[0]) reach element 1; they belong to 0" "${metal[@]}" -D SWAPPED
  ;;
esac

# The harness is guessed, and that is said.
guessed() { judge "$data/q4_K.comp" --format q4_K 2>&1 | grep -F "harness flat-dequant, guessed from"; }
check "a harness is guessed" guessed

# What cannot be judged.
head -c 400 /dev/zero >"$work/zero.spv"
printf '\x03\x02\x23\x07' | cat - "$work/zero.spv" >"$work/empty.spv"
unable "it does not begin with SPIR-V's number" "$work/zero.spv" --format q4_K
unable "it is no SPIR-V module: " "$work/empty.spv" --format q4_K
unable "cannot be judged: cannot open" "$work/none.spv" --format q4_K
unable "the module has no entry point nope; it has main" "${q4[@]}" --kernel nope
unable "has no function nope" "${c[@]}" --kernel nope
unable "no format is named q4_L" "$data/q4_K.comp" --format q4_L
unable "there is no harness nope" "$data/q4_K.comp" --format q4_K --harness nope
unable "is for \`target c\`" "$data/q4_K.comp" --format q4_K --harness "$data/c-values.harness"
unable "--class is exact, half, bf16 or int8, not 'double'" "${q4[@]}" --class double
unable "--set takes NAME=NUMBER, not 'threads'" "${q4[@]}" --set threads
unable "has no \`let\` of the name in --set other=1" "${q4[@]}" --set other=1
unable "--time-limit takes seconds, not 'soon'" "${q4[@]}" --time-limit soon
unable "which format should the kernel follow?" "$data/q4_K.comp"
unable "which file is to be judged?" --format q4_K

# harness TEXT: a file that ends in it.
harness() { printf '%s\n' "target vulkan" "computes values" "$@" >"$work/one.harness"; }
harness "buffer 0 weights" "buffer 1 y f32"
unable "the module reads 4 bytes of push constants, and one passes 0" "$data/q4_K.comp" --format q4_K --harness "$work/one.harness"
harness "buffer 0 weights" "buffer 2 y f32" "push { u32 elements }"
unable "the module uses the buffer at binding 1, and one has no \`buffer 1\`" "$data/q4_K.comp" --format q4_K \
  --harness "$work/one.harness"
harness "buffer 0 weights" "buffer 1 y f32" "push { u32 elemnts }"
unable "one.harness:5:12: error: 'elemnts' is not known here" "$data/q4_K.comp" --format q4_K --harness "$work/one.harness"
harness "buffer 0 weights" "buffer 0 y f32"
unable "number 0 stands for another argument, too" "$data/q4_K.comp" --format q4_K --harness "$work/one.harness"
harness "buffer 0 weights" "buffer 1 y f32" "push { u32 elements }" "grid elements / (rows - rows)"
unable "an expression divides by zero" "$data/q4_K.comp" --format q4_K --harness "$work/one.harness"
harness "buffer 0 weights" "buffer 1 y f32" "buffer 2 ids u32"
unable "\`ids\` choose experts of \`computes sums\`" "$data/q4_K.comp" --format q4_K --harness "$work/one.harness"
harness "buffer 0 weights" "buffer 1 y f32" "outside zeros"
unable "\`outside\` is for kernels with \`ids\` or \`indices\`" "$data/q4_K.comp" --format q4_K --harness "$work/one.harness"
harness "buffer 0 weights" "buffer 1 y f32" "buffer 2 table K"
unable "which table of q4_K? it has none" "$data/q4_K.comp" --format q4_K --harness "$work/one.harness"
harness "buffer 0 weights" "buffer 1 y f32" "uniform 2 { u32 elements }"
unable "the module reads 4 bytes of push constants" "$data/q4_K.comp" --format q4_K --harness "$work/one.harness"
printf '%s\n' "target vulkan" "computes values" "buffer 0 weights weight" "buffer 1 weights weight_scale_inv" "buffer 2 y f32" \
  "buffer 3 { u32 rows, u32 cols }" "grid (elements + 63) / 64" >"$work/storage.harness"
unable "binding 3 is a uniform buffer of the module: write \`uniform 3\`" "$SOURCE/tests/mutants/kernels/fp8_block.comp" \
  --format fp8_block --harness "$work/storage.harness"
harness "buffer 0 weights weight" "buffer 1 y f32" "push { u32 elements }"
unable "weight_scale of fp8_channel is not a matrix of rows and columns of its own" "$data/q4_K.comp" --format fp8_channel \
  --harness "$work/one.harness"
harness "buffer 1 y f32"
unable "no buffer has the weights: \`buffer 0 weights\`" "$data/q4_K.comp" --format q4_K --harness "$work/one.harness"

# Reports.
reports() {
  judge "${q4[@]}" -D WRONG_SCALE --html "$work/r.html" --json "$work/r.json" --sarif "$work/r.sarif" >/dev/null && return 1
  grep -qF 'bits 0..3 of scales[8] (bits 0..3 of sc[4]) reach no element' "$work/r.html" &&
    grep -qF '"version":	"2.1.0"' "$work/r.sarif" && grep -qF '"rule":	"unread"' "$work/r.json"
}
check "reports are written" reports
alone() { ! grep -E 'src=|https?:|<script' "$work/r.html"; }
check "the page needs nothing from elsewhere" alone

finish
