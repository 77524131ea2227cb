// SPDX-License-Identifier: Apache-2.0
// Tests of data that travel from a coordinator to nodes, over loopback.
#include "trireme/train/staging/staging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "trireme/base/digest.h"
#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/coord/membership.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/data/testing/reader.h"
#include "trireme/rpc/authority.h"
#include "trireme/train/staging/staging_calls.h"
#include "trireme/wire/staging.pb.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;
using data::ScratchFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr Seconds kPatience{10};

Config job_of(const std::string& data) { return Config::parse_toml("[data]\n" + data, "job.toml"); }

DataManifest manifest_of_job(const Config& job) {
  FileDigests digests;
  return manifest_of(data::data_files(data::data_request(job.at("data"))), digests);
}

// A coordinator that offers the data of a job, and a node of it.
class Offered {
 public:
  explicit Offered(const Config& job) : manifest_(manifest_of_job(job)), coordinator_(options(manifest_)), node_(join("0")) {}

  const DataManifest& manifest() const { return manifest_; }
  std::string call(const std::string& method, std::string request) { return node_.call(method, std::move(request), kPatience); }

  // As from a machine that has been started at another time and has none of the folders.
  std::string call_from_elsewhere(const std::string& method, std::string request) {
    std::string answer = call(method, std::move(request));
    if (method != kManifestMethod) return answer;
    DataManifest manifest = manifest_;
    manifest.boot = "another";
    for (fs::path& folder : manifest.folders) folder = "/elsewhere" / folder.relative_path();
    wire::ManifestPiece piece;
    piece.set_bytes(serialized(manifest));
    piece.set_size(piece.bytes().size());
    return piece.SerializeAsString();
  }

  StagingOptions from_here(const fs::path& cache) {
    return {.call = [this](const std::string& method, std::string request) { return call(method, std::move(request)); }, .cache = cache};
  }
  StagingOptions from_elsewhere(const fs::path& cache) {
    return {.call = [this](const std::string& method, std::string request) { return call_from_elsewhere(method, std::move(request)); },
            .cache = cache};
  }

 private:
  rpc::Credentials credentials(const std::string& role, const std::string& name) const {
    return authority_.issue({.role = role, .name = name}, {}, Seconds{3600});
  }
  coord::Coordinator::Options options(const DataManifest& manifest) const {
    coord::Coordinator::Options out;
    out.addresses = {"127.0.0.1"};
    out.credentials = credentials("coordinator", "0");
    out.methods = staging_methods(manifest);
    return out;
  }
  coord::Membership join(const std::string& name) const {
    coord::Membership::Options out;
    out.coordinator = coordinator_.addresses().front();
    out.credentials = credentials("node", name);
    return coord::Membership::connect(out, kPatience);
  }

  const rpc::Authority authority_ = rpc::Authority::create();
  const DataManifest manifest_;
  coord::Coordinator coordinator_;
  coord::Membership node_;
};

std::string all_samples(const Config& job) {
  const data::DataSets sets = data::open_data(data::data_request(job.at("data")), fs::temp_directory_path());
  std::string out;
  for (const auto& part : {sets.train, sets.test}) {
    if (part == nullptr) continue;
    std::vector<std::byte> sample(part->format().sample_bytes());
    for (std::int64_t i = 0; i < part->size(); ++i) {
      part->read(i, sample);
      out += fmt::format("|{}:", part->label(i)) + std::string(reinterpret_cast<const char*>(sample.data()), sample.size());
    }
    for (const std::string& name : part->format().class_names) out += name + ",";
  }
  return out;
}

// A job on the example that a reader's entry writes for conformance tests, in a folder for training and one for the test.
Config example_job(const std::string& reader, const fs::path& folder, const std::string& more = "") {
  const data::ReaderEntry& entry = data::find_reader(reader);
  std::string toml = fmt::format("reader = '{}'\n{}\n", reader, more);
  for (const std::string part : {"train", "test"}) {
    fs::create_directories(folder / part);
    std::string list;
    for (const fs::path& file : entry.example(folder / part).files) list += toml_quoted(file.string()) + ",";
    toml += fmt::format("{} = [{}]\n", part, list);
  }
  return job_of(toml);
}

