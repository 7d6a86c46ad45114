#!/usr/bin/env bash
# Sums of views: strides of x, y, ids and weights, several products in one call, some with the same weights, offsets that a device cannot
# bind, and results of 16 bits. All sums are exact, so that targets have the same bytes as the reference, which takes vectors one by one.
source "$(dirname "$0")/../lib.sh"

# Forty rows of 256, with scales of 1/8; and vectors of 1, 2 or -1, in f32 and f16. Results of 16 bits have to be rounded.
for ((i = 0; i < 40 * 8; ++i)); do
  block='\x00\x30'
  for ((k = 0; k < 32; ++k)); do printf -v block '%s\\x%02x' "$block" $(((i * 37 + k * 11 + i * k % 7) % 256)); done
  printf '%b' "$block"
done >"$work/all_w"
for ((i = 0; i < 1024; ++i)); do
  case $((i * i % 7 % 3)) in 0) printf '\x00\x00\x80\x3f' ;; 1) printf '\x00\x00\x00\x40' ;; *) printf '\x00\x00\x80\xbf' ;; esac
done >"$work/some_f32"
for ((i = 0; i < 1024; ++i)); do
  case $((i * i % 7 % 3)) in 0) printf '\x00\x3c' ;; 1) printf '\x00\x40' ;; *) printf '\x00\xbc' ;; esac
done >"$work/some_f16"
for type in f32 f16; do for ((i = 0; i < 24; ++i)); do cat "$work/some_$type"; done >"$work/all_$type"; done
for ((i = 0; i < 64; ++i)); do printf '%b' "\\x$(printf %02x $((i * 5 % 7 % 5)))\0\0\0"; done >"$work/all_ids" # of four experts

