// SPDX-License-Identifier: Apache-2.0
// Reads plain files straight, compressed ones through a decoder.
#include "trireme/data/formats/byte_stream.h"

#include <algorithm>
#include <stdexcept>

#include "trireme/base/error.h"

namespace trireme::data {
namespace {

constexpr std::size_t kBuffer = 1 << 16;
constexpr std::size_t kPiece = 1 << 20;  // by which memory grows at least while the size is not known

Compression find_compression(const std::filesystem::path& path) {
  std::array<std::byte, 8> opening{};
  const std::size_t count = InputFile(path).read_at(0, opening);
  return marked_compression(std::span(opening).first(count));
}

}  // namespace

ByteStream::ByteStream(const std::filesystem::path& path) : ByteStream(path, find_compression(path)) {}

ByteStream::ByteStream(const std::filesystem::path& path, Compression compression) : file_(path), compression_(compression) {
  if (compression == Compression::none) return;
  decoder_ = Decoder::make(compression);
  buffer_.resize(kBuffer);
}

std::size_t ByteStream::read_some(std::span<std::byte> out) {
  const std::size_t count = compression_ == Compression::none ? file_.read_at(position_, out) : decode(out);
  position_ += count;
  return count;
}

void ByteStream::read(std::span<std::byte> out, std::string_view what) {
  const std::uint64_t begin = position_;
  if (read_some(out) < out.size()) too_short(begin, out.size(), position_ - begin, what);
}

void ByteStream::append_to(std::vector<std::byte>& out, std::uint64_t count, std::string_view what) {
  if (compression_ == Compression::none) {
    const std::uint64_t found = file_.size() - std::min(position_, file_.size());
    if (found < count) too_short(position_, count, found, what);
    out.reserve(out.size() + count);
  }
  const std::uint64_t begin = position_;
  while (position_ - begin < count) {
    const std::size_t size = out.size();
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(count - (position_ - begin), std::max(kPiece, size)));
    out.resize(size + piece);
    if (read_some(std::span(out).subspan(size)) < piece) too_short(begin, count, position_ - begin, what);
  }
}

std::vector<std::byte> ByteStream::read_rest() {
  std::vector<std::byte> out;
  std::size_t size = 0;
  // One byte more than there should be, so that the end shows in the first read.
  const auto plain = static_cast<std::size_t>(file_.size() - std::min(position_, file_.size())) + 1;
  while (size == out.size()) {
    out.resize(size + (compression_ == Compression::none ? plain : std::max(kPiece, size)));
    size += read_some(std::span(out).subspan(size));
  }
  out.resize(size);
  return out;
}

void ByteStream::expect_end() {
  const std::uint64_t end = position_;
  std::array<std::byte, 1> beyond{};
  if (read_some(beyond) != 0) throw Error{data_loss, "{}: expected the end at byte {}, found more bytes", name(), end};
}

void ByteStream::refill() {
  const std::size_t count = file_.read_at(file_position_, buffer_);
  file_position_ += count;
  pending_ = std::span(buffer_).first(count);
}

std::size_t ByteStream::decode(std::span<std::byte> out) {
  std::span<std::byte> room = out;
  while (!room.empty() && !finished_) {
    if (pending_.empty()) refill();
    const bool last = pending_.empty() || file_position_ >= file_.size();
    try {
      finished_ = decoder_->decode(pending_, room, last) == Decoder::State::finished;
    } catch (const std::runtime_error& fault) {  // a decoder knows neither file nor position
      throw Error{data_loss,   "{}: damaged {} data near byte {}: {}", name(), name_of(compression_), file_position_ - pending_.size(),
                  fault.what()};
    }
  }
  return out.size() - room.size();
}

void ByteStream::too_short(std::uint64_t begin, std::uint64_t expected, std::uint64_t found, std::string_view what) const {
  throw Error{data_loss, "{}: expected {} bytes for {} at byte {}, found {}; the file is cut off", name(), expected, what, begin, found};
}

std::string_view as_text(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace trireme::data