class StagingOfReader : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(StagingOfReader, GivesTheSameSamplesElsewhere) {
  const ScratchFolder scratch;
  const Config job = example_job(GetParam().first, scratch.path() / "original", GetParam().second);
  const std::string expected = all_samples(job);
  Offered offered(job);
  Config staged = job;
  const StagedData first = stage_data(staged, offered.from_elsewhere(scratch.path() / "cache"));
  EXPECT_EQ(first.hash, offered.manifest().hash());
  EXPECT_EQ(first.in_place, 0U);
  EXPECT_GT(first.fetched, 0U);
  EXPECT_THAT(staged.at("data").at("train").to_toml(), HasSubstr((scratch.path() / "cache").string()));
  EXPECT_EQ(all_samples(staged), expected);

  Config again = job;
  const StagedData second = stage_data(again, offered.from_elsewhere(scratch.path() / "cache"));
  EXPECT_EQ(second.fetched, 0U);
  EXPECT_EQ(second.cached, offered.manifest().files.size());
  EXPECT_EQ(again.to_toml(), staged.to_toml());
}

INSTANTIATE_TEST_SUITE_P(Readers, StagingOfReader,
                         testing::Values(std::pair("idx", ""), std::pair("image_folder", "height = 4\nwidth = 4"),
                                         std::pair("tfrecord", ""), std::pair("csv", "label = 'species'\ndrop = ['colour']"),
                                         std::pair("cifar", "records = 3"), std::pair("fits", "width = 16")),
                         [](const auto& instance) { return instance.param.first; });

class Staging : public testing::Test {
 protected:
  // A file of `bytes` bytes and a job that reads it.
  Config large_job(std::size_t bytes) {
    std::string content;
    while (content.size() < bytes) content += digest_of(Digest::Kind::sha256, std::to_string(content.size()));
    content.resize(bytes);
    scratch_.write("large", content);
    return job_of("reader = 'csv'\ntrain = ['" + (scratch_.path() / "large").string() + "']");
  }
  static fs::path staged_file(const Config& job) { return job.at("data").at("train").list().front().text(); }

  const ScratchFolder scratch_;
  const fs::path cache_ = scratch_.path() / "cache";
};

TEST_F(Staging, OnTheSameMachineNothingIsCopied) {
  const Config job = example_job("idx", scratch_.path() / "original");
  Offered offered(job);
  Config staged = job;
  const StagedData done = stage_data(staged, offered.from_here(cache_));
  EXPECT_EQ(done.in_place, 4U);
  EXPECT_EQ(done.fetched + done.cached, 0U);
  EXPECT_EQ(staged.at("data").at("train").to_toml(), job.at("data").at("train").to_toml());
  EXPECT_TRUE(fs::is_empty(cache_ / "files"));
}

TEST_F(Staging, AnotherFileAtTheSamePathIsNotTaken) {
  Config job = large_job(100);
  Offered offered(job);
  const std::string original = read_file(scratch_.path() / "large");
  // The coordinator keeps its file; this machine's, at the same path, has the same size and time but other bytes.
  const auto call = [&](const std::string& method, const std::string&) {
    if (method == kFileMethod) return original;
    std::string bytes = serialized([&] {
      DataManifest manifest = offered.manifest();
      manifest.boot = "another";
      return manifest;
    }());
    wire::ManifestPiece piece;
    piece.set_size(bytes.size());
    piece.set_bytes(bytes);
    return piece.SerializeAsString();
  };
  const auto time = fs::last_write_time(scratch_.path() / "large");
  scratch_.write("large", std::string(100, 'y'));
  fs::last_write_time(scratch_.path() / "large", time);
  const StagedData done = stage_data(job, {.call = call, .cache = cache_});
  EXPECT_EQ(done.fetched, 1U);
  EXPECT_EQ(read_file(staged_file(job)), original);
}

