#!/usr/bin/env bash
# Writes the figures into docs/performance/figures.md, and its pictures beside it: `bench/report.sh OUT`, where OUT is what
# bench/measure.sh wrote, perhaps on another machine; what of it is missing is left out. OUT/models.md, a table of whole models
# that `qkgen bench --model ... --markdown` wrote, goes to the top of the page. Where OUT has no models.md, or no figures.json,
# what the page has in that place stays. Needs no device.
# PEERS is a file of other libraries' figures (bench/peers/README.md; else bench/peers/h200.txt, when OUT was measured on an
# H200). PAGE names another page, QKGEN the command.
set -euo pipefail
figures=${1:?names the folder that bench/measure.sh wrote}
here=$(cd "$(dirname "$0")/.." && pwd)
qkgen=${QKGEN:-$here/build/qkgen}
page=${PAGE:-$here/docs/performance/figures.md}
pictures=$(dirname "$page")
peers=()
if [ -n "${PEERS:-}" ]; then
  peers=(--peers "$PEERS")
elif grep -qs '"device": "NVIDIA H200"' "$figures/figures.json"; then
  peers=(--peers "$here/bench/peers/h200.txt")
fi

# has_place NAME: an error where the page has no place for what NAME says.
has_place() {
  grep -qx "<!-- $1 -->" "$page" && grep -qx "<!-- end of $1 -->" "$page" || {
    echo "report.sh: error: $page has no lines <!-- $1 --> and <!-- end of $1 -->, between which the tables go; add them" >&2
    exit 1
  }
}

# put NAME FILE: the file between the lines of that name, in place of what is there.
put() {
  awk -v name="$1" -v file="$2" '
    $0 == "<!-- end of " name " -->" { inside = 0 }
    !inside { print }
    $0 == "<!-- " name " -->" {
      inside = 1
      print ""
      while ((getline line < file) > 0) print line
      print ""
    }' "$page.part" >"$page.put"
  mv "$page.put" "$page.part"
}

# write_tables: all but the models, and the pictures.
write_tables() {
  # A result that was wrong is shown as such, and is an error here, too.
  "$qkgen" bench --read "$figures/figures.json" "${peers[@]}" --svg "$pictures/formats.svg" --markdown "$tables" >/dev/null ||
    status=1
  if [ -e "$figures/decoders.json" ]; then
    "$qkgen" bench --read "$figures/decoders.json" "${peers[@]}" --markdown "$tables.decoders" >/dev/null || status=1
    (echo && cat "$tables.decoders") >>"$tables"
  fi
  shorten <"$tables" >"$tables.short"
  mv "$tables.short" "$tables"
  if [ -e "$figures/qdq.txt" ]; then
    (echo && echo "**qdq, bytes in and out**" && echo && grep -E '^qdq_' "$figures/qdq.txt" | sed 's/^/    /') >>"$tables"
  fi
  if [ -e "$figures/sizes.json" ]; then
    "$qkgen" bench --read "$figures/sizes.json" "${peers[@]}" --svg "$pictures/sizes.svg" >/dev/null || status=1
  fi
}

# shorten: of the tables of formats what the page has room for: microseconds, the share of the copy, and how many times as long the
# peers take. All the rest is in the files of OUT.
shorten() {
  awk -F ' *[|] *' '
    /^[|]/ {
      head = $2 == "format"
      rule = $2 ~ /^-+$/
      line = "|" $2 "|" $4 ($8 == "wrong" ? " wrong" : "") "|" $7 "|"
      for (i = 9; i < NF; i += 2) line = line (head || rule ? $i : $(i + 1)) "|"
      print line
      next
    }
    { print }'
}

# side_by_side: in the table of tokens, all n of a model, format and class are in one line: microseconds, and how many times as
# many the first peer takes.
side_by_side() {
  awk -F ' *[|] *' '
    !token { print; token = /^[*][*]A token/; next }
    $5 ~ /^[0-9]+$/ {
      key = $2 " | " $3 " | " $4
      if (!(key in cells)) keys[++n_keys] = key
      if (!seen[$5]++) { heads = heads " n=" $5 " |"; rules = rules "---:|" }
      cells[key] = cells[key] " " $6 (NF > 7 ? " (" $8 ")" : "") " |"
      next
    }
    END {
      if (!token) exit
      print "\n| model | format | class |" heads "\n|---|---|---|" rules
      for (i = 1; i <= n_keys; ++i) print "| " keys[i] " |" cells[keys[i]]
    }'
}

if [ ! -e "$figures/figures.json" ] && [ ! -e "$figures/models.md" ]; then
  echo "report.sh: error: $figures has neither figures.json, which bench/measure.sh writes, nor models.md" >&2
  exit 1
fi
[ ! -e "$figures/figures.json" ] || has_place figures
[ ! -e "$figures/models.md" ] || has_place models
tables=$(mktemp)
trap 'rm -f "$tables" "$tables.decoders" "$tables.short" "$page.part" "$page.put"' EXIT
status=0
cp "$page" "$page.part"
if [ -e "$figures/figures.json" ]; then
  write_tables
  put figures "$tables"
fi
if [ -e "$figures/models.md" ]; then
  # Without the thousands of lines of each matrix, and sums of which there is no figure.
  sed '/^\*\*Every matrix\*\*$/,$d' "$figures/models.md" | grep -v -- '| - | - | - |' | side_by_side >"$tables"
  put models "$tables"
fi
mv "$page.part" "$page"
echo "$page, $pictures/formats.svg, $pictures/sizes.svg"
exit $status
