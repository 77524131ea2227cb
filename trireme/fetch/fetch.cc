// SPDX-License-Identifier: Apache-2.0
// Sources one after another until every file is there.
#include "trireme/fetch/fetch.h"

#include <fmt/format.h>

#include <algorithm>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/fetch/set_folder.h"

namespace trireme::fetch {
namespace {

std::string name_of_source(const SetSource& source) {
  switch (source.registry) {
    case Registry::npm:
      return fmt::format("npm package {}", source.location);
    case Registry::debian:
      return fmt::format("Debian package {}", source.location);
    case Registry::address:
      break;
  }
  return std::string(source.location);
}

bool is_file(const std::filesystem::path& path) { return std::filesystem::is_regular_file(path); }

std::filesystem::path packed_in(const std::filesystem::path& folder, const SetFile& file) {
  return folder / fmt::format("{}.gz", file.name);
}

std::string last_part(const std::string& url) { return url.substr(url.rfind('/') + 1); }

// The fetch of one set into its folder.
class Fetch {
 public:
  Fetch(const SetEntry& entry, const std::filesystem::path& directory, Progress& progress, const FetchSettings& settings)
      : entry_(entry),
        folder_(directory / entry.name),
        progress_(progress),
        settings_(settings),
        downloader_(settings.limits, progress),
        registry_(settings.clients, folder_.partial()) {}

  void run() {
    find_missing();
    if (!settings_.from.empty()) {
      attempt(settings_.from, [&] { from_place(settings_.from); });
    } else {
      for (const SetSource& source : entry_.sources) attempt(name_of_source(source), [&] { from_source(source); });
    }
    if (!missing_.empty()) fail();
    std::filesystem::remove_all(folder_.partial());
  }

 private:
  enum class Form { gzip, gzip_or_plain };
  struct Failure {
    std::string source;
    std::string why;
  };

  void find_missing() {
    if (settings_.force) std::filesystem::remove_all(folder_.partial());
    std::filesystem::create_directories(folder_.partial());
    for (const SetFile& file : entry_.files()) {
      const bool here = !settings_.force && folder_.holds(file);
      if (here && !folder_.stamped(file)) folder_.stamp(file);
      if (!here) missing_.push_back(file);
    }
    if (std::ranges::any_of(missing_, [&](const SetFile& file) { return is_file(packed_in(folder_.path(), file)); }))
      attempt(folder_.path().string(), [&] { from_folder(folder_.path()); });  // put there by hand
  }

  // A source that fails is no fault as long as another one has the files, so its error is kept, not passed on.
  template <class Action>
  void attempt(const std::string& source, const Action& action) {
    if (missing_.empty()) return;
    progress_.trying(source);
    try {
      action();
      if (!missing_.empty()) throw Error{data_loss, "{} is not in it", missing_.front().name};
    } catch (const Error& error) {  // the next source is tried; if all fail, their reasons are thrown together
      failures_.push_back({source, error.what()});
      progress_.refused(source, error.what());
    }
  }

  void from_source(const SetSource& source) {
    if (source.unpack == nullptr)
      from_address(std::string(source.location), Form::gzip);
    else if (source.registry == Registry::address)
      unpack(source, download(std::string(source.location), Digest::Kind::md5, std::string(source.md5)));
    else
      unpack(source, download_package(source));
  }

  void from_place(const std::string& place) {
    if (place.find("://") == std::string::npos)
      from_folder(place);
    else
      from_address(place.ends_with('/') ? place : place + "/", Form::gzip_or_plain);
  }

  void from_folder(const std::filesystem::path& folder) {
    if (!std::filesystem::is_directory(folder)) throw Error{not_found, "{} is not a folder", folder.string()};
    for (const SetFile& file : std::vector<SetFile>(missing_)) {
      const std::filesystem::path plain = folder / file.name;
      const std::filesystem::path packed = packed_in(folder, file);
      if (is_file(packed))
        accept(file, packed);
      else if (is_file(plain))
        accept(file, plain);
    }
  }

  void from_address(const std::string& base, Form form) {
    for (const SetFile& file : std::vector<SetFile>(missing_)) {
      const std::string plain = fmt::format("{}{}", base, file.name);
      const bool may_be_plain = form == Form::gzip_or_plain && !file.md5.empty();
      try {
        accept_download(file, plain + ".gz", std::string(file.md5.empty() ? file.gzip_md5 : ""));
      } catch (const Error& error) {  // some servers have the file uncompressed only
        if (!may_be_plain) throw;
        progress_.refused(plain + ".gz", error.what());
        accept_download(file, plain, std::string(file.md5));
      }
    }
  }

