// SPDX-License-Identifier: Apache-2.0
// Tests of the commands that look back at runs: runs, diff, report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "trireme/base/file_lock.h"
#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/cli/browser.h"
#include "trireme/cli/run_list.h"
#include "trireme/cli/testing/program.h"
#include "trireme/report/testing/made_run.h"
#include "trireme/run/terminal/exit_code.h"
#include "trireme/web/page.h"

namespace trireme::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Two runs in a folder, whose cache is the folder's own.
class RunsCommands : public testing::Test {
 protected:
  RunsCommands() {
    ::setenv("XDG_CACHE_HOME", (made_.path() / "cache").c_str(), 1);
    made_.begin(1'700'000'000);
    made_.epoch(1'700'000'010, 1, 0.9);
    made_.end(1'700'000'020);
    std::filesystem::create_directories(runs_);
    for (const char* name : {"first", "second"}) {
      std::filesystem::create_directory(runs_ / name);
      for (const char* file : {"config.toml", "journal.jsonl"}) std::filesystem::copy(made_.path() / file, runs_ / name / file);
    }
    write_file_atomically(runs_ / "second" / "config.toml", "[train]\nbatch_size = 16   # --set\nseed = 1 # default\n");
    std::filesystem::create_directory_symlink("second", runs_ / "latest");
  }
  ~RunsCommands() override { ::unsetenv("XDG_CACHE_HOME"); }

  std::string path(const char* name) const { return (runs_ / name).string(); }

  const report::MadeRun made_;
  const std::filesystem::path runs_ = made_.path() / "runs";
};

TEST_F(RunsCommands, ListRunsWithTheirOutcome) {
  const Result table = run({"runs", runs_.string()});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("first"), HasSubstr("second"), HasSubstr("finished"), HasSubstr("80.00 % (1)"), HasSubstr("2/2"),
                               HasSubstr("2023-11-1")));
  EXPECT_THAT(table.out, Not(HasSubstr("latest")));
  const Json json = parse_json(run({"runs", runs_.string(), "--json", "--find", "first digits"}).out);
  ASSERT_EQ(json["entries"].size(), 1U);
  EXPECT_EQ(json["entries"][0]["outcome"], "finished");
  EXPECT_DOUBLE_EQ(json["entries"][0]["accuracy"].get<double>(), 0.8);
  EXPECT_EQ(run({"runs", runs_.string(), "--outcome", "killed"}).err, "no run in " + runs_.string() + " matches\n");
  std::filesystem::create_directory(runs_ / "empty");
  EXPECT_EQ(run({"runs", path("empty")}).err, "there is no run in " + path("empty") + "\n");
  EXPECT_EQ(parse_json(run({"runs", runs_.string(), "--json", "--limit", "1"}).out)["entries"].size(), 1U);
  EXPECT_EQ(parse_json(run({"runs", runs_.string(), "--json", "--since", "1h"}).out)["entries"].size(), 0U);
}

TEST(RunTable, FitsIntoTheTerminal) {
  report::RunEntry entry;
  entry.name = "kana-20261119-230809";
  entry.summary.model = "mnist_cnn";
  entry.summary.data = "image_folder";
  entry.summary.strategy = "local";
  EXPECT_THAT(table_of({entry}), AllOf(HasSubstr("strategy"), HasSubstr("best (epoch)"), Not(HasSubstr("note"))));
  const std::string narrow = table_of({entry}, 80);
  EXPECT_LE(narrow.find('\n'), 80U);
  EXPECT_THAT(narrow, AllOf(Not(HasSubstr("strategy")), HasSubstr("outcome"), HasSubstr("accuracy")));
  EXPECT_THAT(table_of({entry}, 1), AllOf(HasSubstr("run"), HasSubstr("outcome")));
}

TEST_F(RunsCommands, LongSettingsAreShownWhereTheyDiffer) {
  write_file_atomically(runs_ / "first" / "config.toml", "[model]\nlayers = \"" + std::string(100, 'x') + "one\"\n");
  write_file_atomically(runs_ / "second" / "config.toml", "[model]\nlayers = \"" + std::string(100, 'x') + "two\"\n");
  EXPECT_THAT(run({"diff", path("first"), path("second")}).out,
              AllOf(HasSubstr("…xxx"), HasSubstr("xone"), HasSubstr("xtwo"), Not(HasSubstr(std::string(50, 'x')))));
}

TEST_F(RunsCommands, WrongWordsSayWhatIsRight) {
  EXPECT_THAT(run({"runs", path("none")}).err, HasSubstr("there is no folder"));
  EXPECT_EQ(run({"runs", path("none")}).code, run::exit_usage);
  EXPECT_THAT(run({"runs", runs_.string(), "--since", "soon"}).err, HasSubstr("2026-11-17"));
  EXPECT_EQ(run({"runs", runs_.string(), "--sort", "size"}).code, run::exit_usage);
  EXPECT_EQ(run({"runs", "note", path("none"), "x"}).code, run::exit_usage);
  EXPECT_EQ(run({"runs", "delete"}).code, run::exit_usage);
}

TEST_F(RunsCommands, ANoteIsShown) {
  EXPECT_EQ(run({"runs", "note", path("latest"), "twice the batch"}).out, "second: twice the batch\n");
  EXPECT_THAT(run({"runs", runs_.string()}).out, HasSubstr("twice the batch\n"));
  EXPECT_EQ(run({"runs", "note", path("second"), ""}).out, "second: no note\n");
}

TEST_F(RunsCommands, DeletingAsksFreesAndKeepsLatest) {
  EXPECT_EQ(run({"runs", "delete", path("second")}).code, run::exit_preflight) << "a test has no terminal";
  EXPECT_TRUE(std::filesystem::exists(path("second")));
  write_file_atomically(runs_ / "second" / "checkpoints" / "model", std::string(1 << 20, 'x'));
  const Result result = run({"runs", "delete", "--yes", path("latest"), path("second")});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("deleted 1 run; 1.0 MiB are free again"));
  EXPECT_FALSE(std::filesystem::exists(path("second")));
  EXPECT_EQ(std::filesystem::read_symlink(path("latest")), "first");
  EXPECT_EQ(run({"runs", "delete", "--yes", path("first")}).code, 0);
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(runs_)) left.push_back(entry.path().filename().string());
  EXPECT_THAT(left, ElementsAre());
}

