// SPDX-License-Identifier: Apache-2.0
// Tests of completion: which argument a word belongs to, and what it may become. tests/install/ has those in real shells.
#include "trireme/cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "trireme/base/files.h"
#include "trireme/cli/testing/program.h"

namespace trireme::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

Completions of(const std::vector<std::string>& words) { return complete(describe_commands(), words); }

std::vector<std::string> texts(const std::vector<std::string>& words) {
  std::vector<std::string> list;
  for (const Candidate& candidate : of(words).candidates) list.push_back(candidate.text);
  return list;
}

TEST(Completion, Commands) {
  EXPECT_THAT(texts({"pr"}), ElementsAre("predict"));
  EXPECT_THAT(texts({""}), AllOf(Contains("train"), Contains("switch"), Not(Contains("node")), Not(Contains("complete"))));
  EXPECT_THAT(texts({"--"}), ElementsAre("--help", "--version"));
  EXPECT_THAT(texts({"nothing", ""}), IsEmpty());
  EXPECT_THAT(texts({"export", "s"}), ElementsAre("sbatch"));
}

TEST(Completion, CommandsThatDoWithoutTheirSubcommands) {
  EXPECT_THAT(texts({"runs", "no"}), ElementsAre("note"));
  EXPECT_EQ(of({"runs", ""}).paths, Paths::folders);
  EXPECT_THAT(texts({"runs", "delete", "--y"}), ElementsAre("--yes"));
  EXPECT_THAT(texts({"runs", "some/folder", "--outcome", "fi"}), ElementsAre("finished"));
  EXPECT_THAT(texts({"runs", "some/folder", "no"}), IsEmpty());
}

TEST(Completion, Options) {
  EXPECT_THAT(texts({"train", "job.toml", "--no"}), ElementsAre("--nodes"));
  EXPECT_THAT(texts({"train", "--"}), AllOf(Contains("--resume"), Contains("--help"), Not(Contains("--events"))));  // that is hidden
  EXPECT_THAT(texts({"train", "--nodes", "2", "--no"}), IsEmpty()) << "given already";
  EXPECT_THAT(texts({"train", "--set", "a.b=1", "--se"}), Contains("--set")) << "may be given again";
  EXPECT_THAT(texts({"export", "sbatch", "--part"}), ElementsAre("--partition"));
  EXPECT_THAT(texts({"train", "--nodes", "--re"}), Contains("--resume")) << "no value begins with a dash";
  EXPECT_THAT(texts({"list", "models", ""}), Contains("--json")) << "no further words, so options";
}

TEST(Completion, ValuesOfOptions) {
  EXPECT_THAT(texts({"train", "job.toml", "--strategy", "local_"}), ElementsAre("local_sgd"));
  EXPECT_THAT(texts({"train", "job.toml", "--strategy=local_"}), ElementsAre("--strategy=local_sgd"));
  EXPECT_THAT(texts({"train", "--launcher", "s"}), ElementsAre("slurm", "ssh"));
  EXPECT_THAT(texts({"eval", "RUN", "--part", "te"}), ElementsAre("test"));
  EXPECT_THAT(texts({"train", "-n", ""}), IsEmpty());
  EXPECT_THAT(texts({"convert", "--to", "tf"}), ElementsAre("tfrecord"));
}

