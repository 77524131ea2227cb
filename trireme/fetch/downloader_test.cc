// SPDX-License-Identifier: Apache-2.0
// Tests of downloads against a server on loopback.
#include "trireme/fetch/downloader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/fetch/testing/loopback_server.h"
#include "trireme/fetch/testing/packed_files.h"

namespace trireme::fetch {
namespace {

using testing::HasSubstr;

struct Recorder final : Progress {
  void received(std::string_view file, std::int64_t bytes, std::int64_t total) override {
    name = file;
    most = std::max(most, bytes);
    last_total = total;
  }
  std::string name;
  std::int64_t most = 0;
  std::int64_t last_total = 0;
};

struct Fixture : testing::Test {
  void download(const std::string& path) { downloader.download(server.url(path), file); }

  LoopbackServer server;
  TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "file";
  Recorder progress;
  Downloader downloader{{.connect = Seconds(2), .stall = Seconds(1), .bytes = 1 << 20, .attempts = 4}, progress};
  const std::string content = noise(300000, 7);
};
using Download = Fixture;

TEST_F(Download, BringsTheFileAndReportsProgress) {
  server.on("/a/x.gz", content);
  server.start();
  download("/a/x.gz");
  EXPECT_EQ(read_file(file), content);
  EXPECT_EQ(progress.name, "x.gz");
  EXPECT_EQ(progress.most, 300000);
  EXPECT_EQ(progress.last_total, 300000);
}

TEST_F(Download, ContinuesAfterACut) {
  server.on("/x", [&](const Request&, int nth) { return Answer{.body = content, .cut_after = nth < 2 ? 100000 : -1}; });
  server.start();
  download("/x");
  EXPECT_EQ(read_file(file), content);
  ASSERT_EQ(server.requests().size(), 3U);
  EXPECT_EQ(server.requests()[1].range_start, 100000);
  EXPECT_EQ(server.requests()[2].range_start, 200000);
  EXPECT_EQ(server.bytes_sent(), 300000);
  EXPECT_EQ(progress.last_total, 300000);
}

TEST_F(Download, GivesUpWhenCutsBringNothing) {
  server.on("/x", [&](const Request&, int nth) { return Answer{.body = content, .cut_after = nth == 0 ? 1000 : 0}; });
  server.start();
  EXPECT_THAT(thrown_error([&] { download("/x"); }), HasSubstr("unavailable: " + server.url("/x")));
  EXPECT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(std::filesystem::file_size(file), 1000U);  // for the next time
}

TEST_F(Download, BeginsAnewIfTheServerKnowsNoRanges) {
  write_file_atomically(file, std::string(5000, 'x'));
  server.on("/x", [&](const Request&, int) { return Answer{.body = content, .ranges = false}; });
  server.start();
  download("/x");
  EXPECT_EQ(read_file(file), content);
}

TEST_F(Download, WhatIsCompleteIsNotBroughtAgain) {
  write_file_atomically(file, content);
  server.on("/x", content);
  server.start();
  download("/x");
  EXPECT_EQ(read_file(file), content);
  EXPECT_EQ(server.bytes_sent(), 0);
}

TEST_F(Download, WhatIsTooLongIsThrownAway) {
  write_file_atomically(file, content + "and more");
  server.on("/x", content);
  server.start();
  download("/x");
  EXPECT_EQ(read_file(file), content);
}

TEST_F(Download, FollowsRedirectionsButNotIntoFiles) {
  server.on("/a", [&](const Request&, int) { return Answer{.status = 302, .location = "/b"}; });
  server.on("/b", content);
  server.on("/c", [&](const Request&, int) { return Answer{.status = 302, .location = "file:///etc/hostname"}; });
  server.start();
  download("/a");
  EXPECT_EQ(read_file(file), content);
  std::filesystem::remove(file);
  EXPECT_THAT(thrown_error([&] { download("/c"); }), HasSubstr("unavailable: "));
}

TEST_F(Download, FailuresSayWhy) {
  server.on("/long", std::string((1 << 20) + 1, 'x'));
  server.start();
  EXPECT_THAT(thrown_error([&] { download("/none"); }), HasSubstr("404"));
  EXPECT_EQ(std::filesystem::file_size(file), 0U);  // nothing of the error page
  EXPECT_THAT(thrown_error([&] { download("/long"); }), HasSubstr("unavailable: "));
  EXPECT_THAT(thrown_error([&] { downloader.download("ftp://127.0.0.1/x", file); }), HasSubstr("not supported"));
}

TEST_F(Download, AStalledTransferIsGivenUp) {
  server.on("/x", [&](const Request&, int nth) { return Answer{.body = content, .stall_after = nth == 0 ? 100000 : -1}; });
  server.start();
  Downloader impatient({.stall = Seconds(0.3)}, progress);
  impatient.download(server.url("/x"), file);  // the second attempt continues the first
  EXPECT_EQ(read_file(file), content);
  EXPECT_EQ(server.requests()[1].range_start, 100000);
}

TEST_F(Download, ASilentHostIsAskedOnce) {
  std::string url;
  {
    const LoopbackServer gone;
    url = gone.url("/x");
  }
  EXPECT_THAT(thrown_error([&] { downloader.download(url, file); }), HasSubstr("Failed to connect"));
  EXPECT_THAT(thrown_error([&] { downloader.download(url + "y", file); }),
              testing::MatchesRegex("unavailable: 127.0.0.1:[0-9]+ did not answer before.*"));
}

TEST_F(Download, ReadsFileAddresses) {
  write_file_atomically(folder.path() / "source", content);
  write_file_atomically(file, "left from before");
  downloader.download("file://" + (folder.path() / "source").string(), file);
  EXPECT_EQ(read_file(file), content);
}

}  // namespace
}  // namespace trireme::fetch
