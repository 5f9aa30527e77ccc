#include "signal_relay.hpp"

#include <array>
#include <cerrno>

namespace acre::tool {

namespace {

volatile pid_t receiver = 0;
volatile int came_early = 0;              // a signal to go on when there was nobody yet
std::array<volatile int, NSIG> sent_for;  // by signal

void relay(int signal) {
    const int error = errno;
    if (receiver > 0) {
        ::kill(receiver, sent_for[static_cast<std::size_t>(signal)]);
    } else {
        came_early = signal;
    }
    errno = error;
}

}  // namespace

signal_relay::signal_relay(const std::vector<rule>& rules) {
    came_early = 0;
    for (const rule& each : rules) {
        replaced kept{each.signal, {}};
        ::sigaction(each.signal, nullptr, &kept.before);
        if (kept.before.sa_handler == SIG_IGN && !each.also_if_ignored) continue;
        sent_for[static_cast<std::size_t>(each.signal)] = each.sent;
        struct sigaction action{};
        action.sa_handler = each.sent == 0 ? SIG_IGN : relay;
        action.sa_flags = SA_RESTART;
        ::sigaction(each.signal, &action, nullptr);
        replaced_.push_back(kept);
    }
}

signal_relay::~signal_relay() {
    restore();
}

void signal_relay::send_to(pid_t child) {
    receiver = child;
    if (child > 0 && came_early != 0) relay(came_early);
}

void signal_relay::restore() const {
    for (const replaced& each : replaced_) ::sigaction(each.signal, &each.before, nullptr);
}

}  // namespace acre::tool
