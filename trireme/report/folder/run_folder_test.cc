// SPDX-License-Identifier: Apache-2.0
// Tests of lists of runs: outcomes, measures, the cache, filters and orders.
#include "trireme/report/folder/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "trireme/base/file_lock.h"
#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/report/folder/run_difference.h"
#include "trireme/report/folder/run_filter.h"
#include "trireme/report/read/run_reader.h"
#include "trireme/report/testing/made_run.h"

namespace trireme::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RunEntry entry_of(const MadeRun& run) { return RunFolder(run.path()).look().at(0); }

void train(const MadeRun& run) {
  run.begin(100, 2, "ps:async");
  for (int step = 1; step <= 20; ++step) {
    run.step(100 + 0.1 * step, step, 2 - 0.05 * step);
    if (step % 10 == 0) run.epoch(100 + 0.1 * step + 0.05, step / 10, step == 10 ? 0.9 : 0.8);
  }
}

TEST(RunFolder, AFinishedRunHasItsOutcomeAndBestEpoch) {
  const MadeRun run;
  train(run);
  run.journal(103, "test", {{"samples", std::int64_t{20}}, {"loss", 0.75}, {"accuracy", 0.6}, {"step", std::int64_t{20}}});
  run.end(104);
  const RunEntry entry = entry_of(run);
  EXPECT_EQ(entry.outcome, Outcome::finished);
  EXPECT_EQ(entry.summary.model, "mlp");
  EXPECT_EQ(entry.summary.strategy, "ps:async");
  EXPECT_EQ(entry.summary.workers, 2);
  EXPECT_EQ(entry.summary.epochs_done, 2);
  EXPECT_EQ(entry.summary.epochs, 2);
  EXPECT_EQ(entry.summary.step, 20);
  EXPECT_EQ(entry.summary.ended, 104);
  EXPECT_EQ(entry.summary.seconds, 2);
  EXPECT_EQ(entry.measured_on(), "test");
  EXPECT_EQ(entry.loss(), 0.75);
  EXPECT_EQ(entry.accuracy(), 0.6);
  EXPECT_EQ(entry.best().epoch, 1);
  EXPECT_DOUBLE_EQ(entry.best().accuracy, 0.8);
}

TEST(RunFolder, OutcomesFollowFromLockAndEnd) {
  const MadeRun run;
  EXPECT_EQ(entry_of(run).outcome, Outcome::killed) << "it has recorded nothing";
  train(run);
  EXPECT_EQ(entry_of(run).outcome, Outcome::killed);
  EXPECT_EQ(entry_of(run).summary.step, 20);
  {
    FileLock lock(run.path() / "lock");
    ASSERT_TRUE(lock.try_lock());
    EXPECT_EQ(entry_of(run).outcome, Outcome::running);
  }
  for (const auto& [reason, outcome] : {std::pair{"interrupted", Outcome::stopped}, std::pair{"until", Outcome::stopped},
                                        std::pair{"failed", Outcome::failed}, std::pair{"quorum_lost", Outcome::failed},
                                        std::pair{"stopped early", Outcome::finished}, std::pair{"completed", Outcome::finished}}) {
    run.end(110, reason);
    EXPECT_EQ(entry_of(run).outcome, outcome) << reason;
  }
}

TEST(RunFolder, ALaterRecordOfAnEpochCounts) {
  const MadeRun run;
  train(run);
  run.end(104, "interrupted");
  run.journal(110, "resume", {{"step", std::int64_t{0}}, {"epoch", std::int64_t{1}}, {"checkpoint", "step-0"}});
  EXPECT_EQ(entry_of(run).summary.reason, "");
  EXPECT_EQ(entry_of(run).summary.epochs_done, 0);
  run.epoch(111, 1, 0.7);
  const RunEntry entry = entry_of(run);
  EXPECT_DOUBLE_EQ(entry.best().accuracy, 0.6);
  EXPECT_EQ(entry.summary.scores.size(), 1U);
}

