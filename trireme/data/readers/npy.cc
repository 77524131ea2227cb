// SPDX-License-Identifier: Apache-2.0
// npy: arrays of numpy, features and labels, in .npz files or pairs of .npy files.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/data/formats/class_count.h"
#include "trireme/data/formats/npy_bundle.h"
#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/formats/text_labels.h"
#include "trireme/data/formats/zip_file.h"
#include "trireme/data/images/planes.h"
#include "trireme/data/source/memory_source.h"

namespace trireme::data::readers {
namespace {

struct NpyOptions {
  std::string features;
  std::string labels;
  std::string test_features;
  std::string test_labels;
  std::string layout = "auto";
  std::string predict = "auto";
  std::vector<std::string> class_names;
  std::int64_t classes = 0;
  std::int64_t first_label = 0;
};

void describe(NpyOptions& o, OptionVisitor& visit) {
  visit(
      "features", o.features,
      "name of the array with the samples; empty: x_train, train_images, x, images, features, data or the like; the test part: x_test ...");
  visit("labels", o.labels, "name of the array with the labels; empty: y_train, train_labels, y, labels, targets or the like");
  visit("test_features", o.test_features, "as features, of the test part; empty: the same");
  visit("test_labels", o.test_labels, "as labels, of the test part; empty: the same");
  visit("layout", o.layout,
        "order of a sample's axes; auto: three axes are channels last if the last one is 1, 3 or 4, two are an image of one channel",
        {"auto", "channels_first", "channels_last"});
  visit("predict", o.predict,
        "what labels are; auto: integers, texts, booleans, one-hot rows and small whole floats are classes, other floats are numbers",
        {"auto", "class", "number"});
  visit("class_names", o.class_names, "the classes in their order, or what to call numbers; empty: numbers as they are, words sorted");
  visit("classes", o.classes, "how many there are if labels are numbers; 0: the largest + 1", 0, kMaxClasses);
  visit("first_label", o.first_label, "the label of the first class if labels are numbers: 1 if they count from 1", 0, kMaxClasses);
}

constexpr double kMaxWholeClass = 1000;  // larger whole floats are taken as numbers to predict

// A sample's axes as the file has them, and whether its channels stand last.
struct SampleLayout {
  Shape shape;
  bool channels_last = false;
};

SampleLayout layout_of(const NpyArray& array, const std::string& wanted) {
  const std::vector<std::int64_t> d(array.shape.begin() + 1, array.shape.end());
  if (d.size() > 3)
    throw Error{invalid_argument, "{}: a sample has {} axes; at most three (channels, height, width) can be trained on", array.place,
                d.size()};
  if (d.size() < 2) return {.shape = d.empty() ? Shape{1} : Shape(d)};
  if (d.size() == 2) {
    if (wanted == "auto") return {.shape = {1, d[0], d[1]}};
    return wanted == "channels_last" ? SampleLayout{.shape = {d[1], d[0]}, .channels_last = true} : SampleLayout{.shape = Shape(d)};
  }
  const bool last = wanted == "auto" ? d[2] == 1 || d[2] == 3 || d[2] == 4 : wanted == "channels_last";
  return last ? SampleLayout{.shape = {d[2], d[0], d[1]}, .channels_last = true} : SampleLayout{.shape = Shape(d)};
}

template <class T>
void append_samples(std::span<const T> values, const SampleLayout& layout, std::vector<std::byte>& out) {
  const std::size_t before = out.size();
  out.resize(before + values.size_bytes());
  if (!layout.channels_last) {
    std::memcpy(out.data() + before, values.data(), values.size_bytes());
    return;
  }
  const auto extent = static_cast<std::size_t>(layout.shape.count());
  std::vector<T> planes(extent);
  for (std::size_t at = 0; at < values.size(); at += extent) {
    planes_of(values.subspan(at, extent), static_cast<std::size_t>(layout.shape[0]), std::span(planes));
    std::memcpy(out.data() + before + at * sizeof(T), planes.data(), extent * sizeof(T));
  }
}

std::vector<float> finite_floats(const NpyArray& array) {
  std::vector<float> floats(static_cast<std::size_t>(array.count()));
  const auto samples = static_cast<std::size_t>(array.shape[0]);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    floats[i] = static_cast<float>(array.number(static_cast<std::int64_t>(i)));
    if (!std::isfinite(floats[i]))
      throw Error{data_loss, "{}: expected finite numbers, found {} in sample {}", array.place, array.number(static_cast<std::int64_t>(i)),
                  i / (floats.size() / samples)};
  }
  return floats;
}

std::int64_t append_features(const NpyArray& array, const NpyOptions& options, MemorySamples& out) {
  if (array.type.is_text() || array.shape.empty() || array.count() == 0)
    throw Error{data_loss, "{}: expected samples of numbers, found {}", array.place, array.title()};
  const SampleLayout layout = layout_of(array, options.layout);
  const Element element = array.type.kind == 'u' && array.type.bytes == 1 ? Element::u8 : Element::f32;
  if (out.values.empty()) {
    out.format.shape = layout.shape;
    out.format.element = element;
  } else if (layout.shape != out.format.shape || element != out.format.element) {
    throw Error{invalid_argument, "{}: expected samples of {} like those of the first file, found {}", array.place,
                out.format.shape.to_string(), array.title()};
  }
  if (element == Element::u8)
    append_samples(std::span<const std::byte>(array.values), layout, out.values);
  else
    append_samples(std::span<const float>(finite_floats(array)), layout, out.values);
  return array.shape[0];
}

bool is_one_hot(const NpyArray& array, std::int64_t columns) {
  for (std::int64_t row = 0; row < array.shape[0]; ++row) {
    std::int64_t ones = 0;
    for (std::int64_t column = 0; column < columns; ++column) {
      const double value = array.number(row * columns + column);
      if (value != 0 && value != 1) return false;
      ones += value == 1 ? 1 : 0;
    }
    if (ones != 1) return false;
  }
  return true;
}

bool are_whole(const NpyArray& array, double max) {
  for (std::int64_t i = 0; i < array.count(); ++i) {
    const double value = array.number(i);
    if (!(value >= 0 && value <= max) || value != std::floor(value)) return false;
  }
  return true;
}

enum class LabelKind { classes, one_hot, numbers };

LabelKind kind_of(const NpyArray& array, std::int64_t columns, const std::string& predict) {
  if (array.type.is_text() && predict != "number" && columns == 1) return LabelKind::classes;
  if (array.type.is_text())
    throw Error{invalid_argument, "{}: labels are {}; one text per sample names its class, numbers can be predicted", array.place,
                array.title()};
  if (predict == "number") return LabelKind::numbers;
  if (columns > 1 && is_one_hot(array, columns)) return LabelKind::one_hot;
  const bool is_float = array.type.kind == 'f';
  if (columns == 1 && (!is_float || are_whole(array, predict == "class" ? kMaxClasses : kMaxWholeClass))) return LabelKind::classes;
  if (predict == "auto" && is_float) return LabelKind::numbers;
  throw Error{invalid_argument,
              "{}: {} are no classes: neither whole numbers, one per sample, nor one-hot; data.predict = \"number\" predicts "
              "them as numbers",
              array.place, array.title()};
}

class Labels {
 public:
  explicit Labels(const NpyOptions& options) : options_(options), texts_(options.class_names, options.classes, options.first_label) {}

