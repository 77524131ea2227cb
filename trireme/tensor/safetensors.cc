// SPDX-License-Identifier: Apache-2.0
// Writing straight from memory, reading with every number checked before it is used.
#include "trireme/tensor/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/tensor/safetensors_header.h"

namespace trireme {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeader = 100'000'000;  // as the reference implementation has it
constexpr std::string_view kMetadata = "__metadata__";
constexpr std::size_t kAlignment = 8;
constexpr std::size_t kPiece = std::size_t{1} << 20;  // stays in the cache from the checksum to the copy into the kernel
constexpr std::size_t kPiecesToSync = 8;              // the disk writes these while the next ones are summed

std::string header_text(std::span<const TensorToWrite> tensors, const TensorMetadata& metadata) {
  std::string text = "{";
  if (!metadata.empty()) text += fmt::format("\"__metadata__\":{},", Json(metadata).dump());
  std::size_t begin = 0;
  for (const TensorToWrite& tensor : tensors) {
    ensure(static_cast<std::size_t>(tensor.shape.count()) == tensor.values.size(), "a tensor's values are as many as its shape says");
    const std::size_t end = begin + tensor.values.size_bytes();
    const Json shape(std::vector<std::int64_t>(tensor.shape.begin(), tensor.shape.end()));
    text +=
        fmt::format("{}:{{\"dtype\":\"F32\",\"shape\":{},\"data_offsets\":[{},{}]}},", Json(tensor.name).dump(), shape.dump(), begin, end);
    begin = end;
  }
  if (text.back() == ',') text.pop_back();
  text += '}';
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  return text;
}

std::string checked_header_text(const std::filesystem::path& path, std::span<const TensorToWrite> tensors, const TensorMetadata& metadata) {
  try {
    return header_text(tensors, metadata);
  } catch (const Json::exception&) {  // a foreign exception becomes an Error
    throw Error{invalid_argument, "{}: a name of its tensors or its metadata is no UTF-8 text", path.string()};
  }
}

void check_names(std::span<const TensorToWrite> tensors) {
  std::vector<std::string_view> names;
  for (const TensorToWrite& tensor : tensors) names.push_back(tensor.name);
  names.emplace_back(kMetadata);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw Error{invalid_argument, "the name {} is taken", shown_name(*twice)};
}

std::string_view bytes_of(std::span<const float> values) { return {reinterpret_cast<const char*>(values.data()), values.size_bytes()}; }

class HashedFile {
 public:
  explicit HashedFile(const std::filesystem::path& path) : file_(path, OutputFile::Mode::create) {}

  void write(std::string_view bytes) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPiece))) {
      digest_.add(bytes.substr(0, kPiece));
      file_.write(bytes.substr(0, kPiece));
      if (++pieces_ % kPiecesToSync == 0) file_.start_sync();
    }
  }
  std::string finish() {
    file_.sync();
    return digest_.hex();
  }

 private:
  OutputFile file_;
  Digest digest_{Digest::Kind::sha256};
  std::size_t pieces_ = 0;
};

// Slices of one array follow each other in memory: they go out together, not one by one.
void write_values(HashedFile& file, std::span<const TensorToWrite> tensors) {
  std::string_view run;
  for (const TensorToWrite& tensor : tensors) {
    const std::string_view bytes = bytes_of(tensor.values);
    if (run.data() + run.size() == bytes.data()) {
      run = {run.data(), run.size() + bytes.size()};
    } else {
      file.write(std::exchange(run, bytes));
    }
  }
  file.write(run);
}

std::string_view header_of(std::string_view content, const std::string& name) {
  if (content.size() < kLengthBytes)
    throw Error{data_loss, "{}: ends after {} bytes, before the length of its header", name, content.size()};
  std::uint64_t length = 0;
  std::memcpy(&length, content.data(), kLengthBytes);
  if (length > kMaxHeader)
    throw Error{data_loss, "{}: its first 8 bytes promise a header of {} bytes; at most {} are allowed", name, length, kMaxHeader};
  if (length > content.size() - kLengthBytes)
    throw Error{data_loss, "{}: promises a header of {} bytes, the file ends {} bytes after its length", name, length,
                content.size() - kLengthBytes};
  const std::string_view header = content.substr(kLengthBytes, length);
  if (!header.starts_with('{')) throw Error{data_loss, "{}: the header at byte 8 begins with no '{{'", name};
  return header;
}

std::optional<std::uint64_t> bytes_for(const std::vector<std::uint64_t>& shape) {
  std::uint64_t bytes = sizeof(float);
  for (const std::uint64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  }
  return bytes;
}

