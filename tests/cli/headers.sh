#!/usr/bin/env bash
# Formats whose rows begin with a header, against the values of the library that has them: whole tensors, rows of them, products, and
# products with experts, with every target; and tiles, which Vulkan alone has. Rows of some begin at 2 mod 4. What planning refuses says so.
source "$(dirname "$0")/../lib.sh"
data=$SOURCE/tests/vectors/rows
rows=3 cols=512
export data rows cols

# made FORMAT FAMILY ARGUMENT...: leaves FORMAT.out; fails the test where the run does.
made() {
  local format=$1 family=$2
  shift 2
  "$QKGEN" run "$family" --format "$format" --in "$data/$format.blocks" --out "$work/$format.out" "$@" \
    >"$work/$format.log" 2>&1 || fail "$family of $format: the run failed" "$work/$format.log"
}

one() {
  local format=$1 target type error experts shape="--rows $rows --cols $cols" expected=$work/$1.expected
  "$vectors" u32 2 0 7 1 2 >"$work/$format.indices"
  "$vectors" normal 11 $((2 * cols)) >"$work/$format.x"
  "$vectors" product "$data/$format.f32" "$work/$format.x" $cols "$work/$format.product"
  # Each row is an expert, and one of the ids names none. Of so few sums one may cancel: that of iq4_kss is a 260th of what is added up.
  "$vectors" u32 2 0 7 1 >"$work/$format.ids"
  "$vectors" experts "$data/$format.f32" "$work/$format.x" "$work/$format.ids" 1 $cols "$work/$format.chosen"
  experts="--rows 1 --cols $cols --experts $rows --slots 2 --tokens 2 --ids $work/$format.ids"
  for target in $targets; do
    for type in f32 f16 bf16; do
      # shellcheck disable=SC2086
      made "$format" dequant $shape --target "$target" --type $type
      "$vectors" round $type "$data/$format.f32" "$expected"
      check "$format to $type on $target" "$vectors" same $type "$work/$format.out" "$expected"
    done
    check "$format on $target: other bytes than the library's" sh -c \
      "'$QKGEN' run dequant --format $format $shape --target $target --type f32 --in '$data/$format.blocks' \
        --out '$work/$format.whole' 2>/dev/null && cmp '$work/$format.whole' '$data/$format.f32'"
    # shellcheck disable=SC2086
    made "$format" gather $shape --target "$target" --type f32 --indices "$work/$format.indices"
    "$vectors" rows $((cols * 4)) "$data/$format.f32" "$work/$format.indices" "$expected"
    check "rows of $format on $target" "$vectors" same f32 "$work/$format.out" "$expected"
    # shellcheck disable=SC2086
    made "$format" gemv $shape --target "$target" --type f32 --batch 2 --x "$work/$format.x" --class exact
    error=$("$vectors" near 2e-6 "$work/$format.out" "$work/$format.product") && pass ||
      fail "products of $format on $target: error $error"
    # shellcheck disable=SC2086
    made "$format" gemv_id $experts --target "$target" --type f32 --x "$work/$format.x" --class exact
    error=$("$vectors" near_random 2e-6 "$work/$format.out" "$work/$format.chosen") && pass ||
      fail "products of experts of $format on $target: error $error"
    says "an id that is none, of $format on $target" '1 of 4 ids are not below --experts 3' "$work/$format.log"
    # Tiles take long to compile: of each kind of words one.
    case $target-$format in vulkan-iq2_kl | vulkan-iq4_kss | vulkan-iq2_bn) ;; *) continue ;; esac
    # shellcheck disable=SC2086
    made "$format" gemm $shape --target vulkan --type f32 --batch 2 --x "$work/$format.x"
    error=$("$vectors" near 2e-3 "$work/$format.out" "$work/$format.product") && pass || fail "tiles of $format: error $error"
    # shellcheck disable=SC2086
    made "$format" gemm_id $experts --target vulkan --type f32 --x "$work/$format.x"
    error=$("$vectors" near_random 2e-3 "$work/$format.out" "$work/$format.chosen") && pass ||
      fail "tiles of experts of $format: error $error"
  done
  refuses "$format in rows of part of a block" 'must be positive multiples of 1 and (256|64|32)' \
    "$QKGEN" run dequant --format "$format" --rows 3 --cols 500 --target c --type f32 --in "$data/$format.blocks" \
    --out "$work/$format.out"
}
export -f made one
for path in "$data"/*.blocks; do
  name=${path##*/}
  echo "one ${name%.blocks}"
done | each
finish
