// SPDX-License-Identifier: Apache-2.0
// oneDNN's CPU device, primitives bound to their memory, and the layouts the engine uses; a dnnl::error becomes an Error here.
#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <vector>

#include "trireme/base/error.h"

namespace trireme::engine {

class Device {
 public:
  Device();

  const dnnl::engine& engine() const { return engine_; }
  const dnnl::stream& stream() const { return stream_; }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
};

// A primitive with its arguments, ready to run as often as wanted.
class BoundPrimitive {
 public:
  struct Argument {
    int kind;  // DNNL_ARG_...
    dnnl::memory::desc layout;
    void* data;
  };
  BoundPrimitive(const Device& device, dnnl::primitive primitive, const std::vector<Argument>& arguments);

  // For memory that belongs to the caller of a step: the parameters and gradients.
  void set_data(int kind, const float* data);
  void run() const;

 private:
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

// Calls a function that may throw dnnl::error; `what` names the thing that was tried.
template <class Function>
auto with_onednn(std::string_view what, const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (const dnnl::error& error) {  // a foreign exception becomes an Error
    throw Error{internal, "oneDNN: {}: {} (status {})", what, error.what(), static_cast<int>(error.status)};
  }
}

// Plain row-major, samples outermost.
dnnl::memory::desc plain_layout(const dnnl::memory::dims& dims);
// Four dimensions, channels in blocks of channel_block().
dnnl::memory::desc blocked_layout(const dnnl::memory::dims& dims);
dnnl::memory::desc any_layout(const dnnl::memory::dims& dims);

// The engine hands every primitive its scratchpad, so that none allocates.
dnnl::primitive_attr user_scratchpad();

// The layout a primitive has chosen for an argument; of zero size if it has no such argument.
dnnl::memory::desc layout_of(const dnnl::primitive_desc_base& primitive, int argument);

}  // namespace trireme::engine
