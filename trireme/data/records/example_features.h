// SPDX-License-Identifier: Apache-2.0
// What a tf.train.Example says of a sample: its values, their shape, its label or targets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/options.h"
#include "trireme/data/images/picture_options.h"
#include "trireme/data/source/source.h"
#include "trireme/wire/example.pb.h"

namespace trireme::data {

// Which features hold what, and what the Examples themselves don't say.
struct ExampleOptions {
  std::string image = "image";
  std::string label = "label";
  std::string target = "target";
  std::string encoding = "auto";
  PictureOptions picture;
  bool float_classes = false;  // a label that is one whole float is a class
};
void describe(ExampleOptions& o, OptionVisitor& visit);

// The class of a record: a number, or a text.
struct ExampleLabel {
  bool is_text = false;
  std::int64_t number = 0;
  std::string_view text;
};

// One record; messages begin with `place`. Every fault is data_loss or invalid_argument.
class ExampleFeatures {
 public:
  // The Example must outlive it.
  ExampleFeatures(const wire::Example& example, const ExampleOptions& options, std::string_view place);

  // Where label and target name one feature, it is a target.
  bool has_label() const { return options_.label != options_.target && find(options_.label) != nullptr; }
  ExampleLabel label() const;
  std::span<const float> targets() const;

  bool encoded() const;  // as PNG or JPEG
  Element element() const;
  // Of the sample: channels x height x width and so on. Of an encoded image only the header is decoded.
  Shape shape() const;
  // Throws unless the sample is of this shape and kind; the values of an encoded image are not looked at.
  void expect(const Shape& shape, Element element) const;
  // Writes the values as planes, pictures turned upright and in the size that the options give.
  void read(const Shape& shape, Element element, std::span<std::byte> sample) const;

 private:
  const wire::Feature* find(std::string_view name) const;
  const wire::Feature& image() const;
  const std::string& image_bytes() const;
  std::int64_t extent(const std::string& name, std::int64_t otherwise) const;
  std::vector<std::int64_t> declared_extents() const;
  bool is_picture(const Shape& stored) const;
  ImageFit fit() const;
  void expect_element(Element element) const;
  void expect_count(const Shape& stored) const;
  [[noreturn]] void wrong_shape(const Shape& expected, const Shape& found) const;

  const wire::Example& example_;
  const ExampleOptions& options_;
  std::string_view place_;
};

}  // namespace trireme::data
