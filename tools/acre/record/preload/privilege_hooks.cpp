// Hooks of the functions by which a program may lose the right to open the log, or see other files by its path. The log
// is kept open from then on.
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <unistd.h>

#include "recorder.hpp"

namespace acre::recorder {
namespace {

struct next_definitions {
    int (*chroot)(const char*);
    int (*setuid)(uid_t);
    int (*seteuid)(uid_t);
    int (*setreuid)(uid_t, uid_t);
    int (*setresuid)(uid_t, uid_t, uid_t);
    int (*setfsuid)(uid_t);
    int (*setgid)(gid_t);
    int (*setegid)(gid_t);
    int (*setregid)(gid_t, gid_t);
    int (*setresgid)(gid_t, gid_t, gid_t);
    int (*setfsgid)(gid_t);
    int (*setgroups)(std::size_t, const gid_t*);
    int (*initgroups)(const char*, gid_t);
    int (*unshare)(int);
    int (*setns)(int, int);
    int (*mount)(const char*, const char*, const char*, unsigned long, const void*);
};

constinit next_definitions next{};

template <typename Function>
Function* found(Function*& function, const char* name) {
    if (function == nullptr) function = next_definition<Function>(name);
    return function;
}

[[gnu::constructor]] void look_up_all() {
    found(next.chroot, "chroot");
    found(next.setuid, "setuid");
    found(next.seteuid, "seteuid");
    found(next.setreuid, "setreuid");
    found(next.setresuid, "setresuid");
    found(next.setfsuid, "setfsuid");
    found(next.setgid, "setgid");
    found(next.setegid, "setegid");
    found(next.setregid, "setregid");
    found(next.setresgid, "setresgid");
    found(next.setfsgid, "setfsgid");
    found(next.setgroups, "setgroups");
    found(next.initgroups, "initgroups");
    found(next.unshare, "unshare");
    found(next.setns, "setns");
    found(next.mount, "mount");
}

/// Calls the next definition of a function. It is looked up here only if a constructor calls it before ours has run.
template <typename Function, typename... Arguments>
int call(Function*& function, const char* name, Arguments... arguments) {
    const int error = errno;
    before_losing_rights();
    Function* const it = found(function, name);
    errno = error;
    return it(arguments...);
}

}  // namespace
}  // namespace acre::recorder

using namespace acre::recorder;

#pragma GCC visibility push(default)

extern "C" {

int chroot(const char* path) noexcept {
    return call(next.chroot, "chroot", path);
}

int setuid(uid_t user) noexcept {
    return call(next.setuid, "setuid", user);
}

int seteuid(uid_t user) noexcept {
    return call(next.seteuid, "seteuid", user);
}

int setreuid(uid_t real, uid_t effective) noexcept {
    return call(next.setreuid, "setreuid", real, effective);
}

int setresuid(uid_t real, uid_t effective, uid_t saved) noexcept {
    return call(next.setresuid, "setresuid", real, effective, saved);
}

int setfsuid(uid_t user) noexcept {
    return call(next.setfsuid, "setfsuid", user);
}

int setgid(gid_t group) noexcept {
    return call(next.setgid, "setgid", group);
}

int setegid(gid_t group) noexcept {
    return call(next.setegid, "setegid", group);
}

int setregid(gid_t real, gid_t effective) noexcept {
    return call(next.setregid, "setregid", real, effective);
}

int setresgid(gid_t real, gid_t effective, gid_t saved) noexcept {
    return call(next.setresgid, "setresgid", real, effective, saved);
}

int setfsgid(gid_t group) noexcept {
    return call(next.setfsgid, "setfsgid", group);
}

int setgroups(std::size_t count, const gid_t* groups) noexcept {
    return call(next.setgroups, "setgroups", count, groups);
}

int initgroups(const char* user, gid_t group) {
    return call(next.initgroups, "initgroups", user, group);
}

int unshare(int flags) noexcept {
    return call(next.unshare, "unshare", flags);
}

int setns(int file, int kind) noexcept {
    return call(next.setns, "setns", file, kind);
}

int mount(const char* source, const char* target, const char* type, unsigned long flags, const void* data) noexcept {
    return call(next.mount, "mount", source, target, type, flags, data);
}

}  // extern "C"

#pragma GCC visibility pop