# views NAME FAMILY TYPE WEIGHT_ROWS X_ELEMENTS [IDS] OPTION...: the same on all targets.
views() {
  local name=$1 family=$2 type=$3 rows=$4 x=$5 reference=$2 target
  shift 5
  head -c $((rows * 8 * 34)) "$work/all_w" >"$work/w"
  head -c $((x * ${type#f} / 8)) "$work/all_$type" >"$work/x"
  case $family in *_id) head -c $(($1 * 4)) "$work/all_ids" >"$work/ids" && shift && set -- --ids "$work/ids" --experts 4 "$@" ;; esac
  set -- --format q8_0 --type "$type" --in "$work/w" --x "$work/x" --cols 256 "$@"
  check "$name, $family: the reference" "$QKGEN" run "${reference/gemm/gemv}" --target c "$@" --out "$work/expected"
  for target in $targets; do
    if [ "$target" = c ] || [ "$target $family" = "msl gemm" ] || [ "$target $family" = "msl gemm_id" ]; then continue; fi
    check "$name, $family: $target" "$QKGEN" run "$family" --target "$target" "$@" --out "$work/y"
    check "$name, $family: $target has the same bytes" cmp "$work/expected" "$work/y"
  done
}

for family in gemv gemm; do
  views "strides" $family f32 7 $((2 * 260 + 256)) --rows 7 --batch 3 --views x_stride=260,y_stride=9
  for y_type in f16 bf16; do
    views "odd rows in $y_type" $family f16 5 $((3 * 256)) --rows 5 --batch 3 --views y_type=$y_type
    views "offsets in $y_type" $family f32 5 $((3 * 256)) --rows 5 --batch 3 --views y_type=$y_type,y_offset=6,x_offset=16
  done
  views "nine vectors" $family f16 3 $((8 * 264 + 256)) --rows 3 --batch 9 --views x_stride=264,x_offset=8,y_offset=4
  views "products" $family f32 18 $((12 * 2 * 256)) --rows 3 --batch 2 --views batches=4:3,weights_batches=2:3
  views "products with strides" $family f32 18 $((1900 + 2 * 6000 + 512)) --rows 3 --batch 2 \
    --views batches=2:3,weights_batches=2:3,x_strides=1900:6000,y_strides=7:20,weights_strides=3:6,y_type=f16
  views "permuted" $family f32 12 $((4 * 768)) --rows 3 --batch 1 \
    --views batches=4:3,weights_batches=4:1,x_strides=768:256,y_strides=10:3
  views "weights apart" $family f16 $((2 * 5 + 3)) $((3 * 256)) --rows 3 --batch 1 --views batches=3,weights_batches=3,weights_strides=5
done
for family in gemv_id gemm_id; do
  views "ids and slots" $family f32 $((3 * 6 + 5)) $((4 * 800 + 260 + 256)) $((4 * 3 + 2)) --rows 5 --tokens 5 --slots 2 --x-slots 2 \
    --views x_slot_stride=260,x_stride=800,y_slot_stride=6,y_stride=13,ids_stride=3,weights_stride=6
  views "slots outside" $family f16 20 $((3 * 256)) 6 --rows 5 --tokens 3 --slots 2 --views y_slot_stride=15,y_stride=5,y_type=bf16
  views "offsets" $family f32 20 $((3 * 256)) 6 --rows 5 --tokens 3 --slots 2 --views x_offset=48,y_offset=2,y_type=f16
done

# Sets of four experts: the same as a call for each, also where they lie between one another.
set -- --rows 5 --tokens 3 --slots 2
views "two sets" gemv_id f32 40 $((3 * 256)) 6 "$@" --views sets=2
set -- gemv_id --format q8_0 --type f32 --x "$work/x" --cols 256 --ids "$work/ids" --experts 4 "$@"
mv "$work/w" "$work/sets_w"
for target in $targets; do
  for set in 0 1; do
    head -c $(((set + 1) * 20 * 8 * 34)) "$work/sets_w" | tail -c $((20 * 8 * 34)) >"$work/w"
    check "set $set alone: $target" "$QKGEN" run "$@" --target "$target" --in "$work/w" --out "$work/y$set"
  done
  cat "$work/y0" "$work/y1" >"$work/y"
  check "two sets: $target has the same bytes as two calls" cmp "$work/expected" "$work/y"
done
set -- --rows 5 --tokens 3 --slots 2
views "sets between one another" gemv_id f16 40 $((3 * 256)) 6 "$@" --views \
  sets=2,weights_stride=10,weights_set_stride=5,y_set_stride=33,y_type=f16,y_offset=2
views "results between one another" gemv_id f32 40 $((3 * 256)) 6 "$@" --views sets=2,y_slot_stride=10,y_set_stride=5
if [[ $targets == *vulkan* ]]; then
  refuses "sets of many tokens" "views->sets is 2, must be 1 for many tokens; gemv_id takes more" "$QKGEN" run gemm_id --format q8_0 \
    --type f32 --in "$work/w" --x "$work/x" --cols 256 --ids "$work/ids" --experts 4 "$@" --target vulkan --views sets=2 --out "$work/y"
fi

# What is added to results lies as they do; and of views that are wrong, what is.
head -c $((2 * 9 * 2 + 7 * 2)) "$work/all_f16" >"$work/before"
views "what y holds" gemv f32 7 $((3 * 256)) --rows 7 --batch 3 --views y_stride=9,y_type=f16 --add "$work/before"
head -c $((7 * 8 * 34)) "$work/all_w" >"$work/w"
head -c $((3 * 1024)) "$work/all_f32" >"$work/x"
wrong() { refuses "$1" "$2" "$QKGEN" run gemv --format q8_0 --type f32 --in "$work/w" --x "$work/x" --rows 7 --cols 256 --batch 3 \
  --target "${4:-c}" --views "$3" --out "$work/y"; }
wrong "an unknown member" "there is no 'stride'; there are batches" stride=4
wrong "no number" "x_stride must be a number, not 'a'" x_stride=a
wrong "three numbers" "batches must be a number, or two with ':' between them" batches=1:2:3
wrong "an unknown type" "y_type must be f32, f16 or bf16, not 'f64'" y_type=f64
wrong "batches that do not divide" "weights_batches is 3, and must divide batches, 4" batches=4,weights_batches=3
wrong "too few vectors" "holds 3072 bytes, but --batch 3 of --cols 256 in f32 with --views has" x_stride=300
wrong "results that overlap" "views->y_stride is 6, must be at least 7, so that results do not overlap" y_stride=6 vulkan
wrong "an offset" "y.offset is 2, must be a multiple of 4" y_offset=2 vulkan
refuses "no vectors" "views is for families that sum; dequant has no vectors" "$QKGEN" run dequant --format q8_0 --type f32 --in "$work/w" \
  --target c --views y_type=f16 --out "$work/y"

# All schedules, with what lies between results, and each result by itself.
case_of() { check "$1" "${QKGEN_NEWER:-$QKGEN}" soak --case "class=exact rows=70 seed=3 offset=1 x=gaussian weights=random $1"; }
for schedule in 1 2 3 4 5; do
  case_of "format=q4_K family=gemv type=f32 cols=1024 batch=1 constants=schedule:$schedule views=y_type=f16,batches=2,weights_batches=2,y_stride=71"
  case_of "format=q4_K family=gemv type=f16 cols=1024 batch=3 parts=2 constants=schedule:$schedule views=y_type=bf16,y_stride=71,x_offset=8"
done
sets="experts=5 slots=2 batch=3 views=sets=3,y_set_stride=900,y_type=f16"
for constants in "" " constants=schedule:0"; do
  case_of "format=q4_K family=gemv_id type=f32 cols=1024 epilogue=279 $sets,weights_set_stride=355$constants"
  case_of "format=q4_K family=gemv_id type=f32 cols=1024 epilogue=535 parts=4 $sets,weights_stride=71$constants"
  case_of "format=q2_k_r4 family=gemv_id type=f32 rows=72 cols=1024 epilogue=526 $sets,weights_set_stride=72$constants"
  case_of "format=aqlm_2x8_g8 family=gemv_id type=f32 rows=64 cols=1024 epilogue=30 $sets,weights_set_stride=448$constants"
done
# Gate and up, in either order: rows of both in turn, of each schedule whose neighbours have them, and of subgroups that share them.
gated() {
  local format=$1 gate more dense sets cols=cols=2048
  shift
  for more in "" " constants=schedule:2,local_size_x:256,rows:8,split:8" " constants=schedule:3,rows:2" "$@"; do
    for gate in 1 2; do
      dense="views=batches=2,weights_batches=2,weights_strides=73,x_strides=same,gated=$gate,y_offset=4"
      sets="views=sets=2,weights_stride=71,weights_set_stride=400,y_type=bf16,y_slot_stride=74,gated=$gate"
      case_of "format=$format family=gemv type=f32 rows=69 $cols batch=1 $dense$more"
      case_of "format=$format family=gemv_id type=f16 $cols experts=5 slots=2 batch=3 $sets${more/,split:8/}"
    done
  done
}
gated q4_K " constants=schedule:4"
gated iq3_xxs
wrong "an unknown gate" "gated must be 0, 1 or 2, not '3'" gated=3
wrong "a gate of nothing" "gated products are two, of one vector, or of two sets" gated=1
head -c $((14 * 8 * 34)) "$work/all_w" >"$work/w"
head -c 1024 "$work/all_f32" >"$work/x"
set -- run gemv --format q8_0 --type f32 --in "$work/w" --x "$work/x" --rows 7 --cols 256 --views
views=batches=2,weights_batches=2,x_strides=0:0
check "gate and up alone" "$QKGEN" "$@" ${views/=0:0/=same} --target c --out "$work/y0"
check "gated in C" "$QKGEN" "$@" ${views/=0:0/=same},gated=2 --target c --out "$work/y"
check "the first times silu of the second" awk 'BEGIN { for (i = 1; i < 15; ++i) v[i] = ARGV[i]; for (i = 1; i < 8; ++i) {
  must = v[i] * v[i + 7] / (1 + exp(-v[i + 7])); d = ARGV[14 + i] - must; if (d * d > 1e-8 * must * must + 1e-12) exit 1 } }' \
  $(od -An -v -tf4 "$work/y0") $(od -An -v -tf4 "$work/y")
