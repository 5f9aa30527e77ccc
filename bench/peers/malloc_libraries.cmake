# Finds the libraries of contestants/malloc_libraries.cpp, and builds those that come as an archive or as crates. A
# missing library has an empty path.

# Returns the first match of the expression's parentheses in the file.
function(acre_bench_version result file expression)
    set(found "")
    if(EXISTS "${file}")
        file(READ "${file}" text)
        if(text MATCHES "${expression}")
            set(found "${CMAKE_MATCH_1}")
        endif()
    endif()
    set(${result} "${found}" PARENT_SCOPE)
endfunction()

find_path(JEMALLOC_INCLUDE jemalloc/jemalloc.h)
find_library(JEMALLOC_ARCHIVE libjemalloc_pic.a)
find_path(TCMALLOC_INCLUDE gperftools/tcmalloc.h)
find_library(TCMALLOC_LIBRARY NAMES tcmalloc_minimal libtcmalloc_minimal.so.4)
find_path(TBBMALLOC_INCLUDE oneapi/tbb/version.h)
find_library(TBBMALLOC_LIBRARY NAMES tbbmalloc libtbbmalloc.so.2)
find_program(CARGO cargo HINTS $ENV{HOME}/.cargo/bin)

acre_bench_version(jemalloc_version "${JEMALLOC_INCLUDE}/jemalloc/jemalloc.h" "JEMALLOC_VERSION \"([0-9.]+)")
acre_bench_version(tcmalloc_version "${TCMALLOC_INCLUDE}/gperftools/tcmalloc.h" "TC_VERSION_STRING \"([^\"]+)")
acre_bench_version(tbb_major "${TBBMALLOC_INCLUDE}/oneapi/tbb/version.h" "TBB_VERSION_MAJOR ([0-9]+)")
acre_bench_version(tbb_minor "${TBBMALLOC_INCLUDE}/oneapi/tbb/version.h" "TBB_VERSION_MINOR ([0-9]+)")
set(crates ${CMAKE_CURRENT_SOURCE_DIR}/peers/crates)
acre_bench_version(mimalloc_crate ${crates}/Cargo.toml "libmimalloc-sys = \"=([0-9.]+)")
acre_bench_version(snmalloc_crate ${crates}/Cargo.toml "snmalloc-sys = { version = \"=([0-9.]+)")

set(jemalloc_path "")
if(JEMALLOC_ARCHIVE)
    add_library(acre-peer-jemalloc SHARED peers/jemalloc.cpp)
    target_compile_options(acre-peer-jemalloc PRIVATE -O2)
    target_link_libraries(acre-peer-jemalloc PRIVATE ${JEMALLOC_ARCHIVE} Threads::Threads ${CMAKE_DL_LIBS} m)
    target_link_options(acre-peer-jemalloc PRIVATE
        -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/peers/jemalloc.map)
    # Nothing calls it by name: it is linked to reserve room for its thread-local variables.
    target_link_libraries(acre-bench PRIVATE -Wl,--push-state,--no-as-needed acre-peer-jemalloc -Wl,--pop-state)
    set(jemalloc_path $<TARGET_FILE:acre-peer-jemalloc>)
endif()

# Fetched and built while configuring: cargo may be missing, be too old, or have no network.
set(crates_path "")
if(CARGO)
    execute_process(
        COMMAND ${CARGO} build --quiet --release --locked --manifest-path ${crates}/Cargo.toml
                --target-dir ${CMAKE_CURRENT_BINARY_DIR}/crates
        RESULT_VARIABLE failed ERROR_VARIABLE errors)
    if(failed)
        message(STATUS "acre-bench: cargo does not build ${crates}: ${errors}")
    else()
        set(crates_path ${CMAKE_CURRENT_BINARY_DIR}/crates/release/libacre_peers.so)
    endif()
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${crates}/Cargo.toml ${crates}/src/lib.rs)

set_source_files_properties(contestants/malloc_libraries.cpp PROPERTIES COMPILE_DEFINITIONS
    "ACRE_BENCH_JEMALLOC=\"${jemalloc_path}\";ACRE_BENCH_JEMALLOC_VERSION=\"${jemalloc_version}\";\
ACRE_BENCH_TCMALLOC=\"$<$<BOOL:${TCMALLOC_LIBRARY}>:${TCMALLOC_LIBRARY}>\";\
ACRE_BENCH_TCMALLOC_VERSION=\"${tcmalloc_version}\";\
ACRE_BENCH_TBBMALLOC=\"$<$<BOOL:${TBBMALLOC_LIBRARY}>:${TBBMALLOC_LIBRARY}>\";\
ACRE_BENCH_TBBMALLOC_VERSION=\"${tbb_major}.${tbb_minor}\";\
ACRE_BENCH_CRATES=\"${crates_path}\";\
ACRE_BENCH_MIMALLOC_CRATE=\"${mimalloc_crate}\";ACRE_BENCH_SNMALLOC_CRATE=\"${snmalloc_crate}\"")
