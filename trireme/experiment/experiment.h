// SPDX-License-Identifier: Apache-2.0
// Several trainings that are compared: one job with a table [compare], or several job files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "trireme/base/config.h"

namespace trireme::experiment {

struct Variant {
  std::string label;
  std::string folder;  // the label as a file name
  std::int64_t nodes = 1;
  Config job;                               // whole, without a seed of its own
  std::map<std::string, double> published;  // what others measured, by the names of the comparison's rows
};

struct Experiment {
  std::string title;
  std::vector<std::int64_t> seeds;
  std::vector<Variant> variants;
};

// What the command line says on top of the files.
struct ExperimentFlags {
  std::int64_t nodes = 0;             // 0: as the file says
  std::int64_t seeds = 0;             // 1 to this; 0: as the file says
  std::vector<std::string> settings;  // as after --set, for every variant
};

// Throws invalid_argument with the place in the file. Each variant's job is checked as far as that is possible without its data.
Experiment read_experiment(const std::vector<std::string>& files, const ExperimentFlags& flags);

// A file that read_experiment() reads as the same experiment, wherever it lies.
std::string to_toml(const Experiment& experiment);

// A job as a file, without what it says about where values come from.
std::string job_file_text(const Config& job);
// The job file of one run.
std::string job_text(const Variant& variant, std::int64_t seed);

// "SS 25%" -> "ss-25"
std::string folder_name(const std::string& label);

// The tables of `over` on top of those of `base`, key by key.
Config overlaid(const Config& base, const Config& over);

}  // namespace trireme::experiment
