# Functions for all scripts: choosing compilers, and building by a preset. To be sourced by bash in the root, before a
# script does anything: a script that is called with --help then prints its first comment and ends.

# The comment behind the first line of a script, which was called before `cd` went to the root.
print_usage() (
    cd "$OLDPWD"
    sed -n '1d; /^#/!q; s/^# \{0,1\}//p' "$0"
)

if [[ " $* " == *" --help "* ]]; then
    print_usage
    exit
fi

oldest_gcc=12
# A clone in another folder can use the ccache entries of this one.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
# ccache caches precompiled headers only with these checks of macros and times relaxed.
export CCACHE_SLOPPINESS=pch_defines,time_macros
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}

# The g++ to build with: what CXX names, else the default one if it is new enough, else the newest there is.
best_gcc() { first_new_gcc ${CXX:-} g++ g++-{14..12}; }

# best_cross_gcc TRIPLET: the same for another target.
best_cross_gcc() { first_new_gcc "$1-g++-posix" "$1-g++" "$1-g++"-{14..12}; }

first_new_gcc() {
    local candidate
    for candidate in "$@"; do
        [[ $candidate == *clang* ]] && continue
        command -v "$candidate" >/dev/null || continue
        if [ "$("$candidate" -dumpversion | sed 's,[^0-9].*,,')" -ge "$oldest_gcc" ]; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

# The newest clang++ up to 19, the one that acre is checked with; before 16 it knows too little of C++20.
best_clang() {
    local candidate
    for candidate in clang++-{19..16}; do
        command -v "$candidate" >/dev/null && echo "$candidate" && return
    done
    return 1
}

# Whether that clang has libFuzzer, which the fuzzers need.
has_fuzzer() {
    local clang
    clang=$(best_clang) || return 1
    "$clang" -fsanitize=fuzzer -x c++ -o /dev/null - 2>/dev/null \
        <<<'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'
}

c_compiler_of() { sed 's/clang++/clang/; s/g++/gcc/' <<<"$1"; }

build_folder() { if [ "$1" = release ]; then echo build; else echo "build-$1"; fi; }

# Removes CMake's cache if the compiler is another one than before: CMake would then ignore the preset's variables.
forget_other_compiler() {
    local cache before
    cache=$(build_folder "$1")/CMakeCache.txt
    [ -f "$cache" ] || return 0
    before=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$cache")
    [ "$(command -v "$before")" = "$(command -v "$2")" ] || rm "$cache"
}

# configure PRESET [CMAKE_ARGUMENTS...]
configure() {
    local compiler launcher=() extra=()
    case "$1" in
        clang | coverage)
            compiler=$(best_clang)
            # C++14 requires it; clang has it on by default only from version 19.
            extra=(-DCMAKE_CXX_FLAGS=-fsized-deallocation) ;;
        # In half of g++'s time, with one sanitizer more.
        address)
            if compiler=$(best_clang); then
                extra=(-DCMAKE_CXX_FLAGS=-fsized-deallocation -DACRE_SANITIZE="address,undefined")
            else
                compiler=$(best_gcc)
            fi ;;
        *) compiler=$(best_gcc) ;;
    esac
    if command -v ccache >/dev/null; then
        launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
    fi
    forget_other_compiler "$1" "$compiler"
    cmake --preset "$1" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_C_COMPILER="$(c_compiler_of "$compiler")" \
          "${launcher[@]}" "${extra[@]}" "${@:2}"
}

# Runs a command and shows its output only if it fails.
quietly() {
    local log
    log=$(mktemp)
    if "$@" >"$log" 2>&1; then
        rm -f "$log"
    else
        local status=$?
        cat "$log"
        rm -f "$log"
        return $status
    fi
}

# build_for_script TARGET...: builds these in build/, one such call at a time, since scripts may run beside each other.
build_for_script() {
    mkdir -p build
    { flock 9 && quietly configure release && quietly cmake --build build --target "$@"; } 9>build/.building
}

# build_showing_progress FOLDER [CMAKE_ARGUMENTS...]: builds and prints its progress, on one line of a terminal, else a
# line for each tenth. Shows the compiler's messages only if it fails.
build_showing_progress() {
    local log status
    log=$(mktemp)
    cmake --build "$@" 2>&1 | tee "$log" | show_progress
    status=${PIPESTATUS[0]}
    [ "$status" = 0 ] || grep -av '^\[[0-9]*/[0-9]*\] [A-Z]' "$log"
    rm -f "$log"
    return "$status"
}

# Reads what ninja prints: "[12/345] Building ...".
show_progress() {
    local line done_steps all_steps tenth last=0 begun=$SECONDS
    while IFS= read -r line; do
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
        done_steps=${BASH_REMATCH[1]} all_steps=${BASH_REMATCH[2]}
        if [ -t 1 ]; then
            printf '\r   step %d of %d, %d s ' "$done_steps" "$all_steps" $((SECONDS - begun))
            [ "$done_steps" != "$all_steps" ] || echo
        else
            tenth=$((10 * done_steps / all_steps))
            [ $tenth = $last ] || printf '   step %d of %d, %d s\n' "$done_steps" "$all_steps" $((SECONDS - begun))
            last=$tenth
        fi
    done
}

# Prints "PASSED FAILED", and after it a line for each skipped test with the reason. Reads ctest's log, which has the
# output of each process; a process of GoogleTest counts by its cases.
cases_in() {
    awk '
        /^[0-9]+\/[0-9]+ Testing: / { is_googletest = 0; lost = 0 }
        /^\[==========\] Running [0-9]+ tests? from/ { is_googletest = 1 }
        /^\[  PASSED  \] [0-9]+ tests?\./ { passed += $4 }
        /^\[  FAILED  \] [0-9]+ tests?, listed below/ { failed += $4; lost = 1 }
        /: Skipped$/ { getline reason }
        /^\[  SKIPPED \] [^ ]+ \(/ { skipped = skipped "   skipped: " $4 ": " reason "\n" }
        /^Test Passed\.$/ { if (!is_googletest) ++passed }
        /^Test Failed\.$/ { if (!lost) ++failed }
        END { print passed + 0, failed + 0; printf "%s", skipped }
    ' "$1/Testing/Temporary/LastTest.log"
}
