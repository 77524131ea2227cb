// SPDX-License-Identifier: Apache-2.0
// image_table: a folder of JPEG and PNG files, and a table that says of each by its name which class it is.
#include <algorithm>
#include <array>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/data/formats/class_count.h"
#include "trireme/data/formats/folder.h"
#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/formats/text_labels.h"
#include "trireme/data/images/picture_source.h"
#include "trireme/data/images/picture_table.h"

namespace trireme::data::readers {
namespace {

namespace fs = std::filesystem;

struct ImageTableOptions {
  std::vector<std::string> table;
  std::vector<std::string> test_table;
  PictureColumns columns;
  std::vector<std::string> class_names;
  std::int64_t classes = 0;
  std::int64_t first_label = 0;
  PictureFileOptions pictures;
};

void describe(ImageTableOptions& o, OptionVisitor& visit) {
  visit("table", o.table,
        "CSV with names and labels of the training pictures, one per folder, relative to the job file; empty: the only "
        "one in the folder");
  visit("test_table", o.test_table, "the same of the test pictures; empty: as table, but only if the test folder has none of its own");
  visit("file_column", o.columns.file, "column of the pictures' names, by name or number; empty: the one whose values name pictures");
  visit("label_column", o.columns.label,
        "column of the class, by name or number; empty: label, class, category or the like, or the only other one");
  visit("class_names", o.class_names, "the classes in their order, or what to call numbers; empty: numbers as they are, words sorted");
  visit("classes", o.classes, "how many there are if labels are numbers; 0: the largest + 1", 0, kMaxClasses);
  visit("first_label", o.first_label, "the label of the first class if labels are numbers: 1 if they count from 1", 0, kMaxClasses);
  describe(o.pictures, visit);
}

bool is_table(const fs::path& file) {
  static constexpr std::array<std::string_view, 2> kPacked{".gz", ".xz"};
  const bool packed = std::ranges::any_of(kPacked, [&](std::string_view ending) { return has_extension(file, ending); });
  const fs::path name = packed ? file.stem() : file.filename();
  std::error_code fault;
  return fs::is_regular_file(file, fault) && (has_extension(name, ".csv") || has_extension(name, ".tsv"));
}

std::vector<std::string> tables_in(const fs::path& folder) {
  std::vector<std::string> tables;
  for (const fs::path& entry : entries_of(folder))
    if (is_table(entry)) tables.push_back(entry.string());
  return tables;
}

fs::path only_table(const fs::path& folder, Part part) {
  const std::string_view key = part == Part::train ? "table" : "test_table";
  std::error_code fault;
  if (!fs::is_directory(folder, fault) && fs::exists(folder, fault))
    throw Error{invalid_argument, "{}: image_table takes folders of pictures; name the folder here, and a table with data.{} = \"...\"",
                folder.string(), key};
  const std::vector<std::string> tables = tables_in(folder);
  if (tables.empty())
    throw Error{not_found, "{}: the folder has no .csv file with names and labels of the pictures; name one with data.{} = \"...\"",
                folder.string(), key};
  if (tables.size() > 1)
    throw Error{invalid_argument, "{}: the folder has {} tables ({}); choose one with data.{} = \"...\"",
                folder.string(),  tables.size(),
                some_of(tables),  key};
  return tables.front();
}

// The table of each folder.
std::vector<fs::path> tables_of(const ReaderRequest& request, const ImageTableOptions& options) {
  const bool is_test = request.part == Part::test;
  const std::vector<std::string>* named = is_test ? &options.test_table : &options.table;
  if (is_test && named->empty() && !options.table.empty() && tables_in(request.files.front()).size() != 1) named = &options.table;
  if (named->empty()) {
    std::vector<fs::path> found;
    for (const fs::path& folder : request.files) found.push_back(only_table(folder, request.part));
    return found;
  }
  if (named->size() != 1 && named->size() != request.files.size())
    throw Error{invalid_argument, "image_table: {} tables for {} folders; name one for each, or one for all", named->size(),
                request.files.size()};
  std::vector<fs::path> tables(named->begin(), named->end());
  tables.resize(request.files.size(), tables.front());
  for (const fs::path& table : tables)
    if (std::error_code fault; !fs::is_regular_file(table, fault))
      throw Error{not_found, "{}: there is no such table; a path in a job file is relative to it", table.string()};
  return tables;
}

class Pictures {
 public:
  explicit Pictures(const ImageTableOptions& options, Part part)
      : options_(options), labels_(options.class_names, options.classes, options.first_label) {
    set_.reader = "image_table";
    set_.every_class = part == Part::train;
  }

