// SPDX-License-Identifier: Apache-2.0
// Names for what oneDNN says of this CPU.
#include "trireme/engine/kernels/instruction_set.h"

#include <fmt/format.h>

#include <array>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>

#include "trireme/engine/kernels/cpu.h"

namespace trireme::engine {
namespace {

struct Row {
  dnnl::cpu_isa isa;
  std::string_view name;
};

std::string name_of(dnnl::cpu_isa isa) {
  constexpr std::array<Row, 8> kNames{{{dnnl::cpu_isa::sse41, "SSE41"},
                                       {dnnl::cpu_isa::avx, "AVX"},
                                       {dnnl::cpu_isa::avx2, "AVX2"},
                                       {dnnl::cpu_isa::avx2_vnni, "AVX2_VNNI"},
                                       {dnnl::cpu_isa::avx512_core, "AVX512_CORE"},
                                       {dnnl::cpu_isa::avx512_core_vnni, "AVX512_CORE_VNNI"},
                                       {dnnl::cpu_isa::avx512_core_bf16, "AVX512_CORE_BF16"},
                                       {dnnl::cpu_isa::avx512_core_amx, "AVX512_CORE_AMX"}}};
  for (const Row& row : kNames)
    if (row.isa == isa) return std::string(row.name);
  return fmt::format("oneDNN's number {}", static_cast<int>(isa));
}

std::string name_of(KernelSet kernels) {
  if (kernels == KernelSet::avx512) return "avx512";
  return kernels == KernelSet::avx2 ? "avx2" : "generic";
}

}  // namespace

InstructionSet instruction_set() {
  cap_instruction_set();
  const std::string cpu = cpu_name();  // "Intel(R) ... @ 2.60GHz, isa 231"
  return {.cpu = cpu.substr(0, cpu.rfind(", isa ")), .name = name_of(dnnl::get_effective_cpu_isa()), .kernels = name_of(kernel_set())};
}

}  // namespace trireme::engine
