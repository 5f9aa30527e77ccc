#include "contest.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <string_view>
#include <tuple>

#include "cost_ratio.hpp"
#include "machine_memory.hpp"
#include "programs/temporary_directory.hpp"
#include "recorded_program.hpp"
#include "text/text.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

constexpr std::size_t rounds_to_lose = 3;
constexpr double worth_running = 0.98;  // a ratio of CPU times
constexpr double costs_much = 1.1;      // likewise: three slow rounds may be chance, where the cost is small
constexpr double slowest = 10;          // times the program as it is: slower ways are given up
constexpr double always_allowed = 10;   // seconds

/// An open file that is closed at the end.
class open_file {
public:
    open_file(const std::string& path, int flags) : descriptor_{::open(path.c_str(), flags | O_CLOEXEC, 0600)} {
        if (descriptor_ < 0) throw tool_error{"cannot open '" + path + "': " + reason_of(errno)};
    }
    ~open_file() { ::close(descriptor_); }
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;

    int descriptor() const noexcept { return descriptor_; }

    void empty() const {
        if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) < 0)
            throw tool_error{"cannot write to a temporary file: " + reason_of(errno)};
    }
    void rewind() const { ::lseek(descriptor_, 0, SEEK_SET); }

private:
    int descriptor_;
};

/// Throws tool_error unless each run can read the file from its beginning.
void check_input(const open_file& input, const std::string& name) {
    struct stat status{};
    const bool is_folder = ::fstat(input.descriptor(), &status) == 0 && S_ISDIR(status.st_mode);
    if (is_folder) throw tool_error{"'" + name + "' is a folder, not a file for --stdin"};
    if (::lseek(input.descriptor(), 0, SEEK_SET) < 0) {
        throw tool_error{"'" + name +
                         "' can be read only once, and each run reads standard input from its beginning: "
                         "write it to a file"};
    }
}

/// What a run left: FNV-1a over its output, and its length.
struct fingerprint {
    std::uint64_t bytes = 0;
    std::uint64_t hash = 14695981039346656037U;
    bool operator==(const fingerprint&) const = default;
};

fingerprint fingerprint_of(const open_file& output) {
    fingerprint found;
    std::array<unsigned char, 65536> part;
    output.rewind();
    ssize_t got = 0;
    while ((got = ::read(output.descriptor(), part.data(), part.size())) > 0) {
        found.bytes += static_cast<std::uint64_t>(got);
        for (ssize_t i = 0; i < got; ++i)
            found.hash = (found.hash ^ part[static_cast<std::size_t>(i)]) * std::uint64_t{1099511628211U};
    }
    if (got < 0) throw tool_error{"cannot read the output of the program again: " + reason_of(errno)};
    return found;
}

