// SPDX-License-Identifier: Apache-2.0
// The coordinator's side of staging.
#include <algorithm>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/data/input_file.h"
#include "trireme/train/staging.h"
#include "trireme/train/staging_calls.h"
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
    if (!asked.ParseFromString(request) || asked.file() >= manifest_.files.size())
      throw Error{invalid_argument, "there are {} data files; number {} was asked for", manifest_.files.size(), asked.file()};
    const ManifestFile& file = manifest_.files[asked.file()];
    if (asked.offset() > file.identity.size) throw Error{out_of_range, "{} ends before byte {}", file.name.string(), asked.offset()};
    const std::filesystem::path path = manifest_.path_of(file);
    std::string bytes(std::min<std::uint64_t>(kPieceBytes, file.identity.size - asked.offset()), '\0');
    const data::InputFile in(path);
    const std::size_t read = in.read_at(asked.offset(), std::as_writable_bytes(std::span(bytes)));
    if (read != bytes.size() || identity_of(path) != file.identity)
      throw Error{data_loss, "{} has changed on the coordinator's machine since the job was started: leave it as it is, and start again",
                  path.string()};
    return bytes;
  }

 private:
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
