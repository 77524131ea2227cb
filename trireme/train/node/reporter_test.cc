// SPDX-License-Identifier: Apache-2.0
// What a node remembers of its records until they are written.
#include "trireme/train/node/reporter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "trireme/coord/testing/coordinator.h"
#include "trireme/train/messages/reports.h"

namespace trireme::train {
namespace {

using testing::ElementsAre;

class ReporterTest : public testing::Test {
 protected:
  void train(std::int64_t first, std::int64_t last, std::int64_t epoch = 0) {
    for (std::int64_t step = first; step <= last; ++step) reporter_.step({.step = step, .epoch = epoch});
  }
  // "3 4 e0 5": what it reports again.
  std::vector<std::string> reported_again() {
    reporter_.report_again();
    cluster_.nodes[0].send({.kind = "that is all", .bytes = {}});
    std::vector<std::string> out;
    for (;;) {
      const auto event = cluster_.coordinator.next_event(coord::kPatience);
      if (!event || event->message.kind == "that is all") return out;
      const bool is_step = event->message.kind == kStepReport;
      out.push_back(is_step ? fmt::format("{}", unpack_step(event->message.bytes).step)
                            : fmt::format("e{}", unpack_epoch(event->message.bytes).epoch));
    }
  }

  coord::Cluster cluster_{{"0"}};
  Reporter reporter_{cluster_.nodes[0]};
};

TEST_F(ReporterTest, EverythingThatIsNotAcknowledgedIsReportedAgain) {
  train(1, 500);
  EXPECT_EQ(reported_again().size(), 500U);
  reporter_.recorded({.step = 497});
  EXPECT_THAT(reported_again(), ElementsAre("498", "499", "500"));
  reporter_.recorded({.step = 500});
  EXPECT_THAT(reported_again(), ElementsAre());
}

TEST_F(ReporterTest, EpochsComeAfterTheirSteps) {
  train(1, 2, 0);
  reporter_.epoch({.epoch = 0});
  train(3, 4, 1);
  reporter_.epoch({.epoch = 1});
  train(5, 5, 2);
  EXPECT_THAT(reported_again(), ElementsAre("1", "2", "e0", "3", "4", "e1", "5"));
  reporter_.recorded({.step = 3, .epoch = 1});
  EXPECT_THAT(reported_again(), ElementsAre("4", "e1", "5"));
}

TEST_F(ReporterTest, StepsThatAreDoneAgainAreForgotten) {
  train(1, 9, 0);
  reporter_.epoch({.epoch = 0});
  train(10, 12, 1);
  reporter_.go_back_to({.step = 7, .epoch = 0});
  EXPECT_THAT(reported_again(), ElementsAre("1", "2", "3", "4", "5", "6", "7"));
  reporter_.go_back_to({.step = 7, .epoch = 0});
  train(8, 8, 0);
  EXPECT_EQ(reported_again().back(), "8");
}

}  // namespace
}  // namespace trireme::train
