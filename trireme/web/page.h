// SPDX-License-Identifier: Apache-2.0
// The page that shows a run: HTML, style and code in one text, made from web/ when Trireme is built.
#pragma once

#include <string>
#include <string_view>

namespace trireme::web {

// Without a document: it asks its server for /api/run, again and again while the run goes on.
std::string_view page();
// What the page's own style and code need, and nothing else, as a Content-Security-Policy.
std::string_view page_policy();
// Why this program has no page, empty if it has one: it is built without where npm or its packages can't be had.
std::string_view page_absence();
// What an absence means and what to do; `purpose` is what the page was wanted for, e.g. "the dashboard".
std::string absence_text(std::string_view purpose, std::string_view reason);
// failed_precondition with that text if there is no page.
void require_page(std::string_view purpose);

// With a run's or a comparison's document inside: a file that needs no server and loads nothing. Requires the page.
std::string page_with(const std::string& document_json);

}  // namespace trireme::web
