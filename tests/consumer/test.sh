#!/usr/bin/env bash
# Builds the consumer against a checkout, runs it, and changes one of two specifications of its own: only what was made
# from that one is made again. Then, where QKGEN names a command that was just built, installs that build and does the
# same from the installed package; with ENGINE=OFF, without the engine that links the installed runtime.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
source=${SOURCE:-$(cd "$here/../.." && pwd)}
work=${BUILD:-$(mktemp -d)}
log=$work/build.log
rm -rf "$work/specs" "$work/build" "$work/installed" "$work/prefix" "$work/alone"
mkdir -p "$work/specs"

fail() {
  echo "consumer: $*"
  exit 1
}

# configure FOLDER OPTION...
configure() {
  local folder=$1
  shift
  cmake -G "${GENERATOR:-Ninja}" -S "$here" -B "$work/$folder" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS="-Wall -Wextra -Wpedantic -Werror" -DCMAKE_C_FLAGS_RELEASE="-O0 -DNDEBUG" "$@" >"$log" 2>&1 || { cat "$log"; fail "does not configure"; }
}

# build FOLDER
build() {
  cmake --build "$work/$1" >"$log" 2>&1 || { cat "$log"; fail "does not build"; }
}

# expect_made FORMAT...: what the last build made.
expect_made() {
  local made
  made=$({ grep -oE "qkgen [A-Za-z0-9_]+$" "$log" || true; } | sort -u | sed 's/^qkgen //' | xargs)
  [ "$made" = "$*" ] || { cat "$log"; fail "made '$made', and not '$*'"; }
}

# Two formats of the engine's own: copies under other names.
for pair in q4_K:mine_a q8_0:mine_b; do
  from=${pair%:*} to=${pair#*:}
  sed -E "s/^([[:space:]]*format[[:space:]]+)$from\>/\1$to/" "$source/formats/$from.quant" >"$work/specs/$to.quant"
  grep -qw "$to" "$work/specs/$to.quant" || fail "formats/$from.quant does not declare $from"
done

configure build -DQKGEN_SOURCE_DIR="$source" -DCONSUMER_FORMATS="mine_a;mine_b" \
  -DCONSUMER_SPECS="$work/specs/mine_a.quant;$work/specs/mine_b.quant"
build build
"$work/build/plain" || fail "the engine without the runtime fails"
"$work/build/engine" || fail "the engine with the runtime fails"

build build
expect_made

sleep 1.1 # some file systems count times in seconds
echo "# changed" >>"$work/specs/mine_a.quant"
build build
expect_made mine_a
echo "consumer: mine_a.quant was changed, and only mine_a was made again"

sleep 1.1
touch "$work/specs/mine_b.quant"
build build
expect_made mine_b
build build
expect_made
echo "consumer: mine_b.quant was touched, and only mine_b was made again, once"

if [ -n "${QKGEN:-}" ] && [ -e "$(dirname "$QKGEN")/cmake_install.cmake" ]; then
  cmake --install "$(dirname "$QKGEN")" --prefix "$work/prefix" >"$log" 2>&1 || { cat "$log"; fail "does not install"; }
  configure installed -DCMAKE_PREFIX_PATH="$work/prefix" -DCONSUMER_ENGINE="${ENGINE:-ON}"
  build installed
  "$work/installed/plain" >/dev/null || fail "the engine without the runtime fails, from the package"
  if [ "${ENGINE:-ON}" = ON ]; then
    "$work/installed/engine" || fail "the engine with the runtime fails, from the package"
  fi
  env -u QKGEN_DATA_DIR "$work/prefix/bin/qkgen" emit --embed --format q8_0 --out "$work/alone" \
    --depfile "$work/alone.d" >"$log" 2>&1 || { cat "$log"; fail "the installed command fails"; }
  grep -q "$work/prefix/share/qkgen/" "$work/alone.d" || fail "the installed command does not take its own formats"
  echo "consumer: the installed package works"
fi
