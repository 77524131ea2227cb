// SPDX-License-Identifier: Apache-2.0
// image_table: pictures in one folder, and a table beside them that says which class each is.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "trireme/base/config.h"
#include "trireme/base/error.h"
#include "trireme/data/formats/folder.h"
#include "trireme/data/images/picture_table.h"
#include "trireme/inspect/kind_entry.h"
#include "trireme/inspect/pictures.h"
#include "trireme/inspect/table_columns.h"

namespace trireme::inspect::kinds {
namespace {

namespace fs = std::filesystem;

bool has_picture(const fs::path& folder) { return std::ranges::any_of(data::files_below(folder), is_picture); }

// Folders say the class then, whatever a table says.
bool has_class_folders(const Place& place) {
  std::int64_t classes = 0;
  for (const fs::path& folder : place.folders()) {
    if (part_name(folder.filename().string()) == PartName::none)
      classes += has_picture(folder) ? 1 : 0;
    else if (std::ranges::any_of(Place(folder).folders(), has_picture))
      return true;
  }
  return classes >= 2;
}

std::int64_t pictures_found(const data::PictureTable& table) {
  return std::ranges::count_if(table.rows, [](const data::PictureRow& row) { return !row.file.empty(); });
}

struct Labelled {
  fs::path file;
  data::PictureTable table;
};

// The table that names the most pictures; nothing if none names half of its rows' pictures.
std::optional<Labelled> find_table(const Place& place, const Wishes& wishes, Finding& finding) {
  std::optional<Labelled> best;
  std::string refusal;
  const auto tables = place.files_if([](const fs::path& file) { return has_any_extension(file, {".csv", ".tsv"}); });
  for (const fs::path& file : tables) {
    try {
      data::PictureTable table = data::read_picture_table(place.path(), file, {.file = "", .label = wishes.label});
      const std::int64_t found = pictures_found(table);
      if (found * 2 < std::ssize(table.rows) || (best && found <= pictures_found(best->table))) continue;
      best = Labelled{.file = file, .table = std::move(table)};
    } catch (const Error& error) {  // it may be a table of something else
      refusal = error.what();
    }
  }
  if (!best && tables.size() == 1 && std::ranges::any_of(place.files(), is_picture)) throw Error{invalid_argument, "{}", refusal};
  if (best)
    for (const fs::path& file : tables)
      if (file != best->file) finding.left_out.push_back(fmt::format("{}: another table", name_below(file, place.path())));
  return best;
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + toml_quoted(name);
  return "[" + text + "]";
}

std::optional<Finding> find(const Place& place, const Wishes& wishes) {
  if (!place.is_folder() || !has_picture(place.path()) || has_class_folders(place)) return std::nullopt;
  Finding finding{.title = "pictures, and a table of their classes", .reader = "image_table", .form = Form::pictures};
  const auto labelled = find_table(place, wishes, finding);
  if (!labelled) return std::nullopt;
  std::vector<fs::path> pictures;
  std::set<std::string, std::less<>> labels;
  for (const data::PictureRow& row : labelled->table.rows) {
    if (row.file.empty()) continue;
    pictures.push_back(place.path() / row.file);
    labels.insert(row.label);
  }
  if (labels.size() < 2)
    throw Error{invalid_argument, "{}: all pictures are of the class '{}'; a network needs at least two classes to tell apart",
                labelled->file.string(), *labels.begin()};
  for (const std::string& name : labelled->table.unnamed) finding.left_out.push_back(fmt::format("{}: not in the table", name));
  finding.train = {place.path()};
  finding.options.push_back({"table", toml_quoted(labelled->file.string()), "names of the pictures, and their classes"});
  if (!wishes.label.empty()) finding.options.push_back({"label_column", toml_quoted(wishes.label), "--label"});
  if (const auto names = names_of_numbers(labels); !names.empty()) finding.options.push_back({"class_names", quoted_list(names), ""});
  const PictureFacts facts = look_at_pictures(pictures);
  add_picture_options(facts, finding);
  finding.facts.push_back(fmt::format("classes from {}", name_below(labelled->file, place.path())));
  finding.mirrors = may_be_mirrored(facts, {labels.begin(), labels.end()});
  return finding;
}

}  // namespace

KindEntry image_table() {
  return {.name = "image_table", .looked_for = "pictures and a .csv that has the name and the class of each", .order = 5, .find = find};
}

}  // namespace trireme::inspect::kinds
