// SPDX-License-Identifier: Apache-2.0
// Work of a strategy whose workers get leases of samples, each at its own pace, instead of dividing each batch in step.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trireme/data/pipeline/batch_stream.h"
#include "trireme/ps/server.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/records/observer.h"

namespace trireme::train {

// A stretch: from begin() until is_over() returns true each node works on its own; then all meet. One node, the lead, hands out the
// leases and knows the result of each.
class LeasedWork {
 public:
  virtual ~LeasedWork() = default;
  virtual int lead() const = 0;                                // its rank
  virtual bool computes(int rank) const = 0;                   // whether that node does
  virtual int rank_of(const std::string& node) const = 0;      // -1: no node of this team
  virtual std::int64_t lease_size() const = 0;                 // samples, at most
  virtual void begin(const Cursor& at, std::int64_t end) = 0;  // all nodes together; `end`: in the epoch
  // The next lease of this node, for its batch to carry; nothing: there are no more in this stretch. Called by the thread that makes
  // batches.
  virtual std::optional<data::Place> next() = 0;
  virtual double waited_for_work() const = 0;  // seconds in next(), in total; any thread
  // This node has done all its leases. False: there is another one after all, since one of them did not count.
  virtual bool retire() = 0;
  virtual bool is_over(Seconds wait) = 0;  // as far as this node knows
  // At the lead.
  virtual void stop() = 0;                                  // hands out no more, so that all meet soon
  virtual std::vector<ps::WorkDone> done() = 0;             // since the last call, in order; the parts of one update are one
  virtual std::optional<StragglerRecord> straggler() = 0;   // found since the last call
  virtual std::optional<ServerRecord> server_record() = 0;  // of this node since the last call, if it is a server
  virtual std::int64_t take_unused() = 0;  // samples this node computed whose step was skipped for another's fault, since the last call
  // The state of the training is with servers, and further than what any node has.
  virtual bool is_under_way() const = 0;
  // Ends every wait in next(), for good.
  virtual void interrupt() = 0;
};

}  // namespace trireme::train
