// SPDX-License-Identifier: Apache-2.0
// What the dashboard answers: the page, the run's document, and a refusal for all clients without the token.
#pragma once

#include <functional>
#include <string>

#include "trireme/web/http.h"

namespace trireme::web {

struct SiteOptions {
  std::string token;        // hexadecimal digits; who has it may read
  std::string cookie_name;  // cookies don't know ports, so each server has its own
  std::string address;      // the server's; a request must name it, or this machine as itself
  std::function<std::string()> metrics = {};
  std::function<std::string(const std::string& run)> run_document = {};  // of one run of a folder, for /api/run?run=NAME
};

class Site {
 public:
  // `document` makes the JSON of the run as it is now; an Error it throws is reported to the page.
  Site(std::function<std::string()> document, SiteOptions options);

  Response answer(const Request& request) const;

 private:
  bool names_us(const Request& request) const;
  bool is_allowed(const Request& request) const;
  bool is_token(std::string_view text) const;
  Response let_in() const;
  Response document_for(const Request& request) const;
  std::string document_named_by(const Request& request) const;
  Response metrics() const;

  std::function<std::string()> document_;
  SiteOptions options_;
};

// What every answer carries: nothing is kept, guessed, framed or fetched from elsewhere.
void add_protection(Response& response);

}  // namespace trireme::web
