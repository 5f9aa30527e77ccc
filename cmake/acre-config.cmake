# What find_package(acre) reads. The C interface and the module are there where they were built.
include("${CMAKE_CURRENT_LIST_DIR}/acre-targets.cmake")
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/acre-c-targets.cmake")
    include(CMakeFindDependencyMacro)
    find_dependency(Threads)
    include("${CMAKE_CURRENT_LIST_DIR}/acre-c-targets.cmake")
endif()
include("${CMAKE_CURRENT_LIST_DIR}/acre-module-targets.cmake" OPTIONAL)
