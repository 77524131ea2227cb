// SPDX-License-Identifier: Apache-2.0
// TRIREME_VECTORIZED before a function of plain loops compiles it once per instruction set; the program picks one when it starts.
#pragma once

// The one macro of the code base: no attribute list can be named otherwise. The function must be free, not a template and not a
// lambda, and what it calls must be inlined, or the calls are compiled for the oldest CPU only.
#if defined(TRIREME_SANITIZED) || defined(__clang__) || !defined(__x86_64__)
#  define TRIREME_VECTORIZED
#else
#  define TRIREME_VECTORIZED [[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