TEST(RunFolder, WhatIsAppendedIsReadOnAndTheCacheRemembersTheRest) {
  const MadeRun run;
  const std::filesystem::path cache = run.path() / "cache" / "runs.json";
  train(run);
  {
    RunFolder folder(run.path(), cache);
    EXPECT_EQ(folder.look().at(0).summary.epochs_done, 2);
    run.epoch(120, 3, 0.95);
    EXPECT_EQ(folder.look().at(0).summary.epochs_done, 3);
    folder.save();
  }
  RunFolder folder(run.path(), cache);
  EXPECT_EQ(folder.look().at(0).summary.epochs_done, 3);
  EXPECT_DOUBLE_EQ(folder.look().at(0).best().accuracy, 0.85);
  EXPECT_TRUE(std::isnan(folder.look().at(0).summary.test_loss));
  run.end(130);
  EXPECT_EQ(folder.look().at(0).outcome, Outcome::finished);
  // Another journal of this name is read from its beginning.
  std::filesystem::remove(run.path() / "journal.jsonl");
  run.begin(200);
  EXPECT_EQ(RunFolder(run.path(), cache).look().at(0).summary.started, 200);
  EXPECT_EQ(RunFolder(run.path(), cache).look().at(0).summary.epochs_done, 0);
  // Whatever stands there.
  for (const char* damaged : {"", "{", "[]", R"({"version":1})", R"({"version":1,"runs":{"x":{"inode":"y"}}})", R"({"version":"a"})"}) {
    write_file_atomically(cache, damaged);
    EXPECT_EQ(RunFolder(run.path(), cache).look().at(0).summary.started, 200) << damaged;
  }
}

TEST(RunFolder, DamagedLinesHideNoRun) {
  const MadeRun run;
  run.begin(100);
  run.append("journal.jsonl", "{\"type\":\"epoch\",nonsense}\n\xff\n{\"type\":\"step\",\"time\":1,\"step\":\"x\"}\n{\"type\":\"epo");
  EXPECT_EQ(entry_of(run).summary.model, "mlp");
  EXPECT_EQ(entry_of(run).summary.epochs_done, 0);
}

TEST(RunFolder, ManyEpochsAreThinnedOutAndTheBestIsKept) {
  const MadeRun run;
  run.begin(100);
  for (int epoch = 1; epoch <= 2500; ++epoch) run.epoch(100 + epoch, epoch, epoch == 777 ? 0.9 : 0.5);
  const RunEntry entry = entry_of(run);
  EXPECT_LE(entry.summary.scores.size(), 1001U);
  EXPECT_EQ(entry.summary.scores.back().epoch, 2500);
  EXPECT_EQ(entry.best().epoch, 777);
  const Json json = json_of(entry, Curves::with);
  EXPECT_LE(json["curve"]["epoch"].size(), 102U);
  EXPECT_EQ(json["curve"]["epoch"].back(), 2500);
  EXPECT_FALSE(json_of(entry, Curves::without).contains("curve"));
}

TEST(RunFolder, ListsRunsNewestFirstWithoutLinks) {
  const MadeRun made;
  const std::filesystem::path folder = made.path() / "steps";
  for (const auto& [name, time] : {std::pair{"old", "100.5"}, std::pair{"new", "200.5"}, std::pair{"folds/fold-1/x", "50.5"}})
    made.append(std::string("steps/") + name + "/journal.jsonl",
                std::string("{\"type\":\"run\",\"time\":") + time + ",\"model\":\"m\",\"epochs\":3}\n");
  std::filesystem::create_directory(folder / "no run");
  std::filesystem::create_directory_symlink("new", folder / "latest");
  std::filesystem::copy(folder / "old", folder / ".deleted-old");
  std::vector<std::string> names;
  for (const RunEntry& entry : RunFolder(folder).look()) names.push_back(entry.name);
  EXPECT_THAT(names, ElementsAre("new", "old", "folds/fold-1/x"));
  EXPECT_THAT(thrown_error([&] { RunFolder(folder / "none"); }), testing::StartsWith("not_found"));
  EXPECT_THAT(thrown_error([&] { RunFolder(folder / "old" / "journal.jsonl"); }), testing::StartsWith("not_found"));
}

