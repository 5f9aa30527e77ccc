# Installs the headers and a CMake package, so that `find_package(acre)` gives the target acre::acre.
include(CMakePackageConfigHelpers)

install(TARGETS acre acre_checked EXPORT acre-targets)
install(DIRECTORY include/acre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT acre-targets NAMESPACE acre:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/acre)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/acre-config-version.cmake
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/acre-config.cmake
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/acre-targets.cmake\")\n"
     "# The C interface, where it was built.\n"
     "if(EXISTS \"\${CMAKE_CURRENT_LIST_DIR}/acre-c-targets.cmake\")\n"
     "    include(CMakeFindDependencyMacro)\n"
     "    find_dependency(Threads)\n"
     "    include(\"\${CMAKE_CURRENT_LIST_DIR}/acre-c-targets.cmake\")\n"
     "endif()\n")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/acre-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/acre-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/acre)
# For debuggers: docs/debugging.md.
install(DIRECTORY debuggers/ DESTINATION ${CMAKE_INSTALL_DATADIR}/acre/debuggers FILES_MATCHING PATTERN *.py PATTERN *.natvis)
