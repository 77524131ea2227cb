// SPDX-License-Identifier: Apache-2.0
// Decides who may read what: token, host, method, and the answers.
#include "trireme/web/site.h"

#include <fmt/format.h>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/web/page.h"

namespace trireme::web {
namespace {

Response text(int status, std::string_view content) {
  return {.status = status, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}, .body = std::string(content) + "\n"};
}

Response page_with_status(int status) {
  if (!page_absence().empty())
    return text(status == 200 ? 503 : status, absence_text("This address", page_absence()) + ". /api/run and /metrics are here.");
  return {.status = status, .headers = {{"Content-Type", "text/html; charset=utf-8"}}, .body = std::string(page())};
}

// "127.0.0.1:8080" -> "127.0.0.1". The port is left out, since `ssh -L` may have changed it, and a foreign name is a foreign name with any
// port.
std::string_view name_part(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

std::string quoted(std::string_view message) {
  std::string result = "\"";
  for (const char letter : message) {
    if (letter == '"' || letter == '\\') result += '\\';
    result += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
  }
  return result + "\"";
}

}  // namespace

Site::Site(std::function<std::string()> document, SiteOptions options) : document_(std::move(document)), options_(std::move(options)) {}

bool Site::is_token(std::string_view text) const { return !text.empty() && equal_in_constant_time(text, options_.token); }

// A page of another site can make a browser send requests here under a name of its own (DNS rebinding); then it could read the answers.
bool Site::names_us(const Request& request) const {
  const std::string_view name = name_part(request.header("host"));
  return name == "127.0.0.1" || name == "localhost" || name == "[::1]" || name == options_.address;
}

bool Site::is_allowed(const Request& request) const {
  constexpr std::string_view kBearer = "Bearer ";
  std::string_view authorization = request.header("authorization");
  if (authorization.starts_with(kBearer)) return is_token(authorization.substr(kBearer.size()));
  return is_token(cookie_value(request.header("cookie"), options_.cookie_name));
}

// The page then takes the token out of the address bar. It is no redirection, since a browser that came here by a link would not send
// a strict cookie to where it is sent on.
Response Site::let_in() const {
  Response response = page_with_status(200);
  response.headers.emplace_back("Set-Cookie",
                                fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", options_.cookie_name, options_.token));
  return response;
}

std::string Site::document_named_by(const Request& request) const {
  const std::string_view run = query_value(request.query, "run");
  return run.empty() || !options_.run_document ? document_() : options_.run_document(percent_decoded(run));
}

Response Site::document_for(const Request& request) const {
  Response response{.headers = {{"Content-Type", "application/json"}}};
  try {
    response.body = document_named_by(request);
  } catch (const Error& error) {  // a handler of requests: becomes an answer
    response.status = 503;
    response.body = "{\"error\":" + quoted(error.what()) + "}";
    return response;
  }
  const std::string tag = fmt::format("\"{}\"", digest_of(Digest::Kind::sha256, response.body).substr(0, 32));
  response.headers.emplace_back("ETag", tag);
  if (request.header("if-none-match") == tag) {
    response.status = 304;
    response.body.clear();
  }
  return response;
}

Response Site::metrics() const {
  try {
    return {.headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, .body = options_.metrics()};
  } catch (const Error& error) {  // as above
    return text(503, error.what());
  }
}

Response Site::answer(const Request& request) const {
  if (!names_us(request)) return text(403, "This server answers only under the address that trireme printed.");
  if (request.method != "GET" && request.method != "HEAD") {
    Response refusal = text(405, "Only GET and HEAD are answered.");
    refusal.headers.emplace_back("Allow", "GET, HEAD");
    return refusal;
  }
  if (request.path == "/" && is_token(query_value(request.query, "token"))) return let_in();
  // The page itself says nothing of the run. After a reload a browser may hold the cookie back here, but not when the page asks.
  if (request.path == "/") return page_with_status(is_allowed(request) ? 200 : 401);
  if (!is_allowed(request))
    return text(401, "Please open the whole address that trireme printed, with its token: http://127.0.0.1:PORT/?token=...");
  if (request.path == "/api/run") return document_for(request);
  if (request.path == "/metrics" && options_.metrics) return metrics();
  return text(404, "There is nothing here. The page is at /, its document at /api/run.");
}

void add_protection(Response& response) {
  response.headers.emplace_back("Content-Security-Policy", std::string(page_policy()) + "; frame-ancestors 'none'");
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("X-Frame-Options", "DENY");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  response.headers.emplace_back("Cache-Control", "no-store");
}

}  // namespace trireme::web
