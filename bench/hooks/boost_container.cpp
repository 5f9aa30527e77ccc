// Fills and clears a map of strings.
#include <acre/acre.hpp>
#include <acre/adapt/hooks/boost_container.hpp>
#include <boost/container/pmr/map.hpp>
#include <boost/container/pmr/string.hpp>
#include <boost/container/pmr/unsynchronized_pool_resource.hpp>

#include "measure.hpp"

namespace {

void fill(boost::container::pmr::memory_resource* below) {
    boost::container::pmr::map<unsigned, boost::container::pmr::string> names{below};
    for (unsigned i = 0; i < 20'000; ++i) names[i * 2'654'435'761u] = "a name that is longer than a short string";
    for (unsigned i = 0; i < 20'000; i += 2) names.erase(i * 2'654'435'761u);
}

}  // namespace

int main(int, char** arguments) {
    const std::string_view memory = arguments[1];
    if (memory == "default") return acre_bench::measure([] { fill(boost::container::pmr::get_default_resource()); });
    if (memory == "default_unsynchronized_pool") {
        boost::container::pmr::unsynchronized_pool_resource below;
        return acre_bench::measure([&] { fill(&below); });
    }
    if (memory == "multi_pool") {
        acre::boost_pmr<acre::multi_pool> below;
        return acre_bench::measure([&] { fill(&below); });
    }
    acre_bench::unknown(memory);
}
