# Installs acre where WAY needs it, then builds and runs the consumer's project from scratch.
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
        -D ACRE_BUILD_TOOLS=OFF -D ACRE_BUILD_TESTS=OFF -D ACRE_BUILD_EXAMPLES=OFF)
    run(${CMAKE_COMMAND} --install ${WORK}/acre --prefix ${WORK}/installed)
    set(where -D CMAKE_PREFIX_PATH=${WORK}/installed)
else()
    set(where -D ACRE_SOURCE=${ACRE_SOURCE})
endif()

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${WORK}/project ${compilers} ${where})
run(${CMAKE_COMMAND} --build ${WORK}/project)
run(${WORK}/project/consumer)
run(${WORK}/project/consumer_without_exceptions)