if [[ $targets == *msl* ]]; then
  refuses "a gate in Metal" "views->gated is 1, must be 0: the kernel does not take rows of two matrices in turn" "$QKGEN" "$@" \
    ${views/=0:0/=same},gated=1 --target msl --out "$work/y"
fi
# The slots of a token are added up: of each schedule, of one slot and of more than a workgroup has subgroups for, with all that may be behind.
added="views=adds_slots=1,y_stride=72,weights_stride=71"
for format in q4_K iq3_xxs; do
  for more in "" ",y_type=f16,x_offset=48 constants=schedule:0" " constants=staged:1024,rows:2" " epilogue=533" ",y_type=bf16,y_offset=2 epilogue=516"; do
    for slots in 1 3 8 13; do
      case_of "format=$format family=gemv_id type=f32 cols=2048 experts=5 slots=$slots batch=2 $added$more"
    done
  done
done
for slots in 3 8; do # each with x of its own, staged together with those of others
  for more in staged:512 staged:1024,rows:2 staged:1; do
    case_of "format=q4_K family=gemv_id type=f32 cols=1280 experts=5 slots=$slots x_slots=$slots batch=2 $added constants=$more"
    case_of "format=q4_1 family=gemv_id class=int8 type=f16 cols=768 experts=5 slots=$slots x_slots=$slots batch=2 $added,x_stride=12288 constants=$more"
  done
