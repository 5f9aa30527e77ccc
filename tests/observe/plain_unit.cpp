// The unit of a program that was compiled without ACRE_CHECKED. checked_unit.cpp is compiled with it.
#include <acre/observe/checked_names.hpp>

int main() {
    static_assert(!acre::by_build::is_checked);
    return 0;
}
