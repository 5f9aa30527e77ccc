// A library with hidden visibility: it has its own copy of acre's variables. Compiled once for each name.
#include "hidden_library.hpp"

hidden_libraries::library hidden_libraries::ACRE_LIBRARY_NAME() {
    return {};
}
