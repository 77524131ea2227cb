// SPDX-License-Identifier: Apache-2.0
// csv: a sample a line, separated by commas, semicolons, tabs, bars or spaces; plain, gzip or xz, UTF-8 or UTF-16.
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/data/formats/class_count.h"
#include "trireme/data/formats/delimited_text.h"
#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/formats/table_header.h"
#include "trireme/data/formats/text_file.h"
#include "trireme/data/formats/text_labels.h"
#include "trireme/data/source/memory_source.h"

namespace trireme::data::readers {
namespace {

struct CsvOptions {
  std::string separator = "auto";
  std::string header = "auto";
  std::string label;
  std::vector<std::string> target;
  std::vector<std::string> drop;
  std::vector<std::string> class_names;
  std::int64_t classes = 0;
  std::int64_t first_label = 0;
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool interleaved = false;
  std::string on_damage = "fail";
};

void describe(CsvOptions& o, OptionVisitor& visit) {
  visit("separator", o.separator, "between values; auto: what stands most often in the first line",
        {"auto", "comma", "semicolon", "tab", "bar", "space"});
  visit("header", o.header,
        "whether the first line names the columns; otherwise they are called 1, 2, 3 ...; auto: a first line of numbers, or with numbers "
        "where the second one has them, is a sample",
        {"auto", "true", "false"});
  visit("label", o.label, "column of the class, by name or number; empty: the last one, unless there are targets");
  visit("target", o.target, "columns to predict (a regression), instead of a label");
  visit("drop", o.drop, "columns to leave out");
  visit("class_names", o.class_names, "the classes in their order, or what to call numbers; empty: numbers as they are, words sorted");
  visit("classes", o.classes, "how many there are if labels are numbers; 0: the largest + 1", 0, kMaxClasses);
  visit("first_label", o.first_label, "the label of the first class if labels are numbers: 1 if they count from 1", 0, kMaxClasses);
  visit("channels", o.channels, "of a sample; 0: it is a plain row of values, or an image of one channel", 0, kMaxClasses);
  visit("height", o.height, "of a sample taken as an image; 0: it is none", 0, kMaxClasses);
  visit("width", o.width, "of a sample taken as an image; 0: what the columns make", 0, kMaxClasses);
  visit("interleaved", o.interleaved, "all channels of a pixel stand together; otherwise the planes follow one another");
  visit("on_damage", o.on_damage,
        "what to do with a row that has a gap, a word for a number or another length: refuse the table or leave the row out",
        {"fail", "skip"});
}

enum class Role { feature, target, label, dropped };

struct Column {
  std::string name;
  Role role = Role::feature;
  std::size_t position = 0;  // in the sample's values, or among its targets
};

std::size_t find_column(const std::vector<Column>& columns, const std::string& wanted, const std::string& place) {
  const auto found = std::ranges::find(columns, wanted, &Column::name);
  if (found != columns.end()) return static_cast<std::size_t>(found - columns.begin());
  std::size_t number = 0;
  const auto [end, fault] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  if (fault == std::errc{} && end == wanted.data() + wanted.size() && number >= 1 && number <= columns.size()) return number - 1;
  std::vector<std::string_view> names;
  for (const Column& column : columns) names.push_back(column.name);
  const std::string guess = nearest(wanted, names);
  throw Error{invalid_argument,
              "{}: there is no column '{}' among its {}{}",
              place,
              wanted,
              columns.size(),
              guess.empty() ? "" : fmt::format("; did you mean '{}'?", guess)};
}

void give_role(std::vector<Column>& columns, const std::string& wanted, const Column& as, const std::string& place) {
  Column& column = columns[find_column(columns, wanted, place)];
  if (column.role != Role::feature)
    throw Error{invalid_argument, "{}: column '{}' is named twice in label, target and drop", place, column.name};
  column.role = as.role;
  column.position = as.position;
}

std::vector<Column> make_columns(const std::vector<std::string_view>& first_row, const CsvOptions& options, bool has_header,
                                 const std::string& place) {
  std::vector<Column> columns;
  for (const std::string_view field : first_row)
    columns.push_back({.name = has_header ? std::string(field) : std::to_string(columns.size() + 1)});
  for (const std::string& name : options.drop) give_role(columns, name, {.role = Role::dropped}, place);
  for (std::size_t i = 0; i < options.target.size(); ++i)
    give_role(columns, options.target[i], {.role = Role::target, .position = i}, place);
  if (!options.label.empty() && !options.target.empty()) throw Error{invalid_argument, "{}: give a label or targets, not both", place};
  if (options.target.empty())
    give_role(columns, options.label.empty() ? std::to_string(columns.size()) : options.label, {.role = Role::label}, place);
  return columns;
}

// Of a table to be predicted: the columns that a model was trained on, found by their names. Others are not read.
std::vector<Column> columns_by_name(const std::vector<std::string_view>& header, const std::vector<std::string>& wanted,
                                    const std::string& place) {
  std::vector<Column> columns;
  for (const std::string_view name : header) columns.push_back({.name = std::string(name), .role = Role::dropped});
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto found = std::ranges::find(columns, wanted[i], &Column::name);
    if (found == columns.end())
      missing.push_back(wanted[i]);
    else
      *found = {.name = wanted[i], .role = Role::feature, .position = i};
  }
  if (!missing.empty())
    throw Error{invalid_argument, "{}: the model was trained on {} that this table does not have: {}", place,
                missing.size() == 1 ? "a column" : "columns", fmt::join(missing, ", ")};
  return columns;
}

// The same without names: nothing but the samples' values, or the columns that the training's table had.
std::vector<Column> columns_by_number(const std::vector<std::string_view>& first_row, const CsvOptions& options, std::int64_t values,
                                      const std::string& place) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < first_row.size(); ++i) columns.push_back({.name = std::to_string(i + 1)});
  if (std::ssize(columns) != values) columns = make_columns(first_row, options, false, place);
  for (Column& column : columns)
    if (column.role != Role::feature) column.role = Role::dropped;
  const auto found = std::ranges::count(columns, Role::feature, &Column::role);
  if (found != values)
    throw Error{invalid_argument, "{}: the model takes {} values, this table has {} columns", place, values, first_row.size()};
  return columns;
}

