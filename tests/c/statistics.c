// acre_statistics.
#include "check.h"

static void requests_are_counted(void) {
    acre_multi_pool* pool = acre_multi_pool_create(&(acre_pool_options){.limit_bytes = 1 << 20});
    acre_statistics* statistics = acre_statistics_create(acre_multi_pool_resource(pool), NULL);
    acre_resource* counted = acre_statistics_resource(statistics);
    void* small = acre_resource_allocate(counted, 100, 0);
    void* large = acre_resource_allocate(counted, 1000, 0);
    CHECK(acre_resource_owns(counted, small));
    CHECK(acre_resource_allocate(counted, 1 << 21, 0) == NULL);
    CHECK_ERROR(ACRE_LIMIT_EXCEEDED);
    acre_resource_free(counted, small, 100, 0);
    const acre_counts counts = acre_statistics_counts(statistics);
    CHECK(counts.allocations.value == 1 && counts.allocations.peak == 2 && counts.allocations.total == 2);
    CHECK(counts.bytes.value == 1000 && counts.bytes.peak == 1100 && counts.bytes.total == 1100);
    CHECK(counts.failures == 1 && counts.largest == 1000);
    acre_statistics_reset_counts(statistics);
    CHECK(acre_statistics_counts(statistics).bytes.peak == 1000);
    acre_resource_free(counted, large, 1000, 0);
    char text[400];
    const size_t length = acre_statistics_report(statistics, text, sizeof text);
    CHECK(length == strlen(text) && strstr(text, "0 live, peak 1") != NULL);
    char cut[8];
    CHECK(acre_statistics_report(statistics, cut, sizeof cut) == length && strlen(cut) == 7);
    CHECK(acre_statistics_report(statistics, NULL, 0) == length);
    acre_statistics_destroy(statistics);
    acre_multi_pool_destroy(pool);
}

static void live_allocations_are_listed(void) {
    for (int shared = 0; shared < 2; ++shared) {
        acre_statistics* statistics = acre_statistics_create(
            acre_heap(), &(acre_statistics_options){.for_threads = shared != 0, .live_map = true});
        acre_resource* counted = acre_statistics_resource(statistics);
        void* first = acre_resource_allocate(counted, 100, 0);
        void* second = acre_resource_allocate(counted, 200, 0);
        acre_live_allocation live[4];
        CHECK(acre_statistics_live(statistics, live, 4) == 2);
        CHECK(live[0].address == first && live[0].bytes == 100 && live[1].address == second && live[1].bytes == 200);
        CHECK(acre_statistics_live(statistics, NULL, 0) == 2);
        acre_resource_free(counted, first, 100, 0);
        acre_resource_free(counted, second, 200, 0);
        CHECK(acre_statistics_live(statistics, live, 4) == 0);
        acre_statistics_destroy(statistics);
    }
}

// What has the statistics as upstream is counted, too.
static void blocks_of_an_arena_are_counted(void) {
    acre_statistics* statistics = acre_statistics_create(acre_heap(), NULL);
    acre_arena* arena = acre_arena_create(&(acre_arena_options){.upstream = acre_statistics_resource(statistics)});
    CHECK(acre_arena_allocate(arena, 100, 0) != NULL);
    CHECK(acre_statistics_counts(statistics).allocations.value == 1);
    CHECK(acre_resource_usage(acre_statistics_resource(statistics)).used ==
          acre_resource_usage(acre_arena_resource(arena)).capacity);
    acre_arena_destroy(arena);
    CHECK(acre_statistics_counts(statistics).allocations.value == 0);
    acre_statistics_destroy(statistics);
}

void test_statistics(void) {
    requests_are_counted();
    live_allocations_are_listed();
    blocks_of_an_arena_are_counted();
}
