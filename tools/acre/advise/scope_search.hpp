// Finds functions in which many objects die together: an arena there can free all of them by one reset.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "advice.hpp"
#include "change_places.hpp"
#include "history.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

class scope_search {
public:
    /// `places` must outlive this object.
    scope_search(const history& run, const call_paths& paths, const change_places& places);

    /// These are no part of any scope.
    void claim(const context_set& contexts) {
        for (const std::uint32_t context : contexts) claimed_[context] = true;
    }

    /// Returns the advices; claimed() then has the contexts that they serve.
    std::vector<advice> find();
    const std::vector<bool>& claimed() const noexcept { return claimed_; }

    /// The contexts of which one object in many outlives the function in which the others die, by that function.
    const std::map<std::uint32_t, context_set>& escaping() const noexcept { return escaping_; }

    /// The arenas that would have freed live objects, outermost first, each with the contexts that it would have
    /// served.
    const std::vector<std::pair<refused_arena, context_set>>& refused() const noexcept { return refused_; }

private:
    /// A function in which objects die.
    struct candidate {
        std::uint32_t function = 0;
        std::uint32_t depth = ~std::uint32_t{0};
        context_set own;      // die in the function itself
        context_set beneath;  // die in it or in its calls
    };

    std::vector<candidate> candidates() const;
    void study_ahead(std::span<const candidate> next);
    std::vector<generation_question> questions_of(const candidate& each) const;
    std::vector<std::uint32_t> owners_above(std::uint32_t node) const;
    std::optional<advice> try_scope(const candidate& from, const context_set& set, double min_kept);
    std::optional<generation_figures> without_survivors(const candidate& from, context_set& kept, context_set& evicted,
                                                        generation_figures found, double min_objects,
                                                        reset_passes& passes);
    void find_rare_escapes(std::vector<advice>& advices);
    bool splits_a_type(const context_set& kept, const context_set& left) const;
    void refuse(const candidate& from, const context_set& set, const reset_passes& passes);
    std::size_t count_holding(const context_set& sorted, double share) const;
    std::size_t with_whole_unit(const context_set& sorted, std::size_t count) const;
    context_set shortest_lives_first(const context_set& set) const;
    generation_figures answer_to(const generation_question& question) const;
    bool frees_often(std::uint32_t function) const;
    std::optional<generation_figures> serves(const context_set& set, std::uint32_t function) const;
    advice make_advice(const candidate& from, context_set kept, const context_set& evicted,
                       const generation_figures& generations) const;
    void add_blockers(advice& to, const context_set& set) const;
    context_set unclaimed(const context_set& set) const;
    std::uint64_t objects_in(const context_set& set) const;
    /// Or of coroutines, whose frames no arena of a function can have.
    bool is_of_library(std::uint32_t context) const {
        const change_place& place = places_.of(context);
        return place.kind == place_kind::library || is_coroutine_frame(place);
    }
    bool worth_a_look(const context_set& set) const;

    const history& run_;
    const call_paths& paths_;
    const change_places& places_;
    std::vector<bool> claimed_;
    std::vector<std::pair<refused_arena, context_set>> refused_;
    std::map<std::uint32_t, context_set> escaping_;
    std::map<generation_question, generation_figures> answers_;  // found so far
};

}  // namespace acre::tool
