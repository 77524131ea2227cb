// SPDX-License-Identifier: Apache-2.0
// What the features of a tf.train.Example are, for messages: names, kinds and counts, and which of them may be meant.
#pragma once

#include <string>
#include <string_view>

#include "trireme/wire/example.pb.h"

namespace trireme::data {

// "1 text ('cat')", "10 integers", "nothing".
std::string found_values(const wire::Feature& feature);
// "image/encoded (bytes, 1), label (int64, 1)", sorted by name.
std::string listed_features(const wire::Example& example);

// What to write, with the feature that looks most like it.
std::string image_advice(const wire::Example& example);
std::string label_advice(const wire::Example& example);

// Whether bytes can be the name of a class: short, and without control characters.
bool is_label_text(std::string_view bytes);

int count_of(const wire::Feature& feature);

}  // namespace trireme::data
