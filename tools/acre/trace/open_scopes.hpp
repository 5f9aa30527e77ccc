// Which scopes each thread is in, as the marks tell: what writer and reader hold them to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "error.hpp"
#include "format.hpp"
#include "model.hpp"

namespace acre::tool {

class open_scopes {
public:
    /// Throws tool_error when the mark ends another scope than the innermost of its thread.
    void pass(const mark& m) {
        if (m.kind == mark_kind::scope_begin) {
            if (count_ == format::max_open_scopes) throw tool_error{"absurdly many scopes are open"};
            of_thread_[m.thread].push_back(m.name);
            ++count_;
        } else if (m.kind == mark_kind::scope_end) {
            const auto found = of_thread_.find(m.thread);
            if (found == of_thread_.end() || found->second.back() != m.name) {
                throw tool_error{"a scope ends that is not the innermost of its thread"};
            }
            found->second.pop_back();
            if (found->second.empty()) of_thread_.erase(found);
            --count_;
        }
    }

private:
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> of_thread_;  // names, innermost last
    std::size_t count_ = 0;
};

}  // namespace acre::tool
