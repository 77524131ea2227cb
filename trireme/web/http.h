// SPDX-License-Identifier: Apache-2.0
// The part of HTTP/1.1 that a page of one's own needs: requests without a body, answers with their length, one a connection.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trireme::web {

struct Request {
  std::string method;
  std::string path;                            // without the query
  std::string query;                           // behind the '?'
  std::map<std::string, std::string> headers;  // names in lower case; of a repeated one the last

  std::string_view header(const std::string& name) const;
};

struct Response {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// `head` is everything up to the empty line. None: it is no request, or one with a body.
std::optional<Request> parse_request(std::string_view head);

// The value of `name` in "a=1&b=2", as it stands there; empty if it is not there.
std::string_view query_value(std::string_view query, std::string_view name);
// "a%20b" -> "a b"; a '%' without two hexadecimal digits stays.
std::string percent_decoded(std::string_view text);
// The value of `name` in "a=1; b=2".
std::string_view cookie_value(std::string_view cookies, std::string_view name);

// With its length and the order to close the connection; `head_only` leaves the body out, as an answer to HEAD does.
std::string to_bytes(const Response& response, bool head_only);

}  // namespace trireme::web