TEST(Completion, PositionalValues) {
  EXPECT_THAT(texts({"list", "opt"}), ElementsAre("optimizers"));
  EXPECT_THAT(texts({"fetch", "cif"}), ElementsAre("cifar10"));
  EXPECT_THAT(texts({"fetch", "mnist", "cif"}), ElementsAre("cifar10")) << "several may follow each other";
  EXPECT_THAT(texts({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(texts({"man", "swi"}), ElementsAre("switch"));
  EXPECT_THAT(texts({"describe", "resnet5"}), Contains("resnet50"));
}

TEST(Completion, Settings) {
  EXPECT_THAT(texts({"train", "--set", "train.epo"}), ElementsAre("train.epochs="));
  EXPECT_THAT(texts({"train", "--set", "train.optimizer=adam"}), ElementsAre("train.optimizer=adam", "train.optimizer=adamw"));
  EXPECT_THAT(texts({"train", "--set", "model.name=resnet5"}), Contains("model.name=resnet50"));
  EXPECT_THAT(texts({"train", "--set", "data.augment.flip="}), ElementsAre("data.augment.flip=true", "data.augment.flip=false"));
  EXPECT_THAT(texts({"train", "--set", "no.such=", ""}), Not(Contains(StartsWith("no.such"))));
}

TEST(Completion, Paths) {
  EXPECT_EQ(of({"train", ""}).paths, Paths::files);
  EXPECT_THAT(of({"train", ""}).endings, ElementsAre("toml"));
  EXPECT_EQ(of({"train", "job.toml", "--runs", ""}).paths, Paths::folders);
  EXPECT_EQ(of({"report", "RUN", "-o", ""}).paths, Paths::files);
  EXPECT_THAT(of({"report", "RUN", "-o", ""}).endings, IsEmpty());
  EXPECT_EQ(of({"describe", "res"}).paths, Paths::files) << "a model or a job file";
}

TEST(Completion, RunsHere) {
  const auto folder = std::filesystem::temp_directory_path() / ("trireme_completion_" + std::to_string(::getpid()));
  for (const char* name : {"a-1", "a-2"}) {
    std::filesystem::create_directories(folder / name);
    write_file_atomically(folder / name / "config.toml", "");
    write_file_atomically(folder / name / "journal.jsonl", "");
  }
  std::filesystem::create_directories(folder / "a-other");
  const std::string start = (folder / "a-").string();
  EXPECT_THAT(texts({"report", start}), ElementsAre(start + "2", start + "1")) << "the latest first";
  EXPECT_THAT(texts({"report", start + "1", start}), ElementsAre(start + "2", start + "1"));
  EXPECT_EQ(of({"report", start}).paths, Paths::folders);
  std::filesystem::remove_all(folder);
}

TEST(Completion, LinesForScripts) {
  EXPECT_EQ(to_lines({.candidates = {{"a", "first\nline"}, {"b", ""}}, .paths = Paths::files, .endings = {"png", "jpg"}}),
            "files png jpg\na\tfirst line\nb\t\n");
  EXPECT_EQ(run({"complete", "--", "list", "opt"}).out, "none\noptimizers\t\n");
  EXPECT_THAT(run({"complete", "--", ""}).out, testing::HasSubstr("\ntrain\ttrain a model"));
  EXPECT_EQ(run({"complete", "--", "train", "--strategy", "local_"}).out.substr(0, 15), "none\nlocal_sgd\t");
  EXPECT_EQ(run({"complete", "--", "train", ""}).out, "files toml\n");
}

TEST(Completion, ScriptsOfShells) {
  for (const char* shell : {"bash", "zsh", "fish"}) EXPECT_THAT(run({"completion", shell}).out, testing::HasSubstr("complete -- "));
  EXPECT_EQ(run({"completion", "csh"}).code, 2);
  EXPECT_EQ(run({"completion"}).code, 2);
}

// Whatever a command declares, completion walks through it.
TEST(Completion, EveryOptionOfEveryCommand) {
  for (const CommandDescription& command : describe_commands()) {
    for (const ArgumentDescription& argument : command.arguments) {
      EXPECT_FALSE(argument.names.empty());
      EXPECT_EQ(argument.takes_value, !argument.value.empty()) << command.name << " " << argument.names.back();
      if (argument.is_positional || argument.is_hidden || !command.subcommands.empty()) continue;
      EXPECT_THAT(texts({command.name, argument.names.back()}), Contains(testing::AnyOfArray(argument.names))) << command.name;
    }
  }
}

}  // namespace
}  // namespace trireme::cli
