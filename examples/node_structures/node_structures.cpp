// Sessions of a server in a hand-written linked list and search tree, whose nodes come from a pool.
//
// Each session is a node of both. The list orders sessions by last use, to find idle ones. The tree orders them by
// user, to find one session or all of a user's. It shows nodes created and destroyed one by one, sums over all nodes
// without following a link, both structures dropped at once without walking either, and memory returned after most
// nodes are gone. Copy it where one object belongs to several structures: std::list and std::map would each allocate a
// node of their own.
#include <acre/pools/object_pool.hpp>
#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>

namespace {

struct session_key {
    std::uint32_t user = 0;
    std::uint32_t device = 0;  // counted from 1
    friend auto operator<=>(const session_key&, const session_key&) = default;
};

/// A node of the list and of the tree. It owns nothing, not even its neighbours, so it needs no destructor.
struct session {
    explicit session(session_key of) : key(of) {}

    session_key key;
    int last_used = 0;  // minute
    long bytes_sent = 0;

    session* older = nullptr;  // in the list
    session* newer = nullptr;

    session* left = nullptr;  // in the tree
    session* right = nullptr;
    std::minstd_rand::result_type rank = 0;
};

/// The list, from the least recently used session to the most recently used one.
class use_order {
public:
    session* oldest() const { return oldest_; }

    void add_newest(session& added) {
        added.older = newest_;
        added.newer = nullptr;
        (newest_ == nullptr ? oldest_ : newest_->newer) = &added;
        newest_ = &added;
    }

    void remove(session& gone) {
        (gone.older == nullptr ? oldest_ : gone.older->newer) = gone.newer;
        (gone.newer == nullptr ? newest_ : gone.newer->older) = gone.older;
    }

private:
    session* oldest_ = nullptr;
    session* newest_ = nullptr;
};

/// The tree, a treap: no session ranks above its parent. Ranks are random, so the tree stays shallow for any order of
/// keys.
class key_order {
public:
    session* find(session_key key) const {
        session* at = root_;
        while (at != nullptr && at->key != key) at = *side_of(*at, key);
        return at;
    }

    /// The session with the lowest key above `key`; null when there is none.
    session* first_after(session_key key) const {
        session* found = nullptr;
        for (session* at = root_; at != nullptr;) {
            if (key < at->key) {
                found = at;
                at = at->left;
            } else {
                at = at->right;
            }
        }
        return found;
    }

    void add(session& added) {
        added.rank = random_();
        session** link = &root_;
        while (*link != nullptr && (*link)->rank >= added.rank) link = side_of(**link, added.key);
        split(*link, added);
        *link = &added;
    }

    void remove(session& gone) {
        session** link = &root_;
        while (*link != &gone) link = side_of(**link, gone.key);
        *link = joined(gone.left, gone.right);
    }

private:
    static session** side_of(session& parent, session_key key) {
        return key < parent.key ? &parent.left : &parent.right;
    }

    // Splits `tree` into the subtrees of `top`: smaller keys to the left, the rest to the right.
    static void split(session* tree, session& top) {
        session** before = &top.left;
        session** after = &top.right;
        while (tree != nullptr) {
            if (tree->key < top.key) {
                *before = tree;
                before = &tree->right;
                tree = tree->right;
            } else {
                *after = tree;
                after = &tree->left;
                tree = tree->left;
            }
        }
        *before = nullptr;
        *after = nullptr;
    }

    // Joins two trees; all keys in `low` come before those in `high`.
    static session* joined(session* low, session* high) {
        session* top = nullptr;
        session** link = &top;
        while (low != nullptr && high != nullptr) {
            if (low->rank > high->rank) {
                *link = low;
                link = &low->right;
                low = low->right;
            } else {
                *link = high;
                link = &high->left;
                high = high->left;
            }
        }
        *link = low != nullptr ? low : high;
        return top;
    }

    session* root_ = nullptr;
    std::minstd_rand random_;
};

class session_table {
public:
    session_table() = default;
    session_table(const session_table&) = delete;
    session_table& operator=(const session_table&) = delete;

