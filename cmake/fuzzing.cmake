# Fuzzing by clang's libFuzzer. The command and its tests are then built from the sources that the fuzzers link,
# instrumented: compiling them once more would take longer than the tests do. So are the examples.
option(ACRE_FUZZ
       "Build the fuzzers, and the command, its tests and the examples with their sanitizers, if there is libFuzzer" OFF)
# scripts/fuzz measures so which lines a corpus reaches, in a folder of its own.
option(ACRE_FUZZ_COVERAGE "Build what is fuzzed with clang's coverage" OFF)

if(ACRE_FUZZ AND ACRE_SANITIZE)
    message(FATAL_ERROR "ACRE_FUZZ brings AddressSanitizer and UndefinedBehaviorSanitizer: leave ACRE_SANITIZE empty")
endif()
set(ACRE_HAS_FUZZERS OFF)
if(ACRE_FUZZ)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_FLAGS -fsanitize=fuzzer,address,undefined)
    check_cxx_source_compiles("extern \"C\" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }"
                              ACRE_HAS_LIBFUZZER)
    unset(CMAKE_REQUIRED_FLAGS)
    set(ACRE_HAS_FUZZERS ${ACRE_HAS_LIBFUZZER})
endif()

set(acre_fuzz_coverage)
if(ACRE_FUZZ_COVERAGE)
    set(acre_fuzz_coverage -fprofile-instr-generate -fcoverage-mapping)
endif()

# acre_instrument_for_fuzzing(TARGET OPTION...): compiles with these options, assertions and what fuzzing needs.
function(acre_instrument_for_fuzzing target)
    if(ACRE_HAS_FUZZERS)
        target_compile_options(${target} PRIVATE ${ARGN} -g1 -UNDEBUG -fsanitize=fuzzer-no-link,address,undefined
                                                 -fno-sanitize-recover=all ${acre_fuzz_coverage})
    endif()
endfunction()

# acre_link_instrumented(TARGET SANITIZERS): links what is instrumented: a fuzzer brings a main function of its own.
function(acre_link_instrumented target sanitizers)
    if(ACRE_HAS_FUZZERS)
        target_link_options(${target} PRIVATE -fsanitize=${sanitizers} ${acre_fuzz_coverage})
    endif()
endfunction()