Safetensors::Tensor checked_tensor(SafetensorsHeader::Row& row, std::uint64_t data_bytes, const std::string& place) {
  if (row.dtype != "F32")
    throw Error{unimplemented, "{}: {} has the dtype {}; only F32 can be read", place, shown_name(row.name), shown_name(row.dtype)};
  const auto [begin, end] = row.data_offsets;
  if (begin > end || end > data_bytes)
    throw Error{data_loss, "{}: {} lies at bytes {} to {} of data that have {}", place, shown_name(row.name), begin, end, data_bytes};
  const auto bytes = bytes_for(row.shape);
  if (!bytes || *bytes != end - begin) {
    const std::string needed = bytes ? fmt::format("needs {} bytes", *bytes) : "needs more bytes than 64 bits can count";
    throw Error{data_loss, "{}: the shape of {} {}, its offsets give it {}", place, shown_name(row.name), needed, end - begin};
  }
  // An extent beyond 63 bits passes only beside a zero.
  for (const std::uint64_t extent : row.shape) {
    if (extent > std::uint64_t{INT64_MAX})
      throw Error{data_loss, "{}: the shape of {} has the extent {}", place, shown_name(row.name), extent};
  }
  return {.name = std::move(row.name), .shape = Shape({row.shape.begin(), row.shape.end()}), .begin = begin, .end = end};
}

// `tensors` are sorted by their place.
void check_cover(const std::vector<Safetensors::Tensor>& tensors, std::uint64_t data_bytes, const std::string& place) {
  std::uint64_t covered = 0;
  for (const Safetensors::Tensor& tensor : tensors) {
    if (tensor.begin != covered)
      throw Error{data_loss,    "{}: {} begins at byte {} of the data, the tensor before it ends at {}",
                  place,        shown_name(tensor.name),
                  tensor.begin, covered};
    covered = tensor.end;
  }
  if (covered != data_bytes)
    throw Error{data_loss, "{}: the tensors end at byte {} of the data, which have {}", place, covered, data_bytes};
}

}  // namespace

WrittenFile write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors, const TensorMetadata& metadata) {
  check_names(tensors);
  const std::string header = checked_header_text(path, tensors, metadata);
  if (header.size() > kMaxHeader)
    throw Error{invalid_argument, "{}: too many tensors; readers accept headers up to {} bytes", path.string(), kMaxHeader};
  const std::uint64_t length = header.size();
  HashedFile file(path);
  file.write({reinterpret_cast<const char*>(&length), sizeof length});
  file.write(header);
  write_values(file, tensors);
  std::uintmax_t bytes = kLengthBytes + header.size();
  for (const TensorToWrite& tensor : tensors) bytes += tensor.values.size_bytes();
  return {.bytes = bytes, .sha256 = file.finish()};
}

Safetensors::Safetensors(std::string content, std::string name) : content_(std::move(content)) {
  const std::string_view json = header_of(content_, name);
  data_ = kLengthBytes + json.size();
  const std::uint64_t data_bytes = content_.size() - data_;
  const std::string place = std::move(name) + ": header";
  SafetensorsHeader header = parse_safetensors_header(json, place);
  metadata_ = std::move(header.metadata);
  tensors_.reserve(header.rows.size());
  for (SafetensorsHeader::Row& row : header.rows) tensors_.push_back(checked_tensor(row, data_bytes, place));
  std::stable_sort(tensors_.begin(), tensors_.end(),
                   [](const Tensor& a, const Tensor& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  check_cover(tensors_, data_bytes, place);

  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::sort(by_name_.begin(), by_name_.end(), [&](std::size_t a, std::size_t b) { return tensors_[a].name < tensors_[b].name; });
  const auto twice = std::adjacent_find(by_name_.begin(), by_name_.end(),
                                        [&](std::size_t a, std::size_t b) { return tensors_[a].name == tensors_[b].name; });
  if (twice != by_name_.end()) throw Error{data_loss, "{}: {} is there twice", place, shown_name(tensors_[*twice].name)};
}

Safetensors Safetensors::load(const std::filesystem::path& path) { return {read_file(path), path.string()}; }

const Safetensors::Tensor* Safetensors::find(std::string_view name) const {
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                      [&](std::size_t index, std::string_view wanted) { return tensors_[index].name < wanted; });
  return found == by_name_.end() || tensors_[*found].name != name ? nullptr : &tensors_[*found];
}

void Safetensors::copy(const Tensor& tensor, std::span<float> values) const {
  ensure(values.size_bytes() == tensor.end - tensor.begin, "the span has the tensor's count");
  if (!values.empty()) std::memcpy(values.data(), content_.data() + data_ + tensor.begin, values.size_bytes());
}

}  // namespace trireme
