// SPDX-License-Identifier: Apache-2.0
// Pictures: a residual network, or for small grey ones the network of the MNIST example.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "trireme/inspect/recipe.h"

namespace trireme::inspect {
namespace {

// Few samples need many epochs; the number of steps grows more slowly than that of samples.
std::int64_t epochs_for(std::int64_t samples, double at_50000, std::int64_t least, std::int64_t most) {
  const double epochs = at_50000 * std::pow(50000.0 / static_cast<double>(samples), 0.4);
  return std::clamp<std::int64_t>(std::llround(epochs), least, most);
}

bool is_small_and_grey(const Shape& shape) { return shape[0] == 1 && shape[1] >= 12 && shape[1] <= 32 && shape[2] >= 12 && shape[2] <= 32; }

void take_mnist_cnn(const Inspection& inspection, Recipe& recipe) {
  recipe.network = "two convolutions and two dense layers with dropout: small grey pictures need no more";
  recipe.model = "name = \"mnist_cnn\"\n";
  recipe.batch_size = batch_size_for(inspection.samples, 40, 16, 128);
  recipe.epochs = epochs_for(inspection.samples, 6, 5, 40);
  recipe.optimizer = "name = \"adam\"\nlearning_rate = 0.001\n";
}

void take_resnet(const Inspection& inspection, Recipe& recipe) {
  const std::int64_t pixels = inspection.format.shape[1] * inspection.format.shape[2];
  // Depth costs time, pixels too.
  const std::int64_t depth = inspection.samples >= 20000 && pixels <= 1024 ? 14 : 8;
  recipe.network = fmt::format("a residual network of {} layers", depth);
  recipe.model = fmt::format("name = \"resnet\"\ndepth = {:<23} # 14 or 20 learn more, and take 2 or 3 times as long\n", depth);
  recipe.model += "batch_norm_momentum = 0.9       # its statistics keep up in few steps\n";
  recipe.batch_size = batch_size_for(inspection.samples, 40, 16, 128);
  recipe.epochs = epochs_for(inspection.samples, 15, 10, 100);
  const double rate = 0.1 * std::sqrt(static_cast<double>(recipe.batch_size) / 128);
  recipe.optimizer = fmt::format("name = \"sgd\"\nlearning_rate = {:.3g}\nmomentum = 0.9\n", rate);
}

// Where objects stand in a picture says little, and so does which side they show; letters and digits read one way only.
void augment(const Inspection& inspection, Recipe& recipe) {
  const Shape& shape = inspection.format.shape;
  const std::int64_t side = std::min(shape[1], shape[2]);
  const std::int64_t pad = shape[0] == 3 ? side / 8 : side / 14;
  if (inspection.finding.mirrors) recipe.augment += "flip = true                     # left and right\n";
  if (pad > 0) recipe.augment += fmt::format("pad = {:<25} # then a random crop: the picture moves by up to so many pixels\n", pad);
}

}  // namespace

Recipe picture_recipe(const Inspection& inspection) {
  Recipe recipe{.normalize = "standard", .normalize_why = "mean 0 and deviation 1, measured on the training samples"};
  if (is_small_and_grey(inspection.format.shape))
    take_mnist_cnn(inspection, recipe);
  else
    take_resnet(inspection, recipe);
  augment(inspection, recipe);
  recipe.epochs_why = "the fewer samples, the more";
  if (inspection.classes() == 0) recipe.epochs_why = "";
  return recipe;
}

}  // namespace trireme::inspect
