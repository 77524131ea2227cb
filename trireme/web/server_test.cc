// SPDX-License-Identifier: Apache-2.0
// Tests of the web server over real sockets: who gets in, what they get, and what strangers can do.
#include "trireme/web/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/web/connection.h"
#include "trireme/web/page.h"

namespace trireme::web {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Every test ends, also if the server never answers.
constexpr int kPatience = 60;

Descriptor connect_to(int port) {
  Descriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{.tv_sec = kPatience};
  ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const sockaddr_in address{
      .sin_family = AF_INET, .sin_port = htons(static_cast<std::uint16_t>(port)), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return client;
}

void say(const Descriptor& client, std::string_view text) { (void)!::send(client.get(), text.data(), text.size(), MSG_NOSIGNAL); }

// Until the other end closes.
std::string hear(const Descriptor& client) {
  std::string all;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t count = ::recv(client.get(), buffer.data(), buffer.size(), 0);
    if (count <= 0) return all;
    all.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::string ask(int port, const std::string& text) {
  const Descriptor client = connect_to(port);
  say(client, text);
  return hear(client);
}

std::string get(const Server& server, const std::string& target, const std::string& headers = "", const std::string& host = "127.0.0.1") {
  return ask(server.port(), fmt::format("GET {} HTTP/1.1\r\nHost: {}:{}\r\n{}\r\n", target, host, server.port(), headers));
}

std::string bearer(const Server& server) { return fmt::format("Authorization: Bearer {}\r\n", server.token()); }

std::string header_of(const std::string& answer, const std::string& name) {
  const auto begin = answer.find("\r\n" + name + ": ");
  if (begin == std::string::npos) return "";
  const auto value = begin + name.size() + 4;
  return answer.substr(value, answer.find("\r\n", value) - value);
}

std::string body_of(const std::string& answer) { return answer.substr(answer.find("\r\n\r\n") + 4); }

TEST(WebServer, TheTokenBecomesACookieAndTheCookieOpensTheDocument) {
  if (!page_absence().empty()) GTEST_SKIP() << "a browser enters by the page, which this build lacks: " << page_absence();
  const Server server([] { return R"({"version":1})"; });
  EXPECT_EQ(server.url(), fmt::format("http://127.0.0.1:{}/?token={}", server.port(), server.token()));
  EXPECT_THAT(server.token(), testing::MatchesRegex("[0-9a-f]{32}"));
  const std::string entered = get(server, "/?token=" + server.token());
  EXPECT_THAT(entered, StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(body_of(entered), page());
  const std::string cookie = header_of(entered, "Set-Cookie");
  EXPECT_THAT(cookie, HasSubstr("; HttpOnly"));
  EXPECT_THAT(cookie, HasSubstr("; SameSite=Strict"));
  const std::string read = get(server, "/api/run", fmt::format("Cookie: a=b; {}\r\n", cookie.substr(0, cookie.find(';'))));
  EXPECT_THAT(read, StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(body_of(read), R"({"version":1})");
}

TEST(WebServer, WithoutTheTokenNothingIsRevealedOfTheRun) {
  std::atomic<int> calls{0};
  const Server server([&calls] {
    ++calls;
    return "secret";
  });
  const std::string token = server.token();
  std::string almost = token;
  almost.back() = almost.back() == '0' ? '1' : '0';
  for (const std::string& headers :
       {std::string(), "Authorization: Bearer " + almost + "\r\n", "Authorization: Bearer " + token.substr(1) + "\r\n",
        std::string("Authorization: Bearer \r\n"), "Authorization: Basic " + token + "\r\n", "Cookie: trireme=" + token + "\r\n"}) {
    const std::string answer = get(server, "/api/run", headers);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 401 ")) << headers;
    EXPECT_THAT(answer, Not(HasSubstr("secret"))) << headers;
  }
  EXPECT_THAT(get(server, "/api/run?token=" + token), StartsWith("HTTP/1.1 401 ")) << "addresses are kept in histories and logs";
  const std::string wrong = get(server, "/?token=" + almost);
  EXPECT_THAT(wrong, StartsWith("HTTP/1.1 401 "));
  EXPECT_EQ(header_of(wrong, "Set-Cookie"), "");
  EXPECT_EQ(calls, 0);
}

TEST(WebServer, TokensOfTwoServersDiffer) {
  const Server one([] { return ""; });
  const Server other([] { return ""; });
  EXPECT_NE(one.token(), other.token());
  EXPECT_THAT(get(one, "/api/run", bearer(other)), StartsWith("HTTP/1.1 401 "));
}

TEST(WebServer, AForeignNameIsRefusedEvenWithTheToken) {
  const Server server([] { return "secret"; });
  for (const std::string host : {"evil.example", "127.0.0.1.evil.example", "0.0.0.0", "", "localhost.evil.example"}) {
    const std::string answer = get(server, "/api/run", bearer(server), host);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 ")) << host;
    EXPECT_THAT(answer, Not(HasSubstr("secret"))) << host;
  }
  EXPECT_THAT(get(server, "/api/run", bearer(server), "localhost"), StartsWith("HTTP/1.1 200 "));
  // A port that ssh -L chose.
  EXPECT_THAT(ask(server.port(), "GET /api/run HTTP/1.1\r\nHost: 127.0.0.1:9\r\n" + bearer(server) + "\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST(WebServer, AnUnchangedDocumentIsNotSentAgain) {
  std::atomic<int> version{1};
  const Server server([&version] { return fmt::format("{{\"version\":{}}}", version.load()); });
  const std::string first = get(server, "/api/run", bearer(server));
  const std::string known = fmt::format("If-None-Match: {}\r\n", header_of(first, "ETag"));
  const std::string same = get(server, "/api/run", bearer(server) + known);
  EXPECT_THAT(same, StartsWith("HTTP/1.1 304 "));
  EXPECT_EQ(body_of(same), "");
  version = 2;
  EXPECT_THAT(get(server, "/api/run", bearer(server) + known), HasSubstr("{\"version\":2}"));
}

TEST(WebServer, ARunOfAFolderIsNamedInTheQuery) {
  const Server server([] { return "list"; }, {.run_document = [](const std::string& run) { return "run " + run; }});
  EXPECT_EQ(body_of(get(server, "/api/run", bearer(server))), "list");
  EXPECT_EQ(body_of(get(server, "/api/run?run=", bearer(server))), "list");
  EXPECT_EQ(body_of(get(server, "/api/run?run=a%20%C3%BC%2f..%2&x=1", bearer(server))), "run a \xc3\xbc/..%2");
  EXPECT_THAT(get(server, "/api/run?run=a"), StartsWith("HTTP/1.1 401 "));
  const Server one([] { return "document"; });
  EXPECT_EQ(body_of(get(one, "/api/run?run=a", bearer(one))), "document");
}

TEST(WebServer, EveryAnswerIsProtected) {
  const Server server([] { return "{}"; });
  // Without a page no script may run at all.
  const std::string policy = page_absence().empty() ? "default-src 'none'; script-src 'sha256-" : "default-src 'none'; base-uri";
  for (const std::string& answer : {get(server, "/"), get(server, "/api/run", bearer(server)), get(server, "/api/run"),
                                    get(server, "/none", bearer(server)), ask(server.port(), "nonsense\r\n\r\n")}) {
    EXPECT_THAT(header_of(answer, "Content-Security-Policy"), StartsWith(policy)) << answer;
    EXPECT_THAT(header_of(answer, "Content-Security-Policy"), Not(HasSubstr("unsafe")));
    EXPECT_EQ(header_of(answer, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header_of(answer, "Cache-Control"), "no-store");
    EXPECT_EQ(header_of(answer, "Referrer-Policy"), "no-referrer");
    EXPECT_EQ(header_of(answer, "Access-Control-Allow-Origin"), "");
  }
}

TEST(WebServer, OnlyReadingIsPossible) {
  const Server server([] { return "{}"; });
  const std::string request = " /api/run HTTP/1.1\r\nHost: localhost\r\n" + bearer(server) + "\r\n";
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE"})
    EXPECT_THAT(ask(server.port(), method + request), StartsWith("HTTP/1.1 405 ")) << method;
  const std::string head = ask(server.port(), "HEAD" + request);
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(header_of(head, "Content-Length"), "2");
  EXPECT_EQ(body_of(head), "");
}

TEST(WebServer, BadAndLongRequestsAreRefused) {
  const Server server([] { return "{}"; });
  for (const std::string text :
       {"GET\r\n\r\n", "GET / FTP\r\n\r\n", "GET http://a/ HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "\r\n\r\n"})
    EXPECT_THAT(ask(server.port(), text), StartsWith("HTTP/1.1 400 ")) << text;
  EXPECT_THAT(ask(server.port(), "GET / HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n"), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(ask(server.port(), std::string(200'000, 'x')), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(get(server, "/api/run", bearer(server)), StartsWith("HTTP/1.1 200 "));
}

TEST(WebServer, AClientThatSendsNothingIsDroppedAndBlocksNoOther) {
  const Server server([] { return "{}"; }, {.max_connections = 4, .request_seconds = Seconds(4)});
  std::vector<Descriptor> silent;
  for (int i = 0; i < 50; ++i) {
    silent.push_back(connect_to(server.port()));
    say(silent.back(), "GET / HT");
  }
  EXPECT_THAT(get(server, "/api/run", bearer(server)), StartsWith("HTTP/1.1 200 "));
  for (const Descriptor& client : silent) EXPECT_EQ(hear(client), "");  // ends: each was closed
}

TEST(WebServer, ALongDocumentArrivesWhole) {
  std::string text;
  text.resize(20'000'000, 'x');
  const Server server([&text]() -> std::string { return text; });
  const std::string answer = get(server, "/api/run", bearer(server));
  EXPECT_EQ(header_of(answer, "Content-Length"), "20000000");
  EXPECT_TRUE(body_of(answer) == text);
}

TEST(WebServer, ARunThatCannotBeReadIsReportedInWords) {
  const Server server([]() -> std::string { throw Error{data_loss, "line 3 of \"journal\" is no record"}; });
  const std::string answer = get(server, "/api/run", bearer(server));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(body_of(answer), R"({"error":"line 3 of \"journal\" is no record"})");
}

TEST(WebServer, APortThatIsTakenIsNamed) {
  const Server server([] { return "{}"; });
  EXPECT_THAT(thrown_error([&server] { const Server second([] { return "{}"; }, {.port = server.port()}); }),
              AllOf(StartsWith("unavailable: "), HasSubstr("is taken")));
}

std::string failure_of_listening_at(const std::string& address) {
  return thrown_error([&address] { const Server server([] { return "{}"; }, {.address = address}); });
}

TEST(WebServer, ListensOnlyWhereConfigured) {
  for (const char* address : {"0.0.0.0", "somewhere", "::"}) EXPECT_NE(failure_of_listening_at(address), "no error") << address;
}

TEST(WebServer, AnOpenPageGetsALastLook) {
  std::atomic<int> looks{0};
  Server server([&looks] { return std::to_string(++looks); });
  server.wait_for_last_look(Seconds(3600));  // no client has asked: it does not wait
  get(server, "/api/run", bearer(server));
  std::thread browser([&server] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    get(server, "/api/run", bearer(server));
  });
  server.wait_for_last_look(Seconds(kPatience));
  EXPECT_EQ(looks, 2);
  browser.join();
}

}  // namespace
}  // namespace trireme::web