done
for rows in 8 2 1; do # of short rows, several are in a subgroup
  case_of "format=q4_K family=gemv_id type=f32 cols=256 experts=5 slots=3 batch=2 $added constants=rows:$rows"
  case_of "format=q8_0 family=gemv_id type=f32 cols=256 experts=5 slots=8 batch=2 $added constants=rows:$rows"
done
case_of "format=q4_0 family=gemv_id class=split type=f16 cols=96 experts=3 slots=5 batch=3 $added,x_stride=504"
case_of "format=q4_0 family=gemv_id class=int8 type=f32 cols=10240 experts=3 slots=2 batch=1 $added"
head -c $((15 * 8 * 34)) "$work/all_w" >"$work/w"
head -c $((6 * 1024)) "$work/all_f32" >"$work/x"
printf '\2\0\0\0\1\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0' >"$work/ids"
printf '\0\0\x80\x3f\0\0\0\x40\0\0\x80\x40\0\0\x80\xbf\0\0\0\x3f\0\0\0\0' >"$work/factors" # 1 2 4 -1 0.5 0
set -- run gemv_id --format q8_0 --type f32 --in "$work/w" --x "$work/x" --ids "$work/ids" --experts 3 --rows 5 --cols 256 --tokens 2 \
  --slots 3 --x-slots 3
check "slots alone" "$QKGEN" "$@" --target c --out "$work/y0"
check "their sums with factors, of each token" "$QKGEN" "$@" --target c --views adds_slots=1 --scale "$work/factors" --scale-per vector \
  --out "$work/expected"
check "the first and the second times their factors, for the third is of no expert" awk 'BEGIN { for (t = 0; t < 2; ++t) for (n = 0; n < 5; ++n) {
  split(t ? "-1 0.5 0" : "1 2 0", f, " "); sum = 0; for (s = 0; s < 3; ++s) sum += f[s + 1] * ARGV[1 + (t * 3 + s) * 5 + n]
  d = ARGV[31 + t * 5 + n] - sum; if (d * d > 1e-10 * sum * sum) exit 1 } }' $(od -An -v -tf4 "$work/y0") $(od -An -v -tf4 "$work/expected")
check "one result for each token" test "$(stat -c %s "$work/expected")" = 40
wrong_slots() { refuses "$1" "$2" "$QKGEN" "${@:4}" --views "adds_slots=$3" --out "$work/none"; }
wrong_slots "slots neither added nor not" "adds_slots must be 0 or 1, not '2'" 2 "$@" --target c
wrong_slots "slots of several sets" "slots that are added up are of one set" 1,sets=2 "$@" --target c
if [[ $targets == *vulkan* ]]; then
  check "they are added up on Vulkan" "$QKGEN" "$@" --target vulkan --views adds_slots=1 --scale "$work/factors" --scale-per vector --out "$work/y"
  check "an id that is out of range" grep -q "1 of 6 ids are not below --experts 3" <("$QKGEN" "$@" --target vulkan --views adds_slots=1 --out "$work/y1" 2>&1)
  check "to the same bytes" cmp "$work/expected" "$work/y"
  wrong_slots "slots of many tokens" "views->adds_slots is 1, must be 0: the kernel has a result for each slot" 1 "${@/gemv_id/gemm_id}" --target vulkan
  head -c 60 "$work/all_f32" >"$work/bias"
  wrong_slots "slots with a bias" "must be 0 for an epilogue with a bias, a gate or scales of rows" 1 "$@" --target vulkan --bias "$work/bias"
