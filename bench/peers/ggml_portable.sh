#!/usr/bin/env bash
# `bench/peers/ggml_portable.sh GGML FOLDER` builds test-backend-ops with ggml's Vulkan backend for another x86-64 Linux: GGML
# is a checkout of ggml, FOLDER/test-backend-ops the program. It needs the C library of this system or a newer one and libvulkan1
# there, and nothing else: no C++ library, no processor beyond AVX2, no folder of this machine.
#
# ggml's shaders need a glslc of 2025 or later (older ones know neither cooperative matrices nor integer dot products, and ggml
# then leaves such kernels out without a word). It comes from Debian 13 with its own C library and is started through that
# library's loader; the Vulkan headers come from there, too. Nothing is installed. QKGEN_DEBIAN_MIRROR names another mirror.
# Takes about 2000 shaders' time: 20 minutes and more on two processors. FLAGS are passed to cmake.
# Needs apt, dpkg, cmake, ninja, a C++ compiler, libvulkan-dev and debian-archive-keyring.
set -euo pipefail

die() {
  echo "ggml_portable.sh: error: $1" >&2
  exit 1
}
[ $# -eq 2 ] || { sed -nE 's/^# ?//p' "$0" | sed -n '2,4p' >&2; exit 2; }
[ -e "$1/tests/test-backend-ops.cpp" ] || die "no tests/test-backend-ops.cpp in $1; name a checkout of ggml"
mkdir -p "$2"
ggml=$(cd "$1" && pwd) folder=$(cd "$2" && pwd) root=$folder/debian13
for tool in apt-get dpkg-deb cmake ninja c++; do
  command -v $tool >/dev/null || die "no $tool here"
done
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e $keys ] || die "no $keys to check packages with (package debian-archive-keyring)"

fetch() {
  apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$folder/apt/parts" -o Dir::State::Lists="$folder/apt/lists" \
    -o Dir::State::Status=/dev/null -o Dir::Cache="$folder/apt/cache" -o APT::Architecture=amd64 -o APT::Architectures=amd64 \
    -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any "$@" >>"$folder/apt/log" 2>&1 || die "apt-get $1 failed: see $folder/apt/log"
}
if [ ! -x "$root/glslc" ]; then
  mkdir -p "$folder"/apt/{parts,lists/partial,cache,packages} "$root"
  printf 'Types: deb\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: %s\n' \
    "${QKGEN_DEBIAN_MIRROR:-http://deb.debian.org/debian}" "$keys" >"$folder/apt/parts/debian.sources"
  fetch update
  (cd "$folder/apt/packages" && fetch download glslc libshaderc1 libc6 libstdc++6 libgcc-s1 libvulkan-dev spirv-headers)
  for package in "$folder"/apt/packages/*.deb; do dpkg-deb -x "$package" "$root"; done
  printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$root/usr/lib64/ld-linux-x86-64.so.2" "$root/usr/lib/x86_64-linux-gnu" \
    "$root/usr/bin/glslc" >"$folder/glslc"
  chmod +x "$folder/glslc"
  "$folder/glslc" --version >/dev/null || die "Debian 13's glslc does not run: $folder/glslc"
  mv "$folder/glslc" "$root/glslc"
fi

# The system's libvulkan is only linked against: the program takes the one where it runs.
library=$(c++ -print-file-name=libvulkan.so)
[ -e "$library" ] || die "no libvulkan.so here (package libvulkan-dev)"
grep -q QK_PERF_MS "$ggml/tests/test-backend-ops.cpp" || "$(dirname "$0")/ggml_quick.sh" "$ggml/tests/test-backend-ops.cpp"
# shellcheck disable=SC2086
cmake -S "$ggml" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF \
  -DGGML_VULKAN=ON -DGGML_BUILD_TESTS=ON -DGGML_BUILD_EXAMPLES=OFF -DVulkan_INCLUDE_DIR="$root/usr/include" \
  -DVulkan_LIBRARY="$library" -DVulkan_GLSLC_EXECUTABLE="$root/glslc" -DSPIRV-Headers_DIR="$root/usr/share/cmake/SPIRV-Headers" \
  -DCMAKE_EXE_LINKER_FLAGS="-static-libstdc++ -static-libgcc" ${FLAGS:-}
cmake --build "$folder/build" -t test-backend-ops
strip -o "$folder/test-backend-ops" "$folder/build/bin/test-backend-ops"
