#include "change_places.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "joined_sets.hpp"
#include "own_call.hpp"
#include "text/text.hpp"
#include "thresholds.hpp"

namespace acre::tool {

const char* name_of(place_kind kind) {
    constexpr std::array names{"site", "container", "class", "hook", "library", "several"};
    return names[static_cast<std::size_t>(kind)];
}

/// Finds the places of all contexts.
class change_places::finder {
public:
    finder(const history& run, const call_paths& paths, change_places& into)
        : run_{run}, paths_{paths}, into_{into}, details_(paths.functions().size()), classes_{classes_in(paths)} {
        find_hooks();
        find_coroutine_frames();
    }

    void find() {
        const std::size_t contexts = run_.contexts().size();
        into_.number_of_context_.resize(contexts);
        into_.unit_of_context_.resize(contexts);
        std::map<std::tuple<place_kind, std::string, std::string, std::uint32_t>, std::uint32_t> numbers;
        std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> units;
        std::set<std::uint32_t> members;
        for (std::uint32_t context = 0; context < contexts; ++context) {
            change_place place = place_of(context);
            const bool by_new = place.by_new;
            const bool by_make_unique = place.by_make_unique;
            const bool by_own_new = place.by_own_new;
            const bool is_site = place.kind == place_kind::site;
            const bool is_container = place.kind == place_kind::container;
            const bool is_library = place.kind == place_kind::library && place.library->code.empty();
            const std::uint32_t own_node = paths_.own_code(run_.contexts()[context].node);
            const std::uint32_t own = paths_.nodes()[own_node].function;
            const bool is_member = is_container && !place.within.empty() && is_constructor(own, place.within);
            // A container of a function is one for each function that has one; a site is one for each line.
            const std::uint32_t part = is_site                          ? run_.contexts()[context].site
                                       : place.kind == place_kind::hook ? hook_set_[context]
                                       : is_library || (is_container && place.within.empty()) ? own
                                                                                              : 0;
            const auto unit = is_container ? std::pair{own_node, place.name} : std::pair{context, std::string{"-"}};
            const auto [unit_entry, new_unit] =
                units.try_emplace(unit, static_cast<std::uint32_t>(into_.units_.size()));
            if (new_unit) into_.units_.emplace_back();
            into_.unit_of_context_[context] = unit_entry->second;
            into_.units_[unit_entry->second].push_back(context);
            const auto [entry, is_new] = numbers.try_emplace({place.kind, place.name, place.within, part},
                                                             static_cast<std::uint32_t>(into_.places_.size()));
            if (is_new) into_.places_.push_back(std::move(place));
            into_.number_of_context_[context] = entry->second;
            change_place& known = into_.places_[entry->second];
            if (known.kind == place_kind::hook)
                known.all_by_new = run_.contexts()[context].by_new && (is_new || known.all_by_new);
            if (is_member) members.insert(entry->second);
            known.by_new |= by_new;
            known.by_make_unique |= by_make_unique;
            known.by_own_new |= by_own_new;
        }
        join_members(members);
    }

private:
    /// What a function's name tells, read once.
    struct name_details {
        bool is_read = false;
        std::optional<named_container> container;
        std::string type;
        bool is_unique = false;    // the type is one that std::make_unique makes
        bool has_own_new = false;  // the function is an operator new of the type
        std::string shared;
        const library_memory* library = nullptr;

        change_place place() const {
            return {.kind = place_kind::type,
                    .name = type,
                    .by_new = !is_unique,
                    .by_make_unique = is_unique,
                    .by_own_new = has_own_new};
        }
    };

    /// Whether a function constructs an object of a class.
    bool is_constructor(std::uint32_t function, const std::string& of) const {
        return function_in(paths_.functions()[function].name) == without_arguments(last_part(of));
    }

    /// A container that allocates in its class's constructor is a member: one unit, whichever functions let it grow.
    void join_members(const std::set<std::uint32_t>& members) {
        for (const std::uint32_t place : members) {
            const auto unit = static_cast<std::uint32_t>(into_.units_.size());
            into_.units_.emplace_back();
            for (std::uint32_t i = 0; i < into_.number_of_context_.size(); ++i) {
                if (into_.number_of_context_[i] != place) continue;
                into_.unit_of_context_[i] = unit;
                into_.units_[unit].push_back(i);
            }
        }
    }

