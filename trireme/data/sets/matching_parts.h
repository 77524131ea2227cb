// SPDX-License-Identifier: Apache-2.0
// A test part whose samples mean what those of the training part mean, even where it lacks some classes.
#pragma once

#include <any>
#include <memory>
#include <string>
#include <vector>

#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

// The test part with the classes of the training part, in their order, matched by name. Throws invalid_argument where the parts don't
// fit each other.
std::shared_ptr<const Source> matched_to(const Source& train, std::shared_ptr<const Source> test);

// Gives the names to the reader's option class_names, if it has one that is empty: a text that looks like a number is then a name.
void set_class_names(const ReaderEntry& reader, std::any& options, const std::vector<std::string>& names);

}  // namespace trireme::data
