// SPDX-License-Identifier: Apache-2.0
// Where oneDNN 2 and 3 differ: 2 first makes a description of the operation, 3 takes its arguments beside the engine.
#include "trireme/engine/kernels/operations.h"

namespace trireme::engine {
namespace {

using dnnl::prop_kind;

enum class IfMissing { empty, error };

// Each has an owner of its own, whichever version's next_impl() moves on.
Implementations all_of(dnnl::primitive_desc description) {
  Implementations found;
  if (!description) return found;
  do {
    dnnl_primitive_desc_t copy = nullptr;
    if (dnnl_primitive_desc_clone(&copy, description.get()) != dnnl_success) throw Error{internal, "oneDNN: a description can't be copied"};
    found.emplace_back().reset(copy);
  } while (description.next_impl());
  return found;
}

#if DNNL_VERSION_MAJOR >= 3

// Calls use(description) with that of a forward operation.
template <class Primitive, class Use, class... Arguments>
auto with_forward(const Device& device, const dnnl::primitive_attr& attributes, IfMissing if_missing, const Use& use,
                  const Arguments&... arguments) {
  return use(typename Primitive::primitive_desc(device.engine(), arguments..., attributes, if_missing == IfMissing::empty));
}

// The same for a backward one; oneDNN wants its forward operation as a hint.
template <class Primitive, class Forward, class Use, class... Arguments>
auto with_backward(const Device& device, const Forward& forward, IfMissing if_missing, const Use& use, const Arguments&... arguments) {
  return use(typename Primitive::primitive_desc(device.engine(), arguments..., forward, user_scratchpad(), if_missing == IfMissing::empty));
}

void append_relu(dnnl::post_ops& after) { after.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F); }

#else

template <class Primitive, class Use, class... Arguments>
auto with_forward(const Device& device, const dnnl::primitive_attr& attributes, IfMissing if_missing, const Use& use,
                  const Arguments&... arguments) {
  const typename Primitive::desc operation(arguments...);
  return use(typename Primitive::primitive_desc(operation, attributes, device.engine(), if_missing == IfMissing::empty));
}

template <class Primitive, class Forward, class Use, class... Arguments>
auto with_backward(const Device& device, const Forward& forward, IfMissing if_missing, const Use& use, const Arguments&... arguments) {
  const typename Primitive::desc operation(arguments...);
  return use(typename Primitive::primitive_desc(operation, user_scratchpad(), device.engine(), forward, if_missing == IfMissing::empty));
}

void append_relu(dnnl::post_ops& after) { after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F); }

#endif

template <class Primitive, class... Arguments>
typename Primitive::primitive_desc forward_of(const Device& device, const Arguments&... arguments) {
  return with_forward<Primitive>(
      device, user_scratchpad(), IfMissing::error, [](const auto& description) { return description; }, arguments...);
}

template <class Primitive, class Forward, class... Arguments>
typename Primitive::primitive_desc backward_of(const Device& device, const Forward& forward, const Arguments&... arguments) {
  return with_backward<Primitive>(
      device, forward, IfMissing::error, [](const auto& description) { return description; }, arguments...);
}

bool has_bias(const dnnl::memory::desc& bias) { return bias.get_size() > 0; }

template <class Use>
auto with_convolution(const Device& device, dnnl::algorithm algorithm, const ConvolutionShape& shape,
                      const dnnl::primitive_attr& attributes, const Use& use) {
  const auto forward = [&](const auto&... parameters) {
    return with_forward<dnnl::convolution_forward>(device, attributes, IfMissing::empty, use, prop_kind::forward_training, algorithm,
                                                   shape.source, parameters..., shape.target, shape.strides, shape.before, shape.after);
  };
  return has_bias(shape.bias) ? forward(shape.weights, shape.bias) : forward(shape.weights);
}

template <class Use>
auto with_product(const Device& device, const ProductShape& shape, const dnnl::primitive_attr& attributes, const Use& use) {
  const auto forward = [&](const auto&... parameters) {
    return with_forward<dnnl::inner_product_forward>(device, attributes, IfMissing::empty, use, prop_kind::forward_training, shape.source,
                                                     parameters..., shape.target);
  };
  return has_bias(shape.bias) ? forward(shape.weights, shape.bias) : forward(shape.weights);
}

}  // namespace

Implementations convolution_forward(const Device& device, dnnl::algorithm algorithm, const ConvolutionShape& shape,
                                    const dnnl::primitive_attr& attributes) {
  return with_convolution(device, algorithm, shape, attributes, all_of);
}

Implementations convolution_backward_data(const Device& device, dnnl::algorithm algorithm, const ConvolutionShape& shape) {
  return with_convolution(device, algorithm, shape, user_scratchpad(), [&](const dnnl::convolution_forward::primitive_desc& forward) {
    if (!forward) return Implementations();
    return with_backward<dnnl::convolution_backward_data>(device, forward, IfMissing::empty, all_of, algorithm, shape.source, shape.weights,
                                                          shape.target, shape.strides, shape.before, shape.after);
  });
}

Implementations convolution_backward_weights(const Device& device, dnnl::algorithm algorithm, const ConvolutionShape& shape) {
  return with_convolution(device, algorithm, shape, user_scratchpad(), [&](const dnnl::convolution_forward::primitive_desc& forward) {
    if (!forward) return Implementations();
    const auto backward = [&](const auto&... gradients) {
      return with_backward<dnnl::convolution_backward_weights>(device, forward, IfMissing::empty, all_of, algorithm, shape.source,
                                                               gradients..., shape.target, shape.strides, shape.before, shape.after);
    };
    return has_bias(shape.bias) ? backward(shape.weights, shape.bias) : backward(shape.weights);
  });
}

