# Installs acre where WAY needs it, then builds and runs the consumer's project from scratch. With CONFIGURE_ONLY it
# ends before the build: another CMake only has to understand the files.
function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        list(JOIN ARGV " " text)
        message(FATAL_ERROR "failed: ${text}")
    endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
set(compilers -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_C_COMPILER=${C_COMPILER})

if(WAY STREQUAL find_package)
    run(${CMAKE_COMMAND} -S ${ACRE_SOURCE} -B ${WORK}/acre ${compilers}
        -D ACRE_BUILD_TOOLS=OFF -D ACRE_BUILD_C=OFF -D ACRE_BUILD_TESTS=OFF -D ACRE_BUILD_EXAMPLES=OFF)
    run(${CMAKE_COMMAND} -D CMAKE_INSTALL_PREFIX=${WORK}/installed -P ${WORK}/acre/cmake_install.cmake)
    set(where -D CMAKE_PREFIX_PATH=${WORK}/installed)
else()
    string(COMPARE EQUAL ${WAY} fetch_content fetch)
    set(where -D ACRE_SOURCE=${ACRE_SOURCE} -D FETCH=${fetch})
endif()

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${WORK}/project ${compilers} ${where})
if(CONFIGURE_ONLY)
    return()
endif()
run(${CMAKE_COMMAND} --build ${WORK}/project)
run(${WORK}/project/consumer)
run(${WORK}/project/consumer_without_exceptions)
