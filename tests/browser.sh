#!/usr/bin/env bash
# The page of judge in a real browser, where there is one: no complaint in the console, the sentences are there, nothing needs
# to be moved sideways in a narrow window, and the keyboard reaches the findings. 77 without a browser.
source "$(dirname "$0")/lib.sh"
for browser in chromium chromium-browser google-chrome; do command -v "$browser" >/dev/null && break; done
if ! command -v "$browser" >/dev/null; then
  echo "NOT RUN: the page of judge was not seen by a browser; package chromium has one"
  exit 77
fi

"$QKGEN" judge --quick "$SOURCE/tests/judge/q4_K.comp" --format q4_K --harness flat-dequant -D WRONG_SCALE --html "$work/r.html" \
  >/dev/null 2>&1 || true
check "there is a page" test -s "$work/r.html"

# A copy that says in its title how wide it is, which colours it has, and where the first Tab leads; the page itself has no script.
# The frame's width is the window's: headless windows are not narrower than 500.
cat >"$work/frame.html" <<'PAGE'
<!doctype html><title>frame</title><iframe id="f" src="r.html" style="width:320px;height:900px;border:0"></iframe>
<script>
onload = () => {
  const page = document.getElementById("f").contentDocument, root = page.documentElement;
  const first = page.querySelector("a, button, summary, [tabindex]");
  const out = document.createElement("pre");
  out.textContent = "width " + root.clientWidth + " needs " + root.scrollWidth + "; first " + first.textContent + " " +
    page.querySelector(first.getAttribute("href")).tagName + "; dark " + matchMedia("(prefers-color-scheme: dark)").matches +
    " paper " + getComputedStyle(page.body).backgroundColor + "; sheets " + page.styleSheets.length;
  document.body.append(out);
};
</script>
PAGE

# dump FILE ARG...: the document as the browser has it.
dump() {
  local file=$1
  shift
  timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --user-data-dir="$work/profile" --allow-file-access-from-files \
    --enable-logging=stderr --virtual-time-budget=3000 "$@" --dump-dom "file://$work/$file"
}
dump r.html >"$work/dom" 2>"$work/log"
check "the sentences are there" grep -qF 'bits 0..3 of scales[8] (bits 0..3 of sc[4]) reach no element' "$work/dom"
quiet() { ! grep CONSOLE "$work/log"; }
check "nothing in the console" quiet
dump frame.html >"$work/light" 2>"$work/log"
says "the width of a phone is enough" 'width ([0-9]+) needs \1;' "$work/light"
says "the first Tab leads to the findings" 'first To the findings MAIN;' "$work/light"
says "light" 'dark false paper rgb\(251, 250, 247\)' "$work/light"
dump frame.html --blink-settings=preferredColorScheme=0 >"$work/dark" 2>"$work/log"
says "dark" 'dark true paper rgb\(22, 24, 26\)' "$work/dark"
print() {
  timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --user-data-dir="$work/profile" --print-to-pdf="$work/r.pdf" \
    "file://$work/r.html" >/dev/null 2>&1
  head -c 5 "$work/r.pdf" | grep -q '%PDF-'
}
check "it prints" print
finish
