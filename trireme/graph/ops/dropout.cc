// SPDX-License-Identifier: Apache-2.0
// dropout: while training, each value is 0 with probability `rate`, else x / (1 - rate); otherwise y = x.
#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/base/random.h"
#include "trireme/graph/elementwise.h"

namespace trireme::graph::ops {
namespace {

Cost cost(const std::any&, std::span<const Shape>, const Shape& output) { return cost_per_value(output, 2, 1); }

// Value e of a sample, counted row by row, depends only on the sample's key and e: not on who computes it.
void reference(const std::any& options, const ReferenceCall& call) {
  const double rate = std::any_cast<const DropoutOptions&>(options).rate;
  const std::int64_t count = call.output_shape.count();
  if (!call.training) {
    std::copy_n(call.inputs[0], call.batch * count, call.output);
    return;
  }
  ensure(std::ssize(call.sample_keys) >= call.batch, "dropout has a random stream for each sample");
  const auto threshold = static_cast<std::uint32_t>(rate * 0x1.0p32);
  for (std::int64_t n = 0; n < call.batch; ++n) {
    const std::uint32_t key = call.sample_keys[static_cast<std::size_t>(n)];
    for (std::int64_t e = 0; e < count; ++e) {
      const bool kept = random_bits(key, static_cast<std::uint32_t>(e)) >= threshold;
      call.output[n * count + e] = kept ? call.inputs[0][n * count + e] / (1 - rate) : 0;
    }
  }
}

std::vector<Example> examples() {
  return {{DropoutOptions{.rate = 0.25}, {{5, 4, 3}}},
          {DropoutOptions{.rate = 0.1}, {{17, 3, 3}}},
          {DropoutOptions{.rate = 0.5}, {{33}}},
          {DropoutOptions{.rate = 0}, {{6, 5}}}};
}

}  // namespace

OpEntry dropout() {
  return {.name = "dropout",
          .summary = "sets random values to zero while training",
          .options = options_type<DropoutOptions>(),
          .define = same_shape,
          .cost = cost,
          .reference = reference,
          .examples = examples};
}

}  // namespace trireme::graph::ops
