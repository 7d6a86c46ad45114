#!/usr/bin/env bash
# What people write who take kernels from qkgen: engines in tests/stories, each built and run; packages and the source archive; a
# generator without glslang. The stories of llama.cpp and MLX are the tests ggml_test, cli_ggml_metal and cli_mlx. docs/engines.md has the
# numbers of lines, which are compared here.
source "$(dirname "$0")/../lib.sh"
build=$(dirname "$QKGEN")
[ -e "$build/cmake_install.cmake" ] || { echo "skipped: $QKGEN is no command in its build folder" && exit 77; }
stories=$SOURCE/tests/stories
export CFLAGS="-Wall -Wextra -Wpedantic -Wundef -Werror" CXXFLAGS="-Wall -Wextra -Wpedantic -Werror"
# Without information for debuggers, which are a quarter of what a compiler does here.
configured() {
  cmake -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG= -DCMAKE_CXX_FLAGS_DEBUG= "$@"
}
# runs SENTENCE COMMAND...: as check; 77 is no device.
runs() {
  local status=0
  "${@:2}" >"$work/run" 2>&1 || status=$?
  case $status in 0) pass ;; 77) echo "skipped: $1: no Vulkan device" ;; *) fail "$1" "$work/run" ;; esac
}
# lines FILE FROM TO: between two lines that have these words.
lines() {
  echo $(($(sed -n "/$2/,/$3/p" "$1" | grep -c '[^ ]') - 2))
}

check "installs" cmake --install "$build" --prefix "$work/prefix"

# ---- a C engine, and a C++ engine without C, from the installed package ----
for story in c cpp; do
  check "$story: configures" configured -S "$stories/$story" -B "$work/$story" -DCMAKE_PREFIX_PATH="$work/prefix"
  check "$story: builds" cmake --build "$work/$story"
  runs "$story: is right" "$work/$story/engine"
done
backend_c=$(lines "$stories/c/engine.c" "---- the backend" "---- what it does")
backend_cpp=$(lines "$stories/cpp/engine.cpp" "---- the backend" "---- what it does")
says "docs/engines.md counts the backend in C" "\\| a C engine with its own Vulkan .*\\| $backend_c " "$SOURCE/docs/engines.md"
says "docs/engines.md counts the backend in C++" "\\| a C\\+\\+ engine with Vulkan-Hpp.*\\| $backend_cpp " "$SOURCE/docs/engines.md"
check "a backend is less than 150 lines" test "$backend_c" -lt 150 -a "$backend_cpp" -lt 150

# ---- only what was asked for ----
emit=("$QKGEN" emit --embed --format q4_K --api vulkan --family gemv)
check "all" "${emit[@]}" --out "$work/all"
check "one type, one class, one schedule" "${emit[@]}" --type f32 --class exact --schedule wide --out "$work/some"
for word in gemv_f16 gemv_int8 gemv_ahead gemv_shared gemv_teams; do
  says "$word is there" "q4_K_$word" "$work/all/q4_K.c"
  check "$word is left out" bash -c "! grep -q 'q4_K_$word' '$work/some/q4_K.c'"
done
check "packed" "${emit[@]}" --pack --out "$work/packed"
check "packed words are a third, at most" bash -c "${CC:-cc} -std=c11 -Wno-overlength-strings -c -o '$work/all.o' '$work/all/q4_K.c' &&
  ${CC:-cc} -std=c11 -c -o '$work/packed.o' '$work/packed/q4_K.c' &&
  [ \$(size '$work/packed.o' | awk 'NR == 2 { print 2 * \$1 }') -lt \$(size '$work/all.o' | awk 'NR == 2 { print \$1 }') ]"
refuses "packed, and no pair" 'add --embed' "$QKGEN" emit --pack --format q4_K --out "$work/none"
says "plain rows stay" q4_K_gemv_rows_words "$work/some/q4_K.c"
refuses "a schedule that does not exist" '--schedule takes rows\|wide\|' "${emit[@]}" --schedule tall --out "$work/none"
refuses "a type that does not exist" "f64" "${emit[@]}" --type f64 --out "$work/none"
refuses "a type that the families have not" 'no kernel of these families has that type' "${emit[@]}" --type bf16 --out "$work/none"
check "a licence line in every text" \
  bash -c "! grep -L 'Licence: none of qkgen' '$SOURCE'/out/*/*.{c,h,metal,comp} | grep ."

# ---- text alone, out of the source archive ----
check "a source archive" bash -c "cd '$work' && cpack -B '$work/archive' --config '$build/CPackSourceConfig.cmake'"
check "unpacks" tar -xzf "$work"/archive/qkgen-*-source.tar.gz -C "$work"
archive=$(echo "$work"/qkgen-*-source)
check "no build folder in it" bash -c "! ls -d '$archive'/build* '$archive/.git'"
check "a pair" "$QKGEN" emit --embed --format q4_K --api metal --out "$work/pair"
check "text: configures" configured -S "$stories/text" -B "$work/text" -DQKGEN="$archive" -DPAIR="$work/pair"
check "text: looks for nothing" bash -c "! grep -iE 'glslang_INCLUDE|Vulkan_|LIBCLANG_|cjson|_CXX_COMPILER:' '$work/text/CMakeCache.txt'"
check "text: builds" cmake --build "$work/text"
check "text: runs" bash -c "'$work/text/reader' >'$work/text.metal' && grep -q 'kernel void q4_K_gemv_f16' '$work/text.metal'"

