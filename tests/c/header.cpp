// acre.h compiles as C++, too.
#include <acre.h>

#include <type_traits>

static_assert(std::is_trivial_v<acre_mark>);
