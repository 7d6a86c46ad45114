#!/usr/bin/env bash
# Decodes the reference data of every format of ggml and MLX with the C reference and on a Vulkan device, and shows a table. Formats of
# which there are many are measured on a large random tensor, too: one group size, scales in f16.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
megas=${MEGAS:-16} # elements of the large tensor, in 2^20

device=$("$QKGEN" devices 2>&1 | sed -nE '1s/^[0-9]+: //p' || true)
printf 'Values in f32 of every format of ggml and MLX, against those of the library that wrote the data; C on this CPU, Vulkan on\n%s.\n' \
  "${device:-no device}"
printf 'Speeds: data read and written each second, to f16, %s Mi elements.\n\n' "$megas"
columns='%-20s %5s  %8s  %-8s %-8s %9s %12s\n'
# shellcheck disable=SC2059
printf "$columns" format bits elements C Vulkan "C GB/s" "Vulkan GB/s"

# verdict FORMAT TARGET: ok, DIFFERS, or failed.
verdict() {
  # shellcheck disable=SC2046
  if ! "$QKGEN" run dequant --format "$1" --target "$2" --type f32 $(inputs "$work/data") --out "$work/out" \
    2>>"$work/log"; then
    echo failed
  elif cmp -s "$work/out" "$work/data/values.f32"; then
    echo ok
  else
    echo DIFFERS
  fi
}

# speed FORMAT TARGET
speed() {
  local buffer size in=()
  while read -r buffer size; do
    head -c $((megas * 1048576 / per_block * size)) "$work/random" >"$work/large.$buffer"
    in+=(--in "$buffer=$work/large.$buffer")
  done < <(buffers "$1")
  "$QKGEN" run dequant --format "$1" --target "$2" --type f16 "${in[@]}" --out "$work/out" 2>&1 |
    sed -nE 's/.* ([0-9.]+) GB\/s .*/\1/p' || true
}

head -c $((megas * 1048576 * 5 / 4)) /dev/urandom >"$work/random"
while read -r format bits _ per_block _; do
  rm -rf "$work/data"
  reference "$format" "$work/data"
  elements=$(($(wc -c <"$work/data/values.f32") / 4))
  speeds=("" "")
  case $format in
    affine_*_g64_f16) measured=1 ;;
    affine_*) measured= ;;
    *) measured=1 ;;
  esac
  if [ "$measured" ]; then speeds=("$(speed "$format" c)" "$(speed "$format" vulkan)"); fi
  verdicts=("$(verdict "$format" c)" "$(verdict "$format" vulkan)")
  for one in "${verdicts[@]}"; do
    if [ "$one" = ok ]; then pass; else echo "FAIL: $format $one" >>"$work/results"; fi
  done
  # shellcheck disable=SC2059
  printf "$columns" "$format" "$bits" "$elements" "${verdicts[@]}" "${speeds[@]}" | sed 's/ *$//'
done < <("$QKGEN" list | grep -wFf <(formats | sed 's/$/ /'))
echo
if [ -s "$work/log" ] && grep -q error "$work/log"; then grep error "$work/log" | sort | uniq -c; fi
rm -f "$work/out" "$work/random" "$work"/large.*
finish
