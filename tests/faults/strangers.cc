// SPDX-License-Identifier: Apache-2.0
// Port scans, floods of handshakes and held connections, by plain sockets; descriptors and memory of a process from /proc.
#include "tests/faults/strangers.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::tests {
namespace {

namespace fs = std::filesystem;

constexpr int kConnectMs = 200;

// Numbers of the sockets it has open.
std::set<std::string> sockets_of(pid_t process) {
  std::set<std::string> found;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fd", process), gone)) {
    const std::string target = fs::read_symlink(entry.path(), gone).string();
    if (target.starts_with("socket:[")) found.insert(target.substr(8, target.size() - 9));
  }
  return found;
}

// "0100007F:1F90"
Port parse_port(const std::string& text) {
  in_addr address{};
  address.s_addr = static_cast<in_addr_t>(std::stoul(text.substr(0, 8), nullptr, 16));
  std::array<char, INET_ADDRSTRLEN> words{};
  ::inet_ntop(AF_INET, &address, words.data(), words.size());
  return {words.data(), std::stoi(text.substr(9), nullptr, 16)};
}

std::string text_of(pid_t process, const char* file) {
  try {
    return read_file(fmt::format("/proc/{}/{}", process, file));
  } catch (const Error&) {
    return "";  // it has ended
  }
}

}  // namespace

std::vector<Port> ports_of(pid_t process) {
  const std::set<std::string> own = sockets_of(process);
  std::vector<Port> found;
  std::istringstream table(text_of(process, "net/tcp"));
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string number, local, remote, state, queue, timer, retries, user, timeout, socket;
    words >> number >> local >> remote >> state >> queue >> timer >> retries >> user >> timeout >> socket;
    constexpr std::string_view kListens = "0A";
    if (state == kListens && own.contains(socket)) found.push_back(parse_port(local));
  }
  return found;
}

std::int64_t descriptors_of(pid_t process) {
  std::error_code gone;
  return std::distance(fs::directory_iterator(fmt::format("/proc/{}/fd", process), gone), fs::directory_iterator());
}

std::int64_t memory_in_use(pid_t process) {
  const std::string status = text_of(process, "status");
  const std::size_t at = status.find("VmRSS:");
  return at == std::string::npos ? 0 : std::stoll(status.substr(at + 6)) * 1024;
}

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> found;
  std::error_code gone;
  for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
    std::istringstream numbers(text_of(process, fmt::format("task/{}/children", task.path().filename().string()).c_str()));
    for (pid_t child = 0; numbers >> child;) found.push_back(child);
  }
  return found;
}

std::string client_hello() {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  const std::unique_ptr<SSL, decltype(&SSL_free)> connection(SSL_new(context.get()), SSL_free);
  BIO* out = BIO_new(BIO_s_mem());
  SSL_set_bio(connection.get(), BIO_new(BIO_s_mem()), out);  // it owns both
  constexpr std::array<unsigned char, 3> kHttp2{2, 'h', '2'};
  SSL_set_alpn_protos(connection.get(), kHttp2.data(), kHttp2.size());
  SSL_set_connect_state(connection.get());
  SSL_do_handshake(connection.get());  // says hello, then wants an answer
  char* bytes = nullptr;
  const long length = BIO_get_mem_data(out, &bytes);
  return {bytes, static_cast<std::size_t>(length)};
}

Caller::Caller(const Port& port) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port.number));
  ::inet_pton(AF_INET, port.address.c_str(), &to.sin_addr);
  if (::connect(descriptor_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) return;
  pollfd wanted{.fd = descriptor_, .events = POLLOUT, .revents = 0};
  if (::poll(&wanted, 1, kConnectMs) == 1 && (wanted.revents & (POLLERR | POLLHUP)) == 0) return;
  ::close(descriptor_);
  descriptor_ = -1;
}

Caller::~Caller() {
  if (open()) ::close(descriptor_);
}

Caller::Caller(Caller&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

void Caller::say(const std::string& bytes) const {
  if (open()) (void)::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

const std::vector<std::string>& greetings() {
  static const std::vector<std::string> kAll = [] {
    const std::string our_hello = "trireme3" + std::string("\1\0\0\0\0\0\0\0\1\0\0\0", 12) + random_bytes(32 + 32);
    return std::vector<std::string>{"",        random_bytes(64),     "GET / HTTP/1.1\r\nHost: scanner\r\n\r\n", client_hello(),
                                    our_hello, random_bytes(1 << 20)};
  }();
  return kAll;
}

std::int64_t pester(const std::function<std::vector<Port>()>& ports, const std::function<bool()>& goes_on, double each_second) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::int64_t made = 0;
  std::vector<Port> known;
  auto looked = start - std::chrono::hours(1);
  for (std::size_t turn = 0; goes_on(); ++turn) {
    if (Clock::now() - looked > std::chrono::milliseconds(20)) {
      known = ports();
      looked = Clock::now();
    }
    for (const Port& port : known) {
      const Caller caller(port);
      caller.say(greetings()[turn % greetings().size()]);
      made += caller.open() ? 1 : 0;
    }
    const std::chrono::duration<double> due(static_cast<double>(made) / each_second);
    std::this_thread::sleep_until(start + std::chrono::duration_cast<Clock::duration>(due));
    if (known.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return made;
}

}  // namespace trireme::tests