Shape sample_shape(std::int64_t features, const CsvOptions& o, const std::string& place) {
  if (features == 0) throw Error{invalid_argument, "{}: no column is left for the sample's values", place};
  std::vector<std::int64_t> extents;
  if (o.height > 0 || o.channels > 0) extents.push_back(std::max<std::int64_t>(o.channels, 1));
  if (o.height > 0) extents.push_back(o.height);
  const std::int64_t outer = Shape(extents).count();  // at most 2^40: the options are bounded
  extents.push_back(o.width > 0 ? o.width : std::max<std::int64_t>(features / outer, 1));
  Shape shape(extents);
  if (shape.count() != features)
    throw Error{invalid_argument, "{}: channels, height and width make {} values, the columns make {}", place, shape.to_string(), features};
  return shape;
}

void place_features(std::vector<Column>& columns, const Shape& shape, bool interleaved) {
  const auto channels = static_cast<std::size_t>(shape.rank() > 1 && interleaved ? shape[0] : 1);
  const std::size_t pixels = static_cast<std::size_t>(shape.count()) / channels;
  std::size_t feature = 0;
  for (Column& column : columns) {
    if (column.role != Role::feature) continue;
    column.position = feature % channels * pixels + feature / channels;
    ++feature;
  }
}

float number_in(std::string_view field, const Column& column, const DelimitedText& text) {
  if (const auto number = number_in_field(field)) return static_cast<float>(*number);
  const bool decimal_comma = field.find(',') != std::string_view::npos && field.find('.') == std::string_view::npos;
  throw Error{data_loss,           "{}: expected a finite number in column '{}', found '{}'{}", text.place(), column.name,
              field.substr(0, 40), decimal_comma ? "; write numbers with a point" : ""};
}

