// SPDX-License-Identifier: Apache-2.0
// Tests of configuration trees: order, places, settings from outside.
#include "trireme/base/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"

namespace trireme {
namespace {

constexpr std::string_view kJob =
    "[train]\nepochs = 3\nbatch_size = 32\n\n[model]\nname = 'resnet'\n\n[[layer]]\nop = 'a'\n[[layer]]\nop = 'b'\n";

TEST(Config, KeepsTheOrderOfTheFile) {
  const Config job = Config::parse_toml(kJob, "job.toml");
  std::vector<std::string> keys;
  for (const auto& [key, value] : job.table()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"train", "model", "layer"}));
  EXPECT_EQ(job.at("train").table()[0].first, "epochs");
}

TEST(Config, KnowsWhereEachValueStands) {
  const Config job = Config::parse_toml(kJob, "job.toml");
  EXPECT_EQ(job.at("train").at("batch_size").origin(), "job.toml:3");
  EXPECT_EQ(job.at("layer").list()[1].at("op").origin(), "job.toml:11");
}

TEST(Config, TypesAreChecked) {
  const Config job = Config::parse_toml("a = 1\nb = 1.5\nc = 'x'", "job.toml");
  EXPECT_EQ(job.at("a").real(), 1.0);
  EXPECT_EQ(thrown_error([&] { job.at("b").integer(); }), "invalid_argument: job.toml:2: expected a whole number, found the number 1.5");
  EXPECT_EQ(thrown_error([&] { job.at("c").table(); }), "invalid_argument: job.toml:3: expected a table, found the text \"x\"");
  EXPECT_EQ(thrown_error([&] { job.at("d"); }), "invalid_argument: job.toml:1: 'd' is missing");
  EXPECT_EQ(job.find("d"), nullptr);
}

TEST(Config, SyntaxErrorsNameTheLine) {
  EXPECT_TRUE(thrown_error([] { Config::parse_toml("a = 1\nb = = 2", "job.toml"); }).starts_with("invalid_argument: job.toml:2: "));
}

TEST(Config, RenameKeepsValueAndOrigin) {
  Config config = Config::parse_toml("[data]\npath = 'a'\n", "job.toml");
  config.rename("data.path", "train");
  config.rename("data.none", "x");
  config.rename("none.path", "x");
  EXPECT_EQ(config.to_toml(), R"({ "data" = { "train" = "a" } })");
  EXPECT_EQ(config.at("data").at("train").origin(), "job.toml:2");
}

TEST(Config, SetChangesOrAddsAndRemembersWhy) {
  Config job = Config::parse_toml(kJob, "job.toml");
  job.set("train.epochs", "5", "--set");
  job.set("train.optimizer", "adam", "--set");
  job.set("data.path", "'a b'", "--set");
  EXPECT_EQ(job.at("train").at("epochs").integer(), 5);
  EXPECT_EQ(job.at("train").at("epochs").origin(), "--set");
  EXPECT_EQ(job.at("train").at("optimizer").text(), "adam");
  EXPECT_EQ(job.at("data").at("path").text(), "a b");
  EXPECT_EQ(thrown_error([&] { job.set("train.epochs.x", "1", "--set"); }), "invalid_argument: --set: 'x' names no setting");
}

TEST(Config, DeepKeysAndLongTextsAreRefused) {
  const auto dotted = [](int dots) {
    std::string key = "a";
    for (int i = 0; i < dots; ++i) key += ".a";
    return key;
  };
  EXPECT_EQ(thrown_error([&] { Config::parse_toml("x = 1\n" + dotted(100000) + " = 1", "job.toml"); }),
            "invalid_argument: job.toml:2: a key has more than 8 dots");
  for (const std::string& text : {"[" + dotted(100000) + "]", "x = {" + dotted(100000) + " = 1}", "[[" + dotted(9) + "]]"})
    EXPECT_THAT(thrown_error([&] { Config::parse_toml(text, "job.toml"); }), testing::HasSubstr("more than 8 dots"));
  // The deepest that is let through: values nested as deep as toml++ allows, each under a key as deep as we do.
  std::string deepest;
  for (int i = 0; i < 250; ++i) deepest += (i == 0 ? "" : "{") + dotted(8) + " = ";
  EXPECT_EQ(thrown_error([&] { Config::parse_toml(deepest + "1" + std::string(249, '}'), "job.toml"); }), "no error");
  const std::string many(200, '.');
  EXPECT_EQ(Config::parse_toml("x = \"" + many + "\"  # " + many + "\ny = [1.5, 2.5]", "job.toml").at("x").text(), many);
  EXPECT_THAT(thrown_error([&] { Config::parse_toml(std::string(5 << 20, ' '), "job.toml"); }), testing::HasSubstr("at most 4194304"));
}

TEST(Config, MissingFileIsNotFound) {
  EXPECT_EQ(thrown_error([] { Config::load_toml("/nonexistent/job.toml"); }),
            "not_found: cannot read /nonexistent/job.toml: No such file or directory");
}

}  // namespace
}  // namespace trireme
