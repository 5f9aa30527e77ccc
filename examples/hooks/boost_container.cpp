#include <acre/acre.hpp>
#include <acre/adapt/hooks/boost_container.hpp>
#include <boost/container/pmr/map.hpp>
#include <boost/container/pmr/string.hpp>
#include <cstdio>

int main() {
    acre::boost_pmr<acre::multi_pool> nodes;  // boost_pmr memory{arena} refers to a resource instead
    boost::container::pmr::map<int, boost::container::pmr::string> names{&nodes};
    for (int i = 0; i < 100; ++i) names[i] = "a name that is longer than a short string";
    std::printf("%zu live slots\n", nodes->live());
}
