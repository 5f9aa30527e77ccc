#include "trace_summary.hpp"

#include <algorithm>
#include <bit>

#include "text/text.hpp"
#include "trace/live_table.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t key_of(std::uint32_t thread, std::uint32_t name) {
    return std::uint64_t{thread} << 32 | name;
}

/// Lifetime class n holds those below 10^n microseconds.
std::size_t lifetime_class(std::uint64_t nanoseconds) {
    std::size_t number = 0;
    for (std::uint64_t bound = 1000; nanoseconds >= bound && number + 1 < trace_summary::lifetime_classes;
         bound *= 10) {
        ++number;
    }
    return number;
}

/// Multiplies the counts of a sample by its period, without overflow.
class estimate {
public:
    explicit estimate(std::uint64_t factor) : factor_{factor} {}

    void operator()(std::uint64_t& value) const {
        if (__builtin_mul_overflow(value, factor_, &value)) value = ~std::uint64_t{0};
    }
    void operator()(tally& part) const {
        (*this)(part.count);
        (*this)(part.bytes);
    }
    void operator()(site_summary& site) const {
        (*this)(site.allocated);
        (*this)(site.never_freed);
        (*this)(site.peak_bytes);
        (*this)(site.lifetime);
    }
    void operator()(trace_summary& summary) const {
        for (std::uint64_t* value : {&summary.frees, &summary.reallocs, &summary.freed_by_other_thread,
                                     &summary.peak_bytes, &summary.peak_objects}) {
            (*this)(*value);
        }
        (*this)(summary.allocated);
        (*this)(summary.never_freed);
        for (tally& each : summary.sizes) (*this)(each);
        for (tally& each : summary.lifetimes) (*this)(each);
        for (site_summary& each : summary.sites) (*this)(each);
    }

private:
    std::uint64_t factor_;
};

class summariser {
public:
    explicit summariser(const call_paths& paths)
        : paths_{paths}, live_bytes_(paths.sites().size()), freed_(paths.sites().size()) {
        summary_.sites.resize(paths.sites().size());
        for (std::uint32_t i = 0; i < summary_.sites.size(); ++i) {
            summary_.sites[i].site = i;
            summary_.sites[i].stack = paths.sites()[i].stack;
        }
    }

    void add(const event& e) {
        ++summary_.events;
        summary_.threads = std::max<std::uint64_t>(summary_.threads, e.thread + std::uint64_t{1});
        if (e.allocates) {
            allocate(e);
        } else {
            release(e);
        }
    }

    trace_summary finish() {
        for (site_summary& each : summary_.sites) {
            const tally& freed = freed_[each.site];
            each.never_freed = {each.allocated.count - freed.count, each.allocated.bytes - freed.bytes};
            summary_.never_freed.add(each.never_freed);
        }
        std::erase_if(summary_.sites, [](const site_summary& site) { return site.allocated.count == 0; });
        std::sort(summary_.sites.begin(), summary_.sites.end(), [](const site_summary& a, const site_summary& b) {
            return a.allocated.bytes != b.allocated.bytes ? a.allocated.bytes > b.allocated.bytes : a.site < b.site;
        });
        return std::move(summary_);
    }

private:
    /// Its size is known from the free.
    struct live_object {
        std::uint64_t time = 0;
        std::uint32_t site = 0;
        std::uint32_t thread = 0;
    };

    void allocate(const event& e) {
        const std::uint32_t number = paths_.site(e.stack);
        site_summary& site = summary_.sites[number];
        live_.insert(e.place, {e.time, number, e.thread});
        if (e.op == operation::realloc) ++summary_.reallocs;
        summary_.allocated.add(e.size);
        summary_.sizes[static_cast<std::size_t>(std::bit_width(e.size))].add(e.size);
        site.allocated.add(e.size);
        site.smallest = std::min(site.smallest, e.size);
        site.largest = std::max(site.largest, e.size);
        live_bytes_[number] += e.size;
        site.peak_bytes = std::max(site.peak_bytes, live_bytes_[number]);
        all_live_bytes_ += e.size;
        summary_.peak_bytes = std::max(summary_.peak_bytes, all_live_bytes_);
        summary_.peak_objects = std::max<std::uint64_t>(summary_.peak_objects, live_.size());
    }

