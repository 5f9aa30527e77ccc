// What a part of the program asks for: its resource is counted, and what it forgot to free is listed.
#include <acre.h>
#include <stdio.h>

static void part_of_the_program(acre_resource* memory) {
    void* buffers[3];
    for (int i = 0; i < 3; ++i) buffers[i] = acre_resource_allocate(memory, 1000, 0);
    (void)acre_resource_allocate(memory, 24, 0);
    for (int i = 0; i < 3; ++i) acre_resource_free(memory, buffers[i], 1000, 0);
}

int main(void) {
    acre_multi_pool* pool = acre_multi_pool_create(NULL);
    acre_statistics* statistics =
        acre_statistics_create(acre_multi_pool_resource(pool), &(acre_statistics_options){.live_map = true});
    part_of_the_program(acre_statistics_resource(statistics));

    const acre_counts counts = acre_statistics_counts(statistics);
    printf("%u allocations, at most %u bytes at once\n", (unsigned)counts.allocations.total,
           (unsigned)counts.bytes.peak);
    acre_live_allocation live[8];
    const size_t forgotten = acre_statistics_live(statistics, live, 8);
    for (size_t i = 0; i < forgotten && i < 8; ++i) printf("never freed: %zu bytes\n", live[i].bytes);
    acre_statistics_destroy(statistics);
    acre_multi_pool_destroy(pool);
    return 0;
}
