#!/usr/bin/env bash
# The page of `qkgen judge` in a real browser, headless: its sentences are there, the console is silent, and a window of
# 320 px needs no horizontal scrolling. REPORT names the program that writes a page (report_test). Without Chromium or
# Chrome it is not run.
set -euo pipefail
BUILD=${BUILD:-$(mktemp -d)}
REPORT=$(realpath "${REPORT:?names report_test}")

browser=
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  if command -v "$name" >/dev/null; then
    browser=$name
    break
  fi
done
if [ -z "$browser" ]; then
  echo "judge_page: NOT RUN: no chromium and no google-chrome on PATH; nobody looks at the page here"
  exit 77
fi

work=$BUILD/browser
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work/profile"' EXIT
failed=0
fail() {
  echo "FAIL: $1"
  failed=1
}

# dom FILE: the document after its loading; what the console says goes to FILE.log.
dom() {
  timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
    --no-first-run --disable-background-networking --disable-extensions --virtual-time-budget=2000 \
    --enable-logging=stderr --dump-dom "file://$1" 2>"$1.log"
}
console() { # FILE
  grep -a 'CONSOLE' "$1.log" || true
}

# width FILE: "WIDTH of 320", and what is beyond, of a copy of the page in a frame of 320 px with everything unfolded.
width() {
  local inside=$work/inside.html outside=$work/outside.html
  sed -e '/http-equiv="Content-Security-Policy"/d' -e '/<\/body>/d' -e '/<\/html>/d' "$1" >"$inside"
  cat >>"$inside" <<'END'
<script>
addEventListener('load', () => {
  for (const each of document.querySelectorAll('details')) each.open = true;
  const beyond = [...document.querySelectorAll('main *, header *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1);
  const names = beyond.slice(0, 5).map(e => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 40));
  parent.postMessage(document.documentElement.scrollWidth + ' of ' + innerWidth + '; ' + names.join(' | '), '*');
});
</script></body></html>
END
  cat >"$outside" <<'END'
<!DOCTYPE html><body><script>
addEventListener('message', e => { document.body.textContent = 'width ' + e.data; });
</script><iframe src="inside.html" style="width:320px;height:800px;border:0"></iframe></body>
END
  dom "$outside" | grep -a -o 'width [0-9]* of [0-9]*; .*' || echo 'width unknown'
}
fits() { # FILE
  grep -qaE '^width ([1-9]|[1-9][0-9]|[12][0-9]{2}|3[01][0-9]|320) of 320; *(</body>|$)' <<<"$(width "$1" | head -n 1)"
}

page=$work/page.html
"$REPORT" --page "$page"

# ---- sentences, and a silent console ----
dom "$page" >"$work/dom"
for sentence in \
  'Wrong: 13 findings\.</span> Of the 1,152 bits of a block, 32 reach the wrong elements' \
  'bits 96\.\.99 of the block \(of sc4\) reach elements 0\.\.31; they belong to 128\.\.159' \
  'Nothing wrong was found\.' 'Not judged:' \
  'k&lt;script&gt;alert\("1"\)&lt;/script&gt;'; do
  grep -qaE -- "$sentence" "$work/dom" || fail "the document has no '$sentence'"
done
! grep -qa '<script' "$work/dom" || fail "a script got into the document"
[ -z "$(console "$page")" ] || fail "the console says: $(console "$page")"

# ---- 320 px ----
fits "$page" || fail "at 320 px the page has $(width "$page")"

# ---- what is planted is found ----
sed 's|<main |<script>document.title = 1</script>&|' "$page" >"$work/script.html"
dom "$work/script.html" >/dev/null
[ -n "$(console "$work/script.html")" ] || fail "a script in the page is not refused, or the console is not heard"
sed 's|<main |<div style="width:400px">wide</div>&|' "$page" >"$work/wide.html"
! fits "$work/wide.html" || fail "something 400 px wide is not found at 320 px"

[ "$failed" = 0 ] && echo "judge_page: the page holds its sentences, the console is silent, 320 px are enough"
