// SPDX-License-Identifier: Apache-2.0
// Tests of text tables and numbers for people.
#include "trireme/base/table.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(TextTable, AlignsColumnsAndTrimsLines) {
  TextTable table({{"name"}, {"count", TextTable::Align::right}, {"note"}});
  table.add_row({"a", "12", ""});
  table.add_row({"longer", "3", "é"});
  EXPECT_EQ(table.to_string(),
            "name    count  note\n"
            "------  -----  ----\n"
            "a          12\n"
            "longer      3  é\n");
}

TEST(TextTable, CountsColumnsOfTheScreen) {
  TextTable table({{"name"}, {"x"}});
  table.add_row({"写真", "1"});             // two columns each
  table.add_row({"e\u0301te\u0301", "2"});  // accents over the letters
  table.add_row({"\xff\xff", "3"});         // no UTF-8
  EXPECT_EQ(table.to_string(),
            "name  x\n"
            "----  -\n"
            "写真  1\n"
            "e\u0301te\u0301   2\n"
            "\xff\xff    3\n");
}

TEST(TextTableDeathTest, ARowHasACellForEachColumn) {
  TextTable table({{"one"}});
  EXPECT_DEATH(table.add_row({"a", "b"}), "as many cells");
}

TEST(Numbers, AreWrittenForPeople) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1199882), "1,199,882");
  EXPECT_EQ(with_thousands(-1000), "-1,000");
  EXPECT_EQ(with_thousands(-100), "-100");
  EXPECT_EQ(human_bytes(4799528), "4.6 MiB");
  EXPECT_EQ(human_bytes(12), "12 B");
  EXPECT_EQ(human_count(23900000), "23.9 M");
}

}  // namespace
}  // namespace trireme
