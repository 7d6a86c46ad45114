#!/usr/bin/env bash
# cmake/mesa.sh FOLDER [SUITE]: unpacks the Vulkan drivers of Mesa from Debian's SUITE, and all they need, into FOLDER.
#
# trixie-backports, the default, has Mesa 26, whose lavapipe has matrix units; trixie has Mesa 25, whose RADV compiles for GPUs
# that are not there (bench/offline.sh). The validation layer comes, too. 69 MB of packages, less than a minute. They come with apt's
# checks of signature and checksum, through a list of sources of its own: the system's stays as it is, and nothing is installed on the
# system. QKGEN_DEBIAN_MIRROR names another mirror. FOLDER/run PROGRAM [ARGUMENT...] starts a program with lavapipe of there, through its
# own loader and C library, on any system. Where FOLDER is complete already, nothing is done. Needs dpkg-dev and debian-archive-keyring.
set -euo pipefail

usage() {
  sed -nE 's/^# ?//p' "$0" | sed -n '2,8p' >&2
  exit 2
}
[ $# -ge 1 ] && [ $# -le 2 ] || usage
suite=${2:-trixie-backports}
case $suite in trixie | trixie-backports) ;; *) usage ;; esac
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
layer=usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json
if [ "$(cat "$prefix/complete" 2>/dev/null)" = "$suite" ]; then
  [ ! -e "$prefix/$layer" ] || exit 0
  rm -rf "${prefix:?}"/* # of before there was a layer
fi
if [ -n "$(ls -A "$prefix")" ]; then
  echo "mesa: $prefix holds something else, or what an earlier run left unfinished: name an empty folder, or remove it" >&2
  exit 1
fi
[ "$(uname -m)" = x86_64 ] || { echo "mesa: only for x86_64, this is $(uname -m)" >&2; exit 1; }
for tool in apt-get dpkg-deb; do
  command -v $tool >/dev/null || { echo "mesa: no $tool here" >&2; exit 1; }
done
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e $keys ] || { echo "mesa: no $keys to check packages with (package debian-archive-keyring)" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$work/parts" "$work/lists/partial" "$work/cache/archives/partial"
: >"$work/status" # nothing is installed: all that is needed is fetched
cat >"$work/parts/debian.sources" <<SOURCES
Types: deb
URIs: ${QKGEN_DEBIAN_MIRROR:-http://deb.debian.org/debian}
Suites: trixie trixie-backports
Components: main
Signed-By: $keys
SOURCES

# quietly WHAT COMMAND...: its output only where it fails.
quietly() {
  local what=$1 status=0
  shift
  "$@" >"$work/log" 2>&1 || status=$?
  [ $status -eq 0 ] || { tail -n 20 "$work/log" >&2; echo "mesa: $what failed" >&2; exit 1; }
}
fetch() {
  apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/parts" -o Dir::State::Lists="$work/lists" \
    -o Dir::State::Status="$work/status" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root -o APT::Architecture=amd64 \
    -o APT::Architectures=amd64 -o APT::Install-Recommends=false -o APT::Update::Error-Mode=any -o Debug::NoLocking=true \
    -o Acquire::Languages=none -o Acquire::Retries=2 -o Acquire::http::Timeout=30 "$@"
}
echo "mesa: fetching Mesa of Debian's $suite"
quietly "fetching the list of packages" fetch update
quietly "fetching packages" fetch -y --download-only -t "$suite" install mesa-vulkan-drivers libvulkan1 vulkan-validationlayers
for package in "$work"/cache/archives/*.deb; do
  quietly "unpacking ${package##*/}" dpkg-deb --extract "$package" "$prefix"
done
lib=usr/lib/x86_64-linux-gnu
loader=$lib/ld-linux-x86-64.so.2
for file in $loader $lib/libvulkan_lvp.so $lib/libvulkan.so.1 $layer; do
  [ -e "$prefix/$file" ] || { echo "mesa: the packages have no $file" >&2; exit 1; }
done
# Drivers of other devices and what is for people.
find "$prefix/$lib" -name 'libvulkan_*.so' ! -name '*_lvp.so' ! -name '*_radeon.so' -delete
rm -rf "$prefix"/usr/share/{doc,man,locale,lintian,bug} "$prefix/$lib/gconv"
for driver in lvp radeon; do
  printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.4.0"}}\n' \
    "$prefix/$lib/libvulkan_$driver.so" >"$prefix/$driver.json"
done
# QKGEN_MESA_DRIVER=radeon takes that driver. Layers of the system want the system's C library: those of here are known alone.
cat >"$prefix/run" <<RUN
#!/bin/sh
unset VK_LOADER_DRIVERS_SELECT VK_ICD_FILENAMES
export VK_DRIVER_FILES="$prefix/\${QKGEN_MESA_DRIVER:-lvp}.json" VK_LAYER_PATH="$prefix/usr/share/vulkan/explicit_layer.d" \\
  VK_LOADER_LAYERS_DISABLE='~implicit~'
exec "$prefix/$loader" --library-path "$prefix/$lib" "\$@"
RUN
chmod +x "$prefix/run"
printf '%s\n' "$suite" >"$prefix/complete"
