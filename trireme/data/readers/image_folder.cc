// SPDX-License-Identifier: Apache-2.0
// image_folder: a folder with a sub-folder for each class, in which, at any depth, lie JPEG and PNG files.
#include <algorithm>
#include <map>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/data/formats/folder.h"
#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/images/image_codec.h"
#include "trireme/data/images/image_file_check.h"
#include "trireme/data/images/planes.h"

namespace trireme::data::readers {
namespace {

namespace fs = std::filesystem;

struct ImageFolderOptions {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::string fit = "stretch";
};

void describe(ImageFolderOptions& o, OptionVisitor& visit) {
  visit("height", o.height, "of the samples; images of another size are resized; 0: that of all images", 0, 1 << 13);
  visit("width", o.width, "of the samples; goes with height", 0, 1 << 13);
  visit("channels", o.channels, "1 (grey) or 3 (colour), others are converted; 0: those of all images", 0, 3);
  visit("fit", o.fit, "how an image of another shape is resized: stretched, or its middle cropped", {"stretch", "crop"});
}

struct ImageFile {
  fs::path root;
  fs::path path;  // below root; begins with the class
};

struct Listing {
  std::map<std::string, std::vector<ImageFile>> classes;
  std::vector<std::string> passed_over;
};

bool is_image(const fs::path& file) {
  std::error_code fault;
  return fs::is_regular_file(file, fault) && (has_extension(file, ".jpg") || has_extension(file, ".jpeg") || has_extension(file, ".png"));
}

void list_class(const fs::path& root, const fs::path& folder, Listing& listing) {
  std::vector<ImageFile>& images = listing.classes[folder.filename().string()];
  for (const fs::path& file : files_below(folder)) {
    if (is_image(file))
      images.push_back({root, file.lexically_relative(root)});
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

void check_options(const ImageFolderOptions& options, const std::vector<fs::path>& files) {
  if (files.empty()) throw Error{invalid_argument, "image_folder: no folder is named; 'files' takes one with a sub-folder for each class"};
  if ((options.height == 0) != (options.width == 0))
    throw Error{invalid_argument, "image_folder: height is {} and width is {}; give both or neither", options.height, options.width};
  if (options.channels == 2) throw Error{invalid_argument, "image_folder: channels is 2; 1 (grey) and 3 (colour) are possible"};
}

std::string passed_over_warning(const std::vector<std::string>& files) {
  constexpr std::size_t kShown = 3;
  std::string text = fmt::format("image_folder: passed over {} that {} no .jpg, .jpeg or .png file in a class's folder: {}", files.size(),
                                 files.size() == 1 ? "is" : "are", files.front());
  for (std::size_t i = 1; i < std::min(files.size(), kShown); ++i) text += ", " + files[i];
  return files.size() > kShown ? text + ", ..." : text;
}

class ImageFolder final : public Source {
 public:
  ImageFolder(const Listing& listing, ImageFolderOptions options) : options_(std::move(options)) {
    for (const auto& [name, images] : listing.classes) {
      if (images.empty()) throw Error{invalid_argument, "image_folder: the class folder '{}' has no .jpg, .jpeg or .png file", name};
      labels_.insert(labels_.end(), images.size(), static_cast<std::int32_t>(format_.class_names.size()));
      files_.insert(files_.end(), images.begin(), images.end());
      format_.class_names.push_back(name);
    }
    if (!listing.passed_over.empty()) warnings_.push_back(passed_over_warning(listing.passed_over));
    format_.classes = static_cast<std::int64_t>(format_.class_names.size());
    for (const ImageFile& file : files_) check(file.root / file.path);
  }

  const SampleFormat& format() const override { return format_; }
  std::int64_t size() const override { return static_cast<std::int64_t>(files_.size()); }
  std::int32_t label(std::int64_t index) const override { return labels_[static_cast<std::size_t>(index)]; }
  std::string sample_name(std::int64_t index) const override { return files_[static_cast<std::size_t>(index)].path.string(); }
  std::vector<std::string> warnings() const override { return warnings_; }

  void read(std::int64_t index, std::span<std::byte> sample) const override {
    ensure(index >= 0 && index < size() && sample.size() == format_.sample_bytes(), "a read inside the set");
    const ImageFile& file = files_[static_cast<std::size_t>(index)];
    const fs::path path = file.root / file.path;
    const Image image = fitted(decode_image(read_file(path), path.string()));
    check_fits({image.height, image.width, image.channels}, path);
    planes_of(std::as_bytes(std::span(image.pixels)), static_cast<std::size_t>(image.channels), sample);
  }

 private:
  void check(const fs::path& path) {
    ImageSize size = check_image_file(path);
    if (options_.height > 0) size = {options_.height, options_.width, size.channels};
    if (options_.channels > 0) size.channels = options_.channels;
    if (format_.shape.rank() == 0) {
      format_.shape = {size.channels, size.height, size.width};
      first_ = path;
    }
    check_fits(size, path);
  }

  void check_fits(const ImageSize& size, const fs::path& path) const {
    if (Shape{size.channels, size.height, size.width} == format_.shape) return;
    throw Error{
        data_loss,
        "{}: is {} (channels x height x width), but {} is {}; all samples must have one size: write data.height = {}, data.width = {} "
        "and data.channels = {} (or others), and every picture is converted",
        path.string(),
        Shape{size.channels, size.height, size.width}.to_string(),
        first_.string(),
        format_.shape.to_string(),
        format_.shape[1],
        format_.shape[2],
        format_.shape[0]};
  }

  Image fitted(Image image) const {
    if (options_.channels == 1) image = with_channels(std::move(image), 1);  // before the resize, which then has less to do
    if (options_.height > 0) {
      if (options_.fit == "crop") image = cropped_to_shape(image);
      image = resized(image, options_.height, options_.width);
    }
    return options_.channels == 0 ? image : with_channels(std::move(image), options_.channels);
  }

  // The largest middle part that has the shape of a sample.
  Image cropped_to_shape(const Image& image) const {
    const std::int64_t height = (image.width * options_.height + options_.width / 2) / options_.width;
    const std::int64_t width = (image.height * options_.width + options_.height / 2) / options_.height;
    return centre_cropped(image, std::clamp<std::int64_t>(height, 1, image.height), std::clamp<std::int64_t>(width, 1, image.width));
  }

  ImageFolderOptions options_;
  SampleFormat format_;
  fs::path first_;
  std::vector<ImageFile> files_;
  std::vector<std::int32_t> labels_;
  std::vector<std::string> warnings_;
};

std::unique_ptr<Source> open(const ReaderRequest& request) {
  const auto& options = std::any_cast<const ImageFolderOptions&>(request.options);
  check_options(options, request.files);
  const Listing listing = list_folders(request.files);
  if (listing.classes.empty())
    throw Error{not_found, "{}: no sub-folders; image_folder takes a folder with a sub-folder for each class", request.files[0].string()};
  return std::make_unique<ImageFolder>(listing, options);
}

ReaderRequest example(const fs::path& folder) {
  for (std::uint8_t i = 0; i < 3; ++i) {
    const Image image{8, 6, 3, std::vector<std::uint8_t>(144, static_cast<std::uint8_t>(60 * i + 20))};
    write_file_atomically(folder / "bright" / fmt::format("{}.png", i), encode_png(image));
    write_file_atomically(folder / "dark" / "more" / fmt::format("{}.jpg", i), encode_jpeg(image, 90));
  }
  return {.files = {folder}, .options = ImageFolderOptions{.height = 4, .width = 4}};
}

}  // namespace

ReaderEntry image_folder() {
  return {.name = "image_folder",
          .summary = "JPEG and PNG files in a folder with a sub-folder for each class",
          .options = options_type<ImageFolderOptions>(),
          .open = open,
          .example = example};
}

}  // namespace trireme::data::readers
