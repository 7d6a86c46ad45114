#!/usr/bin/env bash
# Matrix times vectors, of every format with every target, against sums in double precision over the library's or the
# packer's values: the relative L2 error stays within the bound of the class. The largest error of each format, family and
# target is a line of gemv.txt in BUILD, which is printed with TABLE=1; ALL=1 takes every format to every target.
source "$(dirname "$0")/../lib.sh"
: "${PACK:?names the packers}"
: >"$work/errors"

# bound_of CLASS: and what it is relative to.
bound_of() {
  case $1 in exact | int24) echo near 2e-6 ;; split) echo near_random 1e-4 ;; int8) echo near_random 1e-2 ;; half | mma) echo near_random 2e-3 ;; esac
}

# has_class FORMAT CLASS: what cannot be integers of eight bits are tables of floats, and floats of eight bits or fewer; what is
# not are codes whose neighbours are of other rows.
has_class() {
  case $2-$1 in
    exact-* | half-* | mma-*) return 0 ;;
    *-nf4 | *-fp4 | *-nf4_* | *-fp4_* | *-fp8_* | *-mx_* | *-mlx_mxfp* | *-mlx_nvfp4 | *-nvfp4_ckpt* | *-gptq_* | *-awq_*) return 1 ;;
  esac
}

# turn FORMAT N: `turned` is a number below N, the same for a name each time: what is shared out among formats.
turn() {
  local sum=${sums#* "$1":}
  turned=$((${sum%% *} % $2))
}
mkdir "$work/names"
for name in $({ formats; "$PACK" list | cut -f 1; } | sort -u); do echo "$name" >"$work/names/$name"; done
sums=" $(cd "$work/names" && cksum * | sed -E 's/^([0-9]+) [0-9]+ (.*)/\2:\1/' | tr '\n' ' ')"
export sums

# runs_of FORMAT KIND: targets and classes, of one vector, of several, or of experts. Metal has exact, half and mma alone, and
# mma_test compares mma. A driver compiles for seconds. So, unless ALL is set, some formats stand for all, in all
# that there is. Of the others, with one vector each is compared in exact, every fourth in split and every fourth in half; with
# experts every eighth in exact; with several vectors none on Vulkan. int8 and int24 are split with a digit less and a digit more.
# Fewer go to Metal, too, every second of them, and in class half even fewer. cli/soak.sh draws from all of it.
runs_of() {
  local target class turned
  case ${ALL:-}$2-$1 in
    1* | one-* | *-q4_0 | *-q4_K | *-q5_1 | *-q6_K | *-q8_0 | *-q1_0 | *-tq2_0 | *-iq2_xxs | *-iq4_nl | *-mxfp4 | *-nf4_b64) ;;
    *-fp8_tensor | *-awq_b4_g64 | *-affine_b[346]_g64_bf16) ;;
    *)
      for target in $(targets_of "$1"); do
        case $2-$target-$1 in
          several-msl-q3_K) ;; # whose third bits lie in two words
          *-msl-* | several-vulkan-*) continue ;;
          experts-vulkan-*) turn "$1" 8 && [ $turned = 0 ] || continue ;;
        esac
        echo "$target exact"
      done
      return 0
      ;;
  esac
  for target in $(targets_of "$1"); do
    # On Metal the experts' kernel differs from that of a matrix in its walk alone: a few formats show it.
    case ${ALL:-}$2-$target-$1 in
      one-msl-q4_0 | one-msl-q4_K | one-msl-q6_K | one-msl-iq2_xxs | one-msl-nf4_b64 | one-msl-affine_b3_g64_bf16) ;;
      one-msl-*) turn "$1" 2 && [ $turned = 0 ] || continue ;; # cli_dequant executes the decoders of all
      1* | experts-msl-q4_0 | experts-msl-q6_K | experts-msl-mxfp4 | experts-msl-affine_b3_g64_bf16) ;;
      experts-msl-*) continue ;;
    esac
    echo "$target exact"
    case $target-${ALL:-}$1 in
      msl-q4_0 | msl-q6_K | msl-iq2_xxs | msl-nf4_b64 | msl-affine_b3_g64_bf16 | msl-1*) echo "msl half" ;;
    esac
    case $target-$2-$1 in msl-experts-*) ;; msl-*-q4_0 | msl-*-q4_K) echo "msl mma" ;; esac
  done
  turn "$1" 4
  case ${ALL:-}$1 in
    1* | [it]*q* | q* | nvfp4 | mxfp4 | mlx_* | affine_b?_g64_bf16 | awq_b4_g64 | gptq_v?_b4_g64 | hqq_b4_g64 | ct_b4_g32 | nf4_b64 | fp8_tensor | int8_channel)
      for class in int8 split half int24; do
        case ${ALL:-}$2-$class-$1 in
          1* | one-int8-mlx_mxfp4 | *-int8-nf4_b64 | *-int8-fp8_tensor) ;;
          one-int24-q4_K | one-int24-iq2_xxs | one-int24-affine_b3_g64_bf16) ;;
          *-int24-*) continue ;;
          *-q4_0 | *-q4_K | *-q8_0 | *-iq2_xxs | *-affine_b3_g64_bf16) ;;
          one-split-*) [ $turned = 0 ] || continue ;;
          one-half-*) [ $turned = 1 ] || continue ;;
          *) continue ;;
        esac
        echo "vulkan $class"
      done ;;
  esac
}

