#include "front_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <vector>

#include "text/text.hpp"

namespace acre::tool {

namespace {

/// Maps bytes to coordinates on a logarithmic axis.
class scale {
public:
    scale(double low, double high, double from, double to)
        : low_{std::log2(low)}, span_{std::max(std::log2(high) - std::log2(low), 1e-9)}, from_{from}, to_{to} {}

    double operator()(double bytes) const { return from_ + (std::log2(bytes) - low_) / span_ * (to_ - from_); }

private:
    double low_;
    double span_;
    double from_;
    double to_;
};

struct limits {
    double smallest_arena = 0;
    double largest_arena = 0;
    double min_total = 0;
    double max_total = 0;
};

double total_of(const front_picture& of, const acre::multi_arena_fit& pair) {
    return static_cast<double>(required_bytes(pair, of.sharing));
}

/// At least a factor of two, so that a single pair can be drawn.
limits limits_of(const front_picture& of) {
    limits found;
    found.smallest_arena = static_cast<double>(of.front.tried.front().bytes);
    found.largest_arena = std::max(static_cast<double>(of.front.tried.back().bytes), 2 * found.smallest_arena);
    found.min_total = std::max<double>(static_cast<double>(of.peak_bytes), 1);
    for (const acre::multi_arena_fit& each : of.front.tried) {
        found.min_total = std::min(found.min_total, total_of(of, each));
        found.max_total = std::max(found.max_total, total_of(of, each));
    }
    found.max_total = std::max(found.max_total, 2 * found.min_total);
    return found;
}

constexpr std::size_t text_width = 64;
constexpr std::size_t text_height = 12;

/// Rows of characters, the first at the top.
class text_canvas {
public:
    text_canvas() : rows_(text_height, std::string(text_width, ' ')) {}

    void set(double x, double y, char mark) {
        const auto column = static_cast<std::size_t>(std::clamp(std::round(x), 0.0, double{text_width - 1}));
        const auto row = static_cast<std::size_t>(std::clamp(std::round(y), 0.0, double{text_height - 1}));
        rows_[row][column] = mark;
    }
    void fill_row(double y, char mark) {
        for (std::size_t x = 0; x < text_width; ++x) set(static_cast<double>(x), y, mark);
    }

