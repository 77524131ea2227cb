// SPDX-License-Identifier: Apache-2.0
// Labels that a file has as texts: numbers stay what they are, words become classes in sorted order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/data/source/source.h"

namespace trireme::data {

class TextLabels {
 public:
  // `class_names` fixes classes and their order, `classes` the number of classes that numbers may name; empty and 0: as they come.
  // Numbers count from `first_label`; with class_names, too, they are places in it.
  TextLabels(std::vector<std::string> class_names, std::int64_t classes, std::int64_t first_label = 0);

  // `place` names file and line in messages.
  void add(std::string_view text, const std::string& place);

  // Fills classes and class_names of `format` and returns the label of each text that was added.
  std::vector<std::int32_t> finish(SampleFormat& format) const;
  // Labels are numbers, and count from 1 as it seems: class 0 has no sample.
  bool seem_to_count_from_1() const;

 private:
  struct Seen {
    std::int32_t id = 0;
    std::string place;  // the first
  };
  bool all_numbers() const;
  bool are_numbers() const;
  std::int32_t numbered(std::string_view text, const Seen& seen, std::int64_t classes) const;
  void check_names() const;

  std::vector<std::string> class_names_;
  std::int64_t classes_;
  std::int64_t first_label_;
  std::map<std::string, Seen, std::less<>> seen_;
  std::vector<std::int32_t> ids_;
};

}  // namespace trireme::data
