#!/usr/bin/env bash
# Experts times many tokens: sorted by expert, then tiles. On this machine's device, in plain arithmetic, as gemm.sh.
# With the argument `files`, those that compare files alone.
source "$(dirname "$0")/../lib.sh"

tried() {
  check "emits them, where the family is named" "$QKGEN" emit --family gemm_id --api vulkan --format q4_K --out "$work/out"
  check "seven modules" test "$(ls "$work"/out/q4_K/q4_K_gemm_id_mma_*.comp | wc -l)" -eq 7

  # bench NAME FORMATS OPTION...: all of them are right.
  bench() {
    local name=$1 formats=$2
    shift 2
    "$QKGEN" bench gemm_id --quick --samples 1 --format "$formats" "$@" >"$work/$name.txt" 2>&1 || fail "$name" "$work/$name.txt"
    check "$name: a line for each" test "$(grep -c ' gemm_id ' "$work/$name.txt")" -eq "$(tr , '\n' <<<"$formats" | wc -l)"
  }
  # Of formats: what is compared from files is q8_0's, and `walk` q4_0's; gemm.sh has more of them.
  bench kinds q6_K,mxfp4,iq3_s,tq1_0 --rows 37 --cols 1024 --tokens 19 --experts 5 --slots 2
  bench halves q4_K --rows 33 --cols 512 --tokens 17 --experts 3 --slots 3 --type f16 --x-slots 3
  bench one q4_K --rows 1 --cols 256 --tokens 1 --experts 1 --slots 1
  # Most experts have no tokens; and one has nearly all.
  bench idle q4_K --rows 20 --cols 256 --tokens 3 --experts 512 --slots 2
  bench skewed q4_K --rows 20 --cols 256 --tokens 300 --experts 32 --slots 4 --routing skewed
  says "it is said" 'routing is skewed' "$work/skewed.txt"
  # Tiles of three sizes, which devices without matrix units have where it is said alone.
  sizes=(--constant large_cols=32 --constant largest_cols=64)
  for routing in uniform skewed; do
    bench sizes_$routing q4_K --rows 70 --cols 256 --tokens 250 --experts 17 --slots 3 --routing $routing "${sizes[@]}"
  done
  bench all_to_one q4_K --rows 20 --cols 256 --tokens 300 --experts 1 --slots 1
  # Several blocks of pairs.
  bench blocks q4_K --rows 4 --cols 256 --tokens 1300 --experts 9 --slots 16
  for parts in 1 4; do bench "parts_$parts" q4_K --rows 40 --cols 1280 --tokens 9 --experts 4 --slots 2 --constant k_parts=$parts; done
  bench walk q4_0 --rows 200 --cols 512 --tokens 50 --experts 4 --slots 2 --workgroups 2

  # All results, twice, with ids that are none, epilogues, x that is not finite, and parts of the experts.
  check "drawn at random" "$QKGEN" soak --family gemm_id --cases 24 --seed 5 --format "q4_K,q5_0,nvfp4"
  case=(format=q4_0 family=gemm_id class=mma type=f32 rows=33 cols=512 experts=6 slots=3 seed=7 offset=1 padding=32 weights=random)
  for more in 'batch=40 parts=3 x=gaussian' 'batch=40 parts=3 x=infinite x_slots=3 constants=k_parts:4' \
    'batch=300 x=outliers epilogue=30' 'batch=300 x=gaussian epilogue=7' 'batch=90 x=gaussian epilogue=516' \
    'batch=90 x=gaussian epilogue=262' 'batch=40 x=gaussian epilogue=516 constants=k_parts:4' \
    'batch=200 parts=3 x=outliers constants=large_cols:32,largest_cols:64'; do
    check "by hand: $more" "$QKGEN" soak --case "${case[*]} $more"
  done
}
[ "${1:-all}" = files ] || tried

# Through files, beside the reference: the results are those of gemv_id.
experts=(--format q8_0 --type f32 --experts 3 --rows 5 --cols 256 --tokens 4 --slots 2 --in "$work/w" --x "$work/x")
for ((i = 0; i < 3 * 5 * 8; ++i)); do # scales of 1/8
  printf '\x00\x30'
  for ((k = 0; k < 32; ++k)); do printf -v byte '\\x%02x' $(((i * 37 + k * 11) % 256)) && printf "%b" "$byte"; done
done >"$work/w"
for ((i = 0; i < 4 * 2 * 256; ++i)); do # 1, 2 or -1
  case $((i * 7 % 3)) in 0) printf '\x00\x00\x80\x3f' ;; 1) printf '\x00\x00\x00\x40' ;; *) printf '\x00\x00\x80\xbf' ;; esac
done >"$work/x8"
printf '%b' '\x02\0\0\0\x00\0\0\0\x03\0\0\0\x02\0\0\0\x02\0\0\0\xff\xff\xff\xff\x01\0\0\0\x02\0\0\0' >"$work/ids"
tiles_on=$(echo "$targets" | tr ' ' '\n' | grep -v '^c$')
for slots in 1 2; do
  head -c $((4 * slots * 256 * 4)) "$work/x8" >"$work/x"
  check "the reference, $slots" "$QKGEN" run gemv_id "${experts[@]}" --target c --ids "$work/ids" --x-slots $slots --out "$work/expected"
  for target in $tiles_on; do
    "$QKGEN" run gemm_id "${experts[@]}" --target $target --ids "$work/ids" --x-slots $slots --out "$work/y" 2>"$work/said" ||
      fail "tiles on $target, $slots" "$work/said"
    says "ids that are none are counted on $target, $slots" "2 of 8 ids are not below --experts 3" "$work/said"
    check "are the same on $target, $slots" cmp "$work/expected" "$work/y"
  done
  check "other targets of gemv_id, $slots" "$QKGEN" run gemv_id "${experts[@]}" --target vulkan --ids "$work/ids" --x-slots $slots --out "$work/y"
  check "have them, too, $slots" cmp "$work/expected" "$work/y"
done

refuses "vectors of some slots" "x-slots is 3, and must be 1" \
  "$QKGEN" run gemm_id "${experts[@]}" --target vulkan --ids "$work/ids" --x-slots 3 --out "$work/no"
refuses "x of all slots" "but --tokens 4 of --cols 256" \
  "$QKGEN" run gemm_id "${experts[@]}" --target vulkan --ids "$work/ids" --out "$work/no"
refuses "a matrix" "there is no gemm_id for hqq_b4_g64" "$QKGEN" run gemm_id --format hqq_b4_g64 --target vulkan --type f32 --out "$work/no"
refuses "more experts than are sorted" "experts is 513, must be at most 512; gemv_id takes more" \
  "$QKGEN" bench gemm_id --format q4_0 --rows 2 --cols 64 --experts 513
refuses "another routing" "--routing must be uniform or skewed" "$QKGEN" bench gemm_id --format q4_0 --routing none
finish
