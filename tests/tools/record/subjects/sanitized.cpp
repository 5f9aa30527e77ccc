// Looks from outside like a program built with AddressSanitizer.
extern "C" void __asan_init() {}

int main() {
    __asan_init();
}
