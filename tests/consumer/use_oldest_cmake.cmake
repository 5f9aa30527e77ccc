# Configures the consumer's project with the oldest CMake that acre allows, in each way of using acre.
execute_process(COMMAND ${ACRE_SOURCE}/scripts/oldest-cmake OUTPUT_VARIABLE oldest ERROR_VARIABLE reason
                RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
if(NOT status EQUAL 0)
    # As GoogleTest says it, so that scripts/test lists it among the skipped cases.
    message("consumer: Skipped\n${reason}\n[  SKIPPED ] consumer.oldest_cmake (0 ms)")
    return()
endif()
foreach(way IN ITEMS find_package add_subdirectory fetch_content)
    execute_process(COMMAND ${oldest} -D WAY=${way} -D ACRE_SOURCE=${ACRE_SOURCE} -D WORK=${WORK}/${way}
                            -D GENERATOR=${GENERATOR} -D COMPILER=${COMPILER} -D C_COMPILER=${C_COMPILER}
                            -D CONFIGURE_ONLY=ON -P ${CMAKE_CURRENT_LIST_DIR}/use_acre.cmake
                    RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${way} fails with ${oldest}")
    endif()
endforeach()
