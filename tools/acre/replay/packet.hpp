// Messages of fixed size between the processes of a replay, which may carry descriptors.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>

namespace acre::tool {

inline constexpr std::size_t max_descriptors = 2;

/// Where the other end is gone this is an error, not a signal.
inline bool send_packet(int socket, const void* bytes, std::size_t count, std::span<const int> descriptors = {}) {
    iovec part{const_cast<void*>(bytes), count};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(max_descriptors * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size_bytes());
    }
    return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(count);
}

/// Descriptors that did not come are -1.
inline bool receive_packet(int socket, void* bytes, std::size_t count, std::span<int> descriptors = {}) {
    iovec part{bytes, count};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(max_descriptors * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t got = -1;
    do {
        got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    for (int& each : descriptors) each = -1;
    const cmsghdr* head = CMSG_FIRSTHDR(&message);
    if (got >= 0 && head != nullptr && head->cmsg_type == SCM_RIGHTS) {
        const std::size_t bytes_there = head->cmsg_len - CMSG_LEN(0);
        std::memcpy(descriptors.data(), CMSG_DATA(head), std::min(bytes_there, descriptors.size_bytes()));
    }
    return got == static_cast<ssize_t>(count);
}

}  // namespace acre::tool
