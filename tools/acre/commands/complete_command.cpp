#include "command.hpp"
#include "completion.hpp"

namespace acre::tool {

void add_complete_command(CLI::App& app, command_context& context, command_action& action) {
    CLI::App* command = app.add_subcommand("complete", "Says to a shell what can be written next");
    command->group("");
    command->footer(
        "What stands after -- are the words behind 'acre', the last one as far as it is written; docs/command.md says\n"
        "how a shell is told to ask.\n\n"
        "Example:\n  acre complete -- record --sta");
    command->callback([&] {
        action = [&] {
            print(completion_text(app, context.values, context.rest));
            return status_success;
        };
    });
}

}  // namespace acre::tool
