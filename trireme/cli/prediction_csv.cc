// SPDX-License-Identifier: Apache-2.0
// Writes the lines of a table of predictions.
#include "trireme/cli/prediction_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trireme::cli {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char sign : text) quoted += sign == '"' ? std::string("\"\"") : std::string(1, sign);
  return quoted + "\"";
}

PredictionCsv::PredictionCsv(Form form, ClassTitle title) : form_(std::move(form)), title_(std::move(title)) {
  form_.top = std::min(form_.top, form_.outputs);
  add_header();
}

void PredictionCsv::add_header() {
  text_ = form_.subject + (form_.labelled ? ",label" : "");
  const std::size_t answers = form_.classifies ? form_.top : form_.outputs;
  for (std::size_t i = 1; i <= answers; ++i) {
    const std::string number = i == 1 && (form_.classifies || answers == 1) ? "" : fmt::format("_{}", i);
    text_ += fmt::format(",answer{}", number);
    if (form_.classifies) text_ += fmt::format(",probability{}", number);
  }
  text_ += "\n";
}

void PredictionCsv::add(const std::string& name, const std::string& label, std::span<const float> outputs,
                        std::span<const std::size_t> best) {
  text_ += csv_field(name);
  if (form_.labelled) text_ += "," + csv_field(label);
  if (form_.classifies)
    for (const std::size_t number : best.first(form_.top))
      text_ += fmt::format(",{},{:.6g}", csv_field(title_(static_cast<std::int64_t>(number))), outputs[number]);
  else
    for (const float output : outputs) text_ += fmt::format(",{:.8g}", output);
  text_ += "\n";
}

}  // namespace trireme::cli
