// Which scopes a thread is in, while its log is converted: ends that have no beginning are dropped, as in a forked
// child, and so is what is nested too deeply for a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/format.hpp"

namespace acre::tool {

/// How many scopes all threads are in together.
class scope_limit {
public:
    bool take() { return open_ < format::max_open_scopes && ++open_ != 0; }
    void give_back() { --open_; }

private:
    std::uint64_t open_ = 0;
};

/// The scopes of one thread.
class scope_nesting {
public:
    /// Whether the trace has room for it.
    bool begin(std::uint32_t name, scope_limit& limit) {
        if (too_deep_ == 0 && limit.take()) {
            open_.push_back(name);
            return true;
        }
        ++too_deep_;
        return false;
    }

    /// The name of the scope that ends, if one does.
    std::optional<std::uint32_t> end(scope_limit& limit) {
        if (too_deep_ != 0) {
            --too_deep_;
            return std::nullopt;
        }
        if (open_.empty()) return std::nullopt;
        const std::uint32_t name = open_.back();
        open_.pop_back();
        limit.give_back();
        return name;
    }

    /// No more rows come: what was dropped needs no end.
    void forget_dropped() { too_deep_ = 0; }

private:
    std::vector<std::uint32_t> open_;  // innermost last
    std::uint64_t too_deep_ = 0;       // begun within, and dropped
};

}  // namespace acre::tool
