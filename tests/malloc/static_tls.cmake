# Y33: fails where a library has more static thread-local storage than MAX_BYTES: glibc keeps 1,664 bytes for all libraries
# that a program loads late.
execute_process(COMMAND ${READELF} -lW ${LIBRARY} OUTPUT_VARIABLE segments COMMAND_ERROR_IS_FATAL ANY)
# Offset, two addresses, bytes in the file, bytes in memory.
if(segments MATCHES "\n *TLS +0x[0-9a-f]+ +0x[0-9a-f]+ +0x[0-9a-f]+ +0x[0-9a-f]+ +(0x[0-9a-f]+)")
    math(EXPR bytes ${CMAKE_MATCH_1})
    if(bytes GREATER MAX_BYTES)
        message(FATAL_ERROR "${LIBRARY}: ${bytes} bytes of static thread-local storage, more than ${MAX_BYTES}")
    endif()
    message("${bytes} bytes")
else()
    message(FATAL_ERROR "${LIBRARY}: no thread-local storage in ${READELF}'s output")
endif()
