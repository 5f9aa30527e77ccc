// Work in a process of its own: what comes back, and what is told of how it ended.
#include "record/separate_process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <vector>

#include "trace/error.hpp"

namespace acre::tool {
namespace {

std::string error_of(const std::function<std::string(const progress_function&)>& work) {
    try {
        return "no error but '" + run_apart(work, {}) + "'";
    } catch (const tool_error& error) {
        return error.what();
    }
}

TEST(run_apart, gives_the_result_and_the_progress) {
    std::vector<double> seen;
    const auto work = [](const progress_function& tell) {
        tell(0.25);
        tell(1);
        return std::string(100'000, 'x');
    };
    EXPECT_EQ(run_apart(work, [&](double done) { seen.push_back(done); }), std::string(100'000, 'x'));
    EXPECT_EQ(seen, (std::vector<double>{0.25, 1}));
}

TEST(run_apart, tells_what_was_thrown) {
    EXPECT_EQ(error_of([](const progress_function&) -> std::string { throw std::runtime_error{"no such luck"}; }),
              "no such luck");
}

TEST(run_apart, is_interrupted_by_a_signal_and_lives_on) {
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
        const std::string error = error_of([&](const progress_function&) -> std::string {
            ::kill(::getppid(), signal);
            for (;;) ::pause();
        });
        EXPECT_EQ(error, "interrupted before the trace was whole") << signal;
        struct sigaction after{};
        ::sigaction(signal, nullptr, &after);
        EXPECT_EQ(after.sa_handler, SIG_DFL) << signal;
    }
}

TEST(run_apart, ignores_what_this_process_ignores) {
    struct sigaction before{};
    struct sigaction ignoring{};
    ignoring.sa_handler = SIG_IGN;
    ::sigaction(SIGHUP, &ignoring, &before);
    const std::string result = run_apart(
        [](const progress_function&) {
            ::kill(::getppid(), SIGHUP);
            ::raise(SIGHUP);
            return std::string{"done"};
        },
        {});
    ::sigaction(SIGHUP, &before, nullptr);
    EXPECT_EQ(result, "done");
}

}  // namespace
}  // namespace acre::tool
