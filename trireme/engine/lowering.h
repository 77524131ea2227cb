// SPDX-License-Identifier: Apache-2.0
// The workbench on which ops lower themselves: tensors, their gradients, buffers and steps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "trireme/engine/algorithm_choice.h"
#include "trireme/engine/gradient_book.h"
#include "trireme/engine/kernels/blocked_kernels.h"
#include "trireme/engine/kernels/flat_kernels.h"
#include "trireme/engine/kernels/onednn.h"
#include "trireme/engine/op_entry.h"
#include "trireme/engine/program.h"
#include "trireme/engine/tensor.h"

namespace trireme::engine {

// A piece of the caller's flat spaces.
struct ModelMemory {
  enum class Space { parameters, gradients };
  Space space = Space::parameters;
  std::int64_t offset = 0;
};

// An argument of a primitive: a buffer of the program or memory of the caller.
struct Argument {
  int kind = 0;  // DNNL_ARG_...
  dnnl::memory::desc layout;
  std::variant<BufferId, ModelMemory> where;
};

struct Kernels {
  BlockedKernels blocked;
  FlatKernels flat;
};

Run bind_primitive(const Device& device, const dnnl::primitive& primitive, const std::vector<Argument>& arguments, const Addresses& at,
                   const Part& part);

// The mask of a part, none without dropout.
DropoutMask mask_of(const std::optional<DropoutSpec>& spec, const Addresses& at, const Part& part);

class Lowering {
 public:
  // `options.threads` is the real number here.
  Lowering(const graph::Graph& graph, const ExecutorOptions& options, const Device& device, AlgorithmChooser& chooser);
  Lowering(const Lowering&) = delete;
  Lowering& operator=(const Lowering&) = delete;

  // The surroundings
  const graph::Graph& graph() const { return graph_; }
  const graph::Node& node(graph::NodeId id) const { return graph_.node(id); }
  void enter_group(std::size_t group) { group_ = group; }  // tensors made from now on belong to it
  const std::vector<graph::NodeId>& consumers(graph::NodeId id) const { return consumers_[id]; }
  std::int64_t batch() const { return batch_; }  // the compiled size, rounded up to whole parts
  std::int64_t part_size() const { return part_size_; }
  std::size_t lanes() const { return lanes_; }
  // Whether convolutions run part by part beside batch normalisation, or on the whole batch with all threads.
  bool by_part() const { return by_part_; }
  int threads() const { return threads_; }
  bool training() const { return mode_ == Mode::train; }
  const Device& device() const { return device_; }
  AlgorithmChooser& chooser() { return chooser_; }
  const BlockedKernels& kernels() const { return kernels_.blocked; }
  const FlatKernels& flat_kernels() const { return kernels_.flat; }

  // Steps and buffers
  BufferId new_buffer(std::size_t bytes, Buffer::Kind kind = Buffer::Kind::shared);
  BufferId new_floats(std::int64_t count) { return new_buffer(static_cast<std::size_t>(count) * sizeof(float)); }
  BufferId new_lane_floats(std::int64_t count) { return new_buffer(static_cast<std::size_t>(count) * sizeof(float), Buffer::Kind::lane); }
  BufferId new_like(TensorId id);       // room for a tensor of the same size, such as its gradient
  BufferId scratch(std::size_t bytes);  // the one buffer (a lane) that all primitives share, grown to `bytes`
  void emit(Step step) { program_.steps.push_back(std::move(step)); }
  // Before the steps by part that the next step to be emitted runs with; reads nothing that they make.
  void emit_early(Step step) { program_.early.push_back({program_.steps.size(), std::move(step)}); }
  // A primitive; arguments of empty layout are left out.
  Step primitive_step(std::string name, std::string category, const dnnl::primitive& primitive,
                      const std::vector<Argument>& arguments) const;
  void emit_primitive(std::string name, std::string category, const dnnl::primitive& primitive, const std::vector<Argument>& arguments) {
    emit(primitive_step(std::move(name), std::move(category), primitive, arguments));
  }
  // The same on one part after another; arguments that are batch or lane buffers stand for the part's or lane's share.
  void emit_primitive_by_part(std::string name, std::string category, const dnnl::primitive& primitive, std::vector<Argument> arguments);
  Program take_program() { return std::move(program_); }

