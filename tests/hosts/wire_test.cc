// SPDX-License-Identifier: Apache-2.0
// What an attacker who listens at the switch can read of a training between two hosts.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/if_ether.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "tests/cluster/training_process.h"
#include "tests/hosts/host_commands.h"
#include "tests/hosts/test_hosts.h"

namespace trireme::tests {
namespace {

// Keeps every frame that one of two hosts sends the other.
class Listener {
 public:
  explicit Listener(const TestHosts& hosts)
      : first_(number_of(hosts.address(0))), second_(number_of(hosts.address(1))), descriptor_(socket_in(switch_space(::getpid()))) {
    thread_ = std::jthread([this](const std::stop_token& stop) { listen(stop); });
  }
  ~Listener() {
    thread_ = {};
    ::close(descriptor_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::vector<std::string> frames() const {
    const std::lock_guard lock(mutex_);
    return frames_;
  }

 private:
  static std::string number_of(const std::string& address) {
    std::string bytes(4, '\0');
    ::inet_pton(AF_INET, address.c_str(), bytes.data());
    return bytes;
  }

  // A socket stays in the network that it was made in; the thread that made it is not needed any more.
  static int socket_in(const std::string& space) {
    int made = -1;
    std::jthread([&] {
      const int file = ::open(("/run/netns/" + space).c_str(), O_RDONLY | O_CLOEXEC);
      if (::setns(file, CLONE_NEWNET) == 0) made = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
      ::close(file);
      const int room = 64 << 20;
      ::setsockopt(made, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    }).join();
    return made;
  }

  void listen(const std::stop_token& stop) {
    constexpr std::size_t kFrame = 128 << 10;
    constexpr std::size_t kAddresses = 14 + 12;  // behind Ethernet's header, in IP's
    std::string frame;
    while (!stop.stop_requested()) {
      pollfd wanted{.fd = descriptor_, .events = POLLIN, .revents = 0};
      if (::poll(&wanted, 1, 20) <= 0) continue;
      frame.resize(kFrame);
      const ssize_t length = ::recv(descriptor_, frame.data(), frame.size(), 0);
      if (length < static_cast<ssize_t>(kAddresses + 8)) continue;
      frame.resize(static_cast<std::size_t>(length));
      const std::string pair = frame.substr(kAddresses, 8);
      const std::lock_guard lock(mutex_);
      if (pair == first_ + second_ || pair == second_ + first_) frames_.push_back(frame);
    }
  }

  std::string first_, second_;
  int descriptor_;
  mutable std::mutex mutex_;
  std::vector<std::string> frames_;
  std::jthread thread_;
};

constexpr std::string_view kJob = R"(
[model]
name = "mlp_128"
[data]
name = "synthetic_digits"
samples = 800
test_samples = 50
[train]
epochs = 1
batch_size = 100
[train.optimizer]
name = "sgd"
learning_rate = 0.1
[strategy]
name = "local_sgd"
steps = 4
)";

class Wire : public TrainingFolder {
 protected:
  // How many pieces of the final model were in frames between the hosts; it is what workers averaged last.
  int captured_pieces(const TestHosts& hosts, const std::string& runs, const std::string& encrypt) {
    write_file_atomically(folder_ / "job.toml", kJob);
    const Listener listener(hosts);
    TrainingProcess training({(folder_ / "job.toml").string(), "--runs", (folder_ / runs).string(), "--cluster",
                              hosts.cluster_file().string(), "--threads", "1", "--set", "strategy.encrypt=" + encrypt});
    EXPECT_EQ(training.wait(), 0) << training.text();
    const auto frames = listener.frames();
    constexpr std::size_t kPiece = 48;
    constexpr std::size_t kEvery = 8192;
    const std::string model = final_model(runs);
    std::size_t heard = 0;
    for (const std::string& frame : frames) heard += frame.size();
    EXPECT_GT(heard, 2 * model.size());  // two averages, half of the model each way, twice
    int found = 0;
    for (std::size_t at = kEvery; at + kPiece < model.size(); at += kEvery) {
      const std::string piece = model.substr(at, kPiece);
      found += std::ranges::any_of(frames, [&](const std::string& frame) { return frame.find(piece) != std::string::npos; }) ? 1 : 0;
    }
    return found;
  }
};

TEST_F(Wire, WeightsCanBeReadBetweenHostsOnlyWithoutEncryption) {
  const TestHosts hosts(2);
  EXPECT_GT(captured_pieces(hosts, "sealed", "false"), 10);
  EXPECT_EQ(captured_pieces(hosts, "encrypted", "true"), 0);
}

}  // namespace
}  // namespace trireme::tests
