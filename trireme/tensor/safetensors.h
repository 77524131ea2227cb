// SPDX-License-Identifier: Apache-2.0
// Named tensors in a file of the safetensors format: length of the header, JSON header, data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/tensor/shape.h"

namespace trireme {

using TensorMetadata = std::map<std::string, std::string>;

struct TensorToWrite {
  std::string name;
  Shape shape;
  std::span<const float> values;
};

struct WrittenFile {
  std::uintmax_t bytes = 0;
  std::string sha256;
};

// Writes a new file and syncs it. Tensors keep their order; names must differ. The values are written from where they lie.
WrittenFile write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                              const TensorMetadata& metadata = {});

// A file's content, checked completely: every tensor is F32, its offsets fit its shape, and together they cover the data without
// holes or overlaps. A fault is data_loss (unimplemented for another dtype) and names the file and the place.
class Safetensors {
 public:
  // `name` is what messages call the content.
  Safetensors(std::string content, std::string name);
  static Safetensors load(const std::filesystem::path& path);

  struct Tensor {
    std::string name;
    Shape shape;
    std::uint64_t begin = 0;  // bytes from the beginning of the data
    std::uint64_t end = 0;
  };
  const std::vector<Tensor>& tensors() const { return tensors_; }  // in the order of their data
  const Tensor* find(std::string_view name) const;                 // null if absent
  const TensorMetadata& metadata() const { return metadata_; }

  // `values` has the tensor's count.
  void copy(const Tensor& tensor, std::span<float> values) const;

 private:
  std::string content_;
  std::size_t data_ = 0;  // where the data begin in content_
  std::vector<Tensor> tensors_;
  std::vector<std::size_t> by_name_;  // indices of tensors_, sorted by name
  TensorMetadata metadata_;
};

}  // namespace trireme
