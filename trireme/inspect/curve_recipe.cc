// SPDX-License-Identifier: Apache-2.0
// Curves, such as spectra: convolutions along the curve, each with half the resolution of the one before.
#include <fmt/format.h>

#include <algorithm>

#include "trireme/inspect/recipe.h"

namespace trireme::inspect {
namespace {

constexpr std::int64_t kSteps = 3000;

std::string convolution(std::int64_t filters) {
  return fmt::format(
      "\n[[model.layers]]\nop = \"conv1d\"\nfilters = {}\nkernel = 7\nstride = 2\npadding = \"same\"\n\n[[model.layers]]\nop = \"relu\"\n",
      filters);
}

}  // namespace

Recipe curve_recipe(const Inspection& inspection) {
  const Shape& shape = inspection.format.shape;
  const bool is_row = shape.rank() == 1;  // of a table: the network is told that its columns are neighbours
  const std::int64_t width = is_row ? shape[0] : shape[1];
  Recipe recipe{.normalize = "per_sample", .normalize_why = "each curve to mean 0 and deviation 1: its shape counts, not its brightness"};
  recipe.model = "\n[[model.layers]]\nop = \"input\"\n";
  if (is_row) recipe.model += fmt::format("channels = 1                    # the columns are one curve\nwidth = {}\n", width);
  std::int64_t layers = 0;
  for (std::int64_t length = width; length > 12 && layers < 6; length = (length + 1) / 2, ++layers)
    recipe.model += convolution(std::min<std::int64_t>(16 << (layers / 2), 64));
  recipe.model +=
      "\n[[model.layers]]\nop = \"flatten\"\n\n[[model.layers]]\nop = \"dense\"\nunits = 64\n\n[[model.layers]]\nop = \"relu\"\n";
  recipe.model += "\n[[model.layers]]\nop = \"dropout\"\nrate = 0.2\n";
  recipe.model += inspection.classes() > 0 ? "\n[[model.layers]]                # one unit for each class\nop = \"dense\"\n"
                                           : number_output(inspection);
  recipe.network = fmt::format("{} convolutions along the curve and two dense layers", layers);
  recipe.batch_size = batch_size_for(inspection.samples, 20, 4, 64);
  recipe.epochs = std::clamp<std::int64_t>(kSteps * recipe.batch_size / inspection.samples, 10, 100);
  recipe.epochs_why = "the fewer samples, the more";
  recipe.optimizer = "name = \"adamw\"\nlearning_rate = 0.001\nweight_decay = 0.02\n";
  return recipe;
}

}  // namespace trireme::inspect
