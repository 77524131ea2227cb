// SPDX-License-Identifier: Apache-2.0
// Arrays as numpy saves them: of bytes, integers, floats, booleans or texts, in C or Fortran order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::data {

struct NpyType {
  char kind = 'f';        // numpy's: b boolean, i and u integers, f floats, S bytes, U texts
  std::size_t bytes = 4;  // of a value
  bool swapped = false;   // big-endian

  bool is_text() const { return kind == 'S' || kind == 'U'; }
  std::string title() const;  // "float32"
};

struct NpyHeader {
  NpyType type;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t data = 0;  // where the values begin

  std::uint64_t values() const;
  std::string title() const;  // "float32, 100x28x28"
};

// Of the bytes of a .npy file, of which there may be more; `place` begins messages. data_loss if they are none, unimplemented for types
// that are no numbers and no texts. The values need not be there; their count fits into 64 bits.
NpyHeader read_npy_header(std::span<const std::byte> file, std::string_view place);

// An array in C order, whatever order the file has.
struct NpyArray {
  std::string name;   // its key
  std::string place;  // file and key, for messages
  NpyType type;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> values;

  std::int64_t count() const { return static_cast<std::int64_t>(values.size() / type.bytes); }
  std::string title() const;

  // Of one value. A number too large for a double's integers loses its last digits.
  double number(std::int64_t index) const;
  std::string text(std::int64_t index) const;
};

// `file` is a whole .npy file; data_loss unless it has exactly the values that its header promises.
NpyArray npy_array(std::vector<std::byte> file, std::string name, std::string place);

// For examples and tests: `type` is numpy's ("<f4"), `values` as they stand in the file.
std::string npy_file(std::string_view type, const std::vector<std::int64_t>& shape, std::string_view values, bool fortran_order = false);

}  // namespace trireme::data