export -f bound_of has_class turn runs_of

# targets_of FORMAT: of the members of a family that differ in the group or the type of the scales, unless ALL is set, one is compared on
# Metal; on Vulkan each width with one group, each other group and type with one width.
targets_of() {
  local some=${targets/msl/}
  [ -z "${ALL:-}" ] || { echo "$targets" && return; }
  case $1 in
    affine_b[34]_g64_bf16) echo "$targets" ;;
    affine_b?_g64_bf16 | affine_b4_g32_f16 | affine_b6_g128_f32) echo "$some" ;;
    affine_*_f16 | affine_*_f32 | affine_*_g32_* | affine_*_g128_*) echo "${some/vulkan/}" ;;
    gptq_v1_b8_g64 | gptq_v1_b2_channel | gptq_v1_b3_g128_act | gptq_v2_b4_g64_act) echo "$some" ;;
    gptq_v1_b4_g64 | gptq_v2_b3_g64_act) echo "$targets" ;;
    gptq_*) echo "${some/vulkan/}" ;;
    ct_b4_g128 | ct_b8_g32 | ct_b4_zp_g32 | hqq_b[23]_g64 | hqq_b8_g128 | *_b128) echo "$some" ;;
    ct_*_g128 | ct_b4_zp_* | hqq_b[238]_* | awq_b4_g32 | awq_b4_g128) echo "${some/vulkan/}" ;;
    *) echo "$targets" ;;
  esac
}
export -f targets_of

# draw_x SEED COUNT TYPE DATA: x of that type, and what it is in x.f32.
draw_x() {
  "$vectors" normal "$1" "$2" >"$4/x.f32"
  if [ "$3" = f32 ]; then cp "$4/x.f32" "$4/x" && return; fi
  "$vectors" round "$3" "$4/x.f32" "$4/x"
  "$vectors" widen "$3" "$4/x" "$4/x.f32"
}

# read_layout FORMAT: `elements` of a block, and `sizes`, its buffers.
read_layout() {
  local layout
  layout=$("$QKGEN" --dump=layout --format "$1")
  [[ $layout =~ block\ of\ ([0-9]+)\ elements ]] && elements=${BASH_REMATCH[1]}
  sizes=$(buffers_in <<<"$layout")
}

