// A synthetic server with any number of events: requests of many kinds in several threads, a cache, messages between
// threads, growing texts, permanent names. The events are the same every time; few are in memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "trace/model.hpp"
#include "trace/writer.hpp"

namespace acre::test {

using namespace acre::tool;

class large_trace {
public:
    explicit large_trace(std::uint64_t events) : wanted_{events} {
        header.command = {"large", "for a test"};
        header.date = "2026-01-02T03:04:05Z";
        header.machine = "no machine";
        header.user_time = events / 5;  // 200 ns an event
        tables.modules.push_back({"/usr/bin/large", "0123abcd", 0});
        tables.call_tree.emplace_back();
        make_stacks();
    }

    void write(const std::filesystem::path& path) {
        trace_writer writer{path, header, tables};
        writer_ = &writer;
        while (events_ < wanted_) {
            // A thread goes on for a while before the next one has its turn.
            const std::uint32_t thread = below(std::min(started_ + 1, threads));
            for (std::uint32_t turns = 1 + below(20); turns > 0 && events_ < wanted_; --turns) step(thread);
        }
        writer.finish();
    }

    trace_header header;
    trace_tables tables;

private:
    static constexpr std::uint32_t threads = 8;
    static constexpr std::uint32_t kinds = 24;     // of requests
    static constexpr std::uint32_t stages = 12;    // of a request
    static constexpr std::uint32_t helpers = 8;    // that a stage calls
    static constexpr std::size_t cached = 20'000;  // objects, at most

    struct object {
        std::uint64_t number = 0;
        std::uint64_t size = 0;
    };
    struct request {
        std::uint32_t kind = 0;
        std::uint32_t left = 0;  // allocations until its end
        std::vector<object> objects;
        std::vector<object> buffers;  // freed youngest first
    };

    void make_stacks() {
        const std::uint32_t serve = child(child(0, "main"), "serve");
        keeps_ = child(child(serve, "remember"), "operator new(unsigned long)");
        sends_ = child(child(serve, "send"), "operator new(unsigned long)");
        receives_ = child(serve, "receive");
        caches_ = child(child(serve, "cache_insert"), "operator new(unsigned long)");
        evicts_ = child(child(serve, "cache_evict"), "operator delete(void*)");
        for (std::uint32_t kind = 0; kind < kinds; ++kind) {
            const std::uint32_t handle = child(serve, "handle_" + std::to_string(kind));
            ends_.push_back(child(handle, "operator delete(void*)"));
            for (std::uint32_t stage = 0; stage < stages; ++stage) {
                const std::uint32_t works = child(handle, "stage_" + std::to_string(stage));
                stage_ends_.push_back(child(works, "operator delete(void*)"));
                for (std::uint32_t helper = 0; helper < helpers; ++helper) {
                    const std::uint32_t helps = child(works, "helper_" + std::to_string(helper));
                    allocates_.push_back(child(helps, "operator new(unsigned long)"));
                }
            }
        }
    }

    /// A function calls others from one place, so it has one frame wherever it is called from.
    std::uint32_t child(std::uint32_t parent, const std::string& function) {
        const auto number = static_cast<std::uint32_t>(tables.frames.size());
        const auto [frame, added] = frames_.try_emplace(function, number);
        if (added) tables.frames.push_back({0, number * std::uint64_t{16}, {{function, "large.cpp", number + 1}}});
        tables.call_tree.push_back({parent, frame->second});
        return static_cast<std::uint32_t>(tables.call_tree.size() - 1);
    }

    /// The next thing that a thread does.
    void step(std::uint32_t thread) {
        request& now = requests_[thread];
        if (now.left == 0) return next_request(thread);
        --now.left;
        const std::uint32_t what = below(1000);
        if (what < 2) {
            allocate(thread, keeps_, 16 + 8 * below(8));
        } else if (what < 12) {
            inboxes_[below(std::max(started_, 1U))].push_back(allocate(thread, sends_, 96));
        } else if (what < 40) {
            insert_into_cache(thread);
        } else {
            work(thread, now);
        }
    }

