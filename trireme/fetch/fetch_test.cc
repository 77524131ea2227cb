// SPDX-License-Identifier: Apache-2.0
// Tests of whole fetches: sources that work, lie, break off or are not there.
#include "trireme/fetch/fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <fstream>

#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/fetch/archive.h"
#include "trireme/fetch/testing/loopback_server.h"
#include "trireme/fetch/testing/packed_files.h"

namespace trireme::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Recorder final : Progress {
  void trying(std::string_view source) override { tried.emplace_back(source); }
  void refused(std::string_view /*source*/, std::string_view why) override { reasons.emplace_back(why); }
  void verified(std::string_view file, std::int64_t /*bytes*/) override { arrived.emplace_back(file); }
  void waiting() override { waited = true; }
  std::vector<std::string> tried;
  std::vector<std::string> reasons;
  std::vector<std::string> arrived;
  bool waited = false;
};

// Of hexadecimal digits, as npm writes checksums.
std::string base64(const std::string& hex) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < hex.size(); i += 6) {
    const std::string piece = hex.substr(i, 6);
    const unsigned long bits = std::stoul(piece, nullptr, 16) << (4 * (6 - piece.size()));
    for (std::size_t k = 0; k < 4; ++k) text += k * 3 < piece.size() * 2 ? kLetters[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

// A set of two files, and a server to have them from.
struct Fixture : testing::Test {
  Fixture() {
    entry = {.name = "tiny",
             .summary = "for tests",
             .reader = "idx",
             .train = {{"images", static_cast<std::int64_t>(images.size()), images_md5}},
             .test = {{.name = "labels", .bytes = static_cast<std::int64_t>(labels.size()), .gzip_md5 = labels_gzip_md5}}};
  }

  // Locations must outlive the entry.
  std::string_view keep(std::string text) { return kept.emplace_back(std::make_unique<std::string>(std::move(text))).get()->c_str(); }
  void add_files_source(const std::string& path) { entry.sources.push_back({.location = keep(server.url(path))}); }

  void serve_good(const std::string& path) {
    server.on(path + "images.gz", gzip(images));
    server.on(path + "labels.gz", labels_gzip);
    add_files_source(path);
  }
  void fetch(const FetchSettings& settings = {.limits = {.connect = Seconds(2), .stall = Seconds(1)}}) {
    fetch_set(entry, folder.path(), progress, settings);
  }
  void expect_here() {
    EXPECT_TRUE(is_here(entry, folder.path()));
    EXPECT_EQ(read_file(folder.path() / "tiny" / "images"), images);
    EXPECT_EQ(read_file(folder.path() / "tiny" / "labels"), labels);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "tiny" / ".partial"));
  }
  // Of the largest file that is being downloaded.
  std::int64_t bytes_on_the_way() const {
    const std::filesystem::path partial = folder.path() / "tiny" / ".partial";
    std::int64_t most = 0;
    if (!std::filesystem::exists(partial)) return 0;
    for (const auto& file : std::filesystem::directory_iterator(partial))
      most = std::max(most, static_cast<std::int64_t>(file.file_size()));
    return most;
  }
  // A registry client that answers `view` and `--print-uris` with `answer` and, asked to download, runs `action`.
  std::string client(const std::string& name, const std::string& answer, const std::string& action) const {
    const std::filesystem::path path = folder.path() / name;
    std::ofstream(path) << "#!/bin/sh\ncase \"$*\" in view*|*--print-uris*) cat <<'END'\n"
                        << answer << "\nEND\n;; *) " << action << ";; esac\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
  }

  const std::string images = noise(200000, 1);
  const std::string labels = noise(3000, 2);
  const std::string labels_gzip = gzip(labels);
  const std::string images_md5 = digest_of(Digest::Kind::md5, images);
  const std::string labels_gzip_md5 = digest_of(Digest::Kind::md5, labels_gzip);
  std::vector<std::unique_ptr<std::string>> kept;
  LoopbackServer server;
  TemporaryFolder folder;
  Recorder progress;
  SetEntry entry;
};
using FetchSet = Fixture;

TEST_F(FetchSet, FilesAreFetchedOnce) {
  serve_good("/");
  server.start();
  EXPECT_FALSE(is_here(entry, folder.path()));
  fetch();
  expect_here();
  EXPECT_THAT(progress.arrived, ElementsAre("images", "labels"));
  fetch();
  EXPECT_THAT(server.requests(), SizeIs(2));
  fetch({.force = true});
  EXPECT_THAT(server.requests(), SizeIs(4));
  const SetPaths paths = set_files(entry, folder.path());
  EXPECT_THAT(paths.train, ElementsAre(folder.path() / "tiny" / "images"));
  EXPECT_THAT(paths.test, ElementsAre(folder.path() / "tiny" / "labels"));
}

