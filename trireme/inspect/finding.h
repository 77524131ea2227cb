// SPDX-License-Identifier: Apache-2.0
// What lies at a path: which reader reads it, with which options, and what is left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trireme/data/source/source.h"

namespace trireme::inspect {

enum class Form { pictures, table, curves };

// A line of [data].
struct ReaderOption {
  std::string key{};
  std::string value{};  // as TOML
  std::string why{};    // the line's comment; may be empty
};

struct Finding {
  std::string title{};  // "pictures, a folder for each class"
  std::string reader{};
  std::vector<ReaderOption> options{};
  std::vector<std::filesystem::path> train{};  // absolute, and so the next one
  std::vector<std::filesystem::path> test{};   // empty: a share of the training samples is held out
  Form form = Form::pictures;
  bool mirrors = false;                 // a mirrored picture shows the same
  std::vector<std::string> facts{};     // lines for a person: sizes, formats, which column is the label
  std::vector<std::string> left_out{};  // each with its name and the reason
};

// What a person can say on the command line.
struct Wishes {
  std::string label{};  // the column to predict; empty: it is found by its name
};

// A finding with its samples counted.
struct Inspection {
  std::filesystem::path path{};  // absolute
  Finding finding;
  data::SampleFormat format{};
  std::int64_t samples = 0;              // of the training part, before anything is held out of it
  std::int64_t test_samples = 0;         // 0: no part of its own
  std::vector<std::int64_t> by_class{};  // of both parts; empty without classes
  double target_mean = 0;                // without classes: of the number to predict
  double target_deviation = 1;

  std::int64_t classes() const { return format.classes; }
};

}  // namespace trireme::inspect
