// SPDX-License-Identifier: Apache-2.0
// The order of kinds, and the samples of what one of them found.
#include "trireme/inspect/inspect.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "trireme/base/config.h"
#include "trireme/base/error.h"
#include "trireme/base/table.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/inspect/kind_entry.h"
#include "trireme/inspect/pictures.h"

namespace trireme::inspect {
namespace {

namespace fs = std::filesystem;

std::vector<KindEntry> kinds_in_order() {
  std::vector<KindEntry> all = kinds::catalog();
  std::ranges::stable_sort(all, {}, &KindEntry::order);
  return all;
}

Finding find(const Place& place, const Wishes& wishes) {
  const std::vector<KindEntry> all = kinds_in_order();
  for (const KindEntry& kind : all)
    if (auto finding = kind.find(place, wishes)) return std::move(*finding);
  const std::string contents = place.contents();
  if (contents == "nothing") throw Error{invalid_argument, "{}: the folder is empty; put your data into it", place.path().string()};
  if (const auto pictures = place.files_if(is_picture); place.is_folder() && !pictures.empty())
    throw Error{invalid_argument,
                "{}: {} lie side by side, and nothing says of which class each is; move them into a sub-folder for each class, or add a "
                ".csv file with the columns file and class",
                place.path().string(), counted(static_cast<std::int64_t>(pictures.size()), "picture")};
  std::string looked_for;
  for (const KindEntry& kind : all) looked_for += fmt::format("\n  - {}", kind.looked_for);
  if (!place.is_folder())
    throw Error{invalid_argument, "{}: this file is no data of a kind that is known. What was looked for:{}", place.path().string(),
                looked_for};
  throw Error{invalid_argument, "{}: nothing to train on was found here. It has {}. What was looked for:{}", place.path().string(),
              contents, looked_for};
}

void count_labels(const data::Source& source, std::vector<std::int64_t>& by_class) {
  for (std::int64_t i = 0; i < source.size(); ++i) ++by_class[static_cast<std::size_t>(source.label(i))];
}

void measure_targets(const data::Source& source, Inspection& inspection) {
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < source.size(); ++i) {
    const auto value = static_cast<double>(source.target(i)[0]);
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(source.size());
  inspection.target_mean = sum / count;
  const double variance = squares / count - inspection.target_mean * inspection.target_mean;
  inspection.target_deviation = variance > 0 ? std::sqrt(variance) : 1;
}

void check_amount(const Inspection& inspection) {
  const auto with_samples = std::ranges::count_if(inspection.by_class, [](std::int64_t count) { return count > 0; });
  if (inspection.classes() > 0 && with_samples < 2)
    throw Error{invalid_argument, "{}: all {} are of one class; a network needs at least two classes to tell apart",
                inspection.path.string(), counted(inspection.samples, "sample")};
  if (inspection.samples < 4)
    throw Error{invalid_argument, "{}: {} are too few to train on and to check with", inspection.path.string(),
                counted(inspection.samples, "sample")};
}

// Whether neighbouring values are alike, as on a curve: their mean squared difference, of what it is for values in any order.
bool are_curves(const data::Source& samples) {
  constexpr std::int64_t kShortest = 64, kSamples = 200;
  constexpr double kSmooth = 0.25;
  const data::SampleFormat& format = samples.format();
  if (format.shape.count() < kShortest || format.element != data::Element::f32) return false;
  std::vector<float> values(static_cast<std::size_t>(format.shape.count()));
  double steps = 0, spread = 0;
  for (std::int64_t i = 0; i < std::min(samples.size(), kSamples); ++i) {
    samples.read(i * samples.size() / std::min(samples.size(), kSamples), std::as_writable_bytes(std::span(values)));
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double step = k == 0 ? 0 : static_cast<double>(values[k]) - static_cast<double>(values[k - 1]);
      steps += step * step;
      spread += (static_cast<double>(values[k]) - mean) * (static_cast<double>(values[k]) - mean);
    }
  }
  return steps < kSmooth * 2 * spread;
}

// The form that the samples turned out to have: shards, arrays and pairs of files may hold any.
void settle_form(const data::Source& samples, Inspection& inspection) {
  const std::size_t rank = inspection.format.shape.rank();
  inspection.finding.form = rank == 3 ? Form::pictures : rank == 2 || are_curves(samples) ? Form::curves : Form::table;
  if (rank != 3 || inspection.format.shape[0] != 3) inspection.finding.mirrors = false;
}

void count_samples(Inspection& inspection) {
  const Config table = Config::parse_toml(data_lines(inspection.finding, ""), inspection.path.string());
  const data::Sources sources = data::open_sources(data::data_request(table));
  inspection.format = sources.train->format();
  inspection.samples = sources.train->size();
  inspection.by_class.resize(static_cast<std::size_t>(inspection.format.classes));
  for (const auto& part : {sources.train, sources.test}) {
    if (part == nullptr) continue;
    if (inspection.format.classes > 0) count_labels(*part, inspection.by_class);
    for (const std::string& skipped : part->skipped()) {
      if (inspection.finding.form != Form::table) inspection.finding.left_out.push_back(skipped);  // a table's rows are listed already
    }
  }
  if (sources.test != nullptr) inspection.test_samples = sources.test->size();
  if (inspection.format.classes == 0) measure_targets(*sources.train, inspection);
  check_amount(inspection);
  settle_form(*sources.train, inspection);
}

std::string list_of(const std::vector<fs::path>& files, const fs::path& base) {
  std::vector<std::string> names;
  for (const fs::path& file : files) {
    const fs::path relative = base.empty() ? fs::path{} : file.lexically_relative(base);
    const bool below = !relative.empty() && !relative.string().starts_with("..");
    names.push_back(toml_quoted((below ? relative : file).string()));
  }
  return fmt::format("[{}]", fmt::join(names, ", "));
}

// "cat 12"; a number that is a name gets a colon.
std::string class_count(const Inspection& inspection, std::size_t index) {
  const auto& names = inspection.format.class_names;
  const std::string name = names.empty() ? std::to_string(index) : names[index];
  const bool is_number = !name.empty() && name.find_first_not_of("0123456789.-") == std::string::npos;
  return fmt::format("{}{} {}", name, is_number ? ":" : "", with_thousands(inspection.by_class[index]));
}

// What is often named in the place of data.
void check_is_data(const fs::path& path) {
  std::error_code fault;
  if (fs::is_directory(path, fault) && fs::exists(path / "journal.jsonl", fault) && fs::exists(path / "config.toml", fault))
    throw Error{invalid_argument, "{}: this is a run, not data; `trireme train --resume {}` continues it", path.string(), path.string()};
  if (fs::is_regular_file(path, fault) && lower(path.extension().string()) == ".toml")
    throw Error{invalid_argument, "{}: this is a job file, not data; `trireme train {}` trains it", path.string(), path.string()};
}

}  // namespace

