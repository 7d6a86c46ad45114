#!/usr/bin/env bash
# cmake/glslang.sh FOLDER: builds glslang 15 and SPIRV-Tools from the sources of Debian 13, and installs them into FOLDER.
#
# For systems whose glslang is older than 13, which knows no cooperative matrices; takes some minutes. The sources come
# with apt's checks of signature and checksum, through a list of sources of its own: the system's stays as it is, and
# nothing is installed on the system. Where FOLDER is complete already, nothing is done. The optimiser of SPIRV-Tools, which would
# take twice as long, is left out.
set -euo pipefail

[ $# -eq 1 ] || { sed -nE 's/^# ?//p' "$0" | sed -n '2,5p' >&2; exit 2; }
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
[ ! -e "$prefix/complete" ] || exit 0

for tool in apt-get cmake ninja python3; do
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
apt() {
  apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/parts" -o Dir::State::Lists="$work/lists" \
    -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root "$@"
}
echo "glslang: fetching the sources of Debian 13"
apt update >/dev/null
(cd "$work/sources" && apt source --download-only --tar-only glslang spirv-tools spirv-headers >/dev/null)

unpack() { # PATTERN FOLDER
  mkdir "$work/$2"
  tar -xf "$work"/sources/$1 -C "$work/$2" --strip-components=1
}
unpack 'glslang_*.orig.tar.*' glslang
unpack 'spirv-tools_*.orig.tar.*' tools
unpack 'spirv-headers_*.orig.tar.*' headers

options=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF)
echo "glslang: building glslang"
cmake -S "$work/glslang" -B "$work/build" "${options[@]}" -DENABLE_OPT=OFF -DENABLE_HLSL=OFF \
  -DENABLE_GLSLANG_BINARIES=OFF -DGLSLANG_TESTS=OFF >/dev/null
cmake --build "$work/build" >/dev/null
cmake --install "$work/build" >/dev/null
echo "glslang: building the validator of SPIRV-Tools"
cmake -S "$work/tools" -B "$work/build-tools" "${options[@]}" -DSPIRV-Headers_SOURCE_DIR="$work/headers" \
  -DSPIRV_SKIP_TESTS=ON -DSPIRV_SKIP_EXECUTABLES=ON -DSPIRV_WERROR=OFF >/dev/null
cmake --build "$work/build-tools" --target SPIRV-Tools-static >/dev/null
cp "$work/build-tools/source/libSPIRV-Tools.a" "$prefix/lib/"
cp -r "$work/tools/include/spirv-tools" "$prefix/include/"
touch "$prefix/complete"
