#include "rules.hpp"

#include <fmt/format.h>

#include "text/text.hpp"

namespace acre::tool {

namespace {

bool is_large(const group_figures& figures) {
    return figures.mean_bytes() >= threshold::large_bytes;
}

ruling leave_large(const group_figures& figures) {
    return {verdict::leave,
            fmt::format(
                "at {} on average, using the bytes takes far longer than malloc does, and malloc reuses memory that is "
                "still in the cache",
                bytes_text(figures.bytes / figures.objects))};
}

bool comes_and_goes(const group_figures& figures) {
    return figures.churn() >= threshold::much_churn;
}

bool has_one_size(const group_figures& figures) {
    return figures.top_size_share() >= threshold::one_size;
}

bool is_youngest_first(const group_figures& figures) {
    return comes_and_goes(figures) && figures.lifo_share() >= threshold::lifo && figures.never_freed == 0;
}

bool fits_the_stack(const group_figures& figures, std::uint32_t escape_depth) {
    return escape_depth == 0 && comes_and_goes(figures) && figures.never_freed == 0 &&
           figures.largest <= threshold::stack_bytes && figures.thread_life <= threshold::stack_life &&
           figures.solo_share() >= threshold::solo;
}

/// Objects that die in about the order of their allocation.
bool is_orderly(const group_figures& figures) {
    return static_cast<double>(figures.group_life) <=
           threshold::orderly_life * static_cast<double>(figures.largest_thread_peak);
}

ruling leave_without_pattern(const group_figures& figures) {
    return {verdict::leave,
            fmt::format("{} for each of the {} live at the peak is too little reuse for a pool, and an arena "
                        "would take {:.1f} times the memory that malloc takes at the peak",
                        plural_of_mean(figures.churn(), "allocation", "allocations"), count_text(figures.peak_objects),
                        figures.growth())};
}

ruling rule_for_freed_elsewhere(const group_figures& figures) {
    return {has_one_size(figures) ? verdict::concurrent_object_pool : verdict::concurrent_multi_pool, {}};
}

}  // namespace

bool has_no_pattern(const group_figures& figures) {
    return !is_large(figures) && figures.never_freed_share() <= threshold::immortal &&
           figures.elsewhere_share() <= threshold::few_elsewhere && figures.churn() < threshold::some_churn &&
           figures.growth() > threshold::phase_growth;
}

ruling rule_for_site(const group_figures& figures, std::uint32_t escape_depth) {
    if (is_large(figures)) return leave_large(figures);
    if (figures.never_freed_share() > threshold::immortal) return {verdict::monotonic_arena, {}};
    if (figures.elsewhere_share() > threshold::few_elsewhere) return rule_for_freed_elsewhere(figures);
    // A pool of one thread must never get an object back from another thread.
    const bool crosses_threads = figures.freed_elsewhere != 0;
    if (crosses_threads && comes_and_goes(figures)) return rule_for_freed_elsewhere(figures);
    if (!crosses_threads && fits_the_stack(figures, escape_depth)) return {verdict::stack_buffer, {}};
    const bool has_owner = escape_depth != no_owner;
    if (!crosses_threads && has_owner && is_youngest_first(figures)) return {verdict::scratch, {}};
    if (comes_and_goes(figures) && has_one_size(figures)) return {verdict::object_pool, {}};
    if (!comes_and_goes(figures) && figures.growth() <= threshold::phase_growth) return {verdict::phase_arena, {}};
    if (comes_and_goes(figures)) return {is_orderly(figures) ? verdict::multi_arena : verdict::multi_pool, {}};
    if (figures.churn() < threshold::some_churn) return leave_without_pattern(figures);
    if (crosses_threads) return rule_for_freed_elsewhere(figures);
    return {has_one_size(figures) ? verdict::object_pool : verdict::multi_pool, {}};
}

ruling rule_for_scope(const group_figures& figures, const generation_figures& generations, std::uint32_t escape_depth) {
    if (is_large(figures)) return leave_large(figures);
    if (fits_the_stack(figures, escape_depth)) return {verdict::stack_buffer, {}};
    if (figures.lifo_share() >= threshold::lifo) return {verdict::scratch, {}};
    const auto few = threshold::objects_a_generation * static_cast<double>(generations.count);
    if (static_cast<double>(generations.objects) >= few) return {verdict::arena, {}};
    return {};
}

ruling rule_for_buffers(const growth_figures& figures, bool may_be_kept) {
    const bool grows = figures.replaced >= figures.containers;
    const bool keeps = may_be_kept && figures.containers >= threshold::turns;
    const auto for_reserve = threshold::worth_of_moving * static_cast<double>(figures.replaced);
    if (keeps && (!grows || static_cast<double>(figures.buffers()) >= for_reserve)) return {verdict::keep_buffer, {}};
    return {grows ? verdict::reserve : verdict::leave, {}};
}

ruling rule_for_sample(const group_figures& figures) {
    if (is_large(figures)) return leave_large(figures);
    if (figures.never_freed_share() > threshold::immortal) return {verdict::monotonic_arena, {}};
    if (figures.elsewhere_share() > threshold::few_elsewhere) return rule_for_freed_elsewhere(figures);
    if (comes_and_goes(figures) && has_one_size(figures)) {
        return figures.freed_elsewhere != 0 ? rule_for_freed_elsewhere(figures) : ruling{verdict::object_pool, {}};
    }
    return {
        verdict::leave,
        "only a sample of the allocations was recorded, which cannot show whether an arena, a scratch, a stack buffer "
        "or a multi_arena fits; record without --sample"};
}

}  // namespace acre::tool
