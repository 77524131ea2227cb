// SPDX-License-Identifier: Apache-2.0
// Rows as a crash, a resumption or an older version leave them.
#include "trireme/observe/number_table.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trireme::observe {
namespace {

TEST(NumberTable, TakesWholeRowsUnderTheirNames) {
  NumberTable table;
  EXPECT_FALSE(table.take("step,seconds"));
  EXPECT_TRUE(table.take("1,0.25\r"));
  EXPECT_EQ(table.cell("step"), 1);
  EXPECT_EQ(table.cell("seconds"), 0.25);
  EXPECT_TRUE(std::isnan(table.cell("staleness")));
}

TEST(NumberTable, PassesOverWhatIsCutShort) {
  NumberTable table;
  table.take("step,seconds,idle_seconds");
  EXPECT_FALSE(table.take("1,0.2"));
  EXPECT_FALSE(table.take(""));
  EXPECT_TRUE(table.take("2,x,1e-3"));
  EXPECT_TRUE(std::isnan(table.cell("seconds")));
  EXPECT_EQ(table.cell("idle_seconds"), 1e-3);
}

TEST(NumberTable, TakesNewNamesInTheMiddle) {
  NumberTable table;
  table.take("step,seconds");
  table.take("1,0.2");
  EXPECT_FALSE(table.take("step,idle_seconds"));
  EXPECT_TRUE(std::isnan(table.cell("step"))) << "names are no row";
  EXPECT_TRUE(table.take("2,7"));
  EXPECT_EQ(table.cell("idle_seconds"), 7);
}

}  // namespace
}  // namespace trireme::observe
