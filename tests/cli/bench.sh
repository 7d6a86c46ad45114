#!/usr/bin/env bash
# `qkgen bench` on this machine's device: every figure is of a checked result; documents; peers; what it refuses. And what
# turns ggml's output into a file of peers.
source "$(dirname "$0")/../lib.sh"
small=(--rows 32 --cols 512)

# ---- a run ----

"$QKGEN" bench gemv,gemv_id,gather,dequant --format 'q4_0,mx*p4,awq_b4_g12?' --batch 1,3 "${small[@]}" --experts 3 --slots 2 --quick \
  --json "$work/f.json" --svg "$work/f.svg" --markdown "$work/f.md" >"$work/f.txt" 2>&1 || fail "bench fails" "$work/f.txt"
# 3 formats with mxfp4 of several, six cases each.
lines=$(grep -cE ' (gemv|gemv_id|gather|dequant) ' "$work/f.txt")
formats=$("$QKGEN" list | grep -cE '^(q4_0|mx[^ ]*p4|awq_b4_g12.) ')
check "a line for each case" test "$lines" -eq $((formats * 6))
says "the device" "copies [0-9.]+ GB/s, read and written" "$work/f.txt"
says "a decoder's error" "q4_0 +dequant .* 0\.0e\+00$" "$work/f.txt"
says "a sum's error" "awq_b4_g128 +gemv .* [1-9]\.[0-9]e-0[78]$" "$work/f.txt"
if grep -q 'WRONG' "$work/f.txt"; then fail "a result is wrong" "$work/f.txt"; else pass; fi
"$QKGEN" devices | head -1 | grep -q '(cpu,' && says "a CPU is called one" "a CPU device, whose figures say nothing of GPUs" "$work/f.txt"
# Threads that go on to further tiles and rows, as they do in large tables.
check "gather, a few threads for many tiles" "$QKGEN" bench gather --format q4_0,affine_b4_g64_bf16 --rows 96 --cols 2560 --workgroups 3 --quick
# Tokens choose their experts by themselves, so that several name the same one.
says "one token's experts" '^\*\*gemv_id, 32 x 512, 2 of 3 experts\*\*$' "$work/f.md"
says "three tokens' experts" '^\*\*gemv_id, 32 x 512, 3 tokens of 2, 3 of 3 experts\*\*$' "$work/f.md"
says "the picture has panels" '>gemv, 3 vectors<' "$work/f.svg"
says "tables" '^\| q4_0 \| 4.5 \| ' "$work/f.md"

"$QKGEN" bench dequant,gather --format q4_0 --type f16,f32 "${small[@]}" >"$work/t.txt"
check "a line for each type" test "$(grep -cE ' (dequant|gather) +f(16|32) ' "$work/t.txt")" -eq 4

# What --json wrote is what --read reads.
"$QKGEN" bench --read "$work/f.json" --json "$work/g.json" --svg "$work/g.svg" --markdown "$work/g.md" >"$work/g.txt"
for name in svg md txt json; do check "the same $name from the file" cmp "$work/f.$name" "$work/g.$name"; done

"$QKGEN" bench gemv --format q4_0 --sizes --rows 4 --cols 512 --json "$work/s.json" --svg "$work/s.svg" >"$work/s.txt"
check "a sweep" test "$(grep -c ' gemv ' "$work/s.txt")" -eq 6
if command -v xmllint >/dev/null; then check "the picture is XML" xmllint --noout "$work/f.svg" "$work/s.svg"; fi
says "the sweep's picture" '>Sizes: gemv, 1 vector<' "$work/s.svg"

# ---- a layer ----

printf '%s\n' 'q 256 256 2' 'k,v 64 256 4' 'o 256 256 2' 'gate,up 512 256 4' 'down 256 512 2' >"$work/layer.txt"
layer=("$QKGEN" bench --layer --format q4_0 --batch 1,2 --cache 1 --quick)
"${layer[@]}" --model "$work/layer.txt" --class exact,half >"$work/layer.log" 2>&1 || fail "a layer" "$work/layer.log"
says "a layer in three ways" '^layer +q4_0 +half +2( +[0-9.]+){3} +-?[0-9.]+%( +[0-9.]+){2}$' "$work/layer.log"
check "a line for each class and number of vectors" test "$(grep -c '^layer ' "$work/layer.log")" -eq 4
refuses "a layer of no model" "give --model NAME, too" "${layer[@]}"
refuses "figures of a layer as JSON" "leave --json" "${layer[@]}" --model "$work/layer.txt" --json "$work/none"
sed -i '/^down/d' "$work/layer.txt"
refuses "a layer without down" "layer has no matrix down without experts" "${layer[@]}" --model "$work/layer.txt"

