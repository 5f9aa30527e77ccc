# Checks that acre/fwd.hpp, or a header that it includes, names every public type of the library's headers. What it
# leaves out is listed here, and in its first comment.
#
# Usage: cmake -D INCLUDE=include -P fwd.cmake
cmake_minimum_required(VERSION 3.20)

set(left_out unique_ptr ambient_allocator arena_allocator)

# Sets `result` to the types that `header` declares in namespace acre itself.
function(types_of header result)
    set(found)
    set(inside "")
    file(STRINGS ${INCLUDE}/${header} lines REGEX "^(namespace |}  // namespace|class |struct |enum class |using )")
    foreach(line IN LISTS lines)
        if(line MATCHES "^namespace ([a-z_:]+) {")
            list(APPEND inside ${CMAKE_MATCH_1})
        elseif(line MATCHES "^}  // namespace")
            list(POP_BACK inside)
        elseif(inside STREQUAL "acre" AND line
               MATCHES "^(class|struct|enum class|using) (\\[\\[.*\\]\\] )?([a-z_0-9]+)( |;|$)")
            list(APPEND found ${CMAKE_MATCH_3})
        endif()
    endforeach()
    set(${result} ${found} PARENT_SCOPE)
endfunction()

file(STRINGS ${INCLUDE}/acre/fwd.hpp included REGEX "^#include <acre/")
set(named)
foreach(header IN LISTS included ITEMS "#include <acre/fwd.hpp>")
    string(REGEX REPLACE "^#include <([^>]+)>.*" "\\1" header "${header}")
    types_of(${header} types)
    list(APPEND named ${types})
endforeach()

file(GLOB_RECURSE headers RELATIVE ${INCLUDE} ${INCLUDE}/acre/*.hpp)
list(FILTER headers EXCLUDE REGEX "/(detail|hooks)/")
set(count 0)
foreach(header IN LISTS headers)
    types_of(${header} types)
    foreach(type IN LISTS types)
        math(EXPR count "${count} + 1")
        if(NOT type IN_LIST named AND NOT type IN_LIST left_out AND NOT type STREQUAL "namespace")
            message(SEND_ERROR "acre/fwd.hpp does not name ${type}, which ${header} declares: declare it there.")
        endif()
    endforeach()
endforeach()
if(count LESS 100)
    message(SEND_ERROR "Only ${count} types were found: does this script still know how the headers are written?")
endif()
