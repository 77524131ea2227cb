// SPDX-License-Identifier: Apache-2.0
// How to train on what was found: network, augmentation, batches, epochs, in a commented job file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "trireme/inspect/finding.h"

namespace trireme::inspect {

struct Recipe {
  std::string network{};    // for a person: "resnet of 8 layers"
  std::string model{};      // the lines of [model], commented
  std::string normalize{};  // as [data] has it
  std::string normalize_why{};
  std::string augment{};    // the lines of [data.augment]; empty: none
  std::string optimizer{};  // the lines of [train.optimizer]
  std::int64_t batch_size = 128;
  std::int64_t epochs = 10;
  std::string epochs_why{};
  std::string estimate{};    // of time and memory, for a person; empty: unknown
  double validation = 0.1;   // shares of the training samples
  double test_split = 0.15;  // 0: there is a part for the test
};

// By the form of the samples. Pure: the same inspection gives the same recipe.
Recipe recipe_for(const Inspection& inspection);

// As a job file; `base` is the folder that it is going to be in, empty: files are named by absolute paths.
std::string job_text(const Inspection& inspection, const Recipe& recipe, const std::filesystem::path& base);

// One file for each form.
Recipe picture_recipe(const Inspection& inspection);
Recipe table_recipe(const Inspection& inspection);
Recipe curve_recipe(const Inspection& inspection);

// The power of two nearest below samples / parts, from `least` to `most`.
std::int64_t batch_size_for(std::int64_t samples, std::int64_t parts, std::int64_t least, std::int64_t most);

// What follows a network whose samples have a number to predict: a dense layer and the units of that number.
std::string number_output(const Inspection& inspection);

}  // namespace trireme::inspect
