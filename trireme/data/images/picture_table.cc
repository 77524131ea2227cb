// SPDX-License-Identifier: Apache-2.0
// Finds the pictures below a folder once; each name is looked up among them, so that no name leads elsewhere.
#include "trireme/data/images/picture_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "trireme/base/error.h"
#include "trireme/data/formats/delimited_text.h"
#include "trireme/data/formats/folder.h"
#include "trireme/data/formats/text_file.h"
#include "trireme/data/images/picture_source.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kProbedRows = 200;  // that decide what a column is

// Pictures below a folder by all names that a table may have for them.
class PictureIndex {
 public:
  explicit PictureIndex(const fs::path& folder) {
    for (const fs::path& file : files_below(folder))
      if (is_picture(file)) add(file.lexically_relative(folder));
  }

  std::optional<std::size_t> find(std::string_view name) const {
    std::string slashes(name);
    std::ranges::replace(slashes, '\\', '/');
    const fs::path wanted = fs::path(slashes).lexically_normal();
    for (const std::string& key : {wanted.string(), wanted.filename().string()}) {
      const auto found = names_.find(key);
      if (found != names_.end() && found->second) return found->second;
    }
    return std::nullopt;
  }
  const std::vector<fs::path>& files() const { return files_; }

 private:
  void add(const fs::path& file) {
    const std::size_t number = files_.size();
    files_.push_back(file);
    fs::path bare = file;
    bare.replace_extension();
    for (const std::string& key : std::set{file.string(), bare.string(), file.filename().string(), bare.filename().string()}) {
      const auto [at, is_new] = names_.emplace(key, number);
      if (is_new) continue;
      // A full path has one meaning; a file name that two folders have, none.
      if (key == file.string())
        at->second = number;
      else if (at->second && files_[*at->second] != key)
        at->second = std::nullopt;
    }
  }

  std::vector<fs::path> files_;
  std::map<std::string, std::optional<std::size_t>, std::less<>> names_;
};

using Row = std::vector<std::string>;

struct Text {
  std::vector<Row> rows;
  std::vector<std::string> places;
};

Text read_rows(const fs::path& path) {
  const TextFile file(path);
  DelimitedText text(file.text(), file.name(), DelimitedText::guess_separator(file.text()));
  Text out;
  std::vector<std::string_view> fields;
  while (text.next_row(fields)) {
    out.places.push_back(text.place());
    out.rows.emplace_back(fields.begin(), fields.end());
    if (fields.size() != out.rows.front().size())
      throw Error{data_loss, "{}: expected {} values, found {}", text.place(), out.rows.front().size(), fields.size()};
  }
  if (out.rows.empty()) throw Error{data_loss, "{}: expected lines with names and labels of pictures, found none", file.name()};
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

class Columns {
 public:
  Columns(const Text& text, const PictureIndex& index, const PictureColumns& wanted, const fs::path& folder, const std::string& table)
      : text_(text), index_(index), table_(table) {
    file_ = wanted.file.empty() ? file_column(folder) : named(wanted.file, "file_column");
    has_header_ = !index_.find(text_.rows.front()[file_]) && (text_.rows.size() > 1 || !wanted.file.empty());
    label_ = wanted.label.empty() ? label_column() : named(wanted.label, "label_column");
    if (file_ == label_)
      throw Error{invalid_argument, "{}: column '{}' has the names of the pictures; label_column must be another", table_, title(file_)};
  }

  std::size_t file() const { return file_; }
  std::size_t label() const { return label_; }
  std::size_t first_row() const { return has_header_ ? 1 : 0; }

 private:
  std::size_t count() const { return text_.rows.front().size(); }
  std::string title(std::size_t column) const { return has_header_ ? text_.rows.front()[column] : std::to_string(column + 1); }

  std::size_t named(const std::string& wanted, std::string_view option) const {
    const Row& first = text_.rows.front();
    const auto found = std::ranges::find(first, wanted);
    if (found != first.end()) return static_cast<std::size_t>(found - first.begin());
    std::size_t number = 0;
    const auto [end, fault] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    if (fault == std::errc{} && end == wanted.data() + wanted.size() && number >= 1 && number <= count()) return number - 1;
    throw Error{invalid_argument, "{}: {} is '{}', but its columns are: {}", table_, option, wanted, fmt::join(first, ", ")};
  }

  // The one with most names of pictures in its first rows.
  std::size_t file_column(const fs::path& folder) const {
    std::vector<std::size_t> hits(count());
    for (std::size_t row = 0; row < std::min(text_.rows.size(), kProbedRows); ++row)
      for (std::size_t column = 0; column < count(); ++column) hits[column] += index_.find(text_.rows[row][column]) ? 1 : 0;
    const auto best = std::ranges::max_element(hits);
    if (*best > 0) return static_cast<std::size_t>(best - hits.begin());
    throw Error{not_found,
                "{}: no column names pictures of {}, which has {} ({}); the table's second line: {}; file_column names the column",
                table_,
                folder.string(),
                index_.files().size(),
                index_.files().empty() ? "none" : index_.files().front().string() + ", ...",
                fmt::join(text_.rows[std::min<std::size_t>(1, text_.rows.size() - 1)], ", ")};
  }

  std::size_t label_column() const {
    static constexpr std::array<std::string_view, 9> kNames{"label",  "class",      "category", "labels", "classes",
                                                            "target", "class_name", "species",  "breed"};
    const Row& first = text_.rows.front();
    for (const std::string_view name : kNames)
      for (std::size_t column = 0; has_header_ && column < count(); ++column)
        if (column != file_ && lower(first[column]) == name) return column;
    if (count() == 2) return 1 - file_;
    throw Error{invalid_argument, "{}: which column has the labels? write data.label_column = \"...\"; its columns are: {}", table_,
                fmt::join(first, ", ")};
  }

  const Text& text_;
  const PictureIndex& index_;
  const std::string& table_;
  std::size_t file_ = 0;
  std::size_t label_ = 0;
  bool has_header_ = false;
};

}  // namespace

PictureTable read_picture_table(const fs::path& folder, const fs::path& table, const PictureColumns& wanted) {
  const PictureIndex index(folder);
  const Text text = read_rows(table);
  const std::string name = table.string();
  const Columns columns(text, index, wanted, folder, name);
  PictureTable out;
  std::vector<bool> used(index.files().size());
  for (std::size_t i = columns.first_row(); i < text.rows.size(); ++i) {
    const Row& row = text.rows[i];
    const auto found = index.find(row[columns.file()]);
    out.rows.push_back({.named = row[columns.file()], .file = {}, .label = row[columns.label()], .place = text.places[i]});
    if (!found) continue;
    out.rows.back().file = index.files()[*found];
    used[*found] = true;
  }
  if (out.rows.empty()) throw Error{data_loss, "{}: expected lines after the header, found none", name};
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i]) out.unnamed.push_back(index.files()[i].string());
  return out;
}

}  // namespace trireme::data
