// SPDX-License-Identifier: Apache-2.0
// Predictions as a table: a line for each sample, with its answer and how probable that is.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace trireme::cli {

// A field of a CSV file: in quotes where it has to be (RFC 4180).
std::string csv_field(const std::string& text);

class PredictionCsv {
 public:
  struct Form {
    std::string subject = "file";  // title of the first column
    bool labelled = false;
    bool classifies = true;
    std::size_t top = 1;      // answers in a line
    std::size_t outputs = 1;  // of the network
  };
  using ClassTitle = std::function<std::string(std::int64_t)>;
  PredictionCsv(Form form, ClassTitle title);

  // `best` are classes, the most probable first; without classes it is not read.
  void add(const std::string& name, const std::string& label, std::span<const float> outputs, std::span<const std::size_t> best);
  const std::string& text() const { return text_; }

 private:
  void add_header();

  Form form_;
  ClassTitle title_;
  std::string text_;
};

}  // namespace trireme::cli