TEST_F(Staging, LargeFilesComeInPiecesWithProgress) {
  const std::size_t size = 3 * kPieceBytes + 17;
  Config job = large_job(size);
  Offered offered(job);
  StagingOptions options = offered.from_elsewhere(cache_);
  std::vector<std::uint64_t> seen;
  options.progress = [&](const StagingProgress& progress) {
    EXPECT_EQ(progress.total, size);
    seen.push_back(progress.bytes);
  };
  stage_data(job, options);
  EXPECT_THAT(seen, testing::ElementsAre(kPieceBytes, 2 * kPieceBytes, 3 * kPieceBytes, size));
  EXPECT_EQ(read_file(staged_file(job)), read_file(scratch_.path() / "large"));
}

TEST_F(Staging, SmallFilesComeTogether) {
  fs::create_directories(scratch_.path() / "many/class");
  for (int i = 0; i < 1200; ++i)
    scratch_.write(fmt::format("many/class/{}.png", i), std::string(static_cast<std::size_t>(i % 700), 'a') + std::to_string(i));
  scratch_.write("many/class/large.png", std::string(kPieceBytes + 1, 'b'));
  Config job = job_of("reader = 'image_folder'\ntrain = ['" + (scratch_.path() / "many").string() + "']");
  Offered offered(job);
  StagingOptions options = offered.from_elsewhere(cache_);
  int calls = 0;
  options.call = [&](const std::string& method, std::string request) {
    ++calls;
    return offered.call_from_elsewhere(method, std::move(request));
  };
  EXPECT_EQ(stage_data(job, options).fetched, 1201U);
  EXPECT_LT(calls, 10);
  for (const std::string name : {"0.png", "777.png", "1199.png", "large.png"})
    EXPECT_EQ(read_file(staged_file(job) / "class" / name), read_file(scratch_.path() / "many/class" / name));
}

TEST_F(Staging, AnEmptyFileIsAFileToo) {
  Config job = large_job(0);
  Offered offered(job);
  stage_data(job, offered.from_elsewhere(cache_));
  EXPECT_EQ(read_file(staged_file(job)), "");
}

TEST_F(Staging, AFileThatChangesAtTheCoordinatorIsAnError) {
  Config job = large_job(2 * kPieceBytes);
  Offered offered(job);
  fs::resize_file(scratch_.path() / "large", 100);
  EXPECT_THAT(thrown_error([&] { stage_data(job, offered.from_elsewhere(cache_)); }),
              AllOf(StartsWith("data_loss: "), HasSubstr("large has changed on the coordinator's machine since the job was started")));
  scratch_.write("large", std::string(2 * kPieceBytes, 'z'));
  EXPECT_THAT(thrown_error([&] { stage_data(job, offered.from_elsewhere(cache_)); }),
              HasSubstr("has changed on the coordinator's machine"));
  fs::remove(scratch_.path() / "large");
  EXPECT_THAT(thrown_error([&] { stage_data(job, offered.from_elsewhere(cache_)); }), StartsWith("not_found: "));
  EXPECT_TRUE(fs::is_empty(cache_ / "files"));
}

TEST_F(Staging, WhatArrivesDamagedIsNotKept) {
  Config job = large_job(2 * kPieceBytes);
  Offered offered(job);
  StagingOptions options = offered.from_elsewhere(cache_);
  options.call = [&](const std::string& method, std::string request) {
    std::string answer = offered.call_from_elsewhere(method, std::move(request));
    if (method == kFileMethod) answer[5] ^= 1;
    return answer;
  };
  EXPECT_THAT(thrown_error([&] { stage_data(job, options); }), AllOf(StartsWith("data_loss: "), HasSubstr("another checksum")));
  EXPECT_TRUE(fs::is_empty(cache_ / "files"));
}

TEST_F(Staging, ADamagedCacheIsMended) {
  Config job = large_job(1000);
  Offered offered(job);
  Config first = job;
  stage_data(first, offered.from_elsewhere(cache_));
  const fs::path blob = cache_ / "files" / offered.manifest().files.front().sha256;
  fs::permissions(blob, fs::perms::owner_write, fs::perm_options::add);
  std::ofstream(blob, std::ios::binary) << std::string(1000, 'q');
  Config second = job;
  EXPECT_EQ(stage_data(second, offered.from_elsewhere(cache_)).fetched, 1U);
  EXPECT_EQ(read_file(staged_file(second)), read_file(scratch_.path() / "large"));
}

