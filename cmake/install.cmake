# Install rules: the command, what users include and link, formats and templates, and a package for find_package(qkgen).
include(CMakePackageConfigHelpers)

set(QKGEN_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/qkgen)

install(TARGETS qkgen qkgen_headers EXPORT qkgen)
if(QKGEN_RUNTIME)
  install(TARGETS qkgen_runtime EXPORT qkgen)
endif()
install(DIRECTORY runtime/include/qkgen TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "*.inc")
install(DIRECTORY formats templates DESTINATION ${CMAKE_INSTALL_DATADIR}/qkgen)
install(DIRECTORY bench/models DESTINATION ${CMAKE_INSTALL_DATADIR}/qkgen/bench)

install(EXPORT qkgen NAMESPACE qkgen:: FILE qkgenTargets.cmake DESTINATION ${QKGEN_PACKAGE_DIR})
configure_package_config_file(cmake/qkgenConfig.cmake.in qkgenConfig.cmake
  INSTALL_DESTINATION ${QKGEN_PACKAGE_DIR} PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(qkgenConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/qkgen.cmake ${CMAKE_CURRENT_BINARY_DIR}/qkgenConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/qkgenConfigVersion.cmake DESTINATION ${QKGEN_PACKAGE_DIR})
