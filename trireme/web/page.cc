// SPDX-License-Identifier: Apache-2.0
// Puts a document into the page.
#include "trireme/web/page.h"

#include <fmt/format.h>

#include "trireme/base/error.h"

namespace trireme::web {
namespace {

constexpr std::string_view kPlace = R"(<script type="application/json" id="document">null</script>)";

// "</script>" or "<!--" in a text would end or confuse the element; in JSON '<' may be written as an escape, and stands in texts only.
std::string without_tags(const std::string& json) {
  std::string result;
  result.reserve(json.size());
  for (const char letter : json) {
    if (letter == '<')
      result += "\\u003c";
    else
      result += letter;
  }
  return result;
}

}  // namespace

std::string absence_text(std::string_view purpose, std::string_view reason) {
  return fmt::format(
      "{} needs the page, and this trireme was built without it: {}; install npm (Debian: nodejs, npm), let it reach its registry and "
      "build again, or use `trireme report RUN --markdown` and `trireme status RUN`, which need no page",
      purpose, reason);
}

void require_page(std::string_view purpose) {
  if (!page_absence().empty()) throw Error{failed_precondition, "{}", absence_text(purpose, page_absence())};
}

std::string page_with(const std::string& document_json) {
  require_page("an HTML report");
  const std::string_view empty = page();
  const auto place = empty.find(kPlace);
  ensure(place != std::string_view::npos, "the page has a place for its document");
  constexpr std::string_view kNull = "null</script>";
  const auto begin = place + kPlace.size() - kNull.size();
  std::string result(empty.substr(0, begin));
  result += without_tags(document_json);
  result += empty.substr(begin + std::string_view("null").size());
  return result;
}

}  // namespace trireme::web
