#!/usr/bin/env bash
# The block maps of `qkgen show`, as text against those in tests/show, which --update writes anew, and as SVG against those of the gallery.
set -euo pipefail
cd "${SOURCE:-$(dirname "$0")/../..}"
: "${QKGEN:?the command to test}"
unset QKGEN_DATA_DIR
export COLUMNS=100

goldens=tests/show
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

ok() { passed=$((passed + 1)); }
fail() {
  echo "show: $*"
  failed=$((failed + 1))
}
qkgen_show() { "$QKGEN" show --data . "$@"; }

# same FOLDER NAME REMEDY: the file that was drawn against the golden one.
same() {
  if diff -u "$1/$2" "$folder/$2"; then ok; else fail "$2 differs; if that is meant, run $3 and look at the picture"; fi
}

update=no
case "${1:-}" in
'') ;;
--update) update=yes ;;
*)
  echo "usage: tests/cli/show.sh [--update]" >&2
  exit 2
  ;;
esac

for format in q4_0 q4_K tq1_0; do
  qkgen_show "$format" >"$folder/$format.txt"
  [ "$update" = no ] || cp "$folder/$format.txt" "$goldens"
  same "$goldens" "$format.txt" 'tests/cli/show.sh --update'
  qkgen_show "$format" --svg "$folder/$format.svg"
  same docs/formats "$format.svg" 'qkgen gallery'
done

# Every format has its maps; each line of text fits the terminal, and each drawing is well-formed.
mapfile -t formats < <("$QKGEN" list --data . | awk '{ print $1 }')
if [ "${#formats[@]}" -gt 1 ]; then ok; else fail "no formats are listed"; fi
for format in "${formats[@]}"; do
  # Of a family, one element type stands for all.
  case $format in *_bf16 | *_f32) continue ;; esac
  if ! COLUMNS=80 qkgen_show "$format" >"$folder/text" || ! qkgen_show "$format" --svg "$folder/svg"; then
    fail "$format cannot be drawn"
  elif wide=$(awk 'length > 80' "$folder/text") && [ -n "$wide" ]; then
    fail "$format: wider than 80 columns: $wide"
  elif [ "$(tail -n 1 "$folder/svg")" != "</svg>" ]; then
    fail "$format: the drawing is not complete"
  elif command -v xmllint >/dev/null && ! xmllint --noout "$folder/svg"; then
    fail "$format: the drawing is not well-formed"
  else
    ok
  fi
done

# Regular rows are left out only where they are regular, and the map says so; markup in a specification is text.
cat >"$folder/long.quant" <<'SPEC'
format long_stream "a < b & c"
block 1024 {
    spare pad: u8[3]
    d:  f16
    qs: u8[1024]
}
code q = qs { 8 @ 0 (1024:8) }
value = q < 8 ? d : -d
SPEC
if qkgen_show long_stream --spec "$folder/long.quant" >"$folder/text" &&
  grep -q "continue in the same way: each row adds 4 to the number of q" "$folder/text" &&
  grep -q "spare" "$folder/text"; then
  ok
else
  fail "the regular middle of a long field is not left out"
fi
if qkgen_show long_stream --spec "$folder/long.quant" --svg "$folder/svg" && grep -q 'a &lt; b &amp; c' "$folder/svg" &&
  grep -q 'q &lt; 8' "$folder/svg"; then
  ok
else
  fail "markup in a specification is not escaped"
fi

if qkgen_show no_such_format >"$folder/text" 2>"$folder/errors"; then
  fail "a format that is not known is shown"
else
  ok
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
