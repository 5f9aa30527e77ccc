// The game's memory as `acre advise` suggests it: a pool for the arrows, an arena for the data of a frame. It advises
// to leave the rest, the soldiers and the quest log, as it is.
#pragma once

#include <acre/acre.hpp>
#include <cstddef>
#include <string>
#include <vector>

// Objects of one size, freed one by one in any order, so a pool for the class. The game still says new and delete.
#define GAME_POOLED(T)                                   \
    static void* operator new(std::size_t) {             \
        return game::pool_of<T>.allocate();              \
    }                                                    \
    static void operator delete(void* p) {               \
        game::pool_of<T>.deallocate(static_cast<T*>(p)); \
    }                                                    \
    static_assert(true)

namespace game {

using namespace acre::literals;

template <class T>
inline acre::object_pool<T> pool_of;

// The data of a frame dies together: an arena that is reset at each frame.
template <class T>
using frame_vector = std::vector<T, acre::allocator<T, acre::arena>>;
using frame_string = std::basic_string<char, std::char_traits<char>, acre::allocator<char, acre::arena>>;

class frame_memory {
public:
    template <class T>
    frame_vector<T> make_vector() {
        return frame_vector<T>{acre::allocator<T, acre::arena>{arena_}};
    }
    frame_string make_string() { return frame_string{acre::allocator<char, acre::arena>{arena_}}; }
    void end_of_frame() { arena_.reset(); }

private:
    acre::arena arena_{{.first_block_bytes = 870_KiB, .max_block_bytes = 1_MiB}};
};

}  // namespace game
