// SPDX-License-Identifier: Apache-2.0
// This process and its memory: little of it, and out of reach of others.
#pragma once

namespace trireme::cli {

// Keeps what this process has in its memory, keys among it, out of core dumps and from other processes of the same user. What it
// starts decides for itself.
void forbid_core_dumps();

// malloc gives each thread an arena, and each arena keeps what was freed in it: with gRPC's threads, which come and go with the
// generations, that is half of a small training's memory. Arenas that are there stay, so this comes before the first thread.
void limit_heap_arenas();

}  // namespace trireme::cli