# near FORMAT SHAPE BATCH TYPE DATA INPUT...: DATA has values.f32, rows of it in the first rows * cols elements.
near() {
  local format=$1 rows=${2%x*} cols=${2#*x} batch=$3 type=$4 data=$5 target class run
  shift 5
  draw_x 11 $((batch * cols)) "$type" "$data"
  "$vectors" product "$data/values.f32" "$data/x.f32" "$cols" "$data/expected"
  while read -r target class; do
    run=(gemv --format "$format" --rows "$rows" --cols "$cols" --batch "$batch" --target "$target" --type "$type" "$@"
      --x "$data/x" --out "$data/y-$target-$class" --class "$class")
    if ! has_class "$format" "$class"; then
      refuses "$format has no class $class" "there is no class $class for $format" "$QKGEN" run "${run[@]}"
      continue
    fi
    later "${run[@]}"
    afterwards compare "$number" "$format" gemv "$target" "$class" "$data" "$rows x $cols, batch $batch, $type"
  done < <(runs_of "$format" $([ "$batch" -gt 1 ] && echo several || echo one))
}

# compare NUMBER FORMAT FAMILY TARGET CLASS DATA WHAT: what that run wrote, with what is expected.
compare() {
  local format=$2 family=$3 target=$4 class=$5 data=$6 error what="$3 $2, $7 on $4, class $5"
  if ! ran "$1"; then
    fail "$what: the run failed" "$why"
    return 0
  fi
  error=$("$vectors" $(bound_of "$class") "$data/y-$target-$class" "$data/expected") && pass || fail "$what: error $error"
  echo "$format $family $target $class $error" >>"$work/errors"
}

# blocks FORMAT ROWS BLOCKS BATCH TYPE: data of the library, repeated to so many rows of so many blocks. Where these are a multiple of
# the library's 16, all rows are the same: then the norm over them is that of one sum, which no class of few bits bounds.
blocks() {
  local format=$1 rows=$2 data=$work/$1-$2-$4-$5 elements sizes size name have again
  read_layout "$format"
  reference "$format" "$data.once"
  mkdir "$data"
  have=$(($(stat -c %s "$data.once/values.f32") / 4))
  for name in "$data.once"/*; do
    again=()
    for ((i = 0; i < rows * $3 * elements; i += have)); do again+=("$name"); done
    cat "${again[@]}" >"$data/${name##*/}"
  done
  while read -r name size _; do
    truncate -s $((size * rows * $3)) "$data/$name"
  done <<<"$sizes"
  truncate -s $((rows * $3 * elements * 4)) "$data/values.f32"
  # shellcheck disable=SC2046
  near "$format" "${rows}x$(($3 * elements))" "$4" "$5" "$data" $(inputs "$data")
  rm -r "$data.once"
  afterwards rm -r "$data"
}

# checkpoint FORMAT SHAPE BATCH TYPE BUFFER...
checkpoint() {
  local format=$1 shape=$2 batch=$3 type=$4 data=$work/$1-$2-$3 name inputs=()
  shift 4
  mkdir "$data"
  "$PACK" "$format" "${shape%x*}" "${shape#*x}" 7 "$data" plain
  for name; do inputs+=(--in "${name/blocks/codes}=$data/$name.bin"); done
  near "$format" "$shape" "$batch" "$type" "$data" "${inputs[@]}"
  afterwards rm -r "$data"
}

# ragged FORMAT BUFFERS: rows that end within a tile, that are shorter than one, that do not begin as x is stored.
ragged() {
  local shape
  for shape in "5x1 1 f32" "300x3 3 f32" "19x17 8 f16" "37x300 2 f16" "6x1111 1 f16" "130x257 1 f32"; do
    echo "checkpoint $1 $shape $2"
  done
}

# experts FORMAT TYPE: four of them, two slots for each of twelve tokens, every other id out of range. Rows of the library share means, and so
# share what x was rounded by: a norm over them is one over as many sums as there are tokens.
experts() {
  local format=$1 data=$work/experts-$1 elements sizes cols rows name size
  read_layout "$format"
  cols=$elements
  reference "$format" "$data"
  while [ $cols -lt 256 ] && [ $((64 * cols)) -le "$(stat -c %s "$data/values.f32")" ]; do cols=$((2 * cols)); done
  rows=$(($(stat -c %s "$data/values.f32") / 4 / cols / 4))
  while read -r name size _; do
    truncate -s $((size * 4 * rows * cols / elements)) "$data/$name"
  done <<<"$sizes"
  # shellcheck disable=SC2046
  near_experts "$format" $rows $cols "$2" "$data" $(inputs "$data")
  afterwards rm -r "$data"
}

