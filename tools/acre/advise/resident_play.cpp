#include "resident_play.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <acre/memory/virtual_memory.hpp>
#include <acre/pools/multi_pool.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string_view>

extern char** environ;

namespace acre::tool {

namespace {

// The process is this program, started anew under another name, so that its heap is clean and any malloc can be
// preloaded. It reads the request and the steps from a socket and answers when the other end sends no more.

constexpr const char* player_name = "acre-resident-player";
constexpr int socket_number = 3;
constexpr std::uint32_t no_site = ~std::uint32_t{0};
constexpr std::uint64_t memory_limit = std::uint64_t{6} << 30;

struct request_head {
    std::uint32_t slots = 0;
    std::uint32_t sites = 0;
    std::uint64_t peak_event = 0;
    bool separates = false;  // a byte for each site follows
};

struct answer_head {
    std::uint64_t max_resident_bytes = 0;
    std::array<std::uint64_t, 2> resident{};  // at the peak, at the end
    std::array<std::uint64_t, 2> live{};
    std::array<std::uint64_t, 2> pinned{};
    std::array<std::uint64_t, 2> free{};
    std::array<std::uint32_t, 2> last_sites{no_site, no_site};
    std::array<std::uint32_t, 2> sites{};  // so many follow
};

bool send_all(int socket, const void* bytes, std::size_t count) {
    const auto* at = static_cast<const char*>(bytes);
    while (count > 0) {
        const ssize_t sent = ::send(socket, at, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent;
        count -= static_cast<std::size_t>(sent);
    }
    return true;
}

/// The number of bytes; less than asked for where the other end sends no more.
std::size_t receive(int socket, void* bytes, std::size_t count) {
    auto* at = static_cast<char*>(bytes);
    std::size_t got = 0;
    while (got < count) {
        const ssize_t more = ::recv(socket, at + got, count - got, 0);
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) break;
        got += static_cast<std::size_t>(more);
    }
    return got;
}

/// An array that is not of the heap. It is written at once, so that it does not count later.
template <typename T>
class mapped_array {
public:
    explicit mapped_array(std::size_t size)
        : size_{size},
          bytes_{std::max<std::size_t>(size, 1) * sizeof(T)},
          elements_{
              ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)} {
        if (elements_ == MAP_FAILED) throw std::bad_alloc{};
    }
    ~mapped_array() { ::munmap(elements_, bytes_); }
    mapped_array(const mapped_array&) = delete;
    mapped_array& operator=(const mapped_array&) = delete;

    void swap(mapped_array& other) noexcept {
        std::swap(size_, other.size_);
        std::swap(bytes_, other.bytes_);
        std::swap(elements_, other.elements_);
    }

    T* begin() { return static_cast<T*>(elements_); }
    T* end() { return begin() + size_; }
    T& operator[](std::size_t i) { return begin()[i]; }
    std::size_t size() const { return size_; }

private:
    std::size_t size_;
    std::size_t bytes_;
    void* elements_;
};

/// How many bytes of each page belong to objects, for pages that no object fills.
class page_table {
public:
    void add(std::uint64_t page, std::uint64_t bytes) {
        if (2 * (pages_ + 1) > entries_.size()) grow();
        entry& found = at(page);
        if (found.bytes == 0) ++pages_;
        found.page = page;
        found.bytes += bytes;
    }

    std::uint64_t bytes_on(std::uint64_t page) { return at(page).bytes; }
    std::uint64_t pages() const { return pages_; }

    /// On all these pages.
    std::uint64_t free_bytes() {
        std::uint64_t free = 0;
        for (const entry& each : entries_) {
            if (each.bytes != 0) free += resident_page_bytes - std::min(each.bytes, resident_page_bytes);
        }
        return free;
    }

private:
    struct entry {
        std::uint64_t page = 0;
        std::uint64_t bytes = 0;  // 0: no page
    };

