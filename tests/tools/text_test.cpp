// Text for people: numbers, names that are safe to print, and the progress line.
#include "text/text.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "text/terminal.hpp"

namespace {

using namespace acre::tool;

TEST(text, counts_and_amounts) {
    EXPECT_EQ(count_text(0), "0");
    EXPECT_EQ(count_text(1'234'567), "1,234,567");
    EXPECT_EQ(bytes_text(812), "812 B");
    EXPECT_EQ(time_text(850), "850 ns");
    EXPECT_EQ(percent_text(0.123), "12.3 %");
}

TEST(text, one_and_many) {
    EXPECT_EQ(plural(1, "thread", "threads"), "1 thread");
    EXPECT_EQ(plural(2'000, "thread", "threads"), "2,000 threads");
}

TEST(text, means_have_a_decimal_if_small_and_not_whole) {
    const auto threads = [](double mean) { return plural_of_mean(mean, "thread", "threads"); };
    EXPECT_EQ(threads(0), "0 threads");
    EXPECT_EQ(threads(1), "1 thread");
    EXPECT_EQ(threads(1.04), "1 thread");
    EXPECT_EQ(threads(1.3), "1.3 threads");
    EXPECT_EQ(threads(4.0), "4 threads");
    EXPECT_EQ(threads(9.94), "9.9 threads");
    EXPECT_EQ(threads(2510.4), "2,510 threads");
}

TEST(text, printable_names_do_not_command_the_terminal) {
    EXPECT_EQ(printable("plain\u00e4\u20ac\U0001f600"), "plain\u00e4\u20ac\U0001f600");
    EXPECT_EQ(printable(std::string_view{"a\0\x1b[31m\r\n\t\x7f", 11}), "a??[31m????");
    EXPECT_EQ(printable("\xc2\x80\xc2\x9b"
                        "31m\xc2\x9f\xc2\xa0"),
              "??31m?\xc2\xa0")
        << "C1";
    EXPECT_EQ(printable("\x9b"
                        "31m\xff"),
              "\ufffd31m\ufffd")
        << "C1 as a byte";
    EXPECT_EQ(printable("\u202a\u202e\u2066\u2069\u200e\u200f\u061c|\u2028\u2029"), "???????|??");
    EXPECT_EQ(printable("\u061b\u061d\u200d\u2010\u2027\u202f\u2065\u206a"),
              "\u061b\u061d\u200d\u2010\u2027\u202f\u2065\u206a");
    EXPECT_EQ(printable_text("a\n\tb\r\u202e"), "a\n\tb??");
}

TEST(text, a_quoted_word_is_the_same_word_to_a_shell) {
    EXPECT_EQ(quoted_for_shell("./app-1.2"), "./app-1.2");
    EXPECT_EQ(quoted_for_shell("gr\u00fc\u00df"), "gr\u00fc\u00df");
    EXPECT_EQ(quoted_for_shell(""), "''");
    EXPECT_EQ(quoted_for_shell("it's"), "'it'\\''s'");
    EXPECT_EQ(quoted_for_shell("l1\nl2\t'\\"), "$'l1\\nl2\\t\\'\\\\'");
    EXPECT_EQ(quoted_for_shell("\x1b"
                               "1\xff\u202e \u00e4"),
              "$'\\0331\\377\\342\\200\\256 \u00e4'");
}

// Every byte that an argument can have, each before a digit.
TEST(text, a_quoted_word_is_read_by_bash) {
    std::string word;
    for (int byte = 1; byte < 256; ++byte) word.append(1, static_cast<char>(byte)).append("1");
    const std::string command = "printf %s " + quoted_for_shell(word);
    EXPECT_EQ(printable(command), command);
    ::setenv("QUOTED_WORD", command.c_str(), 1);
    std::FILE* pipe = ::popen("bash -c \"$QUOTED_WORD\"", "r");
    ASSERT_NE(pipe, nullptr);
    std::string got(1000, '\0');
    got.resize(std::fread(got.data(), 1, got.size(), pipe));
    ::pclose(pipe);
    EXPECT_EQ(got, word);
}

TEST(text, printable_json_means_the_same) {
    EXPECT_EQ(printable_json("{\n  \"a\u009b\u202e\x7f\u00e4\"\n}"), "{\n  \"a\\u009b\\u202e\\u007f\u00e4\"\n}");
}

/// What a process that does `work` writes to its terminal.
template <typename Work>
std::string on_a_terminal(Work work) {
    int terminal = -1;
    const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child == 0) {
        ::setenv("TERM", "xterm", 1);
        work();
        ::_exit(0);
    }
    std::string written;
    char part[256];
    for (ssize_t got = 0; (got = ::read(terminal, part, sizeof part)) > 0;) {
        written.append(part, static_cast<std::size_t>(got));
    }
    ::close(terminal);
    ::waitpid(child, nullptr, 0);
    return written;
}

TEST(text, a_message_replaces_the_progress_line) {
    const std::string written = on_a_terminal([] {
        progress_bar bar{"working", true};
        while (bar.show(0.5), !progress_is_shown()) std::this_thread::sleep_for(std::chrono::milliseconds{20});
        write_message("acre: a sentence");
        write_message("acre: another");
    });
    const std::size_t bar = written.find("\rworking [");
    ASSERT_NE(bar, std::string::npos) << written;
    const std::size_t sentence = written.find("\r\033[Kacre: a sentence\r\nacre: another\r\n", bar);
    ASSERT_NE(sentence, std::string::npos) << written;
    EXPECT_EQ(written.find("acre: another\r\n") + 15, written.size()) << "nothing is left to erase at the end";
}

TEST(text, reads_times) {
    EXPECT_EQ(parse_seconds("90s"), 90.0);
    EXPECT_EQ(parse_seconds("0.5"), 0.5);
    EXPECT_EQ(parse_seconds("5m"), 300.0);
    EXPECT_EQ(parse_seconds("2h"), 7200.0);
    for (const char* text : {"", "s", "0s", "-1s", "soon", "5 m", "5ms", "1e9s", "inf", "nan"})
        EXPECT_FALSE(parse_seconds(text)) << text;
}

}  // namespace
