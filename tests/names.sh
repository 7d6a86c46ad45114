#!/usr/bin/env bash
# The rule of the house that no format is known by name in gen/, templates/ or runtime/: a format is data. Fails with
# each place where the base name of a specification, or the name that it declares, occurs as a word. Of a parametric
# name, what stands before the first parameter counts: `abc_b{bits}` makes `abc_b` and `abc`.
set -euo pipefail
cd "${SOURCE:-$(dirname "$0")/..}"
shopt -s nullglob

names=()
for spec in formats/*.quant; do
  base=$(basename "$spec" .quant)
  declared=$(sed -nE 's/^[[:space:]]*format[[:space:]]+"?([A-Za-z0-9_]+).*/\1/p' "$spec")
  for name in "$base" $declared; do
    names+=("$name" "${name%_}")
    # The part before the first underscore, but for such as q4, f16 and int8, which are words of the trade, and mlx, a target.
    family=${name%%_*}
    if ! [[ $family =~ ^([A-Za-z]{1,2}[0-9]*|int[0-9]+|mlx)$ ]]; then names+=("$family"); fi
  done
done
if [ ${#names[@]} -eq 0 ]; then
  echo "names: formats/ holds no specification"
  exit 77
fi
mapfile -t words < <(printf '%s\n' "${names[@]}" | sort -u)
pattern=$(IFS='|'; echo "${words[*]}")

if found=$(grep -rnwE "$pattern" gen templates runtime); then
  echo "names: a format is known by name, where only specifications may:"
  echo "$found"
  exit 1
fi
echo "names: ${#words[@]} names of formats, none in gen/, templates/, runtime/"
