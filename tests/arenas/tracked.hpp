// An object that counts its live instances, records the order of destruction, and throws on demand.
#pragma once

#include <stdexcept>
#include <vector>

namespace acre_test {

/// Counts its constructions and destructions; a chosen construction throws.
class tracked {
public:
    static inline int live = 0;
    static inline int constructed = 0;
    static inline int throw_at = 0;  // number of the construction that throws, from 1; 0: none
    static inline std::vector<int> destroyed;

    static void start() {
        live = 0;
        constructed = 0;
        throw_at = 0;
        destroyed.clear();
    }

    tracked() : tracked(constructed) {}
    explicit tracked(int number) : number_(number) {
        ++constructed;
        if (constructed == throw_at) throw std::runtime_error("construction");
        ++live;
    }
    tracked(const tracked&) = delete;
    tracked& operator=(const tracked&) = delete;
    ~tracked() {
        --live;
        destroyed.push_back(number_);
        number_ = -1;
    }

    int number() const noexcept { return number_; }

private:
    int number_;
};

}  // namespace acre_test
