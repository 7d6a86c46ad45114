# Install rules: the command, what users include and link, formats and templates, and a package for find_package(qkgen).
include(CMakePackageConfigHelpers)

set(QKGEN_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/qkgen)

install(TARGETS qkgen_headers EXPORT qkgen)
if(QKGEN_GENERATOR)
  install(TARGETS qkgen EXPORT qkgen)
endif()
if(QKGEN_RUNTIME)
  install(TARGETS qkgen_runtime EXPORT qkgen)
endif()
install(DIRECTORY runtime/include/qkgen TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def" PATTERN "*.inc")
install(DIRECTORY formats templates DESTINATION ${CMAKE_INSTALL_DATADIR}/qkgen)
install(DIRECTORY bench/models DESTINATION ${CMAKE_INSTALL_DATADIR}/qkgen/bench)

install(EXPORT qkgen NAMESPACE qkgen:: FILE qkgenTargets.cmake DESTINATION ${QKGEN_PACKAGE_DIR})
configure_package_config_file(cmake/qkgenConfig.cmake.in qkgenConfig.cmake
  INSTALL_DESTINATION ${QKGEN_PACKAGE_DIR} PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(qkgenConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/qkgen.cmake ${CMAKE_CURRENT_BINARY_DIR}/qkgenConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/qkgenConfigVersion.cmake DESTINATION ${QKGEN_PACKAGE_DIR})

# ---- packages: `cpack` in the build folder, and the target package_source ----

if(PROJECT_IS_TOP_LEVEL)
  install(FILES LICENSE NOTICE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
  set(CPACK_GENERATOR DEB TGZ)
  set(CPACK_PACKAGE_NAME qkgen)
  set(CPACK_PACKAGE_VENDOR qkgen)
  set(CPACK_PACKAGE_CONTACT "the authors of qkgen")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
  set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
  set(CPACK_PACKAGE_FILE_NAME qkgen-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION devel)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_SOURCE_GENERATOR TGZ)
  set(CPACK_SOURCE_PACKAGE_FILE_NAME qkgen-${PROJECT_VERSION}-source)
  string(REGEX REPLACE "([][.*+?^$()|\\])" "\\\\\\1" here ${CMAKE_CURRENT_SOURCE_DIR}) # in a regular expression
  set(CPACK_SOURCE_IGNORE_FILES "^${here}/build[^/]*/" "^${here}/shared" "/\\.git(/|$)" "__pycache__")
  include(CPack)
endif()
