#!/usr/bin/env bash
# cmake/bootstrap.sh demo|test: from a fresh checkout on Debian 12, Ubuntu 24.04 or newer to a result, in one command.
#
#   demo   build, write every kernel to build/out, and compare each format on each target with the reference vectors
#   test   build, and run every test
#
# Installs missing packages with apt, through sudo unless root; where nothing is missing, apt is not called. Where the system's
# glslang is older than 13, builds a newer one into build/glslang, once (cmake/glslang.sh: 2 to 4 minutes). With
# QKGEN_GLSLANG=system none is built. Where that or the build fails, kernels for matrix units are left out. For tests, unpacks Mesa 26
# into build/mesa, once (cmake/mesa.sh: 69 MB, seconds), whose lavapipe has matrix units; without it, what needs them is not tested.
set -euo pipefail

usage() {
  sed -nE 's/^# ?//p' "$0" | sed -n '2,11p' >&2
  exit 2
}

[ $# -eq 1 ] || usage
case $1 in demo | test) ;; *) usage ;; esac

cd "$(dirname "$0")/.."

packages=(
  build-essential cmake ninja-build
  glslang-dev spirv-tools            # GLSL to SPIR-V, in process
  libvulkan-dev                      # the runtime
  libmimalloc-dev                    # memory for the GLSL compiler, sooner
  libcjson-dev                       # model files: safetensors
  libspirv-cross-c-shared-dev        # judge and audit: what a module says of itself
  mesa-vulkan-drivers                # a Vulkan device on every machine: lavapipe, on the CPU
  vulkan-validationlayers            # the tests run under them
  libcmocka-dev                      # the tests
  clang-16 libclang-16-dev           # Metal kernels on the CPU; C headers
  python3                            # the tests run modules for MLX
)

# install_missing PACKAGE...
install_missing() {
  local missing=() package
  for package; do
    if ! dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed; then
      missing+=("$package")
    fi
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "bootstrap: missing packages, and neither root nor sudo to install them: ${missing[*]}" >&2
      exit 1
    fi
    root=(sudo)
  fi
  echo "bootstrap: installing ${missing[*]}"
  "${root[@]}" apt-get -q update
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "${missing[@]}"
}

if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
  install_missing "${packages[@]}"
else
  echo "bootstrap: no apt here; this needs the equivalents of: ${packages[*]}" >&2
fi

# The major version of the system's glslang; nothing where it has none.
glslang_version() {
  "${CC:-cc}" -E -dM -x c -include glslang/build_info.h /dev/null 2>/dev/null | sed -n 's/^#define GLSLANG_VERSION_MAJOR //p'
}
newer_glslang() {
  install_missing debian-archive-keyring && cmake/glslang.sh build/glslang
}
# A Vulkan device with matrix units, for tests of the kernels that need them: in a folder of its own, of nobody else's concern. It is
# fetched while glslang is built.
mesa=
if [ "$1" = test ] && install_missing debian-archive-keyring; then
  cmake/mesa.sh build/mesa &
  mesa=$!
fi
version=$(glslang_version || true) # none where `cc` does not find it: cmake says what it needs
if [ "${QKGEN_GLSLANG:-}" != system ] && [ "${version:-0}" -gt 0 ] && [ "$version" -lt 13 ] && ! (newer_glslang); then
  echo "bootstrap: WARNING: no newer glslang than the system's $version; kernels for matrix units (class mma) are left out" >&2
fi

if [ "$1" = test ] && ! { [ "$mesa" ] && wait "$mesa"; }; then
  echo "bootstrap: WARNING: no Mesa 26 in build/mesa: KERNELS FOR MATRIX UNITS ARE NOT TESTED (test cli_units is skipped)" >&2
fi

cmake --preset default
cmake --build --preset default

case $1 in
demo)
  build/qkgen emit --out build/out
  QKGEN=$PWD/build/qkgen SOURCE=$PWD BUILD=$PWD/build tests/demo.sh
  ;;
test)
  ctest --preset default -j 2
  ;;
esac
