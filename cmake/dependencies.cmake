# What qkgen needs from the system, each with the least version that has what we call, and the Debian package to install
# when it is missing. Defines qkgen_glslang (glslang and SPIRV-Tools), Threads::Threads, and Vulkan::Vulkan,
# qkgen_cjson and qkgen_cmocka where they are needed.

function(qkgen_missing what package)
  message(FATAL_ERROR "qkgen needs ${what}.\nOn Debian and Ubuntu: apt-get install ${package}")
endfunction()

if(QKGEN_GENERATOR)
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads)
  if(NOT Threads_FOUND)
    qkgen_missing("POSIX threads" libc6-dev)
  endif()
endif()

# ---- glslang, SPIRV-Tools -------------------------------------------------------------------------------------------
#
# Their own CMake packages changed target names, and with them dependencies, in almost every release, so we look for the
# libraries themselves. Those in QKGEN_GLSLANG_OPTIONAL came or went between 12 and 15. As static archives they refer to
# each other in both directions.
#
# Kernels with matrix units need glslang 13 and a SPIRV-Tools of the same time. Where the system's are older, cmake/bootstrap.sh
# has cmake/glslang.sh build newer ones into a folder of the build tree, from which they are then taken, headers and
# libraries both: the two never mix with the system's.

set(QKGEN_GLSLANG_VERSION 0)
if(QKGEN_GENERATOR AND QKGEN_GLSLANG)
set(QKGEN_GLSLANG_ROOT "" CACHE PATH "Where glslang and SPIRV-Tools are installed; empty: the build tree, else the system")
if(QKGEN_GLSLANG_ROOT)
  set(QKGEN_GLSLANG_PREFIX ${QKGEN_GLSLANG_ROOT})
elseif(EXISTS ${PROJECT_BINARY_DIR}/glslang/complete)
  set(QKGEN_GLSLANG_PREFIX ${PROJECT_BINARY_DIR}/glslang)
else()
  set(QKGEN_GLSLANG_PREFIX "")
endif()
set(QKGEN_GLSLANG_HINTS)
if(NOT QKGEN_GLSLANG_PREFIX STREQUAL QKGEN_GLSLANG_FOUND_IN) # what was found elsewhere is found anew
  foreach(variable QKGEN_GLSLANG_INCLUDE_DIR QKGEN_SPIRV_TOOLS_INCLUDE_DIR QKGEN_LIBRARY_glslang QKGEN_LIBRARY_SPIRV-Tools
      QKGEN_LIBRARY_glslang-default-resource-limits QKGEN_LIBRARY_SPIRV QKGEN_LIBRARY_SPIRV-Tools-opt
      QKGEN_LIBRARY_MachineIndependent QKGEN_LIBRARY_GenericCodeGen QKGEN_LIBRARY_OSDependent QKGEN_LIBRARY_OGLCompiler)
    unset(${variable} CACHE)
  endforeach()
  set(QKGEN_GLSLANG_FOUND_IN "${QKGEN_GLSLANG_PREFIX}" CACHE INTERNAL "")
endif()
if(QKGEN_GLSLANG_PREFIX)
  set(QKGEN_GLSLANG_HINTS PATHS ${QKGEN_GLSLANG_PREFIX} PATH_SUFFIXES include lib lib64 NO_DEFAULT_PATH)
endif()

set(QKGEN_GLSLANG_NEEDED glslang SPIRV-Tools glslang-default-resource-limits)
set(QKGEN_GLSLANG_OPTIONAL SPIRV SPIRV-Tools-opt MachineIndependent GenericCodeGen OSDependent OGLCompiler)

find_path(QKGEN_GLSLANG_INCLUDE_DIR glslang/Include/glslang_c_interface.h ${QKGEN_GLSLANG_HINTS})
if(NOT QKGEN_GLSLANG_INCLUDE_DIR)
  qkgen_missing("glslang 12 or newer with its C interface (glslang/Include/glslang_c_interface.h)" glslang-dev)
endif()
set(QKGEN_GLSLANG_VERSION 0)
if(EXISTS ${QKGEN_GLSLANG_INCLUDE_DIR}/glslang/build_info.h)
  file(STRINGS ${QKGEN_GLSLANG_INCLUDE_DIR}/glslang/build_info.h QKGEN_GLSLANG_VERSION
    REGEX "define +GLSLANG_VERSION_MAJOR +[0-9]+")
  string(REGEX MATCH "[0-9]+$" QKGEN_GLSLANG_VERSION "${QKGEN_GLSLANG_VERSION}")
