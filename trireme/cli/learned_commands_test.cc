// SPDX-License-Identifier: Apache-2.0
// eval, errors and predict of many pictures as a user meets them, and what a training keeps of what its network learned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/cli/prediction_csv.h"
#include "trireme/cli/testing/program.h"
#include "trireme/data/images/image_codec.h"
#include "trireme/web/page.h"

namespace trireme::cli {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class LearnedCommands : public testing::Test {
 protected:
  LearnedCommands() : folder_(std::filesystem::path(testing::TempDir()) / ("trireme_learned_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~LearnedCommands() override { std::filesystem::remove_all(folder_); }

  // Pictures of one grey each: dark ones of class a, bright ones of class b, and two that lie.
  void write_pictures() const {
    for (int i = 0; i < 12; ++i) {
      write_picture(folder_ / "pictures" / "a" / (std::to_string(i) + ".png"), i == 0 ? 240 : 20 + i);
      write_picture(folder_ / "pictures" / "b" / (std::to_string(i) + ".png"), i == 0 ? 20 : 240 - i);
    }
  }
  static void write_picture(const std::filesystem::path& path, int level) {
    write_file_atomically(path, data::encode_png({8, 8, 3, std::vector<std::uint8_t>(192, static_cast<std::uint8_t>(level))}));
  }
  Result train(const std::string& data, std::vector<std::string> more = {}) const {
    write_file_atomically(folder_ / "job.toml",
                          "[model]\nlayers = [{ op = \"input\", name = \"x\" }, { op = \"flatten\", name = \"f\" }, "
                          "{ op = \"dense\", name = \"d\" }]\n" +
                              data + "\n[train]\nepochs = 60\nbatch_size = 8\nthreads = 1\noptimizer = \"adam\"\nlearning_rate = 0.02\n");
    more.insert(more.begin(), {"train", path("job.toml"), "--runs", path("runs")});
    return run(more);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string latest() const { return path("runs/latest"); }
  Json kept(const std::string& name) const { return parse_json(read_file(latest() + "/" + name)); }

  std::filesystem::path folder_;
};

constexpr const char* kPictures = "[data]\nreader = \"image_folder\"\ntrain = [\"pictures\"]\ntest = [\"pictures\"]";

TEST_F(LearnedCommands, ATrainingKeepsScoresMistakesAndExamples) {
  write_pictures();
  const Result trained = train(kPictures);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(trained.err, "");
  const Json evaluation = kept("evaluation.json");
  EXPECT_EQ(evaluation["part"], "test");
  EXPECT_EQ(evaluation["samples"], 24);
  EXPECT_EQ(evaluation["classes"][1]["name"], "b");
  EXPECT_EQ(evaluation["classes"][1]["support"], 12);
  // The two that lie.
  const Json mistakes = kept("mistakes.json");
  EXPECT_EQ(mistakes["wrong"], 2);
  EXPECT_THAT(mistakes["shown"][0]["name"].get<std::string>(), EndsWith("/0.png"));
  EXPECT_THAT(mistakes["shown"][0]["picture"].get<std::string>(), StartsWith("data:image/png;base64,"));
  EXPECT_EQ(kept("examples.json")["samples"].size(), 16U);
  for (const char* name : {"evaluation.json", "mistakes.json", "examples.json"})
    EXPECT_EQ(std::filesystem::status(latest() + "/" + name).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);

  // The same numbers everywhere.
  const Json measured = parse_json(run({"eval", latest(), "--json"}).out);
  for (const char* key : {"accuracy", "classes", "confusion", "macro"}) EXPECT_EQ(measured[key], evaluation[key]) << key;
  EXPECT_NEAR(measured["loss"].get<double>(), evaluation["loss"].get<double>(), 1e-6);
  EXPECT_THAT(run({"report", latest(), "--markdown"}).out, AllOf(HasSubstr("## What it learned"), HasSubstr("Most frequent confusions")));
  const Json document = parse_json(run({"report", latest(), "--json"}).out);
  EXPECT_EQ(document["evaluation"]["classes"], evaluation["classes"]);
  EXPECT_EQ(document["mistakes"]["wrong"], 2);
}

TEST_F(LearnedCommands, NothingIsKeptIfItIsSwitchedOff) {
  write_pictures();
  ASSERT_EQ(train(kPictures, {"--set", "observe.evaluation_seconds=0", "--set", "observe.samples=false"}).code, 0);
  for (const char* name : {"evaluation.json", "mistakes.json", "examples.json"})
    EXPECT_FALSE(std::filesystem::exists(latest() + "/" + name)) << name;
  EXPECT_THAT(run({"report", latest(), "--markdown"}).out, Not(HasSubstr("What it learned")));
  ASSERT_EQ(train(kPictures, {"--set", "observe.samples=false"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(latest() + "/evaluation.json"));
  EXPECT_FALSE(std::filesystem::exists(latest() + "/mistakes.json"));
}

TEST_F(LearnedCommands, TheEvaluationStopsWhenItsTimeIsOver) {
  write_pictures();
  const Result trained = train(kPictures, {"--set", "observe.evaluation_seconds=0.000001"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(kept("evaluation.json")["samples"], 8);  // a batch
  EXPECT_EQ(kept("evaluation.json")["of"], 24);
  EXPECT_THAT(trained.out, HasSubstr("scores of classes are of 8 of 24 test samples"));
}

TEST_F(LearnedCommands, EvalPrintsClassesAndConfusions) {
  write_pictures();
  ASSERT_EQ(train(kPictures).code, 0);
  const Result result = run({"eval", latest()});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("accuracy 91.67 %"), HasSubstr("precision"), HasSubstr("(weighted by samples)"),
                                HasSubstr("confusion matrix"), HasSubstr("b      a                1         8.3 %")));
}

TEST_F(LearnedCommands, EvalOfNumbersHasTheirErrors) {
  std::string table = "x,y,sum\n";
  for (int i = 0; i < 40; ++i) table += fmt::format("{},{},{}\n", i % 7, i % 5, i % 7 + i % 5);
  write_file_atomically(folder_ / "sums.csv", table);
  ASSERT_EQ(train("[data]\nreader = \"csv\"\ntarget = [\"sum\"]\ntrain = [\"sums.csv\"]\ntest = [\"sums.csv\"]").code, 0);
  const Json score = parse_json(run({"eval", latest(), "--json"}).out);
  EXPECT_FALSE(score.contains("accuracy"));
  EXPECT_GT(score["mae"].get<double>(), 0);
  EXPECT_NEAR(score["rmse"].get<double>() * score["rmse"].get<double>(), score["loss"].get<double>(), 1e-4);
  EXPECT_LT(score["r2"].get<double>(), 1);
  EXPECT_THAT(run({"eval", latest()}).out, AllOf(HasSubstr("MAE"), HasSubstr("R²")));
  // What the run recorded has no accuracy either, and its best epoch is that of the lowest loss.
  EXPECT_THAT(read_file(latest() + "/journal.jsonl"), AllOf(HasSubstr("\"accuracy\":null"), Not(HasSubstr("\"accuracy\":0"))));
  const Json entry = parse_json(run({"runs", path("runs"), "--json"}).out)["entries"][0];
  EXPECT_TRUE(entry["accuracy"].is_null() && entry["best_accuracy"].is_null()) << entry;
  EXPECT_TRUE(entry["best_loss"].is_number());
  const Json errors = parse_json(run({"errors", latest(), "--limit", "3", "--json"}).out)["mistakes"];
  ASSERT_EQ(errors["shown"].size(), 3U);
  EXPECT_GE(errors["shown"][0]["error"].get<double>(), errors["shown"][1]["error"].get<double>());
  EXPECT_EQ(errors["shown"][0]["row"].size(), 2U);
  EXPECT_EQ(errors["shown"][0]["row"][1][0], "y");
  EXPECT_EQ(kept("examples.json")["samples"][0]["row"][0][0], "x");
}

TEST_F(LearnedCommands, ErrorsShowsTheMostConfidentMistakes) {
  write_pictures();
  ASSERT_EQ(train(kPictures).code, 0);
  const Json document = parse_json(run({"errors", latest(), "--json"}).out);
  EXPECT_EQ(document["mistakes"]["shown"].size(), 2U);
  const Json& first = document["mistakes"]["shown"][0];
  EXPECT_NE(first["truth"]["class"], first["answers"][0]["class"]);
  EXPECT_GE(first["answers"][0]["probability"].get<double>(), document["mistakes"]["shown"][1]["answers"][0]["probability"].get<double>());
  if (!web::page_absence().empty()) {
    EXPECT_EQ(run({"errors", latest(), "-o", path("errors.html")}).code, 3);
    return;
  }
  const Result result = run({"errors", latest(), "-o", path("errors.html")});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("2 of 24 test samples are answered wrongly (8.33 %)"));
  EXPECT_THAT(read_file(path("errors.html")), AllOf(HasSubstr("errors_of"), HasSubstr("data:image/png;base64,")));
}

TEST_F(LearnedCommands, PredictMakesATableOfAFolder) {
  write_pictures();
  ASSERT_EQ(train(kPictures).code, 0);
  write_picture(folder_ / "new" / "deep" / "dark, very.png", 10);
  write_picture(folder_ / "new" / "bright.png", 250);
  write_file_atomically(folder_ / "new" / "notes.txt", "no picture");
  const Result result = run({"predict", latest(), path("new"), "--csv", path("out.csv")});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("passed over 1 file that is no"), HasSubstr("wrote 2 answers")));
  EXPECT_THAT(read_file(path("out.csv")), AllOf(StartsWith("file,answer,probability\n" + path("new/bright.png") + ",b,0."),
                                                HasSubstr("\"" + path("new/deep/dark, very.png") + "\",a,0.")));
  EXPECT_THAT(run({"predict", latest(), path("new"), "--csv", "-", "--top", "2"}).out,
              StartsWith("file,answer,probability,answer_2,probability_2\n"));
  EXPECT_THAT(run({"predict", latest(), "--csv", "-", "--limit", "2"}).out, StartsWith("sample,label,answer,probability\n"));
  EXPECT_THAT(run({"predict", latest(), path("new")}).out, AllOf(HasSubstr("bright.png"), HasSubstr(" %")));
  std::filesystem::create_directories(folder_ / "empty");
  EXPECT_THAT(run({"predict", latest(), path("empty"), "--csv", path("none.csv")}).err, HasSubstr("there is no .png"));
}

// Of a model whose input is a row of values, trained on pictures.
TEST_F(LearnedCommands, PredictTakesPicturesForAFlatInput) {
  write_pictures();
  write_file_atomically(folder_ / "flat.toml", std::string("[model]\nname = \"mlp_128\"\n") + kPictures +
                                                   "\n[train]\nepochs = 20\nbatch_size = 8\nthreads = 1\noptimizer = \"adam\"\n");
  ASSERT_EQ(run({"train", path("flat.toml"), "--runs", path("runs")}).code, 0);
  write_picture(folder_ / "dark.png", 10);
  write_picture(folder_ / "bright.png", 250);
  const Result result = run({"predict", latest(), path("dark.png"), path("bright.png"), "--csv", "-"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("dark.png,a,"), HasSubstr("bright.png,b,")));
}

TEST_F(LearnedCommands, OtherDataTakeThePlaceOfTheShareHeldOut) {
  std::string table = "x,y,kind\n";
  for (int i = 0; i < 40; ++i) table += fmt::format("{},{},{}\n", i % 7, i % 5, i % 7 < 3 ? "few" : "many");
  write_file_atomically(folder_ / "kinds.csv", table);
  write_file_atomically(folder_ / "new.csv", "x,y,kind\n6,1,many\n0,2,few\n");
  ASSERT_EQ(train("[data]\nreader = \"csv\"\nlabel = \"kind\"\ntrain = [\"kinds.csv\"]\ntest_split = 0.2").code, 0);
  const std::string other = "data.test=" + path("new.csv");
  EXPECT_EQ(parse_json(run({"eval", latest(), "--set", other, "--json"}).out)["samples"], 2);
  const Result predicted = run({"predict", latest(), "--set", other, "--csv", "-", "--limit", "0"});
  EXPECT_THAT(predicted.out, AllOf(HasSubstr("#0,many,many,"), HasSubstr("#1,few,few,"))) << predicted.err;
}

TEST_F(LearnedCommands, RowsWithoutTheirClassArePredicted) {
  std::string table = "x,y,kind\n";
  for (int i = 0; i < 40; ++i) table += fmt::format("{},{},{}\n", i % 7, i % 5, i % 7 < 3 ? "few" : "many");
  write_file_atomically(folder_ / "kinds.csv", table);
  ASSERT_EQ(train("[data]\nreader = \"csv\"\nlabel = \"kind\"\ntrain = [\"kinds.csv\"]\ntest_split = 0.2").code, 0);
  write_file_atomically(folder_ / "new.csv", "id,y,x\nA,1,6\nB,2,0\n");
  const Result predicted = run({"predict", latest(), path("new.csv"), "--csv", "-"});
  EXPECT_THAT(predicted.out, AllOf(StartsWith("sample,answer,probability\n#0,many,"), HasSubstr("\n#1,few,"))) << predicted.err;
  write_file_atomically(folder_ / "other.csv", "id,x\nA,6\n");
  EXPECT_THAT(run({"predict", latest(), path("other.csv")}).err, HasSubstr("trained on a column that this table does not have: y"));
}

TEST_F(LearnedCommands, PredictSkipsDamagedPicturesByName) {
  write_pictures();
  ASSERT_EQ(train(kPictures).code, 0);
  write_picture(folder_ / "new" / "1.png", 10);
  write_file_atomically(folder_ / "new" / "2.png", "no picture");
  write_picture(folder_ / "new" / "3.png", 250);
  const Result result = run({"predict", latest(), path("new"), "--csv", path("out.csv")});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("skipped " + path("new/2.png")), HasSubstr("1 of 3 pictures could not be read")));
  EXPECT_THAT(read_file(path("out.csv")), AllOf(HasSubstr("1.png"), Not(HasSubstr("2.png")), HasSubstr("3.png")));
  // One that was asked for by itself.
  const Result one = run({"predict", latest(), path("new/2.png")});
  EXPECT_EQ(one.code, 1);
  EXPECT_EQ(one.out, "");
}

TEST(PredictionCsv, QuotesWhatHasTo) {
  EXPECT_EQ(csv_field("plain.png"), "plain.png");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\"\n"), "\"say \"\"x\"\"\n\"");
}

}  // namespace
}  // namespace trireme::cli
