#!/usr/bin/env bash
# The page of all formats: what `qkgen gallery` writes, it finds good; it finds what is stale, missing or left over, and puts
# it right. Figures of the page are those that other commands and tools compute.
source "$(dirname "$0")/../lib.sh"
mkdir -p "$work/specs" "$work/none"

# 5 lines, a table aside; markup that Markdown must not see; a family of six.
cat >"$work/specs/b.quant" <<'SPEC'
# a comment
format b{n}_{T} "a | b * c_d <e>"
for n in 1 2 4, T in f16 f32

from "`here`"   # and ```` in a comment
table N: i8[2] = {
    0,
    1,
}
block 32 { d: T qs: u32[n] }
code q = qs { n @ 0 (32:n) } value = d * q * N[q & 1]
SPEC
cat >"$work/specs/A.quant" <<'SPEC'
format A "one"
block 4 { qs: u8[4] }
code q = qs { 8 @ 0 (4:8) }
table T: i8[256] = file "t.bin"
value = T[q]
SPEC
"$vectors" random 1 256 >"$work/specs/t.bin"

gallery() {
  "$QKGEN" gallery --formats "$work/specs" --out "$work/docs" "$@"
}
page=$work/docs/formats.md
check "gallery" gallery
check "gallery --check after gallery" gallery --check
check "the pictures" diff <(printf 'A.svg\nb2_f16.svg\nb4_f16.svg\n') <(ls "$work/docs/formats")
for format in A b2_f16 b4_f16; do
  check "show $format" "$QKGEN" show $format --formats "$work/specs" --svg "$work/$format.svg"
  check "the picture of $format" cmp "$work/$format.svg" "$work/docs/formats/$format.svg"
  says "the link to the picture of $format" "^!\[.*\]\(formats/$format\.svg\)$" "$page"
done
says "the number of formats" '^2 specifications make 7 formats' "$page"
says "the median" '^\| \*\*median\*\* \| \| 4.5 \|$' "$page"
says "the maximum" '^\| \*\*maximum\*\* \| \| 5 \|$' "$page"
says "the row of a format" '^\| \[`A`\]\(#a\) \| 8 \| 4 \|$' "$page"
says "the row of a family" '^\| \[`b[{]n[}]_[{]T[}]`\]\(#bn_t\) \| 1.5 to 5 \| 5 \|$' "$page"
says "its parameters" '^6 formats: `n` in 1 2 4, `T` in f16 f32\.$' "$page"
says "its figures" '^\| `b2_f16` \| 32 \| 10 \| 2.5 \|$' "$page"
says "a summary with markup" '^a \\\| b \\\* c\\_d \\<e\\>' "$page"
says "an origin with markup" '^From \\`here\\`$' "$page"
says "a fence that the text does not end" '^`````$' "$page"
says "the value" '^value = d \* q \* N\[q & 1\]$' "$page"

echo "more" >>"$page"
rm "$work/docs/formats/A.svg"
cp "$work/docs/formats/b2_f16.svg" "$work/docs/formats/old.svg"
echo "a note" >"$work/docs/formats/note.txt"
find "$work/docs" -type f -print0 | sort -z | xargs -0 sha256sum >"$work/before"
refuses "a page that is stale" 'formats.md:[0-9]+: error: differs .*`qkgen gallery`' gallery --check
refuses "a missing picture" 'formats/A.svg: error: missing; run `qkgen gallery`' gallery --check
refuses "a picture left over" 'formats/old.svg: error: nothing generates this picture' gallery --check
find "$work/docs" -type f -print0 | sort -z | xargs -0 sha256sum >"$work/after"
check "--check changes nothing" diff "$work/before" "$work/after"
check "gallery again" gallery
check "gallery --check after the second" gallery --check
check "a file of the user stays" test -e "$work/docs/formats/note.txt"
check "the picture left over is gone" test ! -e "$work/docs/formats/old.svg"

mkdir "$work/docs/formats/folder.svg"
refuses "a picture left over that cannot be deleted" 'folder.svg: error: nothing generates this picture; delete it$' gallery
rmdir "$work/docs/formats/folder.svg"

# ---- a folder that shows one of the pictures ----

# Of a family, a format that is shown is drawn in place of the one in the middle.
echo 'b1_f32 # the one to look at' >"$work/shown.txt"
cp -r "$work/docs" "$work/every"
gallery_shown() { gallery --shown "$work/shown.txt" "$@"; }
list=$work/docs/formats/pictures.txt
check "gallery --shown" gallery_shown
check "the picture of the format that is shown" diff <(printf 'b1_f32.svg\n') <(cd "$work/docs/formats" && ls ./*.svg | cut -c3-)
check "the list has all" diff <(printf 'A.svg\nb1_f32.svg\nb4_f16.svg\n') <(awk '!/^#/ { print $2 }' "$list")
"$QKGEN" show b1_f32 --formats "$work/specs" --svg "$work/every/formats/b1_f32.svg" >"$work/log"
check "its hashes are those of sha256sum" \
  diff <(cd "$work/every/formats" && sha256sum A.svg b1_f32.svg b4_f16.svg | sed -E 's/^(.{16}).{48}/\1/') <(grep -v '^#' "$list")
says "the link to what is there" '^!\[.*\]\(formats/b1_f32\.svg\)$' "$page"
says "how the picture of another is made" '^Its picture: `qkgen show A --svg FILE`\.$' "$page"
says "a link in place of the specification" '^\[The specification\]\(\.\./formats/b\.quant\): 5 lines\.$' "$page"
check "no text of it" test "$(grep -c '^block ' "$page")" -eq 0
check "no link to a picture that is not there" test "$(grep -cE 'formats/[^ ]*\.svg' "$page")" -eq 1
check "gallery --shown --check" gallery_shown --check
sed -i 's/^........\(.*A.svg\)/00000000\1/' "$list"
refuses "another hash" 'pictures.txt:3: error: differs .*`qkgen gallery --shown' gallery_shown --check
check "gallery --shown again" gallery_shown
cp "$work/every/formats/A.svg" "$work/docs/formats"
refuses "a picture that is not shown" 'formats/A.svg: error: nothing generates this picture; delete it, or run .*--shown' gallery_shown --check
echo none >"$work/none.txt"
refuses "a list with another name" 'none.txt:1:1: error: no format is named none' gallery --shown "$work/none.txt"
check "gallery of all again" gallery

refuses "a wrong specification" 'error: ' "$QKGEN" gallery --formats "$work/none" --spec "$page" --out "$work/wrong"
check "nothing is written then" test ! -e "$work/wrong"
refuses "an argument" "gallery takes no 'A'" gallery A
if [ "$(id -u)" -ne 0 ]; then
  chmod a-w "$work/docs/formats" "$work/docs"
  echo more >>"$page"
  refuses "a folder that cannot be written" 'formats.md: error: cannot write' gallery
  chmod u+w "$work/docs" "$work/docs/formats"
fi
finish
