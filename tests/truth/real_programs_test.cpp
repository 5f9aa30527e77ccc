// Real programs get the same advice when they are recorded twice.
#include <acre/core/sanitizer.hpp>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "advised.hpp"

namespace {

using namespace acre::test;

class real_programs : public advised {
protected:
    bool has(const std::string& program) const { return output_of("command -v " + program + " || true").size() > 0; }

    void write(const char* name, const std::string& text) const { std::ofstream{directory_ / name} << text; }

    std::string many(int count, const std::string& before, const std::string& after) const {
        std::string text;
        for (int i = 0; i < count; ++i) text += before + std::to_string(i) + after;
        return text;
    }

    /// Subject and verdict of each advice, except those near 1 % of the allocations, below which a site is ignored.
    std::set<std::pair<std::string, std::string>> advices_in(const std::string& trace) const {
        std::set<std::pair<std::string, std::string>> found;
        const nlohmann::json advice = advice_for(trace, "--no-measure --top 50");
        EXPECT_FALSE(advice.is_discarded());
        for (const auto& each : advice["advices"]) {
            if (each["share"] > 0.012) found.emplace(each["subject"], each["candidate"]);
        }
        return found;
    }

    /// `setting` precedes the command line.
    void expect_the_same_twice(const std::string& command, const std::string& setting = {}) const {
        record("first.acre", command, setting);
        record("second.acre", command, setting);
        const auto first = advices_in("first.acre");
        EXPECT_FALSE(first.empty());
        EXPECT_EQ(first, advices_in("second.acre"));
    }
};

TEST_F(real_programs, sqlite3) {
    if (!has("sqlite3")) GTEST_SKIP() << "there is no sqlite3 on this machine";
    write("query.sql", "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT);" +
                           many(800, "INSERT INTO t VALUES(NULL, 'n", "');") +
                           "CREATE INDEX i ON t(name); SELECT count(*), max(name) FROM t WHERE name LIKE '%7%';");
    expect_the_same_twice("sqlite3 :memory: '.read query.sql'");
}

TEST_F(real_programs, jq) {
    if (!has("jq")) GTEST_SKIP() << "there is no jq on this machine";
    write("a.json", "[" + many(1500, R"({"name": "n)", R"(", "tags": ["a", "b"]},)") + "{}]");
    expect_the_same_twice("jq '[.[] | select(.tags) | {name, n: (.tags | length)}] | length' a.json");
}

TEST_F(real_programs, python3) {
    if (!has("python3")) GTEST_SKIP() << "there is no python3 on this machine";
    // PYTHONHASHSEED because string hashes are random otherwise; the real path because python3 may be a launcher
    // script.
    const std::string python = output_of("python3 -c 'import sys; print(sys.executable, end=\"\")'");
    expect_the_same_twice("'" + python + "' -S -c 'print(sum(len(str(i) * 3) for i in range(5000)))'",
                          "PYTHONHASHSEED=0 PYTHONMALLOC=malloc ");
}

TEST_F(real_programs, perl) {
    if (!has("perl")) GTEST_SKIP() << "there is no perl on this machine";
    expect_the_same_twice("perl -e 'my %h; $h{\"key$_\"} = [$_, \"v$_\"] for 1..5000; print scalar(keys %h)'",
                          "PERL_HASH_SEED=0 ");
}

TEST_F(real_programs, xmllint) {
    if (!has("xmllint")) GTEST_SKIP() << "there is no xmllint on this machine";
    write("a.xml", "<r>" + many(2000, "<e name='n", "'><b>text</b></e>") + "</r>");
    expect_the_same_twice("xmllint --noout --xpath 'count(//b)' a.xml");
}

TEST_F(real_programs, the_compiler_itself) {
    if (acre::poisoning)
        GTEST_SKIP() << "a sanitized command takes most of a minute for it, and reads the other programs";
    const std::string compiler = output_of("g++ -print-prog-name=cc1plus 2>/dev/null || true");
    if (compiler.find('/') == std::string::npos) GTEST_SKIP() << "there is no cc1plus on this machine";
    write("a.cpp", "template <int N> struct s { int v = N; };" + many(300, "int f", "() { return s<3>{}.v; }\n"));
    expect_the_same_twice("'" + compiler.substr(0, compiler.find('\n')) + "' -quiet -O1 a.cpp -o a.s");
}

TEST_F(real_programs, four_threads) {
    write("a.cpp", R"(
        #include <map>
        #include <string>
        #include <thread>
        #include <vector>
        void work(int n) {
            for (int round = 0; round < 200; ++round) {
                std::map<int, std::string> texts;
                for (int i = 0; i < 10; ++i) texts[i] = std::string(20 + i * n, 'x');
            }
        }
        int main() {
            std::vector<std::thread> threads;
            for (int i = 1; i <= 4; ++i) threads.emplace_back(work, i);
            for (auto& each : threads) each.join();
        })");
    output_of("'" CXX_COMPILER "' -std=c++20 -O1 -g -pthread a.cpp -o four");
    expect_the_same_twice("./four");
}

}  // namespace
