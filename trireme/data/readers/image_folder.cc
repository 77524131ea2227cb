// SPDX-License-Identifier: Apache-2.0
// image_folder: a folder with a sub-folder for each class, in which, at any depth, lie JPEG and PNG files.
#include <map>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/data/formats/folder.h"
#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/images/picture_source.h"

namespace trireme::data::readers {
namespace {

namespace fs = std::filesystem;

struct Listing {
  std::map<std::string, std::vector<PictureFile>> classes;
  std::vector<std::string> passed_over;
};

void list_class(const fs::path& root, const fs::path& folder, Listing& listing) {
  std::vector<PictureFile>& images = listing.classes[folder.filename().string()];
  for (const fs::path& file : files_below(folder)) {
    if (is_picture(file))
      images.push_back({.root = root, .path = file.lexically_relative(root)});
    else
      listing.passed_over.push_back(file.string());
  }
}

Listing list_folders(const std::vector<fs::path>& folders) {
  Listing listing;
  for (const fs::path& root : folders)
    for (const fs::path& entry : entries_of(root)) {
      std::error_code fault;
      if (fs::is_directory(entry, fault))
        list_class(root, entry, listing);
      else
        listing.passed_over.push_back(entry.string());
    }
  return listing;
}

std::string passed_over_warning(const std::vector<std::string>& files) {
  return fmt::format("image_folder: passed over {} that {} no .jpg, .jpeg or .png file in a class's folder: {}", files.size(),
                     files.size() == 1 ? "is" : "are", some_of(files));
}

// A class of the training part may be missing in the test part. A folder without pictures is no class where damage is left out.
PictureSet labelled(const Listing& listing, Part part, bool skips_damage) {
  PictureSet set{.reader = "image_folder", .every_class = part == Part::train};
  for (const auto& [name, images] : listing.classes) {
    if (images.empty() && part == Part::train && skips_damage) {
      set.warnings.push_back(fmt::format("image_folder: the folder '{}' has no picture and is no class", name));
      continue;
    }
    if (images.empty() && part == Part::train)
      throw Error{invalid_argument,
                  "image_folder: the class folder '{}' has no .jpg, .jpeg or .png file; on_damage = \"skip\" leaves such folders out",
                  name};
    for (PictureFile image : images) {
      image.label = static_cast<std::int32_t>(set.class_names.size());
      set.files.push_back(std::move(image));
    }
    set.class_names.push_back(name);
  }
  if (!listing.passed_over.empty()) set.warnings.push_back(passed_over_warning(listing.passed_over));
  set.classes = static_cast<std::int64_t>(set.class_names.size());
  return set;
}

std::unique_ptr<Source> open(const ReaderRequest& request) {
  const auto& options = std::any_cast<const PictureFileOptions&>(request.options);
  if (request.files.empty()) throw Error{invalid_argument, "image_folder: no folder is named; give one with a sub-folder for each class"};
  check_options(options.picture, "image_folder");
  const Listing listing = list_folders(request.files);
  if (listing.classes.empty())
    throw Error{not_found, "{}: no sub-folders; image_folder takes a folder with a sub-folder for each class", request.files[0].string()};
  PictureSet set = labelled(listing, request.part, options.on_damage == "skip");
  if (set.files.empty()) throw Error{not_found, "{}: no class folder has a .jpg, .jpeg or .png file", request.files[0].string()};
  return std::make_unique<PictureSource>(std::move(set), options);
}

ReaderRequest example(const fs::path& folder) {
  for (std::uint8_t i = 0; i < 3; ++i) {
    const Image image{8, 6, 3, std::vector<std::uint8_t>(144, static_cast<std::uint8_t>(60 * i + 20))};
    write_file_atomically(folder / "bright" / fmt::format("{}.png", i), encode_png(image));
    write_file_atomically(folder / "dark" / "more" / fmt::format("{}.jpg", i), encode_jpeg(image, 90));
  }
  return {.files = {folder}, .options = PictureFileOptions{.picture = {.height = 4, .width = 4}}};
}

}  // namespace

ReaderEntry image_folder() {
  return {.name = "image_folder",
          .summary = "JPEG and PNG files in a folder with a sub-folder for each class",
          .options = options_type<PictureFileOptions>(),
          .open = open,
          .image_fit = [](const std::any& options) { return fit_of(std::any_cast<const PictureFileOptions&>(options).picture); },
          .example = example};
}

}  // namespace trireme::data::readers
