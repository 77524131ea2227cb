// SPDX-License-Identifier: Apache-2.0
// fits: spectra as SDSS and BOSS lay them out, whose redshift is predicted.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "trireme/base/error.h"
#include "trireme/data/formats/fits_file.h"
#include "trireme/data/formats/folder.h"
#include "trireme/inspect/kind_entry.h"

namespace trireme::inspect::kinds {
namespace {

namespace fs = std::filesystem;

bool is_fits(const fs::path& file) { return has_any_extension(file, {".fits", ".fit"}); }

// What the good ones among the files have.
struct Spectra {
  std::vector<fs::path> files;
  std::vector<double> low, high;  // ends of their wavelengths, log10
  std::vector<double> redshifts;
};

void look_at(const fs::path& path, Spectra& spectra) {
  data::FitsFile file(path);
  const std::vector<double> grid = file.precise_column(1, "loglam");
  const std::vector<float> flux = file.column(1, "flux"), weight = file.column(1, "ivar"), redshift = file.column(2, "Z");
  if (grid.size() < 2 || flux.size() != grid.size() || weight.size() != grid.size() || redshift.empty() || !std::isfinite(redshift[0]))
    throw Error{data_loss, "{}: its columns differ in length, or its redshift is no number", file.name()};
  spectra.files.push_back(path);
  spectra.low.push_back(grid.front());
  spectra.high.push_back(grid.back());
  spectra.redshifts.push_back(static_cast<double>(redshift[0]));
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::optional<Finding> find(const Place& place, const Wishes& /*wishes*/) {
  const std::vector<fs::path> all = place.is_folder() ? data::files_below(place.path()) : place.files();
  Finding finding{.title = "spectra in FITS files", .reader = "fits", .form = Form::curves};
  Spectra spectra;
  std::string first_fault;
  for (const fs::path& file : all) {
    const std::string name = name_below(file, place.path());
    if (!is_fits(file)) {
      finding.left_out.push_back(fmt::format("{}: no .fits file", name));
      continue;
    }
    try {
      look_at(file, spectra);
    } catch (const Error& error) {  // others may be good; this one is named
      if (first_fault.empty()) first_fault = error.what();
      finding.left_out.emplace_back(error.what());
    }
  }
  if (spectra.files.empty() && first_fault.empty()) return std::nullopt;
  if (spectra.files.size() < 4)
    throw Error{invalid_argument, "{}: {} as SDSS writes them (flux, loglam and ivar in unit 1, Z in unit 2); at least 4 are needed{}",
                place.path().string(), counted(static_cast<std::int64_t>(spectra.files.size()), "spectrum", "spectra"),
                first_fault.empty() ? "" : "; the first that is none: " + first_fault};
  const bool whole_folder = place.is_folder() && std::ranges::count_if(all, is_fits) == std::ssize(spectra.files);
  finding.train = whole_folder ? std::vector{place.path()} : spectra.files;
  const double low = std::floor(median(spectra.low) * 100) / 100, high = std::ceil(median(spectra.high) * 100) / 100;
  const auto [nearest, farthest] = std::ranges::minmax(spectra.redshifts);
  finding.options = {{"width", "1024", "pixels after resampling"},
                     {"lambda_min", fmt::format("{:.2f}", low), "log10 of the wavelength where most of them begin"},
                     {"lambda_max", fmt::format("{:.2f}", high), "... and end"},
                     {"bins", "0", "the redshift itself is predicted; 10 would make 10 classes between min and max"}};
  finding.facts.push_back(fmt::format("wavelengths from {:.0f} to {:.0f} Angstrom; redshifts from {:.3g} to {:.3g}, predicted as a number",
                                      std::pow(10, low), std::pow(10, high), nearest, farthest));
  return finding;
}

}  // namespace

KindEntry fits() { return {.name = "fits", .looked_for = "spectra of SDSS or BOSS (.fits)", .order = 60, .find = find}; }

}  // namespace trireme::inspect::kinds
