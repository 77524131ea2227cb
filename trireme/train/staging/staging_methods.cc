// SPDX-License-Identifier: Apache-2.0
// The coordinator's side of staging: the manifest and chunks of its files, by number.
#include <algorithm>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/data/formats/input_file.h"
#include "trireme/train/staging/staging.h"
#include "trireme/train/staging/staging_calls.h"
#include "trireme/wire/staging.pb.h"

namespace trireme::train {
namespace {

class Offer {
 public:
  explicit Offer(DataManifest manifest) : manifest_(std::move(manifest)), text_(serialized(manifest_)) {}

  std::string manifest_piece(const std::string& request) const {
    wire::ManifestRequest asked;
    if (!asked.ParseFromString(request)) throw Error{invalid_argument, "a request for the manifest is damaged"};
    wire::ManifestPiece piece;
    piece.set_size(text_.size());
    if (asked.offset() < text_.size()) piece.set_bytes(text_.substr(asked.offset(), kPieceBytes));
    return piece.SerializeAsString();
  }

  std::string file_piece(const std::string& request) const {
    wire::FileRequest asked;
    if (!asked.ParseFromString(request)) throw Error{invalid_argument, "a request for a data file is damaged"};
    const std::size_t count = std::max<std::size_t>(asked.count(), 1);
    if (asked.file() >= manifest_.files.size() || count > manifest_.files.size() - asked.file())
      throw Error{invalid_argument, "there are {} data files; {} from number {} on were asked for", manifest_.files.size(), count,
                  asked.file()};
    return count == 1 ? piece_of(manifest_.files[asked.file()], asked.offset()) : whole_files(asked.file(), count);
  }

 private:
  std::string whole_files(std::size_t first, std::size_t count) const {
    std::string bytes;
    for (std::size_t i = first; i < first + count; ++i) {
      if (manifest_.files[i].identity.size > kPieceBytes - bytes.size())
        throw Error{out_of_range, "{} files from number {} on have more than {} bytes", count, first, kPieceBytes};
      bytes += piece_of(manifest_.files[i], 0);
    }
    return bytes;
  }

  std::string piece_of(const ManifestFile& file, std::uint64_t offset) const {
    if (offset > file.identity.size) throw Error{out_of_range, "{} ends before byte {}", file.name.string(), offset};
    const std::filesystem::path path = manifest_.path_of(file);
    std::string bytes(std::min<std::uint64_t>(kPieceBytes, file.identity.size - offset), '\0');
    const data::InputFile in(path);
    const std::size_t read = in.read_at(offset, std::as_writable_bytes(std::span(bytes)));
    if (read != bytes.size() || identity_of(path) != file.identity)
      throw Error{data_loss, "{} has changed on the coordinator's machine since the job was started: leave it as it is, and start again",
                  path.string()};
    return bytes;
  }

  const DataManifest manifest_;
  const std::string text_;
};

}  // namespace

std::vector<coord::Coordinator::Method> staging_methods(DataManifest manifest) {
  using Callers = coord::Coordinator::Method::Callers;
  const auto offer = std::make_shared<const Offer>(std::move(manifest));
  return {{.name = kManifestMethod,
           .callers = Callers::anyone,
           .handler = [offer](const std::string&, const std::string& request) { return offer->manifest_piece(request); }},
          {.name = kFileMethod, .callers = Callers::anyone, .handler = [offer](const std::string&, const std::string& request) {
             return offer->file_piece(request);
           }}};
}

}  // namespace trireme::train
