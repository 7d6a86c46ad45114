#!/usr/bin/env bash
# The README's two commands on a bare Debian 12: makes one with debootstrap, with nothing but git and certificates,
# clones this checkout's HEAD into it, runs both commands, and prints how long each took. Needs root and debootstrap.
#
#   tests/bare/run.sh [FOLDER]     FOLDER is made, and kept when something fails; a temporary one, removed, by default
#
# MIRROR (http://deb.debian.org/debian), SUITE (bookworm), COMPONENTS (main), KEYRING and SCRIPT (as debootstrap finds
# them) choose the system; Ubuntu: MIRROR=http://archive.ubuntu.com/ubuntu SUITE=noble COMPONENTS=main,universe.
# APT_CONF names a file of apt settings that the network here asks for.
set -euo pipefail

mirror=${MIRROR:-http://deb.debian.org/debian}
suite=${SUITE:-bookworm}
components=${COMPONENTS:-main}
source=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)

if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
  echo "bare: needs root and debootstrap" >&2
  exit 77
fi

# Mounts are made in a namespace of this process's own, so that none is left behind, whatever ends it: a folder that
# holds the machine's own /dev must never be there for somebody to remove.
if [ -z "${QKGEN_BARE_MOUNTS:-}" ]; then
  exec env QKGEN_BARE_MOUNTS=own unshare --mount --propagation private "$0" "$@"
fi

if [ $# -gt 0 ]; then
  root=$1
  mkdir -p "$root"
else
  root=$(mktemp -d)
fi
root=$(readlink -f "$root")

unmount() {
  for place in dev proc; do
    if mountpoint -q "$root/$place"; then umount "$root/$place" || true; fi
  done
}
finish() {
  unmount
  if [ "$1" -eq 0 ] && [ "$keep" = no ]; then rm -rf --one-file-system "$root"; fi
}
keep=$([ $# -gt 0 ] && echo yes || echo no)
trap 'finish $?' EXIT

timed() {
  local name=$1 start=$SECONDS
  shift
  "$@"
  times+=("$(printf '%-28s %4d s' "$name" $((SECONDS - start)))")
}
times=()

# A /dev with what builds and tests use, none of it the machine's own.
make_devices() {
  mount -t tmpfs -o mode=755 devices "$root/dev"
  local node name major minor
  for node in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
    IFS=: read -r name major minor <<<"$node"
    mknod -m 666 "$root/dev/$name" c "$major" "$minor"
  done
  ln -s /proc/self/fd "$root/dev/fd"
  ln -s fd/0 "$root/dev/stdin"
  ln -s fd/1 "$root/dev/stdout"
  ln -s fd/2 "$root/dev/stderr"
  mkdir -m 1777 "$root/dev/shm"
}

inside() {
  chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"
}

make_system() {
  local options=(--variant=minbase "--include=git,ca-certificates" --components="$components")
  if [ -n "${KEYRING:-}" ]; then options+=(--keyring="$KEYRING"); fi
  debootstrap "${options[@]}" "$suite" "$root" "$mirror" ${SCRIPT:+"$SCRIPT"}
}

# A system that is there already is used as it is.
if [ ! -e "$root/usr/bin/git" ]; then
  timed "debootstrap $suite" make_system
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
if [ -n "${APT_CONF:-}" ]; then cp "$APT_CONF" "$root/etc/apt/apt.conf.d/99network"; fi
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc" || echo "bare: without /proc"
make_devices

rm -rf "$root/root/qkgen" "$root/root/qkgen.git"
git clone -q --bare "$source" "$root/root/qkgen.git"
timed "git clone" inside git clone -q /root/qkgen.git /root/qkgen
timed "cmake/bootstrap.sh demo" inside /root/qkgen/cmake/bootstrap.sh demo
timed "cmake/bootstrap.sh test" inside /root/qkgen/cmake/bootstrap.sh test

echo
echo "bare $suite:"
printf '%s\n' "${times[@]}"
