# qkgen_add_kernels(): generated kernels as part of an engine's target.
#
#   qkgen_add_kernels(TARGET
#     [FORMATS format...]          the formats' names; each becomes a pair format.h, format.c
#     [SETS set...]                sets of families that take no format (qdq); each becomes a pair, too
#     [FAMILIES family...]         all that qkgen has, unless given
#     [TRANSCODES from:to...]      kernels from one of these formats to another, in the pair of the first
#     [CLASSES class...]           of sums: exact, int8, split, int24, half, mma; all but the last two, unless given
#     [TYPES f32|f16|bf16...]      of results and, of sums, of x: all, unless given
#     [SCHEDULES schedule...]      of sums on Vulkan beside plain rows: all, unless given (qkgen emit --help lists them)
#     [PACKED]                     words take a quarter of the bytes; the engine calls qk_unpack_kernels before it uses any
#     [INCLUDES]                   pairs include qkgen's headers in place of holding them
#     [APIS vulkan|metal...]       vulkan, unless given
#     [SPECS file.quant...])       specifications of the engine's own, besides those that come with qkgen
#
# Adds the pairs to TARGET, with the folder that holds them as an include directory; and qkgen_kernels.h, which lists the descriptors
# of all FORMATS for qkgen/registry.h. In a project without the language C, they are compiled as C++ (C++17 or newer). A pair holds
# descriptors, dispatch stubs, kernel code and the C reference decoder, and needs nothing at run time but libc. When a
# specification, codebook or template changes, the pairs that were made from it are made again, and no others.
#
# Call it in the directory that defines TARGET. When cross-compiling, QKGEN_EXECUTABLE names a qkgen for the host.
include_guard(GLOBAL)