    entry& at(std::uint64_t page) {
        std::size_t index = static_cast<std::size_t>((page * 0x9e37'79b9'7f4a'7c15) >> 20) & (entries_.size() - 1);
        while (entries_[index].bytes != 0 && entries_[index].page != page) index = (index + 1) & (entries_.size() - 1);
        return entries_[index];
    }

    void grow() {
        mapped_array<entry> old{2 * entries_.size()};
        old.swap(entries_);
        for (const entry& each : old) {
            if (each.bytes != 0) at(each.page) = each;
        }
    }

    mapped_array<entry> entries_{4096};
    std::uint64_t pages_ = 0;
};

class player {
public:
    explicit player(int socket, const request_head& head)
        : socket_{socket},
          head_{head},
          living_{head.slots},
          separate_{head.sites},
          at_peak_{head.sites},
          at_end_{head.sites} {
        if (head.separates) receive(socket, separate_.begin(), head.sites);
        statistics_ = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
        base_ = resident();
    }

    bool play() {
        constexpr std::size_t at_once = 4096;
        mapped_array<resident_step> steps{at_once};
        base_ = resident();
        while (true) {
            const std::size_t got = receive(socket_, steps.begin(), at_once * sizeof(resident_step));
            const std::size_t count = got / sizeof(resident_step);
            for (std::size_t i = 0; i < count; ++i) {
                if (!play(steps[i])) return false;
            }
            if (count < at_once) break;
        }
        std::free(moved_);
        look(1, at_end_);
        return true;
    }

    bool answer() {
        std::array<std::vector<pinning_site>, 2> sites{found(at_peak_), found(at_end_)};
        for (std::size_t i = 0; i < sites.size(); ++i) answer_.sites[i] = static_cast<std::uint32_t>(sites[i].size());
        if (!send_all(socket_, &answer_, sizeof answer_)) return false;
        return std::ranges::all_of(sites, [&](const std::vector<pinning_site>& each) {
            return send_all(socket_, each.data(), each.size() * sizeof(pinning_site));
        });
    }

private:
    struct living {
        char* place = nullptr;
        std::uint64_t size = 0;
        std::uint32_t site = 0;
        std::uint32_t alignment = 0;
    };
    using site_array = mapped_array<pinning_site>;

    bool play(const resident_step& each) {
        const bool is_apart = head_.separates && separate_[each.site] != 0;
        if (each.allocates != 0) {
            if (!allocate(each, is_apart)) return false;
            live_bytes_ += each.size;
        } else {
            release(each, is_apart);
        }
        constexpr std::uint64_t between_looks = 512;
        constexpr std::uint64_t large = 64 * 1024;
        const bool looks = events_ % between_looks == 0 || (each.allocates != 0 && each.size >= large);
        if (looks) answer_.max_resident_bytes = std::max(answer_.max_resident_bytes, taken());
        if (++events_ == head_.peak_event) look(0, at_peak_);
        return true;
    }

    bool allocate(const resident_step& each, bool is_apart) {
        const auto size = static_cast<std::size_t>(each.size);
        const std::size_t alignment = each.alignment_log2 > 4 ? std::size_t{1} << each.alignment_log2 : 16;
        living& object = living_[each.slot];
        char* before = std::exchange(moved_, nullptr);
        if (is_apart) {
            std::free(before);
            object.place = static_cast<char*>(apart_.try_allocate(size, alignment));
        } else if (before != nullptr && each.by_realloc != 0) {
            object.place = static_cast<char*>(std::realloc(before, std::max<std::size_t>(size, 1)));
        } else {
            std::free(before);
            object.place = static_cast<char*>(
                alignment > 16 ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                               : std::malloc(size));
        }
        if (object.place == nullptr) return size == 0;
        object.size = each.size;
        object.site = each.site;
        object.alignment = static_cast<std::uint32_t>(alignment);
        for (std::size_t i = 0; i < size; i += resident_page_bytes) const_cast<volatile char*>(object.place)[i] = 1;
        if (size > 0) const_cast<volatile char*>(object.place)[size - 1] = 1;
        return true;
    }

    /// What a realloc replaces is freed with it.
    void release(const resident_step& each, bool is_apart) {
        living& object = living_[each.slot];
        std::free(std::exchange(moved_, nullptr));
        live_bytes_ -= object.size;
        if (object.place == nullptr) return;
        if (is_apart) {
            apart_.deallocate(object.place, static_cast<std::size_t>(object.size), object.alignment);
        } else if (each.by_realloc != 0) {
            moved_ = object.place;
        } else {
            std::free(object.place);
        }
        object = {};
    }

    /// Bytes of memory that this process has, without those of files.
    std::uint64_t resident() const {
        std::array<char, 128> text{};
        if (::pread(statistics_, text.data(), text.size() - 1, 0) <= 0) return 0;
        char* at = text.data();
        std::strtoull(at, &at, 10);  // addresses
        const std::uint64_t all = std::strtoull(at, &at, 10);
        const std::uint64_t of_files = std::strtoull(at, &at, 10);
        return (all - std::min(all, of_files)) * resident_page_bytes;
    }

    std::uint64_t taken() const {
        const std::uint64_t now = resident();
        return now - std::min(now, base_);
    }

    /// Finds which objects lie on pages that are partly free. `into` is by site.
    void look(std::size_t moment, site_array& into) {
        answer_.resident[moment] = taken();
        answer_.live[moment] = live_bytes_;
        answer_.max_resident_bytes = std::max(answer_.max_resident_bytes, answer_.resident[moment]);
        const auto heap_end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
        std::uintptr_t last_place = heap_begin_;
        std::uint64_t full_pages = 0;
        page_table pages;
        for (const living& object : living_) {
            if (object.place == nullptr || object.size == 0) continue;
            pinning_site& site = into[object.site];
            ++site.objects;
            site.live_bytes += object.size;
            const auto begin = reinterpret_cast<std::uintptr_t>(object.place);
            if (begin < heap_end && begin > last_place) {
                last_place = begin;
                answer_.last_sites[moment] = object.site;
            }
            full_pages += visit_parts(object, [&](std::uint64_t page, std::uint64_t bytes) { pages.add(page, bytes); });
        }
        for (const living& object : living_) {
            if (object.place == nullptr || object.size == 0) continue;
            visit_parts(object, [&](std::uint64_t page, std::uint64_t bytes) {
                const std::uint64_t on_page = pages.bytes_on(page);
                into[object.site].pinned_bytes +=
                    (resident_page_bytes - std::min(on_page, resident_page_bytes)) * bytes / on_page;
            });
        }
        answer_.pinned[moment] = pages.free_bytes();
        const std::uint64_t with_objects = (full_pages + pages.pages()) * resident_page_bytes;
        answer_.free[moment] = answer_.resident[moment] - std::min(answer_.resident[moment], with_objects);
    }

    /// Calls `visit(page, bytes)` for the pages that an object does not fill. Returns the number of those that it does.
    template <typename Visit>
    static std::uint64_t visit_parts(const living& object, Visit visit) {
        const auto begin = reinterpret_cast<std::uintptr_t>(object.place);
        const std::uintptr_t last = begin + object.size - 1;
        const std::uint64_t first_page = begin / resident_page_bytes;
        const std::uint64_t last_page = last / resident_page_bytes;
        if (first_page == last_page) {
            visit(first_page, object.size);
            return 0;
        }
        visit(first_page, resident_page_bytes - begin % resident_page_bytes);
        visit(last_page, last % resident_page_bytes + 1);
        return last_page - first_page - 1;
    }

    static std::vector<pinning_site> found(site_array& sites) {
        std::vector<pinning_site> found;
        for (std::uint32_t i = 0; i < sites.size(); ++i) {
            if (sites[i].objects == 0) continue;
            found.push_back(sites[i]);
            found.back().site = i;
        }
        return found;
    }

    int socket_;
    request_head head_;
    mapped_array<living> living_;
    mapped_array<unsigned char> separate_;
    site_array at_peak_;
    site_array at_end_;
    acre::virtual_memory pages_;
    acre::multi_pool apart_{pages_};
    std::uintptr_t heap_begin_ = reinterpret_cast<std::uintptr_t>(::sbrk(0));
    int statistics_ = -1;
    char* moved_ = nullptr;  // freed by the realloc that comes next
    std::uint64_t base_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t live_bytes_ = 0;
    answer_head answer_;
};

/// Runs before main, so that nothing was allocated yet.
[[gnu::constructor]] void play_if_started_to(int count, char** arguments) {
    if (count != 1 || std::string_view{arguments[0]} != player_name) return;
    const rlimit limit{memory_limit, memory_limit};
    ::setrlimit(RLIMIT_DATA, &limit);
    request_head head;
    if (receive(socket_number, &head, sizeof head) != sizeof head) ::_exit(1);
    try {
        player all{socket_number, head};
        ::_exit(all.play() && all.answer() ? 0 : 1);
    } catch (const std::exception&) {
        ::_exit(1);
    }
}

/// The process that plays, and the socket to it.
class started_player {
public:
    explicit started_player(const std::string& preload) {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
        socket_ = ends[0];
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_adddup2(&actions, ends[1], socket_number);
        std::string name = player_name;
        std::array<char*, 2> arguments{name.data(), nullptr};
        const std::string variable = "LD_PRELOAD=" + preload;
        std::vector<char*> environment;
        for (char** each = environ; *each != nullptr; ++each) {
            if (!std::string_view{*each}.starts_with("LD_PRELOAD=")) environment.push_back(*each);
        }
        if (!preload.empty()) environment.push_back(const_cast<char*>(variable.c_str()));
        environment.push_back(nullptr);
        if (::posix_spawn(&process_, "/proc/self/exe", &actions, nullptr, arguments.data(), environment.data()) != 0)
            process_ = -1;
        ::posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
    }
    ~started_player() {
        if (socket_ >= 0) ::close(socket_);
        if (process_ > 0) ::waitpid(process_, nullptr, 0);
    }
    started_player(const started_player&) = delete;
    started_player& operator=(const started_player&) = delete;

    bool is_started() const { return process_ > 0; }
    int socket() const { return socket_; }

private:
    int socket_ = -1;
    pid_t process_ = -1;
};

bool send_request(int socket, const resident_request& request) {
    const request_head head{request.slots, request.sites, request.peak_event, !request.separate.empty()};
    if (!send_all(socket, &head, sizeof head)) return false;
    if (!head.separates) return true;
    std::vector<unsigned char> bytes(request.sites);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = request.separate[i] ? 1 : 0;
    return send_all(socket, bytes.data(), bytes.size());
}

std::optional<resident_result> receive_result(int socket) {
    answer_head head;
    if (receive(socket, &head, sizeof head) != sizeof head) return std::nullopt;
    resident_result result;
    result.max_resident_bytes = head.max_resident_bytes;
    for (std::size_t i = 0; i < 2; ++i) {
        resident_moment& moment = i == 0 ? result.peak : result.end;
        moment.resident_bytes = head.resident[i];
        moment.live_bytes = head.live[i];
        moment.pinned_bytes = head.pinned[i];
        moment.free_bytes = head.free[i];
        if (head.last_sites[i] != no_site) moment.last_site = head.last_sites[i];
        moment.sites.resize(head.sites[i]);
        const std::size_t bytes = moment.sites.size() * sizeof(pinning_site);
        if (receive(socket, moment.sites.data(), bytes) != bytes) return std::nullopt;
        std::ranges::sort(moment.sites, [](const pinning_site& a, const pinning_site& b) {
            return a.pinned_bytes != b.pinned_bytes ? a.pinned_bytes > b.pinned_bytes : a.site < b.site;
        });
    }
    return result;
}

}  // namespace

std::optional<resident_result> play_resident(const resident_request& request, const resident_steps& steps) {
    const started_player process{request.preload};
    if (!process.is_started() || !send_request(process.socket(), request)) return std::nullopt;
    constexpr std::size_t at_once = 4096;
    std::vector<resident_step> waiting;
    waiting.reserve(at_once);
    bool is_whole = true;
    const auto send = [&] {
        is_whole = is_whole && send_all(process.socket(), waiting.data(), waiting.size() * sizeof(resident_step));
        waiting.clear();
    };
    steps([&](const resident_step& each) {
        waiting.push_back(each);
        if (waiting.size() == at_once) send();
    });
    send();
    if (!is_whole || ::shutdown(process.socket(), SHUT_WR) != 0) return std::nullopt;
    return receive_result(process.socket());
}

}  // namespace acre::tool
