#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "manual.hpp"
#include "trace/replacing_file.hpp"

namespace acre::tool {

namespace {

struct man_options {
    std::string page;
    std::string folder;
};

void write_page(const std::filesystem::path& folder, const CLI::App& page_of, const option_values& values) {
    const std::string page = manual_page(page_of, values);
    replacing_file file{folder / (manual_name(page_of) + ".1")};
    file.write({reinterpret_cast<const std::uint8_t*>(page.data()), page.size()});
    file.finish();
}

int run_man(const man_options& options, const CLI::App& app, const option_values& values) {
    if (options.folder.empty()) {
        print(manual_page(options.page.empty() ? app : *app.get_subcommand(options.page), values));
        return status_success;
    }
    std::error_code failed;
    std::filesystem::create_directories(options.folder, failed);
    if (failed) throw tool_error{"cannot make the folder '" + options.folder + "': " + failed.message()};
    write_page(options.folder, app, values);
    for (const CLI::App* each : shown_subcommands(app)) write_page(options.folder, *each, values);
    return status_success;
}

}  // namespace

void add_man_command(CLI::App& app, command_context& context, command_action& action) {
    auto options = std::make_shared<man_options>();
    CLI::App* command = app.add_subcommand("man", "Prints the man page of acre or of a subcommand");
    std::vector<std::string> pages;
    for (const CLI::App* each : shown_subcommands(app)) pages.push_back(each->get_name());
    CLI::Option* page = context.values.one_of(
        command->add_option("SUBCOMMAND", options->page, "Whose page; without it that of acre"), pages);
    context.values.folder(command->add_option("--folder", options->folder, "Write all pages into this folder"))
        ->excludes(page);
    command->footer("Example:\n  acre man record | man -l -");
    command->callback([&, options] { action = [&, options] { return run_man(*options, app, context.values); }; });
}

}  // namespace acre::tool
