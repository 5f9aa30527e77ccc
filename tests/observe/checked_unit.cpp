// See plain_unit.cpp.
#include <acre/observe/checked_names.hpp>

static_assert(acre::by_build::is_checked);