# packed_experts FORMAT TYPE BUFFER...: the same of a packer's tensor, whose rows are those of four experts.
packed_experts() {
  local format=$1 type=$2 data=$work/packed-experts-$1 name inputs=()
  shift 2
  mkdir "$data"
  "$PACK" "$format" 48 256 7 "$data" plain
  for name; do inputs+=(--in "${name/blocks/codes}=$data/$name.bin"); done
  near_experts "$format" 12 256 "$type" "$data" "${inputs[@]}"
  afterwards rm -r "$data"
}

# near_experts FORMAT ROWS COLS TYPE DATA INPUT...
near_experts() {
  local format=$1 rows=$2 cols=$3 type=$4 data=$5 target class run
  shift 5
  for _ in 1 2 3 4; do "$vectors" u32 3 0 0xFFFFFFFF 2 4 5; done >"$data/ids"
  draw_x 12 $((12 * cols)) "$type" "$data"
  "$vectors" experts "$data/values.f32" "$data/x.f32" "$data/ids" $rows $cols "$data/expected"
  while read -r target class; do
    run=(gemv_id --format "$format" --experts 4 --rows $rows --cols $cols --tokens 12 --slots 2 --target "$target"
      --type "$type" "$@" --x "$data/x" --ids "$data/ids" --out "$data/y-$target-$class" --class "$class")
    if ! has_class "$format" "$class"; then
      refuses "$format has no class $class" "there is no class $class for $format" "$QKGEN" run "${run[@]}"
      continue
    fi
    later "${run[@]}"
    afterwards compare "$number" "$format" gemv_id "$target" "$class" "$data" "$type"
    afterwards counts "$number" "$format" "$target"
  done < <(runs_of "$format" experts)
}

# counts NUMBER FORMAT TARGET: of a run that was done, ids out of range.
counts() {
  ran "$1" || return 0
  if [[ $said == *"$list:$1: warning: 12 of 24 ids are not below --experts 4; their results are zeros"* ]]; then pass; else
    fail "gemv_id $2 on $3 counts ids" "$list.said"
  fi
}

# not_finite FORMAT: a NaN and an infinity in x reach the sums of every class; other right-hand sides stay as they are.
not_finite() {
  local format=$1 data=$work/not-finite-$1 elements sizes cols class bad name size
  read_layout "$format"
  cols=$((elements * 2))
  reference "$format" "$data"
  while read -r name size _; do truncate -s $((size * 2 * 3)) "$data/$name"; done <<<"$sizes"
  for bad in 0x7FC00000 0x7F800000 0xFF800000; do
    "$vectors" normal 3 $((cols * 2)) >"$data/x-$bad"
    "$vectors" u32 $bad | dd of="$data/x-$bad" bs=4 seek=$((cols / 2 + 5)) conv=notrunc status=none
    for class in exact int8 split int24 half; do
      # shellcheck disable=SC2046
      later gemv --format "$format" --rows 3 --cols $cols --batch 2 --target vulkan --type f32 --class $class $(inputs "$data") \
        --x "$data/x-$bad" --out "$data/y-$bad-$class"
      afterwards ran_well "$number" "gemv $format, class $class, x with $bad"
      afterwards is_not_finite "gemv $format, class $class" $bad "$data/y-$bad-$class"
    done
  done
  afterwards rm -r "$data"
}
is_not_finite() {
  od -An -v -w4 -tx4 "$3" >"$3.txt"
  if head -3 "$3.txt" | grep -qvE '^ [7f]f[8-f]'; then fail "$1: $2 in x is lost" "$3.txt"; else pass; fi
  if tail -3 "$3.txt" | grep -qE '^ [7f]f[8-f]'; then fail "$1: $2 in another x" "$3.txt"; else pass; fi
}