endif()
if(QKGEN_GLSLANG_VERSION LESS 12)
  qkgen_missing("glslang 12 or newer (${QKGEN_GLSLANG_INCLUDE_DIR} holds an older one)" glslang-dev)
endif()

find_path(QKGEN_SPIRV_TOOLS_INCLUDE_DIR spirv-tools/libspirv.h ${QKGEN_GLSLANG_HINTS})
if(NOT QKGEN_SPIRV_TOOLS_INCLUDE_DIR)
  qkgen_missing("SPIRV-Tools 2022.1 or newer (spirv-tools/libspirv.h)" spirv-tools)
endif()
file(STRINGS ${QKGEN_SPIRV_TOOLS_INCLUDE_DIR}/spirv-tools/libspirv.h QKGEN_SPIRV_TOOLS_RECENT
  REGEX "^ *SPV_ENV_VULKAN_1_3," LIMIT_COUNT 1)
if(NOT QKGEN_SPIRV_TOOLS_RECENT)
  qkgen_missing("SPIRV-Tools 2022.1 or newer (${QKGEN_SPIRV_TOOLS_INCLUDE_DIR} holds an older one)" spirv-tools)
endif()

# The interface in C of its passes came with SPIRV-Tools 2023.3.
file(STRINGS ${QKGEN_SPIRV_TOOLS_INCLUDE_DIR}/spirv-tools/libspirv.h QKGEN_SPIRV_TOOLS_PASSES
  REGEX "spvOptimizerRegisterPassFromFlag" LIMIT_COUNT 1)

set(QKGEN_GLSLANG_LIBRARIES)
foreach(name IN LISTS QKGEN_GLSLANG_NEEDED QKGEN_GLSLANG_OPTIONAL)
  find_library(QKGEN_LIBRARY_${name} ${name} ${QKGEN_GLSLANG_HINTS})
  mark_as_advanced(QKGEN_LIBRARY_${name})
  if(QKGEN_LIBRARY_${name})
    list(APPEND QKGEN_GLSLANG_LIBRARIES ${QKGEN_LIBRARY_${name}})
  elseif(name IN_LIST QKGEN_GLSLANG_NEEDED)
    if(name STREQUAL SPIRV-Tools)
      qkgen_missing("the library ${name}" spirv-tools)
    endif()
    qkgen_missing("the library ${name}" glslang-dev)
  endif()
endforeach()
set(QKGEN_SPIRV_OPTIMIZER 0)
if(QKGEN_SPIRV_TOOLS_PASSES AND QKGEN_LIBRARY_SPIRV-Tools-opt)
  set(QKGEN_SPIRV_OPTIMIZER 1)
endif()
mark_as_advanced(QKGEN_GLSLANG_INCLUDE_DIR QKGEN_SPIRV_TOOLS_INCLUDE_DIR)
if(QKGEN_GLSLANG_VERSION LESS 13)
  message(STATUS "GLSL: glslang ${QKGEN_GLSLANG_VERSION} has no cooperative matrices, so that kernels with matrix units are left out; "
    "cmake/glslang.sh ${PROJECT_BINARY_DIR}/glslang builds a newer one")
else()
  message(STATUS "GLSL: glslang ${QKGEN_GLSLANG_VERSION}, ${QKGEN_LIBRARY_glslang}")
endif()

add_library(qkgen_glslang INTERFACE)
target_include_directories(qkgen_glslang SYSTEM INTERFACE
  ${QKGEN_GLSLANG_INCLUDE_DIR} ${QKGEN_SPIRV_TOOLS_INCLUDE_DIR})
if(CMAKE_C_LINK_GROUP_USING_RESCAN_SUPPORTED OR CMAKE_LINK_GROUP_USING_RESCAN_SUPPORTED)
  list(JOIN QKGEN_GLSLANG_LIBRARIES "," QKGEN_GLSLANG_GROUP)
  target_link_libraries(qkgen_glslang INTERFACE "$<LINK_GROUP:RESCAN,${QKGEN_GLSLANG_GROUP}>")
else()
  target_link_libraries(qkgen_glslang INTERFACE ${QKGEN_GLSLANG_LIBRARIES})
