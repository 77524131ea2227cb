// SPDX-License-Identifier: Apache-2.0
// image_folder: a folder with a sub-folder for each class, in which, at any depth, lie JPEG and PNG files.
#include <algorithm>
#include <exception>
#include <map>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/parallel.h"
#include "trireme/data/formats/folder.h"
#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/images/fitted_image.h"
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
  bool orientation = true;
  bool verify = true;
  std::string on_damage = "fail";
};

void describe(ImageFolderOptions& o, OptionVisitor& visit) {
  visit("height", o.height, "of the samples; images of another size are resized; 0: that of all images", 0, 1 << 13);
  visit("width", o.width, "of the samples; goes with height", 0, 1 << 13);
  visit("channels", o.channels, "1 (grey) or 3 (colour), others are converted; 0: those of all images", 0, 3);
  visit("fit", o.fit, "how an image of another shape is resized: stretched, or its middle cropped", {"stretch", "crop"});
  visit("orientation", o.orientation, "turn photographs upright, as their EXIF data say");
  visit("verify", o.verify,
        "decode every picture when the folder is opened, with all cores; otherwise only header and end are looked at, and a picture that "
        "is damaged in its middle ends the training when it is read");
  visit("on_damage", o.on_damage, "what to do with a damaged picture: refuse the folder or leave the picture out", {"fail", "skip"});
}

ImageFit fit_of(const ImageFolderOptions& o) {
  return {.height = o.height, .width = o.width, .channels = o.channels, .crop = o.fit == "crop", .orientation = o.orientation};
}

struct ImageFile {
  fs::path root;
  fs::path path;  // below root; begins with the class
  std::int32_t label = 0;

  fs::path full() const { return root / path; }
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

void check_options(const ImageFolderOptions& options, const std::vector<fs::path>& files) {
  if (files.empty()) throw Error{invalid_argument, "image_folder: no folder is named; give one with a sub-folder for each class"};
  if ((options.height == 0) != (options.width == 0))
    throw Error{invalid_argument, "image_folder: height is {} and width is {}; give both or neither", options.height, options.width};
  if (options.channels == 2) throw Error{invalid_argument, "image_folder: channels is 2; 1 (grey) and 3 (colour) are possible"};
}

// The first few of many.
std::string some_of(const std::vector<std::string>& all) {
  constexpr std::size_t kShown = 3;
  std::string text = all.front();
  for (std::size_t i = 1; i < std::min(all.size(), kShown); ++i) text += ", " + all[i];
  return all.size() > kShown ? text + ", ..." : text;
}

std::string passed_over_warning(const std::vector<std::string>& files) {
  return fmt::format("image_folder: passed over {} that {} no .jpg, .jpeg or .png file in a class's folder: {}", files.size(),
                     files.size() == 1 ? "is" : "are", some_of(files));
}

struct Checked {
  ImageSize size;
  std::exception_ptr fault;
};

std::vector<Checked> check_files(const std::vector<ImageFile>& files, const ImageCheck& check) {
  std::vector<Checked> all(files.size());
  parallel_ranges(static_cast<std::int64_t>(files.size()), 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      Checked& one = all[static_cast<std::size_t>(i)];
      try {
        one.size = check_image_file(files[static_cast<std::size_t>(i)].full(), check);
      } catch (...) {  // no exception may leave an OpenMP thread; it is looked at below
        one.fault = std::current_exception();
      }
    }
  });
  return all;
}

// The message if a picture is damaged; any other fault is thrown.
std::string damage_of(const Checked& checked) {
  try {
    std::rethrow_exception(checked.fault);
  } catch (const Error& error) {
    if (error.code() != data_loss) throw;
    return error.what();
  }
}

class ImageFolder final : public Source {
 public:
  ImageFolder(const Listing& listing, const ImageFolderOptions& options) : options_(options), fit_(fit_of(options)) {
    for (const auto& [name, images] : listing.classes) {
      if (images.empty()) throw Error{invalid_argument, "image_folder: the class folder '{}' has no .jpg, .jpeg or .png file", name};
      for (const ImageFile& image : images) files_.push_back(image);
      for (std::size_t i = files_.size() - images.size(); i < files_.size(); ++i)
        files_[i].label = static_cast<std::int32_t>(format_.class_names.size());
      format_.class_names.push_back(name);
    }
    if (!listing.passed_over.empty()) warnings_.push_back(passed_over_warning(listing.passed_over));
    format_.classes = static_cast<std::int64_t>(format_.class_names.size());
    check();
  }

  const SampleFormat& format() const override { return format_; }
  std::int64_t size() const override { return static_cast<std::int64_t>(files_.size()); }
  std::int32_t label(std::int64_t index) const override { return files_[static_cast<std::size_t>(index)].label; }
  std::string sample_name(std::int64_t index) const override { return files_[static_cast<std::size_t>(index)].path.string(); }
  std::vector<std::string> warnings() const override { return warnings_; }
  std::vector<std::string> skipped() const override { return skipped_; }

  void read(std::int64_t index, std::span<std::byte> sample) const override {
    ensure(index >= 0 && index < size() && sample.size() == format_.sample_bytes(), "a read inside the set");
    const fs::path path = files_[static_cast<std::size_t>(index)].full();
    const Image image = decoded(path);
    check_fits({image.height, image.width, image.channels}, path);
    planes_of(std::as_bytes(std::span(image.pixels)), static_cast<std::size_t>(image.channels), sample);
  }

 private:
  Image decoded(const fs::path& path) const {
    try {
      return decode_fitted(read_file(path), path.string(), fit_);
    } catch (const Error& error) {  // thrown again with advice
      if (options_.verify || error.code() != data_loss) throw;
      throw Error{data_loss, "{}; verify = true finds such pictures before the training", error.what()};
    }
  }

  void check() {
    const std::vector<Checked> checked = check_files(files_, {.pixels = options_.verify, .orientation = options_.orientation});
    std::vector<ImageFile> good;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (checked[i].fault) {
        skipped_.push_back(damage_of(checked[i]));
        continue;
      }
      add_size(fitted_size(checked[i].size, fit_), files_[i].full());
      good.push_back(files_[i]);
    }
    if (!skipped_.empty()) report_damage(good);
    files_ = std::move(good);
  }

  void report_damage(const std::vector<ImageFile>& good) {
    if (options_.on_damage == "fail")
      throw Error{data_loss,        "{}; {} of {} pictures {} damaged; on_damage = \"skip\" leaves them out",
                  skipped_.front(), skipped_.size(),
                  files_.size(),    skipped_.size() == 1 ? "is" : "are"};
    for (std::size_t i = 0; i < format_.class_names.size(); ++i) {
      if (std::ranges::find(good, static_cast<std::int32_t>(i), &ImageFile::label) == good.end())
        throw Error{data_loss, "image_folder: every picture of the class '{}' is damaged; the first damaged one of all: {}",
                    format_.class_names[i], skipped_.front()};
    }
    warnings_.push_back(
        fmt::format("image_folder: left out {} damaged of {} pictures: {}", skipped_.size(), files_.size(), some_of(skipped_)));
  }

  void add_size(const ImageSize& size, const fs::path& path) {
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

  ImageFolderOptions options_;
  ImageFit fit_;
  SampleFormat format_;
  fs::path first_;
  std::vector<ImageFile> files_;
  std::vector<std::string> warnings_;
  std::vector<std::string> skipped_;
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
          .image_fit = [](const std::any& options) { return fit_of(std::any_cast<const ImageFolderOptions&>(options)); },
          .example = example};
}

}  // namespace trireme::data::readers
