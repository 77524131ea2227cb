// SPDX-License-Identifier: Apache-2.0
// Tests of what `trireme version` says.
#include "trireme/cli/version_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/cli/testing/program.h"

namespace trireme::cli {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST(Version, EveryLibraryHasOne) {
  const VersionFacts facts = version_facts();
  EXPECT_GE(facts.libraries.size(), 15U);
  for (const LibraryVersion& library : facts.libraries) EXPECT_THAT(library.version, MatchesRegex("[0-9]+[.][0-9.a-z-]+")) << library.name;
  EXPECT_THAT(facts.instruction_set.name, MatchesRegex("[A-Z0-9_]+"));
  EXPECT_GE(facts.cores, 1);
}

TEST(Version, ForPeopleAndPrograms) {
  const Result text = run({"version"});
  EXPECT_EQ(text.code, 0);
  for (const char* part : {"commit           ", "oneDNN", "gRPC", "protobuf", "OpenSSL", "mpi", "page", "failpoints"})
    EXPECT_THAT(text.out, HasSubstr(part));
  const Json document = parse_json(run({"version", "--json"}).out);
  EXPECT_THAT(document["commit"].get<std::string>(), MatchesRegex("unknown|[0-9a-f]+"));
  EXPECT_TRUE(document["features"]["page"].is_boolean());
  EXPECT_FALSE(document["libraries"]["oneDNN"].get<std::string>().empty());
}

TEST(Version, SharedLibrariesAreThoseThatAreShipped) {
  const std::string list = run({"version", "--shared-libraries"}).out;
  EXPECT_THAT(list, HasSubstr("libdnnl.so."));
  EXPECT_THAT(list, Not(HasSubstr("libc.so.6")));
}

}  // namespace
}  // namespace trireme::cli