# ---- every view of blocks has values that agree ----

"$QKGEN" bench gemv,gather --format gptq_v1_b4_g32_act,hqq_b3_g64,nf4_b64,fp8_block,ct_b4_zp_g32,nvfp4,iq1_m,q6_K,tq1_0,iq4_nl_r4 \
  --type f16 --rows 256 --cols 1024 --quick >"$work/v.txt" 2>&1 || fail "bench of all views" "$work/v.txt"
check "all of them" test "$(grep -cE ' (gemv|gather) ' "$work/v.txt")" -eq 20

# A kernel that is wrong is found: a copy of the templates whose sum forgets the last row tile.
cp -r "$SOURCE/templates" "$SOURCE/formats" "$work/"
sed -i -E 's/, (all|total)\);$/, \1 * 1.00001);/' "$work/templates/gemv_wide.comp"
refuses "a wrong kernel" "1 of 1 results are wrong: they differ from the values of the specification" \
  "$QKGEN" bench gemv --data "$work" --format q4_0 "${small[@]}" --quick

# Of many vectors, a mistake in the sixteenth alone is found, too.
cp "$SOURCE/templates/gemv_wide.comp" "$work/templates/"
sed -i -E 's/^    const uint (row = y_first % y_rows \+ n, (vector)|at = VIEWS == 0u \? (pair) ).*/&\n    if (\2\3 == 15u) sum = -sum;/' \
  "$work/templates/finish.glsl"
for kernel in "gemv --batch 16" "gemm --class mma --batch 40" "gemv_id --batch 20 --slots 1" "gemm_id --class mma --batch 20 --slots 1"; do
  refuses "a wrong sixteenth vector of $kernel" "1 of 1 results are wrong" \
    "$QKGEN" bench $kernel --data "$work" --format q4_0 "${small[@]}" --experts 3 --quick --samples 1
done
check "fifteen of them" "$QKGEN" bench gemv --batch 15 --data "$work" --format q4_0 "${small[@]}" --quick --samples 1

# ---- transcode ----

transcode=("$QKGEN" bench transcode --quick --to q4_0,mxfp4)
"${transcode[@]}" --format q8_0,q4_K "${small[@]}" --type f32,f16 >"$work/c.txt" 2>&1 || fail "bench transcode" "$work/c.txt"
check "a line for each pair and type" test "$(grep -cE '^q(8_0|4_K) +(q4_0|mxfp4) +f(32|16) +[0-9.]+ +[0-9.]+ +[0-9.]+%( +[0-9.]+){4}$' "$work/c.txt")" -eq 8
check "blocks that fill no workgroup, an odd number of them" "${transcode[@]}" --format q8_0,q5_1 --rows 7 --cols 96
refuses "transcode to nothing" "transcode needs --to F" "$QKGEN" bench transcode --format q8_0
refuses "--to of another family" "--to is of transcode" "$QKGEN" bench encode --format q8_0 --to q4_0
refuses "transcode and another family" "without other families" "${transcode[@]}" encode --format q8_0
refuses "transcode of classes" "takes none of --model, --class" "${transcode[@]}" --format q8_0 --class exact
refuses "transcode as JSON" "leave --json" "${transcode[@]}" --format q8_0 --json "$work/none"
refuses "transcode of patches" "are patches of a matrix" "${transcode[@]}" --format gptq_v1_b4_g128 "${small[@]}"
refuses "rows that are no blocks" "no multiple of the 32 elements of a block of q8_0" "${transcode[@]}" --format q8_0 --rows 2 --cols 100
sed -i 's/vec4(qk_kept\[4u \* at\], qk_kept\[4u \* at + 1u\]/vec4(qk_kept[4u * at + 1u], qk_kept[4u * at]/' "$work/templates/transcode.comp"
refuses "values that are exchanged" "makes other blocks than decoding and encoding: byte [0-9]+ of blocks differs" \
  "${transcode[@]}" --data "$work" --format q8_0 "${small[@]}"

