// SPDX-License-Identifier: Apache-2.0
// Spectra of galaxies and quasars made from nothing: sample i of a seed is a pure function.
#pragma once

#include <cstdint>
#include <span>

#include "trireme/data/formats/redshift_bins.h"

namespace trireme::data {

struct SyntheticSpectrumForm {
  std::int64_t width = 1024;
  double lambda_min = 3.58;  // log10 of the wavelength in Angstrom where the first pixel begins
  double lambda_max = 3.96;
  RedshiftBins redshift{.bins = 10, .min = 0, .max = 1};
  double noise = 0.15;  // deviation of a pixel, where the continuum is about 1
};

// A continuum with the lines that passive and star-forming galaxies and quasars show, moved by 1 + z, on an even grid of log10
// wavelengths. Redshifts are spread evenly, the class is the bin.
class SyntheticSpectra {
 public:
  SyntheticSpectra(std::uint64_t seed, const SyntheticSpectrumForm& form) : seed_(seed), form_(form) {}

  // `spectrum` has width values.
  void make_spectrum(std::int64_t index, std::span<float> spectrum) const;
  double redshift(std::int64_t index) const;
  std::int32_t label(std::int64_t index) const { return form_.redshift.label(redshift(index)); }

 private:
  std::uint64_t seed_;
  SyntheticSpectrumForm form_;
};

}  // namespace trireme::data
