// SPDX-License-Identifier: Apache-2.0
// Tests of the command line as a user meets it: output, messages, exit codes.
#include "trireme/cli/application.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/cli/testing/program.h"
#include "trireme/run/terminal/exit_code.h"

namespace trireme::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Application, HelpAndVersion) {
  const Result help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const CommandEntry& entry : commands::catalog()) EXPECT_EQ(help.out.find(entry.summary) == std::string::npos, entry.is_hidden);
  EXPECT_THAT(run({"--version"}).out, testing::MatchesRegex("trireme [0-9]+.[0-9]+.[0-9]+\n"));
  EXPECT_EQ(run({}).code, 2);
  for (const CommandEntry& entry : commands::catalog()) EXPECT_EQ(run({entry.name.data(), "--help"}).code, 0) << entry.name;
}

TEST(Application, WrongCommandsAreUsageErrors) {
  const Result slip = run({"descibe", "x"});
  EXPECT_EQ(slip.code, 2);
  EXPECT_THAT(slip.err, StartsWith("trireme: error: there is no command 'descibe'; did you mean 'describe'? (commands: "));
  for (const CommandEntry& entry : commands::catalog())
    EXPECT_EQ(slip.err.find(entry.name) == std::string::npos, entry.is_hidden) << entry.name;
  const Result option = run({"list", "--colour"});
  EXPECT_EQ(option.code, 2);
  EXPECT_EQ(option.err, "trireme: error: The following argument was not expected: --colour\nTry 'trireme list --help'.\n");
}

TEST(Application, ErrorCodesBecomeExitCodes) {
  EXPECT_EQ(run::exit_code_of(ok), 0);
  EXPECT_EQ(run::exit_code_of(unavailable), 1);
  EXPECT_EQ(run::exit_code_of(invalid_argument), 2);
  EXPECT_EQ(run::exit_code_of(not_found), 2);
  EXPECT_EQ(run::exit_code_of(failed_precondition), 3);
  EXPECT_EQ(run::exit_code_of(cancelled), 130);
}

TEST(Describe, ShowsLayersAndTotals) {
  const Result result = run({"describe", "mnist_cnn", "--batch-size", "64"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("conv2d_2    conv2d    64x24x24      18,496"));
  EXPECT_THAT(result.out, HasSubstr("1,199,882"));
  EXPECT_THAT(result.out, HasSubstr("for a batch of 64"));
}

TEST(Describe, FoldsLongModelsUnlessAsked) {
  EXPECT_THAT(run({"describe", "resnet50"}).out, HasSubstr("stage4/block3"));
  EXPECT_THAT(run({"describe", "resnet50"}).out, Not(HasSubstr("stage4/block3/relu_3")));
  EXPECT_THAT(run({"describe", "resnet50", "--all"}).out, HasSubstr("stage4/block3/relu_3"));
}

TEST(Describe, JsonIsExact) {
  const Result result = run({"describe", "resnet", "--set", "model.depth=50", "--json"});
  const Json document = parse_json(result.out);
  EXPECT_EQ(document["parameters"], 760266);
  EXPECT_EQ(document["layers"][0]["shape"], Json({3, 32, 32}));
  EXPECT_EQ(document["layers"].back()["inputs"], Json({"global_average_pool_1"}));
}

TEST(Describe, ReadsAJobFile) {
  const auto path = std::filesystem::temp_directory_path() / ("trireme_describe_" + std::to_string(::getpid()) + ".toml");
  write_file_atomically(path, "[model]\nname = 'mlp_128'\n[train]\nepochs = 3\n");
  EXPECT_THAT(run({"describe", path.c_str(), "--set", "model.classes=7"}).out, HasSubstr("101,383"));
  write_file_atomically(path, "[train]\nepochs = 3\n");
  EXPECT_EQ(run({"describe", path.c_str()}).err, "trireme: error: " + path.string() + ": the table [model] is missing\n");
  std::filesystem::remove(path);
  EXPECT_EQ(run({"describe", path.c_str()}).code, 2);
}

TEST(Describe, SaysWhatIsWrong) {
  EXPECT_THAT(run({"describe", "resnett"}).err, HasSubstr("there is no model 'resnett'; did you mean 'resnet'? (models: densenet, "));
  EXPECT_EQ(run({"describe", "resnett"}).code, 2);
  EXPECT_EQ(run({"describe", "resnet", "--set", "depth=50"}).err,
            "trireme: error: --set depth=50: write it as table.key=value, e.g. --set model.depth=50\n");
  EXPECT_EQ(run({"describe", "resnet", "--set", "model.depth=x"}).err,
            "trireme: error: --set model.depth=x: expected a whole number, found the text \"x\"\n");
  EXPECT_EQ(run({"describe", "resnet", "--batch-size", "0"}).code, 2);
}

TEST(List, ShowsCataloguesWithOptions) {
  EXPECT_THAT(run({"list"}).out, HasSubstr("densenet"));
  EXPECT_THAT(run({"list", "ops"}).out, HasSubstr("filters   required"));
  EXPECT_THAT(run({"list", "ops"}).out, Not(HasSubstr("densenet")));
  const Json document = parse_json(run({"list", "models", "--json"}).out);
  EXPECT_EQ(document["models"][0]["options"][0]["default"], "40");
  EXPECT_EQ(run({"list", "foo"}).code, 2);
}

}  // namespace
}  // namespace trireme::cli