fi
if [[ $targets == *msl* ]]; then
  wrong_slots "slots in Metal" "views->adds_slots is 1, must be 0: the kernel has a result for each slot" 1 "$@" --target msl
fi
# x that is normed, before and with all else: of one and several vectors, in each schedule that has all of them, with parts and gates.
right() {
  check "$1: it is not refused" grep -q ^right <("${QKGEN_NEWER:-$QKGEN}" soak --case "class=exact seed=3 offset=1 x=gaussian weights=random $1" 2>&1)
}
normed() {
  local format=$1 more cols=cols=2048 views=views=epsilon=0.01
  shift
  for more in "" "$@"; do
    right "format=$format family=gemv type=f32 rows=69 $cols batch=1 epilogue=19 $views,y_offset=4,x_offset=48$more"
    right "format=$format family=gemv type=f16 rows=69 $cols batch=1 $views,batches=2,weights_batches=2,x_strides=same,gated=2$more"
    right "format=$format family=gemv type=f32 rows=69 $cols batch=1 epilogue=1 $views,batches=3,weights_batches=3,x_strides=same,parts=2:70:0:1:0:138$more"
    right "format=$format family=gemv type=f32 rows=69 $cols batch=3 epilogue=26 $views,x_stride=2052,y_type=f16$more"
  done
  right "format=$format family=gemv type=f16 rows=9 $cols batch=13 parts=3 $views"
  right "format=$format family=gemv type=f32 rows=69 cols=512 batch=1 $views constants=schedule:2,local_size_x:64,rows:2,split:1"
}
normed q4_K " constants=schedule:2,local_size_x:256,rows:2,split:8" " constants=schedule:3,rows:2" " constants=schedule:2,staged:1024,local_size_x:128,rows:2"
normed iq3_xxs
head -c $((7 * 8 * 34)) "$work/all_w" >"$work/w"
head -c 2048 "$work/all_f32" >"$work/x"
head -c 2048 "$work/all_f32" | tail -c 1024 >"$work/norm"
set -- run gemv --format q8_0 --type f32 --in "$work/w" --x "$work/x" --rows 7 --cols 256 --batch 2
refuses "a norm without what is added" "--norm FILE is for --views epsilon=E, and the other way round" "$QKGEN" "$@" --norm "$work/norm" \
  --target c --out "$work/y"
wrong "a norm that adds nothing" "epsilon must be a number above 0, not '0'" epsilon=0
check "as it is" "$QKGEN" "$@" --target c --out "$work/y0"
head -c 1024 "$work/all_f32" >"$work/norm" # of which one times another is 1, 2 or 4
set -- "$@" --views epsilon=0.5 --norm "$work/norm"
check "normed in C" "$QKGEN" "$@" --target c --out "$work/expected"
for target in ${targets//msl/}; do
  check "normed: $target" "$QKGEN" "$@" --target "$target" --out "$work/y"
  check "normed: $target has the same numbers" awk 'BEGIN { for (i = 1; i < 15; ++i) { must = ARGV[i]; d = ARGV[14 + i] - must
    if (d * d > 1e-10 * must * must) exit 1 } }' $(od -An -v -tf4 "$work/expected") $(od -An -v -tf4 "$work/y")
done
if [[ $targets == *msl* ]]; then
  refuses "a norm in Metal" "views->epsilon is 0.5, must be 0: the kernel does not norm x" "$QKGEN" "$@" --target msl --out "$work/y"
fi
case_of "format=nf4_b64 family=gemv type=f32 cols=67 batch=3 views=x_stride=69,y_stride=71,y_type=f16"
case_of "format=gptq_v1_b4_g128 family=gemv type=f32 rows=128 cols=256 batch=2 views=batches=3,x_stride=260,y_offset=2,y_type=f16"
finish
