// What becomes of signals to a process while a child works for it.
#include "record/signal_relay.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace acre::tool {
namespace {

auto handler_of(int signal) {
    struct sigaction now{};
    ::sigaction(signal, nullptr, &now);
    return now.sa_handler;
}

/// The signal that ends a child when this process gets `signal`.
int ending_of_child(int signal) {
    const pid_t child = ::fork();
    if (child == 0) {
        for (;;) ::pause();
    }
    signal_relay::send_to(child);
    ::raise(signal);
    int status = 0;
    ::waitpid(child, &status, 0);
    signal_relay::send_to(0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(signal_relay, sends_what_it_is_told_to) {
    const signal_relay relay{{{SIGUSR1, SIGTERM}, {SIGHUP, SIGKILL}}};
    EXPECT_EQ(ending_of_child(SIGUSR1), SIGTERM);
    EXPECT_EQ(ending_of_child(SIGHUP), SIGKILL);
    ::raise(SIGUSR1);  // there is nobody to send it to
}

TEST(signal_relay, leaves_signals_as_they_were) {
    ASSERT_EQ(handler_of(SIGUSR1), SIG_DFL);
    {
        const signal_relay relay{{{SIGUSR1, 0}, {SIGUSR2, SIGTERM}}};
        EXPECT_EQ(handler_of(SIGUSR1), SIG_IGN);
        ::raise(SIGUSR1);
        relay.restore();
        EXPECT_EQ(handler_of(SIGUSR2), SIG_DFL);
    }
    EXPECT_EQ(handler_of(SIGUSR1), SIG_DFL);
}

TEST(signal_relay, leaves_alone_what_is_ignored_unless_it_is_told_not_to) {
    std::signal(SIGUSR1, SIG_IGN);
    {
        const signal_relay relay{{{SIGUSR1, SIGTERM}}};
        EXPECT_EQ(handler_of(SIGUSR1), SIG_IGN);
    }
    {
        const signal_relay relay{{{SIGUSR1, SIGTERM, true}}};
        EXPECT_EQ(ending_of_child(SIGUSR1), SIGTERM);
    }
    EXPECT_EQ(handler_of(SIGUSR1), SIG_IGN);
    std::signal(SIGUSR1, SIG_DFL);
}

}  // namespace
}  // namespace acre::tool
