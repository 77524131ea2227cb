// SPDX-License-Identifier: Apache-2.0
// Checks picture files with all cores and decodes them one by one.
#include "trireme/data/images/picture_source.h"

#include <algorithm>
#include <exception>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/parallel.h"
#include "trireme/data/formats/folder.h"
#include "trireme/data/images/fitted_image.h"
#include "trireme/data/images/image_file_check.h"
#include "trireme/data/images/planes.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

struct Checked {
  ImageSize size;
  std::exception_ptr fault;
};

std::vector<Checked> check_files(const std::vector<PictureFile>& files, const ImageCheck& check) {
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

}  // namespace

PictureSource::PictureSource(PictureSet set, const PictureFileOptions& options)
    : set_(std::move(set)),
      options_(options),
      fit_(fit_of(options.picture)),
      format_{.classes = set_.classes, .class_names = set_.class_names} {
  check();
}

void PictureSource::read(std::int64_t index, std::span<std::byte> sample) const {
  ensure(index >= 0 && index < size() && sample.size() == format_.sample_bytes(), "a read inside the set");
  const fs::path path = set_.files[static_cast<std::size_t>(index)].full();
  const Image image = decoded(path);
  check_fits({image.height, image.width, image.channels}, path);
  planes_of(std::as_bytes(std::span(image.pixels)), static_cast<std::size_t>(image.channels), sample);
}

Image PictureSource::decoded(const fs::path& path) const {
  try {
    return decode_fitted(read_file(path), path.string(), fit_);
  } catch (const Error& error) {  // thrown again with advice
    if (options_.verify || error.code() != data_loss) throw;
    throw Error{data_loss, "{}; verify = true finds such pictures before the training", error.what()};
  }
}

void PictureSource::check() {
  const std::vector<Checked> checked = check_files(set_.files, {.pixels = options_.verify, .orientation = options_.picture.orientation});
  std::vector<PictureFile> good;
  std::vector<std::string> damaged;
  for (std::size_t i = 0; i < set_.files.size(); ++i) {
    if (checked[i].fault) {
      damaged.push_back(damage_of(checked[i]));
      continue;
    }
    add_size(fitted_size(checked[i].size, fit_), set_.files[i].full());
    good.push_back(set_.files[i]);
  }
  if (!damaged.empty()) report_damage(good, damaged);
  set_.files = std::move(good);
  set_.skipped.insert(set_.skipped.end(), damaged.begin(), damaged.end());
}

void PictureSource::report_damage(const std::vector<PictureFile>& good, const std::vector<std::string>& damaged) {
  const std::size_t all = set_.files.size();
  if (options_.on_damage == "fail")
    throw Error{data_loss,
                "{}; {} of {} pictures {} damaged; on_damage = \"skip\" leaves them out",
                damaged.front(),
                damaged.size(),
                all,
                damaged.size() == 1 ? "is" : "are"};
  if (good.empty()) throw Error{data_loss, "{}: every picture is damaged; the first: {}", set_.reader, damaged.front()};
  for (std::size_t i = 0; set_.every_class && i < set_.class_names.size(); ++i) {
    if (std::ranges::find(good, static_cast<std::int32_t>(i), &PictureFile::label) == good.end())
      throw Error{data_loss, "{}: every picture of the class '{}' is damaged; the first damaged one of all: {}", set_.reader,
                  set_.class_names[i], damaged.front()};
  }
  set_.warnings.push_back(fmt::format("{}: left out {} damaged of {} pictures: {}", set_.reader, damaged.size(), all, some_of(damaged)));
}

void PictureSource::add_size(const ImageSize& size, const fs::path& path) {
  if (format_.shape.rank() == 0) {
    format_.shape = {size.channels, size.height, size.width};
    first_ = path;
  }
  check_fits(size, path);
}

void PictureSource::check_fits(const ImageSize& size, const fs::path& path) const {
  if (Shape{size.channels, size.height, size.width} == format_.shape) return;
  throw Error{data_loss,
              "{}: is {} (channels x height x width), but {} is {}{}",
              path.string(),
              Shape{size.channels, size.height, size.width}.to_string(),
              first_.string(),
              format_.shape.to_string(),
              resize_advice(format_.shape)};
}

bool is_picture(const fs::path& file) {
  std::error_code fault;
  return fs::is_regular_file(file, fault) && (has_extension(file, ".jpg") || has_extension(file, ".jpeg") || has_extension(file, ".png"));
}

std::string some_of(const std::vector<std::string>& all) {
  constexpr std::size_t kShown = 3;
  std::string text = all.front();
  for (std::size_t i = 1; i < std::min(all.size(), kShown); ++i) text += ", " + all[i];
  return all.size() > kShown ? text + ", ..." : text;
}

}  // namespace trireme::data