    const name_details& details(std::uint32_t function) {
        name_details& each = details_[function];
        if (!each.is_read) {
            each.is_read = true;
            const std::string& name = paths_.functions()[function].name;
            if (name.find("std::") != std::string::npos) each.container = container_in(name);
            each.type = written(type_made_in(name));
            each.is_unique = !each.type.empty() && is_make_unique(name);
            each.has_own_new = !each.type.empty() && !class_in(name).empty() && function_in(name) == "operator new";
            each.shared = written(type_shared_in(name));
            each.library = library_memory_of(name);
        }
        return each;
    }

    std::uint32_t function_at(std::uint32_t node) const { return paths_.nodes()[node].function; }
    std::uint32_t parent_of(std::uint32_t node) const { return paths_.nodes()[node].parent; }

    /// The innermost node of the program's own code, also if it only passes memory on.
    std::uint32_t innermost_own(std::uint32_t node) const {
        while (node != 0 && !is_own(paths_.functions()[function_at(node)])) node = parent_of(node);
        return node;
    }

    /// A function is a hook if everything that it allocates for three or more others has to be changed at once: it
    /// frees as well, as lua_Alloc does, or its callers' objects are freed by the same call. What a container in it
    /// allocates, which may be its result, is changed at the container.
    void find_hooks() {
        const std::size_t contexts = run_.contexts().size();
        through_.resize(contexts);
        hook_set_.resize(contexts);
        is_of_container_.resize(contexts);
        std::map<std::uint32_t, std::set<std::uint32_t>> callers;
        owners_.insert(0);
        for (std::uint32_t i = 0; i < contexts; ++i) {
            const allocation_context& context = run_.contexts()[i];
            const std::uint32_t node = innermost_own(context.node);
            const std::uint32_t function = through_[i] = function_at(node);
            is_of_container_[i] = library_place_of(context.node).kind == place_kind::container;
            if (!is_of_container_[i]) callers[function].insert(function_at(paths_.own_code(parent_of(node))));
            if (context.any_freed && context.owner != 0) owners_.insert(function_at(context.owner));
        }
        find_freeing_functions();
        hooks_.resize(paths_.functions().size());
        is_wrapper_.resize(paths_.functions().size());
        for (const auto& [function, calling] : callers) {
            if (owners_.contains(function)) continue;
            is_wrapper_[function] = calling.size() > 1;
            hooks_[function] = frees_[function] && calling.size() >= threshold::many_callers;
        }
        join_what_is_freed_together();
        join_hooks();
    }

    /// The functions that free for others: a call of one of these does not tell whose object it frees.
    void find_freeing_functions() {
        frees_.resize(paths_.functions().size());
        is_freeing_wrapper_.resize(paths_.functions().size());
        std::map<std::uint32_t, std::set<std::uint32_t>> callers;
        for (const auto& [context, stack, objects] : run_.freeings()) {
            const std::uint32_t node = innermost_own(paths_.free_node(stack));
            frees_[function_at(node)] = true;
            callers[function_at(node)].insert(function_at(paths_.own_code(parent_of(node))));
        }
        for (const auto& [function, calling] : callers) {
            is_freeing_wrapper_[function] = calling.size() >= threshold::many_callers && !owners_.contains(function);
        }
    }

    /// The call that frees with this stack, behind functions that free for others: its frame and function. 0 in a
    /// function that owns lifetimes: it knows what it frees.
    std::uint64_t freeing_call(std::uint32_t stack) const {
        for (; stack != no_stack; stack = paths_.caller_of(stack)) {
            const std::uint32_t frame = paths_.frame_of(stack);
            for (const std::uint32_t function : paths_.functions_at(frame)) {
                if (!is_own(paths_.functions()[function]) || is_freeing_wrapper_[function]) continue;
                return owners_.contains(function) ? 0 : std::uint64_t{frame} << 32 | function;
            }
        }
        return 0;
    }

    /// Of a wrapper of malloc: contexts of which a call frees objects of both.
    void join_what_is_freed_together() {
        joined_sets sets{run_.contexts().size()};
        std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> first;  // by wrapper and freeing call
        for (const auto& [context, stack, objects] : run_.freeings()) {
            const std::uint32_t through = through_[context];
            const std::uint64_t call = is_through_wrapper(context) ? freeing_call(stack) : 0;
            if (call == 0) continue;
            const auto [entry, added] = first.try_emplace({through, call}, context);
            if (!added) sets.join(entry->second, context);
        }
        std::map<std::uint32_t, std::set<std::uint32_t>> callers_of_set;
        for (std::uint32_t i = 0; i < run_.contexts().size(); ++i) {
            hook_set_[i] = sets.of(i);
            if (is_through_wrapper(i)) callers_of_set[hook_set_[i]].insert(caller_of_wrapper(i));
        }
        is_joined_.resize(run_.contexts().size());
        for (std::uint32_t i = 0; i < run_.contexts().size(); ++i) {
            is_joined_[i] = is_through_wrapper(i) && callers_of_set[hook_set_[i]].size() > 1;
        }
    }

