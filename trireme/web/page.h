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

// With a run's or a comparison's document inside: a file that needs no server and loads nothing.
std::string page_with(const std::string& document_json);

}  // namespace trireme::web
