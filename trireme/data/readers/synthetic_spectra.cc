// SPDX-License-Identifier: Apache-2.0
// synthetic_spectra: galaxies and quasars by redshift, made from nothing.
#include "trireme/data/synthetic/synthetic_spectra.h"

#include <cstring>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/data/synthetic/synthetic_options.h"

namespace trireme::data::readers {
namespace {

struct SyntheticSpectraOptions {
  SyntheticSpectrumForm form;
  SyntheticOptions common;
};

void describe(SyntheticSpectraOptions& o, OptionVisitor& visit) {
  visit("width", o.form.width, "pixels", 16, 1 << 16);
  visit("lambda_min", o.form.lambda_min, "log10 of the wavelength in Angstrom where the first pixel begins", 2, 5);
  visit("lambda_max", o.form.lambda_max, "log10 of the wavelength where the last pixel ends", 2, 5);
  visit("bins", o.form.redshift.bins, "classes of equal width between min and max", 2, 1 << 16);
  visit("min", o.form.redshift.min, "smallest redshift", 0, 20);
  visit("max", o.form.redshift.max, "largest redshift", 0, 20);
  visit("noise", o.form.noise, "deviation of a pixel, where the continuum is about 1", 0, 100);
  describe(o.common, visit);
}

void check(const SyntheticSpectrumForm& form) {
  if (!(form.lambda_min < form.lambda_max))
    throw Error{invalid_argument, "synthetic_spectra: lambda_min is {}, lambda_max {}; it must be larger", form.lambda_min,
                form.lambda_max};
  if (!(form.redshift.min < form.redshift.max))
    throw Error{invalid_argument, "synthetic_spectra: min is {}, max {}; it must be larger", form.redshift.min, form.redshift.max};
}

std::unique_ptr<Source> open(const ReaderRequest& request) {
  const auto& options = std::any_cast<const SyntheticSpectraOptions&>(request.options);
  check(options.form);
  const SyntheticSpectra spectra(part_seed(options.common, request.part), options.form);
  const SampleFormat format{.shape = {1, options.form.width},
                            .element = Element::f32,
                            .classes = options.form.redshift.bins,
                            .class_names = options.form.redshift.names()};
  return make_source(format, sample_count(options.common, request.part), [&](std::int64_t index, std::span<std::byte> sample) {
    std::vector<float> spectrum(sample.size() / sizeof(float));
    spectra.make_spectrum(index, spectrum);
    std::memcpy(sample.data(), spectrum.data(), sample.size());
    return spectra.label(index);
  });
}

ReaderRequest example(const std::filesystem::path&) {
  return {.options = SyntheticSpectraOptions{.form = {.width = 64}, .common = {.samples = 20, .test_samples = 10}}};
}

}  // namespace

ReaderEntry synthetic_spectra() {
  return {.name = "synthetic_spectra",
          .summary = "galaxies and quasars with lines, 1 x width, classes are bins of redshift, made from nothing",
          .options = options_type<SyntheticSpectraOptions>(),
          .reads_files = false,
          .open = open,
          .example = example};
}

}  // namespace trireme::data::readers
