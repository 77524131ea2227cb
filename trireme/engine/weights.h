// SPDX-License-Identifier: Apache-2.0
// Moves kernels between the canonical flat space and the layout a primitive wants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/engine/lowering.h"

namespace trireme::engine {

// A kernel out x in x window. The input's channels may come in segments padded to whole blocks; the canonical kernel knows no padding.
struct KernelShape {
  dnnl::memory::dims canonical;  // out x in x ...
  std::vector<std::int64_t> segments;
  std::vector<std::int64_t> padded;  // of each segment, as the primitive sees it

  bool has_holes() const { return segments != padded; }
  dnnl::memory::dims seen() const;  // by the primitive
};

KernelShape kernel_shape(const Lowering& lowering, const dnnl::memory::dims& canonical, TensorId input);

// An argument that holds the kernel of `slice` in `layout`: the parameters themselves, or a buffer that a step fills.
Argument kernel_argument(Lowering& lowering, std::size_t slice, const KernelShape& shape, const dnnl::memory::desc& layout);

// An argument for a kernel's gradient in `layout`, and the step that brings it into the flat space afterwards.
struct KernelGradient {
  Argument argument;
  bool in_place = false;  // the flat space itself: nothing to be done afterwards
};
KernelGradient kernel_gradient(Lowering& lowering, std::size_t slice, const KernelShape& shape, const dnnl::memory::desc& layout);
void emit_kernel_gradient(Lowering& lowering, std::size_t slice, const KernelShape& shape, const Argument& gradient,
                          const std::vector<std::size_t>& ready);

}  // namespace trireme::engine
