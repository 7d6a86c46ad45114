#!/usr/bin/env bash
# Writes the figures into docs/performance.md, and its pictures into docs/performance/: `bench/report.sh OUT`, where OUT is what
# bench/measure.sh wrote, perhaps on another machine; what of it is missing is left out. Needs no device. PEERS is a file of other libraries' figures
# (bench/peers/README.md; else bench/peers/h200.txt, when OUT was measured on an H200). QKGEN names the command.
set -euo pipefail
figures=${1:?names the folder that bench/measure.sh wrote}
here=$(cd "$(dirname "$0")/.." && pwd)
qkgen=${QKGEN:-$here/build/qkgen}
page=${PAGE:-$here/docs/performance.md}
pictures=$(dirname "$page")/performance
peers=()
if [ -n "${PEERS:-}" ]; then
  peers=(--peers "$PEERS")
elif grep -q '"device": "NVIDIA H200"' "$figures/figures.json"; then
  peers=(--peers "$here/bench/peers/h200.txt")
fi
grep -q '^<!-- figures -->$' "$page" && grep -q '^<!-- end of figures -->$' "$page" || {
  echo "report.sh: error: $page has no lines <!-- figures --> and <!-- end of figures -->, between which the tables go" >&2
  exit 1
}
tables=$(mktemp)
trap 'rm -f "$tables" "$tables.decoders" "$page.part"' EXIT
mkdir -p "$pictures"
# A result that was wrong is shown as such, and is an error here, too.
status=0
"$qkgen" bench --read "$figures/figures.json" "${peers[@]}" --svg "$pictures/formats.svg" --markdown "$tables" >/dev/null ||
  status=1
if [ -e "$figures/decoders.json" ]; then
  "$qkgen" bench --read "$figures/decoders.json" "${peers[@]}" --markdown "$tables.decoders" >/dev/null || status=1
  (echo && cat "$tables.decoders") >>"$tables"
fi
if [ -e "$figures/qdq.txt" ]; then
  (echo && echo "**qdq, bytes in and out**" && echo && grep -E '^qdq_' "$figures/qdq.txt" | sed 's/^/    /') >>"$tables"
fi
if [ -e "$figures/sizes.json" ]; then
  "$qkgen" bench --read "$figures/sizes.json" "${peers[@]}" --svg "$pictures/sizes.svg" >/dev/null || status=1
fi
awk -v tables="$tables" '
  /^<!-- end of figures -->$/ { inside = 0 }
  !inside { print }
  /^<!-- figures -->$/ {
    inside = 1
    print ""
    while ((getline line < tables) > 0) print line
    print ""
  }' "$page" >"$page.part"
mv "$page.part" "$page"
echo "$page, $pictures/formats.svg, $pictures/sizes.svg"
exit $status