# not_a_number: E4M3 weights that are NaN, of either sign, are found in the rows that have them, and in no other: bytes next to them are
# the largest numbers there are.
not_a_number() {
  local data=$work/nans target batch byte at
  mkdir -p "$data"
  head -c $((128 * 256)) /dev/zero | tr '\0' '\176' >"$data/w"
  while read -r at byte; do printf "$byte" | dd of="$data/w" bs=1 seek="$at" conv=notrunc status=none; done <<<"$((5 * 256 + 77)) \\177
$((40 * 256 + 255)) \\377
$((100 * 256)) \\177
$((41 * 256 + 3)) \\376"
  "$vectors" u32 0x3F000000 >"$data/s"
  for batch in 1 2; do
    "$vectors" normal 3 $((256 * batch)) >"$data/x-$batch"
    for target in c vulkan msl; do
      later gemv --format fp8_tensor --target $target --type f32 --rows 128 --cols 256 --batch $batch --in weight="$data/w" \
        --in weight_scale="$data/s" --x "$data/x-$batch" --out "$data/y-$target-$batch"
      afterwards ran_well "$number" "NaN weights, $target, batch $batch"
      afterwards rows_with_nan "rows with NaN, $target, batch $batch" "$data/y-$target-$batch"
    done
  done
  afterwards rm -r "$data"
}
rows_with_nan() {
  od -An -v -w4 -tf4 "$2" | awk '/nan/ { print NR - 1 }' | paste -sd, >"$2.rows"
  check "$1" grep -qxE '5,40,100(,133,168,228)?' "$2.rows"
}

# residual FORMAT: results that are added to themselves are twice as large, on each target, and a bias is added to each row; a file that
# is too short is refused.
residual() {
  local format=$1 data=$work/residual-$1 elements sizes cols target class run out name size
  read_layout "$format"
  cols=$((elements * 2))
  reference "$format" "$data"
  while read -r name size _; do truncate -s $((size * 2 * 3)) "$data/$name"; done <<<"$sizes"
  "$vectors" normal 3 $((cols * 2)) >"$data/x"
  printf '\x00\x00\x7a\x44\x00\x00\xfa\x44\x00\x80\x3b\x45' >"$data/bias" # 1000, 2000, 3000
  printf '\x00\x00\x80\x3f\x00\x00\x80\xbf\x00\x00\x00\x00\x00\x00\x40\x40\x00\x00\x80\x3e\x00\x00\xc8\xc2' >"$data/gates" # 1 -1 0 3 0.25 -100
  for target in c vulkan msl; do
    for class in exact half mma; do
      case $target-$class in c-half | c-mma | vulkan-mma) continue ;; esac # mma_test has matrix units
      out=$data/$target-$class
      # shellcheck disable=SC2046
      run=(gemv --format "$format" --rows 3 --cols $cols --batch 2 --target $target --type f32 --class $class $(inputs "$data")
        --x "$data/x")
      meets once "" --out "$out-once"
      meets added "a residual is not added" --add "$out-once" --out "$out-added"
      meets biased "a bias is not added" --bias "$data/bias" --out "$out-biased"
      meets scaled "rows are not scaled" --scale "$data/bias" --scale-per row --out "$out-scaled"
      meets gated "no gate, or no residual behind it" --gate "$data/gates" --residual "$out-once" --out "$out-gated"
    done
  done
  afterwards residual_refused "$format" "$data" "$out-once" "${run[@]}"
  afterwards rm -r "$data"
}