  void add(const fs::path& folder, const fs::path& table) {
    const PictureTable rows = read_picture_table(folder, table, options_.columns);
    for (const PictureRow& row : rows.rows) {
      if (row.file.empty()) {
        add_missing(fmt::format("{}: names the picture '{}', which is not below {}", row.place, row.named, folder.string()));
        continue;
      }
      labels_.add(row.label, row.place);
      set_.files.push_back({.root = folder, .path = row.file});
    }
    if (!rows.unnamed.empty())
      set_.warnings.push_back(fmt::format("image_table: passed over {} pictures that {} does not name: {}", rows.unnamed.size(),
                                          table.string(), some_of(rows.unnamed)));
  }

  std::unique_ptr<Source> finish() {
    if (set_.files.empty()) throw Error{data_loss, "image_table: no picture is left; the first that is missing: {}", set_.skipped.front()};
    if (!set_.skipped.empty())
      set_.warnings.push_back(
          fmt::format("image_table: {} pictures of the table are missing: {}", set_.skipped.size(), some_of(set_.skipped)));
    SampleFormat format;
    const std::vector<std::int32_t> labels = labels_.finish(format);
    for (std::size_t i = 0; i < labels.size(); ++i) set_.files[i].label = labels[i];
    set_.classes = format.classes;
    set_.class_names = std::move(format.class_names);
    if (labels_.seem_to_count_from_1())
      set_.warnings.emplace_back("image_table: no picture has the label 0; if labels count from 1, set first_label = 1");
    return std::make_unique<PictureSource>(std::move(set_), options_.pictures);
  }

 private:
  void add_missing(const std::string& message) {
    if (options_.pictures.on_damage == "fail") throw Error{data_loss, "{}; on_damage = \"skip\" leaves such rows out", message};
    set_.skipped.push_back(message);
  }

  const ImageTableOptions& options_;
  TextLabels labels_;
  PictureSet set_;
};

std::unique_ptr<Source> open(const ReaderRequest& request) {
  const auto& options = std::any_cast<const ImageTableOptions&>(request.options);
  if (request.files.empty())
    throw Error{invalid_argument, "image_table: no folder is named; give one with pictures and a table of their names and labels"};
  check_options(options.pictures.picture, "image_table");
  const std::vector<fs::path> tables = tables_of(request, options);
  Pictures pictures(options, request.part);
  for (std::size_t i = 0; i < tables.size(); ++i) pictures.add(request.files[i], tables[i]);
  return pictures.finish();
}

ReaderRequest example(const fs::path& folder) {
  std::string table = "picture,colour\n";
  for (std::uint8_t i = 0; i < 3; ++i) {
    const Image image{8, 6, 3, std::vector<std::uint8_t>(144, static_cast<std::uint8_t>(60 * i + 20))};
    write_file_atomically(folder / fmt::format("{}.png", i), encode_png(image));
    table += fmt::format("{}.png,{}\n", i, i == 0 ? "dark" : "bright");
  }
  write_file_atomically(folder / "labels.csv", table);
  return {.files = {folder}, .options = ImageTableOptions{}};
}

}  // namespace

ReaderEntry image_table() {
  return {.name = "image_table",
          .summary = "JPEG and PNG files in one folder, and a CSV file with their names and labels",
          .options = options_type<ImageTableOptions>(),
          .damage = Damage::may_go_unnoticed,
          .open = open,
          .image_fit = [](const std::any& options) { return fit_of(std::any_cast<const ImageTableOptions&>(options).pictures.picture); },
          .example = example};
}

}  // namespace trireme::data::readers
