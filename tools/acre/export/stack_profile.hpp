// What each stack of a run allocated, with the stacks as a format labels them.
#pragma once

#include <utility>

#include "label_tree.hpp"
#include "trace/reader.hpp"
#include "usage.hpp"

namespace acre::tool {

/// Memory: the live objects and the tables.
class stack_profile {
public:
    /// Reads all events.
    stack_profile(trace_reader& reader, label_tree::describe labels_of) : tree_{reader.tables(), std::move(labels_of)} {
        reader.for_each([&](const event& e) {
            if (e.allocates) {
                usage_.allocate(e, tree_.node(e.stack));
            } else {
                usage_.release(e);
            }
        });
        usage_.finish(reader.header().duration);
    }

    const label_tree& tree() const noexcept { return tree_; }
    const usage_table& totals() const noexcept { return usage_; }

    /// Calls `visit(node, usage)` for each stack that allocates, callers before what they call.
    template <typename Visit>
    void for_each(Visit&& visit) const {
        for (std::uint32_t node = 0; node < usage_.by_key().size(); ++node) {
            if (usage_.of(node).allocated.count != 0) visit(node, usage_.of(node));
        }
    }

private:
    label_tree tree_;
    usage_table usage_;
};

}  // namespace acre::tool
