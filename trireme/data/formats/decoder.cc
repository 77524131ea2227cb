// SPDX-License-Identifier: Apache-2.0
// Decoders of gzip, zlib and xz data.
#include "trireme/data/formats/decoder.h"

#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "trireme/base/error.h"

namespace trireme::data {
namespace {

constexpr std::array<std::byte, 3> kGzipMark{std::byte{0x1f}, std::byte{0x8b}, std::byte{8}};
constexpr std::array<std::byte, 6> kXzMark{std::byte{0xfd}, std::byte{'7'}, std::byte{'z'}, std::byte{'X'}, std::byte{'Z'}, std::byte{0}};

// xz -9 needs 65 MiB; a header that asks for far more is damaged or hostile.
constexpr std::uint64_t kXzMemory = 256 << 20;

constexpr auto kCutOff = "the data end too early, the file is cut off";

// Gzip members may follow one another, as `cat a.gz b.gz` makes them; a zlib stream stands alone.
class ZlibDecoder final : public Decoder {
 public:
  explicit ZlibDecoder(bool gzip) : gzip_(gzip) {
    const int window = gzip ? MAX_WBITS + 16 : MAX_WBITS;
    if (inflateInit2(&stream_, window) != Z_OK) throw Error{resource_exhausted, "zlib cannot start: out of memory"};
  }
  ~ZlibDecoder() override { inflateEnd(&stream_); }
  ZlibDecoder(const ZlibDecoder&) = delete;
  ZlibDecoder& operator=(const ZlibDecoder&) = delete;

  State decode(std::span<const std::byte>& in, std::span<std::byte>& out, bool last) override {
    if (ended_) {
      if (in.empty()) return last ? State::finished : State::unfinished;
      if (!gzip_) throw std::runtime_error("bytes follow the end of the data");
      inflateReset(&stream_);
      ended_ = false;
    }
    const int result = inflate_some(in, out);
    ended_ = result == Z_STREAM_END;
    if (result == Z_BUF_ERROR && last && in.empty() && !out.empty()) throw std::runtime_error(kCutOff);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      throw std::runtime_error(stream_.msg != nullptr ? stream_.msg : "unknown fault");
    return State::unfinished;
  }

 private:
  int inflate_some(std::span<const std::byte>& in, std::span<std::byte>& out) {
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    const std::size_t offered = std::min(in.size(), kMost), room = std::min(out.size(), kMost);
    // zlib doesn't write into its input, it is only not const-correct.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
    stream_.avail_in = static_cast<uInt>(offered);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    in = in.subspan(offered - stream_.avail_in);
    out = out.subspan(room - stream_.avail_out);
    return result;
  }

  z_stream stream_{};
  bool gzip_;
  bool ended_ = false;
};

class XzDecoder final : public Decoder {
 public:
  XzDecoder() {
    if (lzma_stream_decoder(&stream_, kXzMemory, LZMA_CONCATENATED) != LZMA_OK)
      throw Error{resource_exhausted, "liblzma cannot start: out of memory"};
  }
  ~XzDecoder() override { lzma_end(&stream_); }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;

  State decode(std::span<const std::byte>& in, std::span<std::byte>& out, bool last) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    const lzma_ret result = lzma_code(&stream_, last ? LZMA_FINISH : LZMA_RUN);
    in = in.subspan(in.size() - stream_.avail_in);
    out = out.subspan(out.size() - stream_.avail_out);
    if (result == LZMA_STREAM_END) return State::finished;
    if (result == LZMA_BUF_ERROR && last && !out.empty()) throw std::runtime_error(kCutOff);
    if (result == LZMA_MEMLIMIT_ERROR) throw std::runtime_error("it asks for more than 256 MiB of memory");
    if (result == LZMA_OPTIONS_ERROR) throw std::runtime_error("it uses an unknown feature of the format");
    if (result != LZMA_OK && result != LZMA_BUF_ERROR) throw std::runtime_error("the data or their checksum are wrong");
    return State::unfinished;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

template <std::size_t N>
bool begins_with(std::span<const std::byte> bytes, const std::array<std::byte, N>& mark) {
  return bytes.size() >= N && std::ranges::equal(bytes.first(N), mark);
}

}  // namespace

std::string_view name_of(Compression compression) {
  static constexpr std::array<std::string_view, 4> kNames{"none", "gzip", "zlib", "xz"};
  return kNames.at(static_cast<std::size_t>(compression));
}

Compression marked_compression(std::span<const std::byte> opening) {
  if (begins_with(opening, kGzipMark)) return Compression::gzip;
  return begins_with(opening, kXzMark) ? Compression::xz : Compression::none;
}

std::unique_ptr<Decoder> Decoder::make(Compression compression) {
  ensure(compression != Compression::none, "plain data need no decoder");
  if (compression == Compression::xz) return std::make_unique<XzDecoder>();
  return std::make_unique<ZlibDecoder>(compression == Compression::gzip);
}

}  // namespace trireme::data