  void add(const NpyArray& array, std::int64_t samples) {
    const std::size_t rank = array.shape.size();
    const std::int64_t columns = rank == 2 ? array.shape[1] : 1;
    if (rank < 1 || rank > 2 || array.shape[0] != samples || columns < 1)
      throw Error{data_loss, "{}: expected {} labels, one per sample, found {}", array.place, samples, array.title()};
    const LabelKind kind = kind_of(array, columns, options_.predict);
    if (started_ && (kind != kind_ || columns != columns_))
      throw Error{invalid_argument, "{}: labels of another kind than those of the first file: {}; data.predict decides what they are",
                  array.place, array.title()};
    if (!started_ && kind == LabelKind::classes && array.type.kind == 'f' && options_.predict == "auto")
      warnings_.push_back(fmt::format(
          "npy: {}: the labels are whole floats and taken as classes; predict = \"number\" predicts them as numbers", array.place));
    started_ = true;
    kind_ = kind;
    columns_ = columns;
    append(array);
  }

  void finish(MemorySamples& out) {
    out.warnings = std::move(warnings_);
    if (kind_ == LabelKind::numbers) {
      out.format.targets = columns_;
      out.targets = std::move(targets_);
      return;
    }
    if (kind_ == LabelKind::classes) {
      out.labels = texts_.finish(out.format);
      if (texts_.seem_to_count_from_1())
        out.warnings.emplace_back("npy: no sample has the label 0; if labels count from 1, set first_label = 1");
      return;
    }
    out.labels = std::move(hot_);
    out.format.classes = columns_;
    if (std::ssize(options_.class_names) == columns_) out.format.class_names = options_.class_names;
  }

