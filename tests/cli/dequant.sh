#!/usr/bin/env bash
# Every format that we have, with every target, against the values of the libraries that wrote the data: f32 byte for
# byte; f16 and bf16 equal to those values rounded once. Only the payload of a NaN may differ. Of the members of a family
# that differ in the group or the type of the scales, each width with one group and one width with each go to all types on
# Vulkan, and the others to f32; with ALL=1 each goes to all.
source "$(dirname "$0")/../lib.sh"

check "tests/vectors is not what its B2SUMS.gz says" \
  sh -c 'cd "$SOURCE/tests/vectors" && gzip -dc B2SUMS.gz | b2sum --check --quiet -'
check "the formats of tests/vectors and of the packers are not those that qkgen lists" \
  diff <({ formats; more; of_rows; "$PACK" list | cut -f 1; } | sort) <("$QKGEN" list | awk '{print $1}' | sort)

# skips FORMAT TARGET TYPE
skips() {
  case ${ALL:-}$2-$3-$1 in
    1* | vulkan-f32-* | *-affine_b4_* | *-affine_b?_g64_bf16) return 1 ;;
    vulkan-*-affine_*) return 0 ;;
  esac
  return 1
}

one() {
  local format=$1 data=$work/$1 target type out
  reference "$format" "$data"
  for type in f32 f16 bf16; do
    "$vectors" round $type "$data/values.f32" "$data/expected"
    for target in $targets; do
      if skips "$format" "$target" "$type"; then continue; fi
      out=$data/$target.$type
      # shellcheck disable=SC2046
      "$QKGEN" run dequant --format "$format" --target $target --type $type $(inputs "$data") --out "$out" \
        2>"$data/log" || { fail "$format to $type on $target: the run failed" "$data/log"; continue; }
      if [ $type = f32 ]; then check "$format on $target: other bytes than the library's" cmp "$out" "$data/values.f32"; fi
      check "$format to $type on $target" "$vectors" same $type "$out" "$data/expected"
    done
  done
  rm -r "$data"
}
export -f one skips
formats | sed "s/^/one /" | each
finish