  // What an earlier, killed fetch left may not be the beginning of what is offered now: then once more, from the beginning.
  void accept_download(const SetFile& file, const std::string& url, const std::string& md5) {
    const bool continued = std::filesystem::exists(partial_of(url));
    const std::filesystem::path found = download(url, Digest::Kind::md5, md5);
    try {
      accept(file, found);
    } catch (const Error& error) {  // a continued download may be of another version: once more, from its beginning
      std::filesystem::remove(found);
      if (!continued || error.code() != data_loss) throw;
      accept(file, download(url, Digest::Kind::md5, md5));
    }
    std::filesystem::remove(found);
  }

  // Each address continues only its own partial file.
  std::filesystem::path partial_of(const std::string& url) const {
    return folder_.partial() / fmt::format("{}-{}", digest_of(Digest::Kind::md5, url).substr(0, 8), last_part(url));
  }

  std::filesystem::path download(const std::string& url, Digest::Kind kind, const std::string& digest) {
    std::filesystem::path file = partial_of(url);
    bool continued = std::filesystem::exists(file);
    if (continued && !digest.empty() && digest_of_file(kind, file) == digest) return file;
    for (;;) {
      downloader_.download(url, file);
      if (digest.empty()) return file;
      const std::string found = digest_of_file(kind, file);
      if (found == digest) return file;
      std::filesystem::remove(file);
      if (!continued) throw Error{data_loss, "{} has the checksum {}, not {}", url, found, digest};
      continued = false;
    }
  }

  std::filesystem::path download_package(const SetSource& source) {
    const Package package = registry_.find(source.registry, source.location);
    try {
      return download(package.url, package.kind, package.digest);
    } catch (const Error& error) {  // the client is tried next: it may have proxies and mirrors that only it knows
      progress_.refused(package.url, error.what());
    }
    std::filesystem::path file = registry_.download(source.registry, source.location);
    const std::string found = digest_of_file(package.kind, file);
    if (found != package.digest) throw Error{data_loss, "{} has the checksum {}, not {}", source.location, found, package.digest};
    return file;
  }

  void unpack(const SetSource& source, const std::filesystem::path& archive) {
    const std::filesystem::path unpacked = folder_.partial() / "unpacked";
    std::filesystem::remove_all(unpacked);
    std::filesystem::create_directories(unpacked);
    progress_.unpacking(archive.filename().string());
    source.unpack(archive, missing_, unpacked);
    from_folder(unpacked);
    std::filesystem::remove_all(unpacked);
    std::filesystem::remove(archive);
  }

  void accept(const SetFile& file, const std::filesystem::path& found) {
    folder_.accept(file, found);
    std::erase_if(missing_, [&](const SetFile& other) { return other.name == file.name; });
    progress_.verified(file.name, file.bytes);
  }

  [[noreturn]] void fail() const {
    std::string text = fmt::format("cannot get {}\n", entry_.name);
    for (const Failure& failure : failures_) text += fmt::format("  {}: {}\n", failure.source, failure.why);
    text += fmt::format("To put the files there by hand, copy them, plain or as .gz, into {} and try again:\n", folder_.path().string());
    for (const SetFile& file : missing_) {
      const bool packed = file.md5.empty();
      text += fmt::format("  {}{}  (MD5 {})\n", file.name, packed ? ".gz" : "", packed ? file.gzip_md5 : file.md5);
    }
    text += fmt::format("or take them from another folder: trireme fetch {} --from FOLDER", entry_.name);
    throw Error{unavailable, "{}", text};
  }

  const SetEntry& entry_;
  SetFolder folder_;
  Progress& progress_;
  const FetchSettings& settings_;
  Downloader downloader_;
  PackageRegistry registry_;
  std::vector<SetFile> missing_;
  std::vector<Failure> failures_;
};

}  // namespace

void fetch_set(const SetEntry& entry, const std::filesystem::path& directory, Progress& progress, const FetchSettings& settings) {
  const std::filesystem::path folder = directory / entry.name;
  const SetFolder before(folder);
  if (!settings.force && std::ranges::all_of(entry.files(), [&](const SetFile& file) { return before.stamped(file); })) return;
  std::filesystem::create_directories(folder);
  const SetLock lock(folder, progress);
  Fetch(entry, directory, progress, settings).run();
}

SetPaths set_files(const SetEntry& entry, const std::filesystem::path& directory) {
  SetPaths paths;
  for (const SetFile& file : entry.train) paths.train.push_back(directory / entry.name / file.name);
  for (const SetFile& file : entry.test) paths.test.push_back(directory / entry.name / file.name);
  return paths;
}

bool is_here(const SetEntry& entry, const std::filesystem::path& directory) {
  const SetFolder folder(directory / entry.name);
  return std::ranges::all_of(entry.files(), [&](const SetFile& file) { return folder.holds(file); });
}

}  // namespace trireme::fetch
