// SPDX-License-Identifier: Apache-2.0
// How much a sample of each class counts in the loss: train.class_weights.
#pragma once

#include <vector>

#include "trireme/base/config.h"
#include "trireme/data/source/source.h"
#include "trireme/train/job/job.h"

namespace trireme::train {

// A list of numbers in [train] as the texts that the option holds.
Config with_class_weights_as_text(Config train);

// Throws invalid_argument, with the place in the file, where the weights are none, or not for the job's model.
void check_class_weights(const TrainOptions& options, const Config& train);
void check_class_weights(const Job& job, const Config& train);

// One for each output of the model; empty: all samples count the same. "balanced" counts the labels: each class that is there has the same
// sum over `samples`, and the mean over them is 1.
std::vector<float> class_weights(const Job& job, const data::Source& samples);

}  // namespace trireme::train
