// SPDX-License-Identifier: Apache-2.0
// The node's side of staging: which data files are here already, which must be fetched, verified and renamed into place.
#include "trireme/train/staging/staging.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/file_lock.h"
#include "trireme/base/files.h"
#include "trireme/base/rollback.h"
#include "trireme/train/staging/staging_calls.h"
#include "trireme/wire/staging.pb.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

constexpr Seconds kLockPatience{600};
constexpr Seconds kMemoryPatience{5};
constexpr fs::perms kReadOnly = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
constexpr std::size_t kMaxFiles = 1000;  // at once
constexpr std::uint64_t kMaxManifest = 1 << 30;

std::string fetch_manifest(const StagingOptions& options) {
  std::string text;
  for (std::uint64_t size = 1; text.size() < size;) {
    wire::ManifestRequest request;
    request.set_offset(text.size());
    wire::ManifestPiece piece;
    if (!piece.ParseFromString(options.call(kManifestMethod, request.SerializeAsString())) || piece.size() > kMaxManifest ||
        (piece.bytes().empty() && text.size() < piece.size()))
      throw Error{data_loss, "the manifest of the data arrives damaged after {} bytes", text.size()};
    size = piece.size();
    text += piece.bytes();
  }
  return text;
}

bool is_there(const fs::path& path, std::uint64_t size) {
  std::error_code fault;
  return fs::is_regular_file(path, fault) && fs::file_size(path, fault) == size && !fault;
}

// Unique among the threads of this process and, with the process's number, on this machine; the machine's start distinguishes it from
// another machine's where the cache lies on a shared disk.
std::string unique_suffix(const std::string& boot) {
  static std::atomic<int> counter{0};
  return fmt::format(".tmp.{}.{}.{}", boot.substr(0, 8), ::getpid(), counter++);
}

class Stage {
 public:
  Stage(const StagingOptions& options, DataManifest manifest)
      : options_(options),
        cache_(fs::absolute(options.cache)),
        manifest_(std::move(manifest)),
        digests_(cache_ / "digests"),
        boot_(boot_of_machine()) {
    make_directories(blobs());
  }

  StagedData run(Config& job) {
    locate();
    for (std::size_t i = 0; i < manifest_.files.size(); ++i)
      while (!place_of_[i]) fetch(i, batch_from(i));
    sync_cache();
    save_digests();
    data::set_data_folders(job, manifest_.named, folders(), "staged");
    out_.hash = manifest_.hash();
    return out_;
  }

 private:
  fs::path blobs() const { return cache_ / "files"; }
  fs::path blob(const ManifestFile& file) const { return blobs() / file.sha256; }

  // What is here already; the rest counts for the progress.
  void locate() {
    place_of_.resize(manifest_.files.size());
    for (std::size_t i = 0; i < manifest_.files.size(); ++i) {
      const ManifestFile& file = manifest_.files[i];
      if (is_in_place(file)) {
        place_of_[i] = manifest_.path_of(file);
        ++out_.in_place;
      } else if (is_in_cache(file)) {
        place_of_[i] = blob(file);
        ++out_.cached;
      } else {
        progress_.total += file.identity.size;
      }
    }
  }

  bool is_in_place(const ManifestFile& file) {
    const fs::path path = manifest_.path_of(file);
    if (!is_there(path, file.identity.size)) return false;
    if (boot_ == manifest_.boot && identity_of(path) == file.identity) return true;
    return digests_.sha256(path) == file.sha256;
  }

  bool is_in_cache(const ManifestFile& file) {
    return is_there(blob(file), file.identity.size) && digests_.sha256(blob(file)) == file.sha256;
  }

  // How many missing files from this one on fit into one piece; 1 if it doesn't itself.
  std::size_t batch_from(std::size_t first) const {
    std::uint64_t bytes = 0;
    std::size_t last = first;
    while (last < manifest_.files.size() && last - first < kMaxFiles && !place_of_[last] &&
           (bytes += manifest_.files[last].identity.size) <= kPieceBytes)
      ++last;
    return std::max<std::size_t>(last - first, 1);
  }

  // Gives at least one of these files a place.
  void fetch(std::size_t first, std::size_t count) {
    FileLock lock(cache_ / "lock");
    lock.lock_if_possible(kLockPatience);
    if (found_meanwhile(first, count)) return;
    if (count > 1) return fetch_small(first, count);
    keep(first, [&](const fs::path& temporary) { receive(first, temporary); });
  }

  // Another node of this machine was faster.
  bool found_meanwhile(std::size_t first, std::size_t count) {
    bool any = false;
    for (std::size_t i = first; i < first + count; ++i) {
      const ManifestFile& file = manifest_.files[i];
      if (!is_in_cache(file)) continue;
      any = true;
      place_of_[i] = blob(file);
      progress_.total -= file.identity.size;
      ++out_.cached;
    }
    return any;
  }

