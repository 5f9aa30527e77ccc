# Functions of scripts/target-tests for the targets without GoogleTest: how their programs of tests/targets are built
# and run. To be sourced.

# The headers of libc++ and musl, and Debian's libc++, which was built for glibc: tests/targets/for_musl.c has the
# functions of glibc that it calls. Linked statically, so that nothing of this machine's C library is used.
build_for_musl() {
    local musl=/usr/lib/x86_64-linux-musl resources begin end
    mkdir -p "$home"
    resources=$(clang++-19 -print-resource-dir)
    begin=$(clang++-19 -print-file-name=crtbeginT.o)
    end=$(clang++-19 -print-file-name=crtend.o)
    local headers=(-nostdinc -nostdinc++ -D_LIBCPP_HAS_MUSL_LIBC -isystem "$libcxx/include/c++/v1"
                   -isystem "$resources/include" -isystem /usr/include/x86_64-linux-musl)
    quietly clang-19 "${headers[@]}" -c tests/targets/for_musl.c -o "$home/for_musl.o" &&
        quietly clang++-19 -std=c++20 -O0 "${warnings[@]}" "${headers[@]}" -Iinclude -c tests/targets/tour.cpp \
                           -o "$home/tour.o" &&
        quietly clang++-19 -static -nostdlib -o "$home/tour" "$musl/crt1.o" "$musl/crti.o" "$begin" "$home/tour.o" \
                           "$home/for_musl.o" -L"$libcxx/lib" -lc++ -lc++abi -lunwind "$musl/libc.a" "$end" "$musl/crtn.o"
}

# As such programs are built: without exceptions, RTTI and assertions (newlib's assert links stdio), and without the C
# library's start-up code.
build_for_cortex_m() {
    local each
    mkdir -p "$home"
    for each in tour misuse; do
        quietly "$(best_target_gcc)" -mcpu=cortex-m3 -mthumb -std=c++20 -Os "${warnings[@]}" -fno-exceptions -fno-rtti \
                -fno-threadsafe-statics -DNDEBUG -ffunction-sections -fdata-sections -Wl,--gc-sections -Iinclude \
                -nostartfiles -T tests/targets/cortex_m.ld tests/targets/cortex_m.cpp "tests/targets/$each.cpp" \
                -o "$home/$each" &&
            links_no_heap "$home/$each" || return 1
    done
}

# Whether a program links neither the heap nor stdio.
links_no_heap() {
    local found
    found=$(arm-none-eabi-nm -C "$1" | grep -E ' (_?_?(malloc|calloc|realloc|free|sbrk)(_r)?|operator (new|delete).*|_?_?(v?f?s?n?i?printf|f?puts|fwrite|abort|stderr|sinit)(_r)?|__emutls.*)$') ||
        return 0
    echo "the program for Cortex-M links what it must not:"
    echo "$found"
    return 1
}

# compile_for_cortex_m [ARGUMENTS...]: only checks what comes from standard input.
compile_for_cortex_m() {
    "$(best_target_gcc)" -mcpu=cortex-m3 -mthumb -std=c++20 -fno-exceptions -fsyntax-only -Iinclude "$@" -x c++ - 2>&1
}

# expect_refused NAME SENTENCE: whether the program on standard input is refused with this one error.
expect_refused() {
    local said
    said=$(compile_for_cortex_m | grep -a 'error: ') || true
    if [ "$(wc -l <<<"$said")" = 1 ] && [[ $said == *"static assertion failed: $2"* ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $1: not refused with \"$2\" and nothing else:"
        echo "$said"
    fi
}

# What needs threads or virtual memory is refused by one sentence, header by header; the rest of acre compiles.
test_refusals_on_cortex_m() {
    local header
    for header in $(grep -l '^#if !ACRE_HAS_\(THREADS\|VIRTUAL_MEMORY\|GENERAL_HEAP\)' -r include/acre); do
        header=${header#include/}
        expect_refused "$header" "acre::" <<<"#include <$header>"
    done
    expect_refused typed_arena "acre::typed_arena: .synchronized with .reuse needs a lock" <<<'
        #include <acre/arenas/typed_arena.hpp>
        acre::typed_arena<int, 4, acre::typed_arena_options{.reuse = true, .synchronized = true}> both;'
    if compile_for_cortex_m <<<'
        #include <acre/acre.hpp>
        acre::typed_arena<int, 4, acre::typed_arena_options{.reuse = true}> one;
        acre::typed_arena<int, 4, acre::typed_arena_options{.synchronized = true}> other;'; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
}

# In a board of ARM's with a Cortex-M3; semihosting prints and ends the program.
in_cortex_m() {
    timeout 60 qemu-system-arm -M mps2-an385 -nographic -monitor none -serial none \
            -semihosting-config enable=on,target=native -kernel "$home/$1"
}

run_on_cortex_m() {
    local said
    run_program in_cortex_m tour
    said=$(in_cortex_m misuse </dev/null 2>&1) || true
    if [[ $said == "acre::pool: double free (pointer 0x2"*"a fault ended the program" ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED misuse: $said"
    fi
    test_refusals_on_cortex_m
}
