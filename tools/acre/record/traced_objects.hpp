// The live objects of the resources that a program traces, while its log is converted. An address may be live in
// several resources at a time: a pool's slab is an object of the arena beneath it, and its first slot lies at the same
// place.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace acre::tool {

/// An object as the trace knows it.
struct live_object {
    /// Number of what a resource allocated for itself, which is not in the trace.
    static constexpr std::uint64_t unseen = ~std::uint64_t{0};

    std::uint64_t number = 0;
    std::uint64_t size = 0;
};

class traced_objects {
public:
    /// The resource must have no object there.
    void insert(std::uint64_t resource, std::uint64_t address, live_object object, std::uint64_t ticks) {
        resources_[resource].try_emplace(address, entry{object, ticks});
    }

    /// False when the resource has no object there; else it is moved to `taken` and gone from here.
    bool take(std::uint64_t resource, std::uint64_t address, live_object& taken);

    /// Takes those of a resource that were allocated after a moment, in the order of their numbers.
    std::vector<live_object> take_since(std::uint64_t resource, std::uint64_t ticks);

    /// Takes all of a resource, in the order of their numbers.
    std::vector<live_object> take_all(std::uint64_t resource);

private:
    struct entry {
        live_object object;
        std::uint64_t ticks = 0;  // of its allocation
    };

    std::unordered_map<std::uint64_t, std::unordered_map<std::uint64_t, entry>> resources_;  // by number, by address
};

}  // namespace acre::tool
