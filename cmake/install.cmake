# Installs the headers, a CMake package, so that `find_package(acre)` gives the target acre::acre, and acre.pc for
# pkg-config.
include(CMakePackageConfigHelpers)

install(TARGETS acre acre_checked EXPORT acre-targets)
install(DIRECTORY include/acre ${CMAKE_CURRENT_BINARY_DIR}/include/acre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT acre-targets NAMESPACE acre:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/acre)
# Until 1.0 a minor version may change the interface.
set(compatibility SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(compatibility SameMinorVersion)
endif()
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/acre-config-version.cmake
                                 COMPATIBILITY ${compatibility} ARCH_INDEPENDENT)
install(FILES cmake/acre-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/acre-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/acre)

# acre_install_pc(FILE): FILE is the name of a .pc; its source is FILE.in. Its paths are relative to itself, so that an
# installed copy can be moved, but for those that the user gave as absolute ones.
function(acre_install_pc file)
    file(RELATIVE_PATH ACRE_PREFIX_FROM_PC ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
    foreach(folder IN ITEMS LIBDIR INCLUDEDIR)
        set(ACRE_PC_${folder} ${CMAKE_INSTALL_${folder}})
        if(NOT IS_ABSOLUTE "${ACRE_PC_${folder}}")
            set(ACRE_PC_${folder} "\${prefix}/${ACRE_PC_${folder}}")
        endif()
    endforeach()
    configure_file(${file}.in ${CMAKE_CURRENT_BINARY_DIR}/${file} @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
acre_install_pc(cmake/acre.pc)
# For debuggers: docs/debugging.md.
install(DIRECTORY debuggers/ DESTINATION ${CMAKE_INSTALL_DATADIR}/acre/debuggers FILES_MATCHING PATTERN *.py PATTERN *.natvis)