class Table {
 public:
  // `trained`: rows are to be predicted by a model that was trained on samples of this format. Must outlive the table.
  explicit Table(const CsvOptions& options, const SampleFormat* trained = nullptr)
      : options_(options), trained_(trained), labels_(options.class_names, options.classes, options.first_label) {
    samples_.file_starts.clear();
  }

  void add_file(const std::filesystem::path& path) {
    const TextFile file(path);
    const std::string_view content = file.text();
    DelimitedText text(content, file.name(), separator(content));
    samples_.file_starts.push_back(rows_);
    std::vector<std::string_view> fields;
    if (!text.next_row(fields)) throw Error{data_loss, "{}: expected lines of values, found an empty file", file.name()};
    if (rows_ == 0) has_header_ = has_header(fields, content);
    take_first_row(fields, text);
    const std::int64_t before = rows_;
    for (bool more = has_header_ ? text.next_row(fields) : true; more; more = text.next_row(fields)) take_row(fields, text);
    if (rows_ == before && samples_.skipped.empty())
      throw Error{data_loss, "{}: expected lines of values after the header, found none", file.name()};
    if (rows_ == before) throw Error{data_loss, "{}: no row is whole; the first: {}", file.name(), samples_.skipped.front()};
  }

  std::unique_ptr<Source> finish() {
    const bool has_labels = options_.target.empty() && trained_ == nullptr;
    if (has_labels) samples_.labels = labels_.finish(samples_.format);
    if (trained_ != nullptr && trained_->classes > 0) samples_.labels.assign(static_cast<std::size_t>(rows_), 0);
    if (has_labels && labels_.seem_to_count_from_1())
      samples_.warnings.emplace_back("csv: no sample has the label 0; if labels count from 1, set first_label = 1");
    if (!samples_.skipped.empty())
      samples_.warnings.push_back(fmt::format("csv: left out {} of {} rows; the first: {}", samples_.skipped.size(),
                                              static_cast<std::size_t>(rows_) + samples_.skipped.size(), samples_.skipped.front()));
    if (has_header_ && trained_ == nullptr) samples_.format.value_names = value_names();
    return std::make_unique<MemorySource>(std::move(samples_));
  }

 private:
  std::vector<std::string> value_names() const {
    std::vector<std::string> names(static_cast<std::size_t>(std::ranges::count(columns_, Role::feature, &Column::role)));
    for (const Column& column : columns_)
      if (column.role == Role::feature) names[column.position] = column.name;
    return names;
  }

  // A name that the options mention makes it a header at once.
  bool has_header(const std::vector<std::string_view>& first, std::string_view content) const {
    if (options_.header != "auto") return options_.header == "true";
    if (std::ranges::find(first, std::string_view(options_.label)) != first.end() && !number_in_field(options_.label)) return true;
    DelimitedText text(content, "", separator(content));
    std::vector<std::string_view> again, second;
    text.next_row(again);
    text.next_row(second);
    return looks_like_names(first, second);
  }

  char separator(std::string_view text) const {
    if (options_.separator == "auto") return DelimitedText::guess_separator(text);
    static const std::map<std::string, char> kSeparators{{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"bar", '|'}, {"space", ' '}};
    return kSeparators.at(options_.separator);
  }

  void take_first_row(const std::vector<std::string_view>& fields, const DelimitedText& text) {
    if (columns_.empty() && trained_ != nullptr) {
      take_trained_columns(fields, text.place());
    } else if (columns_.empty()) {
      columns_ = make_columns(fields, options_, has_header_, text.place());
      const auto features = std::ranges::count(columns_, Role::feature, &Column::role);
      samples_.format = {.shape = sample_shape(features, options_, text.place()),
                         .element = Element::f32,
                         .targets = static_cast<std::int64_t>(options_.target.size())};
      place_features(columns_, samples_.format.shape, options_.interleaved);
    } else if (has_header_ && !std::ranges::equal(fields, columns_, {}, {}, &Column::name)) {
      throw Error{invalid_argument, "{}: the columns are not those of the first file", text.place()};
    }
  }

