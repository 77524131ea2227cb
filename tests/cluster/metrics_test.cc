// SPDX-License-Identifier: Apache-2.0
// A real Prometheus server reads a real training.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/cluster/small_job.h"
#include "tests/cluster/training_process.h"
#include "trireme/base/json.h"

namespace trireme::tests {
namespace {

constexpr const char* kPrometheus = "/usr/bin/prometheus";

sockaddr_in at_loopback(int port) {
  return {.sin_family = AF_INET, .sin_port = htons(static_cast<std::uint16_t>(port)), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = at_loopback(0);
  socklen_t length = sizeof address;
  EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), length), 0);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length);
  ::close(socket);
  return ntohs(address.sin_port);
}

// The answer's body; empty if no process answers.
std::string get(int port, const std::string& path, const std::string& token = {}) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = at_loopback(port);
  std::string answer;
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    const std::string bearer = token.empty() ? "" : fmt::format("Authorization: Bearer {}\r\n", token);
    const std::string request = fmt::format("GET {} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\n{}\r\n", path, port, bearer);
    (void)!::write(socket, request.data(), request.size());
    std::array<char, 4096> bytes{};
    for (ssize_t count = 0; (count = ::read(socket, bytes.data(), bytes.size())) > 0;)
      answer.append(bytes.data(), static_cast<std::size_t>(count));
  }
  ::close(socket);
  const std::size_t body = answer.find("\r\n\r\n");
  return body == std::string::npos ? "" : answer.substr(body + 4);
}

class Metrics : public TrainingFolder {
 protected:
  // Ends with the test.
  std::unique_ptr<Process> prometheus(int port, int training_port) const {
    write_file_atomically(folder_ / "prometheus.yml",
                          fmt::format("global: {{scrape_interval: 1s}}\nscrape_configs:\n  - job_name: trireme\n    static_configs: "
                                      "[{{targets: ['127.0.0.1:{}']}}]\n    authorization: {{credentials_file: {}}}\n",
                                      training_port, (latest("runs") / "dashboard.token").string()));
    return std::make_unique<Process>(
        ProcessOptions{.argv = {kPrometheus, "--config.file", (folder_ / "prometheus.yml").string(), "--storage.tsdb.path",
                                (folder_ / "tsdb").string(), "--web.listen-address", fmt::format("127.0.0.1:{}", port)},
                       .on_line = {},
                       .on_exit = {}});
  }
  // Of a query, over its series; 0 if Prometheus has nothing.
  static double sum_of(int port, const std::string& query) {
    const auto answer = parse_json_or_discard(get(port, "/api/v1/query?query=" + query));
    if (answer.is_discarded() || answer.value("status", "") != "success") return 0;
    double sum = 0;
    for (const auto& series : answer["data"]["result"]) sum += std::stod(series["value"][1].get<std::string>());
    return sum;
  }
};

TEST_F(Metrics, PrometheusReadsATrainingOfTwoNodes) {
  if (!std::filesystem::exists(kPrometheus)) GTEST_SKIP() << "needs the Debian package prometheus";
  write_job(small_job({.samples = 6000, .epochs = 1000, .batch_size = 60, .optimizer = "sgd"}));
  const int training_port = free_port();
  const int server_port = free_port();
  TrainingProcess training = begin("runs", {"-n", "2", "--dashboard-port", fmt::format("{}", training_port)});
  ASSERT_TRUE(comes_to("runs", 20)) << training.text();
  const std::string token = read_file(latest("runs") / "dashboard.token");
  EXPECT_EQ(get(training_port, "/metrics").find("trireme_"), std::string::npos) << "without the token";
  EXPECT_NE(get(training_port, "/metrics", token).find("trireme_steps_total"), std::string::npos);
  const auto server = prometheus(server_port, training_port);
  EXPECT_TRUE(wait_until([&] { return sum_of(server_port, "trireme_node_steps_total") > 0; }, std::chrono::seconds(60)));
  EXPECT_EQ(sum_of(server_port, "trireme_run_running"), 1);
  EXPECT_EQ(sum_of(server_port, "trireme_node_up"), 2);
  EXPECT_GT(sum_of(server_port, "trireme_step_phase_seconds_total"), 0);
  EXPECT_GT(sum_of(server_port, "trireme_machine_memory_bytes"), 0);
  const double before = sum_of(server_port, "trireme_steps_total");
  EXPECT_TRUE(wait_until([&] { return sum_of(server_port, "trireme_steps_total") > before; }, std::chrono::seconds(60)));
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 128 + SIGTERM) << training.text();
  EXPECT_FALSE(std::filesystem::exists(latest("runs") / "dashboard.token"));
}

}  // namespace
}  // namespace trireme::tests
