// The processes that a program leaves running when it ends.
#pragma once

#include <string>
#include <vector>

namespace acre::tool {

/// While it lives, processes below this one whose parents end become children of this one; so they can be seen.
class orphan_watch {
public:
    orphan_watch();
    ~orphan_watch();
    orphan_watch(const orphan_watch&) = delete;
    orphan_watch& operator=(const orphan_watch&) = delete;

    /// Those that run, each as "1234 (name)"; without a number where the system does not list them. Those that have
    /// ended are waited for.
    static std::vector<std::string> still_running();

private:
    int before_ = 0;
};

}  // namespace acre::tool