  // Values
  // Without segments: one run of all channels.
  TensorId new_tensor(std::string name, const Shape& shape, Layout layout, std::vector<std::int64_t> segments = {});
  TensorId new_view(TensorId of, std::string name, const Shape& shape);  // the same plain buffer, read as another shape
  Tensor& tensor(TensorId id) { return tensors_[id]; }
  const Tensor& tensor(TensorId id) const { return tensors_[id]; }
  std::int64_t padded(std::int64_t channels) const;  // to whole blocks
  std::int64_t padded_channels(TensorId id) const;   // of a blocked tensor, over all its segments
  // Where each channel lies in a blocked tensor with these segments, each of which is padded.
  std::vector<std::int64_t> lanes_of(const std::vector<std::int64_t>& segments) const;
  std::int64_t sample_floats(TensorId id) const;  // padding included
  std::int64_t floats(TensorId id) const { return batch_ * sample_floats(id); }
  BlockedExtent extent(TensorId id) const;  // of the whole batch, all samples there
  BlockedExtent part_extent(TensorId id) const;
  dnnl::memory::desc layout(TensorId id) const { return layout(id, batch_); }
  dnnl::memory::desc layout(TensorId id, std::int64_t samples) const;
  void set_value(graph::NodeId node, std::vector<TensorId> pieces) { values_[node] = std::move(pieces); }
  const std::vector<TensorId>& pieces(graph::NodeId node) const { return values_[node]; }
  TensorId value(graph::NodeId node) const;  // of a node that is not a concatenation in pieces
  // The value, computed and in the wanted layout; a conversion is emitted at most once.
  TensorId blocked(graph::NodeId node) { return convert(value(node), Layout::blocked, {}); }
  TensorId blocked(graph::NodeId node, const std::vector<std::int64_t>& segments) {
    return convert(value(node), Layout::blocked, segments);
  }
  TensorId plain(graph::NodeId node) { return convert(value(node), Layout::plain, {}); }
  void complete(TensorId id);    // emits what is pending on a tensor
  Moments moments(TensorId id);  // mean and variance over batch and pixels, computed once however many ask
  BufferId dropout_keys(const std::string& layer);

  // Gradients
  // Brings what readers owe a tensor together: gradients of converted copies and of batch normalisations. Before its producer's backward.
  void collect_gradient(TensorId id);
  void add_norm_gradient(TensorId id, const NormGradient& gradient);
  void close_gradients(std::size_t group);  // after a group's backward: its tensors' gradients are read
  GradientBook& gradients() { return gradients_; }
  bool needs_gradient(TensorId id) const { return tensors_[id].needs_gradient; }
  std::optional<BufferId> gradient(TensorId id);  // the sum of all terms; nothing if no tensor needs it
  BufferId own_gradient(TensorId id);             // ... in a buffer that may be overwritten
  BufferId relu_gradient(TensorId id);            // ... zero where the tensor, a ReLU's output, is not positive
  // Calls `use` with the buffer that holds the tensor's activation in backward: at once, or when its producer has computed it again.
  // `gradient` is what `use` reads beside it; it is kept until then.
  using UseActivation = std::function<void(BufferId)>;
  void with_activation(TensorId id, BufferId gradient, const UseActivation& use);
  std::vector<UseActivation> take_waiting(TensorId id);

  void emit_combine(std::string name, const BlockedExtent& whole, BufferId partials, std::pair<BufferId, BufferId> into,
                    void (*kernel)(const CombineArgs&));
  void emit_dropout(const std::string& name, TensorId like, const DropoutSpec& spec, BufferId buffer);  // in place
  void emit_sum(std::string name, std::int64_t count, const std::vector<BufferId>& terms, BufferId into);

 private:
  void emit_exchange(TensorId id, const Moments& moments);
  void emit_norm_gradients(TensorId id);
  // Empty segments: any will do.
  TensorId convert(TensorId id, Layout layout, const std::vector<std::int64_t>& segments);
  void emit_conversion(const std::string& name, TensorId from, BufferId from_buffer, TensorId to, BufferId to_buffer);
  void emit_segment_conversion(const std::string& name, TensorId from, BufferId from_buffer, TensorId to, BufferId to_buffer);

  const graph::Graph& graph_;
  std::vector<std::vector<graph::NodeId>> consumers_;
  std::int64_t batch_ = 0;
  std::int64_t part_size_ = 0;
  std::size_t lanes_ = 1;
  Mode mode_;
  int threads_;
  const Device& device_;
  AlgorithmChooser& chooser_;
  Kernels kernels_;
  Program program_;
  bool by_part_ = false;
  std::optional<BufferId> scratch_;
  std::size_t group_ = 0;
  std::vector<Tensor> tensors_;
  std::vector<std::vector<TensorId>> values_;            // by node
  std::map<TensorId, std::vector<TensorId>> converted_;  // copies in another layout
  std::map<std::string, BufferId> dropout_keys_;
  std::map<TensorId, std::vector<UseActivation>> waiting_;
  GradientBook gradients_;
};

}  // namespace trireme::engine
