// SPDX-License-Identifier: Apache-2.0
// Samples that can be read in any order by any thread: what every reader makes and every stage of the pipeline takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trireme/tensor/shape.h"

namespace trireme::data {

// How a value is stored. A u8 value v means v / 255.
enum class Element { u8, f32 };

struct SampleFormat {
  Shape shape;  // of one sample: channels x height x width, channels x width, or width; row-major
  Element element = Element::u8;
  std::int64_t classes = 0;              // labels are 0 to classes - 1; 0 if samples have targets instead
  std::int64_t targets = 0;              // numbers a regression is to predict for a sample
  std::vector<std::string> class_names;  // empty: classes are called by their numbers
  std::vector<std::string> value_names;  // of a table's columns, in the order of a sample's values; empty: they have none

  std::size_t sample_bytes() const { return static_cast<std::size_t>(shape.count()) * (element == Element::u8 ? 1 : sizeof(float)); }
};

class Source {
 public:
  virtual ~Source() = default;

  virtual const SampleFormat& format() const = 0;
  virtual std::int64_t size() const = 0;
  virtual std::int32_t label(std::int64_t index) const = 0;
  virtual std::span<const float> target(std::int64_t /*index*/) const { return {}; }

  // Writes the sample's values into `sample`, which has format().sample_bytes(). Many threads may read at once.
  // A fault in the file that could not be seen when it was opened is thrown as data_loss, naming file and place.
  virtual void read(std::int64_t index, std::span<std::byte> sample) const = 0;

  // Where each file begins: file i holds the samples starts[i] to starts[i + 1] - 1, the last one those up to size() - 1.
  virtual std::vector<std::int64_t> file_starts() const { return {0}; }
  // Whether reading is only a copy from memory, so that a cache in front gains nothing.
  virtual bool in_memory() const { return false; }
  // What to call sample `index` in a message or a prediction: a file name, or "#17".
  virtual std::string sample_name(std::int64_t index) const { return "#" + std::to_string(index); }
  // What a person should know that is no fault, e.g. files that were passed over.
  virtual std::vector<std::string> warnings() const { return {}; }
  // Damaged samples that were left out, each with its name and the reason; a reader's `on_damage = "skip"` asks for it.
  virtual std::vector<std::string> skipped() const { return {}; }

 protected:
  Source() = default;
  Source(const Source&) = default;
  Source& operator=(const Source&) = default;
};

}  // namespace trireme::data
