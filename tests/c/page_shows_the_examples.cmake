# docs/c.md shows this program of examples/c word for word.
#
# cmake -D ROOT=(the repository) -P page_shows_the_examples.cmake
file(READ ${ROOT}/docs/c.md text)
foreach(example IN ITEMS arena)
    file(READ ${ROOT}/examples/c/${example}.c program)
    string(FIND "${text}" "```c\n${program}```" found)
    if(found EQUAL -1)
        message(SEND_ERROR "docs/c.md does not show examples/c/${example}.c as it is")
    endif()
endforeach()
