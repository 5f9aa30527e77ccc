// The game's memory as most programs have it: new and delete everywhere.
#pragma once

#include <string>
#include <vector>

// Objects that come and go one by one: nothing to say, new and delete are the heap's.
#define GAME_POOLED(T) static_assert(true)

namespace game {

// What is needed until the end of the frame.
template <class T>
using frame_vector = std::vector<T>;
using frame_string = std::string;

class frame_memory {
public:
    template <class T>
    frame_vector<T> make_vector() {
        return {};
    }
    frame_string make_string() { return {}; }
    void end_of_frame() {}
};

}  // namespace game
