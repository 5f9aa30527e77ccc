// Has what a program of AddressSanitizer shows from outside, without the sanitizer.
extern "C" void __asan_init() {}

int main() {
    __asan_init();
}
