// SPDX-License-Identifier: Apache-2.0
// Training steps recorded from an independent implementation (record.py), and what is needed to repeat them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trireme/graph/graph.h"

namespace trireme::golden {

struct RecordedStep {
  double loss = 0;
  double penalty = 0;
  std::int64_t correct = 0;
};

struct RecordedGradient {  // of one slice, in the first step
  std::string name;
  std::int64_t count = 0;
  double norm = 0;
  std::vector<double> projections;  // on deterministic vectors of +1 and -1
  std::vector<std::int64_t> places;
  std::vector<double> values;  // at these places
};

struct RecordedState {  // batch-norm statistics after the last step
  std::string name;
  std::int64_t count = 0;
  double norm = 0;
  double first = 0;
};

struct Recording {
  std::string model;
  std::string options;  // of the zoo's network, as TOML
  std::uint64_t seed = 0;
  std::int64_t batch_size = 0;
  double learning_rate = 0;
  std::vector<RecordedStep> steps;
  std::vector<RecordedGradient> gradients;
  std::vector<RecordedState> states;
};

// The recorded files, without their ending; each is a test of its own.
std::vector<std::string> recorded_names();
Recording load_recording(const std::string& name);

// The same network, weights, samples and random numbers that record.py used.
graph::Graph graph_of(const Recording& recording);
std::vector<float> initial_parameters(const Recording& recording, const graph::Graph& graph);
std::vector<float> images_of(const Recording& recording, const graph::Graph& graph);
std::vector<std::int32_t> labels_of(const Recording& recording);
std::vector<std::uint64_t> sample_keys_of(const Recording& recording, std::int64_t step);
double project(const Recording& recording, std::span<const float> values, std::size_t slice, std::size_t number);

}  // namespace trireme::golden
