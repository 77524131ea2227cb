// SPDX-License-Identifier: Apache-2.0
// Class weights as numbers, or counted from labels.
#include "trireme/train/job/class_weights.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::train {
namespace {

constexpr std::string_view kKey = "class_weights";
constexpr std::string_view kBalanced = "balanced";

bool is_balanced(const std::vector<std::string>& weights) { return weights.size() == 1 && weights.front() == kBalanced; }

std::optional<float> weight_of(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc{} || stopped != end || !std::isfinite(value) || value < 0) return std::nullopt;
  return static_cast<float>(value);
}

std::vector<float> balanced(const data::Source& samples, std::size_t outputs) {
  std::vector<double> counts(outputs);
  for (std::int64_t i = 0; i < samples.size(); ++i) {
    const std::int32_t label = samples.label(i);
    if (label >= 0 && static_cast<std::size_t>(label) < outputs) ++counts[static_cast<std::size_t>(label)];
  }
  const auto classes = static_cast<double>(std::ranges::count_if(counts, [](double count) { return count > 0; }));
  std::vector<float> weights(outputs, 1.0F);
  for (std::size_t i = 0; i < outputs; ++i)
    if (counts[i] > 0) weights[i] = static_cast<float>(static_cast<double>(samples.size()) / (classes * counts[i]));
  return weights;
}

}  // namespace

Config with_class_weights_as_text(Config train) {
  const Config* const given = train.find(kKey);
  if (given == nullptr || !given->is_list()) return train;
  Config::List texts;
  for (const Config& item : given->list()) texts.emplace_back(item.is_text() ? item.text() : item.to_toml(), item.origin());
  train.put(kKey, Config(std::move(texts), given->origin()));
  return train;
}

void check_class_weights(const TrainOptions& options, const Config& train) {
  const std::vector<std::string>& weights = options.class_weights;
  if (weights.empty() || is_balanced(weights)) return;
  const std::string& place = train.at(kKey).origin();
  for (const std::string& weight : weights)
    if (!weight_of(weight))
      throw Error{invalid_argument, R"({}: [train]: class_weights is "balanced" or a list of numbers from 0 on, one per class, not '{}')",
                  place, weight};
  if (std::ranges::all_of(weights, [](const std::string& weight) { return weight_of(weight) == 0.0F; }))
    throw Error{invalid_argument, "{}: [train]: with class_weights that are all 0 nothing is learned", place};
}

void check_class_weights(const Job& job, const Config& train) {
  const std::vector<std::string>& weights = job.train.class_weights;
  if (weights.empty()) return;
  const std::string& place = train.at(kKey).origin();
  if (job.graph.loss() != "softmax_cross_entropy")
    throw Error{invalid_argument, "{}: [train]: class_weights needs classes, and the loss {} has none; leave it out", place,
                job.graph.loss()};
  const std::int64_t classes = job.graph.node(job.graph.output()).shape.count();
  if (!is_balanced(weights) && static_cast<std::int64_t>(weights.size()) != classes)
    throw Error{invalid_argument, R"({}: [train]: {} class_weights for {} classes; give one per class, or "balanced")", place,
                weights.size(), classes};
}

std::vector<float> class_weights(const Job& job, const data::Source& samples) {
  const std::vector<std::string>& given = job.train.class_weights;
  if (given.empty()) return {};
  const auto outputs = static_cast<std::size_t>(job.graph.node(job.graph.output()).shape.count());
  if (is_balanced(given)) return balanced(samples, outputs);
  std::vector<float> weights;
  for (const std::string& text : given) weights.push_back(weight_of(text).value());
  return weights;
}

}  // namespace trireme::train
