// Child processes: how this process handles signals while one runs, and how it runs work that may crash in one.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <string>
#include <vector>

namespace acre::tool {

/// While an object of this class lives, signals to this process are ignored or passed on to a child. One object at a
/// time.
class signal_relay {
public:
    struct rule {
        int signal = 0;
        int sent = 0;                  // to the child instead; 0: nothing, the signal is ignored
        bool also_if_ignored = false;  // false: if this process ignores the signal already, it stays ignored
        // Not passed on if the child or a descendant sent it: then it went to the process group, so the child has got
        // it.
        bool only_from_others = false;
    };

    explicit signal_relay(const std::vector<rule>& rules);
    ~signal_relay();
    signal_relay(const signal_relay&) = delete;
    signal_relay& operator=(const signal_relay&) = delete;

    /// Sets the child that gets the signals, including the last one that arrived before there was a child; 0: none.
    static void send_to(pid_t child);

    /// Restores the previous handlers; the first thing that the child does.
    void restore() const;

private:
    struct replaced {
        int signal = 0;
        struct sigaction before{};
    };

    std::vector<replaced> replaced_;
};

using progress_function = std::function<void(double)>;

/// Runs `work` in a forked child, which may crash without harm to this process, and returns its result. Throws
/// tool_error with the message of an exception in `work`, or with one about how the child ended.
std::string run_apart(const std::function<std::string(const progress_function&)>& work,
                      const progress_function& progress);

/// Whether the address space of this process is limited, as after 'ulimit -v'.
bool memory_is_limited();

}  // namespace acre::tool
