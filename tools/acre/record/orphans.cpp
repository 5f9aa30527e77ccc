#include "orphans.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace acre::tool {

namespace {

std::string name_of(const std::string& process) {
    std::string name;
    std::getline(std::ifstream{"/proc/" + process + "/comm"}, name);
    return name;
}

}  // namespace

orphan_watch::orphan_watch() {
    ::prctl(PR_GET_CHILD_SUBREAPER, &before_);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1UL);
}

orphan_watch::~orphan_watch() {
    ::prctl(PR_SET_CHILD_SUBREAPER, static_cast<unsigned long>(before_));
}

std::vector<std::string> orphan_watch::still_running() {
    pid_t ended = 0;
    do {
        ended = ::waitpid(-1, nullptr, WNOHANG);
    } while (ended > 0);
    if (ended < 0) return {};
    const std::string own = std::to_string(::getpid());
    std::ifstream children{"/proc/" + own + "/task/" + own + "/children"};
    std::vector<std::string> running;
    for (std::string process; children >> process;) running.push_back(process + " (" + name_of(process) + ")");
    if (running.empty()) running.emplace_back("not known which");
    return running;
}

}  // namespace acre::tool