TEST_F(RunsCommands, DeletingRefusesWhatIsLiveOrNoRun) {
  FileLock lock(runs_ / "first" / "lock");
  ASSERT_TRUE(lock.try_lock());
  const Result live = run({"runs", "delete", "--yes", path("second"), path("first")});
  EXPECT_EQ(live.code, run::exit_preflight);
  EXPECT_THAT(live.err, HasSubstr("is being trained; nothing is deleted"));
  std::filesystem::create_directory(runs_ / "mine");
  EXPECT_THAT(run({"runs", "delete", "--yes", path("second"), path("mine")}).err, HasSubstr("is no run"));
  for (const char* name : {"first", "second", "mine"}) EXPECT_TRUE(std::filesystem::exists(path(name))) << name;
}

TEST_F(RunsCommands, DiffShowsBothSides) {
  const Result text = run({"diff", path("first"), path("second")});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("train.batch_size"), HasSubstr("16"), HasSubstr("accuracy (validation)"), HasSubstr("80.00 %")));
  EXPECT_THAT(text.out, Not(HasSubstr("train.seed")));
  const Json json = parse_json(run({"diff", path("first"), path("second"), "--json"}).out);
  EXPECT_EQ(json["settings"][0]["values"], Json({"8", "16"}));
  EXPECT_THAT(run({"diff", path("first"), path("first")}).out, HasSubstr("no setting differs"));
  EXPECT_EQ(run({"diff", path("first")}).code, run::exit_usage);
  EXPECT_THAT(run({"diff", path("first")}).err, HasSubstr("two runs are compared, 1 is given"));
  EXPECT_THAT(run({"diff", path("first"), path("second"), path("first")}).err, HasSubstr("3 are given; `trireme report RUN...`"));
}

TEST_F(RunsCommands, AReportIsAPageInTheRun) {
  if (!web::page_absence().empty()) GTEST_SKIP() << web::page_absence();
  const Result result = run({"report", path("first"), "--no-open"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, path("first") + "/report.html\n");
  EXPECT_THAT(read_file(path("first") + "/report.html"), HasSubstr("<!doctype html>"));
  const std::string elsewhere = path("page.html");
  EXPECT_EQ(run({"report", path("first"), "-o", elsewhere}).out, elsewhere + "\n");
  EXPECT_TRUE(std::filesystem::exists(elsewhere));
  EXPECT_THAT(run({"report", path("first"), "-o", path("first") + "/config.toml/x.html"}).err, HasSubstr("-o FILE"));
}

TEST_F(RunsCommands, AReportForTheTerminalWritesNothing) {
  EXPECT_THAT(run({"report", path("first"), "--markdown"}).out, AllOf(HasSubstr("mlp"), Not(HasSubstr("<html"))));
  EXPECT_EQ(parse_json(run({"report", path("first"), "--json"}).out)["run"]["model"], "mlp");
  EXPECT_THAT(run({"report", path("first"), path("second")}).out, AllOf(HasSubstr("2 runs"), Not(HasSubstr("<html"))));
  EXPECT_FALSE(std::filesystem::exists(path("first") + "/report.html"));
}

TEST(BrowserCommands, FollowTheVariable) {
  EXPECT_THAT(browser_commands("", "a b.html"), ElementsAre(ElementsAre("xdg-open", "a b.html")));
  EXPECT_THAT(browser_commands("firefox: :chromium --app=%s --new", "a b.html"),
              ElementsAre(ElementsAre("firefox", "a b.html"), ElementsAre("chromium", "--app=a b.html", "--new"),
                          ElementsAre("xdg-open", "a b.html")));
}

}  // namespace
}  // namespace trireme::cli