endif()
# The C++ runtime that the archives need: what this toolchain's C++ compiler links.
foreach(library IN LISTS CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
  if(QKGEN_STATIC_LIBSTDCXX)
    # The C++ compiler links, and brings it.
  elseif(library MATCHES "^(stdc\\+\\+|c\\+\\+|c\\+\\+abi|m)$")
    target_link_libraries(qkgen_glslang INTERFACE ${library})
  endif()
endforeach()
target_link_libraries(qkgen_glslang INTERFACE Threads::Threads)
endif() # QKGEN_GLSLANG

# ---- mimalloc -------------------------------------------------------------------------------------------------------
#
# The optimiser of SPIRV-Tools asks for small pieces of memory all the time: with this allocator, from 2.0 on, `qkgen emit` takes a sixth to a
# quarter less. Nothing else needs it. Sanitizers have their own. Sets QKGEN_MIMALLOC to the library, or to nothing.

set(QKGEN_MIMALLOC "")
if(QKGEN_GENERATOR AND QKGEN_GLSLANG AND NOT QKGEN_SANITIZE AND NOT QKGEN_STATIC_LIBSTDCXX)
  find_package(mimalloc 2.0 CONFIG QUIET)
  if(mimalloc_FOUND)
    set(QKGEN_MIMALLOC mimalloc)
  else()
    message(STATUS "No mimalloc: writing kernels takes up to a third longer (on Debian and Ubuntu: apt-get install libmimalloc-dev)")
  endif()
endif()

# ---- Vulkan ---------------------------------------------------------------------------------------------------------

if(QKGEN_RUNTIME)
  find_package(Vulkan)
  if(NOT Vulkan_FOUND)
    qkgen_missing("the Vulkan loader and headers, 1.3.222 or newer, for its runtime (or -DQKGEN_RUNTIME=OFF)" libvulkan-dev)
  elseif(Vulkan_VERSION VERSION_LESS 1.3.222)
    qkgen_missing("Vulkan headers 1.3.222 or newer, and found ${Vulkan_VERSION} (or -DQKGEN_RUNTIME=OFF)" libvulkan-dev)
  endif()
endif()

# ---- libclang -------------------------------------------------------------------------------------------------------
#
# `qkgen import` and `qkgen check --struct` load it when they run; nothing links it. Of the versions in the folders of
# Debian and Ubuntu, the newest that has its header. Sets QKGEN_LIBCLANG_INCLUDE_DIR and QKGEN_LIBCLANG_LIBRARY, or leaves
# one false.

if(QKGEN_LIBCLANG AND QKGEN_GENERATOR)
  file(GLOB QKGEN_LLVM_FOLDERS /usr/lib/llvm-*)
  list(SORT QKGEN_LLVM_FOLDERS COMPARE NATURAL ORDER DESCENDING)
  find_path(QKGEN_LIBCLANG_INCLUDE_DIR clang-c/Index.h PATHS ${QKGEN_LLVM_FOLDERS} PATH_SUFFIXES include)
  if(QKGEN_LIBCLANG_INCLUDE_DIR)
    find_library(QKGEN_LIBCLANG_LIBRARY NAMES clang libclang.so.1 HINTS ${QKGEN_LIBCLANG_INCLUDE_DIR}/../lib)
    file(STRINGS ${QKGEN_LIBCLANG_INCLUDE_DIR}/clang-c/Index.h QKGEN_CINDEX REGEX "define +CINDEX_VERSION_MINOR +[0-9]+")
    string(REGEX MATCH "[0-9]+$" QKGEN_CINDEX "${QKGEN_CINDEX}")
    if(QKGEN_CINDEX LESS 62) # clang 14
      set(QKGEN_LIBCLANG_INCLUDE_DIR QKGEN_LIBCLANG_INCLUDE_DIR-NOTFOUND)
    endif()
  endif()
  mark_as_advanced(QKGEN_LIBCLANG_INCLUDE_DIR QKGEN_LIBCLANG_LIBRARY)
  if(QKGEN_LIBCLANG_INCLUDE_DIR AND QKGEN_LIBCLANG_LIBRARY)
    message(STATUS "C structs: ${QKGEN_LIBCLANG_LIBRARY}")
  elseif(QKGEN_LIBCLANG STREQUAL "AUTO")
    message(STATUS "C structs: import and check --struct are left out; they need libclang 14 or newer (package libclang-dev)")
  else()
    qkgen_missing("libclang 14 or newer (clang-c/Index.h), or -DQKGEN_LIBCLANG=OFF" libclang-dev)
  endif()
endif()

# ---- cJSON ----------------------------------------------------------------------------------------------------------

if(QKGEN_RUNTIME AND QKGEN_GENERATOR)
  find_path(QKGEN_CJSON_INCLUDE_DIR cjson/cJSON.h)
  find_library(QKGEN_CJSON_LIBRARY cjson)
  mark_as_advanced(QKGEN_CJSON_INCLUDE_DIR QKGEN_CJSON_LIBRARY)
  if(NOT QKGEN_CJSON_INCLUDE_DIR OR NOT QKGEN_CJSON_LIBRARY)
    qkgen_missing("cJSON 1.7.13 or newer to read model files (or -DQKGEN_RUNTIME=OFF)" libcjson-dev)
  endif()
  file(STRINGS ${QKGEN_CJSON_INCLUDE_DIR}/cjson/cJSON.h QKGEN_CJSON_RECENT REGEX "cJSON_ParseWithLengthOpts" LIMIT_COUNT 1)
  if(NOT QKGEN_CJSON_RECENT)
    qkgen_missing("cJSON 1.7.13 or newer (${QKGEN_CJSON_INCLUDE_DIR} holds an older one)" libcjson-dev)
  endif()
  add_library(qkgen_cjson INTERFACE)
  target_include_directories(qkgen_cjson SYSTEM INTERFACE ${QKGEN_CJSON_INCLUDE_DIR})
  target_link_libraries(qkgen_cjson INTERFACE ${QKGEN_CJSON_LIBRARY})
endif()

# ---- SPIRV-Cross ----------------------------------------------------------------------------------------------------

if(QKGEN_RUNTIME AND QKGEN_GENERATOR)
  find_path(QKGEN_SPIRV_CROSS_INCLUDE_DIR spirv_cross/spirv_cross_c.h)
  find_library(QKGEN_SPIRV_CROSS_LIBRARY spirv-cross-c-shared)
  mark_as_advanced(QKGEN_SPIRV_CROSS_INCLUDE_DIR QKGEN_SPIRV_CROSS_LIBRARY)
  if(NOT QKGEN_SPIRV_CROSS_INCLUDE_DIR OR NOT QKGEN_SPIRV_CROSS_LIBRARY)
    qkgen_missing("SPIRV-Cross 2021.01 or newer, its C library, to judge and audit modules (or -DQKGEN_RUNTIME=OFF)"
      libspirv-cross-c-shared-dev)
  endif()
  add_library(qkgen_spirv_cross INTERFACE)
  target_include_directories(qkgen_spirv_cross SYSTEM INTERFACE ${QKGEN_SPIRV_CROSS_INCLUDE_DIR})
  target_link_libraries(qkgen_spirv_cross INTERFACE ${QKGEN_SPIRV_CROSS_LIBRARY})
endif()

# ---- cmocka ---------------------------------------------------------------------------------------------------------

if(QKGEN_TESTS)
  find_path(QKGEN_CMOCKA_INCLUDE_DIR cmocka.h)
  find_library(QKGEN_CMOCKA_LIBRARY cmocka)
  mark_as_advanced(QKGEN_CMOCKA_INCLUDE_DIR QKGEN_CMOCKA_LIBRARY)
  if(NOT QKGEN_CMOCKA_INCLUDE_DIR OR NOT QKGEN_CMOCKA_LIBRARY)
    qkgen_missing("cmocka 1.1 or newer for its tests (or -DQKGEN_TESTS=OFF)" libcmocka-dev)
  endif()
  file(STRINGS ${QKGEN_CMOCKA_INCLUDE_DIR}/cmocka.h QKGEN_CMOCKA_RECENT REGEX "cmocka_unit_test" LIMIT_COUNT 1)
  if(NOT QKGEN_CMOCKA_RECENT)
    qkgen_missing("cmocka 1.1 or newer for its tests (${QKGEN_CMOCKA_INCLUDE_DIR} holds an older one)" libcmocka-dev)
  endif()
  add_library(qkgen_cmocka INTERFACE)
  target_include_directories(qkgen_cmocka SYSTEM INTERFACE ${QKGEN_CMOCKA_INCLUDE_DIR})
  target_link_libraries(qkgen_cmocka INTERFACE ${QKGEN_CMOCKA_LIBRARY})
endif()
