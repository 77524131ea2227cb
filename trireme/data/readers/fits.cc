// SPDX-License-Identifier: Apache-2.0
// fits: a spectrum a file, as SDSS and BOSS lay it out: flux and log10 wavelength in unit 1, the redshift in unit 2.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "trireme/base/error.h"
#include "trireme/data/formats/fits_file.h"
#include "trireme/data/formats/folder.h"
#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/formats/redshift_bins.h"
#include "trireme/data/formats/resample.h"
#include "trireme/data/source/memory_source.h"

namespace trireme::data::readers {
namespace {

namespace fs = std::filesystem;

struct FitsOptions {
  std::string column = "flux";
  std::string grid = "loglam";
  std::string mask = "ivar";
  std::int64_t width = 1024;
  double lambda_min = 3.58;
  double lambda_max = 3.96;
  std::string target = "Z";
  RedshiftBins redshift{.bins = 10, .min = 0, .max = 1};
  bool clamp = false;
};

void describe(FitsOptions& o, OptionVisitor& visit) {
  visit("column", o.column, "of unit 1: the values of the spectrum");
  visit("grid", o.grid, "of unit 1: where they are, as log10 of the wavelength in Angstrom");
  visit("mask", o.mask, "of unit 1: values are bad where it is not above 0; empty: none is");
  visit("width", o.width, "pixels after resampling", 1, 1 << 16);
  visit("lambda_min", o.lambda_min, "log10 of the wavelength where the first pixel begins", 0, 10);
  visit("lambda_max", o.lambda_max, "log10 of the wavelength where the last pixel ends", 0, 10);
  visit("target", o.target, "of unit 2: the redshift");
  visit("bins", o.redshift.bins, "classes of equal width between min and max; 0: the redshift itself is the target", 0, 1 << 16);
  visit("min", o.redshift.min, "redshift where the first class begins", -1, 100);
  visit("max", o.redshift.max, "redshift where the last class ends", -1, 100);
  visit("clamp", o.clamp, "a redshift outside min and max counts as the first or last class instead of being an error");
}

class Spectra final : public Source {
 public:
  Spectra(MemorySamples samples, std::vector<std::string> names, std::vector<std::string> warnings)
      : samples_(std::move(samples)), names_(std::move(names)), warnings_(std::move(warnings)) {}

  const SampleFormat& format() const override { return samples_.format(); }
  std::int64_t size() const override { return samples_.size(); }
  std::int32_t label(std::int64_t index) const override { return samples_.label(index); }
  std::span<const float> target(std::int64_t index) const override { return samples_.target(index); }
  void read(std::int64_t index, std::span<std::byte> sample) const override { samples_.read(index, sample); }
  std::vector<std::int64_t> file_starts() const override { return samples_.file_starts(); }
  std::string sample_name(std::int64_t index) const override { return names_[static_cast<std::size_t>(index)]; }
  std::vector<std::string> warnings() const override { return warnings_; }