# ---- pairs that share the headers of the runtime ----
for format in q4_0 q8_0; do
  check "$format, which includes" "$QKGEN" emit --embed --includes --format $format --family gather --type f32 --api vulkan --out "$work/sharing"
  check "$format, which holds" "$QKGEN" emit --embed --format $format --family gather --type f32 --api vulkan --out "$work/holding"
done
for file in q4_0 q8_0; do
  says "$file.h includes" '^#include "qkgen/kernel.h"$' "$work/sharing/$file.h"
  says "$file.c includes" '^#include "qkgen/dispatch.h"$' "$work/sharing/$file.c"
done
check "the runtime is in none" bash -c "! grep -lE 'typedef struct qk_kernel |qk_check_call_\(const' '$work'/sharing/*"
cat >"$work/sharing/main.c" <<'C'
#include "q4_0.h"
#include "q8_0.h"
#include <stdio.h>
int main(void) { return printf("%s %s\n", qk_q4_0_kernels.name, qk_q8_0_kernels.name) < 0; }
C
for language in "${CC:-cc} -std=c11 $CFLAGS -Wno-overlength-strings" "${CXX:-c++} -std=c++17 $CXXFLAGS -Wno-overlength-strings -x c++"; do
  check "$language: builds" bash -c "cd '$work/sharing' && $language -I '$SOURCE/runtime/include' -o main main.c q4_0.c q8_0.c"
  check "$language: runs" bash -c "'$work/sharing/main' | grep -qx 'q4_0 q8_0'"
done
check "the rest is the same" bash -c "
  for file in q4_0 q8_0; do grep -vxFf '$work/holding/'\$file.c '$work/sharing/'\$file.c; done | grep -v '^#include \"qkgen/' | grep -q . && exit 1 || exit 0"
refuses "includes, and no pair" 'add --embed' "$QKGEN" emit --includes --format q4_K --out "$work/none"

# ---- metal-cpp, as text: declarations in the place of Metal's ----
sed -n '/^Metal-cpp, as text/,/^An engine in C++/p' "$SOURCE/docs/engines.md" | sed -n '/^```cpp$/,/^```$/p' | grep -v '^```' >"$work/pair/backend.inc"
check "metal-cpp: compiles" bash -c "cd '$work/pair' && ${CC:-cc} -std=c11 -Wno-overlength-strings -c q4_K.c &&
  ${CXX:-c++} -std=c++17 $CXXFLAGS -I. -I '$SOURCE/runtime/include' -I '$stories/metal_cpp' -o metal_cpp '$stories/metal_cpp/engine.cpp' q4_K.o"
check "metal-cpp: tells Metal what is launched" bash -c "'$work/pair/metal_cpp' | grep -c workgroups | grep -qx 2"

# ---- a generator without glslang and C++ ----
check "no glslang: configures" configured -S "$archive" -B "$work/small" -DQKGEN_GLSLANG=OFF -DQKGEN_RUNTIME=OFF -DQKGEN_TESTS=OFF \
  -DQKGEN_LIBCLANG=OFF -DCMAKE_C_FLAGS="$CFLAGS -O0"
check "no glslang: looks for none" bash -c "! grep -iE 'glslang_INCLUDE|Vulkan_|_CXX_COMPILER:' '$work/small/CMakeCache.txt'"
check "no glslang: builds" cmake --build "$work/small" --target qkgen
check "no glslang: emits" "$work/small/qkgen" emit --embed --data "$SOURCE" --format q4_K --api metal --out "$work/same"
check "no glslang: is the same text" cmp "$work/same/q4_K.c" "$work/pair/q4_K.c"
refuses "no glslang: nothing for Vulkan" 'built without glslang' "$work/small/qkgen" emit --data "$SOURCE" --format q4_K --out "$work/none"

# ---- one that brings the C++ library ----
if [ -e "$build/glslang" ]; then ln -s "$build/glslang" "$work/small/glslang"; fi
check "static: configures" configured -S "$archive" -B "$work/small" -DQKGEN_GLSLANG=ON -DQKGEN_STATIC_LIBSTDCXX=ON
check "static: builds" cmake --build "$work/small" --target qkgen
check "static: needs no C++ library" bash -c "readelf -d '$work/small/qkgen' >'$work/needed' && grep -q 'NEEDED.*libc\.so' '$work/needed' &&
  ! grep -E 'NEEDED.*(libstdc\+\+|libc\+\+|libgcc_s)' '$work/needed'"
check "static: emits words" "$work/small/qkgen" emit --embed --data "$SOURCE" --format q4_0 --family gather --type f32 --api vulkan \
  --out "$work/static"
check "static: the same words" cmp "$work/static/q4_0.c" "$work/holding/q4_0.c"

# ---- packages ----
check "packages" bash -c "cd '$work' && cpack -B '$work/packages' --config '$build/CPackConfig.cmake'"
check "a tar.gz" bash -c "tar -tzf '$work'/packages/qkgen-*.tar.gz | grep -q 'bin/qkgen$'"
if command -v dpkg-deb >/dev/null; then
  dpkg-deb -c "$work"/packages/*.deb >"$work/deb" 2>&1 || true
  for file in bin/qkgen include/qkgen/registry.h cmake/qkgen/qkgenConfig.cmake share/qkgen/templates/format.h; do
    says "the deb has $file" "/$file" "$work/deb"
  done
  mkdir "$work/root" && check "the deb unpacks" dpkg-deb -x "$work"/packages/*.deb "$work/root"
  check "the unpacked command takes its own formats" \
    bash -c "cd '$work' && '$work/root/usr/bin/qkgen' emit --api metal --format q8_0 --out from_deb"
fi
check "nothing is left of wrong requests" test ! -e "$work/none"
finish
