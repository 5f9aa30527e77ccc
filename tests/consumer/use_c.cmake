# Installs the C interface from BUILD, the folder of a finished build, and uses it as C projects do: by pkg-config with
# libacre.so and with libacre.a, and by CMake.
function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        list(JOIN ARGV " " text)
        message(FATAL_ERROR "failed: ${text}")
    endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
set(installed ${WORK}/installed)
set(source ${CMAKE_CURRENT_LIST_DIR}/c_project)
# The headers and the CMake package, then the C interface; not the command.
foreach(folder IN ITEMS . c)
    run(${CMAKE_COMMAND} -D CMAKE_INSTALL_PREFIX=${installed} -D CMAKE_INSTALL_LOCAL_ONLY=ON
        -P ${BUILD}/${folder}/cmake_install.cmake)
endforeach()
set(libraries ${installed}/${LIBDIR})

set(ENV{PKG_CONFIG_PATH} ${libraries}/pkgconfig)
# flags(RESULT PACKAGE): what pkg-config says, as a list.
function(flags result)
    execute_process(COMMAND pkg-config --cflags --libs ${ARGN} OUTPUT_VARIABLE said RESULT_VARIABLE status
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "pkg-config does not find ${ARGN}")
    endif()
    separate_arguments(said UNIX_COMMAND "${said}")
    set(${result} ${said} PARENT_SCOPE)
endfunction()
flags(shared acre-c)
flags(static acre-c-static)
foreach(kind IN ITEMS shared static)
    run(${C_COMPILER} -std=c11 -Wall -Wextra -pedantic -Werror ${source}/main.c ${${kind}} -Wl,-rpath,${libraries}
        -o ${WORK}/${kind})
    run(${WORK}/${kind})
endforeach()

foreach(static IN ITEMS OFF ON)
    set(project ${WORK}/project_${static})
    run(${CMAKE_COMMAND} -S ${source} -B ${project} -G ${GENERATOR} -D CMAKE_C_COMPILER=${C_COMPILER}
        -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_PREFIX_PATH=${installed} -D STATIC=${static})
    run(${CMAKE_COMMAND} --build ${project})
    run(${project}/consumer)
endforeach()
