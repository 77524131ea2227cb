// SPDX-License-Identifier: Apache-2.0
// Tests of event files: records are parsed back, checksums and all.
#include "trireme/observe/event_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "trireme/base/crc32c.h"
#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/wire/event.pb.h"

namespace trireme::observe {
namespace {

class EventFileTest : public testing::Test {
 protected:
  ~EventFileTest() override { std::filesystem::remove_all(folder_); }

  EventFile open() {
    return EventFile(folder_, [this] { return std::chrono::system_clock::time_point(now_); });
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("trireme_events_" + std::to_string(::getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name());
  std::chrono::milliseconds now_{1'700'000'000'250};
};

template <class Number>
Number number_at(std::string_view bytes, std::size_t place) {
  Number number{};
  std::memcpy(&number, bytes.substr(place, sizeof number).data(), sizeof number);
  return number;
}

std::vector<wire::Event> events_of(const std::filesystem::path& path) {
  const std::string content = read_file(path);
  std::vector<wire::Event> events;
  for (std::string_view rest = content; !rest.empty();) {
    const auto length = number_at<std::uint64_t>(rest, 0);
    EXPECT_EQ(number_at<std::uint32_t>(rest, 8), masked_crc32c(rest.substr(0, 8)));
    const std::string_view payload = rest.substr(kRecordHeader, length);
    EXPECT_EQ(number_at<std::uint32_t>(rest, kRecordHeader + length), masked_crc32c(payload));
    EXPECT_TRUE(events.emplace_back().ParseFromArray(payload.data(), static_cast<int>(payload.size())));
    rest.remove_prefix(kRecordHeader + length + kRecordFooter);
  }
  return events;
}

TEST_F(EventFileTest, BeginsWithTheVersionAtOnce) {
  const EventFile file = open();
  const auto events = events_of(file.path());
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events.front().file_version(), "brain.Event:2");
  EXPECT_EQ(events.front().wall_time(), 1'700'000'000.25);
  EXPECT_TRUE(file.path().filename().string().starts_with("events.out.tfevents.1700000000."));
}

TEST_F(EventFileTest, HoldsScalarsTextsAndRestarts) {
  EventFile file = open();
  file.restart(7);
  now_ += std::chrono::seconds(1);
  file.scalar("train/loss", 7, 0.5);
  file.text("config", "# job\nüber");
  file.flush();
  const auto events = events_of(file.path());
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[1].session_log().status(), wire::SessionLog::START);
  EXPECT_EQ(events[1].step(), 7);
  EXPECT_EQ(events[2].wall_time(), 1'700'000'001.25);
  EXPECT_EQ(events[2].step(), 7);
  EXPECT_EQ(events[2].summary().value(0).tag(), "train/loss");
  EXPECT_EQ(events[2].summary().value(0).simple_value(), 0.5F);
  const auto& text = events[3].summary().value(0);
  EXPECT_EQ(text.tag(), "config");
  EXPECT_EQ(text.metadata().plugin_data().plugin_name(), "text");
  EXPECT_EQ(text.tensor().dtype(), 7);
  EXPECT_TRUE(text.tensor().has_tensor_shape());
  EXPECT_EQ(text.tensor().tensor_shape().dim_size(), 0);
  EXPECT_EQ(text.tensor().string_val(0), "# job\nüber");
}

TEST_F(EventFileTest, WaitsInMemoryButNotForLongAndNotBeyondItsEnd) {
  std::filesystem::path path;
  {
    EventFile file = open();
    path = file.path();
    const auto before = std::filesystem::file_size(path);
    file.scalar("a", 0, 1);
    EXPECT_EQ(std::filesystem::file_size(path), before);
    for (int step = 1; step < 3000; ++step) file.scalar("a", step, 1);
    EXPECT_GT(std::filesystem::file_size(path), 60'000U);
  }
  EXPECT_EQ(events_of(path).size(), 3001U);
}

TEST_F(EventFileTest, SessionsOfTheSameSecondHaveFilesInOrder) {
  const EventFile first = open();
  const EventFile second = open();
  const EventFile third = open();
  EXPECT_LT(first.path(), second.path());
  EXPECT_LT(second.path(), third.path());
}

TEST_F(EventFileTest, WhatStandsInTheWayIsNamed) {
  OutputFile(folder_, OutputFile::Mode::create).write("x");
  EXPECT_EQ(thrown_error([&] { open(); }), "not_found: cannot make the directory " + folder_.string() + ": Not a directory");
}

}  // namespace
}  // namespace trireme::observe
