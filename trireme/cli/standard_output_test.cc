// SPDX-License-Identifier: Apache-2.0
// Output to a full device and to a pipe that nothing reads.
#include "trireme/cli/standard_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <sstream>
#include <string>

namespace trireme::cli {
namespace {

using testing::HasSubstr;

struct Output {
  explicit Output(std::FILE* to) : file(to, &std::fclose), output(stream, to, err) {}

  std::ostringstream err;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file;
  std::ostringstream other;
  std::ostream stream{other.rdbuf()};
  StandardOutput output;
};

TEST(StandardOutput, OfAFullDeviceIsAnErrorOnce) {
  Output to(std::fopen("/dev/full", "w"));
  for (int i = 0; i < 100; ++i) to.stream << "line " << i << std::endl;
  EXPECT_TRUE(to.stream.good());
  EXPECT_EQ(to.output.finish(0), 1);
  EXPECT_EQ(to.output.finish(3), 3) << "a command that has failed says why by itself";
  EXPECT_THAT(to.err.str(), HasSubstr("No space left on device"));
  EXPECT_EQ(to.err.str().find("error"), to.err.str().rfind("error"));
}

TEST(StandardOutput, WhatIsLeftAtTheEndCountsToo) {
  Output to(std::fopen("/dev/full", "w"));
  to.stream << "short" << '\n';
  EXPECT_EQ(to.err.str(), "");
  EXPECT_EQ(to.output.finish(0), 1);
  EXPECT_THAT(to.err.str(), HasSubstr("not complete"));
}

TEST(StandardOutput, OfAClosedPipeIsANote) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  Output to(::fdopen(ends[1], "w"));
  to.stream << "one\n" << std::flush << "two\n" << std::flush;
  EXPECT_EQ(to.output.finish(0), 0);
  EXPECT_THAT(to.err.str(), HasSubstr("nothing reads the output"));
  std::signal(SIGPIPE, before);
}

TEST(StandardOutput, OtherwiseWritesEverythingInOrder) {
  std::FILE* file = std::tmpfile();
  std::string text(10, '\0');
  {
    Output to(::fdopen(::dup(::fileno(file)), "w"));
    to.stream << "ab" << 12 << 'c' << std::flush;
    to.stream << "d\n";
    EXPECT_EQ(to.output.finish(0), 0);
    EXPECT_EQ(to.err.str(), "");
  }
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  EXPECT_EQ(text, "ab12cd\n");
  std::fclose(file);
}

}  // namespace
}  // namespace trireme::cli
