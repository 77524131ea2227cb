// SPDX-License-Identifier: Apache-2.0
// One connection of the web server: a request comes in, an answer goes out, and it is over; all before a deadline.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "trireme/base/clock.h"
#include "trireme/base/descriptor.h"
#include "trireme/web/http.h"

namespace trireme::web {

class Connection {
 public:
  Connection(Descriptor client, Seconds deadline) : client_(std::move(client)), deadline_(deadline) {}

  int descriptor() const { return client_.get(); }
  short awaited() const;  // for poll: bytes to read, or room to write
  bool is_over(Seconds now) const { return phase_ == Phase::over || now >= deadline_; }

  // Reads or writes what is possible without waiting; `answer` is called once, when the request is there.
  void go_on(const std::function<Response(const Request&)>& answer);

 private:
  enum class Phase { reading, writing, draining, over };

  void read(const std::function<Response(const Request&)>& answer);
  void reply(Response response, bool head_only);
  void write();
  void drain();

  Descriptor client_;
  Seconds deadline_;
  Phase phase_ = Phase::reading;
  std::string received_;
  std::string to_send_;
  std::size_t sent_ = 0;
};

}  // namespace trireme::web
