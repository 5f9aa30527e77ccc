// Signals reach a child process whenever they come, and work in a child process reports how that process ended.
#include "record/child_process.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <vector>

#include "trace/error.hpp"

namespace {

using namespace acre::tool;

/// The signal that killed a waiting child.
int signal_that_ends_a_child(const signal_relay& signals, bool before_it_is_known) {
    if (before_it_is_known) ::raise(SIGUSR1);
    const pid_t child = ::fork();
    if (child == 0) {
        signals.restore();
        ::alarm(10);  // ends a test that would wait for ever
        for (;;) ::pause();
    }
    signal_relay::send_to(child);
    if (!before_it_is_known) ::raise(SIGUSR1);
    int status = 0;
    ::waitpid(child, &status, 0);
    signal_relay::send_to(0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(signal_relay, sends_the_replacement_signal_to_the_child) {
    const signal_relay signals{{{SIGUSR1, SIGTERM}}};
    EXPECT_EQ(signal_that_ends_a_child(signals, false), SIGTERM);
}

TEST(signal_relay, keeps_a_signal_that_arrives_before_the_child_starts) {
    const signal_relay signals{{{SIGUSR1, SIGTERM}}};
    EXPECT_EQ(signal_that_ends_a_child(signals, true), SIGTERM);
}

TEST(signal_relay, forgets_a_signal_for_an_earlier_child) {
    {
        const signal_relay before{{{SIGUSR2, SIGKILL}}};
        ::raise(SIGUSR2);
    }
    const signal_relay signals{{{SIGUSR1, SIGTERM}}};
    EXPECT_EQ(signal_that_ends_a_child(signals, false), SIGTERM);
}

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

TEST(run_apart, reports_the_exception_of_the_work) {
    EXPECT_EQ(error_of([](const progress_function&) -> std::string { throw std::runtime_error{"no such luck"}; }),
              "no such luck");
}

TEST(run_apart, reports_an_interruption_and_goes_on) {
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
        const std::string error = error_of([&](const progress_function&) -> std::string {
            ::kill(::getppid(), signal);
            for (;;) ::pause();
        });
        EXPECT_EQ(error, "interrupted before the trace was complete") << signal;
        struct sigaction after{};
        ::sigaction(signal, nullptr, &after);
        EXPECT_EQ(after.sa_handler, SIG_DFL) << signal;
    }
}

TEST(run_apart, ignores_signals_that_this_process_ignores) {
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

/// Lowers the limit of the stack until the end of the test.
class small_stack {
public:
    explicit small_stack(rlim_t bytes) {
        ::getrlimit(RLIMIT_STACK, &before_);
        rlimit lowered = before_;
        lowered.rlim_cur = bytes;
        ::setrlimit(RLIMIT_STACK, &lowered);
    }
    ~small_stack() { ::setrlimit(RLIMIT_STACK, &before_); }
    small_stack(const small_stack&) = delete;
    small_stack& operator=(const small_stack&) = delete;

private:
    rlimit before_{};
};

TEST(run_apart, has_room_where_the_stack_is_small) {
    const small_stack limited{128 * 1024};
    const auto work = [](const progress_function& tell) {
        tell(0.5);
        volatile char room[2 << 20];
        for (std::size_t i = 0; i < sizeof room; i += 4096) room[i] = 'x';
        return std::string(1, room[sizeof room / 2]);
    };
    EXPECT_EQ(run_apart(work, {}), "x");
    EXPECT_EQ(error_of([](const progress_function&) -> std::string { throw std::runtime_error{"no such luck"}; }),
              "no such luck");
}

}  // namespace
