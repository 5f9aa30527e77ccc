// Plans: a JSON text is a plan that is written and read as the same one, or is refused in a sentence; and bytes in the
// form that the preloaded library reads are a sound table, or are not.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/sentences.hpp"
#include "plan/plan_table.hpp"
#include "plan/site_plan.hpp"
#include "trace/error.hpp"

namespace {

using namespace acre::tool;
using acre::preload::plan_table;

void read_text(const std::string& text) {
    const site_plan plan = plan_in(text, "a.plan");
    const std::string written = plan_text(plan);
    acre_test::check_text(written);
    acre_test::check(plan_text(plan_in(written, "a.plan")) == written);
}

/// Reads all that a sound table names.
void read_table(const std::uint8_t* data, std::size_t bytes) {
    std::vector<std::uint64_t> aligned((bytes + 7) / 8);
    if (bytes != 0) std::memcpy(aligned.data(), data, bytes);
    if (!plan_table::is_sound(aligned.data(), bytes)) return;
    const auto& table = *reinterpret_cast<const plan_table*>(aligned.data());
    std::uint64_t groups = 0;
    for (std::uint32_t i = 0; i < table.modules; ++i) {
        const plan_table::module_entry& each = table.first_module()[i];
        for (std::uint32_t site = 0; site < each.sites; ++site)
            groups = std::max<std::uint64_t>(groups, table.first_site()[each.first_site + site].group);
    }
    acre_test::check(groups <= plan_table::max_groups);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    read_table(data, bytes);
    try {
        read_text({reinterpret_cast<const char*>(data), bytes});
    } catch (const tool_error& error) {
        acre_test::check_message(error.what());
    }
    return 0;
}
