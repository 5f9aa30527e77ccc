// Signals reach the child, whenever they come.
#include "record/signal_relay.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace acre::tool {
namespace {

/// The signal that ended a child which waits for one.
int signal_that_ends_a_child(const signal_relay& signals, bool before_it_is_known) {
    if (before_it_is_known) ::raise(SIGUSR1);
    const pid_t child = ::fork();
    if (child == 0) {
        signals.restore();
        ::alarm(10);  // rather than to wait for ever
        for (;;) ::pause();
    }
    signal_relay::send_to(child);
    if (!before_it_is_known) ::raise(SIGUSR1);
    int status = 0;
    ::waitpid(child, &status, 0);
    signal_relay::send_to(0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(signal_relay, sends_what_was_wanted_to_the_child) {
    const signal_relay signals{{{SIGUSR1, SIGTERM}}};
    EXPECT_EQ(signal_that_ends_a_child(signals, false), SIGTERM);
}

TEST(signal_relay, does_not_lose_what_comes_before_the_child_is_known) {
    const signal_relay signals{{{SIGUSR1, SIGTERM}}};
    EXPECT_EQ(signal_that_ends_a_child(signals, true), SIGTERM);
}

TEST(signal_relay, forgets_what_came_for_another) {
    {
        const signal_relay before{{{SIGUSR2, SIGKILL}}};
        ::raise(SIGUSR2);
    }
    const signal_relay signals{{{SIGUSR1, SIGTERM}}};
    EXPECT_EQ(signal_that_ends_a_child(signals, false), SIGTERM);
}

}  // namespace
}  // namespace acre::tool
