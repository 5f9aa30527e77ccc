#include "try_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "text/text.hpp"
#include "try_report.hpp"

namespace acre::tool {

namespace {

constexpr std::string_view head = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>acre try</title>
<style>
:root { color-scheme: light dark; --ink: light-dark(#1a1f25, #eaeef2); --soft: light-dark(#4a535e, #aeb8c3);
  --line: light-dark(#cfd5dc, #3a434d); --mark: light-dark(#0072b2, #56b4e9); --paper: light-dark(#ffffff, #14181d); }
body { margin: 0 auto; max-width: 1000px; padding: 0 20px 40px; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; } p, figcaption { max-width: 80ch; }
pre, code { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: .9rem; white-space: pre-wrap; }
.scroll { overflow-x: auto; } figure { margin: 0; } figcaption { color: var(--soft); }
svg { width: 100%; min-width: 600px; height: auto; }
svg text { fill: var(--ink); font: 14px system-ui, sans-serif; } svg .soft { fill: var(--soft); }
svg line { stroke: var(--line); } svg .spread { stroke: var(--mark); stroke-width: 4; }
svg circle, svg rect { fill: var(--mark); }
table { border-collapse: collapse; }
th, td { text-align: right; padding: 4px 14px 4px 0; border-bottom: 1px solid var(--line); }
th:first-child { text-align: left; } thead th { color: var(--soft); }
</style>
</head>
<body>
)";

/// Text that cannot be taken for an element.
std::string inert(std::string_view text) {
    std::string result;
    for (const char each : printable_text(text)) {
        switch (each) {
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '&':
                result += "&amp;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += each;
        }
    }
    return result;
}

/// The beginning of a name that is too long to stand beside a picture.
std::string shortened(const std::string& name) {
    constexpr std::size_t most = 42;
    if (name.size() <= most) return name;
    std::size_t end = most - 3;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;  // not within a character
    return name.substr(0, end) + "...";
}

/// A row of a picture: a ratio, with its interval.
struct row {
    std::string name;
    interval ratio;
};

/// The rows' ratios as points on one axis, with a line at 1.
std::string picture_of(const std::vector<row>& rows, const std::string& title, const std::string& explanation) {
    constexpr double left = 330;
    constexpr double width = 520;
    constexpr double height = 28;
    double low = 1;
    double high = 1;
    for (const row& each : rows) {
        low = std::min(low, each.ratio.low);
        high = std::max(high, each.ratio.high);
    }
    const double margin = std::max((high - low) * 0.05, 0.01);
    low -= margin;
    high += margin;
    const auto x = [&](double ratio) { return left + (ratio - low) / (high - low) * width; };
    const double bottom = height * static_cast<double>(rows.size()) + 10;
    std::string svg = fmt::format(
        "<figure><h2>{0}</h2><div class=\"scroll\"><svg viewBox=\"0 0 960 {1:.0f}\" role=\"img\" "
        "aria-label=\"{0}: the figures are in the table\">\n"
        "<line x1=\"{2:.1f}\" x2=\"{2:.1f}\" y1=\"0\" y2=\"{3:.0f}\"/><text class=\"soft\" x=\"{2:.1f}\" y=\"{4:.0f}\" "
        "text-anchor=\"middle\">1</text>\n",
        title, bottom + 20, x(1), bottom, bottom + 16);
    double y = height;
    for (const row& each : rows) {
        svg += fmt::format(
            "<text x=\"0\" y=\"{0:.0f}\">{1}</text>"
            "<line class=\"spread\" x1=\"{2:.1f}\" x2=\"{3:.1f}\" y1=\"{4:.0f}\" y2=\"{4:.0f}\"/>"
            "<circle cx=\"{5:.1f}\" cy=\"{4:.0f}\" r=\"6\"/>"
            "<text class=\"soft\" x=\"{6:.0f}\" y=\"{0:.0f}\">{7:.3f}</text>\n",
            y, inert(shortened(each.name)), x(each.ratio.low), x(each.ratio.high), y - 5, x(each.ratio.median),
            left + width + 20, each.ratio.median);
        y += height;
    }
    return svg + "</svg></div><figcaption>" + explanation + "</figcaption></figure>\n";
}

std::string table_of(const std::vector<std::vector<std::string>>& rows) {
    std::string table = "<div class=\"scroll\"><table>\n";
    for (std::size_t i = 0; i < rows.size(); ++i) {
        table += i == 0 ? "<thead><tr>" : i == 1 ? "<tbody><tr>" : "<tr>";
        for (std::size_t cell = 0; cell < rows[i].size(); ++cell) {
            const char* tag = i == 0 ? "th scope=\"col\"" : cell == 0 ? "th scope=\"row\"" : "td";
            table += fmt::format("<{}>{}</{}>", tag, inert(rows[i][cell]), std::string_view{tag}.substr(0, 2));
        }
        table += i == 0 ? "</tr></thead>\n" : "</tr>\n";
    }
    return table + "</tbody></table></div>\n";
}

/// The pictures and the table of some ways, compared with one of them.
std::string comparison_table(const contest_result& result, const std::vector<std::size_t>& ways, std::size_t base,
                             const std::string& cpu_title, const std::vector<std::vector<std::string>>& rows) {
    const std::string compared_with = result.ways[base].how.name;
    std::vector<row> times;
    std::vector<row> peaks;
    for (const std::size_t each : ways) {
        const std::string& name = result.ways[each].how.name;
        times.push_back({name, result.cpu_ratio(each, base)});
        peaks.push_back({name, result.peak_ratio(each, base)});
    }
    return picture_of(times, cpu_title,
                      "User and system time as a ratio to that of the program " +
                          std::string{base == 0 ? "" : "with "} + inert(compared_with) +
                          ", without what a round costs all: the estimate, with its interval. Further left is less.") +
           picture_of(peaks, "Peak memory", "Resident memory, as a ratio likewise.") + table_of(rows);
}

}  // namespace

std::string try_page(const contest_result& result, const std::vector<std::string>& command) {
    std::string page{head};
    page += "<h1>What a program costs with other mallocs</h1>\n<p><code>" + inert(try_title(result, command)) +
            "</code></p>\n<pre>" + inert(try_answer(result, command)) + "</pre>\n";
    page += comparison_table(result, ranking(result), 0, "CPU time", try_rows(result));
    if (const auto groups = group_ranking(result); !groups.empty())
        page += comparison_table(result, groups, base_of_groups(result), "CPU time with one group of the plan alone",
                                 try_group_rows(result));
    return page + "<p>Made by <code>acre try</code>. The page loads nothing from elsewhere.</p>\n</body>\n</html>\n";
}

}  // namespace acre::tool
