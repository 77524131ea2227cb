// SPDX-License-Identifier: Apache-2.0
// Manifests of data, made, written and checked.
#include "trireme/train/staging/data_manifest.h"

#include <algorithm>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/data/sets/file_options.h"
#include "trireme/wire/staging.pb.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigestLength = 64;

bool is_digest(const std::string& text) {
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == kDigestLength && std::ranges::all_of(text, digit);
}

bool stays_inside(const fs::path& name) {
  return !name.is_absolute() &&
         std::ranges::none_of(name, [](const fs::path& part) { return part == ".." || part == "." || part.empty(); });
}

ManifestFile checked(const wire::StagedFile& file, std::size_t folders) {
  ManifestFile out{.folder = file.folder(), .name = file.name(), .sha256 = file.sha256()};
  if (out.name.empty() || !stays_inside(out.name) || out.folder >= folders || !is_digest(out.sha256))
    throw Error{data_loss, "the manifest of the data has a file '{}' in folder {} that can't be", file.name(), file.folder()};
  out.identity = {.device = file.device(), .inode = file.inode(), .modified = file.modified(), .size = file.size()};
  return out;
}

data::DataFiles::Named checked(const wire::NamedData& named, std::size_t folders) {
  if (!data::names_files(named.key()) || named.folder() >= folders || !stays_inside(named.name()))
    throw Error{data_loss, "the manifest of the data names '{}' in folder {} for '{}', which can't be", named.name(), named.folder(),
                named.key()};
  return {.key = named.key(), .folder = named.folder(), .name = named.name()};
}

}  // namespace

std::uint64_t DataManifest::bytes() const {
  std::uint64_t sum = 0;
  for (const ManifestFile& file : files) sum += file.identity.size;
  return sum;
}

std::string DataManifest::hash() const {
  Digest digest(Digest::Kind::sha256);
  for (const data::DataFiles::Named& one : named) digest.add(fmt::format("{} {} {}\n", one.key, one.folder, one.name.string()));
  for (const ManifestFile& file : files)
    digest.add(fmt::format("{} {} {} {}\n", file.sha256, file.identity.size, file.folder, file.name.string()));
  return digest.hex();
}

DataManifest manifest_of(const data::DataFiles& files, FileDigests& digests) {
  DataManifest out{.boot = boot_of_machine(), .folders = files.folders, .named = files.named};
  for (const data::DataFiles::File& file : files.files) {
    const fs::path path = files.path_of(file);
    out.files.push_back({.folder = file.folder, .name = file.name, .sha256 = digests.sha256(path), .identity = identity_of(path)});
  }
  return out;
}

std::string serialized(const DataManifest& manifest) {
  wire::DataManifest out;
  out.set_boot(manifest.boot);
  for (const fs::path& folder : manifest.folders) out.add_folders(folder.string());
  for (const data::DataFiles::Named& one : manifest.named) {
    wire::NamedData& to = *out.add_named();
    to.set_key(one.key);
    to.set_folder(static_cast<std::uint32_t>(one.folder));
    to.set_name(one.name.string());
  }
  for (const ManifestFile& file : manifest.files) {
    wire::StagedFile& to = *out.add_files();
    to.set_folder(static_cast<std::uint32_t>(file.folder));
    to.set_name(file.name.string());
    to.set_size(file.identity.size);
    to.set_sha256(file.sha256);
    to.set_device(file.identity.device);
    to.set_inode(file.identity.inode);
    to.set_modified(file.identity.modified);
  }
  return out.SerializeAsString();
}

DataManifest parsed_manifest(const std::string& bytes) {
  wire::DataManifest in;
  if (!in.ParseFromString(bytes)) throw Error{data_loss, "the manifest of the data, {} bytes, is damaged", bytes.size()};
  DataManifest out{.boot = in.boot()};
  for (const std::string& folder : in.folders()) out.folders.emplace_back(folder);
  for (const wire::NamedData& one : in.named()) out.named.push_back(checked(one, out.folders.size()));
  for (const wire::StagedFile& file : in.files()) out.files.push_back(checked(file, out.folders.size()));
  return out;
}

}  // namespace trireme::train
