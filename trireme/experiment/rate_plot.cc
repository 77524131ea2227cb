// SPDX-License-Identifier: Apache-2.0
// A range test's curve in characters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "trireme/experiment/rate_range.h"

namespace trireme::experiment {
namespace {

constexpr int kRows = 12;
constexpr int kColumns = 66;

struct Scale {
  double from, to;
  int cells;
  int cell(double value) const {
    if (to <= from) return 0;
    return std::clamp(static_cast<int>(std::lround((value - from) / (to - from) * (cells - 1))), 0, cells - 1);
  }
};

std::string axis_labels(const Scale& rates) {
  std::string line(static_cast<std::size_t>(kColumns) + 8, ' ');
  for (int power = static_cast<int>(std::ceil(rates.from - 1e-9)); power <= std::floor(rates.to + 1e-9); ++power) {
    const std::string label = fmt::format("1e{}", power);
    line.replace(static_cast<std::size_t>(rates.cell(power)), label.size(), label);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

std::string axis(const Scale& rates) {
  std::string line(kColumns, '-');
  for (int power = static_cast<int>(std::ceil(rates.from - 1e-9)); power <= std::floor(rates.to + 1e-9); ++power)
    line[static_cast<std::size_t>(rates.cell(power))] = '+';
  return line;
}

}  // namespace

std::string plot_rates(const std::vector<RateStep>& steps, const RateFinding& finding) {
  const double lowest = *std::ranges::min_element(finding.smoothed);
  const double first = finding.smoothed.front();
  // What lies far above where it began would flatten everything else.
  const Scale losses{
      .from = lowest, .to = std::min(*std::ranges::max_element(finding.smoothed), first + 0.5 * (first - lowest)), .cells = kRows};
  const Scale rates{.from = std::log10(steps.front().rate), .to = std::log10(steps.back().rate), .cells = kColumns};
  std::vector<std::string> grid(kRows, std::string(kColumns, ' '));
  const auto suggested = static_cast<std::size_t>(rates.cell(std::log10(finding.suggestion)));
  for (std::string& row : grid) row[suggested] = '|';
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const int row = kRows - 1 - losses.cell(finding.smoothed[i]);
    grid[static_cast<std::size_t>(row)][static_cast<std::size_t>(rates.cell(std::log10(steps[i].rate)))] = '*';
  }
  std::string text = "loss\n";
  for (int row = 0; row < kRows; ++row) {
    const double value = losses.to - (losses.to - losses.from) * row / (kRows - 1);
    std::string line =
        fmt::format("{:>8} |{}", row % 4 == 0 || row == kRows - 1 ? fmt::format("{:.3f}", value) : "", grid[static_cast<std::size_t>(row)]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text + fmt::format("{:>8} +{}\n{:>8}  {}\n", "", axis(rates), "", axis_labels(rates));
}

}  // namespace trireme::experiment
