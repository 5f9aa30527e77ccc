// What this process does with signals while a child works for it.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <vector>

namespace acre::tool {

/// As long as it lives, signals to this process are ignored or go on to a child. One at a time.
class signal_relay {
public:
    struct rule {
        int signal = 0;
        int sent = 0;                  // to the child in its place; 0: none, it is ignored
        bool also_if_ignored = false;  // else a signal that this process ignores already stays so
    };

    explicit signal_relay(const std::vector<rule>& rules);
    ~signal_relay();
    signal_relay(const signal_relay&) = delete;
    signal_relay& operator=(const signal_relay&) = delete;

    /// Who gets the signals from here on, the last that came before there was anybody included; 0: nobody.
    static void send_to(pid_t child);

    /// As it was before; what the child does first.
    void restore() const;

private:
    struct replaced {
        int signal = 0;
        struct sigaction before{};
    };

    std::vector<replaced> replaced_;
};

}  // namespace acre::tool