# meets HOW WRONG OPTION...: a run of residual's with these options, which must be good, and `is_HOW`; WRONG says what else.
meets() {
  later "${run[@]}" "${@:3}"
  afterwards ran_well "$number" "gemv $format, $target, class $class, $1"
  [ "$1" = once ] || afterwards is_"$1" "$out-once" "$out-$1" "$data" "gemv $format, $target, class $class: $2"
}
floats() { od -An -v -w4 -tf4 "$1"; }
is_added() {
  paste <(floats "$1") <(floats "$2") |
    awk '{ d = $2 - 2 * $1; if (d < 0) d = -d; size = $1 < 0 ? -$1 : $1; if (!(d <= 1e-6 * size) || size == 0) exit 1 }' || fail "$4"
}
is_biased() {
  paste <(floats "$1") <(floats "$2") <(yes "$(seq 1000 1000 3000)" | head -6) |
    awk '{ d = $2 - $1 - $3; if (d < 0) d = -d; if (!(d <= 1e-3)) exit 1 }' || fail "$4"
}
is_scaled() {
  paste <(floats "$1") <(floats "$2") <(yes "$(seq 1000 1000 3000)" | head -6) |
    awk '{ d = $2 - $1 * $3; if (d < 0) d = -d; size = $2 < 0 ? -$2 : $2; if (!(d <= 1e-6 * size) || size == 0) exit 1 }' || fail "$4"
}
is_gated() {
  paste <(floats "$1") <(floats "$2") <(floats "$3/gates") |
    awk '{ y = $1 * $3 / (1 + exp(-$3)) + $1; d = $2 - y; size = $1 < 0 ? -$1 : $1; if (d < 0) d = -d; if (!(d <= 4e-6 * size)) exit 1 }' ||
    fail "$4"
}

# residual_refused FORMAT DATA ONCE ARGUMENT...: of a run, with what it wrote.
residual_refused() {
  local format=$1 data=$2 once=$3 run=("$QKGEN" run "${@:4}")
  "${run[@]}" --scale "$data/bias" --scale-per rows --out "$data/none" 2>"$data/why" && fail "gemv $format: --scale-per rows"
  grep -q "must be tensor, row or vector, not 'rows'" "$data/why" || fail "gemv $format: --scale-per rows" "$data/why"
  "${run[@]}" --gate "$data/gates" --add "$once" --out "$data/none" 2>"$data/why" && fail "gemv $format: --gate and --add"
  grep -q -- '--residual is added behind it' "$data/why" || fail "gemv $format: --gate and --add" "$data/why"
  "${run[@]}" --bias "$once" --out "$data/none" 2>"$data/why" && fail "gemv $format: a bias that is too long"
  grep -q 'holds 24 bytes, but --rows 3 in f32 has 12' "$data/why" || fail "gemv $format: a bias that is too long" "$data/why"
  truncate -s 20 "$once"
  "${run[@]}" --add "$once" --out "$data/none" 2>"$data/why" && fail "gemv $format: a residual that is too short"
  grep -q 'holds 20 bytes, but --batch 2 of --rows 3 in f32 has 24' "$data/why" || fail "gemv $format: a residual that is too short" "$data/why"
  [ ! -e "$data/none" ] || fail "gemv $format: results in spite of an error"
}

