#!/usr/bin/env bash
# A format that the project does not have is one text file: invented ones go through every command, and decode random
# bytes as loops do that were written from their description (tests/tools/vectors.c). Nothing else is touched.
source "$(dirname "$0")/../lib.sh"

# The state of everything that a format must not need a change of.
fingerprint() {
  (cd "$SOURCE" && find formats gen templates runtime out -type f -print0 | sort -z | xargs -0 sha256sum)
}
fingerprint >"$work/before"

# 5-bit codes, low nibbles and a plane of fifth bits; scales of 6 bits across the borders of bytes; an f16 at an odd byte.
cat >"$work/awkward.quant" <<'END'
format awkward "5-bit codes in blocks of 192, twelve 6-bit scales"

block 192 {
    scales: u8[9]
    qs:     u8[96]
    qh:     u8[24]
    d:      f16
}

code sc per 16 = scales { 6 @ 0 (12:6) }
code q         = qs { 4 @ 0 (96:8, 2:4) }
                 qh { 1 @ 0 (192:1) }

value = d * (sc - 32) * (q - 16)
END

# What the first leaves out: a permuted order with extents of 3, codes that straddle words, signed
# and bf16 codes, a bf16 of scattered bits, a table of floats, a condition, the index of the element; everything spare.
cat >"$work/scattered.quant" <<'END'
format scattered "5-bit codes in a permuted order, a table of floats, 7-bit offsets for pairs"

block 90 {
    qs: u8[57]
    ss: u8[15]
    ms: u8[40]
    ds: u8[3]
}

table steps: f32[8] = { 0, 0.3, -1.75, 1e-3, 12.5, -0.0625, 3, -7.1 }

code q = qs { 3 @ 0 (3:18, 5:54, 6:3)  2 @ 270 (90:2) }
spare    qs { 6 @ 450 }

code s: i8 per 6 = ss { 8 @ 0 (3:40, 5:8) }

code m per 2 = ms { 7 @ 0 (45:7) }
spare          ms { 5 @ 315 }

code d: bf16 per 90 = ds { 8 @ 4  8 @ 16 }
spare                 ds { 4 @ 0 (2:12) }

value = d * s * steps[q >> 2] + (m > 63 ? (q & 3) - i : m * 0.5)
END

# An odd number of elements, and codes so wide that with their bit in a word they do not fit 32 bits.
cat >"$work/odd.quant" <<'END'
format odd "27-bit codes in blocks of 45"

block 45 {
    qs: u16[76]
    ds: u16[5]
}

code q            = qs { 27 @ 0 (45:27) }
spare               qs { 1 @ 1215 }
code d: f16 per 9 = ds { 16 @ 0 (5:16) }

value = d * ((q >> 3) - 8388608)
END

# format NAME BLOCK_BYTES ELEMENTS
format() {
  local name=$1 bytes=$2 elements=$3 spec=$work/$1.quant type size target blocks rows cols
  check "check $name" "$QKGEN" check "$spec"
  check "show $name" "$QKGEN" show "$name" --spec "$spec"
  check "show $name --svg" "$QKGEN" show "$name" --spec "$spec" --svg "$work/$name.svg"
  says "the picture of $name" '</svg>' "$work/$name.svg"
  check "emit $name" "$QKGEN" emit --spec "$spec" --format "$name" --out "$work/out"
  check "emit --check $name" "$QKGEN" emit --check --spec "$spec" --format "$name" --out "$work/out"
  says "the kernel of $name" '^void main\(\)' "$work/out/$name/${name}_dequant_f32.comp"

  # From one block to more than a workgroup has, in numbers that no tile divides.
  for blocks in 1 2 23 1001; do
    "$vectors" random $blocks $((blocks * bytes)) >"$work/$name.blocks"
    "$vectors" "$name" "$work/$name.blocks" "$work/$name.f32"
    for type in f32 f16 bf16; do
      case $blocks-$type in 2-*16 | 23-*16) continue ;; esac
      "$vectors" round $type "$work/$name.f32" "$work/expected"
      for target in $targets; do
        check "run dequant $name to $type on $target" "$QKGEN" run dequant --spec "$spec" --format "$name" \
          --target $target --type $type --in "$work/$name.blocks" --out "$work/got"
        check "$name, $blocks blocks to $type on $target" "$vectors" same $type "$work/got" "$work/expected"
      done
    done
  done

  # 1001 blocks are 143 rows of 7, or 77 of 13.
  for rows in 143 77; do
    cols=$((1001 / rows * elements))
    "$vectors" u32 $((rows - 1)) 0 5 5 $rows 76 33 0xFFFFFFFF 1 >"$work/indices"
    for type in f32 f16 bf16; do
      size=2
      [ $type != f32 ] || size=4
      "$vectors" round $type "$work/$name.f32" "$work/rounded"
      "$vectors" rows $((cols * size)) "$work/rounded" "$work/indices" "$work/expected"
      for target in $targets; do
        "$QKGEN" run gather --spec "$spec" --format "$name" --target $target --type $type --rows $rows --cols $cols \
          --in "$work/$name.blocks" --indices "$work/indices" --out "$work/got" 2>"$work/log" ||
          fail "run gather $name on $target" "$work/log"
        check "$name, rows of $cols to $type on $target" "$vectors" same $type "$work/got" "$work/expected"
        says "$name on $target counts" "warning: 2 of 9 indices" "$work/log"
      done
    done
  done
}

format awkward 131 192
format scattered 115 90
format odd 162 45

fingerprint >"$work/after"
check "something but the new files has changed" diff "$work/before" "$work/after"
finish