    void release(const event& e) {
        live_object gone;
        if (!live_.take(e.place, gone)) return;
        const std::uint64_t lifetime = e.time > gone.time ? e.time - gone.time : 0;
        ++summary_.frees;
        if (e.thread != gone.thread) ++summary_.freed_by_other_thread;
        summary_.lifetimes[lifetime_class(lifetime)].add(e.size);
        summary_.sites[gone.site].lifetime += lifetime;
        freed_[gone.site].add(e.size);
        live_bytes_[gone.site] -= e.size;
        all_live_bytes_ -= e.size;
    }

    const call_paths& paths_;
    trace_summary summary_;
    live_array<live_object> live_;
    std::vector<std::uint64_t> live_bytes_;  // by site
    std::vector<tally> freed_;               // by site
    std::uint64_t all_live_bytes_ = 0;
};

}  // namespace

scope_summariser::scope_summariser(const trace_tables& tables) : scopes_(tables.scope_names.size()) {
    for (std::uint32_t i = 0; i < scopes_.size(); ++i) {
        scopes_[i].name = printable(tables.scope_names[i]);
        scopes_[i].number = i;
    }
}

/// The innermost open run that includes an object of its thread; an ended run passes its objects on to the run around
/// it.
scope_summariser::run* scope_summariser::run_of(std::vector<run>& open, std::uint64_t object) {
    const auto behind = std::upper_bound(open.begin(), open.end(), object, [](std::uint64_t number, const run& each) {
        return number < each.first_object;
    });
    return behind == open.begin() ? nullptr : &*(behind - 1);
}

void scope_summariser::add(const event& e) {
    if (e.allocates) {
        objects_ = e.object + 1;
        const auto open = open_.find(e.thread);
        if (open == open_.end()) return;
        run& innermost = open->second.back();
        innermost.allocated.add(e.size);
        innermost.live.add(e.size);
        live_.insert(e.place, {e.size, e.thread});
        return;
    }
    live_object gone;
    if (!live_.take(e.place, gone)) return;
    const auto open = open_.find(gone.thread);
    if (open == open_.end()) return;
    if (run* of = run_of(open->second, e.object); of != nullptr) of->live.remove(gone.size);
}

void scope_summariser::add(const mark& m) {
    if (m.kind == mark_kind::scope_begin) begin(m);
    if (m.kind == mark_kind::scope_end) end(m.thread);
}

void scope_summariser::begin(const mark& m) {
    const std::uint64_t key = key_of(m.thread, m.name);
    scope_summary& scope = scopes_[m.name];
    ++scope.runs;
    if (threads_.insert(key).second) ++scope.threads;
    open_[m.thread].emplace_back(m.name, objects_, open_names_[key]++ == 0);
}

void scope_summariser::end(std::uint32_t thread) {
    const auto open = open_.find(thread);
    if (open == open_.end()) return;
    const run ended = open->second.back();
    open->second.pop_back();
    scope_summary& scope = scopes_[ended.name];
    scope.bytes.add(ended.allocated.bytes);
    if (ended.is_outermost) {
        scope.allocated.add(ended.allocated);
        scope.left.add(ended.live);
    }
    if (ended.live.count != 0) ++scope.runs_leaving;
    if (const auto name = open_names_.find(key_of(thread, ended.name)); --name->second == 0) open_names_.erase(name);
    if (open->second.empty()) {
        open_.erase(open);
    } else {
        open->second.back().allocated.add(ended.allocated);
        open->second.back().live.add(ended.live);
    }
}

std::vector<scope_summary> scope_summariser::finish() {
    while (!open_.empty()) end(open_.begin()->first);
    std::erase_if(scopes_, [](const scope_summary& scope) { return scope.runs == 0; });
    std::sort(scopes_.begin(), scopes_.end(), [](const scope_summary& a, const scope_summary& b) {
        return a.allocated.bytes != b.allocated.bytes ? a.allocated.bytes > b.allocated.bytes : a.number < b.number;
    });
    return std::move(scopes_);
}

trace_summary summarise(trace_reader& reader, const call_paths& paths, const std::function<void(const event&)>& also) {
    summariser result{paths};
    scope_summariser scopes{reader.tables()};
    reader.for_each(
        [&](const event& e) {
            result.add(e);
            scopes.add(e);
            if (also) also(e);
        },
        [&](const mark& m) { scopes.add(m); });
    trace_summary summary = result.finish();
    summary.scopes = scopes.finish();
    estimate{reader.header().sampling_period}(summary);
    return summary;
}

}  // namespace acre::tool