    bool is_through_wrapper(std::uint32_t context) const {
        return is_wrapper_[through_[context]] && !is_of_container_[context];
    }
    bool is_through_hook(std::uint32_t context) const {
        return hooks_[through_[context]] && !is_of_container_[context];
    }
    bool is_behind_hook(std::uint32_t context) const { return is_through_hook(context) || is_joined_[context]; }

    /// Hooks whose objects one function frees for others are one: it cannot tell them apart.
    void join_hooks() {
        joined_sets sets{run_.contexts().size()};
        std::map<std::uint32_t, std::uint32_t> by_hook;
        std::map<std::uint32_t, std::uint32_t> by_freeing;
        const auto join = [&](std::map<std::uint32_t, std::uint32_t>& first, std::uint32_t of, std::uint32_t context) {
            const auto [entry, added] = first.try_emplace(of, context);
            if (!added) sets.join(entry->second, context);
        };
        for (std::uint32_t i = 0; i < run_.contexts().size(); ++i) {
            if (is_through_hook(i)) join(by_hook, through_[i], i);
            if (is_behind_hook(i)) sets.join(hook_set_[i], i);
        }
        for (const auto& [context, stack, objects] : run_.freeings()) {
            const std::uint32_t function = function_at(innermost_own(paths_.free_node(stack)));
            if (is_behind_hook(context) && is_freeing_wrapper_[function]) join(by_freeing, function, context);
        }
        std::map<std::uint32_t, std::map<std::uint32_t, std::uint64_t>> objects;  // by set and function
        for (std::uint32_t i = 0; i < run_.contexts().size(); ++i) {
            if (!is_behind_hook(i)) continue;
            hook_set_[i] = sets.of(i);
            objects[hook_set_[i]][through_[i]] += run_.contexts()[i].objects;
        }
        for (const auto& [set, functions] : objects) hook_of_set_.emplace(set, hook_of(functions));
    }

    change_place hook_of(const std::map<std::uint32_t, std::uint64_t>& functions) const {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted;
        sorted.reserve(functions.size());
        for (const auto& [function, objects] : functions) sorted.emplace_back(objects, function);
        std::ranges::sort(sorted, [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        });
        const auto name_of_function = [&](std::size_t i) { return paths_.functions()[sorted[i].second].short_name; };
        std::string name = name_of_function(0);
        if (sorted.size() > 1) {
            name += " and " +
                    (sorted.size() == 2 ? name_of_function(1) : count_text(sorted.size() - 1) + " more functions");
        }
        return {.kind = place_kind::hook, .name = name, .function = sorted[0].second};
    }

    std::uint32_t caller_of_wrapper(std::uint32_t context) const {
        return function_at(paths_.own_code(parent_of(innermost_own(run_.contexts()[context].node))));
    }

    change_place place_of(std::uint32_t context) {
        const std::uint32_t through = through_[context];
        if (const library_memory* own = memory_of_library(run_.contexts()[context].node); own != nullptr) {
            return {.kind = place_kind::library, .name = std::string{own->name}, .library = own};
        }
        if (is_behind_hook(context)) return hook_of_set_.at(hook_set_[context]);
        if (const name_details& made = details(through); !made.type.empty() && through != 0) return made.place();
        change_place place = library_place_of(run_.contexts()[context].node);
        if (place.kind == place_kind::site) place.by_new = run_.contexts()[context].by_new;
        const bool is_untyped = place.kind == place_kind::site && place.by_new && place.shared.empty();
        if (is_untyped && frees_of_frames_[context] == freed_as::frame) {
            const std::string name{coroutine_frame};
            return {.kind = place_kind::type, .name = name + paths_.functions()[through].short_name, .by_new = true};
        }
        return place;
    }

    bool is_of_coroutine_handle(std::uint32_t function) const {
        const std::string& name = paths_.functions()[function].name;
        return name.starts_with("std::") && name.find("coroutine_handle<") != std::string::npos;
    }

