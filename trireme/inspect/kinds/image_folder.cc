// SPDX-License-Identifier: Apache-2.0
// image_folder: pictures in a folder for each class, as they are or below train/ and test/.
#include <algorithm>
#include <map>
#include <set>

#include "trireme/base/error.h"
#include "trireme/data/formats/folder.h"
#include "trireme/inspect/kind_entry.h"
#include "trireme/inspect/pictures.h"

namespace trireme::inspect::kinds {
namespace {

namespace fs = std::filesystem;

// Folders of classes below one root.
struct Classes {
  fs::path root;
  std::map<std::string, std::vector<fs::path>> pictures;
};

std::optional<Classes> classes_below(const fs::path& root, std::vector<std::string>& left_out, const fs::path& top) {
  Classes classes{.root = root, .pictures = {}};
  std::vector<std::string> others;
  const auto leave_out = [&](const fs::path& file) {
    if (is_foreign_picture(file))
      others.push_back(fmt::format("{}: convert it to PNG or JPEG to use it", name_below(file, top)));
    else if (!is_picture(file))
      others.push_back(fmt::format("{}: no picture", name_below(file, top)));
    else
      others.push_back(fmt::format("{}: a picture outside the folders of classes", name_below(file, top)));
  };
  const Place place(root);
  for (const fs::path& folder : place.folders()) {
    std::vector<fs::path> pictures;
    for (const fs::path& file : data::files_below(folder)) {
      if (is_picture(file))
        pictures.push_back(file);
      else
        leave_out(file);
    }
    if (pictures.empty())
      others.push_back(fmt::format("{}/: a folder without pictures", name_below(folder, top)));
    else
      classes.pictures[folder.filename().string()] = std::move(pictures);
  }
  for (const fs::path& file : place.files()) leave_out(file);
  if (classes.pictures.empty()) return std::nullopt;
  std::ranges::move(others, std::back_inserter(left_out));
  return classes;
}

struct Parts {
  std::vector<Classes> train;
  std::optional<Classes> test;
};

std::optional<Parts> named_parts(const Place& place, Finding& finding) {
  std::map<PartName, fs::path> folders;
  for (const fs::path& folder : place.folders()) {
    const PartName part = part_name(folder.filename().string());
    if (part != PartName::none) folders.emplace(part, folder);
  }
  const auto train = folders.find(PartName::train);
  if (train == folders.end()) return std::nullopt;
  Parts parts;
  const auto read = [&](PartName part) {
    const auto found = folders.find(part);
    return found == folders.end() ? std::nullopt : classes_below(found->second, finding.left_out, place.path());
  };
  auto training = read(PartName::train);
  if (!training) return std::nullopt;
  parts.train.push_back(std::move(*training));
  auto validation = read(PartName::validation);
  parts.test = read(PartName::test);
  const std::string validation_name = validation ? validation->root.filename().string() : "";
  if (validation && parts.test) {
    parts.train.push_back(std::move(*validation));
    finding.facts.push_back(fmt::format("{0}/ is trained on too: the check after each epoch takes a share of it and of {1}/",
                                        validation_name, parts.train[0].root.filename().string()));
  } else if (validation) {
    parts.test = std::move(validation);
    finding.facts.push_back(fmt::format("{}/ is the test part; it is not looked at before the end", validation_name));
  }
  for (const fs::path& folder : place.folders())
    if (part_name(folder.filename().string()) == PartName::none)
      finding.left_out.push_back(fmt::format("{}/: beside {}/", folder.filename().string(), parts.train[0].root.filename().string()));
  for (const fs::path& file : place.files())
    finding.left_out.push_back(fmt::format("{}: beside the folders", name_below(file, place.path())));
  return parts;
}

// A folder in a folder, as archives make them.
fs::path descended(fs::path path) {
  for (int depth = 0; depth < 4; ++depth) {
    const Place place(path);
    if (place.folders().size() != 1 || std::ranges::any_of(place.files(), is_picture)) return path;
    const Place below(place.folders()[0]);
    if (below.folders().empty() || std::ranges::any_of(below.files(), is_picture)) return path;
    path = place.folders()[0];
  }
  return path;
}

// Names of classes that the training part has.
std::vector<std::string> check_classes(const Parts& parts, const Place& place) {
  std::set<std::string> names;
  for (const Classes& classes : parts.train)
    for (const auto& [name, pictures] : classes.pictures) names.insert(name);
  if (names.size() == 1)
    throw Error{invalid_argument,
                "{}: all pictures are in one folder, '{}'; a network needs at least two classes to tell apart: make a sub-folder for each",
                place.path().string(), *names.begin()};
  if (parts.test)
    for (const auto& [name, pictures] : parts.test->pictures)
      if (!names.contains(name))
        throw Error{invalid_argument, "{}: the class '{}' has no folder with pictures in the training part; add one, or remove this folder",
                    (parts.test->root / name).string(), name};
  return {names.begin(), names.end()};
}

std::optional<Finding> find(const Place& given, const Wishes& /*wishes*/) {
  if (!given.is_folder()) return std::nullopt;
  const Place place(descended(given.path()));
  Finding finding{.title = "pictures, a folder for each class", .reader = "image_folder", .form = Form::pictures};
  std::optional<Parts> parts = named_parts(place, finding);
  if (!parts) {
    auto classes = classes_below(place.path(), finding.left_out, given.path());
    if (!classes) return std::nullopt;
    parts = Parts{.train = {std::move(*classes)}, .test = std::nullopt};
  }
  const std::vector<std::string> names = check_classes(*parts, place);
  std::vector<fs::path> pictures;
  for (const Classes& classes : parts->train) {
    finding.train.push_back(classes.root);
    for (const auto& [name, files] : classes.pictures) pictures.insert(pictures.end(), files.begin(), files.end());
  }
  if (parts->test) finding.test.push_back(parts->test->root);
  const PictureFacts facts = look_at_pictures(pictures);
  add_picture_options(facts, finding);
  finding.mirrors = may_be_mirrored(facts, names);
  return finding;
}

}  // namespace

KindEntry image_folder() {
  return {
      .name = "image_folder", .looked_for = "sub-folders with pictures (.jpg, .jpeg, .png), one for each class", .order = 10, .find = find};
}

}  // namespace trireme::inspect::kinds