# The list of the descriptors of all formats of a target, those of earlier calls too.
function(qkgen_write_list target out formats as_cxx)
  get_property(all TARGET ${target} PROPERTY QKGEN_FORMATS)
  list(APPEND all ${formats})
  list(REMOVE_DUPLICATES all)
  set_property(TARGET ${target} PROPERTY QKGEN_FORMATS "${all}")
  set(includes)
  set(items)
  foreach(format IN LISTS all)
    string(APPEND includes "#include \"${format}.h\"\n")
    string(APPEND items "    &qk_${format}_kernels,\n")
  endforeach()
  list(LENGTH all count)
  if(count EQUAL 0)
    return()
  endif()
  file(CONFIGURE OUTPUT ${out}/qkgen_kernels.h CONTENT "/* All kernels of @target@: made by qkgen_add_kernels. */
#ifndef QKGEN_KERNELS_H
#define QKGEN_KERNELS_H

#include <qkgen/registry.h>

#ifdef __cplusplus
extern \"C\" {
#endif
enum { QKGEN_KERNEL_SETS = @count@ };
extern const qk_kernel_set *const qkgen_kernels[QKGEN_KERNEL_SETS];
#ifdef __cplusplus
}
#endif
#endif
" @ONLY)
  file(CONFIGURE OUTPUT ${out}/qkgen_kernels.c CONTENT "/* Made by qkgen_add_kernels. */
#include \"qkgen_kernels.h\"

@includes@
const qk_kernel_set *const qkgen_kernels[QKGEN_KERNEL_SETS] = {
@items@};
" @ONLY)
  target_sources(${target} PRIVATE ${out}/qkgen_kernels.h ${out}/qkgen_kernels.c)
  if(as_cxx)
    set_property(SOURCE ${out}/qkgen_kernels.c PROPERTY LANGUAGE CXX)
  endif()
endfunction()

function(qkgen_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PACKED;INCLUDES" "" "FORMATS;SETS;FAMILIES;TRANSCODES;CLASSES;TYPES;SCHEDULES;APIS;SPECS")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "qkgen_add_kernels: there is no target '${target}'; add_executable or add_library comes first")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "qkgen_add_kernels: unexpected '${arg_UNPARSED_ARGUMENTS}'; "
      "the keywords are FORMATS, SETS, FAMILIES, TRANSCODES, CLASSES, TYPES, SCHEDULES, PACKED, INCLUDES, APIS and SPECS")
  endif()
  if(NOT arg_FORMATS AND NOT arg_SETS)
    message(FATAL_ERROR "qkgen_add_kernels: FORMATS names no format, and SETS no set")
  endif()
  if(NOT arg_APIS)
    set(arg_APIS vulkan)
  endif()

  get_property(data GLOBAL PROPERTY QKGEN_DATA_DIR)
  set(options --data ${data})
  set(families)
  foreach(family IN LISTS arg_FAMILIES)
    list(APPEND families --family ${family})
  endforeach()
  foreach(class IN LISTS arg_CLASSES)
    list(APPEND families --class ${class})
  endforeach()
  foreach(type IN LISTS arg_TYPES)
    list(APPEND families --type ${type})
  endforeach()
  foreach(schedule IN LISTS arg_SCHEDULES)
    list(APPEND families --schedule ${schedule})
  endforeach()
  foreach(api IN LISTS arg_APIS)
    list(APPEND options --api ${api})
  endforeach()
  set(specs)
  foreach(spec IN LISTS arg_SPECS)
    cmake_path(ABSOLUTE_PATH spec BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    if(NOT EXISTS ${spec})
      message(FATAL_ERROR "qkgen_add_kernels: there is no specification ${spec}")
    endif()
    list(APPEND specs ${spec})
  endforeach()

  if(QKGEN_EXECUTABLE)
    set(qkgen ${QKGEN_EXECUTABLE})
  elseif(TARGET qkgen::qkgen)
    set(qkgen $<TARGET_FILE:qkgen::qkgen>)
  else()
    message(FATAL_ERROR "qkgen_add_kernels: there is no generator (QKGEN_GENERATOR=OFF); let QKGEN_EXECUTABLE name one, or add "
      "pairs that `qkgen emit --embed` wrote before to ${target} as sources, and link qkgen::headers")
  endif()

  # Files of a language that a project has not are left out without a word.
  set(as_cxx FALSE)
  if(NOT CMAKE_C_COMPILE_OBJECT)
    set(as_cxx TRUE)
    if(NOT CMAKE_CXX_COMPILE_OBJECT)
      message(FATAL_ERROR "qkgen_add_kernels: the project has neither C nor CXX among its languages")
    endif()
  endif()

  set(out ${CMAKE_CURRENT_BINARY_DIR}/qkgen/${target})
  file(MAKE_DIRECTORY ${out})
  foreach(format IN LISTS arg_FORMATS arg_SETS)
    if(format IN_LIST arg_SETS)
      set(what --family ${format})
    else()
      set(what --format ${format} ${families})
      if(arg_PACKED)
        list(APPEND what --pack)
      endif()
    endif()
    if(arg_INCLUDES)
      list(APPEND what --includes)
    endif()
    foreach(transcode IN LISTS arg_TRANSCODES)
      if(transcode MATCHES "^${format}:")
        list(APPEND what --transcode ${transcode})
      endif()
    endforeach()
    set(pair ${out}/${format}.h ${out}/${format}.c)
    # qkgen leaves files alone that would not change. Ninja remembers that it ran; other tools need a touch.
    set(touch)
    if(NOT CMAKE_GENERATOR MATCHES "Ninja")
      set(touch COMMAND ${CMAKE_COMMAND} -E touch ${pair})
    endif()
    add_custom_command(
      OUTPUT ${pair}
      COMMAND ${qkgen} emit --embed ${what} ${options} --out ${out} --depfile ${out}/${format}.d ${specs}
      ${touch}
      DEPENDS ${qkgen}
      DEPFILE ${out}/${format}.d
      COMMENT "qkgen ${format}"
      VERBATIM)
    target_sources(${target} PRIVATE ${pair})
    if(as_cxx)
      set_property(SOURCE ${out}/${format}.c PROPERTY LANGUAGE CXX)
    endif()
    if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang" OR (as_cxx AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang"))
      # The reference rounds after each operation, whatever the engine's own flags allow.
      set_property(SOURCE ${out}/${format}.c APPEND PROPERTY COMPILE_OPTIONS -ffp-contract=off -fno-fast-math)
    endif()
  endforeach()
  qkgen_write_list(${target} ${out} "${arg_FORMATS}" ${as_cxx})
  target_include_directories(${target} PRIVATE ${out})
  target_link_libraries(${target} PRIVATE qkgen::headers)
endfunction()
