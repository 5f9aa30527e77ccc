#include "short_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "advice_code.hpp"
#include "first_steps.hpp"
#include "text/terminal.hpp"
#include "text/text.hpp"
#include "wording.hpp"

namespace acre::tool {

namespace {

constexpr std::size_t width = 110;
constexpr std::size_t most_code_lines = 18;
constexpr std::size_t most_rows = 8;
constexpr std::size_t most_notes = 2;

std::string about_percent(double share) {
    const double percent = 100 * share;
    return fmt::format("{:.{}f} %", percent, percent < 1.95 ? 1 : 0);
}

/// "storm.cpp:41", of the site with the most allocations.
std::string place_of(const advice& each, const call_paths& paths) {
    const site_info& site = paths.sites()[each.site];
    if (site.file.empty()) return paths.functions()[each.function].short_name;
    return fmt::format("{}:{}", std::filesystem::path{site.file}.filename().string(), site.line);
}

/// In the order in which they are worth it.
std::vector<std::size_t> recommended(const advice_list& list) {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < list.advices.size(); ++i) {
        if (list.advices[i].decision != verdict::leave) numbers.push_back(i);
    }
    // Equal ones stay in the order of the list. (Clang warns of what std::stable_sort of libstdc++ 12 calls.)
    std::ranges::sort(numbers, [&](std::size_t a, std::size_t b) {
        if (comes_before(list.advices[a], list.advices[b])) return true;
        return a < b && !comes_before(list.advices[b], list.advices[a]);
    });
    return numbers;
}

/// What the answer is made of. The answer keeps its limits by leaving out rows, then lines of code.
struct screen {
    std::string answer;
    const first_step* step = nullptr;   // that the answer tells
    std::optional<std::size_t> number;  // of the recommendation whose code is shown
    std::string place;
    std::vector<std::string> code;
    std::vector<std::vector<std::string>> rows;
    std::size_t left_out = 0;
    std::string end;

    std::string text() const {
        std::string all = styled(wrapped(answer, 0, width), style::bold);
        if (!place.empty()) all += "\n" + place + "\n";
        if (!code.empty()) all += "\n";
        for (const std::string& each : code) all += "    " + each + "\n";
        if (!rows.empty()) all += "\nOther recommendations:\n" + table_text(rows, {1, 2, 3});
        if (left_out != 0) all += fmt::format("and {} more\n", count_text(left_out));
        return all + "\n" + end;
    }

    bool fits() const {
        const std::string all = text();
        std::istringstream stream{all};
        std::string word;
        std::size_t words = 0;
        while (stream >> word) ++words;
        return words <= answer_words && std::ranges::count(all, '\n') <= static_cast<std::ptrdiff_t>(answer_lines);
    }

