// SPDX-License-Identifier: Apache-2.0
// What a tf.train.Example says of a sample: its values, their shape, its label or targets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/options.h"
#include "trireme/data/source/source.h"
#include "trireme/wire/example.pb.h"

namespace trireme::data {

// Which features hold what, and what the Examples themselves don't say.
struct ExampleOptions {
  std::string image = "image";
  std::string label = "label";
  std::string target = "target";
  std::string encoding = "auto";
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
};
void describe(ExampleOptions& o, OptionVisitor& visit);

// One record; messages begin with `place`. Every fault is data_loss or invalid_argument.
class ExampleFeatures {
 public:
  // The Example must outlive it.
  ExampleFeatures(const wire::Example& example, const ExampleOptions& options, std::string_view place);

  bool has_label() const { return find(options_.label) != nullptr; }
  std::int64_t label() const;
  std::span<const float> targets() const;

  bool encoded() const;  // as PNG or JPEG
  Element element() const;
  // Of the sample: channels x height x width and so on. An encoded image is decoded to learn it.
  Shape shape() const;
  // Throws unless the values are of this shape and kind.
  void expect(const Shape& shape, Element element) const;
  // Writes the values as planes.
  void read(const Shape& shape, Element element, std::span<std::byte> sample) const;

 private:
  const wire::Feature* find(const std::string& name) const;
  const wire::Feature& image() const;
  const std::string& image_bytes() const;
  std::int64_t extent(const std::string& name, std::int64_t otherwise) const;
  std::vector<std::int64_t> declared_extents() const;
  [[noreturn]] void wrong_shape(const Shape& expected, const std::string& found) const;

  const wire::Example& example_;
  const ExampleOptions& options_;
  std::string_view place_;
};

}  // namespace trireme::data