# ---- peers ----

cat >"$work/peers.txt" <<'END'
# made up
other gemv q4_0 32 512 3 1000000 us
third gather q4_0 32 512 1 0.001 GB/s
third gather q4_0 99 512 1 5 GB/s   # no such figure
END
"$QKGEN" bench --read "$work/f.json" --peers "$work/peers.txt" --svg "$work/p.svg" --markdown "$work/p.md" >/dev/null
says "a peer's column" '^\| format .* \| other \| times \|$' "$work/p.md"
check "a peer's mark for each figure, and in the legend" test "$(grep -c 'marker: url(#m[12])' "$work/p.svg")" -eq 4
while IFS='|' read -r line message; do
  echo "$line" >"$work/wrong.txt"
  refuses "peers: $line" "wrong.txt:1: $message" "$QKGEN" bench --read "$work/f.json" --peers "$work/wrong.txt"
done <<'END'
a gemv q4_0 1 2 3 4|a line is PEER FAMILY FORMAT ROWS COLS BATCH NUMBER us.GB/s
a gemx q4_0 1 2 3 4 us|the second word must be a kernel family
a gemv q4_0 1 x 3 4 us|rows, columns and batch must be whole numbers from 1
a gemv q4_0 1 2 3 -4 us|the figure must be a number above 0
a gemv q4_0 1 2 3 4 ms|the unit must be us or GB/s
END