    /// Whether a free with this stack is that of a coroutine's frame: std::coroutine_handle called the coroutine, which
    /// often ends with a jump to free.
    bool frees_frame(std::uint32_t context, std::uint32_t stack) const {
        const std::string& coroutine = paths_.functions()[through_[context]].short_name;
        bool is_in_coroutine = false;
        for (; stack != no_stack; stack = paths_.caller_of(stack)) {
            for (const std::uint32_t function : paths_.functions_at(paths_.frame_of(stack))) {
                const function_info& of = paths_.functions()[function];
                if (is_of_coroutine_handle(function)) return is_in_coroutine || function_in(of.name) == "destroy";
                if (!is_own(of)) continue;
                if (of.name.ends_with("[clone .destroy]")) return of.short_name == coroutine;
                if (is_in_coroutine || of.short_name != coroutine) return false;
                is_in_coroutine = true;
            }
        }
        return false;
    }

    /// Whether the innermost function of the program is called by another, and not resumed by a std::coroutine_handle.
    bool is_called_by_program(std::uint32_t stack) const {
        bool is_in_own = false;
        for (; stack != no_stack; stack = paths_.caller_of(stack)) {
            for (const std::uint32_t function : paths_.functions_at(paths_.frame_of(stack))) {
                if (is_in_own) return !is_of_coroutine_handle(function);
                is_in_own = is_own(paths_.functions()[function]);
            }
        }
        return false;
    }

    void find_coroutine_frames() {
        frees_of_frames_.resize(run_.contexts().size(), freed_as::unknown);
        for (const auto& [context, stack, objects] : run_.freeings()) {
            freed_as& known = frees_of_frames_[context];
            const bool is_frame = is_called_by_program(run_.contexts()[context].stack) && frees_frame(context, stack);
            known = is_frame && known != freed_as::other ? freed_as::frame : freed_as::other;
        }
    }

    /// What the libraries between the program's code and the allocation allocate for themselves: the outermost that
    /// has its contents, too, or the innermost, unless it is a container that it contains. Null: nothing.
    const library_memory* memory_of_library(std::uint32_t node) {
        const library_memory* found = nullptr;
        bool is_in_container = false;
        for (; node != 0 && !is_own(paths_.functions()[function_at(node)]); node = parent_of(node)) {
            const name_details& each = details(function_at(node));
            is_in_container = is_in_container || each.container || !each.shared.empty();
            const library_memory* of = each.library;
            if (of != nullptr && (of->with_contents || (found == nullptr && !is_in_container))) found = of;
        }
        return found;
    }

    /// A place by the functions of the standard library between the program's code and the allocation: the innermost
    /// container, by the outermost of its names, or the type that is made. A new expression in std::make_unique is the
    /// latter's.
    change_place library_place_of(std::uint32_t node) {
        std::optional<named_container> found;
        std::string shared;
        const name_details* made = nullptr;
        for (; node != 0 && !is_own(paths_.functions()[function_at(node)]); node = parent_of(node)) {
            const name_details& each = details(function_at(node));
            const bool is_outer_name = made != nullptr && each.is_unique && each.type == made->type;
            if (!each.type.empty() && !found && (made == nullptr || is_outer_name)) made = &each;
            if (made != nullptr) continue;
            if (shared.empty()) shared = each.shared;
            if (!each.container) continue;
            if (found && found->family != each.container->family) break;
            found = each.container;
        }
        if (made != nullptr) return made->place();
        if (!found) return {.shared = shared};
        node = paths_.own_code(node);
        const std::string of{class_in(paths_.functions()[function_at(node)].name)};
        return {.kind = place_kind::container, .name = found->name, .within = classes_.contains(of) ? of : ""};
    }

    const history& run_;
    const call_paths& paths_;
    change_places& into_;
    std::vector<name_details> details_;
    std::set<std::string, std::less<>> classes_;
    std::vector<std::uint32_t> through_;  // by context: the innermost function of the program
    std::set<std::uint32_t> owners_;      // functions that own lifetimes
    std::vector<bool> frees_;             // by function
    std::vector<bool> is_wrapper_;        // by function: allocates for several others
    std::vector<bool> is_freeing_wrapper_;
    std::vector<bool> hooks_;            // by function
    std::vector<bool> is_of_container_;  // by context
    std::vector<bool> is_joined_;        // by context
    std::vector<std::uint32_t> hook_set_;
    std::map<std::uint32_t, change_place> hook_of_set_;
    enum class freed_as : std::uint8_t { unknown, frame, other };
    std::vector<freed_as> frees_of_frames_;  // by context
};

bool has_hook_of_acre(const change_place& place) {
    return place.library != nullptr && !place.library->code.empty();
}

change_places::change_places(const history& run, const call_paths& paths) {
    finder{run, paths, *this}.find();
}

}  // namespace acre::tool
