// Allocates in functions whose types are local to this file, so that g++ gives them no linkage names.
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

template <typename Work>
[[gnu::noinline]] void call(Work work) {
    work();
    asm volatile("");
}

void take(std::size_t bytes) {
    void* p = std::malloc(bytes);
    asm volatile("" : "+r"(p));
    std::free(p);
}

struct item {
    char bytes[7'654'321];
};

class table {
public:
    [[gnu::noinline]] void add() {
        items_.push_back(std::make_unique<item>());
        asm volatile("");
    }

private:
    std::vector<std::unique_ptr<item>> items_;
};

}  // namespace

int main() {
    call([] { take(7'654'322); });
    call([] { take(7'654'323); });
    call([] {
        void* p = std::malloc(7'654'324);  // line 41 is asked for
        asm volatile("" : "+r"(p));
        std::free(p);
    });
    table{}.add();
}
