// SPDX-License-Identifier: Apache-2.0
// Sorts files into bundles; arrays are loaded when they are asked for.
#include "trireme/data/formats/npy_bundle.h"

#include <algorithm>
#include <array>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/data/formats/byte_stream.h"
#include "trireme/data/formats/decoder.h"
#include "trireme/data/formats/folder.h"
#include "trireme/data/formats/input_file.h"
#include "trireme/data/formats/zip_file.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kZip = "PK";
constexpr std::string_view kArray = "\x93NUMPY";
constexpr std::string_view kExtension = ".npy";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string without_extension(std::string name) {
  if (name.ends_with(kExtension)) name.resize(name.size() - kExtension.size());
  return name;
}

// An archive, otherwise a single array; data_loss if it begins like neither.
bool is_archive(const fs::path& path) {
  std::array<std::byte, 6> opening{};
  const InputFile file(path);
  const auto found = std::span(opening).first(file.read_at(0, opening));
  if (as_text(found).starts_with(kZip)) return true;
  if (as_text(found) != kArray && marked_compression(found) == Compression::none)
    throw Error{data_loss, "{}: expected arrays of numpy (a file that begins with {} or \\x93NUMPY), found another one of {} bytes",
                path.string(), kZip, file.size()};
  return false;
}

NpyBundle archive(const fs::path& path) {
  const auto zip = std::make_shared<const ZipFile>(path);
  NpyBundle bundle{.path = path, .entries = {}};
  for (const ZipFile::Member& member : zip->members()) {
    if (!member.name.ends_with(kExtension)) continue;
    const std::string name = without_extension(member.name);
    bundle.entries.push_back({.name = name, .load = [zip, member, name] {
                                return npy_array(zip->read(member), name, fmt::format("{}: array '{}'", zip->name(), name));
                              }});
  }
  if (bundle.entries.empty()) throw Error{data_loss, "{}: expected arrays (.npy) in the archive, found none", path.string()};
  return bundle;
}

NpyBundle::Entry single(const fs::path& path) {
  const std::string name = without_extension(path.filename().string());
  return {.name = name, .load = [path, name] { return npy_array(ByteStream(path).read_rest(), name, path.string()); }};
}

void add_folder(const fs::path& folder, std::vector<NpyBundle>& out) {
  NpyBundle bundle{.path = folder, .entries = {}};
  const std::size_t before = out.size();
  for (const fs::path& file : entries_of(folder)) {
    if (has_extension(file, ".npz")) out.push_back(archive(file));
    if (has_extension(file, kExtension)) bundle.entries.push_back(single(file));
  }
  if (!bundle.entries.empty()) out.push_back(std::move(bundle));
  if (out.size() == before) throw Error{not_found, "{}: the folder has no .npy or .npz file", folder.string()};
}

}  // namespace

std::optional<std::size_t> NpyBundle::find(std::string_view name) const {
  const auto same = [&](const Entry& entry) { return std::ranges::equal(entry.name, name, {}, lower, lower); };
  const auto exact = std::ranges::find(entries, name, &Entry::name);
  const auto found = exact != entries.end() ? exact : std::ranges::find_if(entries, same);
  if (found == entries.end()) return std::nullopt;
  return static_cast<std::size_t>(found - entries.begin());
}

std::string NpyBundle::contents() const {
  std::string text;
  for (const Entry& entry : entries) text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", entry.name, entry.load().title());
  return text;
}

std::vector<NpyBundle> npy_bundles(const std::vector<fs::path>& files) {
  std::vector<NpyBundle> bundles;
  std::optional<fs::path> first;  // of a pair
  for (const fs::path& path : files) {
    std::error_code fault;
    if (fs::is_directory(path, fault)) {
      add_folder(path, bundles);
    } else if (is_archive(path)) {
      bundles.push_back(archive(path));
    } else if (!first) {
      first = path;
    } else {
      bundles.push_back({.path = *first, .entries = {single(*first), single(path)}, .is_pair = true});
      first.reset();
    }
  }
  if (first)
    throw Error{invalid_argument, "{}: a .npy file without its labels; .npy files come in pairs: [\"features.npy\", \"labels.npy\"]",
                first->string()};
  return bundles;
}

}  // namespace trireme::data
