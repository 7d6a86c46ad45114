# qkgen_add_kernels(): generated kernels as part of an engine's target.
#
#   qkgen_add_kernels(TARGET
#     [FORMATS format...]          the formats' names; each becomes a pair format.h, format.c
#     [SETS set...]                sets of families that take no format (qdq); each becomes a pair, too
#     [FAMILIES family...]         all that qkgen has, unless given
#     [TRANSCODES from:to...]      kernels from one of these formats to another, in the pair of the first
#     [CLASSES class...]           of sums: exact, int8, split, int24, half, mma; all but the last two, unless given
#     [APIS vulkan|metal...]       vulkan, unless given
#     [SPECS file.quant...])       specifications of the engine's own, besides those that come with qkgen
#
# Adds the pairs to TARGET, with the folder that holds them as an include directory. A pair holds descriptors, dispatch
# stubs, kernel code and the C reference decoder, and needs nothing at run time but libc. When a specification, codebook
# or template changes, the pairs that were made from it are made again, and no others.
#
# Call it in the directory that defines TARGET. When cross-compiling, QKGEN_EXECUTABLE names a qkgen for the host.
include_guard(GLOBAL)

function(qkgen_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FORMATS;SETS;FAMILIES;TRANSCODES;CLASSES;APIS;SPECS")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "qkgen_add_kernels: there is no target '${target}'; add_executable or add_library comes first")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "qkgen_add_kernels: unexpected '${arg_UNPARSED_ARGUMENTS}'; "
      "the keywords are FORMATS, SETS, FAMILIES, TRANSCODES, CLASSES, APIS and SPECS")
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
  else()
    set(qkgen $<TARGET_FILE:qkgen::qkgen>)
  endif()

  set(out ${CMAKE_CURRENT_BINARY_DIR}/qkgen/${target})
  file(MAKE_DIRECTORY ${out})
  foreach(format IN LISTS arg_FORMATS arg_SETS)
    if(format IN_LIST arg_SETS)
      set(what --family ${format})
    else()
      set(what --format ${format} ${families})
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
    if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
      # The reference rounds after each operation, whatever the engine's own flags allow.
      set_property(SOURCE ${out}/${format}.c APPEND PROPERTY COMPILE_OPTIONS -ffp-contract=off -fno-fast-math)
    endif()
  endforeach()
  target_include_directories(${target} PRIVATE ${out})
  target_link_libraries(${target} PRIVATE qkgen::headers)
endfunction()
