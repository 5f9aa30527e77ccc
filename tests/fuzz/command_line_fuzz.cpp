// Words of a command line, one a line: each command line is either refused with one sentence or means something. The
// subcommands that only read are also carried out, in an empty folder: they check the rest of their options and then
// find no trace. No program is run and no file is written.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "commands/whole_command.hpp"
#include "fuzz/sentences.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/error.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace acre::tool;

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        // A word of a command line has no zero byte.
        lines.emplace_back(text.substr(0, std::min(end, text.find('\0'))));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// A command line that is not carried out.
class declared_command {
public:
    declared_command() {
        context_.host = []() -> replay_host& { std::abort(); };
    }

    whole_command& operator*() { return command_; }
    whole_command* operator->() { return &command_; }

private:
    command_context context_;
    whole_command command_{context_};
};

/// Whether carrying it out could do more than to read.
bool does_something(const std::vector<std::string>& words) {
    constexpr std::string_view doing[] = {"record", "finish", "try", "run", "plan", "man", "complete"};
    return std::find_first_of(words.begin(), words.end(), std::begin(doing), std::end(doing)) != words.end();
}

/// An empty folder to work in, and nowhere to print to.
void retire() {
    static const acre::test::temporary_directory folder;
    std::filesystem::current_path(folder.path());
    if (std::freopen("/dev/null", "w", stdout) == nullptr) std::abort();
}

// What the completion offers, and values that options take.
std::vector<std::string> known_words() {
    std::vector<std::string> known{"64K",        "16..256",
                                   "-1",         "nan",
                                   "1e400",      "99999999999999999999",
                                   "",           "-",
                                   "--",         "a.acre",
                                   "all",        "=",
                                   "RTMIN+3",    "b.csv",
                                   "4..",        "0",
                                   "none",       "x/",
                                   "arena,",     "1.5",
                                   "orc.cpp:42", "multi_arena:count=64,bytes=16K"};
    declared_command command;
    const auto offered = [&](const std::vector<std::string>& words) {
        std::vector<std::string> offers = lines_of(completion_text(command->line(), words));
        offers.erase(offers.begin());
        for (std::string& each : offers) each.resize(std::min(each.find('\t'), each.size()));
        return offers;
    };
    for (const std::string& name : offered({""})) {
        known.push_back(name);
        for (const std::string& option : offered({name, "-"})) {
            known.push_back(option);
            for (const std::string& value : offered({name, option, ""})) known.push_back(value);
        }
    }
    std::ranges::sort(known);
    known.erase(std::unique(known.begin(), known.end()), known.end());
    return known;
}

std::string changed(std::vector<std::string> words, std::minstd_rand& random) {
    static const std::vector<std::string> known = known_words();
    const std::string& word = known[random() % known.size()];
    const auto any = [&] { return words.begin() + static_cast<std::ptrdiff_t>(random() % words.size()); };
    if (words.empty() || random() % 2 == 0) {
        words.insert(words.empty() ? words.end() : any() + 1, word);
    } else {
        std::string& old = *any();
        switch (random() % 4) {
            case 0:
                old = word;
                break;
            case 1:
                old += "=" + word;
                break;
            case 2:
                old += "," + word;
                break;
            default:
                words.erase(any());
                break;
        }
    }
    std::string text;
    for (const std::string& each : words) text += each + "\n";
    return text;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    std::minstd_rand random{seed};
    if (random() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
    std::string text{reinterpret_cast<const char*>(data), size};
    for (std::size_t changes = 1 + random() % 4; changes > 0; --changes) text = changed(lines_of(text), random);
    size = std::min(text.size(), max_size);
    std::memcpy(data, text.data(), size);
    return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    static const bool retired = (retire(), true);
    (void)retired;
    const std::vector<std::string> words = lines_of({reinterpret_cast<const char*>(data), bytes});
    declared_command command;
    acre_test::check_text(completion_text(command->line(), words));
    try {
        const auto action = command->action_of(words);
        acre_test::check(action != nullptr);
        if (!does_something(words)) action();
    } catch (const usage_error& error) {
        acre_test::check_message(command->sentence_about(error.what()));
    } catch (const tool_error& error) {
        acre_test::check_message(error.what());
    }
    return 0;
}
