// SPDX-License-Identifier: Apache-2.0
// From a stored sample to the floats the engine takes: augmented (training only), then normalised, in one pass.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trireme/base/options.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

// As PyTorch's usual recipe for CIFAR-10: the zeros are black pixels before normalisation, so they become -mean * scale.
// Samples of rank 1 and 2 are padded and cropped along their width only, and can't be flipped.
struct AugmentOptions {
  bool flip = false;     // left and right, with probability 1/2
  std::int64_t pad = 0;  // zeros on each side, then a random crop back to the sample's size
};
void describe(AugmentOptions& o, OptionVisitor& visit);

// value = (stored - mean) * scale, where a stored u8 v counts as v / 255.
struct Normalization {
  std::string kind = "none";  // none, mean, standard: with the numbers below; per_sample: each sample to mean 0 and deviation 1
  std::vector<float> mean;    // one a channel (rank 2 and 3) or a value (rank 1); empty for none and per_sample
  std::vector<float> scale;
};

// Measures mean and deviation on at most 10000 samples, evenly spaced over `source`; the same for any number of threads.
// What never changes gets scale 1.
Normalization measure_normalization(const Source& source, const std::string& kind);

class Transform {
 public:
  // Throws invalid_argument if normalization or augmentation don't fit the format.
  Transform(SampleFormat format, Normalization normalization, AugmentOptions augment = {});

  // `key` decides flip and crop: the same key gives the same values, whichever node computes them, to the bit.
  void apply(std::span<const std::byte> stored, std::uint64_t key, std::span<float> values) const;

  const Normalization& normalization() const { return normalization_; }

 private:
  void check_augmentation() const;
  void set_factors();

  SampleFormat format_;
  Normalization normalization_;
  AugmentOptions augment_;
  std::int64_t planes_ = 1, height_ = 1, width_ = 1;
  // value = (v - center) * factor with v as stored: a subtraction and then a product leave the compiler no fused
  // multiply-add to use on some CPUs only. One a plane, or one a value for rank 1.
  std::vector<float> center_, factor_;
};

}  // namespace trireme::data
