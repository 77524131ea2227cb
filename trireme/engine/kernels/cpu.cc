// SPDX-License-Identifier: Apache-2.0
// CPU features through CPUID, topology through hwloc.
#include "trireme/engine/kernels/cpu.h"

#include <cpuid.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>

namespace trireme::engine {
namespace {

bool advertises_amx() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1U << 24)) != 0;
}

bool has_tile_palette() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(0x1d, 0, &eax, &ebx, &ecx, &edx) != 0 && eax != 0;
}

}  // namespace

void cap_instruction_set() {
  if (advertises_amx() && !has_tile_palette()) dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core_bf16);
}

std::string cpu_name() {
  std::array<unsigned, 12> words{};
  for (std::size_t leaf = 0; leaf < 3; ++leaf)
    __get_cpuid(0x80000002U + static_cast<unsigned>(leaf), &words[4 * leaf], &words[4 * leaf + 1], &words[4 * leaf + 2],
                &words[4 * leaf + 3]);
  std::array<char, sizeof(words) + 1> text{};
  std::memcpy(text.data(), words.data(), sizeof(words));
  return fmt::format("{}, isa {}", text.data(), static_cast<int>(dnnl::get_effective_cpu_isa()));
}

int usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int logical = sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return logical;
  int cores = 0;
  if (hwloc_topology_load(topology) == 0) cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
  hwloc_topology_destroy(topology);
  return std::max(1, cores > 0 ? std::min(cores, logical) : logical);
}

KernelSet kernel_set() {
  // The values are sets of bits, not an order.
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto includes = [isa](dnnl::cpu_isa wanted) { return (isa & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted); };
  if (includes(dnnl::cpu_isa::avx512_core)) return KernelSet::avx512;
  return includes(dnnl::cpu_isa::avx2) ? KernelSet::avx2 : KernelSet::generic;
}

int channel_block() { return kernel_set() == KernelSet::avx512 ? 16 : 8; }

}  // namespace trireme::engine