  void fetch_small(std::size_t first, std::size_t count) {
    const std::string bytes = ask(first, 0, count);
    std::size_t offset = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      const ManifestFile& file = manifest_.files[i];
      if (bytes.size() - offset < file.identity.size)
        throw Error{data_loss, "the coordinator sent {} bytes for {} files from {} on: too few", bytes.size(), count, file.name.string()};
      const std::string_view content = std::string_view(bytes).substr(offset, file.identity.size);
      keep(i, [&](const fs::path& temporary) {
        check_digest(file, digest_of(Digest::Kind::sha256, content));
        OutputFile(temporary, OutputFile::Mode::create).write(content);
      });
      offset += content.size();
    }
    advance(offset);
  }

  // Under its last name a file is there completely or not at all.
  void keep(std::size_t number, const std::function<void(const fs::path&)>& write) {
    const ManifestFile& file = manifest_.files[number];
    const fs::path temporary = blob(file).string() + unique_suffix(boot_);
    std::error_code fault;
    Rollback half_written([&] { fs::remove(temporary, fault); });
    write(temporary);
    fs::permissions(temporary, kReadOnly, fault);
    if (!fault) fs::rename(temporary, blob(file), fault);
    if (fault) throw_system_error(fault.value(), fmt::format("keep {}", blob(file).string()));
    half_written.keep();
    digests_.add(blob(file), file.sha256);
    place_of_[number] = blob(file);
    ++out_.fetched;
  }

  std::string ask(std::size_t number, std::uint64_t offset, std::size_t count) const {
    wire::FileRequest request;
    request.set_file(static_cast<std::uint32_t>(number));
    request.set_offset(offset);
    request.set_count(static_cast<std::uint32_t>(count));
    return options_.call(kFileMethod, request.SerializeAsString());
  }

  void advance(std::uint64_t bytes) {
    progress_.bytes += bytes;
    options_.progress(progress_);
  }

  void check_digest(const ManifestFile& file, const std::string& digest) const {
    if (digest != file.sha256)
      throw Error{data_loss, "{} arrived with another checksum than the coordinator's list has: it has changed there; start the job again",
                  manifest_.path_of(file).string()};
  }

  void receive(std::size_t number, const fs::path& to) {
    const ManifestFile& file = manifest_.files[number];
    OutputFile out(to, OutputFile::Mode::create);
    Digest digest(Digest::Kind::sha256);
    for (std::uint64_t offset = 0; offset < file.identity.size;) {
      const std::string piece = ask(number, offset, 1);
      if (piece.empty() || piece.size() > file.identity.size - offset)
        throw Error{data_loss,         "{}: the coordinator sent {} bytes at {} of {}", file.name.string(), piece.size(), offset,
                    file.identity.size};
      out.write(piece);
      digest.add(piece);
      offset += piece.size();
      advance(piece.size());
    }
    check_digest(file, digest.hex());
  }

  // Once for all files: what the memory of digests says must not outlive the files in a power failure.
  void sync_cache() const {
    if (out_.fetched == 0) return;
    const int folder = ::open(blobs().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    ::syncfs(folder);
    ::close(folder);
  }

  void save_digests() {
    FileLock lock(cache_ / "lock");
    lock.lock_if_possible(kMemoryPatience);
    digests_.save();
  }

  // A folder is used in place if all its files are; otherwise a folder of links stands for it.
  std::vector<fs::path> folders() const {
    std::vector<bool> in_place(manifest_.folders.size(), true);
    for (std::size_t i = 0; i < manifest_.files.size(); ++i)
      if (*place_of_[i] != manifest_.path_of(manifest_.files[i])) in_place[manifest_.files[i].folder] = false;
    const fs::path root = cache_ / "sets" / manifest_.hash();
    std::vector<fs::path> out;
    for (std::size_t i = 0; i < in_place.size(); ++i) out.push_back(in_place[i] ? manifest_.folders[i] : root / std::to_string(i));
    for (std::size_t i = 0; i < manifest_.files.size(); ++i) {
      const ManifestFile& file = manifest_.files[i];
      if (!in_place[file.folder]) link(out[file.folder] / file.name, *place_of_[i]);
    }
    return out;
  }

  // Every node of this machine makes the same links, each in one step.
  void link(const fs::path& at, const fs::path& target) const {
    std::error_code fault;
    if (fs::read_symlink(at, fault) == target && !fault) return;
    make_directories(at.parent_path());
    // Hidden, so that a reader of the folder passes it over.
    const fs::path temporary = at.parent_path() / ("." + at.filename().string() + unique_suffix(boot_));
    fs::create_symlink(target, temporary, fault);
    if (!fault) fs::rename(temporary, at, fault);
    if (fault) throw_system_error(fault.value(), fmt::format("link {} to {}", at.string(), target.string()));
  }

  const StagingOptions& options_;
  const fs::path cache_;
  const DataManifest manifest_;
  FileDigests digests_;
  const std::string boot_;
  std::vector<std::optional<fs::path>> place_of_;  // of each file of the manifest
  StagingProgress progress_;
  StagedData out_;
};

}  // namespace

StagedData stage_data(Config& job, const StagingOptions& options) {
  return Stage(options, parsed_manifest(fetch_manifest(options))).run(job);
}

}  // namespace trireme::train