 private:
  MemorySource samples_;
  std::vector<std::string> names_;
  std::vector<std::string> warnings_;
};

void check_options(const FitsOptions& options, const std::vector<fs::path>& files) {
  if (files.empty()) throw Error{invalid_argument, "fits: no file is named; 'files' takes FITS files and folders of them"};
  if (!(options.lambda_min < options.lambda_max))
    throw Error{invalid_argument, "fits: lambda_min is {}, lambda_max {}; it must be larger", options.lambda_min, options.lambda_max};
  if (!(options.redshift.min < options.redshift.max))
    throw Error{invalid_argument, "fits: min is {}, max {}; it must be larger", options.redshift.min, options.redshift.max};
}

struct Listing {
  std::vector<fs::path> files;
  std::vector<std::string> warnings;
};

Listing list_files(const std::vector<fs::path>& named) {
  Listing listing;
  for (const fs::path& path : named) {
    std::error_code fault;
    if (!fs::is_directory(path, fault)) {
      listing.files.push_back(path);
      continue;
    }
    const std::size_t before = listing.files.size();
    const std::vector<fs::path> all = files_below(path);
    std::copy_if(all.begin(), all.end(), std::back_inserter(listing.files),
                 [](const fs::path& file) { return has_extension(file, ".fits") || has_extension(file, ".fit"); });
    const std::size_t found = listing.files.size() - before;
    if (found == 0) throw Error{not_found, "{}: the folder has no .fits file", path.string()};
    if (found < all.size())
      listing.warnings.push_back(fmt::format("fits: passed over {} files of {} that are no .fits", all.size() - found, path.string()));
  }
  return listing;
}

std::vector<double> ascending_grid(FitsFile& file, const std::string& column) {
  std::vector<double> grid = file.precise_column(1, column);
  if (grid.size() < 2)
    throw Error{data_loss, "{}: column '{}' has {} wavelengths; at least 2 are needed", file.name(), column, grid.size()};
  for (std::size_t i = 1; i < grid.size(); ++i)
    if (!(grid[i - 1] < grid[i]) || !std::isfinite(grid[i]) || !std::isfinite(grid[i - 1]))
      throw Error{data_loss, "{}: column '{}' must ascend, but row {} has {} after {}", file.name(), column, i, grid[i], grid[i - 1]};
  return grid;
}

std::vector<float> column_like_grid(FitsFile& file, const std::string& column, std::size_t rows) {
  std::vector<float> values = file.column(1, column);
  if (values.size() != rows)
    throw Error{data_loss, "{}: column '{}' has {} values, the wavelengths are {}", file.name(), column, values.size(), rows};
  return values;
}

void read_spectrum(FitsFile& file, const FitsOptions& options, std::span<float> out) {
  const std::vector<double> grid = ascending_grid(file, options.grid);
  std::vector<float> values = column_like_grid(file, options.column, grid.size());
  for (float& value : values)
    if (!std::isfinite(value)) value = 0;
  if (!options.mask.empty()) {
    const std::vector<float> mask = column_like_grid(file, options.mask, grid.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!(mask[i] > 0)) values[i] = 0;
  }
  if (grid.back() <= options.lambda_min || grid.front() >= options.lambda_max)
    throw Error{data_loss,         "{}: wavelengths from {} to {} (log10) lie outside lambda_min {} and lambda_max {}",
                file.name(),       grid.front(),
                grid.back(),       options.lambda_min,
                options.lambda_max};
  resample(grid, values, options.lambda_min, options.lambda_max, out);
}

double read_redshift(FitsFile& file, const FitsOptions& options) {
  const double redshift = file.column(2, options.target).front();
  if (!std::isfinite(redshift)) throw Error{data_loss, "{}: column '{}' of unit 2 is no number", file.name(), options.target};
  if (options.redshift.bins > 0 && !options.clamp && !options.redshift.contain(redshift))
    throw Error{out_of_range,         "{}: redshift {} is outside min {} and max {}; change them or set clamp = true",
                file.name(),          redshift,
                options.redshift.min, options.redshift.max};
  return redshift;
}

void add_file(const fs::path& path, const FitsOptions& options, MemorySamples& samples) {
  FitsFile file(path);
  std::vector<float> spectrum(static_cast<std::size_t>(options.width));
  read_spectrum(file, options, spectrum);
  const auto bytes = std::as_bytes(std::span(spectrum));
  samples.values.insert(samples.values.end(), bytes.begin(), bytes.end());
  const double redshift = read_redshift(file, options);
  if (options.redshift.bins > 0)
    samples.labels.push_back(options.redshift.label(redshift));
  else
    samples.targets.push_back(static_cast<float>(redshift));
}

std::unique_ptr<Source> open(const ReaderRequest& request) {
  const auto& options = std::any_cast<const FitsOptions&>(request.options);
  check_options(options, request.files);
  Listing listing = list_files(request.files);
  MemorySamples samples{.format = {.shape = {1, options.width}, .element = Element::f32, .classes = options.redshift.bins}};
  if (options.redshift.bins > 0)
    samples.format.class_names = options.redshift.names();
  else
    samples.format.targets = 1;
  std::vector<std::string> names;
  for (const fs::path& path : listing.files) {
    add_file(path, options, samples);
    names.push_back(path.filename().string());
  }
  samples.file_starts.resize(names.size());
  std::iota(samples.file_starts.begin(), samples.file_starts.end(), 0);
  return std::make_unique<Spectra>(std::move(samples), std::move(names), std::move(listing.warnings));
}

ReaderRequest example(const fs::path& folder) {
  for (const float redshift : {0.05F, 0.51F}) {
    std::vector<float> flux, grid, mask;
    for (int i = 0; i < 40; ++i) {
      flux.push_back(static_cast<float>(i));
      grid.push_back(3.5F + 0.0125F * static_cast<float>(i));
      mask.push_back(i == 7 ? 0.0F : 1.0F);
    }
    write_fits(folder / fmt::format("z{}.fits", redshift), {{{"flux", flux}, {"loglam", grid}, {"ivar", mask}}, {{"Z", {redshift}}}});
  }
  return {.files = {folder}, .options = FitsOptions{.width = 16}};
}

}  // namespace

ReaderEntry fits() {
  return {.name = "fits",
          .summary = "spectra in FITS files as SDSS and BOSS write them; classes are bins of redshift",
          .options = options_type<FitsOptions>(),
          .open = open,
          .example = example};
}

}  // namespace trireme::data::readers