  void take_trained_columns(const std::vector<std::string_view>& fields, const std::string& place) {
    samples_.format = *trained_;
    if (has_header_ && !trained_->value_names.empty()) {
      columns_ = columns_by_name(fields, trained_->value_names, place);
    } else {
      columns_ = columns_by_number(fields, options_, trained_->shape.count(), place);
      place_features(columns_, trained_->shape, options_.interleaved);
    }
  }

  void take_row(const std::vector<std::string_view>& fields, const DelimitedText& text) {
    if (options_.on_damage == "fail") return add_row(fields, text);
    const std::size_t value_end = samples_.values.size(), target_end = samples_.targets.size();
    try {
      add_row(fields, text);
    } catch (const Error& error) {  // the row is left out, and said to be
      if (error.code() != data_loss) throw;
      samples_.values.resize(value_end);
      samples_.targets.resize(target_end);
      samples_.skipped.emplace_back(error.what());
    }
  }

  void add_row(const std::vector<std::string_view>& fields, const DelimitedText& text) {
    if (fields.size() != columns_.size())
      throw Error{data_loss, "{}: expected {} values, found {}", text.place(), columns_.size(), fields.size()};
    const std::size_t value_start = samples_.values.size(), target_start = samples_.targets.size();
    samples_.values.resize(value_start + samples_.format.sample_bytes());
    samples_.targets.resize(target_start + static_cast<std::size_t>(samples_.format.targets));
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Column& column = columns_[i];
      if (column.role == Role::dropped || column.role == Role::label) continue;
      const float value = number_in(fields[i], column, text);
      if (column.role == Role::target) samples_.targets[target_start + column.position] = value;
      if (column.role == Role::feature) std::memcpy(&samples_.values[value_start + column.position * sizeof value], &value, sizeof value);
    }
    // Last, so that a row that is left out has left no label.
    const auto label = std::ranges::find(columns_, Role::label, &Column::role);
    if (label != columns_.end()) labels_.add(fields[static_cast<std::size_t>(label - columns_.begin())], text.place());
    ++rows_;
  }

  const CsvOptions& options_;
  const SampleFormat* trained_;
  TextLabels labels_;
  std::vector<Column> columns_;
  MemorySamples samples_;
  std::int64_t rows_ = 0;
  bool has_header_ = true;  // of the first file, and so of all
};

std::unique_ptr<Source> read_tables(const ReaderRequest& request, const SampleFormat* trained) {
  const auto& options = std::any_cast<const CsvOptions&>(request.options);
  if (request.files.empty()) throw Error{invalid_argument, "the reader csv needs at least one file"};
  Table table(options, trained);
  for (const std::filesystem::path& file : request.files) table.add_file(file);
  return table.finish();
}

std::unique_ptr<Source> open(const ReaderRequest& request) { return read_tables(request, nullptr); }

std::unique_ptr<Source> open_unanswered(const ReaderRequest& request, const SampleFormat& trained) {
  return read_tables(request, &trained);
}

ReaderRequest example(const std::filesystem::path& folder) {
  write_file_atomically(folder / "flowers.csv",
                        "length,width,species,colour\n5.1,3.5,setosa,\"blue, pale\"\n7.0,-3.2e0,versicolor,red\n"
                        "6.3,3.3,virginica,\"\"\"white\"\"\"\n5.8,2.7,setosa,\n");
  return {.files = {folder / "flowers.csv"}, .options = CsvOptions{.label = "species", .drop = {"colour"}}};
}

}  // namespace

ReaderEntry csv() {
  return {.name = "csv",
          .summary = "tables of numbers as text, separated by commas, semicolons, tabs, bars or spaces, plain, gzip or xz",
          .options = options_type<CsvOptions>(),
          .damage = Damage::may_go_unnoticed,
          .open = open,
          .open_unanswered = open_unanswered,
          .example = example};
}

}  // namespace trireme::data::readers
