// SPDX-License-Identifier: Apache-2.0
// train, eval, predict and data as a user meets them: output, files, messages, exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/cli/testing/program.h"
#include "trireme/data/images/image_codec.h"

namespace trireme::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view kJob = R"(
[model]
name = "mlp_128"
[data]
name = "synthetic_digits"
samples = 400
test_samples = 100
validation = 0.25
class_names = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
[train]
epochs = 2
batch_size = 50
threads = 1
[train.optimizer]
name = "adam"
)";

class TrainCommands : public testing::Test {
 protected:
  TrainCommands() : folder_(std::filesystem::path(testing::TempDir()) / ("trireme_train_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    write_file_atomically(folder_ / "job.toml", kJob);
  }
  ~TrainCommands() override { std::filesystem::remove_all(folder_); }

  Result train(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"train", job(), "--runs", (folder_ / "runs").string()});
    return run(more);
  }
  std::string job() const { return (folder_ / "job.toml").string(); }
  std::string latest() const { return (folder_ / "runs" / "latest").string(); }

  std::filesystem::path folder_;
};

// 5 classes of pictures, each with 3 of 16 x 16.
void write_pictures(const std::filesystem::path& folder) {
  for (const char* name : {"a", "b", "c", "d", "e"})
    for (std::uint8_t i = 0; i < 3; ++i)
      write_file_atomically(folder / name / (std::to_string(i) + ".png"),
                            data::encode_png({16, 16, 3, std::vector<std::uint8_t>(768, static_cast<std::uint8_t>(60 * i))}));
}

constexpr std::string_view kPicturesJob = R"(
model = "mlp_128"
[data]
reader = "image_folder"
train = ["pictures"]
[train]
epochs = 1
threads = 1
)";

TEST_F(TrainCommands, SizesOfTheModelFollowTheData) {
  write_pictures(folder_ / "pictures");
  write_file_atomically(folder_ / "job.toml", kPicturesJob);
  EXPECT_THAT(train({"--print-config"}).out, AllOf(HasSubstr("inputs = 768"), HasSubstr("classes = 5"), HasSubstr("# the data")));
  EXPECT_THAT(train({"--print-config", "--set", "model.name=resnet"}).out, HasSubstr("height = 16"));
  EXPECT_THAT(run({"describe", job()}).out, HasSubstr("768"));
  const Result result = train();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(read_file(latest() + "/config.toml"), HasSubstr("inputs = 768"));
  EXPECT_EQ(run({"eval", latest(), "--part", "train"}).code, 0);
  EXPECT_EQ(run({"train", "--resume", latest(), "--set", "train.epochs=2"}).code, 0);
}

TEST_F(TrainCommands, AModelThatDisagreesWithTheDataIsShownBoth) {
  write_pictures(folder_ / "pictures");
  write_file_atomically(folder_ / "job.toml", kPicturesJob);
  EXPECT_THAT(train({"--set", "model.classes=10"}).err,
              AllOf(HasSubstr("--set model.classes=10"), HasSubstr("classes is 10"), HasSubstr("has 5 classes")));
  write_file_atomically(folder_ / "pictures" / "a" / "x.png", data::encode_png({9, 9, 3, std::vector<std::uint8_t>(243)}));
  EXPECT_THAT(train().err, AllOf(HasSubstr("x.png"), HasSubstr("data.height = 16"), HasSubstr("data.width = 16")));
}

TEST_F(TrainCommands, ATrainingLeavesModelAndRecords) {
  const Result result = train();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("300 + 100 validation + 100 test samples of synthetic_digits"));
  EXPECT_THAT(result.out, HasSubstr("validation accuracy"));
  EXPECT_THAT(result.out, HasSubstr("trained 2 epochs"));
  for (const char* file :
       {"config.toml", "journal.jsonl", "algorithms.json", "tensorboard", "tensorboard/steps", "checkpoints/step-00000012/SHA256SUMS"})
    EXPECT_TRUE(std::filesystem::exists(latest() + "/" + file)) << file;
}

