// SPDX-License-Identifier: Apache-2.0
// Tests of the bundled page: it loads nothing, and a document can't break out of its place.
#include "trireme/web/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::web {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kOpening = R"(<script type="application/json" id="document">)";

std::string document_in(const std::string& text) {
  const auto begin = text.find(kOpening) + kOpening.size();
  return text.substr(begin, text.find("</script>", begin) - begin);
}

// What is looked at here is bundled by npm; a build without it says so by the name of each test.
class Page : public testing::Test {
 protected:
  void SetUp() override {
    if (!page_absence().empty()) GTEST_SKIP() << "this build has no page: " << page_absence();
  }
};

TEST_F(Page, HasEverythingInside) {
  const std::string text(page());
  EXPECT_THAT(text, HasSubstr("<style>"));
  EXPECT_THAT(text, Not(HasSubstr("<script src")));
  EXPECT_THAT(text, Not(HasSubstr("<link rel=\"stylesheet\"")));
  EXPECT_THAT(text, Not(HasSubstr("url(http")));
  EXPECT_THAT(text, Not(HasSubstr("{{")));
  EXPECT_LT(text.size(), 400'000U);
  EXPECT_THAT(std::string(page_policy()), Not(HasSubstr("unsafe")));
  EXPECT_THAT(text, HasSubstr(page_policy()));
}

TEST_F(Page, TakesADocument) {
  EXPECT_EQ(document_in(std::string(page())), "null");
  EXPECT_EQ(document_in(page_with(R"({"version":1})")), R"({"version":1})");
}

TEST_F(Page, ATextInTheDocumentCannotEndIt) {
  const std::string text = page_with(R"({"run":{"name":"</script><script>alert(1)</script><!-- <script>"}})");
  EXPECT_EQ(document_in(text), R"({"run":{"name":"\u003c/script>\u003cscript>alert(1)\u003c/script>\u003c!-- \u003cscript>"}})");
}

}  // namespace
}  // namespace trireme::web