Inspection inspect(const fs::path& path, const Wishes& wishes) {
  check_is_data(path);
  const Place place(path);
  Inspection inspection{.path = place.path(), .finding = find(place, wishes)};
  count_samples(inspection);
  return inspection;
}

bool names_data(const fs::path& path) {
  std::error_code fault;
  if (fs::is_directory(path, fault)) return true;
  if (!fs::is_regular_file(path, fault)) return false;
  const std::string name = lower(path.filename().string());
  return has_any_extension(
             path, {".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".fits", ".fit", ".tfrecord", ".tfrec", ".bin", ".npy", ".npz"}) ||
         name.find("ubyte") != std::string::npos || name.find("-of-0") != std::string::npos;
}

std::string data_lines(const Finding& finding, const fs::path& base) {
  const auto line = [](const std::string& setting, const std::string& why) {
    return why.empty() ? setting + "\n" : fmt::format("{:<31} # {}\n", setting, why);
  };
  std::string text = line(fmt::format("reader = \"{}\"", finding.reader), finding.title);
  text += line("train = " + list_of(finding.train, base), "");
  if (!finding.test.empty()) text += line("test = " + list_of(finding.test, base), "scored once, at the end");
  for (const ReaderOption& option : finding.options) text += line(fmt::format("{} = {}", option.key, option.value), option.why);
  return text;
}

std::string report_of(const Inspection& inspection) {
  std::string text = fmt::format("{}: {}\n", inspection.path.string(), inspection.finding.title);
  for (const std::string& fact : inspection.finding.facts) text += fmt::format("  {}\n", fact);
  std::string amount = counted(inspection.samples, "sample");
  if (inspection.test_samples > 0) amount += fmt::format(" to train on, {} for the test", with_thousands(inspection.test_samples));
  if (inspection.classes() > 0) {
    std::vector<std::string> counts;
    for (std::size_t i = 0; i < inspection.by_class.size(); ++i) counts.push_back(class_count(inspection, i));
    amount += fmt::format(", {}: {}", counted(inspection.classes(), "class", "classes"), some_of(counts, 20));
  }
  text += fmt::format("  {}\n", amount);
  const std::vector<std::string>& left_out = inspection.finding.left_out;
  constexpr std::size_t kShown = 20;
  for (std::size_t i = 0; i < std::min(left_out.size(), kShown); ++i) text += fmt::format("  left out: {}\n", left_out[i]);
  if (left_out.size() > kShown)
    text += fmt::format("  left out: {} more like these\n", with_thousands(static_cast<long long>(left_out.size() - kShown)));
  return text;
}

}  // namespace trireme::inspect
