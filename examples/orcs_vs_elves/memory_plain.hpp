// The game's memory as in most programs: new and delete everywhere.
#pragma once

#include <string>
#include <vector>

// Objects freed one by one: the heap's new and delete.
#define GAME_POOLED(T) static_assert(true)

namespace game {

// The data of a frame.
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