TEST(RunFolder, ANoteIsOneLine) {
  const MadeRun run;
  write_note(run.path(), "twice the\nbatch \x1b[31m\n");
  EXPECT_EQ(note_of(run.path()), "twice the batch  [31m");
  EXPECT_EQ(entry_of(run).note, "twice the batch  [31m");
  write_note(run.path(), "");
  write_note(run.path(), "");
  EXPECT_EQ(note_of(run.path()), "");
  EXPECT_THAT(thrown_error([&] { write_note(run.path(), std::string(kMaxNote + 1, 'x')); }), testing::StartsWith("invalid_argument"));
}

RunEntry made_entry(const std::string& name, double started, double accuracy) {
  RunEntry entry{.name = name, .outcome = Outcome::finished};
  entry.summary.model = "mnist_CNN";
  entry.summary.started = started;
  entry.summary.scores.push_back({.epoch = 1, .loss = 1, .accuracy = accuracy});
  return entry;
}

TEST(RunFilter, PassesWhatIsAskedFor) {
  RunEntry entry = made_entry("a-1", 1000, 0.5);
  entry.note = "For the talk";
  EXPECT_TRUE(passes({}, entry));
  EXPECT_TRUE(passes({.model = "cnn", .outcome = "finished", .text = "TALK a-1", .since = 1000}, entry));
  EXPECT_FALSE(passes({.model = "resnet"}, entry));
  EXPECT_FALSE(passes({.outcome = "killed"}, entry));
  EXPECT_FALSE(passes({.text = "talk tomorrow"}, entry));
  EXPECT_FALSE(passes({.since = 1001}, entry));
  entry.summary.started = kUnknown;
  EXPECT_FALSE(passes({.since = 1}, entry));
}

TEST(RunFilter, TimesAreDatesOrSpans) {
  EXPECT_EQ(parse_since("90m", 10'000), 10'000 - 5400);
  EXPECT_EQ(parse_since("2w", 2e6), 2e6 - 14 * 86400);
  EXPECT_EQ(parse_since("2026-11-17 08:30", 0) - parse_since("2026-11-17", 0), 8.5 * 3600);
  for (const char* wrong : {"", "yesterday", "3", "3 d", "-3d", "d", "2026-11-17x"})
    EXPECT_THAT(thrown_error([&] { parse_since(wrong, 0); }), HasSubstr("12h")) << wrong;
}

TEST(RunFilter, OrdersHaveTheBestFirstAndTheUnknownLast) {
  std::vector<RunEntry> entries{made_entry("b", 3, kUnknown), made_entry("c", 2, 0.5), made_entry("a", 1, 0.9)};
  const auto names = [&](std::string_view order) {
    sort_runs(entries, run_order(order));
    std::string text;
    for (const RunEntry& entry : entries) text += entry.name;
    return text;
  };
  EXPECT_EQ(names("accuracy"), "acb");
  EXPECT_EQ(names("when"), "bca");
  EXPECT_EQ(names("name"), "abc");
  EXPECT_THAT(thrown_error([] { run_order("size"); }), testing::StartsWith("invalid_argument"));
}

TEST(RunDifference, NamesSettingsAndOutcomesThatDiffer) {
  const MadeRun run;
  train(run);
  run.end(104);
  const RunDocument one = read_run(run.path());
  RunDocument other = one;
  other.run.config = {{"train.batch_size", "16", "--set"}, {"train.seed", "1", "default"}, {"train.new", "3", "job.toml:1"}};
  other.result.accuracy = 0.75;
  const RunDifference difference = difference_of({one, "finished", {{"train.new", "2", "default"}}}, {other, "killed", {}});
  ASSERT_EQ(difference.settings.size(), 2U);
  EXPECT_EQ(difference.settings[0].key, "train.batch_size");
  EXPECT_EQ(difference.settings[0].one, "8");
  EXPECT_EQ(difference.settings[0].other, "16");
  EXPECT_EQ(difference.settings[1].one, "2") << "a default that the older run's file lacks";
  EXPECT_EQ(difference.results.at(0).name, "accuracy (validation)");
  EXPECT_EQ(difference.results.at(0).other, 0.75);
  EXPECT_EQ(json_of(difference)["outcomes"], Json({"finished", "killed"}));
  EXPECT_EQ(json_of(difference)["settings"][1]["values"], Json({"2", "3"}));
  EXPECT_EQ(difference_of({one, "", {}}, {other, "", {}}).settings[1].one, std::nullopt);
}

}  // namespace
}  // namespace trireme::report