/// The last line that the program wrote to standard error, in quotes; empty if there is none.
std::string last_words(const open_file& errors, std::string_view whose = "its") {
    std::array<char, 2000> text{};
    const off_t end = ::lseek(errors.descriptor(), 0, SEEK_END);
    const off_t from = std::max<off_t>(end - static_cast<off_t>(text.size()), 0);
    const ssize_t got = ::pread(errors.descriptor(), text.data(), text.size(), from);
    std::string_view all{text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
    while (all.ends_with('\n')) all.remove_suffix(1);
    const std::string_view line = all.substr(all.rfind('\n') == std::string_view::npos ? 0 : all.rfind('\n') + 1);
    return line.empty() ? "" : fmt::format("; {} last line on standard error: '{}'", whose, printable(line));
}

/// Why a program cannot be compared with itself.
tool_error not_the_same_each_time(const contest_options& options, const std::string& difference) {
    const char* const remedy = options.has_result_options
                                   ? "--check COMMAND says what it must write, and --unchecked requires nothing"
                                   : "'acre try' can run it with --check COMMAND, or --unchecked";
    return tool_error{"the program as it is does not do the same each time: it " + difference + "; " + remedy};
}

std::string ending_of(const measured_run& run) {
    return run.ending_signal != 0 ? fmt::format("was ended by signal {}", run.ending_signal)
                                  : fmt::format("ended with status {}", run.exit_status);
}

/// The runs of one contest: where their streams go, and whether their results are the same.
class runner {
public:
    explicit runner(const contest_options& options)
        : options_{options},
          directory_{temporary_prefix(), "set TMPDIR to a folder with a shorter name"},
          // A pipe that nobody writes to would otherwise be waited for.
          input_{options.input.empty() ? "/dev/null" : options.input, O_RDONLY | O_NONBLOCK},
          output_{directory_.path() / "output", O_RDWR | O_CREAT},
          errors_{directory_.path() / "errors", O_RDWR | O_CREAT},
          compared_{options.required} {
        check_input(input_, options.input);
    }

    same_result compared() const noexcept { return compared_; }

    /// How many processes a run left at most, which were ended.
    std::uint32_t left_running() const noexcept { return left_running_; }

    /// How the program as it is ended first, with what it said of it; empty if it ended well.
    const std::string& failure_as_it_is() const noexcept { return failure_as_it_is_; }

    /// Runs the program as it is for the first time: what it leaves is what the others must leave.
    measured_run first_run() {
        const measured_run run = once(options_.ways[0], options_.longest_first_run);
        if (run.was_too_slow) {
            throw tool_error{fmt::format(
                "the program was ended after {}, since it took much less when it was recorded: start acre in the same "
                "folder, and give the program the same input, by --stdin",
                time_text(run.wall * 1e9))};
        }
        first_ = run;
        if (run.was_interrupted) return run;
        check_same_work(options_.recorded_cpu_nanoseconds, static_cast<std::uint64_t>(run.cpu() * 1e9));
        if (run.exit_status != 0) failure_as_it_is_ = ending_of(run) + last_words(errors_);
        if (compared_ == same_result::output_and_status) expected_ = fingerprint_of(output_);
        if (compared_ != same_result::checked) return run;
        if (const std::string refusal = refusal_by_check(run); !refusal.empty())
            throw tool_error{"the command of --check refuses what the program writes as it is (" + refusal + ")"};
        return run;
    }

    /// Runs the program in one way; `failure` gets a sentence if the result differs from the first one.
    measured_run run(const way& how, std::string& failure) {
        const measured_run run = once(how, limit_of(how));
        if (!run.was_interrupted) failure = difference(how, run);
        return run;
    }

private:
    static std::string temporary_prefix() {
        const char* folder = std::getenv("TMPDIR");
        return std::string{folder != nullptr && *folder != '\0' ? folder : "/var/tmp"} + "/acre-try-";
    }

    /// After which time a run is given up; 0: never. The program as it is takes as long as it takes: where the machine
    /// stood still meanwhile, the rounds before are not lost.
    double limit_of(const way& how) const {
        return how.variables.empty() ? 0 : std::max(first_.wall * slowest, always_allowed);
    }

    measured_run once(const way& how, double max_seconds) {
        input_.rewind();
        output_.empty();
        errors_.empty();
        touch_free_memory(most_memory_);
        const measured_run run = run_measured({.program = options_.program,
                                               .arguments = options_.arguments,
                                               .variables = how.variables,
                                               .input = input_.descriptor(),
                                               .output = output_.descriptor(),
                                               .errors = errors_.descriptor(),
                                               .max_seconds = max_seconds,
                                               .huge_pages = how.huge_pages});
        check_room();
        left_running_ = std::max(left_running_, run.left_running);
        most_memory_ = std::max(most_memory_, run.peak_bytes);
        return run;
    }

    /// Throws tool_error if the program may have ended for lack of room for what it writes: it would end otherwise
    /// without acre.
    void check_room() const {
        struct statvfs system{};
        if (::fstatvfs(output_.descriptor(), &system) != 0 || system.f_blocks == 0) return;
        if ((::geteuid() == 0 ? system.f_bfree : system.f_bavail) != 0) return;
        throw tool_error{"'" + directory_.path().parent_path().string() +
                         "' has no room left for what the program writes: set TMPDIR to a folder with more"};
    }

    /// How the result differs from what is required; empty if it does not.
    std::string difference(const way& how, const measured_run& run) {
        if (run.was_too_slow) return fmt::format("was given up after {}", time_text(run.wall * 1e9));
        if (compared_ == same_result::unchecked) return {};
        if (compared_ == same_result::checked) {
            const std::string refusal = refusal_by_check(run);
            return refusal.empty() ? "" : "wrote what the command of --check refuses (" + refusal + ")";
        }
        if (run.exit_status != first_.exit_status) {
            const std::string difference = fmt::format("{}, and as it is the program {}{}", ending_of(run),
                                                       ending_of(first_), last_words(errors_));
            if (!how.variables.empty()) require_same_status();
            return difference;
        }
        if (compared_ == same_result::status || fingerprint_of(output_) == expected_) return {};
        if (!how.variables.empty() && repeats_itself()) return "wrote another output than the program as it is";
        compared_ = same_result::status;  // the program itself does not write the same each time
        return {};
    }

    /// Throws tool_error if the program as it is ends otherwise than before: then it is not the way that makes it do
    /// so.
    void require_same_status() {
        const int more_runs = first_.wall < 1 ? 5 : 1;  // one that fails every other time may end well in one
        for (int i = 0; i < more_runs; ++i) {
            const measured_run again = once(options_.ways[0], 0);
            if (again.was_interrupted) return;
            if (again.exit_status == first_.exit_status) continue;
            throw not_the_same_each_time(options_, ending_of(again) + ", and before it " + ending_of(first_));
        }
    }

    /// Whether the program as it is writes the same output twice.
    bool repeats_itself() {
        const measured_run again = once(options_.ways[0], 0);
        return again.was_interrupted || fingerprint_of(output_) == expected_;
    }

    /// How the program and the check of its output ended; empty where the check accepts it.
    std::string refusal_by_check(const measured_run& run) {
        output_.rewind();
        const measured_run check = run_measured({.program = "/bin/sh",
                                                 .arguments = {"sh", "-c", options_.check},
                                                 .input = output_.descriptor(),
                                                 .output = errors_.descriptor(),
                                                 .errors = errors_.descriptor()});
        if (check.exit_status == 0) return {};
        // Both write to it.
        return "the program " + ending_of(run) + ", the check " + ending_of(check) + last_words(errors_, "the");
    }

    const contest_options& options_;
    temporary_directory directory_;
    open_file input_;
    open_file output_;
    open_file errors_;
    same_result compared_;
    measured_run first_{};
    fingerprint expected_{};
    std::string failure_as_it_is_;
    std::uint32_t left_running_ = 0;
    std::uint64_t most_memory_ = 0;  // bytes at the peak of a run, of any way
};

/// The rounds of one contest.
class rounds {
public:
    explicit rounds(const contest_options& options) : options_{options}, runner_{options} {
        for (const way& each : options.ways) result_.ways.push_back({each});
    }

    contest_result play() {
        const interruption_watch watch;
        check_round();
        const double way_seconds = (elapsed() - (base_is_first() ? 0 : first_seconds_)) /
                                   static_cast<double>(result_.ways.size() - first_way());
        if (options_.drops_losers) leave_out_those_without_time(way_seconds);
        // A round of this length may begin as long as it ends within the budget.
        while (!result_.was_interrupted && !is_precise() && base_takes_part() &&
               elapsed() + way_seconds * playing() <= options_.budget_seconds)
            play_round();
        result_.rounds = base_runs();
        if (!has_left_out_cold_runs_) make_coldest_run_again();
        result_.precision = options_.precision;
        result_.is_precise = is_precise();
        result_.failure_as_it_is = runner_.failure_as_it_is();
        result_.seconds = elapsed();
        result_.compared = runner_.compared();
        result_.input = options_.input;
        result_.left_running = runner_.left_running();
        return std::move(result_);
    }

private:
    using clock = std::chrono::steady_clock;

    double elapsed() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

    bool base_is_first() const { return options_.base == 0; }
    /// The first way that runs in each round.
    std::size_t first_way() const { return base_is_first() ? 0 : 1; }
    std::size_t base_runs() const { return result_.ways[options_.base].runs.size(); }
    bool base_takes_part() const { return result_.ways[options_.base].failure.empty(); }

    std::size_t base_of(std::size_t number) const { return result_.ways[number].how.beside.value_or(options_.base); }

    bool is_a_base(std::size_t number) const {
        return number == 0 || number == options_.base ||
               std::ranges::any_of(options_.ways, [&](const way& each) { return each.beside == number; });
    }

    /// Whether more runs of a way would only take time from those that may save something.
    bool has_lost(std::size_t number) const {
        const std::size_t runs = result_.ways[number].runs.size();
        if (!options_.drops_losers || !has_left_out_cold_runs_ || runs < rounds_to_lose || is_a_base(number))
            return false;
        return result_.cpu_ratio(number, base_of(number)).low >=
               (runs < min_interval_rounds ? costs_much : worth_running);
    }

    bool plays(std::size_t number) const { return result_.ways[number].failure.empty() && !has_lost(number); }

    double playing() const {
        double count = 0;
        for (std::size_t i = first_way(); i < result_.ways.size(); ++i) count += plays(i) ? 1 : 0;
        return count;
    }

    void show_progress() const {
        if (options_.progress) options_.progress(std::min(elapsed() / options_.budget_seconds, 0.99));
    }

    void check_round() {
        const measured_run first = runner_.first_run();
        if (first.was_interrupted)
            throw tool_error{"interrupted before the program had run once: nothing was measured"};
        result_.ways[0].runs.push_back(first);
        first_seconds_ = elapsed();
        for (std::size_t i = 1; i < result_.ways.size() && !result_.was_interrupted; ++i) {
            show_progress();
            run_way(i);
        }
        for (way_result& each : result_.ways) {
            if (!each.runs.empty() || !each.failure.empty()) continue;
            each.failure = "was not run: interrupted";
            result_.each_way_ran = false;
        }
    }

    /// Where there is no time for so many rounds of all ways that they say anything, the best of the first round have
    /// them: for intervals of 95 % of the most important ways, or fewer where there is not even time for that.
    void leave_out_those_without_time(double way_seconds) {
        const double left = options_.budget_seconds - elapsed();
        const double wanted =
            std::clamp(std::floor(left / (important() * way_seconds)), static_cast<double>(rounds_to_lose),
                       static_cast<double>(min_interval_rounds + 1));  // the first one does not count
        const double rounds_of_one = wanted * way_seconds;
        if (result_.was_interrupted || left >= rounds_of_one * playing()) return;
        std::vector<first_run> runs(result_.ways.size());
        for (std::size_t i = 0; i < runs.size(); ++i) {
            runs[i].takes_part = i >= first_way() && plays(i);
            runs[i].stays = i == options_.base;
            if (runs[i].takes_part) runs[i].cost = cpu_of_first_run(i);
            runs[i].beside = result_.ways[i].how.beside;
        }
        for (const std::size_t i :
             ways_without_time(runs, static_cast<std::size_t>(std::max(left / rounds_of_one, 0.0)))) {
            result_.ways[i].was_left_out = true;
            result_.ways[i].failure =
                fmt::format("took {:.2f} times the CPU time in the only run that there was time for", runs[i].cost);
        }
    }

    /// How many ways are: the two best for the whole program, three groups, and what each is compared with.
    double important() const {
        constexpr std::ptrdiff_t most_groups = 3;
        const auto is_group = [](const way_result& each) { return each.how.beside.has_value(); };
        const std::ptrdiff_t groups = std::min(std::ranges::count_if(result_.ways, is_group), most_groups);
        return static_cast<double>(3 + (groups == 0 ? 0 : groups + 1));
    }

    /// As a ratio to that of the way that it is compared with.
    double cpu_of_first_run(std::size_t number) const {
        return result_.ways[number].runs.front().cpu() /
               std::max(result_.ways[base_of(number)].runs.front().cpu(), 1e-9);
    }

    void run_way(std::size_t number) {
        way_result& each = result_.ways[number];
        std::string failure;
        const measured_run run = runner_.run(each.how, failure);
        if (run.was_interrupted) {
            result_.was_interrupted = true;
            return;
        }
        each.runs.push_back(run);
        each.failure = failure;
    }

    /// Each round has an order of its own, so that no way always follows the same one, which leaves it warm or cold
    /// caches and memory. An interrupted round is dropped.
    void play_round() {
        const std::size_t before = base_runs();
        std::vector<std::size_t> order(result_.ways.size() - first_way());
        std::iota(order.begin(), order.end(), first_way());
        std::shuffle(order.begin(), order.end(), random_);
        for (const std::size_t number : order) {
            if (result_.was_interrupted) break;
            show_progress();
            if (plays(number)) run_way(number);
        }
        check_as_it_is();
        if (result_.was_interrupted) {
            for (way_result& each : result_.ways) each.runs.resize(std::min(each.runs.size(), before));
        } else if (!has_left_out_cold_runs_ && base_runs() > 2) {
            leave_out_cold_runs();
        }
    }

    /// The first round found cold caches and checked what others need not check: it does not count where there are
    /// two more.
    void leave_out_cold_runs() {
        for (way_result& each : std::span{result_.ways}.subspan(first_way()))
            if (each.failure.empty()) each.runs.erase(each.runs.begin());
        has_left_out_cold_runs_ = true;
    }

    /// Where there was time for no more than two rounds the first one has to count, and the very first run, which was
    /// the coldest, is made again.
    void make_coldest_run_again() {
        if (result_.was_interrupted || result_.ways.size() == 1 || !base_is_first()) return;
        way_result& as_it_is = result_.ways[0];
        const measured_run again = runner_.run(as_it_is.how, as_it_is.failure);
        if (again.was_interrupted)
            result_.was_interrupted = true;
        else
            as_it_is.runs.front() = again;
        check_as_it_is();
    }

    void check_as_it_is() const {
        if (result_.ways[0].failure.empty()) return;
        throw not_the_same_each_time(options_, result_.ways[0].failure);
    }

    bool is_precise() const {
        if (base_runs() < min_interval_rounds) return false;
        for (std::size_t i = 1; i < result_.ways.size(); ++i) {
            if (!plays(i)) continue;
            if (2 * result_.cpu_ratio(i, base_of(i)).uncertainty() > options_.precision) return false;
        }
        return true;
    }

    const contest_options& options_;
    runner runner_;
    contest_result result_{};
    bool has_left_out_cold_runs_ = false;
    std::mt19937 random_{20'26};
    clock::time_point start_ = clock::now();
    double first_seconds_ = 0;  // that the first run took
};

}  // namespace

std::vector<std::size_t> ways_without_time(std::span<const first_run> runs, std::size_t room) {
    constexpr std::size_t least = 3;  // what the others are compared with, and two of these
    if (room < least) return {};
    // Beside what the others are compared with, two and a group need four places.
    const std::size_t best_before_groups = room > 4 ? 2 : 1;
    std::vector<std::size_t> order;
    std::vector<std::size_t> groups;
    std::vector<bool> has_time(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const bool is_beside = std::ranges::any_of(runs, [i](const first_run& each) { return each.beside == i; });
        if (runs[i].stays) {
            has_time[i] = true;
            --room;
        } else if (runs[i].takes_part && !is_beside) {
            (runs[i].beside ? groups : order).push_back(i);
        }
    }
    const auto cost = [&](std::size_t i) { return std::tuple{runs[i].cost, i}; };
    std::ranges::sort(order, {}, cost);
    // The first ones are those of most allocations, and one run says little of a group.
    std::ranges::sort(groups, {}, [&](std::size_t i) { return std::pair{runs[i].cost >= costs_much, i}; });
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(std::min(best_before_groups, order.size())),
                 groups.begin(), groups.end());
    for (const std::size_t i : order) {
        const std::optional<std::size_t> beside = runs[i].beside;
        const std::size_t needed = beside && !has_time[*beside] ? 2 : 1;
        if (needed > room) continue;
        room -= needed;
        has_time[i] = true;
        if (beside) has_time[*beside] = true;
    }
    std::vector<std::size_t> left_out;
    for (std::size_t i = 0; i < runs.size(); ++i)
        if (runs[i].takes_part && !has_time[i]) left_out.push_back(i);
    return left_out;
}

