# Stands in for vcpkg: runs the port in the folder PORT_DIR with functions that do what vcpkg's own do, into the folder
# ROOT, and checks what vcpkg checks of an installed package.
set(PORT acre)
set(CURRENT_PACKAGES_DIR ${ROOT}/installed)
set(CURRENT_BUILDTREES_DIR ${ROOT}/buildtrees)
file(REMOVE_RECURSE ${ROOT}/installed ${ROOT}/buildtrees)

function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_QUIET)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "failed: ${ARGV}")
    endif()
endfunction()

# Ports give their options by these names; another one is a mistake in the port.
function(check_arguments arguments)
    if(arguments)
        message(FATAL_ERROR "the port gives what vcpkg does not know: ${arguments}")
    endif()
endfunction()

function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    check_arguments("${arg_UNPARSED_ARGUMENTS}")
    run(${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${CURRENT_BUILDTREES_DIR} -DCMAKE_BUILD_TYPE=Release
        -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_BINDIR=bin
        ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
    check_arguments("${ARGV}")
    run(${CMAKE_COMMAND} --build ${CURRENT_BUILDTREES_DIR} --target install)
endfunction()

function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
    check_arguments("${arg_UNPARSED_ARGUMENTS}")
    file(GLOB files ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/*)
    file(COPY ${files} DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT})
    # The prefix is one folder nearer than where CMake installed the files.
    foreach(file IN LISTS files)
        get_filename_component(name ${file} NAME)
        file(READ ${CURRENT_PACKAGES_DIR}/share/${PORT}/${name} text)
        string(REGEX REPLACE
               "get_filename_component\\(_IMPORT_PREFIX \"\\\${CMAKE_CURRENT_LIST_FILE}\" PATH\\)(\nget_filename_component\\(_IMPORT_PREFIX \"\\\${_IMPORT_PREFIX}\" PATH\\))*"
               "get_filename_component(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_FILE}\" PATH)\nget_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\nget_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)"
               text "${text}")
        file(WRITE ${CURRENT_PACKAGES_DIR}/share/${PORT}/${name} "${text}")
    endforeach()
    file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/lib/cmake)
endfunction()

function(vcpkg_fixup_pkgconfig)
    check_arguments("${ARGV}")
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
    check_arguments("${arg_UNPARSED_ARGUMENTS}")
    file(INSTALL ${arg_FILE_LIST} DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT} RENAME copyright)
endfunction()

set(port_file ${PORT_DIR}/${PORT}/portfile.cmake)
get_filename_component(CMAKE_CURRENT_LIST_DIR ${port_file} DIRECTORY)
include(${port_file})

# What vcpkg checks after a port was built.
function(expect)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SENTENCE" "")
    if(${arg_UNPARSED_ARGUMENTS})
        return()
    endif()
    message(FATAL_ERROR "what the port installed: ${arg_SENTENCE}")
endfunction()

set(share ${CURRENT_PACKAGES_DIR}/share/${PORT})
expect(EXISTS ${share}/copyright SENTENCE "there is no share/acre/copyright")
expect(EXISTS ${share}/usage SENTENCE "there is no share/acre/usage")
expect(EXISTS ${share}/acre-config.cmake SENTENCE "there is no share/acre/acre-config.cmake")
expect(EXISTS ${share}/acre-config-version.cmake SENTENCE "there is no share/acre/acre-config-version.cmake")
expect(EXISTS ${CURRENT_PACKAGES_DIR}/lib/pkgconfig/acre.pc SENTENCE "there is no lib/pkgconfig/acre.pc")
expect(EXISTS ${CURRENT_PACKAGES_DIR}/include/acre/acre.hpp SENTENCE "there is no include/acre/acre.hpp")
foreach(folder IN ITEMS bin debug debug/include debug/share lib/cmake)
    expect(NOT EXISTS ${CURRENT_PACKAGES_DIR}/${folder} SENTENCE "${folder} may not be there")
endforeach()
file(GLOB_RECURSE installed LIST_DIRECTORIES true RELATIVE ${CURRENT_PACKAGES_DIR} ${CURRENT_PACKAGES_DIR}/*)
foreach(each IN LISTS installed)
    if(IS_DIRECTORY ${CURRENT_PACKAGES_DIR}/${each})
        file(GLOB content ${CURRENT_PACKAGES_DIR}/${each}/*)
        expect(content SENTENCE "the folder ${each} is empty")
    elseif(each MATCHES "\\.(cmake|pc)$")
        file(READ ${CURRENT_PACKAGES_DIR}/${each} text)
        foreach(path IN ITEMS ${CURRENT_PACKAGES_DIR} ${CURRENT_BUILDTREES_DIR})
            string(FIND "${text}" "${path}" at)
            expect(at EQUAL -1 SENTENCE "${each} has a path of this machine")
        endforeach()
    endif()
endforeach()

# The same headers as in the tree, and the one that the build writes.
get_filename_component(source ${PORT_DIR}/../../include ABSOLUTE)
file(GLOB_RECURSE wanted RELATIVE ${source} ${source}/*.hpp)
file(GLOB_RECURSE found RELATIVE ${CURRENT_PACKAGES_DIR}/include ${CURRENT_PACKAGES_DIR}/include/*)
list(APPEND wanted acre/observe/gdb_printers.hpp)
list(SORT wanted)
list(SORT found)
expect(found STREQUAL wanted SENTENCE "the headers are not those of the tree")

# What vcpkg's toolchain does for find_package.
file(WRITE ${ROOT}/scripts/buildsystems/vcpkg.cmake "list(APPEND CMAKE_PREFIX_PATH \"${CURRENT_PACKAGES_DIR}\")\n")
