// SPDX-License-Identifier: Apache-2.0
// Passes what a training reports on to another observer later, on another thread.
#pragma once

#include <functional>
#include <utility>

#include "trireme/train/records/observer.h"

namespace trireme::run {

class QueuedObserver final : public train::Observer {
 public:
  // `post` calls what it gets in the order it gets it. `to` must outlive those calls.
  QueuedObserver(train::Observer& to, std::function<void(std::function<void()>)> post) : to_(to), post_(std::move(post)) {}

  void step(const train::StepRecord& record) override {
    post_([this, record] { to_.step(record); });
  }
  void epoch(const train::EpochRecord& record) override {
    post_([this, record] { to_.epoch(record); });
  }
  void checkpoint(const train::CheckpointRecord& record) override {
    post_([this, record] { to_.checkpoint(record); });
  }
  void test(const train::Score& score) override {
    post_([this, score] { to_.test(score); });
  }
  void straggler(const train::StragglerRecord& record) override {
    post_([this, record] { to_.straggler(record); });
  }
  void slow_link(const train::SlowLinkRecord& record) override {
    post_([this, record] { to_.slow_link(record); });
  }
  void server(const train::ServerRecord& record) override {
    post_([this, record] { to_.server(record); });
  }
  void switched(const train::SwitchRecord& record) override {
    post_([this, record] { to_.switched(record); });
  }

 private:
  train::Observer& to_;
  std::function<void(std::function<void()>)> post_;
};

}  // namespace trireme::run
