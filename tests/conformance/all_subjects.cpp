// The subjects of all rooms.
#include "conformance/subject.hpp"

namespace acre_test {

std::vector<subject_case> all_subjects() {
    std::vector<subject_case> all;
    for (auto& room : {memory_subjects(), arena_subjects(), pool_subjects(), nested_subjects(), combine_subjects(),
                       traced_subjects(), checked_subjects(), heap_subjects()}) {
        all.insert(all.end(), room.begin(), room.end());
    }
    return all;
}

}  // namespace acre_test
