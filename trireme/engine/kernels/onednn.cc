// SPDX-License-Identifier: Apache-2.0
// oneDNN's CPU device, bound primitives and layouts.
#include "trireme/engine/kernels/onednn.h"

#include <utility>

#include "trireme/engine/kernels/cpu.h"

namespace trireme::engine {
namespace {

dnnl::engine make_engine() {
  cap_instruction_set();
  return with_onednn("opening the CPU", [] { return dnnl::engine(dnnl::engine::kind::cpu, 0); });
}

}  // namespace

Device::Device() : engine_(make_engine()), stream_(engine_) {}

BoundPrimitive::BoundPrimitive(const Device& device, dnnl::primitive primitive, const std::vector<Argument>& arguments)
    : stream_(device.stream()), primitive_(std::move(primitive)) {
  for (const Argument& argument : arguments) {
    memories_.emplace_back(argument.layout, device.engine(), argument.data);
    arguments_.push_back({argument.kind, memories_.back().get()});
  }
}

void BoundPrimitive::set_data(int kind, const float* data) {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    // oneDNN has no const memory; inputs are only read.
    if (arguments_[i].arg == kind) memories_[i].set_data_handle(const_cast<float*>(data));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
}

void BoundPrimitive::run() const {
  // The C call: the C++ one builds a list of arguments each time.
  const auto status = dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data());
  if (status != dnnl_success) throw Error{internal, "oneDNN: executing a primitive failed with status {}", static_cast<int>(status)};
}

dnnl::memory::desc plain_layout(const dnnl::memory::dims& dims) {
  dnnl::memory::dims strides(dims.size(), 1);
  for (std::size_t axis = dims.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * dims[axis];
  return {dims, dnnl::memory::data_type::f32, strides};
}

dnnl::memory::desc blocked_layout(const dnnl::memory::dims& dims) {
  const auto tag = channel_block() == 16 ? dnnl::memory::format_tag::nChw16c : dnnl::memory::format_tag::nChw8c;
  return {dims, dnnl::memory::data_type::f32, tag};
}

dnnl::memory::desc any_layout(const dnnl::memory::dims& dims) {
  return {dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::memory::desc layout_of(const dnnl::primitive_desc_base& primitive, int argument) {
  return primitive.query_md(dnnl::query::exec_arg_md, argument);
}

}  // namespace trireme::engine
