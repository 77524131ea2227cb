// SPDX-License-Identifier: Apache-2.0
// Tests of archives: only wanted members, never by the archive's path, never too long.
#include "trireme/fetch/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/fetch/testing/packed_files.h"

namespace trireme::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Fixture : testing::Test {
  std::filesystem::path save(const std::string& name, const std::string& content) const {
    write_file_atomically(folder.path() / name, content);
    return folder.path() / name;
  }
  std::filesystem::path out() const {
    std::filesystem::create_directories(folder.path() / "out");
    return folder.path() / "out";
  }
  TemporaryFolder folder;
};
using Archive = Fixture;

TEST_F(Archive, OnlyWantedMembersAreWritten) {
  const std::string content = noise(100000, 1);
  const auto path = save("a.tgz", pack(Packing::tar_gzip, {{"package/readme.md", "hello"}, {"package/data/images", content}}));
  EXPECT_THAT(extract_members(path, {{"images", 100000}, {"labels", 10}}, out()), ElementsAre("images"));
  EXPECT_EQ(read_file(out() / "images"), content);
  EXPECT_FALSE(std::filesystem::exists(out() / "readme.md"));
}

TEST_F(Archive, PathsOfTheArchiveAreNotFollowed) {
  const auto path = save("a.tgz", pack(Packing::tar_gzip, {{"../../images", "x"}, {"/etc/labels", "y"}}));
  EXPECT_THAT(extract_members(path, {{"images", 10}, {"labels", 10}}, out()), ElementsAre("images", "labels"));
  EXPECT_EQ(read_file(out() / "images") + read_file(out() / "labels"), "xy");
  EXPECT_FALSE(std::filesystem::exists(folder.path().parent_path() / "images"));
}

TEST_F(Archive, ADebianPackageIsAnArchiveInAnArchive) {
  const std::string content = pack(Packing::tar_xz, {{"./usr/share/x/images.gz", gzip(noise(5000, 2))}});
  const auto path = save("a.deb", pack(Packing::ar, {{"debian-binary", "2.0\n"}, {"data.tar.xz", content}}));
  unpack_standard_files(path, {{.name = "images", .bytes = 5000}}, out());
  decompress(out() / "images.gz", out() / "images", 5000);
  EXPECT_EQ(read_file(out() / "images"), noise(5000, 2));
}

TEST_F(Archive, LongMembersAreRefused) {
  const auto path = save("a.tgz", pack(Packing::tar_gzip, {{"images", std::string(1 << 20, 'x')}}));
  EXPECT_THAT(thrown_error([&] { extract_members(path, {{"images", 1000}}, out()); }), HasSubstr("images is longer than 1000 bytes"));
  const auto packed = save("b.gz", gzip(std::string(1 << 20, 'x')));
  EXPECT_THAT(thrown_error([&] { decompress(packed, out() / "b", 1000); }), HasSubstr("data_loss: "));
}

TEST_F(Archive, DamageIsFound) {
  const std::string good = pack(Packing::tar_gzip, {{"images", noise(50000, 3)}});
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{20}, good.size() / 2}) {
    const auto path = save("a.tgz", good.substr(0, length));
    const std::string fault = thrown_error([&] {
      if (extract_members(path, {{"images", 50000}}, out()).empty()) throw Error{data_loss, "nothing"};
    });
    EXPECT_THAT(fault, HasSubstr("data_loss: ")) << length;
  }
  const std::string packed = gzip(noise(50000, 4));
  EXPECT_THAT(thrown_error([&] { decompress(save("b.gz", packed.substr(0, packed.size() / 2)), out() / "b", 50000); }),
              HasSubstr("b.gz: truncated"));
  EXPECT_THAT(thrown_error([&] { decompress(save("b.gz", ""), out() / "b", 50000); }), HasSubstr("data_loss: "));
}

}  // namespace
}  // namespace trireme::fetch
