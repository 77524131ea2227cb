// SPDX-License-Identifier: Apache-2.0
// Descriptions of oneDNN's operations, the same for its versions 2 and 3, whose constructors differ.
#pragma once

#include "trireme/engine/kernels/onednn.h"

namespace trireme::engine {

// Of convolutions and products all of oneDNN's implementations, in its order; none if it can't do it. Not a description to be moved on by
// next_impl(): version 2 reads the operation again for that, version 3 changes the description in place.
using Implementations = std::vector<dnnl::primitive_desc_base>;

struct ConvolutionShape {
  dnnl::memory::desc source, weights, bias, target;  // bias of zero size: none
  dnnl::memory::dims strides, before, after;
};
Implementations convolution_forward(const Device& device, dnnl::algorithm algorithm, const ConvolutionShape& shape,
                                    const dnnl::primitive_attr& attributes = user_scratchpad());
Implementations convolution_backward_data(const Device& device, dnnl::algorithm algorithm, const ConvolutionShape& shape);
Implementations convolution_backward_weights(const Device& device, dnnl::algorithm algorithm, const ConvolutionShape& shape);

struct ProductShape {
  dnnl::memory::desc source, weights, bias, target;  // bias of zero size: none
};
Implementations product_forward(const Device& device, const ProductShape& shape,
                                const dnnl::primitive_attr& attributes = user_scratchpad());
Implementations product_backward_data(const Device& device, const ProductShape& shape);
Implementations product_backward_weights(const Device& device, const ProductShape& shape);

struct PoolingShape {
  dnnl::memory::desc source, target;
  dnnl::memory::dims strides, kernel, before, after;
};
dnnl::pooling_forward::primitive_desc pooling_forward(const Device& device, dnnl::prop_kind kind, dnnl::algorithm algorithm,
                                                      const PoolingShape& shape);
dnnl::pooling_backward::primitive_desc pooling_backward(const Device& device, dnnl::algorithm algorithm, const PoolingShape& shape,
                                                        const dnnl::pooling_forward::primitive_desc& forward);

dnnl::eltwise_forward::primitive_desc elementwise_forward(const Device& device, dnnl::algorithm algorithm, const dnnl::memory::desc& layout,
                                                          float alpha = 0, float beta = 0);
dnnl::eltwise_backward::primitive_desc elementwise_backward(const Device& device, dnnl::algorithm algorithm,
                                                            const dnnl::memory::desc& layout);

// Over the second axis.
dnnl::softmax_forward::primitive_desc softmax_forward(const Device& device, const dnnl::memory::desc& layout);
dnnl::softmax_backward::primitive_desc softmax_backward(const Device& device, const dnnl::memory::desc& layout);

// user_scratchpad() with a ReLU after the operation.
dnnl::primitive_attr followed_by_relu();

dnnl::memory::dims dims_of(const dnnl::memory::desc& layout);

}  // namespace trireme::engine
