// SPDX-License-Identifier: Apache-2.0
// Tables: a perceptron on standardised columns.
#include <fmt/format.h>

#include <algorithm>

#include "trireme/inspect/recipe.h"

namespace trireme::inspect {
namespace {

constexpr std::int64_t kSteps = 8000;

std::string hidden(std::int64_t units, double dropout) {
  std::string text = fmt::format("\n[[model.layers]]\nop = \"dense\"\nunits = {}\n\n[[model.layers]]\nop = \"relu\"\n", units);
  if (dropout > 0) text += fmt::format("\n[[model.layers]]\nop = \"dropout\"\nrate = {}\n", dropout);
  return text;
}

}  // namespace

Recipe table_recipe(const Inspection& inspection) {
  const std::int64_t samples = inspection.samples;
  const std::int64_t units = samples < 1000 ? 64 : samples < 20000 ? 128 : 256;
  const double dropout = samples < 1000 ? 0.2 : samples < 20000 ? 0.1 : 0;
  Recipe recipe{.network = fmt::format("a perceptron with two hidden layers of {} units", units),
                .normalize = "standard",
                .normalize_why = "each column to mean 0 and deviation 1, measured on the training samples"};
  recipe.model = "\n[[model.layers]]\nop = \"input\"\n" + hidden(units, dropout) + hidden(units, dropout);
  recipe.model += inspection.classes() > 0 ? "\n[[model.layers]]                # one unit for each class\nop = \"dense\"\n"
                                           : number_output(inspection);
  recipe.batch_size = batch_size_for(samples, 60, 8, 256);
  recipe.epochs = std::clamp<std::int64_t>(kSteps * recipe.batch_size / samples, 10, 200);
  recipe.epochs_why = "small and quick: enough of them that it stops getting better";
  recipe.optimizer = "name = \"adamw\"\nlearning_rate = 0.002\nweight_decay = 0.02\n";
  return recipe;
}

}  // namespace trireme::inspect
