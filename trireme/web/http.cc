// SPDX-License-Identifier: Apache-2.0
// Reading of requests and writing of answers.
#include "trireme/web/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace trireme::web {
namespace {

constexpr std::string_view kSpaces = " \t";

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& letter : result)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return result;
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char letter) { return letter > ' ' && letter < '\x7f'; });
}

// The text before `separator`, which is taken off `rest` together with it.
std::string_view take_until(std::string_view& rest, std::string_view separator) {
  const auto end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + separator.size());
  return part;
}

std::string_view value_in(std::string_view list, std::string_view name, char separator) {
  while (!list.empty()) {
    const std::string_view pair = trimmed(take_until(list, {&separator, 1}));
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=') return pair.substr(name.size() + 1);
  }
  return {};
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Service Unavailable";
  }
}

bool parse_first_line(std::string_view line, Request& request) {
  request.method = take_until(line, " ");
  std::string_view target = take_until(line, " ");
  if (!line.starts_with("HTTP/1.") || !is_printable(target) || !target.starts_with('/')) return false;
  request.path = take_until(target, "?");
  request.query = target;
  return !request.method.empty() && is_printable(request.method);
}

}  // namespace

std::string_view Request::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string_view{} : found->second;
}

std::optional<Request> parse_request(std::string_view head) {
  Request request;
  if (!parse_first_line(take_until(head, "\r\n"), request)) return std::nullopt;
  while (!head.empty()) {
    std::string_view line = take_until(head, "\r\n");
    if (line.empty()) break;
    if (line.find(':') == std::string_view::npos) return std::nullopt;
    const std::string_view name = take_until(line, ":");
    if (name.empty() || !is_printable(name)) return std::nullopt;
    request.headers[lower(name)] = trimmed(line);
  }
  const std::string_view length = request.header("content-length");
  if (!request.header("transfer-encoding").empty() || !(length.empty() || length == "0")) return std::nullopt;
  return request;
}

std::string_view query_value(std::string_view query, std::string_view name) { return value_in(query, name, '&'); }

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* const digits = text.data() + i + 1;
    const bool is_code = text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    result += is_code ? static_cast<char>(byte) : text[i];
    if (is_code) i += 2;
  }
  return result;
}

std::string_view cookie_value(std::string_view cookies, std::string_view name) { return value_in(cookies, name, ';'); }

std::string to_bytes(const Response& response, bool head_only) {
  std::string bytes = fmt::format("HTTP/1.1 {} {}\r\nConnection: close\r\n", response.status, reason_of(response.status));
  for (const auto& [name, value] : response.headers) bytes += fmt::format("{}: {}\r\n", name, value);
  if (response.status != 304) bytes += fmt::format("Content-Length: {}\r\n", response.body.size());
  bytes += "\r\n";
  if (!head_only && response.status != 304) bytes += response.body;
  return bytes;
}

}  // namespace trireme::web
