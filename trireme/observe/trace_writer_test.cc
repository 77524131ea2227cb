// SPDX-License-Identifier: Apache-2.0
// Whatever a reader does with doubles, it gets the nanoseconds that were meant.
#include "trireme/observe/trace_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "trireme/base/files.h"
#include "trireme/base/json.h"

namespace trireme::observe {
namespace {

using std::chrono::nanoseconds;

TEST(TraceWriter, KeepsEveryNanosecondOfALongRun) {
  const auto file = std::filesystem::path(testing::TempDir()) / ("trace_writer_test_" + std::to_string(::getpid()));
  constexpr nanoseconds kStart(1'795'036'215'842'088'123), kDay(86'400'000'000'000);
  TraceWriter writer(file, kStart);
  nanoseconds begin = kStart;
  for (int i = 0; i < 3000; ++i) {
    if (i == 1500) begin += kDay;
    writer.slice({0, "training"}, {"op", "", begin, begin + nanoseconds(i)});
    begin += nanoseconds(i);
  }
  writer.finish();
  const Json trace = parse_json(read_file(file));
  std::filesystem::remove(file);
  std::int64_t expected = 0, number = 0;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    if (number == 1500) expected += kDay.count();
    const double time = event.at("ts").get<double>() * 1000, length = event.at("dur").get<double>() * 1000;
    EXPECT_EQ(static_cast<std::int64_t>(time), expected);
    EXPECT_EQ(std::llround(time), expected);
    EXPECT_EQ(static_cast<std::int64_t>(length), number);
    EXPECT_EQ(std::llround(length), number);
    expected += number++;
  }
  EXPECT_EQ(number, 3000);
}

}  // namespace
}  // namespace trireme::observe
