// SPDX-License-Identifier: Apache-2.0
// Tests of a program that was built without the page: what needs it says so before it does anything, all else works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "trireme/base/error.h"
#include "trireme/cli/application.h"
#include "trireme/run/terminal/exit_code.h"
#include "trireme/web/page.h"
#include "trireme/web/site.h"

namespace trireme::cli {
namespace {

using testing::HasSubstr;

struct Result {
  int code = 0;
  std::string out;
  std::string err;
};

Result run_program(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "trireme");
  std::ostringstream out;
  std::ostringstream err;
  const int code = run_application(static_cast<int>(arguments.size()), arguments.data(), {.out = out, .err = err});
  return {code, out.str(), err.str()};
}

void expect_words(const Result& result, const std::string& purpose) {
  EXPECT_EQ(result.code, run::exit_preflight) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr(purpose + " needs the page, and this trireme was built without it: it was built with TRIREME_PAGE=OFF"));
  EXPECT_THAT(result.err, HasSubstr("install npm"));
}

TEST(WithoutPage, TheDashboardSaysWhatIsMissingAndWhatToDo) { expect_words(run_program({"dashboard", "runs/none"}), "the dashboard"); }

TEST(WithoutPage, ATrainingWithADashboardIsRefusedBeforeItBegins) {
  const std::filesystem::path runs = std::filesystem::temp_directory_path() / "trireme-without-page-runs";
  expect_words(run_program({"train", "examples/mlp.toml", "--dashboard", "--runs", runs.c_str()}), "--dashboard");
  EXPECT_FALSE(std::filesystem::exists(runs));
}

TEST(WithoutPage, AnHtmlReportIsRefused) {
  try {
    web::page_with("{}");
    FAIL() << "there is a page";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), failed_precondition);
    EXPECT_THAT(error.what(), HasSubstr("trireme report RUN --markdown"));
  }
}

TEST(WithoutPage, TheServerStillServesDocumentAndMetrics) {
  const web::Site site([] { return R"({"version":1})"; }, {.token = "secret", .metrics = [] { return "trireme_steps_total 3\n"; }});
  const auto ask = [&](const std::string& path) {
    return site.answer({.method = "GET", .path = path, .headers = {{"host", "127.0.0.1"}, {"authorization", "Bearer secret"}}});
  };
  EXPECT_EQ(ask("/").status, 503);
  EXPECT_THAT(ask("/").body, HasSubstr("built without it"));
  EXPECT_EQ(ask("/api/run").body, R"({"version":1})");
  EXPECT_EQ(ask("/metrics").body, "trireme_steps_total 3\n");
}

}  // namespace
}  // namespace trireme::cli
