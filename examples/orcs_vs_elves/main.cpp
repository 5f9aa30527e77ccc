// Orcs against elves: a game without a screen that allocates as games do.
//
// It is built twice from the same sources: see memory.hpp. Both programs print the same lines.
#include <charconv>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include "battle.hpp"

namespace {

constexpr int default_frames = 400;
constexpr int max_frames = 1'000'000;

constexpr const char* usage =
    "Usage: orcs_vs_elves [--frames N] [--peak]\n"
    "Simulates a battle of orcs against elves and prints how it went.\n"
    "  --frames N   how many frames, 1 to 1000000 (default 400)\n"
    "  --peak       prints the most memory it had at a time, in KiB, to stderr\n";

// Returns 0 when the text is not a number of frames.
int parse_frames(std::string_view text) {
    int frames = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), frames);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && frames >= 1 && frames <= max_frames ? frames : 0;
}

void fight(int frames) {
    game::battle battle{1954};
    for (int i = 0; i < frames; ++i) battle.simulate_frame();
    const game::result result = battle.finish();
    std::printf("%d frames, %llu arrows shot, %llu soldiers killed, %zu entries in the quest log\n", frames,
                static_cast<unsigned long long>(result.arrows_shot),
                static_cast<unsigned long long>(result.soldiers_killed), result.quests);
    std::printf("checksum %016llx\n", static_cast<unsigned long long>(result.checksum));
}

// The kernel's count for this program alone; getrusage would include the parent's count from before exec.
void print_peak() {
    std::ifstream status{"/proc/self/status"};
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:")) std::fprintf(stderr, "peak %d KiB\n", std::stoi(line.substr(6)));
    }
}

int complain(const char* what, const char* argument) {
    std::fprintf(stderr, "orcs_vs_elves: %s '%s' (try --help)\n", what, argument);
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    int frames = default_frames;
    bool peak = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument{argv[i]};
        if (argument == "--help") {
            std::fputs(usage, stdout);
            return 0;
        }
        if (argument == "--peak") {
            peak = true;
            continue;
        }
        if (argument != "--frames") return complain("unknown argument", argv[i]);
        if (++i == argc) return complain("a number from 1 to 1000000 must follow", argv[i - 1]);
        frames = parse_frames(argv[i]);
        if (frames == 0) return complain("--frames takes a number from 1 to 1000000, not", argv[i]);
    }
    fight(frames);
    if (peak) print_peak();
    return 0;
}
