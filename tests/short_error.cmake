# Checks that a compiler refuses a file with a short error: MESSAGE is in the first line that says "error", and at most
# eight lines are printed, besides the list of the files that include each other and the number of errors.
#
# Usage: cmake -D MESSAGE=regex -P short_error.cmake -- command...
cmake_minimum_required(VERSION 3.20)

set(command)
set(is_command FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(index RANGE ${last})
    if(is_command)
        list(APPEND command "${CMAKE_ARGV${index}}")
    elseif(CMAKE_ARGV${index} STREQUAL "--")
        set(is_command TRUE)
    endif()
endforeach()

execute_process(COMMAND ${command} RESULT_VARIABLE result ERROR_VARIABLE output)
if(result EQUAL 0)
    message(FATAL_ERROR "The compiler accepts it.")
endif()
string(REGEX REPLACE "[][;]" "_" lines "${output}")
string(REPLACE "\n" ";" lines "${lines}")
list(FILTER lines EXCLUDE REGEX "^(In file included from | +from |[0-9]+ errors? generated|$)")
set(errors ${lines})
list(FILTER errors INCLUDE REGEX "error: ")
list(GET errors 0 first)
list(LENGTH lines count)
if(NOT first MATCHES "${MESSAGE}")
    message(FATAL_ERROR "The first line of the error does not say \"${MESSAGE}\":\n${output}")
elseif(count GREATER 8)
    message(FATAL_ERROR "The error has ${count} lines, more than eight:\n${output}")
endif()
