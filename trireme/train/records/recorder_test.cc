// SPDX-License-Identifier: Apache-2.0
// Tests of what goes into TensorBoard's files: which steps, and how many.
#include "trireme/train/records/recorder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/crc32c.h"
#include "trireme/base/files.h"
#include "trireme/observe/event_file.h"
#include "trireme/observe/journal.h"
#include "trireme/wire/event.pb.h"

namespace trireme::train {
namespace {

class Recording : public testing::Test {
 protected:
  ~Recording() override { std::filesystem::remove_all(folder_); }

  // "loss 10" for a scalar, "restart 3".
  static std::vector<std::string> events_of(const observe::EventFile& file) {
    const std::string content = read_file(file.path());
    std::vector<std::string> events;
    for (std::string_view rest = content; !rest.empty();) {
      std::uint64_t length = 0;
      std::memcpy(&length, rest.data(), sizeof length);
      wire::Event event;
      EXPECT_TRUE(event.ParseFromArray(rest.data() + kRecordHeader, static_cast<int>(length)));
      rest.remove_prefix(kRecordHeader + length + kRecordFooter);
      if (event.has_session_log()) events.push_back("restart " + std::to_string(event.step()));
      for (const auto& value : event.summary().value()) events.push_back(value.tag() + " " + std::to_string(event.step()));
    }
    return events;
  }

  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("trireme_recorder_" + std::to_string(::getpid()));
  observe::Journal journal_{(std::filesystem::create_directories(folder_), folder_ / "journal.jsonl")};
  observe::EventFile epochs_{folder_ / "tensorboard"};
  observe::EventFile steps_{folder_ / "tensorboard" / "steps"};
};

StepRecord step(std::int64_t number) {
  return {.step = number, .batch = {.samples = 8, .loss = 0.5, .accuracy = 0.25}, .learning_rate = 0.1, .seconds = 0.5};
}

TEST_F(Recording, EveryNthStepIsAnEvent) {
  Recorder recorder(journal_, {.epochs = epochs_, .steps = steps_, .every = 10});
  for (int number = 1; number <= 25; ++number) recorder.step(step(number));
  steps_.flush();
  const std::vector<std::string> of_ten{"step/loss 10", "step/accuracy 10", "step/learning_rate 10", "step/samples_per_second 10"};
  const std::vector<std::string> events = events_of(steps_);
  ASSERT_EQ(events.size(), 8U);
  EXPECT_EQ(std::vector<std::string>(events.begin(), events.begin() + 4), of_ten);
  EXPECT_EQ(events[4], "step/loss 20");
}

TEST_F(Recording, ARegressionHasNoAccuracyAndARollbackRestarts) {
  Recorder recorder(journal_, {.epochs = epochs_, .steps = steps_, .every = 1});
  StepRecord record = step(7);
  record.batch.accuracy = std::nan("");
  record.seconds = 0;
  recorder.step(record);
  record.step = 5;
  recorder.step(record);
  steps_.flush();
  const std::vector<std::string> expected{"step/loss 7", "step/learning_rate 7", "restart 5", "step/loss 5", "step/learning_rate 5"};
  EXPECT_EQ(events_of(steps_), expected);
}

TEST_F(Recording, LongTrainingsHaveAThousandPoints) {
  EXPECT_EQ(every_for(10), 1);
  EXPECT_EQ(every_for(1999), 1);
  EXPECT_EQ(every_for(1'000'000), 1000);
}

}  // namespace
}  // namespace trireme::train