 private:
  void append(const NpyArray& array) {
    if (kind_ == LabelKind::numbers) {
      const std::vector<float> values = finite_floats(array);
      targets_.insert(targets_.end(), values.begin(), values.end());
      return;
    }
    for (std::int64_t i = 0; i < array.count(); ++i) {
      if (kind_ == LabelKind::one_hot) {
        if (array.number(i) == 1) hot_.push_back(static_cast<std::int32_t>(i % columns_));
      } else {
        texts_.add(array.type.is_text() ? array.text(i) : fmt::format("{:.0f}", array.number(i)),
                   fmt::format("{}: sample {}", array.place, i));
      }
    }
  }

  const NpyOptions& options_;
  TextLabels texts_;
  std::vector<std::int32_t> hot_;
  std::vector<float> targets_;
  std::vector<std::string> warnings_;
  bool started_ = false;
  LabelKind kind_ = LabelKind::classes;
  std::int64_t columns_ = 1;
};

// What people call features and labels. In names of a part, @ stands for it.
constexpr std::array<std::string_view, 18> kFeatures{"x_@",        "@_x",        "@_images", "images_@", "@_data", "data_@",
                                                     "@_features", "features_@", "x@",       "x",        "images", "image",
                                                     "features",   "data",       "inputs",   "spectra",  "flux",   "samples"};
constexpr std::array<std::string_view, 17> kLabels{"y_@",       "@_y",      "@_labels", "labels_@", "@_label", "@_targets",
                                                   "targets_@", "@_target", "y@",       "y",        "labels",  "label",
                                                   "targets",   "target",   "classes",  "class",    "category"};

std::optional<std::size_t> find_known(const NpyBundle& bundle, std::span<const std::string_view> names, Part part) {
  for (const std::string_view name : names) {
    std::string key(name);
    if (const std::size_t at = key.find('@'); at != std::string::npos) key.replace(at, 1, part == Part::train ? "train" : "test");
    if (const auto found = bundle.find(key)) return found;
  }
  return std::nullopt;
}

struct Roles {
  std::optional<std::size_t> features;
  std::optional<std::size_t> labels;
};

class RoleFinder {
 public:
  RoleFinder(const NpyOptions& options, Part part) : options_(options), part_(part) {}