esc=$(printf '\033')
cat >"$work/ggml.txt" <<END
Backend 1/1: Vulkan0
  MUL_MAT(name=gemv:q4_0:512:1024:8,type=f32,ne=[512,8,1,1],op_params=[],sources=q4_0[1024,512,1,1],f32[1024,8,1,1]):    8192 runs -  1772.77 us/run -      294 kB/run - ${esc}[1;34m   0.16 GB/s${esc}[0m
  GET_ROWS(name=gather:q4_0:256:1024:1,type=f32,ne=[1024,256,1,1],op_params=[],sources=q4_0[1024,256,1,1],i32[256,1,1,1]):    7176 runs -   774.69 us/run -     1169 kB/run - ${esc}[1;34m   1.44 GB/s${esc}[0m
  MUL_MAT_ID(name=gemv_id:q4_0:64:256:1,type=f32,ne=[64,4,1,1],op_params=[],sources=q4_0[256,64,16,1],f32[256,1,1,1],i32[4,1,1,1]): not supported
  MUL_MAT(type_a=q4_K,type_b=f32,m=4096,n=1,k=14336,bs=[1,1],nr=[1,1],per=[0,1,2,3],k_v=0,o=1,src_overlap=0):       69 runs - 32404.90 us/run - 117.44 MFLOP/run - ${esc}[1;34m  3.62 GFLOPS${esc}[0m
  MUL_MAT(type_a=f16,type_b=f32,m=128,n=1,k=64,bs=[8,1],nr=[4,1],per=[0,1,2,3],k_v=0,o=1,src_overlap=0):       69 runs - 4.90 us/run - 117.44 MFLOP/run - ${esc}[1;34m  3.62 GFLOPS${esc}[0m
  ADD(type=f32,ne=[4096,1,1,1],nr=[1,1,1,1],nf=1): 100 runs - 1.00 us/run - 48 kB/run - 45.78 GB/s
END
"$SOURCE/bench/peers/ggml.sh" ggml --parse "$work/ggml.txt" >"$work/ggml.peers"
cat >"$work/expected" <<'END'
ggml gemv q4_0 512 1024 8 1772.77 us
ggml gather q4_0 256 1024 1 774.69 us
ggml gemv q4_K 4096 14336 1 32404.90 us
END
check "ggml's output" diff "$work/expected" "$work/ggml.peers"
check "ggml's output are peers" "$QKGEN" bench --read "$work/f.json" --peers "$work/ggml.peers"
# A case that was measured several times: the median, in the place of the first.
{ sed 's/1772.77/9.5/' "$work/ggml.txt" && cat "$work/ggml.txt" && sed 's/1772.77/1800.00/; s/774.69/80.1/' "$work/ggml.txt"; } >"$work/thrice.txt"
"$SOURCE/bench/peers/ggml.sh" ggml --parse "$work/thrice.txt" >"$work/thrice.peers"
check "medians of ggml's output" diff "$work/expected" "$work/thrice.peers"
{ sed 's/774.69/775.00/' "$work/ggml.txt" && cat "$work/ggml.txt"; } >"$work/twice.txt"
"$SOURCE/bench/peers/ggml.sh" ggml --parse "$work/twice.txt" >"$work/twice.peers"
says "the median of two" '^ggml gather q4_0 256 1024 1 774.8[45] us$' "$work/twice.peers"
refuses "output of something else" "no line with 'us/run'" "$SOURCE/bench/peers/ggml.sh" ggml --parse "$work/expected"
check "the peers that are kept" "$QKGEN" bench --read "$work/f.json" --peers "$SOURCE/bench/peers/h200.txt"

# The cases for test-backend-ops, with a stand-in for it and for ggml's header.
cat >"$work/ggml.h" <<'END'
enum ggml_type { GGML_TYPE_F32 = 0, // first
    GGML_TYPE_F16 = 1,
    GGML_TYPE_I32 = 26, };
enum ggml_op { GGML_OP_NONE = 0,

    GGML_OP_DUP,
    GGML_OP_MUL_MAT, GGML_OP_COUNT_ME,
    GGML_OP_MUL_MAT_ID,
    GGML_OP_GET_ROWS,
    GGML_OP_CPY,
    GGML_OP_SET_ROWS, };
END
sed -i 's/GGML_OP_MUL_MAT, /GGML_OP_MUL_MAT,\n/' "$work/ggml.h"
printf '#!/bin/sh\ncat "$3" >&2\ncat "%s"\n' "$work/ggml.txt" >"$work/test-backend-ops"
chmod +x "$work/test-backend-ops"
FORMATS='q4_0' SHAPES='gemv 512 1024 8
gather 256 1024 1
gemv_id 64 256 2 16 4
encode 32 512 1
set_rows 32 512 1' "$SOURCE/bench/peers/ggml.sh" ggml "$work/test-backend-ops" "$work/ggml.h" -b CPU \
  >"$work/ggml.peers" 2>"$work/cases"
cat >"$work/expected" <<'END'
2 0 512 8 1 1 0 2 2 1024 512 1 1 0 0 0 0 0 1024 8 1 1 0 0 0 0 gemv:q4_0:512:1024:8
5 0 1024 256 1 1 0 2 2 1024 256 1 1 0 0 0 0 26 256 1 1 1 0 0 0 0 gather:q4_0:256:1024:1
4 0 64 4 2 1 0 3 2 256 64 16 1 0 0 0 0 0 256 1 2 1 0 0 0 0 26 4 2 1 1 0 0 0 0 gemv_id:q4_0:64:256:2
6 2 512 32 1 1 0 2 0 512 32 1 1 0 0 0 0 2 512 32 1 1 0 0 0 0 encode:q4_0:32:512:1
7 2 512 32 1 1 0 2 0 512 32 1 1 0 0 0 0 26 32 1 1 1 0 0 0 0 set_rows:q4_0:32:512:1
END
check "cases for ggml" diff "$work/expected" "$work/cases"

# Shapes of models: each distinct one once, with each batch; what a format's blocks do not divide is left out.
printf '# made up\nq 64 288 2\n\no 64 288 1 # as q\nexperts 64 768 2 8 2\n' >"$work/tiny.txt"
cat >"$work/expected" <<'END'
gemv 64 288 1
gemv 64 288 5
gemv_id 64 768 1 8 2
gemv_id 64 768 5 8 2
END
MODELS=$work/tiny.txt BATCHES=1,5 "$SOURCE/bench/peers/ggml.sh" ggml --shapes >"$work/shapes"
check "shapes of a model" diff "$work/expected" "$work/shapes"
check "shapes of the models that are kept" test \
  "$(MODELS=llama-3.1-8b,qwen3-8b BATCHES=1 "$SOURCE/bench/peers/ggml.sh" ggml --shapes | wc -l)" -eq 8
FORMATS='q4_K' MODELS=$work/tiny.txt BATCHES=1 \
  "$SOURCE/bench/peers/ggml.sh" ggml "$work/test-backend-ops" "$work/ggml.h" 2>"$work/cases" >/dev/null
says "a shape that does not fit" '^ggml.sh: q4_K: left out gemv 64 288 1: columns must be a multiple of 256$' "$work/cases"
says "a shape that fits" ' gemv_id:q4_K:64:768:1$' "$work/cases"
FORMATS='q4_K' MODELS=$work/tiny.txt BATCHES=1 "$SOURCE/bench/peers/ggml.sh" ggml --cases "$work/ggml.h" >"$work/only" 2>/dev/null
check "cases without a run" diff <(grep gemv_id "$work/cases") "$work/only"
refuses "cases without a header" "cannot read .*/nowhere.h; name include/ggml.h" "$SOURCE/bench/peers/ggml.sh" ggml --cases "$work/nowhere.h"
refuses "no such model" "MODELS: cannot read .*/nowhere.txt; name a file, or one of: .*qwen3-8b" \
  env MODELS=nowhere "$SOURCE/bench/peers/ggml.sh" ggml --shapes

# ggml's program, made to measure briefly: a stand-in with the lines that are changed.
cat >"$work/ops.cpp" <<'END'
static void init_tensor_uniform(int * tensor) {
    bool eval_perf(int backend) {
        int buf(ggml_backend_alloc_ctx_tensors(ctx.get(), backend));
        // duplicate the op
        for (int i = 1; i < n_runs; i++) {
        } while (total_time_us < 1000*1000);
    bool eval_support(int backend) {
                } else if (op == GGML_OP_MUL_MAT_ID || op == GGML_OP_ADD_ID) {
                        std::vector<int32_t> data(t->ne[0]);
                        for (int32_t i = 0; i < t->ne[0]; i++) {
                        std::shuffle(data.begin(), data.end(), rng);
END
cp "$work/ops.cpp" "$work/more.cpp" && grep -v 'duplicate the op' "$work/ops.cpp" >"$work/less.cpp" && cp "$work/less.cpp" "$work/same.cpp"
cat "$work/ops.cpp" >>"$work/more.cpp"
check "ggml's program is changed" "$SOURCE/bench/peers/ggml_quick.sh" "$work/ops.cpp"
says "its time" '^        } while \(total_time_us < \(qk_perf_us \? ' "$work/ops.cpp"
says "the weights come before the other tensors" '^        int buf' <(grep -A1 'if (qk_perf_us) qk_place_in_pool' "$work/ops.cpp")
refuses "a program that is changed" "is changed already" "$SOURCE/bench/peers/ggml_quick.sh" "$work/ops.cpp"
refuses "a program that lacks a line" "has not the lines .*qk_perf_us . probe" "$SOURCE/bench/peers/ggml_quick.sh" "$work/less.cpp"
check "a refused program stays as it is" cmp "$work/less.cpp" "$work/same.cpp"
refuses "a program with more such lines" "has not the lines that were to be changed" "$SOURCE/bench/peers/ggml_quick.sh" "$work/more.cpp"

# ---- the page ----

mkdir -p "$work/figures" "$work/docs"
cp "$work/f.json" "$work/figures/figures.json"
cp "$work/s.json" "$work/figures/sizes.json"
"$QKGEN" bench dequant --format q4_0 --type f16,f32 "${small[@]}" --quick --json "$work/figures/decoders.json" >/dev/null
"$QKGEN" bench qdq_init --rows 4 --cols 512 >"$work/figures/qdq.txt"
page=$work/docs/figures.md
cp "$SOURCE/docs/performance/figures.md" "$page"
printf '%s\n' '| model | us |' '|---|---|' '| made up | 7 |' >"$work/figures/models.md"
for _ in 1 2; do PAGE=$page "$SOURCE/bench/report.sh" "$work/figures" >/dev/null; done
check "the page's tables, once" test "$(grep -c '^\*\*gemv, 3 vectors, 32 x 512\*\*$' "$page")" -eq 1
check "the page's decoders" grep -q '^\*\*dequant f16, 32 x 512\*\*$' "$page"
check "the page's training" test "$(grep -c '^    qdq_init .* of copy$' "$page")" -eq 1
check "the page's models, once" test "$(grep -c '^| made up | 7 |$' "$page")" -eq 1
check "models before figures" test "$(grep -n '^| made up' "$page" | cut -d: -f1)" -lt "$(grep -nx '<!-- figures -->' "$page" | cut -d: -f1)"
check "the page's end" grep -q '^## What was not measured$' "$page"
check "the page's pictures" cmp "$work/f.svg" "$work/docs/formats.svg"
# Without models, those that are there stay.
rm "$work/figures/models.md"
cp "$page" "$work/before.md"
PAGE=$page "$SOURCE/bench/report.sh" "$work/figures" >/dev/null
check "models stay" cmp "$work/before.md" "$page"
# Models alone: the tables stay.
mkdir "$work/models"
echo '| made up | 9 |' >"$work/models/models.md"
PAGE=$page "$SOURCE/bench/report.sh" "$work/models" >/dev/null
check "models alone" test "$(diff "$work/before.md" "$page" | grep -c '^[<>]')" -eq 4
check "they are other ones" grep -qx '| made up | 9 |' "$page"
rm "$work/models/models.md"
refuses "nothing to report" "has neither figures.json, which bench/measure.sh writes, nor models.md" \
  env PAGE="$page" "$SOURCE/bench/report.sh" "$work/models"
# A page that has no place for what there is to write stays as it is.
sed -i '/^<!-- end of models -->$/d' "$page"
cp "$page" "$work/before.md"
echo '| made up | 8 |' >"$work/figures/models.md"
refuses "a page without a place for models" "has no lines <!-- models --> and <!-- end of models -->, between which the tables go; add them" \
  env PAGE="$page" "$SOURCE/bench/report.sh" "$work/figures"
check "such a page stays" cmp "$work/before.md" "$page"

# ---- links between the documents on performance ----

# anchors FILE: what its headings are called in links.
anchors() {
  sed -nE 's/^#+ (.*)/\1/p' "$1" | tr 'A-Z' 'a-z' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}
for path in "$SOURCE"/docs/performance.md "$SOURCE"/docs/performance/*.md; do
  while IFS= read -r link; do
    file=$(dirname "$path")/${link%%#*}
    [ -n "${link%%#*}" ] || file=$path
    check "$(basename "$path"): a link to $link" test -e "$file"
    [[ $link != *#* ]] || check "$(basename "$path"): a link to $link" grep -qxF -- "${link#*#}" <(anchors "$file")
  done < <(grep -oE '\]\([^)]+\)' "$path" | sed -E 's/^\]\(//; s/\)$//' | grep -v '^http')
done

# ---- what it refuses ----

refuses "no family" "bench needs kernel families" "$QKGEN" bench --format q4_0
refuses "no such family" "no kernel family is named gemx" "$QKGEN" bench gemx --format q4_0
refuses "no such type" "gather has no kernels of type f64" "$QKGEN" bench gather --format q4_0 --type f32,f64
refuses "a class without a format" "qdq_init takes none of --type, --class" "$QKGEN" bench qdq_init --class exact
refuses "a file without a format" "qdq_init writes its figures as text alone" "$QKGEN" bench qdq_init --json "$work/q.json"
refuses "no format" "bench needs --format F" "$QKGEN" bench gemv
refuses "no such format" "did you mean q4_0" "$QKGEN" bench gemv --format q4_00
refuses "no such pattern" "no format matches 'z\*'" "$QKGEN" bench gemv --format 'z*'
refuses "no such origin" "no format is from 'nowhere'" "$QKGEN" bench gemv --from nowhere
refuses "a batch of nothing" "--batch must be at most eight whole numbers from 1" "$QKGEN" bench gemv --format q4_0 --batch 0
check "more vectors than a launch takes" "$QKGEN" bench gemv --format q4_0 --batch 9,17 "${small[@]}" --quick
refuses "a shape" "q4_K has no such kernel, or no tensor of that shape; blocks are 1 x 256" \
  "$QKGEN" bench gemv --format q4_K --rows 4 --cols 32
refuses "a constant" "no constant is named 'rowz'" \
  "$QKGEN" bench gemv --format q4_0 --constant rowz=2 "${small[@]}"
refuses "a file that is no JSON" "expected: byte [0-9]+: this is no JSON" "$QKGEN" bench --read "$work/expected"
echo '{}' >"$work/none.json"
refuses "a file of something else" "device, driver, cpu, copy or results is missing" "$QKGEN" bench --read "$work/none.json"
sed 's/"rows": 32/"rows": -1/' "$work/f.json" >"$work/none.json"
refuses "a figure" "result [0-9]+ lacks a member, or has one out of range" "$QKGEN" bench --read "$work/none.json"
refuses "a folder that is not there" "cannot write" "$QKGEN" bench --read "$work/f.json" --json /dev/null/x
finish
