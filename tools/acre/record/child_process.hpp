// Child processes: what this process does with signals while one runs, and work in a child that may die of it.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <string>
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

using progress_function = std::function<void(double)>;

/// Does the work in a fork of this process; what it returns comes back, and what it says of its progress. Throws
/// tool_error with the sentence of what it throws, or about how the process ended.
std::string run_apart(const std::function<std::string(const progress_function&)>& work,
                      const progress_function& progress);

/// Whether this process may have only so much memory, as after 'ulimit -v'.
bool memory_is_limited();

}  // namespace acre::tool