  Roles find(const NpyBundle& bundle) const {
    const bool is_test = part_ == Part::test;
    Roles roles{.features = named(bundle, "features", is_test ? options_.test_features : "", options_.features),
                .labels = named(bundle, "labels", is_test ? options_.test_labels : "", options_.labels)};
    if (!roles.features) roles.features = find_known(bundle, kFeatures, part_);
    if (!roles.labels) roles.labels = find_known(bundle, kLabels, part_);
    if (bundle.entries.size() == 2) complete(bundle, roles);
    if (!roles.features || !roles.labels || *roles.features == *roles.labels)
      throw Error{invalid_argument, "{}: which array has the {}? write data.features = \"...\" and data.labels = \"...\"; there are: {}",
                  bundle.path.string(), roles.features ? "labels" : "samples", bundle.contents()};
    return roles;
  }

 private:
  static std::optional<std::size_t> named(const NpyBundle& bundle, std::string_view option, const std::string& of_part,
                                          const std::string& of_both) {
    const std::string& name = of_part.empty() ? of_both : of_part;
    if (name.empty()) return std::nullopt;
    if (const auto found = bundle.find(name)) return found;
    throw Error{invalid_argument, "{}: {} is '{}', but there is no such array; there are: {}", bundle.path.string(), option, name,
                bundle.contents()};
  }

  // Of two arrays one has the samples and the other the labels.
  static void complete(const NpyBundle& bundle, Roles& roles) {
    if (roles.features) {
      if (!roles.labels) roles.labels = 1 - *roles.features;
    } else if (roles.labels) {
      roles.features = 1 - *roles.labels;
    } else if (bundle.is_pair) {
      roles = {.features = 0, .labels = 1};
    } else {
      const bool first_is_flat = bundle.entries[0].load().shape.size() == 1, second_is_flat = bundle.entries[1].load().shape.size() == 1;
      if (first_is_flat != second_is_flat) roles = {.features = first_is_flat ? 1 : 0, .labels = first_is_flat ? 0 : 1};
    }
  }

  const NpyOptions& options_;
  Part part_;
};

std::unique_ptr<Source> open(const ReaderRequest& request) {
  const auto& options = std::any_cast<const NpyOptions&>(request.options);
  if (request.files.empty()) throw Error{invalid_argument, "the reader npy needs a .npz file, or .npy files of features and labels"};
  const RoleFinder finder(options, request.part);
  MemorySamples samples{.file_starts = {}};
  Labels labels(options);
  std::int64_t count = 0;
  for (const NpyBundle& bundle : npy_bundles(request.files)) {
    const Roles roles = finder.find(bundle);
    samples.file_starts.push_back(count);
    const std::int64_t added = append_features(bundle.entries[*roles.features].load(), options, samples);
    labels.add(bundle.entries[*roles.labels].load(), added);
    count += added;
  }
  labels.finish(samples);
  return std::make_unique<MemorySource>(std::move(samples));
}

ReaderRequest example(const std::filesystem::path& folder) {
  const std::string pixels("\0\x14\x28\x3c\x50\x64\x78\x8c\xa0\xb4\xc8\xdc", 12);
  const std::string labels("\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0", 24);
  const std::string features_file = npy_file("|u1", {3, 2, 2}, pixels), labels_file = npy_file("<i8", {3}, labels);
  write_file_atomically(folder / "stored.npz", zip_archive({{"x.npy", features_file}, {"y.npy", labels_file}}, false));
  write_file_atomically(folder / "packed.npz", zip_archive({{"x.npy", features_file}, {"y.npy", labels_file}}, true));
  write_file_atomically(folder / "pixels.npy", npy_file("|u1", {3, 2, 2}, pixels, true));
  write_file_atomically(folder / "kinds.npy", labels_file);
  return {.files = {folder / "stored.npz", folder / "packed.npz", folder / "pixels.npy", folder / "kinds.npy"}, .options = NpyOptions{}};
}

}  // namespace

ReaderEntry npy() {
  return {.name = "npy",
          .summary = "arrays of numpy: features and labels in a .npz file, a folder, or a pair of .npy files",
          .options = options_type<NpyOptions>(),
          .open = open,
          .example = example};
}

}  // namespace trireme::data::readers