std::string words_before_command(const way& how) {
    std::string words;
    const auto add = [&](const std::string& word) { words += (words.empty() ? "" : " ") + word; };
    for (const std::string& each : how.command) add(quoted_for_shell(each));
    if (!how.command.empty()) {
        add("--");
    } else {
        for (const auto& [name, value] : how.variables) add(name + "=" + quoted_for_shell(value));
    }
    return words;
}

std::vector<double> way_result::in_rounds(const std::function<double(const measured_run&)>& figure) const {
    std::vector<double> figures;
    figures.reserve(runs.size());
    for (const measured_run& each : runs) figures.push_back(figure(each));
    return figures;
}

interval way_result::of(const std::function<double(const measured_run&)>& figure) const {
    return median_interval(in_rounds(figure));
}

interval contest_result::cpu_ratio(std::size_t number, std::size_t base) const {
    std::vector<std::vector<double>> costs(ways.size());
    for (std::size_t i = 0; i < ways.size(); ++i)
        if (ways[i].failure.empty() || i == number || i == base) costs[i] = ways[i].in_rounds(&measured_run::cpu);
    return cost_ratio(costs, number, base);
}

interval contest_result::peak_ratio(std::size_t number, std::size_t base) const {
    const double before = std::max(ways[base].of(peak_of).median, 1.0);
    const interval peak = ways[number].of(peak_of);
    return {peak.low / before, peak.median / before, peak.high / before};
}

interval contest_result::cpu_saved(std::size_t number, std::size_t base) const {
    const interval ratio = cpu_ratio(number, base);
    const double before = ways[base].of(&measured_run::cpu).median;
    return {(1 - ratio.high) * before, (1 - ratio.median) * before, (1 - ratio.low) * before};
}

contest_result run_contest(const contest_options& options) {
    return rounds{options}.play();
}

}  // namespace acre::tool