    std::string text(const std::string& top, const std::string& bottom) const {
        std::string lines;
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            const std::string& label = row == 0 ? top : row + 1 == rows_.size() ? bottom : std::string{};
            const std::string line = fmt::format("  {:>9} |{}", label, rows_[row]);
            lines += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        }
        return lines;
    }

private:
    std::vector<std::string> rows_;
};

constexpr double svg_width = 720;
constexpr double svg_height = 420;
constexpr double svg_left = 90;
constexpr double svg_right = 24;
constexpr double svg_top = 48;
constexpr double svg_bottom = 64;

constexpr std::string_view svg_style = R"(<style>
  .ground { fill: #ffffff; }
  .line, .grid { stroke: #8a8f98; fill: none; }
  .grid { stroke-opacity: 0.3; }
  .live { stroke: #b45309; stroke-dasharray: 6 4; }
  .tried { fill: #8a8f98; }
  .pair { fill: #1d4ed8; }
  .front { stroke: #1d4ed8; fill: none; stroke-width: 1.5; }
  .best { fill: #15803d; }
  text { font: 13px sans-serif; fill: #1f2328; }
  text.live-text { fill: #b45309; stroke: none; }
  text.best-text { fill: #15803d; font-weight: bold; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; }
    .live { stroke: #f0a35e; }
    .pair { fill: #79a8ff; }
    .front { stroke: #79a8ff; }
    .best { fill: #5bd17e; }
    text { fill: #e6edf3; }
    text.live-text { fill: #f0a35e; }
    text.best-text { fill: #5bd17e; }
  }
</style>
)";

std::string pair_text(const front_picture& of, const acre::multi_arena_fit& pair) {
    return fmt::format("{} of {}: {}", plural(pair.arenas, "arena", "arenas"), bytes_text(pair.bytes),
                       bytes_text(required_bytes(pair, of.sharing)));
}

class svg_plot {
public:
    explicit svg_plot(const front_picture& of)
        : of_{of},
          within_{limits_of(of)},
          x_{within_.smallest_arena, within_.largest_arena, svg_left, svg_width - svg_right},
          y_{within_.min_total, within_.max_total, svg_height - svg_bottom, svg_top} {}

    std::string text() {
        out_ = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n"
            "<title>{2}</title>\n{3}<rect class=\"ground\" width=\"{0}\" height=\"{1}\"/>\n"
            "<text x=\"{4}\" y=\"24\">{2}</text>\n",
            svg_width, svg_height, title_, svg_style, svg_left);
        axes();
        live_line();
        points();
        return out_ + "</svg>\n";
    }

private:
    void axes() {
        ticks(within_.smallest_arena, within_.largest_arena, [&](std::uint64_t bytes) {
            const double x = x_(static_cast<double>(bytes));
            out_ += fmt::format(
                "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/>"
                "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
                x, svg_top, svg_height - svg_bottom, svg_height - svg_bottom + 18, tick_text(bytes));
        });
        ticks(within_.min_total, within_.max_total, [&](std::uint64_t bytes) {
            const double y = y_(static_cast<double>(bytes));
            out_ += fmt::format(
                "<line class=\"grid\" x1=\"{1}\" y1=\"{0:.1f}\" x2=\"{2}\" y2=\"{0:.1f}\"/>"
                "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
                y, svg_left, svg_width - svg_right, svg_left - 8, y + 4, tick_text(bytes));
        });
        out_ += fmt::format(
            "<path class=\"line\" d=\"M{0} {1}V{2}H{3}\"/>\n"
            "<text x=\"{4}\" y=\"{5}\" text-anchor=\"middle\">bytes of an arena (logarithmic)</text>\n"
            "<text x=\"16\" y=\"{6}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {6})\">bytes in all "
            "(logarithmic)</text>\n",
            svg_left, svg_top, svg_height - svg_bottom, svg_width - svg_right, (svg_left + svg_width - svg_right) / 2,
            svg_height - 16, (svg_top + svg_height - svg_bottom) / 2);
    }

    /// At powers of two, no more than eight.
    template <typename Draw>
    static void ticks(double low, double high, Draw draw) {
        const int first = static_cast<int>(std::ceil(std::log2(low) - 1e-9));
        const int last = static_cast<int>(std::floor(std::log2(high) + 1e-9));
        const int step = std::max(1, (last - first + 7) / 8);
        for (int power = first; power <= last; power += step) draw(std::uint64_t{1} << power);
    }

    static std::string tick_text(std::uint64_t bytes) {
        for (const auto& [unit, shift] : {std::pair{"GiB", 30}, {"MiB", 20}, {"KiB", 10}}) {
            if (bytes >> shift != 0) return fmt::format("{} {}", bytes >> shift, unit);
        }
        return fmt::format("{} B", bytes);
    }

    void live_line() {
        if (of_.peak_bytes == 0) return;
        const double y = y_(static_cast<double>(of_.peak_bytes));
        out_ += fmt::format(
            "<line class=\"live\" x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\"/>"
            "<text class=\"live-text\" x=\"{2}\" y=\"{3:.1f}\" text-anchor=\"end\">live at the peak: {4}</text>\n",
            svg_left, y, svg_width - svg_right, y - 6, bytes_text(of_.peak_bytes));
    }

    void points() {
        for (const acre::multi_arena_fit& each : of_.front.tried) circle(each, "tried", 2.5);
        std::string path;
        for (const acre::multi_arena_fit& each : of_.front.pairs) {
            path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_(static_cast<double>(each.bytes)),
                                y_(total_of(of_, each)));
        }
        out_ += fmt::format("<path class=\"front\" d=\"{}\"/>\n", path);
        for (const acre::multi_arena_fit& each : of_.front.pairs) circle(each, "pair", 4);
        const acre::multi_arena_fit& best = of_.front.best();
        circle(best, "best", 6);
        const double x = x_(static_cast<double>(best.bytes));
        const bool right = x > svg_width / 2;
        out_ += fmt::format("<text class=\"best-text\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
                            right ? x - 10 : x + 10, y_(total_of(of_, best)) - 12, right ? "end" : "start",
                            pair_text(of_, best));
    }

    void circle(const acre::multi_arena_fit& pair, std::string_view kind, double radius) {
        out_ +=
            fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}</title></circle>\n", kind,
                        x_(static_cast<double>(pair.bytes)), y_(total_of(of_, pair)), radius, pair_text(of_, pair));
    }

    static constexpr std::string_view title_ = "The smallest number of arenas of each size that serves every request";

    const front_picture& of_;
    limits within_;
    scale x_;
    scale y_;
    std::string out_;
};

}  // namespace

std::string plot_text(const front_picture& of) {
    const limits within = limits_of(of);
    const scale x{within.smallest_arena, within.largest_arena, 0, double{text_width - 1}};
    const scale y{within.min_total, within.max_total, double{text_height - 1}, 0};
    text_canvas canvas;
    if (of.peak_bytes != 0) canvas.fill_row(y(static_cast<double>(of.peak_bytes)), '-');
    const auto draw = [&](const acre::multi_arena_fit& each, char mark) {
        canvas.set(x(static_cast<double>(each.bytes)), y(total_of(of, each)), mark);
    };
    for (const acre::multi_arena_fit& each : of.front.tried) draw(each, '.');
    for (const acre::multi_arena_fit& each : of.front.pairs) draw(each, '*');
    draw(of.front.best(), '#');
    const std::string right = bytes_text(static_cast<std::uint64_t>(within.largest_arena));
    const std::string left = bytes_text(static_cast<std::uint64_t>(within.smallest_arena));
    return fmt::format("  bytes in all\n{}{:12}+{:->{}}\n{:13}{}{:>{}}\n{:13}{}\n",
                       canvas.text(bytes_text(static_cast<std::uint64_t>(within.max_total)),
                                   bytes_text(static_cast<std::uint64_t>(within.min_total))),
                       "", "", text_width, "", left, right, text_width - left.size(), "",
                       "bytes of an arena; # least in all, * front, . others tried, - live at the peak");
}

std::string plot_svg(const front_picture& of) {
    return svg_plot{of}.text();
}

}  // namespace acre::tool