# expert_bias: each expert's own bias and what was there are added, on each target, and an expert that is not there has none.
expert_bias() {
  local data=$work/expert-bias target run
  mkdir "$data"
  "$vectors" normal 5 $((2 * 64)) >"$data/x"
  truncate -s $((4 * 3 * 2 * 18)) "$data/blocks"                                               # sums are 0
  for _ in {1..24}; do printf '\x00\x3c\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99\x99'; done >"$data/ones"
  for _ in {1..128}; do printf '\x00\x00\x80\x3f'; done >"$data/x-ones" # sums are 64
  printf '\x00\x00\x80\x3c\x00\x00\x00\x3d\x00\x00\x40\x3d\x00\x00\x80\x3d' >"$data/scale" # 1/64, 2/64, 3/64, 4/64
  printf '\x03\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00' >"$data/ids" # expert 4 is not there
  for i in 0 1 2 3 4 5 6 7 8 9 10 11; do printf "\x00\x00$(printf '\\x%02x' $((i * 8)))\x40"; done >"$data/bias"
  local expected=' 6.25 6.5 6.75 4.75 5 5.25 0 0 0 4 4.25 4.5 '
  for target in c vulkan msl; do
    run=(gemv_id --format q4_0 --experts 4 --rows 3 --cols 64 --tokens 2 --slots 2 --target $target --type f32 --ids "$data/ids")
    later "${run[@]}" --in "$data/blocks" --x "$data/x" --bias "$data/bias" --out "$data/once-$target"
    afterwards ran_well "$number" "gemv_id, $target, biased"
    later "${run[@]}" --in "$data/blocks" --x "$data/x" --bias "$data/bias" --add "$data/once-$target" --out "$data/$target"
    afterwards ran_well "$number" "gemv_id, $target, biased and added"
    later "${run[@]}" --in "$data/ones" --x "$data/x-ones" --scale "$data/scale" --bias "$data/bias" --out "$data/scaled-$target"
    afterwards ran_well "$number" "gemv_id, $target, scaled and biased"
    afterwards has_floats "gemv_id, $target: scales of experts" "$data/scaled-$target" \
      ' 7.125 7.25 7.375 4.375 4.5 4.625 0 0 0 3 3.125 3.25 '
    afterwards has_floats "gemv_id, $target: biases, twice" "$data/$target" "$expected"
  done
  afterwards rm -r "$data"
}
has_floats() { check "$1" test "$(floats "$2" | tr -s ' \n' ' ')" = "$3"; }

export -f compare counts is_not_finite rows_with_nan meets floats is_added is_biased is_scaled is_gated residual_refused has_floats
export -f draw_x read_layout near blocks checkpoint experts packed_experts near_experts not_finite not_a_number residual expert_bias

everything() {
  for format in $(formats); do
    echo "blocks $format 19 3 1 f32"
    case $format in
    q*) echo "experts $format f16" ;;
    *_f16 | *_f32 | *_g32_bf16 | *_g128_bf16) [ -z "${ALL:-}" ] || echo "experts $format f32" ;;
    *) echo "experts $format f32" ;;
    esac
    case $format in q*) echo "blocks $format 5 7 3 f16" ;; esac
  done
  printf '%s\n' "blocks q4_K 1 40 8 f32" "blocks q6_K 2 1 2 f32" "blocks q4_0 300 98 1 f32" "blocks q8_0 1 1 1 f16" \
    "not_finite q4_K" "not_finite q8_0" not_a_number expert_bias "residual q4_K" "residual q4_0" "blocks affine_b4_g64_bf16 67 65 5 f32" "blocks q4_K 3 256 1 f32" "blocks q4_0 1 2048 4 f16" \
    "blocks mxfp4 5 8 3 f32" "blocks q8_0 5 4 3 f32"
  "$PACK" list | while IFS=$'\t' read -r format buffers shapes; do
    echo "checkpoint $format ${shapes%% *} 1 f32 $buffers"
    case $format in mx_* | ct_b4_g* | ct_b8_*) echo "packed_experts $format f32 $buffers" ;; esac
    case ${ALL:-}$format in 1nf4_* | 1fp4_* | 1fp8_* | nf4_b64 | fp4_b128 | fp8_block | fp8_tensor | *int8_*) ragged "$format" "$buffers" ;; esac
  done
}
# gemv.sh LINE...: some of these lines alone.
if [ $# -gt 0 ]; then printf '%s\n' "$@"; else everything; fi | batches 12
sort -k5 -g "$work/errors" | awk '{ worst[$1 " " $2 " " $3 " " $4] = $5 } END { for (at in worst) print at, worst[at] }' |
  sort >"$BUILD/gemv.txt"
for class in exact int24 split half mma int8; do
  echo "largest errors, $class: $(awk -v class=$class '$4 == class' "$BUILD/gemv.txt" | sort -k5 -g | tail -3 | tr '\n' ';')"
done
[ -z "${TABLE:-}" ] || cat "$BUILD/gemv.txt"
finish
