# Checks that headers of acre include no heavy header of the standard library, themselves or by others of acre.
#
# Usage: cmake -D INCLUDE=include -P heavy.cmake
# bench/compile_time.py measures what they cost.
cmake_minimum_required(VERSION 3.20)

# Sets `result` to the standard headers that `header` includes by acre's own headers.
function(standard_headers header result)
    set(pending ${header})
    set(seen)
    set(found)
    while(pending)
        list(POP_FRONT pending next)
        list(APPEND seen ${next})
        file(STRINGS ${INCLUDE}/${next} lines REGEX "^#include <")
        foreach(line IN LISTS lines)
            string(REGEX REPLACE "^#include <([^>]+)>.*" "\\1" included "${line}")
            if(NOT included MATCHES "^acre/")
                list(APPEND found ${included})
            elseif(NOT included IN_LIST seen AND NOT included IN_LIST pending)
                list(APPEND pending ${included})
            endif()
        endforeach()
    endwhile()
    set(${result} ${found} PARENT_SCOPE)
endfunction()

function(refuse header)
    standard_headers(${header} found)
    foreach(heavy IN LISTS ARGN)
        if(heavy IN_LIST found)
            message(SEND_ERROR "${header} includes <${heavy}>, which makes it slow to compile. Do without it, or "
                               "include it in a header of its own. bench/compile_time.py measures the cost.")
        endif()
    endforeach()
endfunction()

set(heaviest algorithm chrono cmath condition_variable format fstream functional iostream istream iterator locale
    ostream
             random ranges regex sstream thread unordered_map)
set(heavy ${heaviest} atomic bitset map memory memory_resource mutex string system_error vector)
refuse(acre/acre.hpp ${heaviest} deque list memory set unordered_set)
foreach(header fwd core/resource_ref memory/buffer memory/heap arenas/arena arenas/arena_string arenas/arena_vector
               arenas/cursor arenas/inline_arena arenas/scratch)
    refuse(acre/${header}.hpp ${heavy})
endforeach()
# Without text and ranges of values, too.
foreach(header fwd core/resource_ref pools/pool pools/object_pool pools/multi_pool)
    refuse(acre/${header}.hpp ${heavy} span string_view)
endforeach()
