// SPDX-License-Identifier: Apache-2.0
// What a job file may say of pictures, the same for every reader that has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trireme/base/options.h"
#include "trireme/data/formats/image_fit.h"
#include "trireme/tensor/shape.h"

namespace trireme::data {

struct PictureOptions {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::string fit = "stretch";
  bool orientation = true;
};
void describe(PictureOptions& o, OptionVisitor& visit);
// Those that no other option of a reader is mixed with.
void describe_fit(PictureOptions& o, OptionVisitor& visit);

ImageFit fit_of(const PictureOptions& options);
// Throws invalid_argument; `reader` begins the message.
void check_options(const PictureOptions& options, std::string_view reader);

// The end of a message about pictures of different sizes; `shape` is that of the first.
std::string resize_advice(const Shape& shape);

// Of pictures that are files.
struct PictureFileOptions {
  PictureOptions picture;
  bool verify = true;
  std::string on_damage = "fail";
};
void describe(PictureFileOptions& o, OptionVisitor& visit);

}  // namespace trireme::data
