#!/usr/bin/env bash
# The size of a checkout without its history: what git has, as it stands here. A clone is for reading, so what can be generated is
# there as a hash, but for what formats/shown.txt names; data of tests that compresses well is compressed.
#
#   tests/size.sh            checks
#   tests/size.sh --folders  says how many bytes each folder has
set -euo pipefail
cd "${SOURCE:-$(dirname "$0")/..}"

limit=15000000

# Bytes and path of each file; of those that are deleted and not yet committed, nothing.
sizes() { git ls-files -z | xargs -0 stat -c '%s %n' 2>/dev/null || true; }

if [ "${1:-}" = --folders ]; then
  sizes | awk '{ split($2, part, "/"); n = part[2] == "" ? "." : part[1]; if (part[3] != "") n = n "/" part[2]; sum[n] += $1 }
    END { for (n in sum) print sum[n], n }' | sort -rn
  exit
fi
sizes | awk -v limit=$limit '{ sum += $1; n++ }
  END {
    printf "size: %d bytes in %d files, of at most %d\n", sum, n, limit
    if (n < 100) { print "size: that is not all of them"; exit 1 }
    if (sum > limit) { print "size: tests/size.sh --folders says where they are"; exit 1 }
  }'
