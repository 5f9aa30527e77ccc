// Runs something when the calling thread ends: for resources that keep memory for each thread.
//
// Used by the concurrent pools, not directly. The library of threads runs the destructors of thread_local objects in an
// order of its own; what is registered here is run when the first registration's turn comes, and a registration after
// that is refused, so that a resource knows that it must not keep anything for this thread any more.
//
// Cost: a registration is a thread-local access and two stores. The node must live until it runs.
#pragma once

namespace acre::detail {

/// What to run, and the next of this thread.
struct thread_exit_node {
    void (*run)(thread_exit_node*) noexcept;
    thread_exit_node* next;
};

/// What a thread still has to run. It is destroyed with the thread.
struct thread_exit_list {
    thread_exit_node* first = nullptr;

    thread_exit_list() noexcept = default;
    thread_exit_list(const thread_exit_list&) = delete;
    thread_exit_list& operator=(const thread_exit_list&) = delete;
    ~thread_exit_list();
};

/// Outlives the list, whose destructor sets it.
inline thread_local constinit bool thread_has_exited = false;

inline thread_exit_list::~thread_exit_list() {
    thread_has_exited = true;
    while (first != nullptr) {
        thread_exit_node* each = first;
        first = each->next;
        each->run(each);
    }
}

/// Has `node` run when this thread ends; false when it is ending already: then it will not be run.
inline bool run_at_thread_exit(thread_exit_node& node) noexcept {
    if (thread_has_exited) return false;
    thread_local thread_exit_list list;
    node.next = list.first;
    list.first = &node;
    return true;
}

}  // namespace acre::detail