    bool shrink() {
        if (rows.size() > 1) {
            rows.pop_back();
            ++left_out;
            return true;
        }
        if (code.size() < 2) return false;
        code.resize(code.size() - 2);
        code.emplace_back("...");
        return true;
    }
};

// libstdc++ moves elements by memmove for std::allocator alone.
constexpr const char* vectors_copy =
    "A std::vector that grows without reserve() is slower there: reserve its size, or use acre::arena_vector.\n";

std::vector<std::string> lines_of(const std::string& code) {
    std::vector<std::string> lines;
    std::istringstream stream{code};
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    if (lines.size() > most_code_lines) {
        lines.resize(most_code_lines - 1);
        lines.emplace_back("...");
    }
    return lines;
}

void show_code_of(screen& shown, const advice_list& list, std::size_t number, const call_paths& paths) {
    const advice& each = list.advices[number];
    shown.number = number;
    // Of a scope the title names its function, and this is one that allocates.
    const std::string name = paths.functions()[paths.sites()[each.site].function].short_name;
    shown.place = place_of(each, paths);
    if (!name.empty() && name != shown.place) shown.place += "  in " + printable(name);
    const std::string code = code_of(each, paths);
    shown.code = lines_of(code);
    if (code.find("= std::vector<") != std::string::npos) shown.end = vectors_copy;
}

void show_step(screen& shown, const first_step& step, const advice_list& list, const call_paths& paths,
               const trace_header& header, const std::string& trace) {
    shown.step = &step;
    const std::string saving = saving_phrase(step.nanoseconds, step.cpu_nanoseconds);
    const std::string what =
        step.advice ? fmt::format("{} (recommendation {})", step.what, *step.advice + 1) : preload_text(step.what);
    shown.answer = fmt::format("{}: {}. It saves {}.", step.is_certain ? "Do first" : "Perhaps", what, saving);
    if (!step.advice) shown.answer += " The code does not change.";
    if (!step.is_certain || (step.is_of_replay && !list.runs))
        shown.answer += " Measure it: acre advise --run 40s " + trace;
    if (step.advice) return show_code_of(shown, list, *step.advice, paths);
    if (!step.before_command.empty()) shown.code = {step.before_command + " " + command_text(header)};
}

/// The first that is certain, else the first.
const first_step& most_certain(const std::vector<first_step>& steps) {
    const auto certain = std::ranges::find_if(steps, &first_step::is_certain);
    return certain == steps.end() ? steps.front() : *certain;
}

std::vector<std::string> row_of(const advice_list& list, std::size_t number, const call_paths& paths) {
    const advice& each = list.advices[number];
    const bool is_measured = each.saving.done || each.in_runs;
    return {count_text(number + 1), title_of(each, paths), place_of(each, paths),
            is_measured ? saving_phrase(each.expected_nanoseconds(), static_cast<double>(list.cpu_nanoseconds)) : ""};
}

void show_others(screen& shown, const first_steps& first, const advice_list& list, const call_paths& paths) {
    for (const std::size_t number : recommended(list)) {
        if (number == shown.number) continue;
        if (shown.rows.size() < most_rows) {
            shown.rows.push_back(row_of(list, number, paths));
        } else {
            ++shown.left_out;
        }
    }
    for (const first_step& each : first.steps) {
        if (each.advice || &each == shown.step) continue;
        shown.rows.insert(shown.rows.begin(),
                          {"-", preload_text(each.what), "", saving_phrase(each.nanoseconds, each.cpu_nanoseconds)});
    }
}

std::string end_text(const std::optional<std::size_t>& number, const advice_list& list, const call_paths& paths,
                     const trace_header& header, const std::string& trace) {
    std::string text;
    if (number) {
        const std::size_t conditions = cautions_of(list.advices[*number], paths).size();
        const std::string must_hold =
            conditions == 0 ? ""
                            : fmt::format(", and {} that must hold", plural(conditions, "condition", "conditions"));
        text = fmt::format("Why{}: acre advise --explain {} {}\n", must_hold, *number + 1, trace);
    } else {
        text = fmt::format("Why: acre advise --all {}\n", trace);
    }
    if (list.pinned && list.pinned->is_worth_it())
        text += "A few objects keep memory that the rest has freed: --all names their places.\n";
    std::size_t notes = header.notes.size() + list.notes.size() + list.unnamed.size();
    for (std::size_t i = 0; i < std::min(header.notes.size(), most_notes); ++i, --notes)
        text += wrapped("Note: " + header.notes[i], 0, width);
    if (notes != 0) text += plural(notes, "note", "notes") + " on the measurement: --all prints them.\n";
    return text;
}

}  // namespace

std::string saving_phrase(const interval& saved, double cpu_nanoseconds) {
    const auto amount = [&](double nanoseconds) {
        return cpu_nanoseconds > 0 ? about_percent(nanoseconds / cpu_nanoseconds) : time_text(nanoseconds);
    };
    if (saved.median <= 0) return "perhaps nothing";
    const std::string of = cpu_nanoseconds > 0 ? " of the CPU time" : " of CPU time";
    const std::string sure = saved.low > 0 ? "surely over " + amount(saved.low) : "perhaps nothing";
    return "about " + amount(saved.median) + of + ", " + sure;
}

std::string short_answer(const advice_list& list, const call_paths& paths, const trace_header& header,
                         const std::string& trace) {
    screen shown;
    const first_steps first = first_steps_of(list, paths);
    const std::vector<std::size_t> all = recommended(list);
    if (!first.steps.empty()) {
        show_step(shown, most_certain(first.steps), list, paths, header, trace);
    } else if (first.is_known) {
        shown.answer = first_steps_sentences(first).front();
    } else {
        shown.answer = all.empty()
                           ? "Leave the program as it is, by the lifetimes of its objects. Nothing was measured."
                           : "Nothing was measured. By the lifetimes of the objects:";
        if (!all.empty()) show_code_of(shown, list, all.front(), paths);
    }
    show_others(shown, first, list, paths);
    shown.end += end_text(shown.number, list, paths, header, trace);
    while (!shown.fits() && shown.shrink()) {
    }
    return shown.text();
}

}  // namespace acre::tool
