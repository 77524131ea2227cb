// SPDX-License-Identifier: Apache-2.0
// The header is at the beginning of an image file, the mark of its end at its end; between them nothing is read.
#include "trireme/data/images/image_file_check.h"

#include <algorithm>
#include <fstream>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::data {
namespace {

using namespace std::string_view_literals;
constexpr std::string_view kPngEnd = "\0\0\0\0IEND\xae\x42\x60\x82"sv;
constexpr std::string_view kJpegEnd = "\xff\xd9"sv;

// Headers fit, but for those with large thumbnails or colour profiles; for these the whole file is read.
constexpr std::size_t kHeadBytes = 32768;
constexpr std::size_t kTailBytes = 512;

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<unsigned char>(c));
  return text;
}

class Ends {
 public:
  explicit Ends(const std::filesystem::path& file) : name_(file.string()), in_(file, std::ios::binary | std::ios::ate) {
    if (!in_) throw Error{not_found, "{}: the file cannot be opened", name_};
    size_ = static_cast<std::size_t>(std::max<std::streamoff>(in_.tellg(), 0));
  }

  std::string read(std::size_t offset, std::size_t count) {
    std::string bytes(std::min(count, size_ - offset), '\0');
    in_.seekg(static_cast<std::streamoff>(offset));
    if (!in_.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
      throw SystemError{unavailable, "{}: cannot read {} bytes at byte {}", name_, bytes.size(), offset};
    return bytes;
  }
  std::string tail(std::size_t count) { return count < size_ ? read(size_ - count, count) : read(0, size_); }

  const std::string& name() const { return name_; }
  std::size_t size() const { return size_; }

 private:
  std::string name_;
  std::ifstream in_;
  std::size_t size_ = 0;
};

ImageSize header_size(Ends& file, const std::string& head) {
  try {
    return decode_image_size(head, file.name());
  } catch (const Error&) {  // its size may stand behind the head that was read
    if (head.size() == file.size()) throw;
  }
  return decode_image_size(file.read(0, file.size()), file.name());
}

// Some writers fill up with zeros; neither mark ends with one.
std::string_view without_zeros(std::string_view bytes) { return bytes.substr(0, bytes.find_last_not_of('\0') + 1); }

void check_end(Ends& file, ImageKind kind) {
  std::string bytes = file.tail(kTailBytes);
  if (without_zeros(bytes).size() < kPngEnd.size()) bytes = file.read(0, file.size());
  const std::string_view content = without_zeros(bytes);
  const std::string_view mark = kind == ImageKind::png ? kPngEnd : kJpegEnd;
  if (content.ends_with(mark)) return;
  const std::string_view found = content.substr(content.size() - std::min(mark.size(), content.size()));
  const std::size_t end = file.size() - (bytes.size() - content.size());
  throw Error{data_loss,         "{}: the image ends too early: at byte {} expected its end mark {}, found {}",
              file.name(),       end - found.size(),
              hexadecimal(mark), hexadecimal(found)};
}

}  // namespace

ImageSize check_image_file(const std::filesystem::path& path) {
  Ends file(path);
  const std::string head = file.read(0, kHeadBytes);
  const ImageSize size = header_size(file, head);
  check_end(file, image_kind(head));
  return size;
}

}  // namespace trireme::data
