// SPDX-License-Identifier: Apache-2.0
// Labelled picture files as samples: checked when they are opened, decoded when they are read.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/data/images/image_codec.h"
#include "trireme/data/images/picture_options.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

struct PictureFile {
  std::filesystem::path root;
  std::filesystem::path path;  // below root; the sample's name
  std::int32_t label = 0;

  std::filesystem::path full() const { return root / path; }
};

struct PictureSet {
  std::string reader;  // begins its messages
  std::vector<PictureFile> files;
  std::int64_t classes = 0;
  std::vector<std::string> class_names;
  std::vector<std::string> warnings;
  std::vector<std::string> skipped;  // what was left out before
  bool every_class = true;           // each must have a picture that is whole
};

class PictureSource final : public Source {
 public:
  // Throws data_loss for a damaged picture and for one of another size, unless the options say what else to do.
  PictureSource(PictureSet set, const PictureFileOptions& options);

  const SampleFormat& format() const override { return format_; }
  std::int64_t size() const override { return static_cast<std::int64_t>(set_.files.size()); }
  std::int32_t label(std::int64_t index) const override { return set_.files[static_cast<std::size_t>(index)].label; }
  std::string sample_name(std::int64_t index) const override { return set_.files[static_cast<std::size_t>(index)].path.string(); }
  std::vector<std::string> warnings() const override { return set_.warnings; }
  std::vector<std::string> skipped() const override { return set_.skipped; }
  void read(std::int64_t index, std::span<std::byte> sample) const override;

 private:
  Image decoded(const std::filesystem::path& path) const;
  void check();
  void report_damage(const std::vector<PictureFile>& good, const std::vector<std::string>& damaged);
  void add_size(const ImageSize& size, const std::filesystem::path& path);
  void check_fits(const ImageSize& size, const std::filesystem::path& path) const;

  PictureSet set_;
  PictureFileOptions options_;
  ImageFit fit_;
  SampleFormat format_;
  std::filesystem::path first_;
};

// A file whose name says that it is a picture.
bool is_picture(const std::filesystem::path& file);
// The first few of many, for a message.
std::string some_of(const std::vector<std::string>& all);

}  // namespace trireme::data
