// SPDX-License-Identifier: Apache-2.0
// The initial distributions, as Keras defines them.
#include "trireme/graph/initializers.h"

#include <algorithm>
#include <cmath>

#include "trireme/base/error.h"
#include "trireme/base/random.h"

namespace trireme::graph {
namespace {

void glorot_uniform(const ParameterSpec& spec, std::span<float> values, RandomStream random) {
  const double limit = std::sqrt(6.0 / static_cast<double>(spec.fan_in + spec.fan_out));
  for (float& value : values) value = static_cast<float>(random.uniform(-limit, limit));
}

double truncated_normal(RandomStream& random) {
  while (true) {
    const double value = random.normal();
    if (std::abs(value) < 2) return value;
  }
}

void he_normal(const ParameterSpec& spec, std::span<float> values, RandomStream random) {
  // The standard deviation of a standard normal cut at 2; dividing by it gives the wanted one back.
  constexpr double kTruncatedDeviation = 0.87962566103423978;
  const double deviation = std::sqrt(2.0 / static_cast<double>(spec.fan_in)) / kTruncatedDeviation;
  for (float& value : values) value = static_cast<float>(deviation * truncated_normal(random));
}

void fill(const ParameterSpec& spec, std::span<float> values, RandomStream random) {
  if (spec.init == "glorot_uniform") return glorot_uniform(spec, values, random);
  if (spec.init == "he_normal") return he_normal(spec, values, random);
  ensure(spec.init == "zeros" || spec.init == "ones", "an op asks for an initializer that exists");
  std::fill(values.begin(), values.end(), spec.init == "ones" ? 1.0F : 0.0F);
}

}  // namespace

void initialize(const ParameterSpace& space, const std::vector<ParameterSpec>& specs, std::span<float> values, std::uint64_t seed) {
  for (std::size_t index = 0; index < specs.size(); ++index) {
    const Slice& slice = space[index];
    const std::span<float> part = values.subspan(static_cast<std::size_t>(slice.offset), static_cast<std::size_t>(slice.count));
    fill(specs[index], part, RandomStream(combine(seed, hash_text(slice.name))));
  }
}

}  // namespace trireme::graph
