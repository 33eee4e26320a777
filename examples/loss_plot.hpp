// Losses by step as a picture: an SVG with a curve for each training.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

namespace reports {

struct curve {
    std::string name;            // without characters that XML reserves
    std::vector<double> losses;  // by step, from the first on
};

class loss_plot {
public:
    // There is at least one curve, and a loss in each.
    explicit loss_plot(const std::vector<curve>& curves) : lowest_{curves[0].losses[0]}, highest_{lowest_} {
        for (const curve& c : curves) {
            steps_ = std::max(steps_, c.losses.size());
            lowest_ = std::min(lowest_, *std::min_element(c.losses.begin(), c.losses.end()));
            highest_ = std::max(highest_, *std::max_element(c.losses.begin(), c.losses.end()));
        }
        lowest_ = std::floor(2 * lowest_) / 2;  // gridlines are half a unit apart
        highest_ = std::max(std::ceil(2 * highest_) / 2, lowest_ + 0.5);
        draw_grid();
        for (std::size_t i = 0; i < curves.size(); ++i) draw(curves[i], i);
    }
    // The SVG.
    std::string text() const { return svg_ + "</svg>\n"; }

private:
    static constexpr double width = 640, height = 360, left = 48, right = 520, top = 24, bottom = 320;

    double x(double step) const { return left + (right - left) * (step - 1) / std::max<double>(1, static_cast<double>(steps_) - 1); }
    double y(double loss) const { return bottom - (bottom - top) * (loss - lowest_) / (highest_ - lowest_); }
    template <class... Value>
    void add(const char* format, Value... values) {
        char line[256];
        std::snprintf(line, sizeof line, format, values...);
        svg_ += line;
    }

    void draw_grid() {
        add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" font-size=\"12\">\n", width,
            height);
        add("<rect width=\"%g\" height=\"%g\" fill=\"white\"/>\n", width, height);
        for (double loss = lowest_; loss <= highest_; loss += 0.5) {
            add("<line x1=\"%g\" y1=\"%.1f\" x2=\"%g\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", left, y(loss), right, y(loss));
            add("<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%.1f</text>\n", left - 6, y(loss) + 4, loss);
        }
        for (int part = 0; part <= 4; ++part) {
            const double step = std::round(1 + (static_cast<double>(steps_) - 1) * part / 4);
            add("<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%.0f</text>\n", x(step), bottom + 18, step);
        }
        add("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">step</text>\n", (left + right) / 2, bottom + 34);
        add("<text x=\"%g\" y=\"%g\">loss</text>\n", 4.0, top - 12);
    }
    void draw(const curve& c, std::size_t number) {
        static constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
        const char* const colour = colours[number % std::size(colours)];
        svg_ += "<polyline fill=\"none\" stroke=\"" + std::string{colour} + "\" points=\"";
        for (std::size_t i = 0; i < c.losses.size(); ++i) add("%.1f,%.1f ", x(static_cast<double>(i + 1)), y(c.losses[i]));
        svg_ += "\"/>\n";
        const double line = top + 16 * static_cast<double>(number);
        add("<text x=\"%g\" y=\"%g\" fill=\"%s\">", right + 12, line + 12, colour);
        svg_ += c.name + "</text>\n";
    }

    double lowest_, highest_;
    std::size_t steps_ = 0;
    std::string svg_;
};

}  // namespace reports