Implementations product_forward(const Device& device, const ProductShape& shape, const dnnl::primitive_attr& attributes) {
  return with_product(device, shape, attributes, all_of);
}

Implementations product_backward_data(const Device& device, const ProductShape& shape) {
  return with_product(device, shape, user_scratchpad(), [&](const dnnl::inner_product_forward::primitive_desc& forward) {
    if (!forward) return Implementations();
    return with_backward<dnnl::inner_product_backward_data>(device, forward, IfMissing::empty, all_of, shape.source, shape.weights,
                                                            shape.target);
  });
}

Implementations product_backward_weights(const Device& device, const ProductShape& shape) {
  return with_product(device, shape, user_scratchpad(), [&](const dnnl::inner_product_forward::primitive_desc& forward) {
    if (!forward) return Implementations();
    const auto backward = [&](const auto&... gradients) {
      return with_backward<dnnl::inner_product_backward_weights>(device, forward, IfMissing::empty, all_of, shape.source, gradients...,
                                                                 shape.target);
    };
    return has_bias(shape.bias) ? backward(shape.weights, shape.bias) : backward(shape.weights);
  });
}

#if DNNL_VERSION_MAJOR >= 3

dnnl::pooling_forward::primitive_desc pooling_forward(const Device& device, dnnl::prop_kind kind, dnnl::algorithm algorithm,
                                                      const PoolingShape& shape) {
  const dnnl::memory::dims dense(shape.kernel.size(), 0);  // no dilation
  return forward_of<dnnl::pooling_forward>(device, kind, algorithm, shape.source, shape.target, shape.strides, shape.kernel, dense,
                                           shape.before, shape.after);
}

dnnl::pooling_backward::primitive_desc pooling_backward(const Device& device, dnnl::algorithm algorithm, const PoolingShape& shape,
                                                        const dnnl::pooling_forward::primitive_desc& forward) {
  const dnnl::memory::dims dense(shape.kernel.size(), 0);
  return backward_of<dnnl::pooling_backward>(device, forward, algorithm, shape.source, shape.target, shape.strides, shape.kernel, dense,
                                             shape.before, shape.after);
}

dnnl::eltwise_forward::primitive_desc elementwise_forward(const Device& device, dnnl::algorithm algorithm, const dnnl::memory::desc& layout,
                                                          float alpha, float beta) {
  return forward_of<dnnl::eltwise_forward>(device, prop_kind::forward_training, algorithm, layout, layout, alpha, beta);
}

dnnl::eltwise_backward::primitive_desc elementwise_backward(const Device& device, dnnl::algorithm algorithm,
                                                            const dnnl::memory::desc& layout) {
  return backward_of<dnnl::eltwise_backward>(device, elementwise_forward(device, algorithm, layout), algorithm, layout, layout, layout,
                                             0.0F, 0.0F);
}

dnnl::softmax_forward::primitive_desc softmax_forward(const Device& device, const dnnl::memory::desc& layout) {
  return forward_of<dnnl::softmax_forward>(device, prop_kind::forward_training, dnnl::algorithm::softmax_accurate, layout, layout, 1);
}

dnnl::softmax_backward::primitive_desc softmax_backward(const Device& device, const dnnl::memory::desc& layout) {
  return backward_of<dnnl::softmax_backward>(device, softmax_forward(device, layout), dnnl::algorithm::softmax_accurate, layout, layout,
                                             layout, 1);
}

dnnl::memory::dims dims_of(const dnnl::memory::desc& layout) { return layout.get_dims(); }

#else

dnnl::pooling_forward::primitive_desc pooling_forward(const Device& device, dnnl::prop_kind kind, dnnl::algorithm algorithm,
                                                      const PoolingShape& shape) {
  return forward_of<dnnl::pooling_forward>(device, kind, algorithm, shape.source, shape.target, shape.strides, shape.kernel, shape.before,
                                           shape.after);
}

dnnl::pooling_backward::primitive_desc pooling_backward(const Device& device, dnnl::algorithm algorithm, const PoolingShape& shape,
                                                        const dnnl::pooling_forward::primitive_desc& forward) {
  return backward_of<dnnl::pooling_backward>(device, forward, algorithm, shape.source, shape.target, shape.strides, shape.kernel,
                                             shape.before, shape.after);
}

dnnl::eltwise_forward::primitive_desc elementwise_forward(const Device& device, dnnl::algorithm algorithm, const dnnl::memory::desc& layout,
                                                          float alpha, float beta) {
  return forward_of<dnnl::eltwise_forward>(device, prop_kind::forward_training, algorithm, layout, alpha, beta);
}

dnnl::eltwise_backward::primitive_desc elementwise_backward(const Device& device, dnnl::algorithm algorithm,
                                                            const dnnl::memory::desc& layout) {
  return backward_of<dnnl::eltwise_backward>(device, elementwise_forward(device, algorithm, layout), algorithm, layout, layout, 0.0F, 0.0F);
}

dnnl::softmax_forward::primitive_desc softmax_forward(const Device& device, const dnnl::memory::desc& layout) {
  return forward_of<dnnl::softmax_forward>(device, prop_kind::forward_training, layout, 1);
}

dnnl::softmax_backward::primitive_desc softmax_backward(const Device& device, const dnnl::memory::desc& layout) {
  return backward_of<dnnl::softmax_backward>(device, softmax_forward(device, layout), layout, layout, 1);
}

dnnl::memory::dims dims_of(const dnnl::memory::desc& layout) { return layout.dims(); }

#endif

dnnl::primitive_attr followed_by_relu() {
  dnnl::post_ops after;
  append_relu(after);
  dnnl::primitive_attr attributes = user_scratchpad();
  attributes.set_post_ops(after);
  return attributes;
}

}  // namespace trireme::engine