TEST_F(TrainCommands, AResumptionWithoutACheckpointIsRecordedWithItsEpochs) {
  ASSERT_EQ(train().code, 0);
  for (const auto& checkpoint : std::filesystem::directory_iterator(latest() + "/checkpoints")) std::filesystem::remove_all(checkpoint);
  const Result result = run({"train", "--resume", latest(), "--set", "train.epochs=3"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(read_file(latest() + "/journal.jsonl"), HasSubstr(R"("step":0,"epoch":1,"samples_seen":0,"epochs":3,"checkpoint":"")"));
  EXPECT_EQ(parse_json(run({"status", latest(), "--json"}).out)["epochs"], 3);
  const auto listed = parse_json(run({"runs", latest(), "--json"}).out)["entries"][0];
  EXPECT_EQ(listed["epochs_done"], 3);
  EXPECT_EQ(listed["epochs"], 3);
  EXPECT_EQ(listed["outcome"], "finished");
}

TEST_F(TrainCommands, EvalGivesTheScoreThatTrainingGave) {
  const Result trained = train();
  const auto score = parse_json(run({"eval", latest(), "--json"}).out);
  EXPECT_EQ(score["samples"], 100);
  EXPECT_THAT(trained.out, HasSubstr(fmt::format("test loss {:.4f}, accuracy {:.2f} %", score["loss"].get<double>(),
                                                 100 * score["accuracy"].get<double>())));
  EXPECT_EQ(parse_json(run({"eval", latest(), "--part", "validation", "--json"}).out)["samples"], 100);
  EXPECT_THAT(run({"eval", latest() + "/checkpoints/step-00000012"}).out, HasSubstr("accuracy"));
}

// Nothing is so much better than the first epoch.
TEST_F(TrainCommands, EvalTakesTheBestEpochAndOnDemandTheLast) {
  const Result trained = train({"--set", "train.early_stopping.min_change=1000"});
  EXPECT_THAT(trained.out, AllOf(HasSubstr("best     epoch 1 of 2, by validation loss"), HasSubstr("step-00000012/best.safetensors")));
  const auto best = parse_json(run({"eval", latest(), "--json"}).out);
  const auto last = parse_json(run({"eval", latest(), "--last", "--json"}).out);
  EXPECT_EQ(best["weights"], "best");
  EXPECT_EQ(last["weights"], "last");
  EXPECT_NE(best["loss"], last["loss"]);
  EXPECT_THAT(trained.out, HasSubstr(fmt::format("test loss {:.4f}", best["loss"].get<double>())));
  EXPECT_THAT(run({"eval", latest()}).out, HasSubstr("weights of epoch 1 (the best; --last: of step 12)"));
  const auto named = parse_json(run({"eval", latest() + "/checkpoints/step-00000012", "--json"}).out);
  EXPECT_EQ(named["loss"], last["loss"]);
  const auto answer = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"predict", latest(), "--limit", "1", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return parse_json(run(arguments).out)["predictions"][0]["classes"][0]["probability"].get<double>();
  };
  EXPECT_NE(answer({}), answer({"--last"}));
}

TEST_F(TrainCommands, WithoutABestEpochEvalTakesTheLast) {
  EXPECT_THAT(train({"--set", "train.keep_best=false"}).out, Not(HasSubstr("best")));
  EXPECT_FALSE(std::filesystem::exists(latest() + "/checkpoints/step-00000012/best.safetensors"));
  EXPECT_EQ(parse_json(run({"eval", latest(), "--json"}).out)["weights"], "last");
}

TEST_F(TrainCommands, PredictNamesClassesOfImagesAndSamples) {
  train();
  const auto answers = parse_json(run({"predict", latest(), "--limit", "3", "--json"}).out)["predictions"];
  ASSERT_EQ(answers.size(), 3U);
  double sum = 0;
  const auto all = parse_json(run({"predict", latest(), "--limit", "1", "--top", "10", "--json"}).out)["predictions"];
  ASSERT_EQ(all[0]["classes"].size(), 10U);
  for (const auto& row : all[0]["classes"]) sum += row["probability"].get<double>();
  EXPECT_NEAR(sum, 1, 1e-5);

  const data::Image image{.height = 50, .width = 40, .channels = 3, .pixels = std::vector<std::uint8_t>(std::size_t{50} * 40 * 3, 100)};
  const std::string file = (folder_ / "picture.png").string();
  write_file_atomically(file, data::encode_png(image));
  // An mlp takes vectors: its data say which picture that would be.
  EXPECT_THAT(run({"predict", latest(), file}).out, AllOf(HasSubstr("picture.png"), HasSubstr(" %")));
  run({"train", job(), "--runs", (folder_ / "runs").string(), "--set", "model.name=mnist_cnn", "--set", "train.epochs=1"});
  EXPECT_THAT(run({"predict", latest(), file}).out, AllOf(HasSubstr("picture.png"), HasSubstr(" %")));
}

TEST_F(TrainCommands, PrintConfigStatesEveryOrigin) {
  const Result result = train({"--set", "train.epochs=9", "--print-config"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("# --set train.epochs=9"), HasSubstr("# default"), HasSubstr("job.toml:3")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs"));
}

TEST_F(TrainCommands, ADamagedCheckpointIsReportedAndTheOneBeforeTaken) {
  train({"--set", "train.checkpoint_seconds=0.000001"});
  write_file_atomically(latest() + "/checkpoints/step-00000012/model.safetensors", "not weights");
  const Result result = run({"eval", latest()});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("step-00000012"));
  EXPECT_THAT(result.out, HasSubstr("step-00000011"));
}

TEST_F(TrainCommands, AFinishedRunCanBeTrainedFurther) {
  train();
  const Result result = run({"train", "--resume", latest(), "--set", "train.epochs=3"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("continuing after step 12"), HasSubstr("epoch 3/3"), Not(HasSubstr("epoch 2/3"))));
  EXPECT_THAT(run({"train", "--resume", latest()}).out, HasSubstr("nothing is left to train: 3 epochs are done, 3 are wanted"));
}

TEST_F(TrainCommands, MistakesAreReportedBeforeARunIsMade) {
  EXPECT_EQ(run({"train"}).code, 2);
  EXPECT_EQ(run({"train", "--resume", (folder_ / "nothing").string()}).code, 2);
  EXPECT_THAT(train({"--set", "data.name=fashion"}).err, HasSubstr("'trireme list data'"));
  EXPECT_THAT(train({"--set", "model.inputs=10"}).err, HasSubstr("inputs is 10, but a sample"));
  write_file_atomically(folder_ / "files.toml", "[model]\nname = 'mlp_128'\n[data]\nreader = 'idx'\ntrain = ['no.images', 'no.labels']\n");
  const Result missing = run({"train", (folder_ / "files.toml").string(), "--runs", (folder_ / "runs").string()});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr((folder_ / "no.images").string()));  // beside the job file
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs"));
}

TEST_F(TrainCommands, DataShowsPartsAndWorkers) {
  EXPECT_THAT(run({"data", job()}).out, AllOf(HasSubstr("1x28x28"), HasSubstr("validation"), HasSubstr("seven")));
  const auto parts = parse_json(run({"data", job(), "--workers", "3", "--distribution", "by_class", "--json"}).out)["parts"];
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0]["samples"], 100);
  EXPECT_EQ(parts[0]["by_class"][9], 0);
  EXPECT_THAT(run({"data", job(), "--workers", "3", "--sharding", "file"}).err, HasSubstr("1 file for 3 workers"));
}

}  // namespace
}  // namespace trireme::cli
