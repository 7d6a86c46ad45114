#!/usr/bin/env bash
# cmake/glslang.sh FOLDER: builds glslang 15 with SPIRV-Tools from the sources of Debian 13, and installs them into FOLDER.
#
# For systems whose glslang is older than 13, which knows no cooperative matrices; takes 2 to 4 minutes on two processors. The
# sources come with apt's checks of signature and checksum, through a list of sources of its own: the system's stays as it
# is, and nothing is installed on the system. QKGEN_DEBIAN_MIRROR names another mirror. Where FOLDER is complete already,
# nothing is done. Needs cmake, ninja, a C++ compiler, python3, dpkg-dev and debian-archive-keyring.
set -euo pipefail

[ $# -eq 1 ] || { sed -nE 's/^# ?//p' "$0" | sed -n '2,7p' >&2; exit 2; }
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
if [ -e "$prefix/complete" ] && [ -e "$prefix/lib/libSPIRV-Tools-opt.a" ]; then exit 0; fi

if [ ! -e "$prefix/complete" ] && [ -n "$(ls -A "$prefix")" ]; then
  echo "glslang: $prefix holds something else, or what an earlier run left unfinished: name an empty folder, or remove it" >&2
  exit 1
fi
for tool in apt-get dpkg-source cmake ninja python3 c++; do
  command -v $tool >/dev/null || { echo "glslang: no $tool here" >&2; exit 1; }
done
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e $keys ] || { echo "glslang: no $keys to check the sources with (package debian-archive-keyring)" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$work/parts" "$work/lists/partial" "$work/cache" "$work/sources"
cat > "$work/parts/debian.sources" <<SOURCES
Types: deb-src
URIs: ${QKGEN_DEBIAN_MIRROR:-http://deb.debian.org/debian}
Suites: trixie
Components: main
Signed-By: $keys
SOURCES

# quietly WHAT COMMAND...: its output only where it fails.
quietly() {
  local what=$1 status=0
  shift
  "$@" >"$work/log" 2>&1 || status=$?
  [ $status -eq 0 ] || { tail -n 20 "$work/log" >&2; echo "glslang: $what failed" >&2; exit 1; }
}
fetch() {
  apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/parts" -o Dir::State::Lists="$work/lists" \
    -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any -o Acquire::Retries=2 \
    -o Acquire::http::Timeout=30 "$@"
}
echo "glslang: fetching the sources of Debian 13"
quietly "fetching the list of sources" fetch update
cd "$work/sources"
quietly "fetching the sources" fetch source --download-only --tar-only glslang spirv-tools spirv-headers

unpack() { # PATTERN FOLDER
  mkdir -p "$work/$2"
  tar -xf "$work"/sources/$1 -C "$work/$2" --strip-components=1
}
# Where glslang looks for them: then it is one build, and glslang runs the optimiser.
tools=glslang/External/spirv-tools
unpack 'glslang_*.orig.tar.*' glslang
unpack 'spirv-tools_*.orig.tar.*' $tools
unpack 'spirv-headers_*.orig.tar.*' $tools/external/spirv-headers

# SPIRV-Tools precompiles headers with MSVC only; half of the time goes into them.
cat > "$work/headers.cmake" <<'CMAKE'
cmake_language(DEFER CALL target_precompile_headers SPIRV-Tools-static
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/source/pch_source.h)
cmake_language(DEFER CALL target_precompile_headers SPIRV-Tools-opt
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/source/opt/pch_source_opt.h)
CMAKE
# clang takes less than half of gcc's time for it, where it finds its C++ library; then there is time for -O2, with which kernels take a
# seventh less to compile.
compiler=() optimize=-O1
for name in clang++ clang++-16; do
  if [ -z "${CXX:-}" ] && command -v $name >/dev/null &&
    printf '#include <unordered_map>\n' | $name -x c++ -std=c++17 -fsyntax-only - 2>/dev/null; then
    compiler=("-DCMAKE_CXX_COMPILER=$name") optimize=-O2
  fi
done
echo "glslang: building it, some minutes"
quietly "configuring" cmake -S "$work/glslang" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release "${compiler[@]}" \
  -DCMAKE_CXX_FLAGS_RELEASE="$optimize -DNDEBUG" -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF \
  -DCMAKE_PROJECT_spirv-tools_INCLUDE="$work/headers.cmake" \
  -DENABLE_OPT=ON -DENABLE_HLSL=OFF -DENABLE_SPVREMAPPER=OFF -DENABLE_GLSLANG_BINARIES=OFF -DGLSLANG_TESTS=OFF \
  -DSPIRV_SKIP_TESTS=ON -DSPIRV_SKIP_EXECUTABLES=ON -DSPIRV_WERROR=OFF
quietly "building" cmake --build "$work/build" --target \
  glslang glslang-default-resource-limits SPIRV-Tools-static SPIRV-Tools-opt

rm -rf "$prefix/complete" "$prefix/lib" "$prefix/include"
mkdir -p "$prefix/lib" "$prefix/include/glslang"
cp "$work"/build/glslang/lib{glslang,glslang-default-resource-limits}.a "$prefix/lib/"
cp "$work"/build/External/spirv-tools/source/{libSPIRV-Tools.a,opt/libSPIRV-Tools-opt.a} "$prefix/lib/"
cp "$work/build/include/glslang/build_info.h" "$prefix/include/glslang/"
for folder in Include Public; do
  mkdir "$prefix/include/glslang/$folder"
  cp "$work/glslang/glslang/$folder"/*.h "$prefix/include/glslang/$folder/"
done
cp -r "$work/$tools/include/spirv-tools" "$prefix/include/"
touch "$prefix/complete"
