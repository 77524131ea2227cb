// SPDX-License-Identifier: Apache-2.0
// Where oneDNN 2 and 3 differ: 2 first makes a description of the operation, 3 takes its arguments beside the engine.
#include "trireme/engine/kernels/operations.h"

namespace trireme::engine {
namespace {

using dnnl::prop_kind;

enum class IfMissing { empty, error };

#if DNNL_VERSION_MAJOR >= 3

template <class Primitive, IfMissing if_missing, class... Arguments>
typename Primitive::primitive_desc describe(const Device& device, const dnnl::primitive_attr& attributes, const Arguments&... arguments) {
  return typename Primitive::primitive_desc(device.engine(), arguments..., attributes, if_missing == IfMissing::empty);
}

template <class Primitive, IfMissing if_missing, class Forward, class... Arguments>
typename Primitive::primitive_desc describe_backward(const Device& device, const Forward& forward, const Arguments&... arguments) {
  return typename Primitive::primitive_desc(device.engine(), arguments..., forward, user_scratchpad(), if_missing == IfMissing::empty);
}

#else

template <class Primitive, IfMissing if_missing, class... Arguments>
typename Primitive::primitive_desc describe(const Device& device, const dnnl::primitive_attr& attributes, const Arguments&... arguments) {
  const typename Primitive::desc operation(arguments...);
  return typename Primitive::primitive_desc(operation, attributes, device.engine(), if_missing == IfMissing::empty);
}

template <class Primitive, IfMissing if_missing, class Forward, class... Arguments>
typename Primitive::primitive_desc describe_backward(const Device& device, const Forward& forward, const Arguments&... arguments) {
  const typename Primitive::desc operation(arguments...);
  return typename Primitive::primitive_desc(operation, user_scratchpad(), device.engine(), forward, if_missing == IfMissing::empty);
}

#endif

bool has_bias(const dnnl::memory::desc& bias) { return bias.get_size() > 0; }

}  // namespace

dnnl::convolution_forward::primitive_desc convolution_forward(const Device& device, dnnl::algorithm algorithm,
                                                              const ConvolutionShape& shape, const dnnl::primitive_attr& attributes) {
  const auto& [source, weights, bias, target, strides, before, after] = shape;
  constexpr auto kKind = prop_kind::forward_training;
  using Forward = dnnl::convolution_forward;
  if (!has_bias(bias))
    return describe<Forward, IfMissing::empty>(device, attributes, kKind, algorithm, source, weights, target, strides, before, after);
  return describe<Forward, IfMissing::empty>(device, attributes, kKind, algorithm, source, weights, bias, target, strides, before, after);
}

dnnl::convolution_backward_data::primitive_desc convolution_backward_data(const Device& device, dnnl::algorithm algorithm,
                                                                          const ConvolutionShape& shape) {
  const auto forward = convolution_forward(device, algorithm, shape);
  if (!forward) return {};
  return describe_backward<dnnl::convolution_backward_data, IfMissing::empty>(device, forward, algorithm, shape.source, shape.weights,
                                                                              shape.target, shape.strides, shape.before, shape.after);
}

dnnl::convolution_backward_weights::primitive_desc convolution_backward_weights(const Device& device, dnnl::algorithm algorithm,
                                                                                const ConvolutionShape& shape) {
  const auto forward = convolution_forward(device, algorithm, shape);
  if (!forward) return {};
  const auto& [source, weights, bias, target, strides, before, after] = shape;
  using Backward = dnnl::convolution_backward_weights;
  if (!has_bias(bias))
    return describe_backward<Backward, IfMissing::empty>(device, forward, algorithm, source, weights, target, strides, before, after);
  return describe_backward<Backward, IfMissing::empty>(device, forward, algorithm, source, weights, bias, target, strides, before, after);
}

dnnl::inner_product_forward::primitive_desc product_forward(const Device& device, const ProductShape& shape,
                                                            const dnnl::primitive_attr& attributes) {
  const auto& [source, weights, bias, target] = shape;
  constexpr auto kKind = prop_kind::forward_training;
  using Forward = dnnl::inner_product_forward;
  if (!has_bias(bias)) return describe<Forward, IfMissing::empty>(device, attributes, kKind, source, weights, target);
  return describe<Forward, IfMissing::empty>(device, attributes, kKind, source, weights, bias, target);
}

dnnl::inner_product_backward_data::primitive_desc product_backward_data(const Device& device, const ProductShape& shape) {
  const auto forward = product_forward(device, shape);
  if (!forward) return {};
  return describe_backward<dnnl::inner_product_backward_data, IfMissing::empty>(device, forward, shape.source, shape.weights, shape.target);
}

dnnl::inner_product_backward_weights::primitive_desc product_backward_weights(const Device& device, const ProductShape& shape) {
  const auto forward = product_forward(device, shape);
  if (!forward) return {};
  const auto& [source, weights, bias, target] = shape;
  using Backward = dnnl::inner_product_backward_weights;
  if (!has_bias(bias)) return describe_backward<Backward, IfMissing::empty>(device, forward, source, weights, target);
  return describe_backward<Backward, IfMissing::empty>(device, forward, source, weights, bias, target);
}

#if DNNL_VERSION_MAJOR >= 3

dnnl::pooling_forward::primitive_desc pooling_forward(const Device& device, dnnl::prop_kind kind, dnnl::algorithm algorithm,
                                                      const PoolingShape& shape) {
  const dnnl::memory::dims dense(shape.kernel.size(), 0);  // no dilation
  return describe<dnnl::pooling_forward, IfMissing::error>(device, user_scratchpad(), kind, algorithm, shape.source, shape.target,
                                                           shape.strides, shape.kernel, dense, shape.before, shape.after);
}

dnnl::pooling_backward::primitive_desc pooling_backward(const Device& device, dnnl::algorithm algorithm, const PoolingShape& shape,
                                                        const dnnl::pooling_forward::primitive_desc& forward) {
  const dnnl::memory::dims dense(shape.kernel.size(), 0);
  return describe_backward<dnnl::pooling_backward, IfMissing::error>(device, forward, algorithm, shape.source, shape.target, shape.strides,
                                                                     shape.kernel, dense, shape.before, shape.after);
}

dnnl::eltwise_forward::primitive_desc elementwise_forward(const Device& device, dnnl::algorithm algorithm,
                                                          const dnnl::memory::desc& layout) {
  return describe<dnnl::eltwise_forward, IfMissing::error>(device, user_scratchpad(), prop_kind::forward_training, algorithm, layout,
                                                           layout, 0.0F, 0.0F);
}

dnnl::eltwise_backward::primitive_desc elementwise_backward(const Device& device, dnnl::algorithm algorithm,
                                                            const dnnl::memory::desc& layout) {
  return describe_backward<dnnl::eltwise_backward, IfMissing::error>(device, elementwise_forward(device, algorithm, layout), algorithm,
                                                                     layout, layout, layout, 0.0F, 0.0F);
}

dnnl::softmax_forward::primitive_desc softmax_forward(const Device& device, const dnnl::memory::desc& layout) {
  return describe<dnnl::softmax_forward, IfMissing::error>(device, user_scratchpad(), prop_kind::forward_training,
                                                           dnnl::algorithm::softmax_accurate, layout, layout, 1);
}

dnnl::softmax_backward::primitive_desc softmax_backward(const Device& device, const dnnl::memory::desc& layout) {
  return describe_backward<dnnl::softmax_backward, IfMissing::error>(device, softmax_forward(device, layout),
                                                                     dnnl::algorithm::softmax_accurate, layout, layout, layout, 1);
}

dnnl::primitive_attr followed_by_relu() {
  dnnl::post_ops after;
  after.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  dnnl::primitive_attr attributes = user_scratchpad();
  attributes.set_post_ops(after);
  return attributes;
}

dnnl::memory::dims dims_of(const dnnl::memory::desc& layout) { return layout.get_dims(); }

#else

dnnl::pooling_forward::primitive_desc pooling_forward(const Device& device, dnnl::prop_kind kind, dnnl::algorithm algorithm,
                                                      const PoolingShape& shape) {
  return describe<dnnl::pooling_forward, IfMissing::error>(device, user_scratchpad(), kind, algorithm, shape.source, shape.target,
                                                           shape.strides, shape.kernel, shape.before, shape.after);
}

dnnl::pooling_backward::primitive_desc pooling_backward(const Device& device, dnnl::algorithm algorithm, const PoolingShape& shape,
                                                        const dnnl::pooling_forward::primitive_desc& forward) {
  return describe_backward<dnnl::pooling_backward, IfMissing::error>(device, forward, algorithm, shape.source, shape.target, shape.strides,
                                                                     shape.kernel, shape.before, shape.after);
}

dnnl::eltwise_forward::primitive_desc elementwise_forward(const Device& device, dnnl::algorithm algorithm,
                                                          const dnnl::memory::desc& layout) {
  return describe<dnnl::eltwise_forward, IfMissing::error>(device, user_scratchpad(), prop_kind::forward_training, algorithm, layout, 0.0F,
                                                           0.0F);
}

dnnl::eltwise_backward::primitive_desc elementwise_backward(const Device& device, dnnl::algorithm algorithm,
                                                            const dnnl::memory::desc& layout) {
  return describe_backward<dnnl::eltwise_backward, IfMissing::error>(device, elementwise_forward(device, algorithm, layout), algorithm,
                                                                     layout, layout, 0.0F, 0.0F);
}

dnnl::softmax_forward::primitive_desc softmax_forward(const Device& device, const dnnl::memory::desc& layout) {
  return describe<dnnl::softmax_forward, IfMissing::error>(device, user_scratchpad(), prop_kind::forward_training, layout, 1);
}

dnnl::softmax_backward::primitive_desc softmax_backward(const Device& device, const dnnl::memory::desc& layout) {
  return describe_backward<dnnl::softmax_backward, IfMissing::error>(device, softmax_forward(device, layout), layout, layout, 1);
}

dnnl::primitive_attr followed_by_relu() {
  dnnl::post_ops after;
  after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  dnnl::primitive_attr attributes = user_scratchpad();
  attributes.set_post_ops(after);
  return attributes;
}

dnnl::memory::dims dims_of(const dnnl::memory::desc& layout) { return layout.dims(); }

#endif

}  // namespace trireme::engine
