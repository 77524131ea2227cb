// SPDX-License-Identifier: Apache-2.0
// Nodes are looked up while others are added; ThreadSanitizer watches.
#include "trireme/run/terminal/plan_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

namespace trireme::run {
namespace {

cluster::NodePlan plan_of(const std::string& name) {
  cluster::NodePlan plan;
  plan.name = name;
  plan.machine.name = "machine" + name;
  return plan;
}

TEST(PlanTable, IsReadWhileItGrows) {
  PlanTable table({plan_of("0")});
  std::jthread reader([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto found = table.find("0");
      ASSERT_TRUE(found.has_value());
      EXPECT_EQ(found->machine.name, "machine0");
    }
  });
  for (int i = 1; i < 500; ++i) table.add(plan_of(fmt::format("{}", i)));
  reader.request_stop();
  reader.join();
  EXPECT_EQ(table.find("499")->machine.name, "machine499");
  EXPECT_FALSE(table.find("500").has_value());
}

}  // namespace
}  // namespace trireme::run