TEST_F(FetchSet, AFileThatChangedIsFetchedAgain) {
  serve_good("/");
  server.start();
  fetch();
  std::string damaged = images;
  damaged[1234] ^= 1;
  write_file_atomically(folder.path() / "tiny" / "images", damaged);
  EXPECT_FALSE(is_here(entry, folder.path()));
  fetch();
  expect_here();
  EXPECT_THAT(progress.arrived, ElementsAre("images", "labels", "images"));
}

TEST_F(FetchSet, AFileThatWasOnlyTouchedStays) {
  serve_good("/");
  server.start();
  fetch();
  for (const char* name : {"images", "labels"})
    std::filesystem::last_write_time(folder.path() / "tiny" / name, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_TRUE(is_here(entry, folder.path()));
  fetch();
  EXPECT_THAT(server.requests(), SizeIs(2));
}

TEST_F(FetchSet, AWrongChecksumIsRefusedAndTheNextSourceTried) {
  server.on("/bad/images.gz", gzip(noise(200000, 9)));
  server.on("/worse/images.gz", "<html>please log in</html>");
  add_files_source("/bad/");
  add_files_source("/worse/");
  serve_good("/good/");
  server.start();
  fetch();
  expect_here();
  ASSERT_THAT(progress.reasons, SizeIs(2));
  EXPECT_THAT(progress.reasons[0], HasSubstr("images has the MD5 "));
  EXPECT_THAT(progress.reasons[0], HasSubstr("not " + images_md5));
  EXPECT_THAT(progress.tried, SizeIs(3));
}

TEST_F(FetchSet, OnlyWhatIsMissingIsAskedOfTheNextSource) {
  server.on("/half/images.gz", gzip(images));
  add_files_source("/half/");
  serve_good("/good/");
  server.start();
  fetch();
  expect_here();
  EXPECT_EQ(server.requests().back().path, "/good/labels.gz");
  EXPECT_THAT(server.requests(), SizeIs(3));
}

TEST_F(FetchSet, IfAllSourcesFailTheErrorReportsEverything) {
  add_files_source("/nothing/");
  entry.sources.push_back({.registry = Registry::npm, .location = "tiny@1", .unpack = unpack_standard_files});
  server.start();
  const std::string fault = thrown_error([&] { fetch({.clients = {.npm = "trireme-test-no-such-client"}}); });
  EXPECT_THAT(fault, HasSubstr("unavailable: cannot get tiny\n"));
  EXPECT_THAT(fault, HasSubstr(server.url("/nothing/images.gz") + ": The requested URL returned error: 404"));
  EXPECT_THAT(fault, HasSubstr("npm package tiny@1: trireme-test-no-such-client is not installed here\n"));
  EXPECT_THAT(fault, HasSubstr("into " + (folder.path() / "tiny").string()));
  EXPECT_THAT(fault, HasSubstr("  images  (MD5 " + images_md5 + ")\n  labels.gz  (MD5 " + labels_gzip_md5 + ")\n"));
  EXPECT_THAT(fault, HasSubstr("trireme fetch tiny --from FOLDER"));
}

TEST_F(FetchSet, FilesPutThereByHandAreTaken) {
  write_file_atomically(folder.path() / "tiny" / "images", images);
  write_file_atomically(folder.path() / "tiny" / "labels.gz", labels_gzip);
  fetch();
  expect_here();
}

TEST_F(FetchSet, FromAFolderOrAnAddress) {
  write_file_atomically(folder.path() / "mine" / "images", images);
  write_file_atomically(folder.path() / "mine" / "labels.gz", labels_gzip);
  fetch({.from = (folder.path() / "mine").string()});
  expect_here();
  server.on("/images", images);
  server.on("/labels.gz", labels_gzip);
  server.start();
  fetch({.force = true, .from = server.url("")});
  expect_here();
  EXPECT_THAT(server.requests(), SizeIs(3));
  write_file_atomically(folder.path() / "mine" / "images", labels);
  EXPECT_THAT(thrown_error([&] { fetch({.force = true, .from = (folder.path() / "mine").string()}); }),
              HasSubstr("images has 3000 bytes, not 200000"));
  EXPECT_TRUE(is_here(entry, folder.path()));  // what was good stays
}

TEST_F(FetchSet, AnArchiveWithItsChecksum) {
  const std::string archive = pack(Packing::tar_gzip, {{"tiny/images", images}, {"tiny/labels.gz", labels_gzip}, {"tiny/x", "x"}});
  const std::string md5 = digest_of(Digest::Kind::md5, archive);
  server.on("/bad.tar.gz", pack(Packing::tar_gzip, {{"tiny/images", images}}));
  server.on("/tiny.tar.gz", archive);
  for (const char* path : {"/bad.tar.gz", "/tiny.tar.gz"})
    entry.sources.push_back({.location = keep(server.url(path)), .md5 = md5, .unpack = unpack_standard_files});
  server.start();
  fetch();
  expect_here();
  ASSERT_THAT(progress.reasons, SizeIs(1));
  EXPECT_THAT(progress.reasons[0], HasSubstr("/bad.tar.gz has the checksum "));
}

TEST_F(FetchSet, NpmPackageDirectlyOrThroughTheClient) {
  const std::string archive = pack(Packing::tar_gzip, {{"package/images", images}, {"package/labels.gz", labels_gzip}});
  write_file_atomically(folder.path() / "tiny.tgz", archive);
  server.on("/tiny-1.tgz", archive);
  entry.sources = {{.registry = Registry::npm, .location = "tiny@1", .unpack = unpack_standard_files}};
  server.start();
  const std::string integrity = "sha512-" + base64(digest_of(Digest::Kind::sha512, archive));
  const auto answer = [&](const std::string& path) {
    return fmt::format(R"({{"tarball": "{}", "integrity": "{}"}})", server.url(path), integrity);
  };
  fetch({.clients = {.npm = client("npm", answer("/tiny-1.tgz"), "exit 9")}});
  expect_here();
  const std::string copy = fmt::format("cp '{}' tiny-1.tgz", (folder.path() / "tiny.tgz").string());
  fetch({.force = true, .clients = {.npm = client("npm", answer("/nowhere.tgz"), copy)}});
  expect_here();
  EXPECT_THAT(progress.reasons, ElementsAre(HasSubstr("/nowhere.tgz: The requested URL returned error: 404")));
  const std::string fail = "echo 'no such proxy' >&2; exit 9";
  EXPECT_THAT(thrown_error([&] { fetch({.force = true, .clients = {.npm = client("npm", answer("/nowhere.tgz"), fail)}}); }),
              HasSubstr("failed (exit code 9): no such proxy"));
}

TEST_F(FetchSet, DebianPackage) {
  const std::string content = pack(Packing::tar_xz, {{"./usr/share/images.gz", gzip(images)}, {"./usr/share/labels.gz", labels_gzip}});
  const std::string package = pack(Packing::ar, {{"debian-binary", "2.0\n"}, {"data.tar.xz", content}});
  server.on("/tiny_1_all.deb", package);
  entry.sources = {{.registry = Registry::debian, .location = "tiny", .unpack = unpack_standard_files}};
  server.start();
  const std::string answer = fmt::format("'{}' tiny_1_all.deb {} SHA256:{}", server.url("/tiny_1_all.deb"), package.size(),
                                         digest_of(Digest::Kind::sha256, package));
  fetch({.clients = {.apt_get = client("apt-get", answer, "exit 9")}});
  expect_here();
}

TEST_F(FetchSet, AKilledFetchIsContinued) {
  const std::string packed = gzip(images);
  server.on("/images.gz", [&](const Request&, int nth) { return Answer{.body = packed, .stall_after = nth == 0 ? 100000 : -1}; });
  server.on("/labels.gz", labels_gzip);
  add_files_source("/");
  const pid_t child = ::fork();  // before the server's thread starts
  if (child == 0) {
    fetch({.limits = {.stall = Seconds(60)}});
    ::_exit(0);
  }
  server.start();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (bytes_on_the_way() < 100000 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(is_here(entry, folder.path()));
  fetch();
  expect_here();
  EXPECT_EQ(server.requests()[1].range_start, 100000);
}

TEST_F(FetchSet, WhatAnotherVersionLeftIsNotTrusted) {
  serve_good("/");
  server.start();
  const std::string left = digest_of(Digest::Kind::md5, server.url("/images.gz")).substr(0, 8) + "-images.gz";
  write_file_atomically(folder.path() / "tiny" / ".partial" / left, "the beginning of something else");
  fetch();
  expect_here();
  EXPECT_GT(server.requests()[0].range_start, 0);
  EXPECT_EQ(server.requests()[1].range_start, 0);
}

TEST_F(FetchSet, TwoFetchesDoNotMeet) {
  serve_good("/");
  server.start();
  std::filesystem::create_directories(folder.path() / "tiny");
  const int lock = ::open((folder.path() / "tiny" / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  std::thread other([&] { fetch(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_THAT(server.requests(), IsEmpty());
  ::close(lock);
  other.join();
  EXPECT_TRUE(progress.waited);
  expect_here();
}

}  // namespace
}  // namespace trireme::fetch
