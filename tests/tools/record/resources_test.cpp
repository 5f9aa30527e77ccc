// Requests to an acre::traced resource are in the trace like those to malloc; the calls by which the resource serves
// them are not.
#include "recording.hpp"

namespace acre::tool {
namespace {

struct resources : recording {
    void SetUp() override {
        if (!trace_) trace_.emplace(run({TRACED}));
        ASSERT_FALSE(trace_->events.empty());
    }
    static void TearDownTestSuite() { trace_.reset(); }

    static bool is_of_resource(const event& e) { return e.op == operation::allocate || e.op == operation::deallocate; }

    /// All events of a size, which are expected to be of a resource.
    static std::vector<event> events_of(std::uint64_t size, bool allocating) {
        std::vector<event> found;
        for (const event& each : trace_->events) {
            if (each.size != size || each.allocates != allocating) continue;
            EXPECT_EQ(each.op, allocating ? operation::allocate : operation::deallocate) << size;
            found.push_back(each);
        }
        return found;
    }

    static bool is_in(const event& e, const std::string& function) {
        for (const frame_info& frame : trace_->stack_of(e)) {
            for (const source_location& location : frame.locations) {
                if (location.function.find(function) != std::string::npos) return true;
            }
        }
        return false;
    }

    static void expect_pairs(std::uint64_t size, std::size_t count) {
        EXPECT_EQ(events_of(size, true).size(), count) << size;
        EXPECT_EQ(events_of(size, false).size(), count) << size;
    }

    inline static std::optional<loaded_trace> trace_;
};

TEST_F(resources, allocations_end_where_the_arena_is_reset) {
    expect_pairs(6001, 10);
    for (const event& each : events_of(6001, true)) EXPECT_TRUE(is_in(each, "fill("));
    std::uint64_t object = 0;
    for (const event& each : events_of(6001, false)) {
        EXPECT_TRUE(is_in(each, "empty("));
        EXPECT_GE(each.object, object) << "in the order of allocation";
        object = each.object;
    }
}

TEST_F(resources, rewinding_frees_the_objects_after_the_mark) {
    expect_pairs(6002, 3);
    expect_pairs(6003, 1);
    for (const event& each : events_of(6002, false)) EXPECT_TRUE(is_in(each, "go_back("));
    for (const event& each : events_of(6003, false)) EXPECT_FALSE(is_in(each, "go_back("));
}

TEST_F(resources, resizing_in_place_is_another_object) {
    expect_pairs(6004, 1);
    expect_pairs(6005, 1);
    EXPECT_EQ(events_of(6004, true).at(0).alignment_log2, 6u);
}

TEST_F(resources, constructors_are_the_programs) {
    struct {
        std::uint64_t size;
        std::uint64_t holder_size;
        std::size_t times;
    } const kinds[] = {{6100, 6064, 1}, {7100, 7064, 2}};
    for (const auto& [size, holder_size, times] : kinds) {
        EXPECT_EQ(trace_->allocations(size), times);
        EXPECT_EQ(trace_->frees(size), times);
        for (const event& each : trace_->events) {
            EXPECT_FALSE(each.size == size && is_of_resource(each));
        }
        expect_pairs(holder_size, times);
    }
}

TEST_F(resources, own_blocks_are_not_seen) {
    for (const event& each : trace_->events) {
        if (is_of_resource(each) || each.size == 6100 || each.size == 7100) continue;
        // The library's own table of all concurrent objects belongs to no resource.
        const bool of_a_block =
            is_in(each, "acre::") && !is_in(each, "in_threads<") && !is_in(each, "acre::detail::per_thread");
        EXPECT_FALSE(of_a_block) << each.size << " bytes";
    }
}

TEST_F(resources, move_with_their_live_objects) {
    for (const std::uint64_t size : {7001u, 7002u, 7003u}) expect_pairs(size, 1);
}

TEST_F(resources, may_lie_in_each_other) {
    expect_pairs(7201, 1);
    expect_pairs(72, 1);
    expect_pairs(73, 1);
}

TEST_F(resources, of_the_standard_library_are_traced_too) {
    expect_pairs(8001, 1);
    expect_pairs(8002, 1);
}

TEST_F(resources, of_several_threads_lose_nothing) {
    for (const std::uint64_t size : {901u, 902u, 903u, 904u}) expect_pairs(size, 1000);
}

TEST_F(resources, leave_nothing_behind) {
    std::size_t allocated = 0;
    std::size_t freed = 0;
    for (const event& each : trace_->events) {
        if (is_of_resource(each)) ++(each.allocates ? allocated : freed);
    }
    EXPECT_EQ(allocated, freed);
    EXPECT_EQ(trace_->header.unmatched_frees, 0u);
    EXPECT_FALSE(trace_->has_note("were not seen"));
}

}  // namespace
}  // namespace acre::tool
