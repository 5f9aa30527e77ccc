// Events that one thread reads and another visits.
#include "trace/event_relay.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace {

using acre::tool::event;
using acre::tool::event_relay;

/// Passes on events numbered from 0, and throws after them if `fails`.
event_relay::reading events(std::uint64_t count, bool fails = false) {
    return [=](const event_relay::visitor& visit) {
        for (std::uint64_t i = 0; i < count; ++i) visit(event{.object = i});
        if (fails) throw std::runtime_error{"of the reader"};
    };
}

TEST(event_relay, visits_all_events_in_order) {
    for (const std::uint64_t count : {0U, 1U, 4096U, 4097U, 100'000U}) {
        std::uint64_t next = 0;
        bool in_order = true;
        event_relay::run(events(count), [&](const event& e) { in_order = in_order && e.object == next++; });
        EXPECT_TRUE(in_order);
        EXPECT_EQ(next, count);
    }
}

TEST(event_relay, throws_what_the_reader_throws) {
    for (const std::uint64_t count : {0U, 10'000U}) {
        EXPECT_THROW(event_relay::run(events(count, true), [](const event&) {}), std::runtime_error);
    }
}

TEST(event_relay, ends_the_reader_when_the_visitor_throws) {
    const auto visit = [](const event& e) {
        if (e.object == 5000) throw std::logic_error{"of the visitor"};
    };
    EXPECT_THROW(event_relay::run(events(1'000'000'000), visit), std::logic_error);
}

}  // namespace
