#include "run_picture.hpp"

#include <algorithm>

#include "bands.hpp"
#include "trace/live_table.hpp"

namespace acre::tool {

namespace {

class picture_maker {
public:
    picture_maker(const call_paths& paths, std::uint64_t peak_bytes, const history& run,
                  const std::vector<advice>& advices, const picture_limits& limits)
        : paths_{paths}, limits_{limits}, peak_bytes_{peak_bytes}, flames_{paths}, generations_{advices, run, paths} {}

    void add(const event& e) {
        end_ = std::max(end_, e.time);
        if (e.allocates) {
            allocate(e);
        } else {
            release(e);
        }
    }

    void add(const mark& m) {
        end_ = std::max(end_, m.time);
        scopes_.add(m);
    }

    run_picture finish(const trace_tables& tables) {
        live_.for_each([&](std::size_t, const live_object& object) {
            picture_.never_freed.add(object.size);
            flames_.lose(paths_.node(object.stack), object.size, end_ - object.time);
        });
        picture_.bucket_nanoseconds = timeline_.bucket_nanoseconds();
        picture_.buckets = timeline_.finish();
        picture_.flames = flames_.finish(limits_.min_flame_share, limits_.max_flames);
        picture_.scopes = scopes_.finish(end_, tables);
        picture_.pauses = scopes_.pauses();
        picture_.generations = generations_.finish();
        picture_.scopes.keep_longest(limits_.max_lanes);
        picture_.generations.keep_longest(limits_.max_lanes);
        return std::move(picture_);
    }

private:
    struct live_object {
        std::uint64_t size = 0;
        std::uint64_t time = 0;
        std::uint64_t bytes = 0;  // of the run, up to it
        std::uint32_t stack = no_stack;
        std::uint32_t thread = 0;
    };

    void allocate(const event& e) {
        bytes_ += e.size;
        allocations_ = e.object + 1;
        live_.insert(e.place, {e.size, e.time, bytes_, e.stack, e.thread});
        thread(e.thread).allocated.add(e.size);
        picture_.sizes.add(e.size, e.size);
        timeline_.allocate(e.time, e.size);
        flames_.allocate(paths_.node(e.stack), e.size);
        generations_.allocate(e);
        if (peak_noted_ || timeline_.live_bytes() != peak_bytes_) return;
        peak_noted_ = true;
        flames_.note_peak();
    }

    void release(const event& e) {
        live_object gone;
        if (!live_.take(e.place, gone)) return;
        const std::uint64_t lifetime = e.time > gone.time ? e.time - gone.time : 0;
        thread_figures& freeing = thread(e.thread);
        ++freeing.frees;
        if (e.thread != gone.thread) ++freeing.frees_of_others;
        picture_.life_times.add(lifetime, gone.size);
        picture_.life_allocations.add(allocations_ - (e.object + 1), gone.size);
        picture_.life_bytes.add(bytes_ - gone.bytes, gone.size);
        timeline_.release(e.time, gone.size);
        flames_.release(paths_.node(gone.stack), gone.size, lifetime);
        generations_.release(e, gone.stack, gone.thread);
    }

    thread_figures& thread(std::uint32_t number) {
        const auto kept = static_cast<std::uint32_t>(std::min<std::size_t>(number, limits_.max_threads - 1));
        while (picture_.threads.size() <= kept) {
            picture_.threads.push_back({.thread = static_cast<std::uint32_t>(picture_.threads.size())});
        }
        return picture_.threads[kept];
    }

    const call_paths& paths_;
    picture_limits limits_;
    std::uint64_t peak_bytes_;
    run_picture picture_;
    timeline timeline_;
    flame_graph flames_;
    generation_bands generations_;
    scope_bands scopes_;
    live_array<live_object> live_;
    std::uint64_t allocations_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t end_ = 0;
    bool peak_noted_ = false;
};

}  // namespace

run_picture draw_run(trace_reader& reader, const call_paths& paths, std::uint64_t peak_bytes, const history& run,
                     const std::vector<advice>& advices, const picture_limits& limits) {
    picture_maker maker{paths, peak_bytes, run, advices, limits};
    reader.for_each([&](const event& e) { maker.add(e); });
    reader.for_each_mark([&](const mark& m) { maker.add(m); });
    return maker.finish(reader.tables());
}

}  // namespace acre::tool
