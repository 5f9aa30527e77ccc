# Each page of docs/hooks shows the program of examples/hooks of the same name, word for word.
#
# cmake -D ROOT=(the repository) -P pages_show_the_examples.cmake
file(GLOB examples RELATIVE ${ROOT}/examples/hooks ${ROOT}/examples/hooks/*.cpp)
foreach(example IN LISTS examples)
    string(REPLACE ".cpp" ".md" page ${example})
    file(READ ${ROOT}/examples/hooks/${example} program)
    if(NOT EXISTS ${ROOT}/docs/hooks/${page})
        message(SEND_ERROR "examples/hooks/${example} has no page docs/hooks/${page}")
        continue()
    endif()
    file(READ ${ROOT}/docs/hooks/${page} text)
    string(FIND "${text}" "${program}" found)
    if(found EQUAL -1)
        message(SEND_ERROR "docs/hooks/${page} does not show examples/hooks/${example} as it is")
    endif()
endforeach()