    void work(std::uint32_t thread, request& now) {
        const std::uint32_t stage = below(stages);
        const std::uint32_t helper = below(helpers);
        const std::uint32_t stack = allocates_[(now.kind * stages + stage) * helpers + helper];
        const std::uint64_t size = helper < 3 ? 32 + 16 * helper : 8 + below(helper * 60);
        if (helper == 7) {
            // A text that grows.
            object text = allocate(thread, stack, 16, operation::malloc);
            for (std::uint32_t grown = below(4); grown > 0; --grown) {
                release(thread, stack, text, operation::realloc);
                text = allocate(thread, stack, text.size * 2, operation::realloc);
            }
            now.objects.push_back(text);
        } else if (helper == 6) {
            now.buffers.push_back(allocate(thread, stack, size));
            while (now.buffers.size() > 3) free_buffer(thread, now, stage);
        } else {
            now.objects.push_back(allocate(thread, stack, size));
        }
    }

    void free_buffer(std::uint32_t thread, request& now, std::uint32_t stage) {
        release(thread, stage_ends_[now.kind * stages + stage], now.buffers.back());
        now.buffers.pop_back();
    }

    void next_request(std::uint32_t thread) {
        request& now = requests_[thread];
        while (!now.buffers.empty()) free_buffer(thread, now, 0);
        for (const object& each : now.objects) release(thread, ends_[now.kind], each);
        now.objects.clear();
        for (; !inboxes_[thread].empty(); inboxes_[thread].pop_front()) {
            release(thread, receives_, inboxes_[thread].front());
        }
        now.kind = below(kinds);
        now.left = 5 + below(120);
    }

    void insert_into_cache(std::uint32_t thread) {
        cache_.push_back(allocate(thread, caches_, 24 + below(400)));
        if (cache_.size() <= cached) return;
        std::swap(cache_[below(static_cast<std::uint32_t>(cache_.size()))], cache_.back());
        release(thread, evicts_, cache_.back());
        cache_.pop_back();
    }

    object allocate(std::uint32_t thread, std::uint32_t stack, std::uint64_t size,
                    operation op = operation::new_single) {
        const object made{objects_++, size};
        add(thread, stack, made, op, true);
        return made;
    }

    void release(std::uint32_t thread, std::uint32_t stack, const object& gone,
                 operation op = operation::delete_single) {
        add(thread, stack, gone, op, false);
    }

    void add(std::uint32_t thread, std::uint32_t stack, const object& of, operation op, bool allocates) {
        time_ += 100 + 100 * below(6);
        writer_->add(event{.time = time_,
                           .object = of.number,
                           .size = of.size,
                           .thread = thread,
                           .stack = stack,
                           .alignment_log2 = 0,
                           .op = op,
                           .allocates = allocates});
        ++events_;
        started_ = std::max(started_, thread + 1);
    }

    std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

    std::uint64_t wanted_;
    trace_writer* writer_ = nullptr;
    std::mt19937_64 random_{1};
    std::map<std::string, std::uint32_t> frames_;  // by function
    std::uint32_t keeps_ = 0;
    std::uint32_t sends_ = 0;
    std::uint32_t receives_ = 0;
    std::uint32_t caches_ = 0;
    std::uint32_t evicts_ = 0;
    std::vector<std::uint32_t> ends_;        // by kind
    std::vector<std::uint32_t> stage_ends_;  // by kind and stage
    std::vector<std::uint32_t> allocates_;   // by kind, stage and helper
    std::array<request, threads> requests_;
    std::array<std::deque<object>, threads> inboxes_;
    std::vector<object> cache_;
    std::uint64_t events_ = 0;
    std::uint64_t objects_ = 0;
    std::uint64_t time_ = 0;
    std::uint32_t started_ = 0;  // threads
};

}  // namespace acre::test