TEST_F(Staging, NodesOfOneMachineShareTheWork) {
  const Config job = large_job(8 * kPieceBytes + 1);
  Offered offered(job);
  std::vector<std::future<StagedData>> nodes;
  std::vector<Config> jobs(4, job);
  for (Config& own : jobs) nodes.push_back(std::async(std::launch::async, [&] { return stage_data(own, offered.from_elsewhere(cache_)); }));
  std::size_t fetched = 0;
  for (auto& node : nodes) fetched += node.get().fetched;
  EXPECT_EQ(fetched, 1U);
  for (const Config& own : jobs) EXPECT_EQ(read_file(staged_file(own)), read_file(scratch_.path() / "large"));
}

TEST_F(Staging, NothingOutsideTheManifestCanBeRead) {
  Offered offered(large_job(10));
  wire::FileRequest request;
  request.set_file(1);
  EXPECT_THAT(thrown_error([&] { offered.call(kFileMethod, request.SerializeAsString()); }),
              StartsWith("invalid_argument: there are 1 data files"));
  request.set_file(0);
  request.set_count(2);
  EXPECT_THAT(thrown_error([&] { offered.call(kFileMethod, request.SerializeAsString()); }),
              StartsWith("invalid_argument: there are 1 data files"));
  request.set_count(0xffffffff);
  EXPECT_THAT(thrown_error([&] { offered.call(kFileMethod, request.SerializeAsString()); }),
              StartsWith("invalid_argument: there are 1 data files"));
  request.set_count(0);
  request.set_offset(11);
  EXPECT_THAT(thrown_error([&] { offered.call(kFileMethod, request.SerializeAsString()); }), StartsWith("out_of_range"));
  EXPECT_THAT(thrown_error([&] { offered.call(kFileMethod, "/etc/passwd"); }), StartsWith("invalid_argument"));
}

TEST_F(Staging, AManifestCantLeaveItsFolders) {
  DataManifest manifest = manifest_of_job(large_job(10));
  for (const std::string name : {"../x", "/etc/passwd", "a/../../x", "", "a//../x", "."}) {
    manifest.files.front().name = name;
    EXPECT_THAT(thrown_error([&] { parsed_manifest(serialized(manifest)); }), StartsWith("data_loss: ")) << name;
  }
  manifest.files.front().name = "a/b";
  parsed_manifest(serialized(manifest));
  manifest.files.front().sha256 = "../../etc/passwd";
  EXPECT_THAT(thrown_error([&] { parsed_manifest(serialized(manifest)); }), StartsWith("data_loss: "));
  manifest.files.front().folder = 7;
  EXPECT_THAT(thrown_error([&] { parsed_manifest(serialized(manifest)); }), StartsWith("data_loss: "));
}

TEST_F(Staging, TheHashKnowsNamesSizesAndContentButNotPlaces) {
  const Config job = large_job(10);
  const std::string hash = manifest_of_job(job).hash();
  DataManifest moved = manifest_of_job(job);
  moved.folders.front() = "/elsewhere";
  moved.files.front().identity.inode = 1;
  EXPECT_EQ(moved.hash(), hash);
  scratch_.write("large", "0123456789");
  EXPECT_NE(manifest_of_job(job).hash(), hash);
}

TEST_F(Staging, DigestsAreRememberedUntilAFileChanges) {
  large_job(1000);
  const fs::path file = scratch_.path() / "large";
  const fs::path memory = scratch_.path() / "digests";
  FileDigests first(memory);
  const std::string digest = first.sha256(file);
  first.save();
  // A wrong entry shows that it is read.
  std::string text = read_file(memory);
  text.replace(0, 4, "ffff");
  scratch_.write("digests", text);
  EXPECT_EQ(FileDigests(memory).sha256(file).substr(0, 4), "ffff");
  scratch_.write("large", std::string(1000, 'x'));
  EXPECT_EQ(FileDigests(memory).sha256(file), digest_of_file(Digest::Kind::sha256, file));
  scratch_.write("digests", "nonsense\n\n\xff");
  EXPECT_EQ(FileDigests(memory).sha256(file), digest_of_file(Digest::Kind::sha256, file));
}

}  // namespace
}  // namespace trireme::train
