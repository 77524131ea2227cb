// SPDX-License-Identifier: Apache-2.0
// Tests of manual pages; tests/install/ has groff read them all.
#include "trireme/cli/manual_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/cli/testing/program.h"

namespace trireme::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(ManualPage, OfACommand) {
  const CommandDescription command{
      .name = "sail",
      .summary = "go with the wind",
      .arguments = {
          {.names = {"place"}, .value = "PLACE", .help = "where to", .takes_value = true, .is_positional = true, .is_required = true},
          {.names = {"-k", "--knots"},
           .value = "COUNT",
           .help = ".5 isn't enough",
           .default_value = "7",
           .limits = "INT in [1 - 40]",
           .takes_value = true},
          {.names = {"--anchor"}, .help = "stay", .is_hidden = true}}};
  const std::string page = manual_page(command);
  EXPECT_THAT(page, StartsWith(".TH TRIREME\\-SAIL 1 "));
  EXPECT_THAT(page, HasSubstr("\n\\fBtrireme sail\\fR [\\fIOPTION\\fR ...] \\fIPLACE\\fR\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fIPLACE\\fR\nWhere to.\n"));
  EXPECT_THAT(page,
              HasSubstr(".TP\n\\fB\\-k\\fR, \\fB\\-\\-knots\\fR \\fICOUNT\\fR\n\\&.5 isn\\(aqt enough. Default: 7. In [1 \\- 40].\n"));
  EXPECT_THAT(page, Not(HasSubstr("anchor")));
}

TEST(ManualPage, OfTheProgramNamesEveryCommand) {
  const std::string page = run({"man"}).out;
  for (const CommandEntry& entry : commands::catalog()) {
    if (entry.is_hidden) continue;
    const Result own = run({"man", std::string(entry.name)});
    EXPECT_EQ(own.code, 0);
    EXPECT_THAT(own.out, HasSubstr(".SH SYNOPSIS\n\\fBtrireme "));
  }
  EXPECT_THAT(page, HasSubstr("\\fBtrireme\\-switch\\fR(1)"));
  EXPECT_EQ(run({"man", "sail"}).code, 2);
  EXPECT_EQ(run({"man", "train", "--out", "x"}).code, 2);
}

}  // namespace
}  // namespace trireme::cli