    /// Handles a request: opens the session if there is none.
    void use(session_key key, int minute, long bytes) {
        session* used = by_key_.find(key);
        if (used == nullptr) {
            used = sessions_.create(key);
            by_key_.add(*used);
        } else {
            by_use_.remove(*used);
        }
        by_use_.add_newest(*used);
        used->last_used = minute;
        used->bytes_sent += bytes;
    }

    /// Closes the sessions of one user.
    void sign_out(std::uint32_t user) {
        while (session* found = first_of(user)) close(*found);
    }

    /// Closes the sessions not used since `minute`, and returns memory.
    void close_idle(int minute) {
        while (by_use_.oldest() != nullptr && by_use_.oldest()->last_used < minute) close(*by_use_.oldest());
        sessions_.release_unused();
    }

    /// Closes all sessions. Walks neither structure, and touches no session, since sessions have no destructor. The
    /// pool keeps the memory.
    void close_all() {
        sessions_.reset();
        by_use_ = {};
        by_key_ = {};
    }

    // Where the order does not matter, iterating the pool visits nodes by address and follows no link.
    long bytes_sent() const {
        long bytes = 0;
        for (const session& each : sessions_) bytes += each.bytes_sent;
        return bytes;
    }
    std::ptrdiff_t idle_since(int minute) const {
        return std::ranges::count_if(sessions_, [=](const session& each) { return each.last_used < minute; });
    }

    void print_devices(std::uint32_t user) const {
        std::printf("devices of user %u:", static_cast<unsigned>(user));
        for (session* each = first_of(user); each != nullptr; each = first_of(user, each->key.device)) {
            std::printf(" %u", static_cast<unsigned>(each->key.device));
        }
        std::printf("\n");
    }

    std::size_t live() const { return sessions_.live(); }
    std::size_t held_bytes() const { return sessions_.capacity(); }

private:
    // The user's first session on a device with a number above `device`; null when there is none.
    session* first_of(std::uint32_t user, std::uint32_t device = 0) const {
        session* found = by_key_.first_after({user, device});
        return found != nullptr && found->key.user == user ? found : nullptr;
    }

    void close(session& gone) {
        by_use_.remove(gone);
        by_key_.remove(gone);
        sessions_.destroy(&gone);
    }

    acre::object_pool<session> sessions_;
    use_order by_use_;
    key_order by_key_;
};

// Ten users arrive each minute, and return a quarter of an hour later. Every third has two devices.
void serve(session_table& sessions, int first_minute, int end) {
    for (int minute = first_minute; minute < end; ++minute) {
        for (std::uint32_t i = 0; i < 10; ++i) {
            const std::uint32_t user = static_cast<std::uint32_t>(minute) * 10 + i;
            sessions.use({user, 1}, minute, 300);
            if (user % 3 == 0) sessions.use({user, 2}, minute, 200);
            if (minute >= first_minute + 15) sessions.use({user - 150, 1}, minute, 100);
        }
    }
}

void print(const char* when, const session_table& sessions, int minute) {
    std::printf("%-12s %5zu live, %5td of them idle, %7ld bytes sent\n", when, sessions.live(),
                sessions.idle_since(minute - 30), sessions.bytes_sent());
}

const char* yes_if(bool so) {
    return so ? "yes" : "no";
}

}  // namespace

int main() {
    session_table sessions;
    serve(sessions, 0, 600);
    for (const std::uint32_t device : {9U, 3U, 7U}) sessions.use({4242, device}, 600, 50);
    print("busy day", sessions, 600);

    sessions.print_devices(4242);
    sessions.sign_out(4242);
    print("signed out", sessions, 600);

    const std::size_t held_at_day = sessions.held_bytes();
    sessions.close_idle(600 - 30);
    print("evening", sessions, 600);
    const std::size_t held_in_evening = sessions.held_bytes();
    std::printf("three quarters of the memory went back: %s\n", yes_if(held_in_evening <= held_at_day / 4));

    sessions.close_all();
    print("night", sessions, 600);
    serve(sessions, 1440, 1460);
    print("next morning", sessions, 1460);
    std::printf("in the memory that was kept: %s\n", yes_if(sessions.held_bytes() == held_in_evening));
    return 0;
}
