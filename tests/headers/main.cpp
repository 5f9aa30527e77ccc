// Links the translation units of all public headers into one program.
int main() {
    return 0;
}
